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
 * Soak: cases of all calls, one after the other, while memory, files and mappings of the
 * process are watched, which must level off.
 *
 * With KILL=rank or KILL=mpirun, rank VICTIM ends itself, or the process that started it,
 * after AFTER milliseconds of cases.
 */

#include "allocator.h"
#include "cases.h"
#include "tap.h"
#include "usage.h"

#include <malloc.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- what a process holds ---- */

typedef enum { RESIDENT, SHARED, ALLOCATED, COMPONENTS, FILES, SEGMENTS, WATCHED } watched_t;

/* How much more there may be at the end than in the middle: a part, and an amount. */
static const struct {
    const char *name;
    double part;
    long amount;
} limits[WATCHED] = {{"KiB of its own memory", 0.1, 2048}, /* free lists of messages grow */
                     {"KiB of shared memory", 0.1, 4096},
                     {"KiB of malloc", 0.1, 2048}, /* the same lists */
                     {"bytes of the components' malloc", 0, 4096},
                     {"open files", 0, 4},
                     {"segments of shared memory", 0, 8}};

/* ---- samples ---- */

#define EVERY 10 /* cases */

/* Fewer are of a time in which much is used for the first time. */
#define SAMPLES_LEAST 100

static long (*sample)[WATCHED];
static int samples, room;

static void watch(void)
{
    if (samples == room) {
        room = 0 == room ? 256 : 2 * room;
        sample = realloc(sample, (size_t) room * sizeof(*sample));
        if (NULL == sample) {
            tap_bail("no memory for %d samples", room);
        }
    }
    malloc_trim(0); /* what malloc only keeps for later is given back */
    sample[samples][RESIDENT] = usage_resident("RssAnon");
    sample[samples][SHARED] = usage_resident("RssShmem");
    sample[samples][ALLOCATED] = (usage_allocated() + usage_mapped()) / 1024;
    sample[samples][COMPONENTS] = allocator_held_bytes();
    sample[samples][FILES] = usage_entries("/proc/self/fd");
    sample[samples][SEGMENTS] = usage_mappings(USAGE_SEGMENT);
    samples++;
}

/* The least between two of the quarters of the run: what calls in flight hold comes and goes. */
static long least(int what, int from, int to)
{
    long value = sample[from * samples / 4][what];

    for (int i = from * samples / 4; i < to * samples / 4; i++) {
        value = sample[i][what] < value ? sample[i][what] : value;
    }
    return value;
}

static void judge(void)
{
    for (int i = 0; i < WATCHED; i++) {
        const long middle = least(i, 1, 2), end = least(i, 3, 4);
        const long most = middle + (long) (limits[i].part * (double) middle) + limits[i].amount;
        long shown[2] = {middle, end};
        char fault[120];

        snprintf(fault, sizeof(fault), "%ld in the second quarter, %ld in the last", middle, end);
        MPI_Allreduce(MPI_IN_PLACE, shown, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
        tap_check(end <= most, fault, "%s: %ld in the second quarter, %ld in the last",
                  limits[i].name, shown[0], shown[1]);
    }
}

/* ---- a death ---- */

static void kill_starter(int sign)
{
    (void) sign;
    (void) !write(1, "# killed\n", 9);
    kill(getppid(), SIGKILL);
}

static void kill_self(int sign)
{
    (void) sign;
    (void) !write(1, "# killed\n", 9);
    kill(getpid(), SIGKILL);
}

static void arm(const char *whom)
{
    const long after = tap_number("AFTER", 1000);
    const struct itimerspec when = {.it_value = {after / 1000, 1000000 * (after % 1000)}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    timer_t timer;

    signal(SIGUSR2, 0 == strcmp(whom, "mpirun") ? kill_starter : kill_self);
    if (0 != timer_create(CLOCK_MONOTONIC, &event, &timer)
        || 0 != timer_settime(timer, 0, &when, NULL)) {
        tap_bail("no timer");
    }
}

/* ---- cases ---- */

static void run(uint64_t seed, int number)
{
    cases_all(seed, number);
    if (0 == number % EVERY) {
        watch();
    }
}

int main(int argc, char **argv)
{
    const char *whom = getenv("KILL");
    int cases;

    cases_begin(&argc, &argv);
    cases_watched = true;
    if (!allocator_arm(0)) {
        tap_note("what the components allocate is not counted here");
    }
    if (NULL != whom && tap_number("VICTIM", 0) == tap_rank) {
        arm(whom);
    }
    cases = cases_loop(run);
    if (SAMPLES_LEAST <= samples) {
        judge();
    } else {
        tap_note("too few cases to judge memory by");
    }
    tap_note("%d cases", cases);
    free(sample);
    return cases_end();
}
