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
 * The procedures of mpif.h and the module mpi (mpi_bcast_), and of mpi_f08 (mpi_bcast_f08_, or
 * mpi_bcast_f08ts_ where a library uses the descriptors of TS 29113). Bindings of Open MPI 5.0 call
 * PMPI_ functions, which those of why_calls.c do not see.
 *
 * All arguments are addresses: of buffers or their descriptors, which are not looked at, and of
 * integers, which handles of mpi_f08 are, too. A procedure is handed on to the one of the same name
 * that comes next among the libraries of the program, so that no library of Fortran is needed here.
 * Those with counts of MPI_COUNT_KIND are not recorded.
 */

#include "why.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void procedure_t(void);

/* Keeps what comes next by a name; threads may find it at once, and find the same. */
static procedure_t *next(procedure_t **kept, const char *name)
{
    if (NULL == *kept) {
        void *found = dlsym(RTLD_NEXT, name);
        if (NULL == found) {
            (void) fprintf(stderr,
                           "pipering-why: %s is in no shared library of the program, so its call "
                           "cannot be made; expected: an MPI library for Fortran that is linked "
                           "dynamically. The program ends.\n",
                           name);
            abort();
        }
        memcpy(kept, &found, sizeof(*kept));
    }
    return *kept;
}

/* Defines what a list of procedures says, by each of the names that compilers give them. */
#define SPELLED(DEFINE, name, ...)      \
    DEFINE(name##_, __VA_ARGS__)        \
    DEFINE(name##_f08_, __VA_ARGS__)    \
    DEFINE(name##_f08ts_, __VA_ARGS__)

#define NEXT(procedure, parameters) \
    static procedure_t *kept;       \
    void(*const function) parameters = (void(*) parameters) next(&kept, #procedure)

/* ---- begin and end ---- */

/* Whether it has failed is in `error`, which a program of mpi_f08 may leave out. */
#define BEGINNING(procedure, parameters, arguments)                  \
    void procedure parameters;                                       \
    void procedure parameters                                        \
    {                                                                \
        NEXT(procedure, parameters);                                 \
        why_enter();                                                 \
        function arguments;                                          \
        if (NULL == error || MPI_SUCCESS == *(MPI_Fint *) error) {   \
            why_has_begun();                                         \
        } else {                                                     \
            why_leave();                                             \
        }                                                            \
    }

#define END(procedure, parameters, arguments) \
    void procedure parameters;                \
    void procedure parameters                 \
    {                                         \
        NEXT(procedure, parameters);          \
        why_will_end();                       \
        why_enter();                          \
        function arguments;                   \
        why_leave();                          \
    }

SPELLED(BEGINNING, mpi_init, (void *error), (error))
SPELLED(BEGINNING, mpi_init_thread, (void *required, void *provided, void *error),
        (required, provided, error))
SPELLED(BEGINNING, mpi_session_init, (void *info, void *handler, void *session, void *error),
        (info, handler, session, error))
SPELLED(END, mpi_finalize, (void *error), (error))
SPELLED(END, mpi_session_finalize, (void *session, void *error), (session, error))

/* ---- collectives ---- */

#define INT(argument) (*(const MPI_Fint *) (argument))
#define COUNTS(argument) ((why_counts_t){.at = (argument), .size = sizeof(MPI_Fint)})
#define TYPE(argument) PMPI_Type_f2c(INT(argument))

#define CALL(procedure, name, parameters, arguments, shape)           \
    void procedure parameters;                                        \
    void procedure parameters                                         \
    {                                                                 \
        NEXT(procedure, parameters);                                  \
        const MPI_Comm handle = PMPI_Comm_f2c(INT(comm));             \
        why_call_t call = why_begin(handle);                          \
        function arguments;                                           \
        why_end(&call);                                               \
        if (NULL != call.comm) {                                      \
            const why_shape_t sizes = shape;                          \
            why_record(&call, name, &sizes);                          \
        }                                                             \
    }

/* The procedures of a collective, as in why_calls.c; `handle` is its communicator. */
#define FORMS(name, KIND, shape)                                                                 \
    SPELLED(CALL, mpi_##name, #name, (KIND##_PARAMETERS void *comm, void *error),                \
            (KIND##_ARGUMENTS comm, error), shape)                                               \
    SPELLED(CALL, mpi_i##name, "i" #name,                                                        \
            (KIND##_PARAMETERS void *comm, void *request, void *error),                          \
            (KIND##_ARGUMENTS comm, request, error), shape)                                      \
    SPELLED(CALL, mpi_##name##_init, #name "_init",                                              \
            (KIND##_PARAMETERS void *comm, void *info, void *request, void *error),              \
            (KIND##_ARGUMENTS comm, info, request, error), shape)

#define NO_PARAMETERS
#define NO_ARGUMENTS

#define EQUAL_PARAMETERS \
    void *sbuf, void *scount, void *stype, void *rbuf, void *rcount, void *rtype,
#define EQUAL_ARGUMENTS sbuf, scount, stype, rbuf, rcount, rtype,

#define GATHER_PARAMETERS \
    void *sbuf, void *scount, void *stype, void *rbuf, void *rcounts, void *displs, void *rtype,
#define GATHER_ARGUMENTS sbuf, scount, stype, rbuf, rcounts, displs, rtype,

#define COMBINE_PARAMETERS void *sbuf, void *rbuf, void *count, void *type, void *op,
#define COMBINE_ARGUMENTS sbuf, rbuf, count, type, op,

#define EXCHANGE_PARAMETERS                                                             \
    void *sbuf, void *scounts, void *sdispls, void *stype, void *rbuf, void *rcounts,   \
        void *rdispls, void *rtype,
#define EXCHANGE_ARGUMENTS sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype,

#define BCAST_PARAMETERS void *buffer, void *count, void *type, void *root,
#define BCAST_ARGUMENTS buffer, count, type, root,

#define SCATTER_PARAMETERS void *sbuf, void *rbuf, void *rcounts, void *type, void *op,
#define SCATTER_ARGUMENTS sbuf, rbuf, rcounts, type, op,

#define REDUCE_PARAMETERS COMBINE_PARAMETERS void *root,
#define REDUCE_ARGUMENTS COMBINE_ARGUMENTS root,

#define EQUAL_SHAPE why_equal_parts(INT(rcount), TYPE(rtype), why_ranks(handle))
#define COMBINED(shape) why_combined(shape, TYPE(type), PMPI_Op_f2c(INT(op)))
#define COMBINE_SHAPE COMBINED(why_equal_parts(INT(count), TYPE(type), 1))

FORMS(allgather, EQUAL, EQUAL_SHAPE)
FORMS(allgatherv, GATHER, why_parts(COUNTS(rcounts), TYPE(rtype), handle))
FORMS(allreduce, COMBINE, COMBINE_SHAPE)
FORMS(alltoall, EQUAL, EQUAL_SHAPE)
FORMS(alltoallv, EXCHANGE, why_parts(COUNTS(rcounts), TYPE(rtype), handle))
FORMS(alltoallw, EXCHANGE,
      why_typed_parts(COUNTS(rcounts), NULL, rtype, why_ranks(handle)))
FORMS(barrier, NO, why_no_data())
FORMS(bcast, BCAST, why_equal_parts(INT(count), TYPE(type), 1))
FORMS(exscan, COMBINE, COMBINE_SHAPE)
FORMS(neighbor_alltoallw, EXCHANGE,
      why_typed_parts(COUNTS(rcounts), NULL, rtype, why_neighbors(handle)))
FORMS(reduce, REDUCE, COMBINE_SHAPE)
FORMS(reduce_scatter, SCATTER, COMBINED(why_parts(COUNTS(rcounts), TYPE(type), handle)))
FORMS(reduce_scatter_block, COMBINE,
      COMBINED(why_equal_parts(INT(count), TYPE(type), why_ranks(handle))))
FORMS(scan, COMBINE, COMBINE_SHAPE)
