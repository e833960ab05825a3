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
 * Decide: whether a gather is an exchange in log2 p rounds rather than a ring.
 *
 * Where few contributions are far larger than the others, all ranks that have one pass it
 * on at the same time, and the rounds are few; a ring passes it from rank to rank. So the
 * model weighs both where contributions have outliers, as in the paper; where there is
 * much to gather by many ranks it weighs them too, since a ring takes p messages of each.
 * Nodes of the same number of ranks may exchange in lanes. Small calls without outliers
 * are left to others: there messages count, and a root needs fewer.
 *
 * Balaji et al. 4.2.1, figure 14.
 */

#include "coll_pipering.h"

/*
 * A ring is left for an exchange if that takes less than this part of the ring's modelled
 * time: the model knows less of it, as it does not overlap its rounds.
 */
#define RING_SLACK 0.75

/*
 * With outliers this is the algorithm for the call, so others must be so much faster by the
 * model, which knows them worse.
 */
#define OUTLIER_SLACK 3

/* Fewer ranks have hardly fewer messages in rounds than one after the other. */
#define LEAST_RANKS 6

/* Forced, as far as it may be: what is about more bytes goes around the ring. */
static bool is_forced(const mca_coll_pipering_plan_t *plan)
{
    return MCA_COLL_PIPERING_DOUBLING <= plan->key.params.algorithm;
}

static bool has_outliers(mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->key.params;

    return plan->total >= params->outlier_min_total
           && mca_coll_pipering_outlier_ratio(plan->bytes, draft->ranks, params->outlier_fraction,
                                              plan->starts)
                  > params->outlier_threshold;
}

static mca_coll_pipering_grid_problem_t problem_of(const mca_coll_pipering_draft_t *draft,
                                                   const mca_coll_pipering_grid_t *grid)
{
    return (mca_coll_pipering_grid_problem_t){.grid = grid,
                                              .bytes = draft->plan->bytes,
                                              .packed = draft->plan->key.params.rounds_packed,
                                              .copy = draft->combine,
                                              .cost = draft->cost,
                                              .scratch = draft->problem.scratch};
}

static double time_of(const mca_coll_pipering_draft_t *draft, const mca_coll_pipering_grid_t *grid)
{
    const mca_coll_pipering_grid_problem_t problem = problem_of(draft, grid);
    return mca_coll_pipering_grid_time(&problem);
}

/* The faster of all at once and in lanes; its modelled time. */
static double choose_lanes(const mca_coll_pipering_draft_t *draft, mca_coll_pipering_grid_t *grid)
{
    const double time = time_of(draft, grid);

    if (2 > grid->ring->nodes || grid->ring->nodes == grid->ring->size
        || !mca_coll_pipering_grid_fits(grid->ring)) {
        return time;
    }
    mca_coll_pipering_grid_t lanes = *grid;
    lanes.lanes = grid->ring->size / grid->ring->nodes;
    const double time_in_lanes = time_of(draft, &lanes);
    if (time_in_lanes < time) {
        *grid = lanes;
        return time_in_lanes;
    }
    return time;
}

/* It beats the ring, and nobody else is known to beat it. */
static bool pays(mca_coll_pipering_draft_t *draft, double time, double rival_time)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;

    if (time < RING_SLACK * plan->time
        && (plan->key.must_take || time <= MCA_COLL_PIPERING_RIVAL_SLACK * rival_time)) {
        return true;
    }
    return time < plan->time && time <= OUTLIER_SLACK * rival_time && has_outliers(draft);
}

static void take(mca_coll_pipering_draft_t *draft, const mca_coll_pipering_grid_t *grid,
                 double time, double rival_time)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const bool doubling = !grid->dissemination && 0 == (draft->ranks & (draft->ranks - 1));

    plan->algorithm = doubling ? MCA_COLL_PIPERING_DOUBLING : MCA_COLL_PIPERING_DISSEMINATION;
    plan->grid = *grid;
    plan->rounds = (uint64_t) mca_coll_pipering_grid_rounds(grid);
    plan->time = time;
    plan->rival_time = rival_time;
    plan->window = 0;
    plan->cut.block_size = 1;
    for (int r = 0; r < draft->ranks; ++r) {
        plan->cut.block_size = plan->bytes[r] > plan->cut.block_size ? plan->bytes[r]
                                                                     : plan->cut.block_size;
    }
}

/* There is reason to weigh it. */
static bool may_pay(mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;

    return MCA_COLL_PIPERING_AUTO == plan->key.params.algorithm && !plan->key.wanted
           && !plan->key.varied && LEAST_RANKS <= draft->ranks
           && (plan->total >= plan->key.params.rounds_min_total || has_outliers(draft));
}

void mca_coll_pipering_decide_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->key.params;
    mca_coll_pipering_grid_t grid
        = {.ring = &plan->by_node,
           .lanes = 1,
           .dissemination = MCA_COLL_PIPERING_DISSEMINATION == params->algorithm};

    if (plan->total > params->rounds_max_total || !(is_forced(plan) || may_pay(draft))) {
        return;
    }
    mca_coll_pipering_order(&plan->by_node, draft->node_of, draft->blocks,
                            params->reorder_nodes ? MCA_COLL_PIPERING_ORDER_NODES : 0,
                            draft->order_scratch);

    const double time = choose_lanes(draft, &grid);
    const mca_coll_pipering_grid_problem_t problem = problem_of(draft, &grid);
    const double rival_time = mca_coll_pipering_grid_rival_time(&problem);
    if (is_forced(plan) || pays(draft, time, rival_time)) {
        take(draft, &grid, time, rival_time);
    }
}
