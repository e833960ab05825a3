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
 * Two trees: neighbours of a broadcast down two trees, and its modelled time (plan_two_trees).
 */

#ifndef MCA_COLL_PIPERING_PLAN_TWO_TREES_H
#define MCA_COLL_PIPERING_PLAN_TWO_TREES_H

#include <stddef.h>

#include "coll_pipering_plan_cost.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** Neighbours of a rank in one of two trees: two nodes at most, and the next rank of its own. */
#define MCA_COLL_PIPERING_TREE_DOWNS 3
typedef struct mca_coll_pipering_tree_t {
    int up; /**< rank towards the root, -1: this is the root */
    int down[MCA_COLL_PIPERING_TREE_DOWNS]; /**< ranks away from the root */
    int downs;
} mca_coll_pipering_tree_t;

/**
 * Tree `which`, 0 or 1, of a broadcast. `node_of` [p] is the lowest rank on the node of each
 * rank. O(p).
 */
void mca_coll_pipering_two_trees(mca_coll_pipering_tree_t *tree, int which, const int *node_of,
                                 int p, int root, int me);

/** Two trees as the model sees them. */
typedef struct mca_coll_pipering_two_trees_problem_t {
    int nodes;
    int inside; /**< links inside the node of most ranks */
    size_t bytes;
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_two_trees_problem_t;

/** Modelled seconds (mca_coll_pipering_time_fn_t), and the best block size in bytes. */
double mca_coll_pipering_two_trees_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_two_trees_search(const mca_coll_pipering_two_trees_problem_t *trees);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
