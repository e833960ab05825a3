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
 * Plans of calls in log2 p rounds: gathers, of which a broadcast is one to which the root alone
 * contributes; and the same rounds backwards, which are a reduce-scatter, or a reduction if the
 * root alone gets results. An allreduce is a reduce-scatter of equal parts and a gather of them.
 *
 * Where few contributions are far larger than the others, ranks pass them on in few rounds, or share
 * them out among neighbours first; a ring passes them from rank to rank. The paper looks for such
 * outliers by a selection in linear time, and a threshold. Here the model weighs rounds with
 * groups of any size, and the ring, by the sizes of all contributions, and needs neither.
 *
 * Balaji et al. 4.2.1, figure 14.
 */

#include "coll_pipering_draft.h"

#include <math.h>

/* Bytes of a piece that two ranks copy, one in and one out, in the time that a message takes. */
static size_t worth_packing(const mca_coll_pipering_draft_t *draft)
{
    const size_t given = draft->plan->key.params.rounds_packed;
    const size_t largest = draft->plan->largest;

    return 0 < given ? given
           : 2 * draft->combine * (double) largest > draft->cost.net.gap
               ? (size_t) (draft->cost.net.gap / (2 * draft->combine))
               : largest;
}

static bool reduces(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_combines(draft->plan->key.collective);
}

static bool spreads(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_ALLREDUCE == draft->plan->key.collective;
}

/*
 * Modelled time with so many groups, which become those of the plan, in bytes. All values of a
 * reduction are packed, as they lie in slots of their own.
 */
static double time_with(const mca_coll_pipering_draft_t *draft, int groups)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_grid_problem_t problem = {.grid = &plan->grid,
                                                .copy = draft->combine,
                                                .combine = reduces(draft) ? draft->combine : 0,
                                                .cost = draft->cost,
                                                .scratch = draft->problem.scratch};

    mca_coll_pipering_grid_make(&plan->grid, &plan->by_node, draft->sizes, plan->before, groups,
                                reduces(draft) ? SIZE_MAX : worth_packing(draft));
    double time = mca_coll_pipering_grid_time(&problem);
    if (spreads(draft)) {
        problem.copy = problem.combine = 0;
        time += mca_coll_pipering_grid_time(&problem);
    }
    return time;
}

/* Modelled times are alike. */
#define ALIKE 1e-9

/* How far apart the number of groups and that of their ranks are. */
static int larger_of(int groups, int ranks)
{
    return groups > ranks / groups ? groups : ranks / groups;
}

/*
 * Ranks alone, or groups of 1, 2, 4 .. nodes: the fastest, or what is chosen already. Of equal
 * contributions all are alike by the model. Then the last rounds, which carry most, should be among
 * neighbours, and the first ones, which carry little, between groups.
 */
static int choose_groups(const mca_coll_pipering_draft_t *draft)
{
    const int ranks = draft->ranks;
    int best = ranks;

    if (0 < draft->fixed_groups) {
        return draft->fixed_groups;
    }
    double least = time_with(draft, best);
    for (int groups = draft->plan->by_node.nodes; 0 < groups; groups /= 2) {
        const double time = groups < ranks ? time_with(draft, groups) : HUGE_VAL;
        if (time < least * (1 - ALIKE)
            || (time < least * (1 + ALIKE) && larger_of(groups, ranks) < larger_of(best, ranks))) {
            best = groups;
            least = time;
        }
    }
    return best;
}

bool mca_coll_pipering_can_round(const mca_coll_pipering_draft_t *draft)
{
    return draft->plan->total <= draft->plan->key.params.rounds_max_total
           && mca_coll_pipering_can_reorder(draft);
}

/* What each rank contributes, or gets of the result; of an allreduce, makes. */
static void place_parts(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (spreads(draft)) {
        (void) mca_coll_pipering_place_chunks(plan, draft->ranks);
    }
    mca_coll_pipering_place(plan, &plan->all);
    for (int r = 0; r < draft->ranks; ++r) {
        draft->blocks[r] = 1;
        if (!spreads(draft) && 2 > plan->key.sizes.parts) {
            plan->bytes[r] = r == plan->key.root ? plan->largest : 0;
            plan->starts[r] = 0;
        }
        draft->sizes[r] = plan->bytes[r] * plan->key.sizes.unit;
    }
}

void mca_coll_pipering_plan_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    place_parts(draft);
    mca_coll_pipering_order(&plan->by_node, draft->node_of, draft->blocks,
                            MCA_COLL_PIPERING_ORDER_NODES, draft->order_scratch);
    plan->ring = plan->by_node;
    plan->pipes = 0;
    plan->time = time_with(draft, choose_groups(draft));
    if (reduces(draft)) { /* cut between elements */
        mca_coll_pipering_grid_make(&plan->grid, &plan->by_node, plan->bytes, plan->before,
                                    plan->grid.groups, SIZE_MAX);
    }
    plan->rounds = (spreads(draft) ? 2 : 1)
                   * (uint64_t) mca_coll_pipering_grid_rounds(&plan->grid);
    plan->window = 0;
    plan->block_size = plan->largest;
}

/* Adds slots to a volume: a message for all packed pieces, and each large one; their bytes. */
static size_t add_span(const mca_coll_pipering_plan_t *plan, mca_coll_pipering_span_t span,
                       mca_coll_pipering_volume_t *volume)
{
    const int *first = plan->slots.first;
    size_t bytes = 0;
    bool packed = false;

    for (int i = first[span.first]; i < first[span.first + span.count]; ++i) {
        const bool large = plan->slots.piece[i].bytes > plan->grid.packed;
        bytes += plan->slots.piece[i].bytes;
        volume->blocks += large;
        packed |= !large;
    }
    volume->blocks += packed;
    volume->bytes += bytes;
    return bytes;
}

/* What is given and taken before the rounds, each piece a message; bytes given to other nodes. */
static size_t count_evening(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_slots_t *slots = &plan->slots;
    size_t out_to_network = 0;

    for (int lane = 0; lane < plan->grid.lanes; ++lane) {
        const mca_coll_pipering_piece_t *piece = mca_coll_pipering_grid_given(&plan->grid, slots,
                                                                              draft->me, lane);
        if (NULL != piece) {
            const int to = mca_coll_pipering_grid_member(&plan->grid, draft->me, lane);
            mca_coll_pipering_add_volume(&plan->out,
                                         (mca_coll_pipering_volume_t){1, piece->bytes});
            out_to_network += draft->node_of[to] != draft->node_of[draft->me] ? piece->bytes : 0;
        }
    }
    for (int i = slots->first[slots->own.first];
         i < slots->first[slots->own.first + slots->own.count]; ++i) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        if (draft->me != piece->rank) {
            mca_coll_pipering_add_volume(&plan->in, (mca_coll_pipering_volume_t){1, piece->bytes});
            plan->in_from_network += draft->node_of[piece->rank] != draft->node_of[draft->me]
                                         ? piece->bytes
                                         : 0;
        }
    }
    return out_to_network;
}

/* Backwards what goes out comes in. */
static void turn_back(mca_coll_pipering_draft_t *draft, size_t out_to_network)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_volume_t out = plan->out;
    const size_t unit = plan->key.sizes.unit;

    plan->out = plan->in;
    plan->in = out;
    if (spreads(draft)) {
        mca_coll_pipering_add_volume(&plan->in, plan->out);
        plan->out = plan->in;
        out_to_network += plan->in_from_network;
    }
    plan->in_from_network = out_to_network * unit;
    plan->in.bytes *= unit;
    plan->out.bytes *= unit;
}

void mca_coll_pipering_count_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    size_t out_to_network = 0;

    mca_coll_pipering_grid_slots(&plan->grid, draft->me, &plan->slots);
    if (!spreads(draft)) {
        out_to_network = count_evening(draft);
    }
    for (int k = 0; k < mca_coll_pipering_grid_rounds(&plan->grid); ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&plan->grid,
                                                                                  draft->me, k);
        const size_t in = add_span(plan, round.recv, &plan->in);
        const size_t out = add_span(plan, round.send, &plan->out);
        if (draft->node_of[round.from] != draft->node_of[draft->me]) {
            plan->in_from_network += in;
        }
        if (draft->node_of[round.to] != draft->node_of[draft->me]) {
            out_to_network += out;
        }
    }
    if (reduces(draft)) {
        turn_back(draft, out_to_network);
    }
}
