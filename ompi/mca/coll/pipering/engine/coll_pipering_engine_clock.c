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
 * Clocks of streams, which show what a link costs (coll_pipering_plan_rates.c).
 *
 *     blocks   1  2  3  4  5  6  7  8  9
 *              |--- half 0 ---|           what came before the first look is left out
 *                             |- half 1 -|
 */

#include "coll_pipering_engine_steps.h"

#include <math.h>

#include "coll_pipering_clock.h"

/* A half that is so many times as fast had its blocks waiting when it began. */
#define WAITED 1.5

/* So many times the others is no pause that blocks make. */
#define LONG_PAUSE 8

void mca_coll_pipering_clock_note(mca_coll_pipering_clock_t *clock, uint64_t arrived,
                                  uint64_t total)
{
    const double now = mca_coll_pipering_now();
    const int half = clock->half;

    if (2 == half) {
        return;
    }
    if (0 == clock->from) {
        clock->from = arrived;
        clock->of[0].began = now;
    } else {
        clock->of[half].pause = fmax(clock->of[half].pause, now - clock->last);
        ++clock->of[half].looks;
    }
    clock->last = now;
    if (arrived < (0 == half ? (total + 1) / 2 : total)) {
        return;
    }
    clock->of[half].lasted = now - clock->of[half].began;
    clock->of[half].blocks = arrived - clock->from;
    clock->from = arrived;
    if (2 > ++clock->half) {
        clock->of[1].began = now;
    }
}

/* Seconds a block of a half. */
static double time_block(const mca_coll_pipering_clock_t *clock, int half)
{
    const double blocks = (double) clock->of[half].blocks, lasted = clock->of[half].lasted;
    const double pause = clock->of[half].pause, rest = lasted - pause;
    const double others = (double) clock->of[half].looks - 1;

    return 1 < blocks && pause * others > LONG_PAUSE * rest ? rest / (blocks - 1) : lasted / blocks;
}

double mca_coll_pipering_clock_block(const mca_coll_pipering_clock_t *clock, bool opening)
{
    if (2 > clock->half || 0 == clock->of[0].blocks || 0 == clock->of[1].blocks) {
        return 0;
    }
    const double first = time_block(clock, 0), second = time_block(clock, 1);
    const double slower = fmax(first, second), faster = fmin(first, second);
    const double blocks = (double) clock->of[0].blocks, more = (double) clock->of[1].blocks;

    if (opening) {
        return faster;
    }
    return WAITED * faster < slower ? slower
                                    : (first * blocks + second * more) / (blocks + more);
}
