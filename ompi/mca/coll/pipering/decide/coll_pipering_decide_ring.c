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
 * Plans of gathers and reduce-scatters along the ring: its order, the block size, and what the
 * model says of both. A reduction is cut between elements; the model counts in bytes.
 */

#include "coll_pipering_draft.h"

/* In the order of nodes; `empties`: with the empty contributions placed for blocks of this size. */
static void order_ring(mca_coll_pipering_draft_t *draft, size_t block_size, bool empties)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const unsigned flags = MCA_COLL_PIPERING_ORDER_NODES
                           | (empties ? MCA_COLL_PIPERING_ORDER_EMPTIES : 0);

    for (int r = 0; r < plan->ring.size; ++r) {
        draft->blocks[r] = mca_coll_pipering_blocks(draft->sizes[r], block_size);
    }
    plan->ring.leaf_of = draft->at.leaf_of;
    mca_coll_pipering_order(&plan->ring, draft->at.node_of, draft->blocks, flags,
                            draft->order_scratch);
}

/*
 * The order depends on the blocks and their best size on the order: so a first
 * order comes from equation (2), and the last one from the size that is chosen.
 */
static size_t choose_block_size(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->key.params;

    plan->equation2 = mca_coll_pipering_equation2(&draft->problem);
    if (0 < mca_coll_pipering_given_block(draft)) {
        return mca_coll_pipering_given_block(draft);
    }
    if (MCA_COLL_PIPERING_MODEL_EQUATION2 == params->block_model) {
        return plan->equation2;
    }
    order_ring(draft, plan->equation2, true);
    return mca_coll_pipering_bound_block(draft, mca_coll_pipering_search(&draft->problem));
}

/* The problem of the ring, which is to have an order. */
static void set_problem(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->ring = plan->own;
    for (int r = 0; r < plan->ring.size; ++r) {
        draft->sizes[r] = plan->bytes[r] * plan->key.sizes.unit;
    }
    draft->problem.ring = &plan->ring;
    draft->problem.bytes = draft->sizes;
    draft->problem.cost = draft->cost;
    draft->problem.reduces = mca_coll_pipering_scatters_result(plan->key.collective);
    draft->problem.combine = draft->problem.reduces ? draft->combine : 0;
    order_ring(draft, plan->largest * plan->key.sizes.unit, false);
}

/* A plan in rounds stays as it is. */
double mca_coll_pipering_least_ring(mca_coll_pipering_draft_t *draft, double enough)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_ring_t ring = plan->ring;

    set_problem(draft);
    const double time = mca_coll_pipering_least_time(&draft->problem, enough);
    plan->ring = ring;
    return time;
}

void mca_coll_pipering_decide_ring(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    set_problem(draft);
    plan->pipes = 1;
    const size_t block = mca_coll_pipering_set_blocks(draft, choose_block_size(draft));
    order_ring(draft, block, true);
    plan->rounds = mca_coll_pipering_model_rounds(&draft->problem, block);
    plan->time = mca_coll_pipering_time(&draft->problem, block);
}

void mca_coll_pipering_route_ring(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (mca_coll_pipering_scatters_result(plan->key.collective)) {
        mca_coll_pipering_route_scatter(&plan->route[0], &plan->ring, draft->at.me);
    } else {
        mca_coll_pipering_route(&plan->route[0], &plan->ring, draft->at.me);
    }
}
