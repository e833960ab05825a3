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
 * Gathers in few rounds: partners, volumes and modelled time (plan_grid).
 */

#ifndef MCA_COLL_PIPERING_PLAN_GRID_H
#define MCA_COLL_PIPERING_PLAN_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "coll_pipering_plan_blocks.h"
#include "coll_pipering_plan_cost.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** The partners of a gather in rounds. */
typedef struct mca_coll_pipering_grid_t {
    const mca_coll_pipering_ring_t *ring; /**< ranks in the order of nodes */
    int lanes;          /**< 1, or the ranks of a node; the i-th ranks of all nodes are a lane */
    bool dissemination; /**< also where recursive doubling is possible */
} mca_coll_pipering_grid_t;

/** Slots [first, first + count). */
typedef struct mca_coll_pipering_span_t {
    int first, count;
} mca_coll_pipering_span_t;

/** One round of one rank. */
typedef struct mca_coll_pipering_grid_round_t {
    int to, from;                        /**< ranks */
    mca_coll_pipering_span_t send, recv; /**< slots of this rank */
} mca_coll_pipering_grid_round_t;

/** The slots of a rank, each with the contribution of another one. */
typedef struct mca_coll_pipering_slots_t {
    int *rank;            /**< [p] whose contribution it is */
    size_t *offset;       /**< [p] bytes before it, of contributions of its kind, packed or large */
    size_t packed, large; /**< bytes of all contributions of each kind */
    int own;              /**< the slot of the rank's own contribution */
} mca_coll_pipering_slots_t;

/** Whether all nodes have the same number of ranks, as lanes need it. */
bool mca_coll_pipering_grid_fits(const mca_coll_pipering_ring_t *ring);

/** Number of rounds of the exchange. */
int mca_coll_pipering_grid_rounds(const mca_coll_pipering_grid_t *grid);

/**
 * Round k of rank `me`. It holds the contributions that it sends before the round, and the
 * receiver expects the contributions of the same ranks in the same order.
 */
mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const mca_coll_pipering_grid_t *grid,
                                                            int me, int k);

/** The rank whose contribution is in slot `slot` of rank `me`. */
int mca_coll_pipering_grid_rank(const mca_coll_pipering_grid_t *grid, int me, int slot);

/**
 * Fills in the slots of rank `me`, whose tables are the caller's: contributions of up to `packed`
 * bytes are packed, others are large. O(p).
 */
void mca_coll_pipering_grid_slots(const mca_coll_pipering_grid_t *grid, int me, const size_t *bytes,
                                  size_t packed, mca_coll_pipering_slots_t *slots);

/**
 * Number of messages (as blocks) and of bytes of a span: one message for all non-empty
 * contributions of up to `packed` bytes together, and one for each larger one. O(span).
 */
mca_coll_pipering_volume_t mca_coll_pipering_grid_volume(const mca_coll_pipering_grid_t *grid,
                                                         int me, const size_t *bytes,
                                                         size_t packed,
                                                         mca_coll_pipering_span_t span);

/** A gather in rounds, for the model. All pointers are borrowed. */
typedef struct mca_coll_pipering_grid_problem_t {
    const mca_coll_pipering_grid_t *grid;
    const size_t *bytes; /**< [p] by rank */
    size_t packed;       /**< bytes above which a contribution is a message of its own */
    double copy;         /**< seconds to pack or unpack a byte */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_grid_problem_t;

/**
 * Modelled seconds, the sum over rounds: a round between nodes costs the bytes of the
 * busiest node, a round inside nodes those of the busiest rank. O(p log p).
 */
double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
