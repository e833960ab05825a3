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
 * A clock of another node as a line: what to add to this one's time. Pure C.
 *
 * A round trip sees the other clock at some moment between its start and its end, so it gives
 * one point: the offset in its middle, wrong by half of its duration at most.
 *
 *     offset
 *       |                   I            I  a point with its error
 *       |          I  . - ' I
 *       |      . I '                     .  the line: offset + drift * (time - middle)
 *       |  I '
 *       +-------------------------> time of this clock
 *
 * The line is the likeliest one, given the points (each as wrong as its error says) and that
 * clocks drift by about 50 millionths: with few points close together it is almost level, and
 * the drift is found as the points spread. Hunold and Carpen-Amarie (ReproMPI) and SKaMPI take
 * the least round trip, as kernel_sync.c does, and fit a line to points of a short while.
 */

#ifndef KERNEL_CLOCK_H
#define KERNEL_CLOCK_H

#define KERNEL_CLOCK_POINTS 64

typedef struct kernel_clock_point_t {
    double when;   /**< of this clock, seconds */
    double offset; /**< seconds to add */
    double error;  /**< seconds, more than 0 */
} kernel_clock_point_t;

typedef struct kernel_clock_t {
    int count; /**< points so far; the last KERNEL_CLOCK_POINTS are kept */
    kernel_clock_point_t points[KERNEL_CLOCK_POINTS];
    double middle, offset, drift;         /**< the line */
    double offset_variance, drift_variance;
} kernel_clock_t;

/** A clock without points is the other one: the line is 0. */
void kernel_clock_init(kernel_clock_t *clock);
void kernel_clock_add(kernel_clock_t *clock, const kernel_clock_point_t *point);

/** The other clock's time at a time of this one, and back. */
double kernel_clock_there(const kernel_clock_t *clock, double here);
double kernel_clock_here(const kernel_clock_t *clock, double there);

/** How wrong the line may be at a time of this clock: a standard deviation, seconds. */
double kernel_clock_error(const kernel_clock_t *clock, double here);

#endif
