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
 * Clocks: posed ones with an offset and a drift, compared by posed round trips; and the order of
 * turns.
 */

#include "kernel_clock.h"
#include "kernel_order.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define CASES 1000
#define ROUND_TRIPS 20
#define WAY 20e-6 /* seconds of a message, at least */

/* Two clocks: the other one says offset + (1 + drift) * time where this one says time. */
typedef struct {
    double offset, drift;
} posed_t;

static double uniform(double from, double to)
{
    return from + (to - from) * (double) (tap_random() >> 11) / 9007199254740992.0;
}

static double truth(const posed_t *posed, double here)
{
    return posed->offset + (1.0 + posed->drift) * here;
}

/* A message takes WAY and some more, mostly little. */
static double way(void)
{
    return WAY - 10e-6 * log(1.0 - uniform(0.0, 1.0));
}

/* As kernel_time.c compares clocks: the shortest of some round trips is a point. */
static kernel_clock_point_t compare(const posed_t *posed, double *time)
{
    kernel_clock_point_t best = {.error = HUGE_VAL};

    for (int i = 0; i < ROUND_TRIPS; ++i) {
        const double start = *time, there = start + way(), end = there + way();
        const double middle = 0.5 * (start + end), error = 0.5 * (end - start);

        if (error < best.error) {
            best = (kernel_clock_point_t){middle, truth(posed, there) - middle, error};
        }
        *time = end;
    }
    return best;
}

static posed_t pose(void)
{
    return (posed_t){uniform(-1e4, 1e4), uniform(-80e-6, 80e-6)};
}

static void test_aligned(void)
{
    tap_tally_t exact = {0, 0}, honest = {0, 0}, drifts = {0, 0}, back = {0, 0};

    for (int i = 0; i < CASES; ++i) {
        const posed_t posed = pose();
        double time = uniform(0.0, 1e6);
        kernel_clock_t clock;

        kernel_clock_init(&clock);
        for (int k = 0; k < 40 + i % 60; ++k) {
            const kernel_clock_point_t point = compare(&posed, &time);
            kernel_clock_add(&clock, &point);
            time += uniform(0.5, 1.5);
        }
        const double error = kernel_clock_there(&clock, time) - truth(&posed, time);

        tap_try(&exact, fabs(error) < 10e-6, "off by %g s, drift %g", error, posed.drift);
        tap_try(&honest, fabs(error) < 5.0 * kernel_clock_error(&clock, time),
                "off by %g s, said %g", error, kernel_clock_error(&clock, time));
        tap_try(&drifts, fabs(clock.drift - posed.drift) < 2e-6, "drift %g, found %g", posed.drift,
                clock.drift);
        tap_try(&back, fabs(kernel_clock_here(&clock, kernel_clock_there(&clock, time)) - time)
                           < 1e-8, "time %g", time);
    }
    tally_ok(&exact, CASES, "after a minute of comparisons clocks agree within 10 us");
    tally_ok(&honest, CASES, "and are no worse than five times what is said of them");
    tally_ok(&drifts, CASES, "the drift is found within 2 millionths");
    tally_ok(&back, CASES, "there and back again is the same time");
}

/* Points so close together that any slope fits them. */
static void test_begin(void)
{
    tap_tally_t level = {0, 0}, exact = {0, 0};

    for (int i = 0; i < CASES; ++i) {
        const posed_t posed = pose();
        double time = uniform(0.0, 1e6);
        kernel_clock_t clock;

        kernel_clock_init(&clock);
        for (int k = 0; k < 1 + i % 4; ++k) {
            const kernel_clock_point_t point = compare(&posed, &time);
            kernel_clock_add(&clock, &point);
        }
        const double error = kernel_clock_there(&clock, time) - truth(&posed, time);

        tap_try(&level, fabs(clock.drift) < 60e-6, "drift %g", clock.drift);
        tap_try(&exact, fabs(error) < WAY, "off by %g s", error);
    }
    tally_ok(&level, CASES, "the first points do not make a drift up");
    tally_ok(&exact, CASES, "and align clocks at once, within a message's time");
}

/* A comparison that was disturbed has a long round trip, and hardly counts. */
static void test_disturbed(void)
{
    tap_tally_t exact = {0, 0};

    for (int i = 0; i < CASES; ++i) {
        const posed_t posed = pose();
        double time = uniform(0.0, 1e6);
        kernel_clock_t clock;

        kernel_clock_init(&clock);
        for (int k = 0; k < 40; ++k) {
            kernel_clock_point_t point = compare(&posed, &time);
            if (0 == k % 7) {
                point.error += 5e-3;
                point.offset += 4e-3;
            }
            kernel_clock_add(&clock, &point);
            time += uniform(0.5, 1.5);
        }
        const double error = kernel_clock_there(&clock, time) - truth(&posed, time);

        tap_try(&exact, fabs(error) < 15e-6, "off by %g s", error);
    }
    tally_ok(&exact, CASES, "disturbed comparisons move a clock by a few us at most");
}

static void test_alone(void)
{
    kernel_clock_t clock;

    kernel_clock_init(&clock);
    ok(12.5 == kernel_clock_there(&clock, 12.5) && 12.5 == kernel_clock_here(&clock, 12.5)
           && 0.0 == kernel_clock_error(&clock, 12.5),
       "a clock that is compared with none is right");
}

/* ---- turns */

static void test_shuffle(void)
{
    int order[7], first[7] = {0};
    uint64_t state = 11;
    bool permutation = true, even = true;

    for (int i = 0; i < 7000; ++i) {
        unsigned seen = 0;
        kernel_shuffle(order, 7, &state);
        for (int k = 0; k < 7; ++k) {
            seen |= 1u << order[k];
        }
        permutation = permutation && 127 == seen;
        ++first[order[0]];
    }
    for (int k = 0; k < 7; ++k) {
        even = even && 850 < first[k] && 1150 > first[k];
    }
    ok(permutation, "turns are in an order of all arms");
    ok(even, "and each arm is first as often");
}

int main(void)
{
    tap_start();
    test_aligned();
    test_begin();
    test_disturbed();
    test_alone();
    test_shuffle();
    return tap_end();
}
