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
 * CALLS calls of a collective on a communicator of its own for each, with right results:
 * MPI_Allgather, MPI_Bcast, MPI_Reduce, MPI_Allreduce, of ITEMS integers from each rank.
 */

#include "tap.h"

#include <mpi.h>
#include <stdlib.h>

static int items, calls;
static int *out, *in;

/** The item that a rank contributes, in one of the calls. */
static int item(int rank, int i, int call)
{
    return 1000 * rank + 10 * i + call;
}

static int sum(int i, int call)
{
    int all = 0;

    for (int rank = 0; rank < tap_size; rank++) {
        all += item(rank, i, call);
    }
    return all;
}

static bool allgather(MPI_Comm comm, int call)
{
    bool right = true;

    TAP_MPI(MPI_Allgather(out, items, MPI_INT, in, items, MPI_INT, comm));
    for (int i = 0; i < tap_size * items; i++) {
        right = right && in[i] == item(i / items, i % items, call);
    }
    return right;
}

static bool bcast(MPI_Comm comm, int call)
{
    bool right = true;

    TAP_MPI(MPI_Bcast(out, items, MPI_INT, 0, comm));
    for (int i = 0; i < items; i++) {
        right = right && out[i] == item(0, i, call);
    }
    return right;
}

static bool reduce(MPI_Comm comm, int call)
{
    bool right = true;

    TAP_MPI(MPI_Reduce(out, in, items, MPI_INT, MPI_SUM, 0, comm));
    for (int i = 0; i < items; i++) {
        right = right && (0 != tap_rank || in[i] == sum(i, call));
    }
    return right;
}

static bool allreduce(MPI_Comm comm, int call)
{
    bool right = true;

    TAP_MPI(MPI_Allreduce(out, in, items, MPI_INT, MPI_SUM, comm));
    for (int i = 0; i < items; i++) {
        right = right && in[i] == sum(i, call);
    }
    return right;
}

static void try(const char *name, bool (*collective)(MPI_Comm, int))
{
    bool right = true;
    MPI_Comm comm;

    TAP_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int call = 0; call < calls; call++) {
        for (int i = 0; i < items; i++) {
            out[i] = item(tap_rank, i, call);
        }
        right = collective(comm, call) && right;
    }
    TAP_MPI(MPI_Comm_free(&comm));
    tap_check(right, NULL, "%d calls of %s", calls, name);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    items = (int) tap_number("ITEMS", 1);
    calls = (int) tap_number("CALLS", 1);
    out = tap_memory((size_t) items * sizeof(*out));
    in = tap_memory((size_t) (tap_size * items) * sizeof(*in));
    try("allgather", allgather);
    try("bcast", bcast);
    try("reduce", reduce);
    try("allreduce", allreduce);
    free(out);
    free(in);
    return tap_end();
}
