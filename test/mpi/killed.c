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
 * Rank VICTIM is killed, by its process id, while it is in a call of
 * MPI_Allgatherv (NONBLOCKING=1: in MPI_Wait after MPI_Iallgatherv). The job is
 * not meant to end by itself.
 */

#include "knob.h"
#include "tap.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t in_call;
static volatile sig_atomic_t calls;

/** Kills this process if it is in a call and some have been made, or looks again later. */
static void die_in_call(int sign)
{
    (void) sign;
    if (in_call && 2 < calls) {
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

static void call(const char *send, char *recv, const int *count, const int *displ)
{
    MPI_Request request;

    in_call = 1;
    if (0 == tap_number("NONBLOCKING", 0)) {
        MPI_Allgatherv(send, count[tap_rank], MPI_BYTE, recv, count, displ, MPI_BYTE,
                       MPI_COMM_WORLD);
    } else {
        MPI_Iallgatherv(send, count[tap_rank], MPI_BYTE, recv, count, displ, MPI_BYTE,
                        MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    in_call = 0;
    calls++;
}

int main(int argc, char **argv)
{
    enum { PART = 2 << 20 };
    int *count, *displ;
    char *send, *recv;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    count = tap_memory((size_t) tap_size * sizeof(int));
    displ = tap_memory((size_t) tap_size * sizeof(int));
    for (int i = 0; i < tap_size; i++) {
        count[i] = PART;
        displ[i] = i * PART;
    }
    send = calloc(1, PART);
    recv = calloc((size_t) tap_size, PART);
    if (tap_number("VICTIM", 1) == tap_rank) {
        arm();
    }
    for (;;) {
        call(send, recv, count, displ);
    }
    return tap_end();
}
