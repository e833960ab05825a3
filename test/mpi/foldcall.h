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
 * The MPI calls of folds (fold.h), MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan, MPI_Allreduce,
 * MPI_Reduce_scatter and MPI_Reduce_scatter_block, and some others, in all forms by one set of
 * arguments.
 */

#ifndef TEST_MPI_FOLDCALL_H
#define TEST_MPI_FOLDCALL_H

#include "call.h"

#include <mpi.h>

typedef enum {
    FOLD_BCAST,
    FOLD_REDUCE,
    FOLD_SCAN,
    FOLD_EXSCAN,
    FOLD_ALLREDUCE,
    FOLD_VECTORS, /* those before give or take all of a vector */
    FOLD_REDUCE_SCATTER = FOLD_VECTORS,
    FOLD_REDUCE_SCATTER_BLOCK,
    FOLD_CALLS,
    FOLD_ANY = FOLD_CALLS,
    FOLD_ALLGATHER,
    FOLD_ALLGATHERV,
    FOLD_ALLTOALLV,
    FOLD_BARRIER,
    FOLD_NAMES
} fold_call_t;

typedef struct foldcall_t {
    fold_call_t call;
    const void *send; /**< not of MPI_Bcast */
    void *recv;
    int count;        /**< of MPI_Reduce_scatter_block, of a part */
    MPI_Datatype type;
    MPI_Op op;        /**< likewise */
    int root;         /**< of MPI_Bcast and MPI_Reduce */
    MPI_Comm comm;
    const int *counts, *displs; /**< [ranks], of calls that have them, both ways */
} foldcall_t;

const char *foldcall_name(fold_call_t call);

/** The call that the environment's CALL names, such as "iscan", or the end of the job. */
fold_call_t foldcall_chosen(form_t *form);

/** A call on MPI_COMM_WORLD with buffers of its own, of zeros: of `part` bytes of each rank, or of
    as many as ints, added up. */
foldcall_t foldcall_of_parts(fold_call_t call, int part);
void foldcall_free(const foldcall_t *c);

/** The blocking call; the start of the nonblocking one; what makes the persistent one. */
int foldcall_issue(const foldcall_t *c, form_t form, MPI_Request *request);

/** The whole call in one of its forms. */
int foldcall(const foldcall_t *c, form_t form);

#endif
