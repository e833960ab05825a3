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
 * Calls of coll/mleader under a checker of threads: each rank of a communicator is a
 * thread, which runs random calls one behind the other without a pause, some of which wait.
 * The bytes must be right, and all that ranks of a node share be handed over by its counters
 * and messages.
 */

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "cast.h"
#include "tap.h"

#define CASTS 30
#define CALLS 60
#define SLICES 4
#define PATIENCE 500 /* seconds */

typedef struct rank_t {
    cast_t *cast;
    int rank;
    const cast_call_t *calls; /* equal on all ranks */
    const char *fault;
} rank_t;

static void idle(void)
{
    sched_yield();
}

static void *run_rank(void *argument)
{
    rank_t *rank = argument;

    posing_me = &rank->cast->comm[rank->rank];
    rank->fault = cast_act(rank->cast, rank->rank, rank->calls, CALLS);
    return NULL;
}

static const char *run_ranks(cast_t *cast, const cast_call_t *calls)
{
    rank_t rank[POSING_RANKS];
    pthread_t thread[POSING_RANKS];
    const char *fault = NULL;

    for (int r = 0; r < cast->layout.ranks; r++) {
        rank[r] = (rank_t){.cast = cast, .rank = r, .calls = calls};
        pthread_create(&thread[r], NULL, run_rank, &rank[r]);
    }
    for (int r = 0; r < cast->layout.ranks; r++) {
        pthread_join(thread[r], NULL);
        fault = NULL == fault ? rank[r].fault : fault;
    }
    return fault;
}

int main(void)
{
    tap_tally_t right = {0, 0}, empty = {0, 0};
    cast_call_t calls[CALLS];
    cast_t cast;

    tap_start();
    alarm(PATIENCE);
    posing_idle = idle;
    for (int n = 0; n < CASTS; n++) {
        cast_roll(&cast, tap_between(2, 8), tap_between(1, 3));
        cast_open(&cast, 4096, tap_below(3));
        for (int i = 0; i < CALLS; i++) {
            calls[i] = cast_roll_call(&cast, SLICES);
        }
        const char *fault = run_ranks(&cast, calls);
        tap_try(&right, NULL == fault, "%s: %s", cast_show(&cast), NULL == fault ? "" : fault);
        tap_try(&empty, cast_close(&cast), "messages are left");
    }
    tally_ok(&right, CASTS, "ranks as threads: the bytes are right");
    tally_ok(&empty, CASTS, "and no message is left");
    return tap_end();
}
