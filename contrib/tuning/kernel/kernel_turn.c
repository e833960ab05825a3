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
 * One repetition, as the benchmarks time it (test/bench/common/bench_main.c says what that shows):
 * the ranks meet, each takes its time, the slowest one counts.
 */

#include "kernel.h"

#include <stdio.h>
#include <stdlib.h>

/* What the ranks tell each other of a repetition; the most of each counts. */
enum { SECONDS, ELAPSED, TOLD };

void *kernel_alloc(size_t count, size_t size)
{
    void *memory = calloc(0 == count ? 1 : count, size);

    if (NULL == memory) {
        fprintf(stderr, "no memory for %zu times %zu bytes\n", count, size);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* True if the result is right on all ranks; else the first wrong rank's sentence is in `note`. */
static bool verify(kernel_work_t *work, uint64_t number, char note[KERNEL_NOTE])
{
    const bench_world_t *world = work->world;
    char error[KERNEL_NOTE] = "";
    const bool right = NULL == work->kind->verify || work->kind->verify(work, number, error);
    int first = right ? world->size : world->rank;

    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, world->control);
    if (first == world->size) {
        return true;
    }
    MPI_Bcast(error, KERNEL_NOTE, MPI_CHAR, first, world->control);
    snprintf(note, KERNEL_NOTE, "rank %d: %.400s", first, error);
    return false;
}

kernel_sample_t kernel_turn(kernel_work_t *work, MPI_Comm comm, double begun, uint64_t number,
                            char note[KERNEL_NOTE])
{
    double told[TOLD], start, own = -1.0;

    if (NULL != work->kind->fill) {
        work->kind->fill(work, number);
    }
    bench_meet(work->world);
    start = MPI_Wtime();
    work->kind->run(work, comm, &own);
    told[SECONDS] = 0.0 > own ? MPI_Wtime() - start : own;
    told[ELAPSED] = MPI_Wtime() - begun;
    MPI_Allreduce(MPI_IN_PLACE, told, TOLD, MPI_DOUBLE, MPI_MAX, work->world->control);
    return (kernel_sample_t){.seconds = told[SECONDS],
                             .elapsed = told[ELAPSED],
                             .right = verify(work, number, note)};
}
