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
 * The choice: rows of the registry and the module below, weighed by one model at both ends of what
 * is known of links.
 *
 *                  links as fast as     links as slow as     share of the module below's
 *                  they may be          they may be          time, at worst
 *     row A        0.2 ms               9 ms                 0.8
 *     row B        0.15 ms              50 ms                1.25
 *     below        0.25 ms              40 ms                1
 *
 * The row whose share is least serves the call if that, times a margin, is less than 1: so where
 * only a bound is known, a row must be ahead at both ends. Where the rate of links is known both
 * ends are one. A function of its arguments alone: no state, no trial.
 *
 * coll/mleader stands above and asks the same choice: its leaders are weighed against whoever of
 * the two would serve.
 */

#include "coll_pipering_draft.h"

#include "ompi/mca/coll/pipering/engine/coll_pipering_fifo.h"

#include <math.h>

/*
 * The module below must be so many times as slow by the model as the best row, which knows neither
 * all that delays blocks of a pipeline nor, where ranks share processors, who waits for whom, nor
 * what the component itself does in a small call. Leaders wait for each other in few rounds: where
 * ranks share processors they take 0.52 to 0.96 of the module below's time where it says 0.78 to 1.
 */
#define MARGIN 1.05
#define MARGIN_LARGE 1.2

/*
 * Times of gathers by the model that are alike: pulls, which copy as much as the module below,
 * serve the call. Where ranks share processors these do not wait for each other at every step, of
 * which the model knows too little: they take 0.55 to 0.93 of its time where it says 0.7 to 1.1.
 */
#define ALIKE 1.01
#define ALIKE_SHARED 1.1

/* Most ranks per processor for which a node has processors enough. */
#define LOCAL_LOAD 2

/* ---- whether it is worth it ---- */

static bool is_forced(const mca_coll_pipering_key_t *key)
{
    return MCA_COLL_PIPERING_AUTO != key->params.algorithm;
}

/* The share of another time that a time is, at worst. */
static double share_of(const mca_coll_pipering_times_t *time,
                       const mca_coll_pipering_times_t *other)
{
    return fmax(time->at[0] / other->at[0], time->at[1] / other->at[1]);
}

/* Of the module below's time, what pulls may take at most to serve a call. */
static double most_of_pulls(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_combines(draft->plan->key.collective) ? 1 / MARGIN_LARGE
           : 1 < draft->at.load                                      ? ALIKE_SHARED
                                                                     : ALIKE;
}

/*
 * Whether a row may serve a call on one node, where the model knows too little of ring buffers:
 * their pipelines pay from some bytes on, pulls where the model says so.
 */
static bool pays_on_one_node(const mca_coll_pipering_draft_t *draft,
                             const mca_coll_pipering_weighed_t *weighed)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_collective_row_t *row
        = mca_coll_pipering_collective_row(plan->key.collective);
    const size_t fill = (size_t) (draft->at.ranks - 1) * MCA_COLL_PIPERING_LOCAL_BLOCK;
    const size_t fills = (size_t) (LOCAL_LOAD < draft->at.load ? row->fills_loaded : row->fills);

    return MCA_COLL_PIPERING_PULLS == weighed->row->algorithm
               ? share_of(&weighed->time, &plan->below) < most_of_pulls(draft)
               : 0 < fills && plan->total >= fills * fill
                     && mca_coll_pipering_fifo_carries(plan->key.params.ring_buffer_size,
                                                       weighed->block);
}

/*
 * Whether ranks share processors and all bytes of a small call take no longer than a message
 * without any: then messages wait for processors, of which the model knows too little.
 */
static bool waits_for_processors(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_link_cost_t *net = &draft->cost.net;
    const size_t total = draft->plan->total;

    return 1 < draft->at.load && MCA_COLL_PIPERING_SMALL > total
           && (double) total * net->beta < net->alpha + net->latency;
}

static mca_coll_pipering_reason_t judge(const mca_coll_pipering_draft_t *draft,
                                        const mca_coll_pipering_weighed_t *best)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (is_forced(&plan->key)) {
        return MCA_COLL_PIPERING_TAKEN;
    }
    if (2 > draft->at.nodes) {
        return pays_on_one_node(draft, best) ? MCA_COLL_PIPERING_TAKEN
                                             : MCA_COLL_PIPERING_FALLBACK_LOCAL;
    }
    const bool waits = 1 < draft->at.load && MCA_COLL_PIPERING_LEADERS != best->row->algorithm;
    plan->margin = waits || MCA_COLL_PIPERING_SMALL > plan->total ? MARGIN_LARGE : MARGIN;
    return !waits_for_processors(draft)
                   && share_of(&best->time, &plan->below) * plan->margin < 1
               ? MCA_COLL_PIPERING_TAKEN
               : MCA_COLL_PIPERING_FALLBACK_MODEL;
}

/* ---- rates of links ---- */

/* The rates that are looked at, in nanoseconds a byte. */
typedef struct {
    double beta[2]; /* the fastest and the slowest links */
    bool doubted;   /* they differ */
} range_t;

static range_t range_of(const mca_coll_pipering_draft_t *draft)
{
    const double *value = draft->at.machine->value;
    const double least = value[MCA_COLL_PIPERING_NET_BETA];
    const bool doubted = mca_coll_pipering_machine_doubted(draft->at.machine)
                         && 1 < draft->at.nodes;

    return (range_t){{least, doubted ? value[MCA_COLL_PIPERING_NET_BETA_MOST] : least}, doubted};
}

/* A rank that a message of its node has come to waits for those that have its processor. */
static mca_coll_pipering_cost_t cost_at(const mca_coll_pipering_draft_t *draft, double beta)
{
    mca_coll_pipering_cost_t cost = mca_coll_pipering_machine_cost(draft->at.machine, beta,
                                                                   draft->at.load);

    cost.local.latency *= fmax(1, cost.crowd);
    return cost;
}

static void look_at(mca_coll_pipering_draft_t *draft, double beta)
{
    draft->cost = cost_at(draft, beta);
}

/* The rate for which blocks are chosen: the middle of the range by ratio. */
static void look_at_middle(mca_coll_pipering_draft_t *draft, const range_t *range)
{
    look_at(draft, range->doubted ? sqrt(range->beta[0] * range->beta[1]) : range->beta[0]);
}

/* ---- other modules ---- */

/* What the call takes by these modules, at both ends. */
static mca_coll_pipering_times_t times_by(const mca_coll_pipering_draft_t *draft,
                                          const range_t *range, mca_coll_pipering_below_t modules)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_cost_t cost;
    const mca_coll_pipering_below_call_t call
        = {.modules = modules,
           .collective = plan->key.collective,
           .ordered = plan->key.ordered,
           .ranks = draft->at.ranks,
           .nodes = draft->at.nodes,
           .ppn = draft->at.ppn,
           .equal = draft->at.ppn * draft->at.nodes == draft->at.ranks,
           .root = plan->key.root,
           .total = plan->total,
           .unit = plan->key.sizes.unit,
           .bytes = 1 < plan->key.sizes.parts ? plan->bytes : NULL,
           .node_of = draft->at.node_of,
           .leaf_of = draft->at.leaf_of,
           .cost = &cost,
           .combine = draft->combine,
           .scratch = draft->problem.scratch};
    mca_coll_pipering_times_t times;

    for (int end = 0; end < (range->doubted ? 2 : 1); ++end) {
        cost = cost_at(draft, range->beta[end]);
        times.at[end] = mca_coll_pipering_below_time(&call).time;
    }
    times.at[1] = range->doubted ? times.at[1] : times.at[0];
    return times;
}

static void weigh_others(mca_coll_pipering_draft_t *draft, const range_t *range)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->below = times_by(draft, range, draft->at.below);
    if (MCA_COLL_PIPERING_ALLGATHER == plan->key.collective && 1 < draft->at.nodes
        && 1 < draft->at.ppn) {
        plan->leaders = times_by(draft, range, MCA_COLL_PIPERING_BELOW_LEADERS);
    }
}

/*
 * `other`: what the call takes without coll/mleader. There is no margin: between nodes leaders
 * send what others do, and inside a node no rank waits for another one's message.
 */
static bool leaders_pay(const mca_coll_pipering_plan_t *plan,
                        const mca_coll_pipering_times_t *other)
{
    return 0 < plan->leaders.at[0] && share_of(&plan->leaders, other) <= 1;
}

/* ---- rows ---- */

static void plan_by(mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->row = row;
    plan->rounds = plan->window = 0;
    plan->lanes = plan->pipes = plan->grid.groups = 0;
    row->decide(draft);
}

static bool can_serve(const mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row)
{
    return (!row->along_mesh || NULL != draft->at.ways) && (NULL == row->can || row->can(draft));
}

/* The row that the user has forced, or what stands in for it; NULL: none. */
static const mca_coll_pipering_row_t *forced_row(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_key_t *key = &draft->plan->key;
    const mca_coll_pipering_row_t *row = mca_coll_pipering_find_row(key->collective,
                                                                    key->params.algorithm);

    while (NULL != row && !can_serve(draft, row)) {
        row = mca_coll_pipering_find_row(key->collective, row->instead);
    }
    return row;
}

/*
 * Where ranks pull, a gather takes nothing else; but not a vector where they share processors, for
 * which all would wait for all.
 */
static bool is_weighed(const mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row)
{
    const bool gathers = mca_coll_pipering_collective_row(row->collective)->gathers;
    const bool pulls = MCA_COLL_PIPERING_PULLS == row->algorithm;

    return !row->forced && can_serve(draft, row)
           && (gathers ? pulls || !mca_coll_pipering_can_pull(draft)
                       : !pulls || 1 >= draft->at.load)
           && MCA_COLL_PIPERING_WEIGHED > draft->plan->weighed_count;
}

/* The best blocks, or groups, of a row for the middle of the range; what they take at its ends. */
static void weigh(mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row,
                  const range_t *range)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_weighed_t *weighed = &plan->weighed[plan->weighed_count++];

    look_at_middle(draft, range);
    plan_by(draft, row);
    weighed->row = row;
    weighed->block = plan->block_size * plan->key.sizes.unit;
    weighed->time = (mca_coll_pipering_times_t){{plan->time, plan->time}};
    weighed->groups = 0 < plan->lanes                     ? plan->lanes
                      : mca_coll_pipering_in_rounds(row) ? plan->grid.groups
                                                         : 0;
    draft->fixed_block = weighed->block;
    draft->fixed_groups = weighed->groups;
    for (int end = 0; range->doubted && end < 2; ++end) {
        look_at(draft, range->beta[end]);
        plan_by(draft, row);
        weighed->time.at[end] = plan->time;
    }
    draft->fixed_block = 0;
    draft->fixed_groups = 0;
}

/* The one that takes least; on one node, of those that pay, if any does. */
static const mca_coll_pipering_weighed_t *
find_best(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_weighed_t *best = &plan->weighed[0];
    const bool local = 2 > draft->at.nodes;

    for (int i = 1; i < plan->weighed_count; ++i) {
        const mca_coll_pipering_weighed_t *other = &plan->weighed[i];
        const double more = share_of(&best->time, &plan->below)
                            - share_of(&other->time, &plan->below);
        const int pays = local ? pays_on_one_node(draft, other) - pays_on_one_node(draft, best) : 0;
        if (0 < pays
            || (0 == pays
                && (0 < more || (0 == more && mca_coll_pipering_in_rounds(best->row)
                                 && !mca_coll_pipering_in_rounds(other->row))))) {
            best = other;
        }
    }
    return best;
}

/* Whether other times are as good at all ends as what a row takes at least, but for the margin. */
static bool is_behind(const mca_coll_pipering_times_t *least,
                      const mca_coll_pipering_times_t *other)
{
    return share_of(other, least) < MARGIN;
}

/* Whether a row cannot serve, whatever its blocks: the module below, or another row, would. */
static bool is_hopeless(mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row,
                        const range_t *range)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_times_t least;

    if (NULL == row->least || NULL == plan->row) {
        return false;
    }
    for (int end = 0; end < 2; ++end) {
        look_at(draft, range->beta[end]);
        least.at[end] = 0 == end || range->doubted
                            ? row->least(draft, plan->weighed[0].time.at[end])
                            : least.at[0];
    }
    plan->row = mca_coll_pipering_in_rounds(plan->row) ? plan->row : NULL;
    bool behind = is_behind(&least, &plan->below);
    for (int i = 0; i < plan->weighed_count; ++i) {
        behind = behind || is_behind(&least, &plan->weighed[i].time);
    }
    return behind;
}

/* Weighs the rows that go in rounds, or the others. */
static void weigh_rows(mca_coll_pipering_draft_t *draft, const range_t *range, bool rounds)
{
    const mca_coll_pipering_row_t *row = NULL;

    while (NULL != (row = mca_coll_pipering_next_row(draft->plan->key.collective, row))) {
        if (rounds == mca_coll_pipering_in_rounds(row) && is_weighed(draft, row)
            && !is_hopeless(draft, row, range)) {
            weigh(draft, row, range);
        }
    }
}

static void choose_row(mca_coll_pipering_draft_t *draft, const range_t *range)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    weigh_rows(draft, range, true); /* first: others are not looked at if they cannot be as fast */
    weigh_rows(draft, range, false);
    const mca_coll_pipering_weighed_t *best = find_best(draft);
    look_at_middle(draft, range);
    if (plan->row != best->row) {
        draft->fixed_block = best->block;
        draft->fixed_groups = best->groups;
        plan_by(draft, best->row);
    }
    plan->time = best->time.at[0]; /* at the end at which the module below is reported */
    plan->reason = judge(draft, best);
    plan->leaders_pay = leaders_pay(plan, MCA_COLL_PIPERING_TAKEN == plan->reason
                                                   && MCA_COLL_PIPERING_OFF
                                                          != plan->key.params.algorithm
                                               ? &best->time
                                               : &plan->below);
}

void mca_coll_pipering_choose(mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_row_t *row = forced_row(draft);
    const range_t range = range_of(draft);

    weigh_others(draft, &range);
    if (NULL == row) {
        choose_row(draft, &range);
    } else {
        look_at_middle(draft, &range);
        plan_by(draft, row);
        draft->plan->reason = MCA_COLL_PIPERING_TAKEN;
    }
}
