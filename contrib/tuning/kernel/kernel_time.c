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
 * One time for all ranks. Ranks of a node share its clock; nodes are aligned with the first
 * one's in ceil(log2 n) steps: in step k the nodes 2^k to 2^(k+1) - 1 compare their clocks
 * with the aligned ones of the nodes 0 to 2^k - 1, each by itself:
 *
 *     step 0      0 <- 1
 *     step 1      0 <- 2     1 <- 3
 *     step 2      0 <- 4     1 <- 5     2 <- 6     3 <- 7
 *
 * A comparison is some round trips, of which the shortest counts. Comparisons are spread over
 * the job, between cells and within long ones, so that the drift of the clocks is found.
 */

#include "kernel.h"
#include "kernel_clock.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define ROUND_TRIPS 20
#define SPIN 50e-6     /* seconds before a start that a rank spins, where it has a processor */
#define GOOD_ERROR 5e-6 /* seconds; clocks that are this good need no comparison */
#define LEAST_RTT 1e-7 /* no round trip is taken to be shorter, so that errors are not 0 */

static struct {
    MPI_Comm node;    /* this node's ranks */
    MPI_Comm leaders; /* the first ranks of all nodes; MPI_COMM_NULL on others */
    kernel_clock_t clock;
    double fastest;    /* round trip of this rank, seconds; 0: none yet */
    double round_trip; /* agreed on when the job began */
    bool crowded;
    int ranks; /* of the job */
} all;

/* ---- this node's clock */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static void sleep_until(double when)
{
    const time_t seconds = (time_t) floor(when);
    const struct timespec time = {seconds, (long) (1e9 * (when - (double) seconds))};

    while (0 != clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL)) {
        continue;
    }
}

/* ---- comparing clocks */

/* Answers each message with the time at which it came. */
static void answer(int peer)
{
    double when;

    for (int i = 0; i < ROUND_TRIPS; ++i) {
        MPI_Recv(NULL, 0, MPI_DOUBLE, peer, 0, all.leaders, MPI_STATUS_IGNORE);
        when = kernel_time_now();
        MPI_Send(&when, 1, MPI_DOUBLE, peer, 0, all.leaders);
    }
}

static void ask(int peer)
{
    kernel_clock_point_t best = {.error = HUGE_VAL};

    for (int i = 0; i < ROUND_TRIPS; ++i) {
        const double start = now();
        double there, end;

        MPI_Send(NULL, 0, MPI_DOUBLE, peer, 0, all.leaders);
        MPI_Recv(&there, 1, MPI_DOUBLE, peer, 0, all.leaders, MPI_STATUS_IGNORE);
        end = fmax(now(), start + LEAST_RTT);
        if (0.5 * (end - start) < best.error) {
            const double middle = 0.5 * (start + end);
            best = (kernel_clock_point_t){middle, there - middle, 0.5 * (end - start)};
        }
    }
    kernel_clock_add(&all.clock, &best);
    if (0.0 == all.fastest || 2.0 * best.error < all.fastest) {
        all.fastest = 2.0 * best.error;
    }
}

static void align_leaders(void)
{
    int me, nodes;

    MPI_Comm_rank(all.leaders, &me);
    MPI_Comm_size(all.leaders, &nodes);
    for (int step = 1; step < nodes; step *= 2) {
        if (me < step && me + step < nodes) {
            answer(me + step);
        } else if (step <= me && me < 2 * step) {
            ask(me - step);
        }
    }
}

void kernel_time_align(void)
{
    if (MPI_COMM_NULL != all.leaders) {
        align_leaders();
    }
    MPI_Bcast(&all.clock, (int) sizeof(all.clock), MPI_BYTE, 0, all.node);
}

void kernel_time_realign(const bench_world_t *world, double error)
{
    if (all.ranks == world->size && error > fmax(GOOD_ERROR, 0.5 * all.round_trip)) {
        kernel_time_align();
    }
}

/* ---- the ranks' time */

double kernel_time_now(void)
{
    return kernel_clock_there(&all.clock, now());
}

void kernel_time_wait(double when)
{
    const double here = kernel_clock_here(&all.clock, when);

    if (all.crowded) {
        sleep_until(here);
        return;
    }
    if (here - now() > 2.0 * SPIN) {
        sleep_until(here - SPIN);
    }
    while (now() < here) {
        continue;
    }
}

double kernel_time_error(void)
{
    return kernel_clock_error(&all.clock, now());
}

double kernel_time_round_trip(void)
{
    return all.round_trip;
}

bool kernel_time_crowded(void)
{
    return all.crowded;
}

/* ---- begin and end */

/* Open MPI is told to yield where ranks share processors, or it is seen. */
static bool find_crowd(const bench_world_t *world)
{
    const int yield = bench_cvar_open("mpi_yield_when_idle");
    int ranks, crowded;

    MPI_Comm_size(all.node, &ranks);
    crowded = ranks > sysconf(_SC_NPROCESSORS_ONLN)
              || (0 <= yield && 0 != strcmp(bench_cvar_value(yield), "0"));
    MPI_Allreduce(MPI_IN_PLACE, &crowded, 1, MPI_INT, MPI_MAX, world->control);
    return 0 != crowded;
}

void kernel_time_begin(const bench_world_t *world)
{
    int rank;

    all.ranks = world->size;
    kernel_clock_init(&all.clock);
    MPI_Comm_split(world->control, world->node[world->rank], 0, &all.node);
    MPI_Comm_rank(all.node, &rank);
    MPI_Comm_split(world->control, 0 == rank ? 0 : MPI_UNDEFINED, 0, &all.leaders);
    all.crowded = find_crowd(world);
    prctl(PR_SET_TIMERSLACK, 1L, 0L, 0L, 0L);
    kernel_time_align();
    MPI_Allreduce(&all.fastest, &all.round_trip, 1, MPI_DOUBLE, MPI_MAX, world->control);
}

void kernel_time_end(void)
{
    if (MPI_COMM_NULL != all.leaders) {
        MPI_Comm_free(&all.leaders);
    }
    MPI_Comm_free(&all.node);
}
