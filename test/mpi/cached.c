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
#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdlib.h>

#define FEW 4
#define COUNT 30000
#define CALLS 4 /* the last of which is counted: the plan is kept and neighbours are known */

/** Only rank 0 of a gather contributes, or gets anything of a reduce-scatter. */
static foldcall_t new_call(fold_call_t what)
{
    int *counts = calloc((size_t) tap_size, sizeof(int)), *displs = calloc((size_t) tap_size,
                                                                          sizeof(int));

    counts[0] = COUNT;
    return (foldcall_t){.call = what,
                        .send = calloc(COUNT, sizeof(int)),
                        .recv = calloc(COUNT, sizeof(int)),
                        .count = COUNT,
                        .type = MPI_INT,
                        .op = MPI_SUM,
                        .counts = counts,
                        .displs = displs};
}

/** Bytes that the component asks for in a call whose like it has served before. */
static long bytes_of(foldcall_t call, MPI_Comm comm)
{
    call.comm = comm;
    for (int i = 1; i < CALLS; i++) {
        TAP_MPI(foldcall(&call, BLOCKING));
    }
    allocator_arm(0);
    TAP_MPI(foldcall(&call, BLOCKING));
    allocator_disarm();
    return allocator_bytes();
}

static void compare(fold_call_t what, MPI_Comm few)
{
    const foldcall_t call = new_call(what);
    const long in_all = bytes_of(call, MPI_COMM_WORLD);
    const long in_few = MPI_COMM_NULL != few ? bytes_of(call, few) : 0;

    /* one byte for each further rank would be too much; the last of the few has no link out */
    tap_check(FEW - 1 <= tap_rank || (0 < in_all && in_all < in_few + tap_size - FEW), NULL,
              "%s: a call of %d ranks takes no more memory than one of %d", foldcall_name(what),
              tap_size, FEW);
    tap_note("%s: %ld bytes with %d ranks, %ld bytes with %d", foldcall_name(what), in_few, FEW,
             in_all, tap_size);
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
    for (int call = 0; call < FOLD_VECTORS; call++) {
        compare((fold_call_t) call, few);
    }
    compare(FOLD_REDUCE_SCATTER, few);
    compare(FOLD_ALLGATHERV, few);
    if (MPI_COMM_NULL != few) {
        MPI_Comm_free(&few);
    }
    knob_end();
    return tap_end();
}
