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
 * The ring: the order of ranks along it (plan_order), and how many rounds a pipelined ring takes
 * in an order (plan_rounds). Notation: coll_pipering_plan.h.
 */

#ifndef MCA_COLL_PIPERING_PLAN_RING_H
#define MCA_COLL_PIPERING_PLAN_RING_H

#include <stddef.h>
#include <stdint.h>

/** The ring. All arrays belong to the caller (mca_coll_pipering_ring_bind). */
typedef struct mca_coll_pipering_ring_t {
    int size;      /**< p */
    int nodes;     /**< N */
    int *rank;     /**< [size] the rank at a position */
    int *position; /**< [size] the position of a rank */
    int *node;     /**< [size] the node (0..nodes-1, along the ring) of a position */
    int *first;    /**< [size + 1] the first position of a node; first[nodes] is size */
    const int *leaf_of; /**< [size] any rank of each one's leaf switch; NULL: not known. Borrowed */
    int turn;      /**< nodes of a leaf switch after which one of the next follows; 0: all of it */
} mca_coll_pipering_ring_t;

/* ---- rounds (coll_pipering_plan_rounds.c) ---- */

/**
 * M of the number of rounds: the largest sum of (1 - b_i) over the non-empty cyclic
 * arcs that leave out at least one block. `blocks` [p] is in ring order. 0 without
 * blocks. O(p).
 */
int64_t mca_coll_pipering_excess(const uint64_t *blocks, int p);

/**
 * The same for blocks of unequal size that each rank forwards after a delay: the
 * largest sum of (1 + lag_i - weight_i) over the same arcs. `weight` [p] is the time
 * that a link takes for a rank's blocks and `lag` [p] the delay, both in units of the
 * largest block's time; NULL stands for the number of blocks and for no delay. O(p).
 */
double mca_coll_pipering_delay(const uint64_t *blocks, const double *weight, const double *lag,
                               int p);

/**
 * Number of rounds of the pipelined ring in the given order, where a rank receives and
 * sends at most one block a round: b' - 1 + M. 0 without blocks or with p < 2. O(p).
 */
uint64_t mca_coll_pipering_rounds(const uint64_t *blocks, int p);

/**
 * The least M over all orders of the given contributions, as an optimal placement of
 * the empty ones reaches it; `blocks` is in any order. O(p log p).
 */
int64_t mca_coll_pipering_least_excess(const uint64_t *blocks, int p);

/* ---- order (coll_pipering_plan_order.c) ---- */

#define MCA_COLL_PIPERING_ORDER_NODES 1u   /**< keep the ranks of a node together */
#define MCA_COLL_PIPERING_ORDER_EMPTIES 2u /**< place the empty contributions optimally */

/** Bytes of memory for the arrays of a ring of p ranks (mca_coll_pipering_ring_bind). */
size_t mca_coll_pipering_ring_size(int p);

/** Lays the arrays of `ring` into `memory` of mca_coll_pipering_ring_size(p) bytes; no switches. */
void mca_coll_pipering_ring_bind(mca_coll_pipering_ring_t *ring, int p, void *memory);

/** Bytes of scratch memory for mca_coll_pipering_order. */
size_t mca_coll_pipering_order_scratch(int p);

/**
 * Fills a bound ring. `node_of` [p] identifies the node of each rank (any integers
 * in 0..p-1, equal for ranks of one node), `blocks` [p] is by rank.
 * Without ORDER_NODES every rank counts as a node of its own. Without
 * ORDER_EMPTIES nodes are in the order of their lowest ranks, or, with leaf switches, in that of
 * these, `turn` at a time from each, and the ranks of a node in rank order. With ORDER_EMPTIES
 * M is the least possible with the ranks of a node together, found exactly for small rings and by
 * a bounded search otherwise; and the last rank of a node with data is non-empty where that costs
 * no round.
 * The result depends on the arguments only, so all ranks find the same ring.
 */
void mca_coll_pipering_order(mca_coll_pipering_ring_t *ring, const int *node_of,
                             const uint64_t *blocks, unsigned flags, void *scratch);

#endif
