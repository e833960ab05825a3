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
 * Plans of broadcasts, reductions and scans: along a chain, or, for an allreduce
 * whose operation commutes, scattered and gathered along a ring; and of reduce-scatters along the
 * line of ranks, in their order.
 *
 * Blocks are of whole units, for a reduction cuts between elements; the model counts
 * in bytes.
 */

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_chain.h"

static bool is_scan(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_scans(draft->plan->key.collective);
}

/* The root alone, with all there is. */
void mca_coll_pipering_place_alone(mca_coll_pipering_plan_t *plan)
{
    mca_coll_pipering_ring_t *ring = &plan->ring;

    *ring = plan->own;
    ring->size = ring->nodes = 1;
    ring->rank[0] = ring->position[0] = ring->node[0] = ring->first[0] = 0;
    ring->first[1] = 1;
    plan->bytes[0] = plan->largest;
    plan->starts[0] = 0;
}

void mca_coll_pipering_route_chain(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_key_t *key = &plan->key;
    const int p = draft->at.ranks, me = draft->at.me;
    mca_coll_pipering_chain_t chain;

    if (is_scan(draft)) {
        mca_coll_pipering_chain_scan(&chain, p, me);
        mca_coll_pipering_chain_collect(&plan->route[0], &plan->ring, &chain);
        return;
    }
    mca_coll_pipering_chain(&chain, draft->at.node_of, p, key->root, me);
    if (MCA_COLL_PIPERING_BCAST == key->collective) {
        mca_coll_pipering_chain_spread(&plan->route[0], &plan->ring, &chain);
    }
    if (MCA_COLL_PIPERING_ALLREDUCE == key->collective) {
        mca_coll_pipering_chain_spread(&plan->route[1], &plan->ring, &chain);
        plan->route[1].gate = 0;
    }
    if (key->ordered) {
        mca_coll_pipering_chain_ordered(&chain, p, key->root, me);
    }
    if (mca_coll_pipering_draft_combines(draft)) {
        mca_coll_pipering_chain_collect(&plan->route[0], &plan->ring, &chain);
    }
}

static mca_coll_pipering_shape_t shape_of(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_key_t *key = &draft->plan->key;
    const int p = draft->at.ranks, *node_of = draft->at.node_of;
    int *scratch = draft->order_scratch;

    if (is_scan(draft)) {
        return mca_coll_pipering_chain_scan_shape(node_of, p, scratch);
    }
    return key->ordered
               ? mca_coll_pipering_chain_ordered_shape(node_of, p, key->root, scratch)
               : mca_coll_pipering_chain_shape(node_of, p, scratch);
}

void mca_coll_pipering_decide_chain(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_place_alone(plan);
    plan->pipes = MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective ? 2 : 1;
    const double combine = mca_coll_pipering_draft_combines(draft) ? draft->combine : 0;
    const mca_coll_pipering_shape_t shape = shape_of(draft);
    const mca_coll_pipering_chain_problem_t problem = {.shape = shape,
                                                       .bytes = plan->total,
                                                       .passes = plan->pipes,
                                                       .combine = combine,
                                                       .cost = draft->cost};
    const size_t block = mca_coll_pipering_set_blocks(draft,
                                                      mca_coll_pipering_chain_search(&problem));
    plan->time = mca_coll_pipering_chain_time(&problem, block);
    plan->rounds = mca_coll_pipering_stages(
        (uint64_t) (problem.passes * (shape.across + shape.inside)),
        mca_coll_pipering_blocks(plan->total, block));
}

/* ---- along a line, in the order of ranks ---- */

/* The ranks in their order, or the opposite one; what is on which node is not asked. */
static void order_line(mca_coll_pipering_ring_t *line, int p, bool reversed)
{
    for (int x = 0; x < p; ++x) {
        const int rank = reversed ? p - 1 - x : x;
        line->rank[x] = rank;
        line->position[rank] = x;
    }
    line->size = p;
    line->nodes = 1;
}

/* Adds the bytes over a link between neighbours in both directions to what one node takes in. */
static void add_link(const mca_coll_pipering_draft_t *draft, int from, int to, size_t bytes,
                     size_t *most)
{
    size_t *in = &draft->sizes[draft->at.node_of[to]];

    *in += draft->at.node_of[from] != draft->at.node_of[to] ? bytes : 0;
    *most = *in > *most ? *in : *most;
}

/*
 * Bytes that the busiest node takes in; of one node, its busiest rank. Over a link go the parts of
 * all ranks behind it.
 */
static size_t busiest_bytes(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t unit = plan->key.sizes.unit;
    size_t most = 0, before = 0;

    for (int r = 0; r < draft->at.ranks; ++r) {
        draft->sizes[r] = 0;
    }
    for (int r = 1; r < draft->at.ranks; ++r) {
        before += plan->bytes[r - 1] * unit;
        add_link(draft, r - 1, r, plan->total - before, &most);
        add_link(draft, r, r - 1, before, &most);
    }
    return 0 < most ? most : plan->total + plan->largest * unit;
}

void mca_coll_pipering_decide_line(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t part = plan->largest * plan->key.sizes.unit;
    mca_coll_pipering_chain_problem_t problem
        = {.shape = mca_coll_pipering_chain_scan_shape(draft->at.node_of, draft->at.ranks,
                                                       draft->order_scratch),
           .bytes = busiest_bytes(draft),
           .passes = 1,
           .combine = draft->combine,
           .cost = draft->cost};

    problem.shape.load = 1;
    plan->ring = plan->own;
    order_line(&plan->ring, draft->at.ranks, false);
    order_line(&plan->by_node, draft->at.ranks, true);
    plan->pipes = 2;
    const size_t best = mca_coll_pipering_chain_search(&problem);
    const size_t given = mca_coll_pipering_set_blocks(draft, best < part ? best : part);
    const size_t block = given < part ? given : part;
    plan->time = mca_coll_pipering_chain_time(&problem, block);
    plan->rounds = mca_coll_pipering_stages((uint64_t) (draft->at.ranks - 1),
                                            mca_coll_pipering_blocks(plan->total, block));
}

void mca_coll_pipering_route_line_both(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_route_line(&plan->route[0], &plan->ring, draft->at.me, -1);
    mca_coll_pipering_route_line(&plan->route[1], &plan->by_node, draft->at.me, 0);
}

/* ---- around a ring ---- */

/* Chunks of the vector, one a rank, and the ring that keeps nodes together. */
static size_t scatter_vector(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t chunk = mca_coll_pipering_place_chunks(plan, draft->at.ranks);

    for (int r = 0; r < draft->at.ranks; ++r) {
        draft->blocks[r] = 1;
    }
    plan->ring.leaf_of = draft->at.leaf_of;
    mca_coll_pipering_order(&plan->ring, draft->at.node_of, draft->blocks,
                            MCA_COLL_PIPERING_ORDER_NODES, draft->order_scratch);
    return chunk;
}

/* Ranks of the node that has fewest. */
static int count_least(const mca_coll_pipering_ring_t *ring)
{
    int least = ring->size;

    for (int node = 0; node < ring->nodes; ++node) {
        const int ranks = ring->first[node + 1] - ring->first[node];
        least = ranks < least ? ranks : least;
    }
    return least;
}

bool mca_coll_pipering_can_scatter(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_can_reorder(draft)
           && draft->plan->largest >= (size_t) draft->at.ranks;
}

void mca_coll_pipering_decide_scatter(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t chunk = scatter_vector(draft);
    const int more = (int) (plan->largest % (size_t) draft->at.ranks);
    const mca_coll_pipering_ring_allreduce_problem_t ring = {.ranks = draft->at.ranks,
                                                             .nodes = plan->ring.nodes,
                                                             .least = count_least(&plan->ring),
                                                             .bytes = chunk,
                                                             .unit = plan->key.sizes.unit,
                                                             .larger = 0 < more ? more
                                                                                : draft->at.ranks,
                                                             .combine = draft->combine,
                                                             .cost = draft->cost};

    const size_t block = mca_coll_pipering_set_blocks(
        draft, mca_coll_pipering_ring_allreduce_search(&ring));
    plan->time = mca_coll_pipering_ring_allreduce_time(&ring, block);
    plan->rounds = 2 * (uint64_t) (draft->at.ranks - 1)
                   * mca_coll_pipering_blocks(ring.bytes, block);
    plan->pipes = 2;
}

void mca_coll_pipering_route_around(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_route_scatter(&plan->route[0], &plan->ring, draft->at.me);
    mca_coll_pipering_route(&plan->route[1], &plan->ring, draft->at.me);
    /* both go the same way around; there and back along a chain messages go opposite ways */
    mca_coll_pipering_route_shift_tags(&plan->route[1], plan->route[0].tags);
    plan->route[1].gate = 0;
}
