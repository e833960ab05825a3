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
 * One repetition. The ranks agree on a time to begin at, so that no barrier decides who begins
 * first, and wait for it by their aligned clocks:
 *
 *     rank 0   fill ... agree |<--- slack --->| call .......... meet, check
 *     rank 1   fill .. agree  |               | call ....       meet, check
 *                                             start          end of the slowest
 *
 * A rank that comes too late makes all of them discard the repetition and leave more time
 * before the next start. Tasks that take their own time do not mind.
 */

#include "kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Seconds; the latter where ranks wait for a processor, too, not only for the time. */
#define LEAST_SLACK 200e-6
#define CROWDED_SLACK 1e-3
#define LEAST_TOLERANCE 20e-6
#define CROWDED_TOLERANCE 200e-6

#define MOST_SLACK 0.1
#define PART_LATE 0.03 /* of what the work takes */
#define PATIENCE 3     /* missed starts in a row until the tolerance grows */

/* With each start that is met, slack and tolerance come back by so much. */
#define EASE_SLACK 0.98
#define EASE_TOLERANCE 0.9

/* What the ranks tell each other of a repetition; the most of each counts. */
enum { SECONDS, LATE, ERROR, TOLD };

static double tolerance_of(const kernel_pace_t *pace, double usual)
{
    return fmax(pace->tolerance, PART_LATE * usual);
}

static double least_slack(void)
{
    return kernel_time_crowded() ? CROWDED_SLACK : LEAST_SLACK;
}

static double least_tolerance(void)
{
    return kernel_time_crowded() ? CROWDED_TOLERANCE : LEAST_TOLERANCE;
}

static void init(kernel_pace_t *pace)
{
    if (0.0 == pace->slack) {
        pace->slack = least_slack() + 4.0 * kernel_time_round_trip();
        pace->tolerance = least_tolerance();
    }
}

/* The time to begin at: `slack` after the last rank was ready. */
static double agree(const bench_world_t *world, const kernel_pace_t *pace)
{
    double start = kernel_time_now();

    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MAX, world->control);
    return start + pace->slack;
}

static void adapt(kernel_pace_t *pace, bool met)
{
    if (met) {
        pace->missed = 0;
        pace->slack = fmax(EASE_SLACK * pace->slack, least_slack());
        pace->tolerance = fmax(EASE_TOLERANCE * pace->tolerance, least_tolerance());
        return;
    }
    pace->slack = fmin(2.0 * pace->slack, MOST_SLACK);
    if (0 == ++pace->missed % PATIENCE) {
        pace->tolerance *= 2.0;
    }
}

/* True if the result is right on all ranks; else the first wrong rank's sentence is in `note`. */
static bool verify(kernel_work_t *work, uint64_t number, char note[KERNEL_NOTE])
{
    const bench_world_t *world = work->world;
    char error[KERNEL_NOTE] = "";
    const bool right = NULL == work->kind->verify || work->kind->verify(work, number, error);
    int first = right ? world->size : world->rank;

    MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, world->control);
    if (first == world->size) {
        return true;
    }
    MPI_Bcast(error, KERNEL_NOTE, MPI_CHAR, first, world->control);
    snprintf(note, KERNEL_NOTE, "rank %d: %.400s", first, error);
    return false;
}

kernel_sample_t kernel_turn(kernel_work_t *work, MPI_Comm comm, kernel_pace_t *pace, double usual,
                            uint64_t number, char note[KERNEL_NOTE])
{
    kernel_sample_t sample;
    double told[TOLD], start, own = -1.0;

    init(pace);
    if (NULL != work->kind->fill) {
        work->kind->fill(work, number);
    }
    start = agree(work->world, pace);
    kernel_time_wait(start);
    told[LATE] = kernel_time_now() - start;
    work->kind->run(work, comm, &own);
    told[SECONDS] = 0.0 > own ? kernel_time_now() - start : own;
    told[ERROR] = kernel_time_error();
    MPI_Allreduce(MPI_IN_PLACE, told, TOLD, MPI_DOUBLE, MPI_MAX, work->world->control);

    sample = (kernel_sample_t){.start = start,
                               .met = 0.0 <= own || told[LATE] <= tolerance_of(pace, usual),
                               .right = verify(work, number, note),
                               .seconds = told[SECONDS],
                               .late = told[LATE],
                               .error = told[ERROR]};
    adapt(pace, sample.met);
    return sample;
}
