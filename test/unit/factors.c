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

static mca_coll_pipering_forecast_t forecast_of(double block_size, double time, double rival_time)
{
    return (mca_coll_pipering_forecast_t){.bytes = 100,
                                          .block_size = block_size,
                                          .time = time,
                                          .rival_time = rival_time};
}

static void add(mca_coll_pipering_factors_t *factors, double modelled, double measured)
{
    const mca_coll_pipering_forecast_t forecast = forecast_of(5000, modelled, 0);
    mca_coll_pipering_factors_add(factors, &forecast, measured);
}

static void test_adding(void)
{
    mca_coll_pipering_factors_t factors;
    const float *factor = &factors.of[mca_coll_pipering_rate_class(5000)];
    const float *took = &factors.took[mca_coll_pipering_rate_class(5000)];

    memset(&factors, 0, sizeof(factors));
    add(&factors, 0, 1);
    add(&factors, 1, 0);
    ok(0 == *factor && 0 == *took, "what has no time teaches nothing");
    add(&factors, 2, 3);
    ok(1.5f == *factor && 0.03f == *took, "a first call counts");
    add(&factors, 1, 1);
    ok(1 == *factor && 0.01f == *took, "a shorter one does");
    add(&factors, 1, 8);
    ok(1e-6 > fabs(*factor - 2) && 1e-6 > fabs(*took - 0.02), "a longer one counts a part");
    mca_coll_pipering_factors_add_below(&factors, 0, 1);
    mca_coll_pipering_factors_add_below(&factors, 1, 0);
    ok(0 == factors.below, "the same holds for the module below");
    mca_coll_pipering_factors_add_below(&factors, 10, 3);
    mca_coll_pipering_factors_add_below(&factors, 100, 10);
    ok(0.1f == factors.below, "where the shorter call for its bytes counts");
    mca_coll_pipering_factors_add_other(&factors, 100, 5);
    ok(0.05f == factors.other && 0.1f == factors.below, "and for rounds");
}

static bool pays(const mca_coll_pipering_factors_t *factors, double time, double rival_time)
{
    const mca_coll_pipering_forecast_t forecast = forecast_of(5000, time, rival_time);
    return mca_coll_pipering_factors_pay(factors, &forecast, 1.1);
}

static void test_weighing(void)
{
    mca_coll_pipering_factors_t factors;
    const int class = mca_coll_pipering_rate_class(5000);

    memset(&factors, 0, sizeof(factors));
    ok(7 == mca_coll_pipering_factors_time(NULL, 5000, 7), "without factors the model is believed");
    ok(pays(NULL, 11, 10), "a little slower than rivals pays");
    ok(!pays(NULL, 11.1, 10), "more does not");
    ok(7 == mca_coll_pipering_factors_time(&factors, 5000, 7), "and where nothing is known");
    factors.of[class] = 1.12f;
    ok(7 == mca_coll_pipering_factors_time(&factors, 5000, 7), "noise weighs nothing");
    factors.of[class] = 2;
    factors.times[class] = 1;
    ok(7 == mca_coll_pipering_factors_time(&factors, 5000, 7)
           && mca_coll_pipering_factors_doubt(&factors, 5000)
           && !mca_coll_pipering_factors_doubt(&factors, 50000),
       "a single pause weighs nothing, too, but is doubted");
    factors.times[class] = 2;
    ok(!mca_coll_pipering_factors_doubt(&factors, 5000), "until there is a second one");
    const double twice = mca_coll_pipering_factors_time(&factors, 5000, 7);
    ok(12 < twice && 14 >= twice, "twice as long weighs nearly twice");
    ok(7 == mca_coll_pipering_factors_time(&factors, 50000, 7), "other blocks weigh as before");
    factors.of[0] = 0.5f;
    ok(28 == mca_coll_pipering_factors_time(&factors, 5000, 7), "where others take half, 4 times");
    ok(7 == mca_coll_pipering_factors_time(&factors, 500, 7), "and those not less");
    factors.of[0] = 0;
    ok(pays(&factors, 14, 10), "what served may be slower");
    ok(!pays(&factors, 15, 10), "but not by much");
    factors.took[class] = 0.24f;
    factors.below = 0.25f;
    ok(pays(&factors, 12, 10), "unless rivals took longer when both were measured");
    factors.took[class] = 0.26f;
    ok(!pays(&factors, 12, 10), "and did not");
    ok(!pays(&factors, 1, 1000), "whatever the model says now");
    factors.of[class] = 0;
    ok(!pays(&factors, 1, 10), "nor before a pipeline was measured");
    factors.of[0] = 6;
    factors.took[0] = 0.1f;
    ok(pays(&factors, 9, 12), "blocks that the model prefers take no longer than measured ones");
    factors.took[0] = 0.3f;
    ok(!pays(&factors, 9, 12), "even if those lost");
}

/* The other way takes 12 by the model, the module below 10. */
static bool other_pays(const mca_coll_pipering_factors_t *factors, double slack)
{
    const mca_coll_pipering_forecast_t forecast = {
        .bytes = 100, .block_size = 5000, .time = 13, .other_time = 12, .rival_time = 10};

    return mca_coll_pipering_factors_other_pays(factors, &forecast, slack);
}

static void test_rounds(void)
{
    mca_coll_pipering_factors_t factors;
    const mca_coll_pipering_forecast_t forecast = forecast_of(5000, 10, 10);

    memset(&factors, 0, sizeof(factors));
    ok(mca_coll_pipering_factors_other_beats(NULL, &forecast, true)
           && !mca_coll_pipering_factors_other_beats(&factors, &forecast, false),
       "rounds beat a pipeline as the model says");
    ok(other_pays(NULL, HUGE_VAL) && other_pays(&factors, HUGE_VAL),
       "and pay then");
    factors.other = 0.2f;
    ok(mca_coll_pipering_factors_other_beats(&factors, &forecast, false),
       "what is measured beats what is not");
    add(&factors, 10, 19);
    ok(!mca_coll_pipering_factors_other_beats(&factors, &forecast, true),
       "a pipeline that took less beats rounds");
    add(&factors, 10, 40);
    ok(mca_coll_pipering_factors_other_beats(&factors, &forecast, false), "but not one of more");
    factors.below = 0.19f;
    ok(!other_pays(&factors, HUGE_VAL), "nor do rounds pay if they took more");
    factors.below = 0.21f;
    ok(other_pays(&factors, HUGE_VAL), "than the module below");
    memset(&factors, 0, sizeof(factors));
    ok(other_pays(&factors, 1.25) && !other_pays(&factors, 1.1),
       "before, the ring of an allreduce pays as the model says");
    factors.other = 0.2f;
    ok(other_pays(&factors, 1.1), "or a little more, if it has served");
}

/* Calls of a kind before most lessons of these tests. */
#define CALLS 8

static bool doubted_after(const mca_coll_pipering_factors_t *factors, double block_size,
                          double rival_time, unsigned lesson, unsigned calls)
{
    const mca_coll_pipering_forecast_t forecast = forecast_of(block_size, 9, rival_time);
    return MCA_COLL_PIPERING_BY_PIPELINE
           != mca_coll_pipering_factors_turn(factors, &forecast, MCA_COLL_PIPERING_BY_PIPELINE,
                                             lesson, calls);
}

static bool doubted(const mca_coll_pipering_factors_t *factors, double block_size,
                    double rival_time, unsigned lesson)
{
    return doubted_after(factors, block_size, rival_time, lesson, CALLS);
}

/* Who would serve a call of this component or of the module below, and who serves a lesson. */
static mca_coll_pipering_server_t server_of(const mca_coll_pipering_factors_t *factors,
                                            const mca_coll_pipering_forecast_t *forecast,
                                            unsigned lesson)
{
    const bool modelled = 0 < forecast->other_time
                          && forecast->other_time < 0.75 * forecast->time
                          && forecast->other_time < 1.1 * forecast->rival_time;
    const bool in_rounds = 0 < forecast->other_time
                           && mca_coll_pipering_factors_other_beats(factors, forecast, modelled);
    const bool pays = in_rounds ? mca_coll_pipering_factors_other_pays(factors, forecast, HUGE_VAL)
                                : mca_coll_pipering_factors_pay(factors, forecast, 1.1);
    const mca_coll_pipering_server_t serving = !pays       ? MCA_COLL_PIPERING_BY_BELOW
                                               : in_rounds ? MCA_COLL_PIPERING_BY_OTHER
                                                           : MCA_COLL_PIPERING_BY_PIPELINE;

    return 0 == lesson ? serving
                       : mca_coll_pipering_factors_turn(factors, forecast, serving, lesson, CALLS);
}

static void learn(mca_coll_pipering_factors_t *factors,
                  const mca_coll_pipering_forecast_t *forecast,
                  mca_coll_pipering_server_t server, double seconds)
{
    if (MCA_COLL_PIPERING_BY_PIPELINE == server) {
        mca_coll_pipering_factors_add(factors, forecast, seconds);
    } else if (MCA_COLL_PIPERING_BY_OTHER == server) {
        mca_coll_pipering_factors_add_other(factors, forecast->bytes, seconds);
    } else {
        mca_coll_pipering_factors_add_below(factors, forecast->bytes, seconds);
    }
}

static void test_doubting(void)
{
    mca_coll_pipering_factors_t factors;
    const int class = mca_coll_pipering_rate_class(5000);

    memset(&factors, 0, sizeof(factors));
    ok(!doubted(&factors, 5000, 10, 1), "an unknown model is believed");
    add(&factors, 9, 9.3);
    add(&factors, 9, 9.3);
    ok(doubted(&factors, 5000, 17, 1), "one that is right is asked about others, within twice");
    ok(!doubted(&factors, 5000, 19, 1), "and believed where these take longer");
    add(&factors, 9, 4.5);
    ok(doubted(&factors, 5000, 10, 1), "one that is too high is not");
    ok(doubted(&factors, 50000, 10, 1), "nor for other blocks");
    factors.of[class] = factors.took[class] = 0;
    add(&factors, 9, 18);
    ok(doubted(&factors, 5000, 10, 1), "nor one that is too low");
    ok(!doubted(&factors, 5000, 100, 1), "unless others are far slower");
    factors.below = 0.4f;
    factors.times_below = 1;
    ok(doubted(&factors, 5000, 10, 2), "what may have lost by a pause is tried again");
    factors.below = 0.6f;
    ok(!doubted(&factors, 5000, 10, 2), "but not if it was much slower");
    ok(doubted_after(&factors, 5000, 10, 2, 32), "until so many calls repay another measurement");
    ok(!doubted_after(&factors, 5000, 10, 2, 16), "and not before");
    factors.times_below = 2;
    ok(!doubted_after(&factors, 5000, 10, 2, 1024), "nor once it is confirmed");
    factors.below = 0.2f;
    factors.times_below = 2;
    ok(doubted(&factors, 5000, 10, 1), "two close ones are tried again");
    ok(!doubted(&factors, 5000, 10, 2), "every other time");
    factors.below = 0.4f;
    ok(!doubted(&factors, 5000, 10, 1), "but not if one is much slower");
    memset(&factors, 0, sizeof(factors));
    add(&factors, 9, 45);
    factors.below = 0.6f;
    factors.times_below = 1;
    ok(doubted(&factors, 5000, 10, 2), "what serves counts as it was measured, not as modelled");
}

/* ---- small calls ---- */

#define SMALL_MACHINES 2000
#define SMALL_CALLS 127

/* Seconds of a call; a call in three meets other work. */
static double disturbed(double time)
{
    return time * (1 + (double) tap_below(20) / 100 + (tap_once_in(3) ? tap_below(80) / 100.0 : 0));
}

/*
 * Small calls on a machine whose processors make all of them `slow` times as long as modelled. The
 * 8th, 16th, ... teach. All calls in relation to those of the module below, for which the model is
 * wrong besides, by a factor of its own.
 */
static double run_small_calls(double slow, double own_modelled, double rival_error)
{
    mca_coll_pipering_factors_t factors;
    mca_coll_pipering_forecast_t forecast = forecast_of(5000, own_modelled, 1);
    const double below = slow * rival_error;
    double time = 0;
    unsigned lesson = 0;

    memset(&factors, 0, sizeof(factors));
    for (unsigned call = 1; call <= SMALL_CALLS; ++call) {
        const bool teaches = 8 <= call && 0 == (call & (call - 1));
        lesson += teaches;
        const mca_coll_pipering_server_t server = server_of(&factors, &forecast,
                                                            teaches ? lesson : 0);
        const double taken = disturbed(MCA_COLL_PIPERING_BY_BELOW == server ? below
                                                                            : slow * own_modelled);
        time += taken / disturbed(below) / SMALL_CALLS;
        if (teaches) {
            learn(&factors, &forecast, server, taken);
        }
    }
    return time;
}

static void test_small(void)
{
    static double slower[SMALL_MACHINES], faster[SMALL_MACHINES];

    for (int i = 0; i < SMALL_MACHINES; ++i) {
        const double slow = 1 + (double) tap_below(60) / 10;
        const double error = 1 + (double) tap_below(10) / 10;
        slower[i] = run_small_calls(slow, error * (1.2 + (double) tap_below(20) / 10), error);
        faster[i] = run_small_calls(slow, 2, 6);
    }
    tap_sort(slower, SMALL_MACHINES);
    tap_sort(faster, SMALL_MACHINES);
    printf("# time over the module below: pipelines slower: median %.3f, of 19 in 20 %.3f; three "
           "times as fast: %.3f, %.3f\n", slower[SMALL_MACHINES / 2],
           slower[SMALL_MACHINES * 19 / 20], faster[SMALL_MACHINES / 2],
           faster[SMALL_MACHINES * 19 / 20]);
    ok(1.1 >= slower[SMALL_MACHINES / 2] && 1.25 >= slower[SMALL_MACHINES * 19 / 20],
       "where pipelines are slower, most small calls stay below");
    ok(0.65 >= faster[SMALL_MACHINES * 19 / 20],
       "where they are faster than the model thinks, calls after a few lessons go through them");
}

/* ---- three servers ---- */

#define THREE_MACHINES 2000
#define THREE_LESSONS 8

/*
 * The time of a call after some lessons over that of the best of three servers, on a machine for
 * which the model is wrong by a factor for all of them, and by another one for each. *first: the
 * same of a first call.
 */
static double run_three(double *first)
{
    mca_coll_pipering_factors_t factors;
    mca_coll_pipering_forecast_t forecast = forecast_of(5000, 1 + (double) tap_below(300) / 100,
                                                        1 + (double) tap_below(100) / 100);
    const double all = ldexp(1, tap_below(5) - 1);
    double seconds[MCA_COLL_PIPERING_SERVERS], best = HUGE_VAL;

    memset(&factors, 0, sizeof(factors));
    forecast.other_time = 1 + (double) tap_below(300) / 100;
    const double modelled[] = {0, forecast.time, forecast.other_time, forecast.rival_time};
    for (int i = MCA_COLL_PIPERING_BY_PIPELINE; i < MCA_COLL_PIPERING_SERVERS; ++i) {
        seconds[i] = all * modelled[i] * (0.8 + (double) tap_below(40) / 100);
    }
    seconds[MCA_COLL_PIPERING_BY_BELOW] *= ldexp(1, tap_below(4));
    for (int i = MCA_COLL_PIPERING_BY_PIPELINE; i < MCA_COLL_PIPERING_SERVERS; ++i) {
        best = fmin(best, seconds[i]);
    }
    *first = seconds[server_of(&factors, &forecast, 0)] / best;
    for (unsigned lesson = 1; lesson <= THREE_LESSONS; ++lesson) {
        const mca_coll_pipering_server_t server = server_of(&factors, &forecast, lesson);
        const double noise = 1 + (double) tap_below(5) / 100;
        learn(&factors, &forecast, server, noise * seconds[server]);
    }
    return seconds[server_of(&factors, &forecast, 0)] / best;
}

static void test_three(void)
{
    static double last[THREE_MACHINES], first[THREE_MACHINES];

    for (int i = 0; i < THREE_MACHINES; ++i) {
        last[i] = run_three(&first[i]);
    }
    tap_sort(last, THREE_MACHINES);
    tap_sort(first, THREE_MACHINES);
    printf("# time over the best of three: of 19 in 20 %.3f, %.3f at most; by the model alone "
           "%.3f, %.3f\n", last[THREE_MACHINES * 19 / 20], last[THREE_MACHINES - 1],
           first[THREE_MACHINES * 19 / 20], first[THREE_MACHINES - 1]);
    ok(1.05 >= last[THREE_MACHINES * 19 / 20], "lessons find the best of three servers");
    ok(1.5 >= last[THREE_MACHINES * 199 / 200], "or what is close to it");
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
    double total;
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
    machine->total = 0;
    for (int r = 0; r < ranks; ++r) {
        machine->total += (double) machine->bytes[r];
    }
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
    if (0 == lesson % 3 && 0 < lesson
        && !mca_coll_pipering_factors_doubt(factors, (double) block)) {
        block = tap_once_in(2) ? block / 2 + 1 : 2 * block; /* lessons vary it */
    }
    const mca_coll_pipering_forecast_t forecast
        = {.bytes = machine->total,
           .block_size = (double) block,
           .time = mca_coll_pipering_time(&machine->problem, block),
           .rival_time = mca_coll_pipering_rival_time(&machine->problem)};
    const mca_coll_pipering_server_t server = server_of(factors, &forecast, lesson);
    const double time = MCA_COLL_PIPERING_BY_BELOW == server ? time_below(machine)
                                                             : time_of(machine, block);
    machine->problem.cost.net.factors = NULL;
    if (0 < lesson) {
        learn(factors, &forecast, server, noise * time);
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
    ok(worse <= MACHINES / 60, "few, %d, try what is slower than by the model alone", worse);
}

int main(void)
{
    tap_start();
    test_adding();
    test_weighing();
    test_rounds();
    test_doubting();
    test_small();
    test_three();
    test_learning();
    return tap_end();
}
