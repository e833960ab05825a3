/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */
/**
 * @file
 * Which collective calls a program makes, how long they take and, where coll/pipering is there,
 * who serves them and why: a library that stands between a program and MPI (PMPI). It needs
 * nothing but mpi.h, and sends no messages once MPI_Init is over.
 *
 *     calls     why_calls, of C, and why_fortran, of mpif.h, mpi and mpi_f08: a function for each
 *               that a program calls; measures it and hands it on
 *     shape     why_shape: sizes and types of a call
 *     record    why_record: begin and end of MPI and of a call, and what coll/pipering says of it
 *     table     why_table, why_file: the table of the process, mapped from a file; pure C
 *
 * A call inside another one, such as that of a Fortran binding which calls the function of C, is a
 * part of that.
 */

#ifndef WHY_H
#define WHY_H

#include <mpi.h>

#include "why_table.h"

/* ---- begin and end of MPI (why_record.c) ---- */

/** Around a function that begins or ends MPI, or a session of it. */
void why_enter(void);
void why_has_begun(void); /**< in place of why_leave, where it has begun */
void why_leave(void);

/** Before MPI, or a session, ends; the last one to end closes the record. */
void why_will_end(void);

/* ---- calls (why_record.c) ---- */

typedef struct why_comm_t why_comm_t;

/** A call that is being made. */
typedef struct why_call_t {
    why_comm_t *comm;    /**< what is known of its communicator; NULL: it is not recorded */
    double began, ended; /**< seconds */
} why_call_t;

/** Begins a call on a communicator. */
why_call_t why_begin(MPI_Comm comm);

/** Takes the time at which a call has ended: what follows is not part of it. */
void why_end(why_call_t *call);

/** Records a call that has ended, by the name of its function without prefix. */
void why_record(const why_call_t *call, const char *name, const why_shape_t *shape);

/* ---- sizes and types (why_shape.c) ---- */

/** An array of integers of `size` bytes each: int, MPI_Fint or MPI_Count. Borrowed. */
typedef struct why_counts_t {
    const void *at;
    size_t size;
} why_counts_t;

/** `parts` contributions of so many elements each. */
why_shape_t why_equal_parts(MPI_Count count, MPI_Datatype type, int parts);

/** Of a vector, or of parts of one for each rank, whose values are combined. */
why_shape_t why_combined(why_shape_t shape, MPI_Datatype type, MPI_Op op);

/** A contribution of each rank, all of a type. */
why_shape_t why_parts(why_counts_t counts, MPI_Datatype type, MPI_Comm comm);

/** The same, each of its own type; without `types` these are handles of Fortran. */
why_shape_t why_typed_parts(why_counts_t counts, const MPI_Datatype *types,
                            const MPI_Fint *fortran, int parts);

/** Of a call without data. */
why_shape_t why_no_data(void);

/** How many ranks a communicator has, and how many neighbors send to this one. */
int why_ranks(MPI_Comm comm);
int why_neighbors(MPI_Comm comm);

#endif
