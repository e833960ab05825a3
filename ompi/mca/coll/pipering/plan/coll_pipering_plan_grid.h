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
 * Gathers and reductions in few rounds: groups, shares, partners, volumes and modelled time
 * (plan_grid).
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

/** The groups of a gather in rounds, along the ring. */
typedef struct mca_coll_pipering_grid_t {
    const mca_coll_pipering_ring_t *ring; /**< ranks in the order of nodes; borrowed */
    const size_t *before; /**< [p] bytes of the ranks before each position of it; borrowed */
    size_t total;         /**< bytes of all ranks */
    int groups;           /**< p, each rank alone, or up to the number of nodes, which stay whole */
    int lanes;            /**< ranks of the smallest group */
    int members;          /**< ranks of the largest group */
    size_t packed;        /**< bytes above which a piece is a message of its own */
} mca_coll_pipering_grid_t;

/** Slots [first, first + count). */
typedef struct mca_coll_pipering_span_t {
    int first, count;
} mca_coll_pipering_span_t;

/** One round of one rank. */
typedef struct mca_coll_pipering_grid_round_t {
    int to, from;                        /**< ranks, the rank itself: it has nothing to do */
    mca_coll_pipering_span_t send, recv; /**< slots of this rank */
} mca_coll_pipering_grid_round_t;

/** A part of a contribution, all of it in one share. */
typedef struct mca_coll_pipering_piece_t {
    int rank;           /**< whose contribution it is part of */
    size_t from, bytes; /**< of the contribution */
    size_t offset;      /**< bytes of pieces of its kind before it, packed or large */
} mca_coll_pipering_piece_t;

/** The slots of a rank, each with the share of a lane in the data of a group. */
typedef struct mca_coll_pipering_slots_t {
    int *first;                       /**< [p + 1] the first piece of a slot */
    mca_coll_pipering_piece_t *piece; /**< [2 p] */
    size_t packed, large;             /**< bytes of all pieces of each kind */
    mca_coll_pipering_span_t own;     /**< of the share that the rank takes into the rounds, if any */
} mca_coll_pipering_slots_t;

/**
 * Groups along a ring, whose ranks have so many bytes (by rank, [p]); fills in `before` [p].
 * `groups`: p, or at most the number of nodes. Pieces of up to `packed` bytes share a message. O(p).
 */
void mca_coll_pipering_grid_make(mca_coll_pipering_grid_t *grid,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 size_t *before, int groups, size_t packed);

/** Number of rounds of the exchange, without the step that evens out shares. */
int mca_coll_pipering_grid_rounds(const mca_coll_pipering_grid_t *grid);

/**
 * Round k of rank `me`. It holds the shares that it sends before the round, and the
 * receiver expects the same shares in the same order.
 */
mca_coll_pipering_grid_round_t mca_coll_pipering_grid_round(const mca_coll_pipering_grid_t *grid,
                                                            int me, int k);

/**
 * Fills in the slots of rank `me`, whose tables are the caller's. The pieces of its own slot come
 * from the ranks whose they are, before the rounds. O(p log p).
 */
void mca_coll_pipering_grid_slots(const mca_coll_pipering_grid_t *grid, int me,
                                  mca_coll_pipering_slots_t *slots);

/** The rank of a lane in the group of rank `me`. */
int mca_coll_pipering_grid_member(const mca_coll_pipering_grid_t *grid, int me, int lane);

/**
 * The piece of its own contribution that rank `me` gives to a lane of its group before the rounds;
 * NULL: none, or the lane is its own. O(pieces of the lane's share).
 */
const mca_coll_pipering_piece_t *
mca_coll_pipering_grid_given(const mca_coll_pipering_grid_t *grid,
                             const mca_coll_pipering_slots_t *slots, int me, int lane);

/** A gather in rounds, for the model. All pointers are borrowed. */
typedef struct mca_coll_pipering_grid_problem_t {
    const mca_coll_pipering_grid_t *grid;
    double copy; /**< seconds to pack or unpack a byte */
    double combine; /**< of the rounds of a reduction: seconds a byte; 0: data only moves */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_grid_problem_t;

/**
 * Modelled seconds, the sum over rounds: a round between nodes costs the bytes of the
 * busiest node, a round inside nodes those of the busiest rank. O(p log p).
 */
double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem);

/* ---- of both files ---- */

/** The pieces of a group in the order of its data, one after the other. */
typedef struct mca_coll_pipering_grid_walk_t {
    int member, lane; /**< of the piece */
    size_t from;      /**< of the member's contribution */
    size_t bytes;     /**< of the piece */
    size_t at;        /**< where it begins in the data of the group */
    int first;                      /**< ring position of the group ... */
    size_t base, total;             /**< ... bytes before it, and in it */
    size_t member_ends, lane_ends;  /**< where the data of both ends in the data of the group */
} mca_coll_pipering_grid_walk_t;

/** Ring positions [first, first of the next group) are a group. */
int mca_coll_pipering_grid_first(const mca_coll_pipering_grid_t *grid, int group);

/** Bytes of a group. */
size_t mca_coll_pipering_grid_bytes(const mca_coll_pipering_grid_t *grid, int group);

/** A walk over the pieces of a group from the share of a lane on; no piece yet. O(log p). */
mca_coll_pipering_grid_walk_t mca_coll_pipering_grid_walk(const mca_coll_pipering_grid_t *grid,
                                                          int group, int lane);

/** The next piece, which is not empty; false: there is none. */
bool mca_coll_pipering_grid_next(const mca_coll_pipering_grid_t *grid,
                                 mca_coll_pipering_grid_walk_t *walk);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
