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
 * Stages: the time of a pipeline whose stages differ. The first block finds every stage idle,
 * the others follow at the pace of the slowest stage:
 *
 *     stage 1   |- pass -|
 *     stage 2            |--- pass ---|
 *     stage 3                         |- pass -|
 *                        |--- hold ---|--- hold ---|--- hold ---|      of the slowest, n - 1 times
 *
 *     T = sum of pass + (n - 1) max of hold,    n blocks
 *
 * Equation (1) counts N_s + N_t steps; it should be one less, since the first block passes its
 * last stage while the pipeline fills.
 *
 * Cost: O(kinds of stages). Limits: a stage holds one block at a time; nothing waits backwards.
 *
 * Paper: Worringer, "Pipelining and Overlapping for MPI Collective Operations", section 4,
 * equation (1). test/bench/worringer/staged.c has the pipelines of equations (2) to (4).
 */

#include <math.h>

#include "coll_pipering_plan_cost.h"

uint64_t mca_coll_pipering_stages(uint64_t hops, uint64_t blocks)
{
    return 0 == blocks ? 0 : hops + blocks - 1;
}

double mca_coll_pipering_stages_time(const mca_coll_pipering_stage_t *stages, int kinds,
                                     uint64_t blocks)
{
    double fill = 0, slowest = 0;

    if (0 == blocks) {
        return 0;
    }
    for (int i = 0; i < kinds; ++i) {
        fill += stages[i].count * stages[i].pass;
        slowest = 0 < stages[i].count ? fmax(slowest, stages[i].hold) : slowest;
    }
    return fill + (double) (blocks - 1) * slowest;
}
