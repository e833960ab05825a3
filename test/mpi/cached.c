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
 * Calls whose plan is kept take no memory that grows with the number of ranks: the same call on
 * communicators of a few and of many ranks asks for the same bytes, on ranks that have the
 * same neighbours in both.
 */

#include "allocator.h"
#include "knob.h"
#include "tap.h"

#include <stdlib.h>

#define FEW 4
#define COUNT 30000
#define CALLS 4 /* the last of which is counted: the plan is kept and neighbours are known */

enum { ALLGATHERV, BCAST, REDUCE, SCAN, EXSCAN, ALLREDUCE, KINDS };

static const char *const kind_name[KINDS] = {"allgatherv", "bcast", "reduce",
                                             "scan", "exscan", "allreduce"};

/** Data and arguments; only rank 0 of a gather contributes. */
typedef struct data_t {
    int *send, *recv;
    int *counts, *displs;
} data_t;

static data_t data_new(void)
{
    data_t data = {.send = calloc(COUNT, sizeof(int)),
                   .recv = calloc(COUNT, sizeof(int)),
                   .counts = calloc((size_t) tap_size, sizeof(int)),
                   .displs = calloc((size_t) tap_size, sizeof(int))};

    if (NULL == data.send || NULL == data.recv || NULL == data.counts || NULL == data.displs) {
        tap_bail("no memory");
    }
    data.counts[0] = COUNT;
    return data;
}

static void data_free(data_t *data)
{
    free(data->send);
    free(data->recv);
    free(data->counts);
    free(data->displs);
}

static void call(int kind, data_t *data, MPI_Comm comm)
{
    int rank;

    MPI_Comm_rank(comm, &rank);
    switch (kind) {
    case ALLGATHERV:
        TAP_MPI(MPI_Allgatherv(data->send, data->counts[rank], MPI_INT, data->recv, data->counts,
                               data->displs, MPI_INT, comm));
        break;
    case BCAST:
        TAP_MPI(MPI_Bcast(data->recv, COUNT, MPI_INT, 0, comm));
        break;
    case REDUCE:
        TAP_MPI(MPI_Reduce(data->send, data->recv, COUNT, MPI_INT, MPI_SUM, 0, comm));
        break;
    case SCAN:
        TAP_MPI(MPI_Scan(data->send, data->recv, COUNT, MPI_INT, MPI_SUM, comm));
        break;
    case EXSCAN:
        TAP_MPI(MPI_Exscan(data->send, data->recv, COUNT, MPI_INT, MPI_SUM, comm));
        break;
    default:
        TAP_MPI(MPI_Allreduce(data->send, data->recv, COUNT, MPI_INT, MPI_SUM, comm));
    }
}

/** Bytes that the component asks for in a call whose like it has served before. */
static long bytes_of(int kind, data_t *data, MPI_Comm comm)
{
    for (int i = 1; i < CALLS; i++) {
        call(kind, data, comm);
    }
    allocator_arm(0);
    call(kind, data, comm);
    allocator_disarm();
    return allocator_bytes();
}

static void compare(int kind, MPI_Comm few)
{
    data_t data = data_new();
    const long in_all = bytes_of(kind, &data, MPI_COMM_WORLD);
    long in_few = 0;

    if (MPI_COMM_NULL != few) {
        in_few = bytes_of(kind, &data, few);
    }
    /* one byte for each further rank would be too much; the last of the few has no link out */
    tap_check(FEW - 1 <= tap_rank || (0 < in_all && in_all < in_few + tap_size - FEW), NULL,
              "%s: a call of %d ranks takes no more memory than one of %d", kind_name[kind],
              tap_size, FEW);
    tap_note("%s: %ld bytes with %d ranks, %ld bytes with %d", kind_name[kind], in_few, FEW, in_all,
             tap_size);
    data_free(&data);
}

int main(int argc, char **argv)
{
    MPI_Comm few;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    if (2 * FEW > tap_size) {
        tap_bail("this wants at least %d ranks", 2 * FEW);
    }
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    knob_folds(KNOB_PIPELINE, KNOB_MERGED);
    knob_set("coll_pipering_block_size", 8192);
    MPI_Comm_split(MPI_COMM_WORLD, tap_rank < FEW ? 0 : MPI_UNDEFINED, tap_rank, &few);
    for (int kind = 0; kind < KINDS; kind++) {
        compare(kind, few);
    }
    if (MPI_COMM_NULL != few) {
        MPI_Comm_free(&few);
    }
    knob_end();
    return tap_end();
}
