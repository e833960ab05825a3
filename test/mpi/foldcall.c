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

#if OMPI_MAJOR_VERSION < 5 /* persistent collectives have names of their own there */
#    include <mpi-ext.h>
#    define MPI_Bcast_init MPIX_Bcast_init
#    define MPI_Reduce_init MPIX_Reduce_init
#    define MPI_Scan_init MPIX_Scan_init
#    define MPI_Exscan_init MPIX_Exscan_init
#    define MPI_Allreduce_init MPIX_Allreduce_init
#endif

const char *foldcall_name(fold_call_t call)
{
    static const char *const names[FOLD_CALLS] = {"Bcast", "Reduce", "Scan", "Exscan", "Allreduce"};

    return names[call];
}

const char *foldcall_form_name(fold_form_t form)
{
    static const char *const names[FOLD_FORMS] = {"blocking", "nonblocking", "persistent"};

    return names[form];
}

int foldcall_run(const foldcall_t *c)
{
    switch (c->call) {
    case FOLD_BCAST:
        return MPI_Bcast(c->recv, c->count, c->type, c->root, c->comm);
    case FOLD_REDUCE:
        return MPI_Reduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm);
    case FOLD_SCAN:
        return MPI_Scan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    case FOLD_EXSCAN:
        return MPI_Exscan(c->send, c->recv, c->count, c->type, c->op, c->comm);
    default:
        return MPI_Allreduce(c->send, c->recv, c->count, c->type, c->op, c->comm);
    }
}

int foldcall_start(const foldcall_t *c, MPI_Request *request)
{
    switch (c->call) {
    case FOLD_BCAST:
        return MPI_Ibcast(c->recv, c->count, c->type, c->root, c->comm, request);
    case FOLD_REDUCE:
        return MPI_Ireduce(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm, request);
    case FOLD_SCAN:
        return MPI_Iscan(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    case FOLD_EXSCAN:
        return MPI_Iexscan(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    default:
        return MPI_Iallreduce(c->send, c->recv, c->count, c->type, c->op, c->comm, request);
    }
}

int foldcall_init(const foldcall_t *c, MPI_Request *request)
{
    switch (c->call) {
    case FOLD_BCAST:
        return MPI_Bcast_init(c->recv, c->count, c->type, c->root, c->comm, MPI_INFO_NULL, request);
    case FOLD_REDUCE:
        return MPI_Reduce_init(c->send, c->recv, c->count, c->type, c->op, c->root, c->comm,
                               MPI_INFO_NULL, request);
    case FOLD_SCAN:
        return MPI_Scan_init(c->send, c->recv, c->count, c->type, c->op, c->comm, MPI_INFO_NULL,
                             request);
    case FOLD_EXSCAN:
        return MPI_Exscan_init(c->send, c->recv, c->count, c->type, c->op, c->comm, MPI_INFO_NULL,
                               request);
    default:
        return MPI_Allreduce_init(c->send, c->recv, c->count, c->type, c->op, c->comm,
                                  MPI_INFO_NULL, request);
    }
}

static int run_persistent(const foldcall_t *c)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = foldcall_init(c, &request);

    if (MPI_SUCCESS != code) {
        return code;
    }
    code = MPI_Start(&request);
    if (MPI_SUCCESS == code) {
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&request);
    return code;
}

int foldcall(const foldcall_t *c, fold_form_t form)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code;

    if (FOLD_PERSISTENT == form) {
        return run_persistent(c);
    }
    code = FOLD_BLOCKING == form ? foldcall_run(c) : foldcall_start(c, &request);
    return MPI_SUCCESS == code ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}
