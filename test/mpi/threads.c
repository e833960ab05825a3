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
 * Threads: several at once, each with blocking and nonblocking calls on
 * communicators of its own, under MPI_THREAD_MULTIPLE: gathers alone, and folds of all
 * kinds among gathers, drawn from SEED. The component is forced, for in Open MPI's own
 * blocking MPI_Allgatherv threads crash now and then (5.0.7).
 */

#include "exchange.h"
#include "fold.h"
#include "knob.h"
#include "tap.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define THREADS 4
#define CALLS 24

#define FIRST_FORCED 1 /* of knob_settings; the one before is as it is */

typedef struct worker_t {
    int number;
    int round; /**< how often try_threads has been called */
    MPI_Comm comm;
    bool right;
    char fault[500];
} worker_t;

static exchange_t *make(worker_t *worker, int n, layout_t *layout)
{
    exchange_spec_t spec = {.comm = worker->comm};
    int count[64], size, rank;

    MPI_Comm_size(worker->comm, &size);
    MPI_Comm_rank(worker->comm, &rank);
    spec.key = (uint64_t) (5000 + 100 * worker->number + n);
    for (int i = 0; i < size; i++) {
        count[i] = (int) (dice_mix(spec.key * 64 + (uint64_t) i) % 900);
    }
    spec.count = count;
    spec.send_count = count[rank];
    spec.send = spec.recv = layout;
    spec.in_place = 0 == n % 3;
    return exchange_new(&spec);
}

static void note(worker_t *worker, int n, bool right, const char *fault)
{
    if (!right && worker->right) {
        worker->right = false;
        snprintf(worker->fault, sizeof(worker->fault), "thread %d, call %d: %.400s", worker->number,
                 n, fault);
    }
}

static void judge(worker_t *worker, exchange_t *x, int n)
{
    const bool right = exchange_right(x);

    note(worker, n, right, x->fault);
}

/** Two nonblocking calls around a blocking one, again and again. */
static void *work(void *argument)
{
    worker_t *worker = argument;
    layout_t *layout = layout_vector(2, 1, 2, layout_unit(worker->number % LAYOUT_UNITS, 1));

    for (int n = 0; n < CALLS; n += 3) {
        exchange_t *x[3];

        for (int i = 0; i < 3; i++) {
            x[i] = make(worker, n + i, layout);
            if (1 == i) {
                exchange_run(x[i]);
            } else {
                exchange_start(x[i]);
            }
        }
        for (int i = 2; 0 <= i; i--) {
            MPI_Wait(&x[i]->request, MPI_STATUS_IGNORE);
            judge(worker, x[i], n + i);
            exchange_free(x[i]);
        }
    }
    layout_free(layout);
    return NULL;
}

/* ---- folds among gathers ---- */

#define IN_FLIGHT 4

typedef struct flight_t {
    exchange_t *x; /**< NULL: a fold */
    fold_t *fold;
    MPI_Request request;
    int code;
} flight_t;

static flight_t depart(worker_t *worker, int n, layout_t *layout, dice_t *shared, dice_t *own)
{
    const fold_spec_t spec = {
        .comm = worker->comm, .call = FOLD_ANY, .most = 4000, .forced = true, .mismatch = true};
    flight_t flight = {.request = MPI_REQUEST_NULL};

    if (dice_once_in(shared, 4)) {
        flight.x = make(worker, n, layout);
        flight.code = dice_once_in(shared, 2) ? exchange_run(flight.x) : exchange_start(flight.x);
        flight.request = flight.x->request;
        return flight;
    }
    flight.fold = fold_new(&spec, shared, own);
    switch (dice_roll(shared, 3)) {
    case 0:
        flight.code = fold_run(flight.fold);
        break;
    case 1:
        flight.code = fold_start(flight.fold, &flight.request);
        break;
    default:
        flight.code = fold_start_persistent(flight.fold, &flight.request);
    }
    return flight;
}

static void arrive(worker_t *worker, int n, flight_t *flight)
{
    note(worker, n, MPI_SUCCESS == flight->code, "gave an error");
    MPI_Wait(&flight->request, MPI_STATUS_IGNORE);
    if (NULL == flight->fold) {
        judge(worker, flight->x, n);
        exchange_free(flight->x);
    } else {
        const bool right = fold_right_again(flight->fold);

        note(worker, n, right, fold_fault(flight->fold));
        fold_free(flight->fold);
    }
}

static void *work_mixed(void *argument)
{
    worker_t *worker = argument;
    layout_t *layout = layout_vector(2, 1, 2, layout_unit(worker->number % LAYOUT_UNITS, 1));
    const uint64_t number = (uint64_t) (100 * worker->round + worker->number);
    const uint64_t seed = (uint64_t) tap_number("SEED", 1);
    dice_t shared = dice_from(seed, number, 0);
    dice_t own = dice_from(seed, number, 1 + (uint64_t) tap_rank);

    for (int n = 0; n < 3 * CALLS; n += IN_FLIGHT) {
        flight_t flight[IN_FLIGHT];

        for (int i = 0; i < IN_FLIGHT; i++) {
            flight[i] = depart(worker, n + i, layout, &shared, &own);
        }
        for (int i = IN_FLIGHT - 1; 0 <= i; i--) {
            arrive(worker, n + i, &flight[i]);
        }
    }
    layout_free(layout);
    return NULL;
}

/* ---- many at once ---- */

/** Each thread makes and frees its communicators itself. */
static void *work_on_duplicates(void *argument)
{
    worker_t *worker = argument;
    MPI_Comm own = worker->comm;

    for (int i = 0; i < 5; i++) {
        MPI_Comm_dup(own, &worker->comm);
        work(worker);
        MPI_Comm_free(&worker->comm);
    }
    worker->comm = own;
    return NULL;
}

static void try_threads(void *(*body)(void *), const char *name, const char *setting)
{
    static int round;
    worker_t worker[THREADS];
    pthread_t thread[THREADS];
    const char *fault = "";
    bool right = true;

    for (int i = 0; i < THREADS; i++) {
        memset(&worker[i], 0, sizeof(worker[i]));
        worker[i].number = i;
        worker[i].round = round;
        worker[i].right = true;
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -tap_rank : tap_rank, &worker[i].comm);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, body, &worker[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&worker[i].comm);
        if (!worker[i].right) {
            right = false;
            fault = worker[i].fault;
        }
    }
    round++;
    tap_check(right, fault, "%s, %s", name, setting);
}

int main(int argc, char **argv)
{
    static const int both_ways[] = {KNOB_RING, KNOB_MERGED};
    uint64_t below;

    tap_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    if (!knob_begin()) {
        tap_skip("nothing to force", "threads");
        return tap_end();
    }
    below = knob_counters("coll_pipering_fallback_");
    for (int i = FIRST_FORCED; i < knob_settings_count(); i++) {
        knob_apply(&knob_settings[i]);
        knob_folds(KNOB_PIPELINE, both_ways[i % 2]);
        try_threads(work, "threads on communicators of their own", knob_settings[i].name);
        try_threads(work_mixed, "threads with folds among gathers", knob_settings[i].name);
    }
    knob_apply(&knob_settings[FIRST_FORCED]);
    try_threads(work_on_duplicates, "threads that duplicate communicators",
                knob_settings[FIRST_FORCED].name);
    tap_check(below == knob_counters("coll_pipering_fallback_"), "some were left to others",
              "the component has served all calls");
    knob_end();
    return tap_end();
}
