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
 * Decide on broadcasts, reductions and scans: along a chain, or, for an allreduce
 * whose operation commutes, scattered and gathered along a ring.
 *
 * Which of them, or none, sets the order in which values are combined, and with it the
 * bits of a sum of floating-point values. So for a reproducible call the model is asked
 * with nominal costs, and what is measured chooses the block size only.
 *
 * Blocks are of whole units, for a reduction cuts between elements; the model counts
 * in bytes.
 */

#include "coll_pipering.h"

#include <math.h>

/*
 * On one node blocks that stay in a cache on their way replace vectors that do not,
 * which saves a third of the time and more; a chain that fills in less than a quarter of
 * it gains. A broadcast gains less, since the kernel copies once where ring buffers copy
 * twice, and still less where processors are short; MPI_Exscan too, whose last rank has
 * nothing to combine.
 */
#define LOCAL_FILLS 4
#define LOCAL_FILLS_LESS 8
#define LOCAL_FILLS_LEAST 16
#define LOCAL_LOAD 2

/*
 * Nominal costs: TCP over Ethernet of 1 Gbit/s. What counts is the bytes that pass in the
 * time of a block, 1250; faster networks have 10 times as many, slower ones half.
 */
static const mca_coll_pipering_cost_t nominal_cost
    = {.net = {.alpha = 10e-6, .beta = 8e-9, .latency = 10e-6, .overlap = true, .gap = 1e-6},
       .local = {.alpha = 1e-6, .beta = 1e-10, .latency = 1e-6, .overlap = true, .gap = 1e-6}};
#define NOMINAL_COMBINE 2e-10

/*
 * Elements that fill whole vector registers, whatever their type. An operation may treat
 * the elements that do not fill one differently, where they are NaNs, zeros of two signs, or
 * overflow, so blocks of a reproducible call end between whole registers.
 */
#define WHOLE_VECTORS ((size_t) 64)
#define VECTOR_UNIT_MOST 32 /* bytes; an element of a larger type is no vector operation's */

static const mca_coll_pipering_key_t *key_of(const mca_coll_pipering_draft_t *draft)
{
    return &draft->plan->key;
}

static bool combines(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_BCAST != key_of(draft)->collective;
}

static bool is_scan(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_SCAN == key_of(draft)->collective
           || MCA_COLL_PIPERING_EXSCAN == key_of(draft)->collective;
}

/* The root alone, with all there is. */
static void make_single(mca_coll_pipering_plan_t *plan)
{
    mca_coll_pipering_ring_t *ring = &plan->ring;

    ring->size = ring->nodes = 1;
    ring->rank[0] = ring->position[0] = ring->node[0] = ring->first[0] = 0;
    ring->first[1] = 1;
    plan->bytes[0] = plan->key.sizes[0];
    plan->starts[0] = 0;
}

static mca_coll_pipering_shape_t route_chain(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_key_t *key = &plan->key;
    const int p = draft->ranks, me = draft->me, *node_of = draft->node_of;
    int *scratch = draft->order_scratch;
    mca_coll_pipering_chain_t chain;

    if (is_scan(draft)) {
        mca_coll_pipering_chain_line(&chain, p, me);
        mca_coll_pipering_chain_collect(&plan->route[0], &plan->ring, &chain);
        return mca_coll_pipering_chain_line_shape(node_of, p, scratch);
    }
    mca_coll_pipering_chain(&chain, node_of, p, key->root, me);
    if (MCA_COLL_PIPERING_BCAST == key->collective) {
        mca_coll_pipering_chain_spread(&plan->route[0], &plan->ring, &chain);
    }
    if (MCA_COLL_PIPERING_ALLREDUCE == key->collective) {
        mca_coll_pipering_chain_spread(&plan->route[1], &plan->ring, &chain);
        plan->route[1].gate = 0;
        plan->pipes = 2;
    }
    if (key->ordered) {
        mca_coll_pipering_chain_ordered(&chain, p, key->root, me);
    }
    if (combines(draft)) {
        mca_coll_pipering_chain_collect(&plan->route[0], &plan->ring, &chain);
    }
    return key->ordered ? mca_coll_pipering_chain_ordered_shape(node_of, p, key->root, scratch)
                        : mca_coll_pipering_chain_shape(node_of, p, scratch);
}

static size_t units_of(const mca_coll_pipering_plan_t *plan, size_t bytes)
{
    return bytes < plan->key.unit ? 1 : bytes / plan->key.unit;
}

/* Whether what is measured must not show where blocks end. */
static bool wants_whole_vectors(const mca_coll_pipering_key_t *key)
{
    return key->reproducible && (key->varied || 0 == key->params.block_size)
           && key->unit <= VECTOR_UNIT_MOST;
}

/* As many blocks as before, of whole vectors each but for the last. */
static void align_blocks(mca_coll_pipering_plan_t *plan)
{
    const size_t units = plan->bytes[0]; /* of the largest contribution */
    const size_t vectors = plan->cut.block_size / WHOLE_VECTORS;
    const size_t size = (0 < vectors ? vectors : 1) * WHOLE_VECTORS;
    const size_t even = mca_coll_pipering_blocks(units, mca_coll_pipering_blocks(units, size));

    plan->cut.block_size = mca_coll_pipering_blocks(even, WHOLE_VECTORS) * WHOLE_VECTORS;
    plan->cut.split = MCA_COLL_PIPERING_SPLIT_FULL;
}

static void set_blocks(mca_coll_pipering_draft_t *draft, size_t bytes)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    bytes = mca_coll_pipering_bound_block(draft, bytes);
    plan->cut.block_size = units_of(plan, 0 < plan->key.params.block_size
                                              ? plan->key.params.block_size
                                              : bytes);
    if (wants_whole_vectors(&plan->key)) {
        align_blocks(plan);
    }
    plan->window = mca_coll_pipering_choose_window(&plan->key.params,
                                                   plan->cut.block_size * plan->key.unit);
}

static void decide_line(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const bool both = MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective;

    make_single(plan);
    const mca_coll_pipering_line_problem_t line = {.shape = route_chain(draft),
                                                   .bytes = plan->total,
                                                   .passes = both ? 2 : 1,
                                                   .combine = combines(draft) ? draft->combine : 0,
                                                   .cost = draft->cost};
    set_blocks(draft, mca_coll_pipering_line_search(&line));
    const size_t block = plan->cut.block_size * plan->key.unit;
    plan->time = mca_coll_pipering_line_time(&line, block);
    plan->rounds = mca_coll_pipering_stages(
        (uint64_t) (line.passes * (line.shape.across + line.shape.inside)),
        mca_coll_pipering_blocks(plan->total, block));
    plan->algorithm = !both ? MCA_COLL_PIPERING_PIPELINE
                      : MCA_COLL_PIPERING_SERIAL == plan->key.params.algorithm
                          ? MCA_COLL_PIPERING_SERIAL
                          : MCA_COLL_PIPERING_MERGED;
}

/* Chunks of the vector, one a rank, and the ring that keeps nodes together. */
static size_t scatter_vector(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t p = (size_t) draft->ranks, units = plan->key.sizes[0];

    plan->ring.size = draft->ranks;
    for (size_t r = 0; r < p; ++r) {
        plan->bytes[r] = units / p + (r < units % p);
        plan->starts[r] = r * (units / p) + (r < units % p ? r : units % p);
        draft->blocks[r] = 1;
    }
    mca_coll_pipering_order(&plan->ring, draft->node_of, draft->blocks,
                            plan->key.params.reorder_nodes ? MCA_COLL_PIPERING_ORDER_NODES : 0,
                            draft->order_scratch);
    return plan->bytes[0] * plan->key.unit;
}

static void decide_circle(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t chunk = scatter_vector(draft);
    const mca_coll_pipering_circle_problem_t circle = {.ranks = draft->ranks,
                                                       .nodes = plan->ring.nodes,
                                                       .bytes = chunk,
                                                       .combine = draft->combine,
                                                       .cost = draft->cost};

    set_blocks(draft, mca_coll_pipering_circle_search(&circle));
    const size_t block = plan->cut.block_size * plan->key.unit;
    plan->time = mca_coll_pipering_circle_time(&circle, block);
    plan->rounds = 2 * (uint64_t) (draft->ranks - 1)
                   * mca_coll_pipering_blocks(circle.bytes, block);
    plan->algorithm = MCA_COLL_PIPERING_RING;
    plan->pipes = 2;
    mca_coll_pipering_route_scatter(&plan->route[0], &plan->ring, draft->me);
    mca_coll_pipering_route(&plan->route[1], &plan->ring, draft->me);
    plan->route[1].gate = 0;
    /* both go the same way around; there and back along a chain messages go opposite ways */
    mca_coll_pipering_route_shift_tags(&plan->route[1], plan->route[0].tags);
}

/*
 * Modelled seconds, from below, of what else an MPI library does: a tree of nodes that
 * passes the vector on whole, or parts of it scattered and gathered over all ranks,
 * which a scan, or an operation that does not commute, does not allow.
 */
static double rival_time(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_link_cost_t *link = 1 < draft->nodes ? &draft->cost.net
                                                                 : &draft->cost.local;
    const double members = 1 < draft->nodes ? draft->nodes : draft->ranks;
    const double m = (double) draft->plan->total, steps = ceil(log2(members)), p = draft->ranks;
    const double start = link->alpha + link->latency;
    const double tree = steps * (start + m * link->beta);
    const double scattered = (steps + members - 1) * start + 2 * m * link->beta * (p - 1) / p;
    const bool whole = is_scan(draft) || key_of(draft)->ordered;

    return tree < scattered || whole ? tree : scattered;
}

static bool is_circle_better(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const int wanted = plan->key.params.algorithm;

    if (plan->key.ordered || plan->key.sizes[0] < (size_t) draft->ranks
        || MCA_COLL_PIPERING_MERGED == wanted || MCA_COLL_PIPERING_SERIAL == wanted) {
        return false;
    }
    decide_line(draft);
    const double line_time = plan->time;
    decide_circle(draft);
    return MCA_COLL_PIPERING_RING == wanted || plan->time < line_time;
}

static bool pays_on_one_node(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t fill = (size_t) (draft->ranks - 1) * MCA_COLL_PIPERING_LOCAL_BLOCK;
    const bool is_bcast = MCA_COLL_PIPERING_BCAST == plan->key.collective;
    const bool less = is_bcast || MCA_COLL_PIPERING_EXSCAN == plan->key.collective;
    const size_t fills = is_bcast && LOCAL_LOAD < draft->load ? LOCAL_FILLS_LEAST
                         : less                               ? LOCAL_FILLS_LESS
                                                              : LOCAL_FILLS;

    return mca_coll_pipering_can_share(&plan->key.params, plan->cut.block_size * plan->key.unit)
           && plan->total >= fills * fill;
}

static void choose(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (MCA_COLL_PIPERING_ALLREDUCE != plan->key.collective || !is_circle_better(draft)) {
        decide_line(draft);
    }
    plan->rival_time = rival_time(draft);
    plan->reason = mca_coll_pipering_judge(draft, pays_on_one_node(draft));
}

/*
 * Vectors that are short for a line of so many nodes. Where links are slow a pipeline would gain
 * there, but where they are fast it loses more, and what is measured has no say.
 */
static bool is_short(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_key_t *key = key_of(draft);

    return !key->must_take && MCA_COLL_PIPERING_AUTO == key->params.algorithm && 1 < draft->nodes
           && draft->plan->total < (size_t) (draft->nodes - 1) * key->params.min_total;
}

/* The choice by nominal costs, cut into blocks by measured ones. */
static void choose_by_nominal(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_draft_t nominal = *draft;

    nominal.cost = nominal_cost;
    nominal.combine = NOMINAL_COMBINE;
    choose(&nominal);
    if (MCA_COLL_PIPERING_RING == draft->plan->algorithm) {
        decide_circle(draft);
    } else {
        decide_line(draft);
    }
    draft->plan->rival_time = rival_time(draft);
    if (is_short(draft)) {
        draft->plan->reason = MCA_COLL_PIPERING_FALLBACK_MODEL;
    }
}

void mca_coll_pipering_decide_chain(mca_coll_pipering_draft_t *draft)
{
    if (key_of(draft)->reproducible) {
        choose_by_nominal(draft);
    } else {
        choose(draft);
    }
}
