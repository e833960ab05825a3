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
 * Rank VICTIM is killed, by its process id, while it is in a CALL (foldcall.h); with ANEW=1 each is
 * on a new communicator. The job is not meant to end by itself.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define CALLS_BEFORE 3 /* that go well */

static volatile sig_atomic_t in_call;
static volatile sig_atomic_t calls;

/** Kills this process if it is in a call and some have been made, or looks again later. */
static void die_in_call(int sign)
{
    (void) sign;
    if (in_call && CALLS_BEFORE <= calls) {
        (void) !write(1, "# killed in a call\n", 19);
        kill(getpid(), SIGKILL);
    }
}

static void arm(void)
{
    struct itimerval timer = {{0, 7000}, {0, 30000}};

    signal(SIGALRM, die_in_call);
    setitimer(ITIMER_REAL, &timer, NULL);
}

#define PART (2 << 20)

/** Dies while segments are made, if luck has it. */
static void gather_anew(foldcall_t call)
{
    MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
    call.count = 8;
    foldcall(&call, BLOCKING);
    MPI_Comm_free(&call.comm);
}

/** Calls that one of the components has served. */
static uint64_t served(void)
{
    return knob_counter("coll_pipering_calls") + knob_counters("coll_mleader_calls_");
}

int main(int argc, char **argv)
{
    form_t form;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    const bool anew = 0 != tap_number("ANEW", 0);
    const foldcall_t call = foldcall_of_parts(foldcall_chosen(&form), PART);
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    knob_folds(KNOB_PIPELINE, BLOCKING == form ? KNOB_MERGED : KNOB_RING);
    knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS);
    if (FOLD_ALLGATHER == call.call && NONBLOCKING == form) {
        foldcall(&call, BLOCKING); /* leaders set the communicator up in a call that waits */
    }
    if (tap_number("VICTIM", 1) == tap_rank) {
        arm();
    }
    for (;;) {
        in_call = 1;
        if (anew) {
            gather_anew(call);
        } else {
            foldcall(&call, form);
        }
        in_call = 0;
        if (++calls == CALLS_BEFORE && CALLS_BEFORE > served()) {
            tap_bail("the calls went elsewhere");
        }
    }
}
