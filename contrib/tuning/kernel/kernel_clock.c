/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The likeliest line of a clock. */

#include "kernel_clock.h"

#include <math.h>
#include <string.h>

/* How much clocks drift, before anything is known: a standard deviation. */
#define USUAL_DRIFT 50e-6

void kernel_clock_init(kernel_clock_t *clock)
{
    memset(clock, 0, sizeof(*clock));
}

static int kept(const kernel_clock_t *clock)
{
    return clock->count < KERNEL_CLOCK_POINTS ? clock->count : KERNEL_CLOCK_POINTS;
}

/*
 * Least squares of (offset_i - offset - drift (when_i - middle)) / error_i, and of
 * drift / USUAL_DRIFT. About the weighted middle both unknowns are independent.
 */
static void fit(kernel_clock_t *clock)
{
    const kernel_clock_point_t *points = clock->points;
    double weights = 0.0, when = 0.0, offset = 0.0;
    double spread = 1.0 / (USUAL_DRIFT * USUAL_DRIFT), slope = 0.0;

    for (int i = 0; i < kept(clock); ++i) {
        const double weight = 1.0 / (points[i].error * points[i].error);
        weights += weight;
        when += weight * (points[i].when - points[0].when);
        offset += weight * (points[i].offset - points[0].offset);
    }
    clock->middle = points[0].when + when / weights;
    clock->offset = points[0].offset + offset / weights;
    for (int i = 0; i < kept(clock); ++i) {
        const double weight = 1.0 / (points[i].error * points[i].error);
        const double x = points[i].when - clock->middle;
        spread += weight * x * x;
        slope += weight * x * (points[i].offset - clock->offset);
    }
    clock->drift = slope / spread;
    clock->offset_variance = 1.0 / weights;
    clock->drift_variance = 1.0 / spread;
}

void kernel_clock_add(kernel_clock_t *clock, const kernel_clock_point_t *point)
{
    clock->points[clock->count++ % KERNEL_CLOCK_POINTS] = *point;
    fit(clock);
}

double kernel_clock_there(const kernel_clock_t *clock, double here)
{
    return here + clock->offset + clock->drift * (here - clock->middle);
}

double kernel_clock_here(const kernel_clock_t *clock, double there)
{
    return clock->middle + (there - clock->middle - clock->offset) / (1.0 + clock->drift);
}

double kernel_clock_error(const kernel_clock_t *clock, double here)
{
    const double x = here - clock->middle;

    return sqrt(clock->offset_variance + clock->drift_variance * x * x);
}
