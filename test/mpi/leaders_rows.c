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
 * Rows of MPI_Allgather and MPI_Iallgather through coll/mleader without anything between them:
 * N cases from SEED, each a communicator set up in its own way and CALLS calls of changing sizes,
 * types and variants, before which ranks sleep now and then, so that some are ahead of
 * others as far as the component lets them. SEED=s CASE=c replays case c alone; PATIENCE
 * is the number of seconds after which a case counts as hanging. THREADS=t: t threads
 * have rows of their own, all at the same time, with one variant at a time.
 */

#include "knob.h"
#include "leading.h"
#include "tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CALLS 12
#define LONGEST_SLEEP 1000 /* microseconds */
#define MOST_BYTES (1 << 19) /* of a contribution */
#define MOST_THREADS 8

static uint64_t seed;
static int number; /* of the case */
static char replay[200];

/** The calls of a communicator; the dice `shared` are equal on all ranks. */
typedef struct row_t {
    MPI_Comm comm;
    bool threaded; /**< what is set for all threads stays as it is */
    dice_t shared, own;
    int size;
    char *fault; /**< of 500 bytes, empty as long as all is right */
} row_t;

static void begin_case(void)
{
    const char *place = getenv("REPLAY"); /* says which nodes */

    snprintf(replay, sizeof(replay), "SEED=%llu CASE=%d %s", (unsigned long long) seed, number,
             NULL == place ? "" : place);
}

static void hangs(int sign)
{
    char text[300];
    const int length = snprintf(text, sizeof(text), "# rank %d hangs: %s\n", tap_rank, replay);

    (void) sign;
    (void) !write(2, text, (size_t) length);
    _exit(3);
}

static void fail(row_t *row, int call, const char *fault)
{
    if ('\0' == row->fault[0]) {
        snprintf(row->fault, 500, "%s: call %d: %.250s", replay, call, fault);
    }
}

/* ---- calls ---- */

/** What is left to the module below must be something that it gets right. */
static bool choose_variant(row_t *row)
{
    const int variant = dice_roll(&row->shared, LEADING_VARIANTS);
    const bool forced = !dice_once_in(&row->shared, 6);

    if (!row->threaded) {
        leading_use(leading_variant(variant));
    }
    if (!row->threaded && !forced) {
        knob_set("coll_mleader_allgather_algorithm", dice_roll(&row->shared, 2) ? 0 : 2);
    }
    return forced || row->threaded;
}

/** Up to 32 units of random types, or any number of them in layouts of the rank's choice. */
static leading_call_t choose_call(row_t *row, bool forced)
{
    const int unit = dice_roll(&row->shared, LAYOUT_UNITS);
    const int most = MOST_BYTES / (int) layout_unit_size(unit) / 12;
    const int few = 1 << dice_roll(&row->shared, 17);
    const bool dense = !forced || dice_once_in(&row->shared, 3) || 1 == row->size;
    const bool in_place = dice_once_in(&row->shared, 3), wild = dice_once_in(&row->shared, 3);
    leading_call_t call = {.comm = row->comm, .key = dice_word(&row->shared), .unit = unit};

    call.units = dice_roll(&row->shared, few < most ? few : most);
    if (!dense) {
        call.units *= 12;
        call.send = dice_roll(&row->own, LEADING_LAYOUTS);
        call.recv = dice_roll(&row->own, LEADING_LAYOUTS);
    }
    if (!dense && wild) {
        call.units %= 240;
        call.dice = &row->own;
    }
    call.send = in_place ? LEADING_IN_PLACE : call.send;
    return call;
}

static void sleep_some(dice_t *dice)
{
    const struct timespec pause = {.tv_nsec = 1000L * dice_roll(dice, LONGEST_SLEEP)};

    nanosleep(&pause, NULL);
}

static void run_row(row_t *row)
{
    exchange_t *x[CALLS];
    leading_call_t call;

    MPI_Comm_size(row->comm, &row->size);
    for (int i = 0; i < CALLS; i++) {
        const bool forced = choose_variant(row);

        call = choose_call(row, forced);
        x[i] = leading_exchange(&call);
        if (dice_once_in(&row->own, 4)) {
            sleep_some(&row->own);
        }
        const bool later = dice_once_in(&row->shared, 3);
        if (MPI_SUCCESS != (later ? exchange_start(x[i]) : exchange_run(x[i]))) {
            fail(row, i, "it gave an error");
        }
    }
    for (int i = 0; i < CALLS; i++) {
        if (MPI_SUCCESS != MPI_Wait(&x[i]->request, MPI_STATUS_IGNORE)) {
            fail(row, i, "it gave an error at its end");
        } else if (!exchange_right(x[i])) {
            fail(row, i, x[i]->fault);
        }
        leading_free(x[i]);
    }
}

/* ---- communicators ---- */

static void choose_setup(dice_t *dice)
{
    static const size_t sizes[] = {0, 8192, 8192, 16384, 65536, 2 << 20};
    const size_t size = sizes[dice_roll(dice, 6)];

    leading_setup(size);
}

static MPI_Comm choose_comm(dice_t *dice, int *color)
{
    int *order = tap_memory((size_t) tap_size * sizeof(int));
    const int kind = dice_roll(dice, 5), colors = dice_between(dice, 1, 3);
    int key = tap_rank;
    MPI_Comm comm;

    dice_shuffle(dice, order, tap_size);
    *color = 0;
    if (1 == kind) {
        key = order[tap_rank];
    } else if (2 == kind) {
        *color = order[tap_rank] <= tap_size / 2 ? 0 : MPI_UNDEFINED;
    } else if (3 == kind) {
        *color = order[tap_rank] % colors;
    }
    MPI_Comm_split(MPI_COMM_WORLD, *color, key, &comm);
    free(order);
    return comm;
}

static void run_case(char *fault)
{
    dice_t world = dice_from(seed, (uint64_t) number, 0);
    int color;
    row_t row = {.own = dice_from(seed, (uint64_t) number, 2000 + (uint64_t) tap_rank),
                 .fault = fault};

    choose_setup(&world);
    leading_use(leading_variant(0)); /* equal on all ranks again, for calls on the world */
    row.comm = choose_comm(&world, &color);
    if (MPI_COMM_NULL != row.comm) {
        row.shared = dice_from(seed, (uint64_t) number, 1000 + (uint64_t) color);
        run_row(&row);
        MPI_Comm_free(&row.comm);
    }
}

/* ---- threads ---- */

typedef struct worker_t {
    int thread;
    MPI_Comm comm;
    char fault[500];
} worker_t;

/** Several communicators, each set up while other threads set up theirs. */
static void *work(void *argument)
{
    worker_t *worker = argument;
    const uint64_t of = (uint64_t) (100 * number + worker->thread);
    row_t row = {.threaded = true, .shared = dice_from(seed, of, 1), .fault = worker->fault};

    row.own = dice_from(seed, of, 2000 + (uint64_t) tap_rank);
    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(worker->comm, &row.comm);
        run_row(&row);
        MPI_Comm_free(&row.comm);
    }
    return NULL;
}

static void run_threads(int threads, char *fault)
{
    dice_t world = dice_from(seed, (uint64_t) number, 0);
    worker_t worker[MOST_THREADS];
    pthread_t thread[MOST_THREADS];

    choose_setup(&world);
    leading_use(leading_variant(dice_roll(&world, LEADING_VARIANTS)));
    for (int i = 0; i < threads; i++) {
        worker[i] = (worker_t){.thread = i};
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -tap_rank : tap_rank, &worker[i].comm);
    }
    for (int i = 0; i < threads; i++) {
        pthread_create(&thread[i], NULL, work, &worker[i]);
    }
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&worker[i].comm);
        if ('\0' == fault[0]) {
            memcpy(fault, worker[i].fault, sizeof(worker[i].fault));
        }
    }
}

int main(int argc, char **argv)
{
    const int only = (int) tap_number("CASE", -1), threads = (int) tap_number("THREADS", 0);
    const int cases = 0 <= only ? only + 1 : (int) tap_number("N", 20);
    char fault[500] = "";

    leading_begin(&argc, &argv, 0 < threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE);
    seed = (uint64_t) tap_number("SEED", 1);
    signal(SIGALRM, hangs);
    for (number = 0 <= only ? only : 0; number < cases; number++) {
        begin_case();
        alarm((unsigned) tap_number("PATIENCE", 300));
        if (0 < threads) {
            run_threads(threads < MOST_THREADS ? threads : MOST_THREADS, fault);
        } else {
            run_case(fault);
        }
    }
    alarm(0);
    tap_check('\0' == fault[0], fault, "%s %d of seed %llu at %d ranks",
              0 <= only ? "case" : "cases 0 to", cases - 1, (unsigned long long) seed, tap_size);
    return leading_end();
}
