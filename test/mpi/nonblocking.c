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
 * MPI_Iallgatherv and MPI_Iallgather: a hundred in flight, and what a nonblocking start must
 * never do: wait for another rank.
 */

#include "exchange.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>

#define MOST 100 /* calls in flight */

static uint64_t key = 3000;
static char fault[600];
static int most = 400; /* elements of a contribution */
static uint64_t sample_key;
static bool sample_same;

/** Of the n-th sample; some have nothing. */
static int count_of(int rank)
{
    const uint64_t chance = dice_mix(sample_key * 64 + (sample_same ? 0 : (uint64_t) rank));

    return 0 == chance % 5 ? 0 : (int) (chance / 8 % (uint64_t) most);
}

/** Samples first .. first + n - 1, the same on every rank, started. */
static void start_samples(MPI_Comm comm, call_t **call, int first, int n)
{
    for (int i = 0; i < n; i++) {
        const int unit = (first + i) % LAYOUT_UNITS;

        sample_key = key + (uint64_t) (first + i);
        sample_same = 0 == (first + i) % 4;
        call[i] = exchange_simple(comm, sample_key, sample_same,
                                  0 == i % 2 ? layout_unit(unit, 0)
                                             : layout_vector(2, 1, 3, layout_unit(unit, 1)),
                                  count_of);
        TAP_MPI(call_start(call[i], NONBLOCKING));
    }
}

/** They end from the last on. */
static bool end_samples(call_t **call, int n)
{
    bool all = true;

    for (int i = n - 1; 0 <= i; i--) {
        TAP_MPI(call_wait(call[i]));
        if (!call_right(call[i])) {
            snprintf(fault, sizeof(fault), "%s", call[i]->fault);
            all = false;
        }
        call_free(call[i]);
    }
    return all;
}

static bool many_in_flight(void)
{
    call_t *call[MOST];

    most = 20;
    start_samples(MPI_COMM_WORLD, call, 0, MOST);
    most = 400;
    return end_samples(call, MOST);
}

/** Rank 0 starts only when told so by the last rank, which tells after its own start. */
static bool start_is_local(void)
{
    call_t *call[2];
    MPI_Comm comm;
    char go = 1;
    bool all = true;

    for (int n = 0; n < 2; n++) { /* the first call on a communicator, and a later one */
        if (0 == n) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        if (0 == tap_rank && 1 < tap_size) {
            MPI_Recv(&go, 1, MPI_CHAR, tap_size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        start_samples(comm, call, 4 * n, 2);
        if (tap_size - 1 == tap_rank && 1 < tap_size) {
            MPI_Send(&go, 1, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
        }
        TAP_MPI(call_wait(call[1]));
        TAP_MPI(call_wait(call[0]));
        all &= end_samples(call, 2);
    }
    MPI_Comm_free(&comm);
    return all;
}

/** Two new communicators, on which ranks start in opposite orders. */
static bool opposite_orders(void)
{
    call_t *call[2];
    MPI_Comm comm[2];
    int first = tap_rank % 2;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    start_samples(comm[first], call + first, first, 1);
    start_samples(comm[1 - first], call + 1 - first, 1 - first, 1);
    TAP_MPI(call_wait(call[first]));
    TAP_MPI(call_wait(call[1 - first]));
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    return end_samples(call, 2);
}

/** Rank 0 sits in MPI_Recv until the others have the result that passes through it. */
static bool progress_in_receive(void)
{
    call_t *call[2];
    char word = 0;

    start_samples(MPI_COMM_WORLD, call, 4, 2);
    if (0 == tap_rank) {
        for (int i = 1; i < tap_size; i++) {
            MPI_Recv(&word, 1, MPI_CHAR, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    TAP_MPI(call_wait(call[0]));
    TAP_MPI(call_wait(call[1]));
    if (0 != tap_rank) {
        MPI_Send(&word, 1, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
    }
    return end_samples(call, 2);
}

/** The same inside of a collective on another communicator. */
static bool progress_in_barrier(void)
{
    call_t *call[1];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    start_samples(MPI_COMM_WORLD, call, 5, 1);
    if (0 != tap_rank) {
        TAP_MPI(call_wait(call[0]));
    }
    MPI_Barrier(comm);
    TAP_MPI(call_wait(call[0]));
    MPI_Comm_free(&comm);
    return end_samples(call, 1);
}

/** A communicator is duplicated while a call is in flight on it. */
static bool dup_in_flight(void)
{
    call_t *call[2];
    MPI_Comm comm;

    start_samples(MPI_COMM_WORLD, call, 6, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    start_samples(comm, call + 1, 7, 1);
    TAP_MPI(call_wait(call[1]));
    TAP_MPI(call_wait(call[0]));
    MPI_Comm_free(&comm);
    return end_samples(call, 2);
}

static const struct {
    const char *name;
    bool (*test)(void);
} tests[] = {
    {"100 in flight", many_in_flight},
    {"a start waits for nobody", start_is_local},
    {"started in opposite orders on two communicators", opposite_orders},
    {"progress while a rank is in MPI_Recv", progress_in_receive},
    {"progress while a rank is in MPI_Barrier", progress_in_barrier},
    {"communicator duplicated in flight", dup_in_flight},
};

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
        bool all = true;

        for (int i = 0; i < knob_settings_count(); i++) {
            knob_apply(&knob_settings[i]);
            key += 1000;
            all &= tests[t].test();
        }
        tap_check(all, fault, "%s", tests[t].name);
    }
    knob_end();
    return tap_end();
}
