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
 * Plans of gathers in log2 p rounds, and whether they are better than a ring.
 *
 * Where few contributions are far larger than the others, all ranks that have one pass it
 * on at the same time, and the rounds are few; a ring passes it from rank to rank. The paper
 * looks for such outliers by a selection in linear time, and a threshold. Here the model weighs
 * rounds and ring for each call, by the sizes of all contributions, and needs neither. Nodes of
 * the same number of ranks may exchange in lanes.
 *
 * Balaji et al. 4.2.1, figure 14.
 */

#include "coll_pipering_draft.h"

/* Fewer ranks have hardly fewer messages in rounds than one after the other. */
#define LEAST_RANKS 6

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

/* The faster of all at once and in lanes, or what is chosen already; its modelled time. */
static double choose_lanes(const mca_coll_pipering_draft_t *draft, mca_coll_pipering_grid_t *grid)
{
    if (0 < draft->fixed_lanes) {
        grid->lanes = draft->fixed_lanes;
        return time_of(draft, grid);
    }
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

bool mca_coll_pipering_can_disseminate(const mca_coll_pipering_draft_t *draft)
{
    return draft->plan->total <= draft->plan->key.params.rounds_max_total;
}

static bool is_power_of_two(int ranks)
{
    return 0 == (ranks & (ranks - 1));
}

bool mca_coll_pipering_can_double(const mca_coll_pipering_draft_t *draft)
{
    return is_power_of_two(draft->ranks) && mca_coll_pipering_can_disseminate(draft);
}

/* There is reason to weigh it. */
bool mca_coll_pipering_suits_doubling(const mca_coll_pipering_draft_t *draft)
{
    return LEAST_RANKS <= draft->ranks;
}

/* Only where recursive doubling is impossible. */
bool mca_coll_pipering_suits_dissemination(const mca_coll_pipering_draft_t *draft)
{
    return !is_power_of_two(draft->ranks) && mca_coll_pipering_suits_doubling(draft);
}

void mca_coll_pipering_plan_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_place(plan, &plan->all);
    for (int r = 0; r < draft->ranks; ++r) {
        draft->blocks[r] = 1;
    }
    mca_coll_pipering_order(&plan->by_node, draft->node_of, draft->blocks,
                            MCA_COLL_PIPERING_ORDER_NODES, draft->order_scratch);
    plan->ring = plan->by_node;
    plan->pipes = 0;
    plan->grid = (mca_coll_pipering_grid_t){
        .ring = &plan->by_node,
        .lanes = 1,
        .dissemination = MCA_COLL_PIPERING_DISSEMINATION == plan->row->algorithm};
    plan->time = choose_lanes(draft, &plan->grid);
    plan->rounds = (uint64_t) mca_coll_pipering_grid_rounds(&plan->grid);
    plan->window = 0;
    plan->block_size = plan->largest;
}

void mca_coll_pipering_count_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t packed = plan->key.params.rounds_packed;

    mca_coll_pipering_grid_slots(&plan->grid, draft->me, plan->bytes, packed, &plan->slots);
    for (int k = 0; k < mca_coll_pipering_grid_rounds(&plan->grid); ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&plan->grid,
                                                                                  draft->me, k);
        const mca_coll_pipering_volume_t in = mca_coll_pipering_grid_volume(
            &plan->grid, draft->me, plan->bytes, packed, round.recv);
        const mca_coll_pipering_volume_t out = mca_coll_pipering_grid_volume(
            &plan->grid, draft->me, plan->bytes, packed, round.send);
        mca_coll_pipering_add_volume(&plan->in, in);
        mca_coll_pipering_add_volume(&plan->out, out);
        if (draft->node_of[round.from] != draft->node_of[draft->me]) {
            plan->in_from_network += in.bytes;
        }
    }
}
