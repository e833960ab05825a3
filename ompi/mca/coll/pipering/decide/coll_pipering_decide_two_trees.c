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
 * Plan of a broadcast down two trees (coll_pipering_plan_two_trees.c): two pipelines, each with
 * half of the blocks.
 */

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_chain.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_two_trees.h"

void mca_coll_pipering_route_two_trees(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_tree_t tree;

    for (int i = 0; i < plan->pipes; ++i) {
        mca_coll_pipering_two_trees(&tree, i, draft->node_of, draft->ranks, plan->key.root,
                                    draft->me);
        mca_coll_pipering_route_spread(&plan->route[i], &plan->ring, tree.up, tree.down,
                                       tree.downs);
        mca_coll_pipering_route_part(&plan->route[i], i, plan->pipes);
    }
    /* inside a node both trees go along the same chain */
    mca_coll_pipering_route_shift_tags(&plan->route[1], plan->route[0].tags);
}

void mca_coll_pipering_plan_two_trees(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_shape_t chain
        = mca_coll_pipering_chain_shape(draft->node_of, draft->ranks, draft->order_scratch);
    const mca_coll_pipering_two_trees_problem_t trees = {.nodes = draft->nodes,
                                                         .inside = chain.inside,
                                                         .bytes = plan->total,
                                                         .cost = draft->cost};

    mca_coll_pipering_place_alone(plan);
    plan->pipes = 2;
    mca_coll_pipering_set_blocks(draft, mca_coll_pipering_two_trees_search(&trees));
    const size_t block = plan->cut.block_size * plan->key.sizes.unit;
    plan->time = mca_coll_pipering_two_trees_time(&trees, block);
    plan->rounds = mca_coll_pipering_blocks(plan->total, block);
}
