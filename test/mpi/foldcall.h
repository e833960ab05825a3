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
 * The MPI calls of folds (fold.h): MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan and
 * MPI_Allreduce, each blocking, nonblocking or persistent, by one set of arguments.
 */

#ifndef TEST_MPI_FOLDCALL_H
#define TEST_MPI_FOLDCALL_H

#include <mpi.h>

typedef enum {
    FOLD_BCAST,
    FOLD_REDUCE,
    FOLD_SCAN,
    FOLD_EXSCAN,
    FOLD_ALLREDUCE,
    FOLD_CALLS,
    FOLD_ANY = FOLD_CALLS
} fold_call_t;

typedef struct foldcall_t {
    fold_call_t call;
    const void *send; /**< not of MPI_Bcast */
    void *recv;
    int count;
    MPI_Datatype type;
    MPI_Op op;        /**< likewise */
    int root;         /**< of MPI_Bcast and MPI_Reduce */
    MPI_Comm comm;
} foldcall_t;

const char *foldcall_name(fold_call_t call);

/** The blocking call; the start of the nonblocking one; what makes the persistent one. */
int foldcall_run(const foldcall_t *c);
int foldcall_start(const foldcall_t *c, MPI_Request *request);
int foldcall_init(const foldcall_t *c, MPI_Request *request);

typedef enum { FOLD_BLOCKING, FOLD_NONBLOCKING, FOLD_PERSISTENT, FOLD_FORMS } fold_form_t;

const char *foldcall_form_name(fold_form_t form);

/** The whole call in one of its forms. */
int foldcall(const foldcall_t *c, fold_form_t form);

#endif
