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
 * Exchanges of several threads at once, each on communicators of its own: blocking,
 * nonblocking and persistent ones, which all share the component's progress.
 */

#include "knob.h"
#include "swap.h"
#include "tap.h"

#include <pthread.h>
#include <stdio.h>

#define THREADS 3
#define ROUNDS 40

typedef struct work_t {
    pthread_t thread;
    MPI_Comm comm, quiet, topology;
    uint64_t key;
    int failures;
} work_t;

static void run_one(work_t *work, dice_t *shared, dice_t *own)
{
    const swap_call_t call = (swap_call_t) dice_roll(shared, 3);
    const swap_spec_t spec = {.comm = SWAP_NEIGHBORS == call ? work->topology : work->comm,
                              .quiet = work->quiet,
                              .call = call,
                              .in_place = SWAP_NEIGHBORS != call && dice_once_in(shared, 3),
                              .zeros = 40,
                              .most = (size_t) 1 << dice_between(shared, 3, 16)};
    const swap_form_t form = (swap_form_t) dice_roll(shared, SWAP_FORMS);
    swap_t *swap = swap_new(&spec, dice_word(shared), own);

    work->failures += MPI_SUCCESS != swap_start(swap, form);
    work->failures += MPI_SUCCESS != MPI_Wait(&swap->request, MPI_STATUS_IGNORE);
    work->failures += !swap_right(swap);
    if (SWAP_PERSISTENT == form) {
        MPI_Request_free(&swap->request);
    }
    swap_free(swap);
}

static void *run(void *argument)
{
    work_t *work = argument;
    dice_t shared = dice_from(work->key, 1, 0), own = dice_from(work->key, 2, (uint64_t) tap_rank);

    for (int i = 0; i < ROUNDS; i++) {
        run_one(work, &shared, &own);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    work_t work[THREADS];
    const char *name;
    int failures = 0;

    tap_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    knob_begin();
    knob_set("coll_pipering_alltoall_in_place", 1000);
    for (int i = 0; i < THREADS; i++) {
        work[i] = (work_t){.key = (uint64_t) tap_number("SEED", 1) + (uint64_t) i};
        MPI_Comm_dup(MPI_COMM_WORLD, &work[i].comm);
        MPI_Comm_dup(MPI_COMM_WORLD, &work[i].quiet);
        work[i].topology = swap_topology(work[i].comm, work[i].key, &name);
        pthread_create(&work[i].thread, NULL, run, &work[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(work[i].thread, NULL);
        failures += work[i].failures;
        MPI_Comm_free(&work[i].topology);
        MPI_Comm_free(&work[i].quiet);
        MPI_Comm_free(&work[i].comm);
    }
    tap_check(0 == failures, "wrong data or an error", "%d threads, %d exchanges each", THREADS,
              ROUNDS);
    knob_end();
    return tap_end();
}
