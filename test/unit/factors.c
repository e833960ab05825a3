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
 * Factors: how they are kept and weigh, and whether calls on machines that the model is
 * wrong about come to what is nearly the best.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "tap.h"

static void test_adding(void)
{
    float factor = 0;

    mca_coll_pipering_factor_add(&factor, 0, 1);
    mca_coll_pipering_factor_add(&factor, 1, 0);
    ok(0 == factor, "what has no time teaches nothing");
    mca_coll_pipering_factor_add(&factor, 2, 3);
    ok(1.5f == factor, "a first call counts");
    mca_coll_pipering_factor_add(&factor, 1, 1);
    ok(1 == factor, "a shorter one does");
    mca_coll_pipering_factor_add(&factor, 1, 8);
    ok(1e-6 > fabs(factor - 2), "a longer one counts a part");
}

static void test_weighing(void)
{
    mca_coll_pipering_factors_t factors;
    const int class = mca_coll_pipering_rate_class(5000);

    memset(&factors, 0, sizeof(factors));
    ok(7 == mca_coll_pipering_factors_time(NULL, 5000, 7), "without factors the model is believed");
    ok(mca_coll_pipering_factors_pay(NULL, 5000, 11, 10, 1.1), "a little slower than rivals pays");
    ok(!mca_coll_pipering_factors_pay(NULL, 5000, 11.1, 10, 1.1), "more does not");
    ok(7 == mca_coll_pipering_factors_time(&factors, 5000, 7), "and where nothing is known");
    factors.of[class] = 1.12f;
    ok(7 == mca_coll_pipering_factors_time(&factors, 5000, 7), "noise weighs nothing");
    factors.of[class] = 2;
    factors.times[class] = 1;
    ok(7 == mca_coll_pipering_factors_time(&factors, 5000, 7), "a single pause weighs nothing, too");
    factors.times[class] = 2;
    const double twice = mca_coll_pipering_factors_time(&factors, 5000, 7);
    ok(12 < twice && 14 >= twice, "twice as long weighs nearly twice");
    ok(7 == mca_coll_pipering_factors_time(&factors, 50000, 7), "other blocks weigh as before");
    factors.of[0] = 0.5f;
    ok(28 == mca_coll_pipering_factors_time(&factors, 5000, 7), "where others take half, 4 times");
    ok(7 == mca_coll_pipering_factors_time(&factors, 500, 7), "and those not less");
    factors.of[0] = 0;
    ok(mca_coll_pipering_factors_pay(&factors, 5000, 14, 10, 1.1), "what served may be slower");
    ok(!mca_coll_pipering_factors_pay(&factors, 5000, 15, 10, 1.1), "but not by much");
    factors.below = 2.5;
    ok(mca_coll_pipering_factors_pay(&factors, 5000, 12, 10, 1.1), "unless rivals do, too");
    ok(!mca_coll_pipering_factors_pay(&factors, 5000, 13, 10, 1.1), "and are slower");
    factors.of[class] = 0;
    ok(mca_coll_pipering_factors_pay(&factors, 5000, 25, 10, 1.1),
       "what was measured below is compared with the model, too");
}

static void test_doubting(void)
{
    mca_coll_pipering_factors_t factors;
    float *factor = &factors.of[mca_coll_pipering_rate_class(5000)];

    memset(&factors, 0, sizeof(factors));
    factors.times[mca_coll_pipering_rate_class(5000)] = 2;
    ok(!mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 1), "an unknown model is believed");
    *factor = 1.03f;
    ok(!mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 1), "one that is right, too");
    *factor = 0.5f;
    ok(mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 1), "one that is too high is not");
    ok(mca_coll_pipering_factors_doubt(&factors, 50000, 9, 10, 1), "nor for other blocks");
    *factor = 2;
    ok(mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 1), "nor one that is too low");
    ok(!mca_coll_pipering_factors_doubt(&factors, 5000, 9, 100, 1), "unless others are far slower");
    factors.below = 2;
    ok(mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 1), "two close ones are tried again");
    ok(!mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 2), "every other time");
    factors.below = 4;
    ok(!mca_coll_pipering_factors_doubt(&factors, 5000, 9, 10, 1), "but not if one is much slower");
}

/* ---- learning ---- */

#define RANKS 12
#define MACHINES 2000
#define LESSONS 13

typedef struct {
    double of[MCA_COLL_PIPERING_RATES]; /* times the model */
    double below;                       /* times the model of rivals */
    mca_coll_pipering_problem_t problem;
    size_t bytes[RANKS];
    mca_coll_pipering_ring_t ring;
    char memory[8192], scratch[8192];
} machine_t;

static void make_machine(machine_t *machine)
{
    int node_of[RANKS];
    uint64_t blocks[RANKS];
    char scratch[8192];
    const int ranks = tap_between(3, RANKS);
    const size_t total = (size_t) 32768 << tap_below(8);
    const double beta = 83e-9 * pow(10, -(double) tap_below(34) / 10);
    const mca_coll_pipering_link_cost_t net = {.alpha = 90e-6 * pow(beta / 83e-9, 0.4),
                                               .latency = 90e-6 * pow(beta / 83e-9, 0.4),
                                               .beta = beta,
                                               .envelope = 32,
                                               .overlap = true};

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        machine->of[i] = tap_once_in(2) ? 1 : 1 + (double) tap_below(200) / 100;
    }
    const double all = tap_once_in(2) ? 1 : 0.3 + (double) tap_below(70) / 100;
    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        machine->of[i] *= all;
    }
    machine->below = all * (1 + (double) tap_below(200) / 100);
    for (int r = 0; r < ranks; ++r) {
        node_of[r] = r;
        blocks[r] = 1;
        machine->bytes[r] = tap_once_in(3) ? 0 : tap_below(2 * total / (size_t) ranks);
    }
    machine->bytes[0] = total / (size_t) ranks;
    mca_coll_pipering_ring_bind(&machine->ring, ranks, machine->memory);
    mca_coll_pipering_order(&machine->ring, node_of, blocks, 0, scratch);
    machine->problem = (mca_coll_pipering_problem_t){.ring = &machine->ring,
                                                     .bytes = machine->bytes,
                                                     .cost = {.net = net, .local = net},
                                                     .scratch = machine->scratch};
}

static double time_below(const machine_t *machine)
{
    return machine->below * mca_coll_pipering_rival_time(&machine->problem);
}

static double time_of(const machine_t *machine, size_t block)
{
    return machine->of[mca_coll_pipering_rate_class(block)]
           * mca_coll_pipering_time(&machine->problem, block);
}

/* A call by what is known; what it takes, and in a lesson (from 1 on, 0: none) adds. */
static double run_call(machine_t *machine, mca_coll_pipering_factors_t *factors, unsigned lesson)
{
    const double noise = 1 + (double) tap_below(5) / 100;

    machine->problem.cost.net.factors = factors;
    size_t block = mca_coll_pipering_search(&machine->problem);
    if (0 == lesson % 3 && 0 < lesson) {
        block = tap_once_in(2) ? block / 2 + 1 : 2 * block; /* lessons vary it */
    }
    const double model = mca_coll_pipering_time(&machine->problem, block);
    const double rival = mca_coll_pipering_rival_time(&machine->problem);
    const bool pays = mca_coll_pipering_factors_pay(factors, (double) block, model, rival, 1.1);
    const bool turns = 0 < lesson && (pays || 0 < factors->below)
                       && mca_coll_pipering_factors_doubt(factors, (double) block, model, rival,
                                                          lesson);
    const bool taken = pays != turns;
    const double time = taken ? time_of(machine, block) : time_below(machine);
    machine->problem.cost.net.factors = NULL;
    if (0 < lesson) {
        if (taken) {
            mca_coll_pipering_factors_add(factors, (double) block, model, noise * time);
        } else {
            mca_coll_pipering_factor_add(&factors->below, rival, noise * time);
        }
    }
    return time;
}

static double best_time(const machine_t *machine)
{
    double best = time_below(machine);

    for (int class = 0; class < MCA_COLL_PIPERING_RATES; ++class) {
        for (double size = ldexp(512, class); size < ldexp(1008, class); size *= 1.05) {
            const double time = time_of(machine, (size_t) size);
            best = size <= (double) machine->bytes[0] && time < best ? time : best;
        }
    }
    return best;
}

static void test_learning(void)
{
    static double last[MACHINES], alone[MACHINES];
    static machine_t machine;
    int worse = 0;

    for (int i = 0; i < MACHINES; ++i) {
        mca_coll_pipering_factors_t factors;

        memset(&factors, 0, sizeof(factors));
        make_machine(&machine);
        const double best = best_time(&machine);
        alone[i] = run_call(&machine, &factors, 0) / best;
        for (unsigned lesson = 1; lesson <= LESSONS; ++lesson) {
            (void) run_call(&machine, &factors, lesson);
        }
        last[i] = run_call(&machine, &factors, 0) / best;
        worse += last[i] > 1.3 * alone[i];
    }
    tap_sort(last, MACHINES);
    tap_sort(alone, MACHINES);
    printf("# time over the best: median %.3f, of 19 in 20 %.3f; by the model alone %.3f, %.3f\n",
           last[MACHINES / 2], last[MACHINES * 19 / 20], alone[MACHINES / 2],
           alone[MACHINES * 19 / 20]);
    ok(1.1 >= last[MACHINES / 2], "half of all calls come within 10%% of the best");
    ok(1.35 >= last[MACHINES * 19 / 20], "19 in 20 within 35%%");
    ok(worse <= MACHINES / 50, "few, %d, try what is slower than by the model alone", worse);
}

int main(void)
{
    tap_start();
    test_adding();
    test_weighing();
    test_doubting();
    test_learning();
    return tap_end();
}
