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
 * A rank that never waits: N cases from SEED, each a row of different collectives on one
 * communicator without anything between them, with a window of 2 and blocks of 1 to 64
 * bytes. One rank, the root of all calls that have one, goes through the row as fast as
 * it can and waits for its requests at the end only; the others sleep before some calls
 * and wait for some requests on the way. SEED=s CASE=c replays case c alone. PATIENCE is
 * the number of seconds after which a case counts as hanging.
 *
 * BUFFERS=1: on two communicators in turn, of all ranks or of every other one, with ring
 * buffers in shared memory of 2 to some blocks of 64 to 2048 bytes, and roots at random.
 */

#include "exchange.h"
#include "fold.h"
#include "knob.h"
#include "tap.h"
#include "trial.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CALLS 20
#define LONGEST_SLEEP 800 /* microseconds */

static uint64_t seed;
static int number; /* of the case */
static int failures;
static bool buffers;

typedef struct call_t {
    exchange_t *x; /**< NULL: a fold */
    fold_t *fold;
    MPI_Request request;
} call_t;

/** A row of calls; the first four members are equal on all ranks. */
typedef struct row_t {
    MPI_Comm comm[2]; /**< of the same ranks; without BUFFERS one and the same */
    int fast; /**< rank that never waits */
    size_t block_size;
    dice_t shared;
    dice_t own;
    int rank, size;
    call_t call[CALLS];
} row_t;

static void hangs(int sign)
{
    char text[100];
    int length = snprintf(text, sizeof(text), "# rank %d hangs: SEED=%llu CASE=%d P=%d\n",
                          tap_rank, (unsigned long long) seed, number, tap_size);

    (void) sign;
    (void) !write(2, text, (size_t) length);
    _exit(3);
}

static void fail(const char *fault)
{
    if (0 == failures++) {
        fprintf(stderr, "# SEED=%llu CASE=%d P=%d: rank %d: %s\n", (unsigned long long) seed,
                number, tap_size, tap_rank, fault);
        fflush(stderr);
    }
}

static void sleep_some(dice_t *dice)
{
    const struct timespec pause = {.tv_nsec = 1000L * dice_roll(dice, LONGEST_SLEEP)};

    nanosleep(&pause, NULL);
}

/* ---- calls ---- */

/** Of up to 100 blocks, or as many as go around a ring buffer some times. */
static size_t most_bytes(const row_t *row)
{
    return (buffers ? 20 : 100) * row->block_size;
}

static MPI_Comm any_comm(row_t *row)
{
    return row->comm[buffers ? dice_roll(&row->shared, 2) : 0];
}

static exchange_t *new_gather(row_t *row)
{
    int *count = tap_memory((size_t) row->size * sizeof(int));
    const int unit = dice_roll(&row->shared, LAYOUT_UNITS);
    layout_t *layout = layout_vector(2, 1, 2, layout_unit(unit, 0));
    const int most = (int) (most_bytes(row) / layout->size / (size_t) row->size) + 1;
    exchange_spec_t spec = {.comm = any_comm(row), .key = dice_word(&row->shared)};
    exchange_t *x;

    for (int i = 0; i < row->size; i++) {
        count[i] = dice_roll(&row->shared, 2 * most);
    }
    spec.count = count;
    spec.send_count = count[row->rank];
    spec.send = spec.recv = layout;
    spec.in_place = dice_once_in(&row->shared, 2);
    x = trial_exchange(&spec);
    free(count);
    return x;
}

static int start_fold(row_t *row, call_t *call)
{
    const fold_spec_t spec = {.comm = any_comm(row),
                              .call = FOLD_ANY,
                              .rooted = !buffers,
                              .root = row->fast,
                              .most = most_bytes(row),
                              .forced = true,
                              .mismatch = true};

    call->fold = fold_new(&spec, &row->shared, &row->own);
    switch (dice_roll(&row->shared, 3)) {
    case 0:
        return fold_run(call->fold);
    case 1:
        return fold_start(call->fold, &call->request);
    default:
        return fold_start_persistent(call->fold, &call->request);
    }
}

static int start_call(row_t *row, call_t *call)
{
    int code;

    *call = (call_t){.request = MPI_REQUEST_NULL};
    if (!dice_once_in(&row->shared, 4)) {
        return start_fold(row, call);
    }
    call->x = new_gather(row);
    code = dice_once_in(&row->shared, 2) ? exchange_run(call->x) : exchange_start(call->x);
    call->request = call->x->request;
    return code;
}

static void run_row(row_t *row)
{
    for (int i = 0; i < CALLS; i++) {
        if (row->rank != row->fast && dice_once_in(&row->own, 3)) {
            sleep_some(&row->own);
        }
        if (MPI_SUCCESS != start_call(row, &row->call[i])) {
            fail("a call gave an error");
        }
        if (row->rank != row->fast && dice_once_in(&row->own, 3)) {
            MPI_Wait(&row->call[dice_roll(&row->own, i + 1)].request, MPI_STATUS_IGNORE);
        }
    }
    for (int i = 0; i < CALLS; i++) {
        MPI_Wait(&row->call[i].request, MPI_STATUS_IGNORE);
    }
}

static void judge_row(row_t *row)
{
    for (int i = 0; i < CALLS; i++) {
        call_t *call = &row->call[i];

        if (NULL == call->x) {
            if (!fold_right_again(call->fold)) {
                fail(fold_fault(call->fold));
            }
            fold_free(call->fold);
        } else {
            layout_t *layout = call->x->recv;

            if (!exchange_right(call->x)) {
                fail(call->x->fault);
            }
            exchange_free(call->x);
            layout_free(layout);
        }
    }
}

/** The ranks in a random order; BUFFERS=1: or every other one, and twice. */
static void make_comms(row_t *row, dice_t *shared)
{
    int *key = tap_memory((size_t) tap_size * sizeof(int));
    const bool halves = buffers && dice_once_in(shared, 3);

    dice_shuffle(shared, key, tap_size);
    MPI_Comm_split(MPI_COMM_WORLD, halves ? tap_rank % 2 : 0, key[tap_rank], &row->comm[0]);
    row->comm[1] = row->comm[0];
    if (buffers) {
        MPI_Comm_dup(row->comm[0], &row->comm[1]);
    }
    free(key);
    MPI_Comm_rank(row->comm[0], &row->rank);
    MPI_Comm_size(row->comm[0], &row->size);
}

static void free_comms(row_t *row)
{
    MPI_Comm_free(&row->comm[0]);
    if (buffers) {
        MPI_Comm_free(&row->comm[1]);
    }
}

static void set_buffers(dice_t *shared)
{
    knob_set("coll_pipering_ring_buffer_size", dice_once_in(shared, 2) ? 4096 : 8192);
}

static void run_case(void)
{
    static const int both_ways[] = {KNOB_RING, KNOB_MERGED};
    static const int gathers[] = {KNOB_RING, KNOB_DOUBLING};
    dice_t shared = dice_from(seed, (uint64_t) number, 0);
    row_t row = {.own = dice_from(seed, (uint64_t) number, 1 + (uint64_t) tap_rank)};
    uint64_t below;

    knob_folds(KNOB_OFF, KNOB_OFF);
    make_comms(&row, &shared);
    row.fast = dice_roll(&shared, row.size);
    row.block_size = (size_t) (buffers ? dice_between(&shared, 64, 2048)
                                       : dice_between(&shared, 1, 64));
    knob_set("coll_pipering_block_size", (double) row.block_size);
    if (buffers) {
        set_buffers(&shared);
    }
    knob_folds(KNOB_PIPELINE, both_ways[dice_roll(&shared, 2)]);
    knob_set("coll_pipering_allgatherv_algorithm", gathers[dice_roll(&shared, 2)]);
    row.shared = shared;
    below = knob_counters("coll_pipering_fallback_");
    run_row(&row);
    judge_row(&row);
    if (below != knob_counters("coll_pipering_fallback_")) {
        fail("a call was left to the module below");
    }
    free_comms(&row);
}

/** Some of it went through ring buffers, on some rank. */
static void check_shared(void)
{
    const uint64_t mine = knob_counter("coll_pipering_bytes_shared");
    uint64_t sum;

    MPI_Allreduce(&mine, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    tap_check(0 < sum, "none", "bytes went through ring buffers");
}

int main(int argc, char **argv)
{
    const int only = (int) tap_number("CASE", -1);
    const int cases = 0 <= only ? only + 1 : (int) tap_number("N", 20);

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    seed = (uint64_t) tap_number("SEED", 1);
    signal(SIGALRM, hangs);
    buffers = 0 != tap_number("BUFFERS", 0);
    knob_set("coll_pipering_window", 2);
    for (number = 0 <= only ? only : 0; number < cases; number++) {
        alarm((unsigned) tap_number("PATIENCE", 150));
        run_case();
    }
    alarm(0);
    knob_folds(KNOB_OFF, KNOB_OFF);
    tap_check(0 == failures, "failed, see above", "%s %d of seed %llu at %d ranks",
              0 <= only ? "case" : "cases 0 to", cases - 1, (unsigned long long) seed, tap_size);
    if (buffers && 0 > only) {
        check_shared();
    }
    knob_end();
    return tap_end();
}
