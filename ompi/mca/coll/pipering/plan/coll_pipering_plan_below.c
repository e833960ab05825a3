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
 * What the modules below do with a call: which algorithm Open MPI 5.0 chooses if no user says
 * otherwise, and what it takes.
 *
 *                      a rank a node, or one node    nodes of as many ranks    unequal nodes
 *     allgatherv       coll/tuned                    coll/tuned                coll/tuned
 *     scan, exscan     coll/basic                    coll/basic                coll/basic
 *     bcast, reduce    coll/tuned                    coll/han                  coll/tuned
 *     allgather        coll/tuned                    coll/han                  coll/tuned
 *     allreduce        coll/tuned                    coll/han                  coll/han
 *
 * coll/han leaves operations that do not commute to coll/tuned. coll/tuned decides an allgatherv
 * by the average contribution, and passes on a segment size and a fanout of 0: its pipelines,
 * chains and rings send whole messages, a chain has one branch, the segmented ring is the ring.
 *
 * coll/han works on a vector in segments of 64 KiB, each at two levels that overlap:
 *
 *     bcast       across | across, inside | inside          T = all phases of the last segment
 *     reduce      inside | inside, across | across              + for each other one its longest
 *     allreduce   both of the above at once
 *
 * Where ranks share processors, no call takes less than the handling of its messages and the
 * combining of its bytes by all processors. Below other modules a call takes the least of all
 * these and of textbook algorithms.
 *
 * Cost: O(p log^2 p) at most. Limits: what coll/han sets up in a first call is left out, and so
 * are rules and variables of users.
 *
 * Source: Open MPI 5.0.7, coll_tuned_decision_fixed.c, coll_han_{bcast,reduce,allreduce,
 * allgather}.c, coll_base_allgatherv.c and the fall-backs in coll/base.
 */

#include "coll_pipering_plan_below_run.h"

#include <math.h>

/* With fewer ranks and fewer bytes than these (0: any number) the algorithm of this number. */
typedef struct {
    int ranks, bytes, algorithm;
} rule_t;

static const rule_t allgatherv_rules[] = {
    {3, 2048, 3}, {3, 4096, 5}, {3, 8192, 3}, {3, 0, 5}, {8, 256, 1}, {8, 4096, 4}, {8, 8192, 3},
    {8, 16384, 4}, {8, 262144, 2}, {8, 0, 4}, {16, 1024, 1}, {16, 0, 2}, {32, 128, 1},
    {32, 262144, 2}, {32, 0, 3}, {64, 256, 1}, {64, 8192, 2}, {64, 0, 3}, {128, 256, 1},
    {128, 4096, 2}, {128, 0, 3}, {256, 1024, 2}, {256, 65536, 4}, {256, 0, 3}, {512, 1024, 2},
    {512, 0, 3}, {1024, 512, 2}, {1024, 1024, 1}, {1024, 4096, 2}, {1024, 1048576, 4}, {1024, 0, 3},
    {0, 4096, 2}, {0, 0, 4}};
static const rule_t allgather_rules[] = {
    {3, 0, 6}, {32, 0, 3}, {64, 1024, 3}, {64, 65536, 5}, {64, 0, 4}, {128, 512, 3},
    {128, 65536, 5}, {128, 0, 4}, {256, 512, 3}, {256, 131072, 5}, {256, 524288, 4},
    {256, 1048576, 5}, {256, 0, 4}, {512, 32, 3}, {512, 128, 2}, {512, 1024, 3}, {512, 131072, 5},
    {512, 524288, 4}, {512, 1048576, 5}, {512, 0, 4}, {1024, 64, 3}, {1024, 256, 2},
    {1024, 2048, 3}, {1024, 0, 5}, {2048, 4, 3}, {2048, 8, 2}, {2048, 16, 3}, {2048, 32, 2},
    {2048, 256, 3}, {2048, 512, 2}, {2048, 4096, 3}, {2048, 0, 5}, {4096, 32, 2}, {4096, 128, 3},
    {4096, 512, 2}, {4096, 4096, 3}, {4096, 0, 5}, {0, 2, 3}, {0, 8, 2}, {0, 16, 3}, {0, 512, 2},
    {0, 4096, 3}, {0, 0, 5}};
static const rule_t bcast_rules[] = {
    {4, 32, 3}, {4, 256, 5}, {4, 512, 3}, {4, 1024, 7}, {4, 32768, 1}, {4, 131072, 5},
    {4, 262144, 2}, {4, 524288, 1}, {4, 1048576, 6}, {4, 0, 5}, {8, 64, 5}, {8, 128, 6},
    {8, 2048, 5}, {8, 8192, 6}, {8, 1048576, 1}, {8, 0, 2}, {16, 8, 7}, {16, 64, 5}, {16, 4096, 7},
    {16, 16384, 5}, {16, 32768, 6}, {16, 0, 1}, {32, 4096, 7}, {32, 1048576, 6}, {32, 0, 8},
    {64, 2048, 6}, {64, 0, 7}, {128, 0, 7}, {256, 2, 6}, {256, 16384, 5}, {256, 32768, 1},
    {256, 65536, 5}, {256, 0, 7}, {1024, 16384, 7}, {1024, 32768, 4}, {1024, 0, 7},
    {2048, 524288, 7}, {2048, 0, 8}, {4096, 262144, 7}, {4096, 0, 8}, {0, 8192, 7}, {0, 16384, 5},
    {0, 262144, 7}, {0, 0, 8}};
static const rule_t ordered_reduce_rules[] = {
    {4, 8, 6}, {4, 0, 1}, {8, 0, 1}, {16, 1024, 6}, {16, 8192, 1}, {16, 16384, 6}, {16, 262144, 1},
    {16, 0, 6}, {128, 0, 6}, {256, 512, 6}, {256, 1024, 1}, {256, 0, 6}, {0, 0, 6}};
static const rule_t reduce_rules[] = {
    {4, 8, 7}, {4, 16, 4}, {4, 32, 3}, {4, 262144, 1}, {4, 524288, 3}, {4, 1048576, 2}, {4, 0, 3},
    {8, 4096, 4}, {8, 65536, 2}, {8, 262144, 5}, {8, 524288, 1}, {8, 1048576, 5}, {8, 0, 1},
    {16, 8192, 4}, {16, 0, 5}, {32, 4096, 4}, {32, 0, 5}, {256, 0, 5}, {512, 8192, 5},
    {512, 16384, 6}, {512, 0, 5}, {2048, 0, 5}, {4096, 512, 5}, {4096, 1024, 6}, {4096, 8192, 5},
    {4096, 16384, 6}, {4096, 0, 5}, {0, 16, 5}, {0, 32, 6}, {0, 1024, 5}, {0, 2048, 6},
    {0, 8192, 5}, {0, 16384, 6}, {0, 0, 5}};
static const rule_t ordered_allreduce_rules[] = {
    {4, 131072, 3}, {4, 0, 1}, {8, 0, 3}, {16, 1048576, 3}, {16, 0, 2}, {128, 0, 3},
    {256, 131072, 2}, {256, 524288, 3}, {256, 0, 2}, {512, 4096, 2}, {512, 524288, 3}, {512, 0, 2},
    {0, 2048, 2}, {0, 0, 3}};
static const rule_t allreduce_rules[] = {
    {4, 8, 4}, {4, 4096, 3}, {4, 8192, 4}, {4, 16384, 3}, {4, 65536, 4}, {4, 262144, 5}, {4, 0, 6},
    {8, 16, 4}, {8, 8192, 3}, {8, 0, 6}, {16, 8192, 3}, {16, 0, 6}, {32, 64, 5}, {32, 4096, 3},
    {32, 0, 6}, {64, 128, 5}, {64, 0, 6}, {128, 262144, 3}, {128, 0, 6}, {256, 131072, 2},
    {256, 262144, 3}, {256, 0, 6}, {512, 4096, 2}, {512, 0, 6}, {2048, 2048, 2}, {2048, 16384, 3},
    {2048, 0, 6}, {4096, 2048, 2}, {4096, 4096, 5}, {4096, 16384, 3}, {4096, 0, 6}, {0, 2048, 2},
    {0, 16384, 5}, {0, 32768, 3}, {0, 0, 6}};
static const rule_t gather_rules[] = {
    {4, 2, 3}, {4, 4, 1}, {4, 32768, 2}, {4, 65536, 1}, {4, 131072, 2}, {4, 0, 3}, {8, 1024, 2},
    {8, 8192, 1}, {8, 32768, 2}, {8, 262144, 1}, {8, 0, 3}, {256, 0, 2}, {512, 2048, 2},
    {512, 8192, 1}, {512, 0, 2}, {0, 0, 2}};

typedef mca_coll_pipering_below_call_t call_t;
typedef mca_coll_pipering_below_run_t run_t;
typedef mca_coll_pipering_below_tally_t tally_t;
typedef mca_coll_pipering_below_group_t group_t;
typedef mca_coll_pipering_collective_t collective_t;

/* What a call takes, and by which algorithm. */
typedef struct {
    tally_t tally;
    const char *algorithm;
} outcome_t;

static int find_rule(const rule_t *rule, int ranks, double bytes)
{
    while ((0 != rule->ranks && ranks >= rule->ranks)
           || (0 != rule->bytes && bytes >= rule->bytes)) {
        ++rule;
    }
    return rule->algorithm;
}

static void add(tally_t *to, const tally_t *part, double times)
{
    to->time += times * part->time;
    to->messages += times * part->messages;
    to->bytes += times * part->bytes;
    to->work += times * part->work;
}

static outcome_t vector(const call_t *call, collective_t collective, int root, double bytes,
                        double unit);

/* ---- coll/tuned, coll/basic ---- */

static outcome_t tuned_blocks(const call_t *call, group_t group, collective_t collective,
                              double mean)
{
    static const char *const names[] = {"tuned: bruck", "tuned: recursive_doubling", "tuned: ring",
                                        "tuned: neighbor", "tuned: two_proc"};
    const bool v = MCA_COLL_PIPERING_ALLGATHERV == collective;
    run_t run = mca_coll_pipering_below_open(call, group);
    const bool odd = 1 == run.ranks % 2;
    const bool power = run.ranks == mca_coll_pipering_below_power(run.ranks);
    int algorithm = find_rule(v ? allgatherv_rules : allgather_rules, run.ranks, mean);

    run.bytes = v ? call->bytes : NULL;
    run.block = mean;
    if (v && 1 == algorithm) {
        mca_coll_pipering_below_play_gather(&run, 0);
        outcome_t outcome = {mca_coll_pipering_below_close(&run), "tuned: default"};
        const double bytes = (double) call->total; /* one element of a type for all */
        const outcome_t rest = vector(call, MCA_COLL_PIPERING_BCAST, 0, bytes, bytes);
        add(&outcome.tally, &rest.tally, 1);
        return outcome;
    }
    if (v) {
        algorithm = 4 == algorithm && odd ? 3 : algorithm;
    } else {
        algorithm = 3 == algorithm && !power ? 2 : 5 == algorithm && odd ? 4 : algorithm;
    }
    mca_coll_pipering_below_play_blocks(&run, collective, algorithm);
    return (outcome_t) {mca_coll_pipering_below_close(&run),
                        names[v && 2 < algorithm ? algorithm - 1 : algorithm - 2]};
}

/* What coll/base falls back to for few elements, and without segments. */
static int settle(collective_t collective, int algorithm, int ranks, double units)
{
    if (MCA_COLL_PIPERING_BCAST == collective) {
        return 8 == algorithm && units < ranks ? 1 : 4 == algorithm && 2 > units ? 2 : algorithm;
    }
    if (MCA_COLL_PIPERING_REDUCE == collective) {
        return 7 == algorithm && units < mca_coll_pipering_below_power(ranks) ? 1 : algorithm;
    }
    if (4 == algorithm || 5 == algorithm) {
        return units < ranks ? 3 : 4;
    }
    return 6 == algorithm && units < mca_coll_pipering_below_power(ranks) ? 1 : algorithm;
}

static outcome_t tuned_vector(const call_t *call, group_t group, collective_t collective, int root,
                              double bytes, double unit)
{
    static const char *const names[][9] = {
        {NULL, "tuned: basic_linear", "tuned: chain", "tuned: pipeline", "tuned: split_binary_tree",
         "tuned: binary_tree", "tuned: binomial", "tuned: knomial", "tuned: scatter_allgather"},
        {NULL, "tuned: linear", "tuned: chain", "tuned: pipeline", "tuned: binary",
         "tuned: binomial", "tuned: in-order_binary", "tuned: rabenseifner", NULL},
        {NULL, "tuned: basic_linear", "tuned: nonoverlapping", "tuned: recursive_doubling",
         "tuned: ring", NULL, "tuned: rabenseifner", NULL, NULL}};
    const bool bcast = MCA_COLL_PIPERING_BCAST == collective;
    const bool reduce = MCA_COLL_PIPERING_REDUCE == collective;
    const rule_t *rules = bcast    ? bcast_rules
                          : reduce ? (call->ordered ? ordered_reduce_rules : reduce_rules)
                                   : (call->ordered ? ordered_allreduce_rules : allreduce_rules);
    run_t run = mca_coll_pipering_below_open(call, group);
    const int algorithm = settle(collective, find_rule(rules, run.ranks, bytes), run.ranks,
                                 bytes / unit);
    outcome_t outcome = {.algorithm = names[bcast ? 0 : reduce ? 1 : 2][algorithm]};

    if (!bcast && !reduce && 2 == algorithm) {
        const outcome_t up = vector(call, MCA_COLL_PIPERING_REDUCE, 0, bytes, unit);
        const outcome_t down = vector(call, MCA_COLL_PIPERING_BCAST, 0, bytes, unit);
        add(&outcome.tally, &up.tally, 1);
        add(&outcome.tally, &down.tally, 1);
        return outcome;
    }
    mca_coll_pipering_below_play(&run, collective, algorithm, root, bytes, unit);
    outcome.tally = mca_coll_pipering_below_close(&run);
    return outcome;
}

/* ---- coll/han ---- */

/* Phases of one segment. */
typedef struct {
    tally_t across, inside;
    double longest; /* of those that another segment's overlap */
} phases_t;

static void add_phase(const call_t *call, phases_t *phases, bool inside, tally_t tally)
{
    const double times = (double) (call->ranks - call->nodes) / (call->ppn - 1);
    const tally_t all = {.messages = times * tally.messages,
                         .bytes = times * tally.bytes,
                         .work = times * tally.work,
                         .time = tally.time};

    add(inside ? &phases->inside : &phases->across, inside ? &all : &tally, 1);
    phases->longest = fmax(phases->longest, inside ? phases->inside.time : tally.time);
}

/* The root as a rank of its node, and as one of those that have this rank on their nodes. */
static void find_root(const call_t *call, int root, int *inside, int *across)
{
    double *counts = call->scratch;

    *inside = *across = 0;
    for (int r = 0; r < root; ++r) {
        counts[r] = 0;
        *inside += call->node_of[r] == call->node_of[root];
    }
    for (int r = 0; r < root; ++r) {
        *across += *inside == counts[call->node_of[r]]++;
    }
}

static phases_t han_phases(const call_t *call, collective_t collective, int root, double bytes,
                           double unit, bool first)
{
    phases_t phases = {.longest = 0};
    int inside, across;
    find_root(call, MCA_COLL_PIPERING_ALLREDUCE == collective ? 0 : root, &inside, &across);

    for (int down = 0; down < 2; ++down) {
        const collective_t phase = 0 == down ? MCA_COLL_PIPERING_REDUCE
                                             : MCA_COLL_PIPERING_BCAST;
        if (MCA_COLL_PIPERING_ALLREDUCE != collective && phase != collective) {
            continue;
        }
        run_t run = mca_coll_pipering_below_open(call, MCA_COLL_PIPERING_BELOW_ACROSS);
        mca_coll_pipering_below_play_nbc(&run, phase, across, bytes, unit);
        const bool blocks = first && phase == collective && 1 == down; /* coll/tuned's then */
        add_phase(call, &phases, false,
                  !blocks ? mca_coll_pipering_below_close(&run)
                          : tuned_vector(call, MCA_COLL_PIPERING_BELOW_ACROSS, phase, across,
                                         bytes, unit).tally);
        add_phase(call, &phases, true,
                  tuned_vector(call, MCA_COLL_PIPERING_BELOW_INSIDE, phase, inside, bytes,
                               unit).tally);
    }
    return phases;
}

#define HAN_SEGMENT 65536 /* bytes */

static tally_t han_vector(const call_t *call, collective_t collective, int root, double bytes,
                          double unit)
{
    const double whole = floor(HAN_SEGMENT / unit), over = HAN_SEGMENT - whole * unit;
    const bool cut = HAN_SEGMENT >= unit && HAN_SEGMENT < bytes;
    const double segment = cut ? (whole + (over > floor(unit / 2) ? 1 : 0)) * unit : bytes;
    const double segments = ceil(bytes / segment), rest = bytes - (segments - 1) * segment;
    tally_t tally = {.time = 0};

    for (int i = 0; i < 3; ++i) { /* the first one, those in between, the last one */
        const bool last = 2 == i || 1 >= segments;
        const double times = 1 == i ? segments - 2 : 1;
        if (0 >= times || (0 < i && 1 >= segments)) {
            continue;
        }
        const phases_t phases = han_phases(call, collective, root, last ? rest : segment, unit,
                                             0 == i);
        const double time = last ? phases.across.time + phases.inside.time : phases.longest;
        add(&tally, &phases.across, times);
        add(&tally, &phases.inside, times);
        tally.time += times * (time - phases.across.time - phases.inside.time);
    }
    return tally;
}

static tally_t han_blocks(const call_t *call, double block)
{
    const double bytes = (double) call->total;
    run_t run = mca_coll_pipering_below_open(call, MCA_COLL_PIPERING_BELOW_INSIDE);
    phases_t phases = {.longest = 0};

    run.block = block;
    mca_coll_pipering_below_play_gather(&run, find_rule(gather_rules, call->ppn, block));
    add_phase(call, &phases, true, mca_coll_pipering_below_close(&run));
    add_phase(call, &phases, false,
              tuned_blocks(call, MCA_COLL_PIPERING_BELOW_ACROSS, MCA_COLL_PIPERING_ALLGATHER,
                           block * call->ppn).tally);
    add_phase(call, &phases, true,
              tuned_vector(call, MCA_COLL_PIPERING_BELOW_INSIDE, MCA_COLL_PIPERING_BCAST, 0,
                           bytes, 1).tally);
    add(&phases.across, &phases.inside, 1);
    return phases.across;
}

/* ---- the modules ---- */

static bool is_han(const call_t *call, collective_t collective)
{
    const bool reduces = MCA_COLL_PIPERING_REDUCE == collective
                         || MCA_COLL_PIPERING_ALLREDUCE == collective;

    return MCA_COLL_PIPERING_BELOW_HAN == call->modules && 1 < call->nodes && 1 < call->ppn
           && (call->equal || MCA_COLL_PIPERING_ALLREDUCE == collective)
           && !(reduces && call->ordered);
}

static outcome_t vector(const call_t *call, collective_t collective, int root, double bytes,
                        double unit)
{
    if (is_han(call, collective)) {
        return (outcome_t) {han_vector(call, collective, root, bytes, unit), "han"};
    }
    return tuned_vector(call, MCA_COLL_PIPERING_BELOW_ALL, collective, root, bytes, unit);
}

static outcome_t outcome_of(const call_t *call)
{
    const double bytes = (double) call->total, unit = (double) call->unit;
    const double mean = (double) (call->total / (size_t) call->ranks);

    switch (call->collective) {
    case MCA_COLL_PIPERING_ALLGATHER:
        if (is_han(call, call->collective)) {
            return (outcome_t) {han_blocks(call, mean), "han"};
        }
        /* fall through */
    case MCA_COLL_PIPERING_ALLGATHERV:
        return tuned_blocks(call, MCA_COLL_PIPERING_BELOW_ALL, call->collective, mean);
    case MCA_COLL_PIPERING_SCAN:
    case MCA_COLL_PIPERING_EXSCAN: {
        run_t run = mca_coll_pipering_below_open(call, MCA_COLL_PIPERING_BELOW_ALL);
        mca_coll_pipering_below_play(&run, call->collective, 1, 0, bytes, unit);
        return (outcome_t) {mca_coll_pipering_below_close(&run), "basic: linear"};
    }
    default:
        return vector(call, call->collective, call->root, bytes, unit);
    }
}

/* Where ranks share processors, the work of all may take longer than any chain of messages. */
static double time_of(const call_t *call, const tally_t *tally)
{
    return mca_coll_pipering_crowded_time(call->cost, tally->time, tally->work, call->ranks);
}

mca_coll_pipering_below_time_t
mca_coll_pipering_below_time(const mca_coll_pipering_below_call_t *call)
{
    call_t known = *call;
    outcome_t best = {.algorithm = NULL};

    if (MCA_COLL_PIPERING_BELOW_ANY != call->modules) {
        best = outcome_of(call);
    } else {
        best.algorithm = "any";
        best.tally = mca_coll_pipering_below_least(call);
        for (int han = 0; han < 2; ++han) {
            known.modules = han ? MCA_COLL_PIPERING_BELOW_HAN : MCA_COLL_PIPERING_BELOW_TUNED;
            const outcome_t other = outcome_of(&known);
            best = time_of(call, &other.tally) < time_of(call, &best.tally) ? other : best;
        }
    }
    return (mca_coll_pipering_below_time_t) {time_of(call, &best.tally), best.tally.messages,
                                             best.tally.bytes, best.algorithm};
}
