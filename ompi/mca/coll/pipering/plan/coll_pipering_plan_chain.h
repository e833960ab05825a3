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
 * Chains: neighbours, routes and modelled time of broadcasts, reductions and scans, and the
 * modelled time of an allreduce along the ring (plan_chain).
 */

#ifndef MCA_COLL_PIPERING_PLAN_CHAIN_H
#define MCA_COLL_PIPERING_PLAN_CHAIN_H

#include <stddef.h>

#include "coll_pipering_plan_cost.h"
#include "coll_pipering_plan_route.h"

/** Neighbours of a rank in a chain of nodes, of which each has a chain of its ranks. */
typedef struct mca_coll_pipering_chain_t {
    int up;    /**< rank towards the root, -1: this is the root */
    int lower; /**< rank away from the root, on the same node, -1: none; in a chain whose order
                    counts, the one that brings values of lower ranks */
    int upper; /**< likewise, on the next node; or that brings values of higher ranks */
} mca_coll_pipering_chain_t;

/** The length of a chain and the load of its busiest node. */
typedef struct mca_coll_pipering_shape_t {
    int across; /**< links between nodes on the longest way from the root */
    int inside; /**< links inside nodes on this way */
    int load;   /**< times that all bytes enter the busiest node, or rank if there is one node */
    int children; /**< most ranks whose values one rank combines with its own; 0 counts as 1 */
} mca_coll_pipering_shape_t;

/**
 * The chain of rank `me` for data that may pass the ranks in any order. `node_of` [p] is
 * the lowest rank on the node of each rank. O(p).
 */
void mca_coll_pipering_chain(mca_coll_pipering_chain_t *chain, const int *node_of, int p, int root,
                             int me);
/** The shape of this chain; `scratch` [p]. */
mca_coll_pipering_shape_t mca_coll_pipering_chain_shape(const int *node_of, int p, int *scratch);

/**
 * The chains for a reduction whose operation does not commute: contributions of the ranks
 * above the root go down to it over its upper link; those of the ranks below it go down to
 * rank 0, and their result from rank 0 to the root over its lower link.
 */
void mca_coll_pipering_chain_ordered(mca_coll_pipering_chain_t *chain, int p, int root, int me);
mca_coll_pipering_shape_t mca_coll_pipering_chain_ordered_shape(const int *node_of, int p, int root,
                                                                int *scratch);

/** The chain of a scan: from rank 0 up to the last rank, the root. */
void mca_coll_pipering_chain_scan(mca_coll_pipering_chain_t *chain, int p, int me);
mca_coll_pipering_shape_t mca_coll_pipering_chain_scan_shape(const int *node_of, int p,
                                                             int *scratch);

/** Routes along a chain, for a ring of the root alone: away from it, and towards it. */
void mca_coll_pipering_chain_spread(mca_coll_pipering_route_t *route,
                                    const mca_coll_pipering_ring_t *root,
                                    const mca_coll_pipering_chain_t *chain);
void mca_coll_pipering_chain_collect(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *root,
                                     const mca_coll_pipering_chain_t *chain);

/** A chain, for the model. All pointers are borrowed. */
typedef struct mca_coll_pipering_chain_problem_t {
    mca_coll_pipering_shape_t shape;
    size_t bytes;
    int passes;     /**< 1, or 2: to the root and back at the same time */
    double combine; /**< seconds a byte that is combined, 0: none is */
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_chain_problem_t;

/** Modelled seconds (mca_coll_pipering_time_fn_t), and the best block size in bytes. */
double mca_coll_pipering_chain_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_chain_search(const mca_coll_pipering_chain_problem_t *problem);

/** An allreduce as a reduce-scatter and an allgather along the ring. */
typedef struct mca_coll_pipering_ring_allreduce_problem_t {
    int ranks;
    int nodes;
    int least;      /**< ranks of the node that has fewest */
    size_t bytes;   /**< of the largest chunk */
    size_t unit;    /**< bytes that a smaller chunk has less */
    int larger;     /**< chunks that are as large as the largest */
    double combine; /**< seconds a byte that is combined, 0: none is */
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_ring_allreduce_problem_t;

double mca_coll_pipering_ring_allreduce_time(const void *problem, size_t block_size);
size_t
mca_coll_pipering_ring_allreduce_search(const mca_coll_pipering_ring_allreduce_problem_t *problem);

#endif
