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
 * Where few contributions are far larger than the others, ranks pass them on in few rounds, or
 * share them out among neighbours first; a ring passes them from rank to rank. The paper looks for
 * such outliers by a selection in linear time, and a threshold. Here the model weighs rounds with
 * groups of any size, and the ring, by the sizes of all contributions, and needs neither.
 *
 * Balaji et al. 4.2.1, figure 14.
 */

#include "coll_pipering_draft.h"

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_circulant.h"

#include <math.h>

/* Bytes of a piece that a rank copies in the time that a message takes. */
static size_t worth_packing(const mca_coll_pipering_draft_t *draft)
{
    const size_t given = draft->plan->key.params.rounds_packed;
    const size_t largest = draft->plan->largest;

    return 0 < given ? given
           : draft->combine * (double) largest > draft->cost.net.gap
               ? (size_t) (draft->cost.net.gap / draft->combine)
               : largest;
}

/* Groups, and bytes of a block of shares between them; what they take by the model. */
typedef struct {
    int groups;
    size_t block;
    double time;
} shape_t;

/* Blocks are listed, a message each: what that takes should not be without end. */
#define BLOCKS_MOST 1024

static int count_leaves(const mca_coll_pipering_draft_t *draft)
{
    int leaves = 0;

    for (int r = 0; r < draft->at.ranks; ++r) {
        leaves += r == draft->at.leaf_of[r];
    }
    return leaves;
}

/*
 * Orders nodes for so many groups of them, unless they are. Where leaf switches share few links,
 * nodes of all switches follow each other in turn, those of a group together: then the last rounds,
 * which carry most, are among nodes of a switch.
 */
static void order_nodes(const mca_coll_pipering_draft_t *draft, int groups)
{
    mca_coll_pipering_ring_t *ring = &draft->plan->by_node;
    const int together = groups < draft->at.nodes ? (draft->at.nodes + groups - 1) / groups : 1;
    const int turn = NULL == draft->at.leaf_of || 0 == draft->cost.uplinks ? 0
                     : together * count_leaves(draft) <= draft->at.nodes      ? together
                                                                           : 1;

    if (NULL == ring->leaf_of || turn != ring->turn) {
        ring->leaf_of = draft->at.leaf_of;
        ring->turn = turn;
        mca_coll_pipering_order(ring, draft->at.node_of, draft->blocks,
                                MCA_COLL_PIPERING_ORDER_NODES,
                                draft->order_scratch);
    }
}

/*
 * Bytes of a segment of a reduction's round, the largest of which has half of all: a segment is
 * combined while the next one comes. The fewer there are, the longer the last one takes to be
 * combined; each takes a message.
 */
static double segment_of(const mca_coll_pipering_draft_t *draft)
{
    return 0 < draft->combine
               ? sqrt((double) draft->plan->total / 2 * draft->cost.net.alpha / draft->combine)
               : (double) draft->plan->total;
}

/*
 * Makes the grid of the plan, in bytes or elements. All values of a reduction are packed, as they
 * lie in slots of their own.
 */
static void make_grid(const mca_coll_pipering_draft_t *draft, const size_t *sizes, int groups,
                      size_t unit)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (NULL != draft->at.leaf_of) {
        order_nodes(draft, groups);
    }
    mca_coll_pipering_grid_make(&plan->grid, &plan->by_node, sizes, plan->before, groups,
                                mca_coll_pipering_draft_combines(draft) ? SIZE_MAX
                                                                        : worth_packing(draft));
    if (mca_coll_pipering_draft_combines(draft)) {
        plan->grid.segment = 1 + (size_t) (segment_of(draft) / (double) unit);
    }
}

/*
 * Groups it in bytes anew: nodes are ordered for so many groups where their leaf switches are
 * known.
 */
static void regroup(const mca_coll_pipering_draft_t *draft, int groups)
{
    if (NULL != draft->at.leaf_of) {
        make_grid(draft, draft->sizes, groups, 1);
    } else {
        mca_coll_pipering_grid_group(&draft->plan->grid, groups);
    }
}

/* Cuts its shares into blocks of so many bytes. */
static void cut_grid(const mca_coll_pipering_draft_t *draft, size_t bytes, size_t unit)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t block = bytes < unit ? 1 : bytes / unit;

    if (block < plan->largest * plan->key.sizes.unit / unit) {
        const size_t least = mca_coll_pipering_grid_largest(&plan->grid) / BLOCKS_MOST + 1;
        mca_coll_pipering_grid_cut(&plan->grid, block < least ? least : block);
    }
}

/*
 * The grid, in bytes, for the model; an allreduce goes over it twice, and combines the first time.
 */
static mca_coll_pipering_grid_problem_t problem_of(const mca_coll_pipering_draft_t *draft,
                                                   bool again)
{
    const bool combines = mca_coll_pipering_draft_combines(draft) && !again;

    return (mca_coll_pipering_grid_problem_t){.grid = &draft->plan->grid,
                                              .copy = again ? 0 : draft->combine,
                                              .combine = combines ? draft->combine : 0,
                                              .cost = draft->cost,
                                              .scratch = draft->problem.scratch};
}

/* Modelled seconds of the grid of the plan. */
static double time_grid(const mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_grid_problem_t problem = problem_of(draft, false);
    double time = mca_coll_pipering_grid_time(&problem);

    if (mca_coll_pipering_draft_spreads(draft)) {
        problem = problem_of(draft, true);
        time += mca_coll_pipering_grid_time(&problem);
    }
    return time;
}

/* Seconds that groups take at least, of shares that go whole or in any number of blocks. */
static double least_of(const mca_coll_pipering_draft_t *draft, int groups, bool in_blocks)
{
    mca_coll_pipering_grid_problem_t problem = problem_of(draft, false);

    mca_coll_pipering_grid_group(&draft->plan->grid, groups);
    double time = mca_coll_pipering_grid_least(&problem, in_blocks);
    if (mca_coll_pipering_draft_spreads(draft)) {
        problem = problem_of(draft, true);
        time += mca_coll_pipering_grid_least(&problem, in_blocks);
    }
    return time;
}

/* A shape with its modelled time, whose grid becomes that of the plan, in bytes. */
static shape_t timed(const mca_coll_pipering_draft_t *draft, int groups, size_t block)
{
    shape_t shape = {.groups = groups, .block = block};

    regroup(draft, groups);
    cut_grid(draft, block, 1);
    shape.time = time_grid(draft);
    return shape;
}

/* Other shapes are not looked at if they cannot gain more than this: the model is no more exact. */
#define GAIN 1.05

/*
 * Nor more blocks, if the number that is likely the best takes so many times as long as the best
 * shape.
 */
#define FAR 1.25

/*
 * Nodes as groups, the largest share in so many blocks: from the number on at which a block's costs
 * and what waits for it are alike, up or down by factors of 2 until time rises, since it has one
 * minimum.
 */
static shape_t choose_blocks(const mca_coll_pipering_draft_t *draft, double rival)
{
    const size_t given = draft->plan->key.params.block_size, unit = draft->plan->key.sizes.unit;
    const mca_coll_pipering_link_cost_t *net = &draft->cost.net;
    const int nodes = draft->plan->by_node.nodes;
    shape_t best = {.groups = nodes, .block = SIZE_MAX, .time = HUGE_VAL};

    regroup(draft, nodes);
    const size_t share = mca_coll_pipering_grid_largest(&draft->plan->grid) / unit;
    const double phase = mca_coll_pipering_circulant_rounds(nodes);
    const double middle = sqrt(phase * (double) (share * unit) * net->beta
                               / (net->alpha + net->latency));
    size_t start = 2;
    while (2 * (double) start <= middle && 2 * start <= BLOCKS_MOST && 2 * start <= share) {
        start *= 2;
    }
    for (int up = 1; 0 <= up; --up) {
        size_t blocks = 1 == up ? start : start / 2;
        while (2 <= blocks && blocks <= BLOCKS_MOST && blocks <= share) {
            const shape_t shape = timed(draft, nodes,
                                        0 < given ? given : (share + blocks - 1) / blocks * unit);
            if (shape.time >= best.time) {
                break;
            }
            best = shape;
            if (shape.time > FAR * rival) {
                return best;
            }
            blocks = 1 == up ? 2 * blocks : blocks / 2;
        }
    }
    return best;
}

/* What the module below takes, where the rate of links is known and no algorithm is forced. */
static double rival_time(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_times_t *below = &draft->plan->below;
    const bool forced = MCA_COLL_PIPERING_AUTO != draft->plan->key.params.algorithm;

    return forced || below->at[0] != below->at[1] ? HUGE_VAL : below->at[0];
}

/* Numbers of groups: p, and the nodes, halved again and again. */
#define GROUPINGS 33

/* Shapes whose shares go whole, with what they take at least, in the place of times. */
static int list_groups(const mca_coll_pipering_draft_t *draft, shape_t list[GROUPINGS])
{
    const int ranks = draft->at.ranks, nodes = draft->plan->by_node.nodes;
    int count = 1;

    list[0] = (shape_t){.groups = ranks, .block = SIZE_MAX};
    for (int groups = nodes < ranks ? nodes : nodes / 2; 0 < groups; groups /= 2) {
        list[count++] = (shape_t){.groups = groups, .block = SIZE_MAX};
    }
    for (int i = 0; i < count; ++i) {
        list[i].time = least_of(draft, list[i].groups, false);
    }
    return count;
}

/* Modelled times are alike. */
#define ALIKE 1e-9

/* How far apart the number of groups and that of their ranks are. */
static int larger_of(int groups, int ranks)
{
    return groups > ranks / groups ? groups : ranks / groups;
}

/*
 * Ranks alone, or groups of 1, 2, 4 .. nodes, whose shares go whole; all nodes, in blocks. Those
 * that may take least come first; of equal contributions all groups are alike by the model, and of
 * these those of the most equal numbers: then the last rounds, which carry most, are among
 * neighbours, and the first ones, which carry little, between groups.
 */
static shape_t find_shape(const mca_coll_pipering_draft_t *draft)
{
    const int ranks = draft->at.ranks, nodes = draft->plan->by_node.nodes;
    const double rival = rival_time(draft);
    shape_t list[GROUPINGS], best = {.groups = 0};
    int count = list_groups(draft, list);

    while (0 < count) {
        int next = 0;
        for (int i = 1; i < count; ++i) {
            if (list[i].time < list[next].time * (1 - ALIKE)
                || (list[i].time < list[next].time * (1 + ALIKE)
                    && larger_of(list[i].groups, ranks) < larger_of(list[next].groups, ranks))) {
                next = i;
            }
        }
        if (0 < best.groups && list[next].time * GAIN >= fmin(rival, best.time)) {
            break;
        }
        const shape_t shape = timed(draft, list[next].groups, SIZE_MAX);
        best = 0 == best.groups || shape.time < best.time ? shape : best;
        list[next] = list[--count];
    }
    if (1 < nodes && !mca_coll_pipering_draft_spreads(draft)
        && least_of(draft, nodes, true) * GAIN < fmin(rival, best.time)) {
        const shape_t blocks = choose_blocks(draft, best.time);
        best = blocks.time < best.time ? blocks : best;
    }
    return best;
}

/* The fastest, what is chosen already, or what the user wants. */
static shape_t choose_shape(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_params_t *params = &draft->plan->key.params;
    const size_t largest = draft->plan->largest * draft->plan->key.sizes.unit;
    shape_t shape = {.groups = draft->fixed_groups, .block = draft->fixed_block};

    if (0 == shape.groups && 0 < params->block_size && params->block_size < largest
        && 1 < draft->plan->by_node.nodes && MCA_COLL_PIPERING_AUTO != params->algorithm) {
        shape = (shape_t){.groups = draft->plan->by_node.nodes, .block = params->block_size};
    }
    return 0 == shape.groups ? find_shape(draft) : timed(draft, shape.groups, shape.block);
}

bool mca_coll_pipering_can_round(const mca_coll_pipering_draft_t *draft)
{
    return draft->plan->total <= draft->plan->key.params.rounds_max_total
           && mca_coll_pipering_can_reorder(draft);
}

static void place_parts(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_place_parts(plan, draft->at.ranks);
    for (int r = 0; r < draft->at.ranks; ++r) {
        draft->blocks[r] = 1;
        draft->sizes[r] = plan->bytes[r] * plan->key.sizes.unit;
    }
}

void mca_coll_pipering_group_nodes(mca_coll_pipering_draft_t *draft, bool in_units)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    place_parts(draft);
    plan->by_node.leaf_of = NULL;
    order_nodes(draft, draft->at.nodes);
    plan->ring = plan->by_node;
    make_grid(draft, in_units ? plan->bytes : draft->sizes, draft->at.nodes,
              in_units ? plan->key.sizes.unit : 1);
}

void mca_coll_pipering_decide_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_group_nodes(draft, false);
    const shape_t shape = choose_shape(draft);
    plan->time = shape.time;
    make_grid(draft, plan->bytes, shape.groups, plan->key.sizes.unit); /* cut between elements */
    cut_grid(draft, shape.block, plan->key.sizes.unit);
    plan->rounds = (mca_coll_pipering_draft_spreads(draft) ? 2 : 1)
                   * (uint64_t) mca_coll_pipering_grid_rounds(&plan->grid);
    plan->block_size = 1 == plan->grid.blocks                ? plan->largest
                       : shape.block < plan->key.sizes.unit ? 1
                                                            : shape.block / plan->key.sizes.unit;
}

/*
 * Adds the messages of a round: one for packed pieces that adjoin, for each block of them, and for
 * each large part, or for each run of a reduction; returns their bytes.
 */
static size_t add_round(mca_coll_pipering_draft_t *draft, int k, bool sends, uint64_t *messages)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_parts_t parts
        = mca_coll_pipering_grid_parts(&plan->grid, &plan->slots, draft->at.me, k, sends);
    mca_coll_pipering_run_t run;
    size_t bytes = 0, end = SIZE_MAX;

    while (mca_coll_pipering_draft_combines(draft) && mca_coll_pipering_parts_run(&parts, &run)) {
        *messages += 1;
        bytes += run.count;
    }
    while (!mca_coll_pipering_draft_combines(draft) && mca_coll_pipering_parts_next(&parts)) {
        const size_t begin = parts.piece->offset + parts.from;
        *messages += parts.piece->large || parts.begins || begin != end;
        end = parts.piece->large ? end : begin + parts.bytes;
        bytes += parts.bytes;
    }
    return bytes;
}

static bool is_across(const mca_coll_pipering_draft_t *draft, int rank)
{
    return draft->at.node_of[rank] != draft->at.node_of[draft->at.me];
}

/* What is given and taken before the rounds, each piece a message; bytes given to other nodes. */
static size_t count_evening(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_slots_t *slots = &plan->slots;
    size_t out_to_network = 0;

    for (int lane = 0; lane < plan->grid.lanes; ++lane) {
        const mca_coll_pipering_piece_t *piece = mca_coll_pipering_grid_given(&plan->grid, slots,
                                                                              draft->at.me, lane);
        if (NULL != piece) {
            const int to = mca_coll_pipering_grid_member(&plan->grid, draft->at.me, lane);
            plan->out += 1;
            out_to_network += is_across(draft, to) ? piece->bytes : 0;
        }
    }
    for (int i = slots->first[slots->own.first];
         i < slots->first[slots->own.first + slots->own.count]; ++i) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        if (draft->at.me != piece->rank) {
            plan->in += 1;
            plan->in_from_network += is_across(draft, piece->rank) ? piece->bytes : 0;
        }
    }
    return out_to_network;
}

/* Backwards what goes out comes in. */
static void turn_back(mca_coll_pipering_draft_t *draft, size_t out_to_network)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const uint64_t out = plan->out;

    plan->out = plan->in;
    plan->in = out;
    if (mca_coll_pipering_draft_spreads(draft)) {
        plan->in += plan->out;
        plan->out = plan->in;
        out_to_network += plan->in_from_network;
    }
    plan->in_from_network = out_to_network * plan->key.sizes.unit;
}

void mca_coll_pipering_count_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    size_t out_to_network = 0;

    mca_coll_pipering_grid_slots(&plan->grid, draft->at.me, &plan->slots);
    if (!mca_coll_pipering_draft_spreads(draft)) {
        out_to_network = count_evening(draft);
    }
    for (int k = 0; k < mca_coll_pipering_grid_rounds(&plan->grid); ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&plan->grid,
                                                                                  draft->at.me, k);
        const size_t in = add_round(draft, k, false, &plan->in);
        const size_t out = add_round(draft, k, true, &plan->out);
        if (is_across(draft, round.from)) {
            plan->in_from_network += in;
        }
        if (is_across(draft, round.to)) {
            out_to_network += out;
        }
    }
    if (mca_coll_pipering_draft_combines(draft)) {
        turn_back(draft, out_to_network);
    }
}
