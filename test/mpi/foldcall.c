/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "foldcall.h"

#include "tap.h"

#include <stdlib.h>
#include <strings.h>

const char *foldcall_name(fold_call_t call)
{
    static const char *const names[FOLD_NAMES]
        = {"Bcast",          "Reduce",               "Scan", "Exscan",    "Allreduce",
           "Reduce_scatter", "Reduce_scatter_block", "",     "Allgather", "Allgatherv",
           "Alltoallv",      "Barrier"};

    return names[call];
}

fold_call_t foldcall_chosen(form_t *form)
{
    const char *name = getenv("CALL");

    for (int call = 0; NULL != name && call < FOLD_NAMES; call++) {
        const bool blocking = 0 == strcasecmp(name, foldcall_name((fold_call_t) call));

        if (blocking || ('i' == name[0]
                         && 0 == strcasecmp(name + 1, foldcall_name((fold_call_t) call)))) {
            *form = blocking ? BLOCKING : NONBLOCKING;
            return (fold_call_t) call;
        }
    }
    tap_bail("CALL is not one of what there is");
}

foldcall_t foldcall_of_parts(fold_call_t call, int part)
{
    const bool folds = FOLD_CALLS > call;
    int *counts = tap_memory((size_t) tap_size * sizeof(int));
    int *displs = tap_memory((size_t) tap_size * sizeof(int));

    for (int i = 0; i < tap_size; i++) {
        counts[i] = folds ? part / (int) sizeof(int) : part;
        displs[i] = i * part;
    }
    return (foldcall_t){.call = call,
                        .send = calloc((size_t) tap_size, (size_t) part),
                        .recv = calloc((size_t) tap_size, (size_t) part),
                        .count = folds ? part / (int) sizeof(int) : part,
                        .type = folds ? MPI_INT : MPI_BYTE,
                        .op = MPI_SUM,
                        .comm = MPI_COMM_WORLD,
                        .counts = counts,
                        .displs = displs};
}

void foldcall_free(const foldcall_t *c)
{
    free((void *) c->send);
    free(c->recv);
    free((void *) c->counts);
    free((void *) c->displs);
}

int foldcall_issue(const foldcall_t *c, form_t form, MPI_Request *request)
{
    int rank;

    switch (c->call) {
    case FOLD_BCAST:
        return CALL_IN(form, request, Bcast, Ibcast, c->recv, c->count, c->type, c->root, c->comm);
    case FOLD_REDUCE:
        return CALL_IN(form, request, Reduce, Ireduce, c->send, c->recv, c->count, c->type, c->op,
                       c->root, c->comm);
    case FOLD_SCAN:
        return CALL_IN(form, request, Scan, Iscan, c->send, c->recv, c->count, c->type, c->op,
                       c->comm);
    case FOLD_EXSCAN:
        return CALL_IN(form, request, Exscan, Iexscan, c->send, c->recv, c->count, c->type, c->op,
                       c->comm);
    case FOLD_ALLREDUCE:
        return CALL_IN(form, request, Allreduce, Iallreduce, c->send, c->recv, c->count, c->type,
                       c->op, c->comm);
    case FOLD_REDUCE_SCATTER:
        return CALL_IN(form, request, Reduce_scatter, Ireduce_scatter, c->send, c->recv, c->counts,
                       c->type, c->op, c->comm);
    case FOLD_REDUCE_SCATTER_BLOCK:
        return CALL_IN(form, request, Reduce_scatter_block, Ireduce_scatter_block, c->send, c->recv,
                       c->count, c->type, c->op, c->comm);
    case FOLD_ALLGATHER:
        return CALL_IN(form, request, Allgather, Iallgather, c->send, c->count, c->type, c->recv,
                       c->count, c->type, c->comm);
    case FOLD_ALLGATHERV:
        MPI_Comm_rank(c->comm, &rank);
        return CALL_IN(form, request, Allgatherv, Iallgatherv, c->send, c->counts[rank], c->type,
                       c->recv, c->counts, c->displs, c->type, c->comm);
    case FOLD_ALLTOALLV:
        return CALL_IN(form, request, Alltoallv, Ialltoallv, c->send, c->counts, c->displs, c->type,
                       c->recv, c->counts, c->displs, c->type, c->comm);
    default:
        return CALL_IN(form, request, Barrier, Ibarrier, c->comm);
    }
}

int foldcall(const foldcall_t *c, form_t form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = foldcall_issue(c, form, &request);

    if (MPI_SUCCESS == code && PERSISTENT == form) {
        code = MPI_Start(&request);
    }
    if (MPI_SUCCESS == code) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    if (PERSISTENT == form && MPI_REQUEST_NULL != request) {
        MPI_Request_free(&request);
    }
    return code;
}
