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

/** The groups of a gather in rounds, along the ring. */
typedef struct mca_coll_pipering_grid_t {
    const mca_coll_pipering_ring_t *ring; /**< ranks in the order of nodes; borrowed */
    const size_t *before; /**< [p + 1] bytes of the ranks before each position of it; borrowed */
    int groups;           /**< p, each rank alone, or up to the number of nodes, which stay whole */
    int lanes;            /**< ranks of the smallest group */
    int members;          /**< ranks of the largest group */
    size_t packed;        /**< bytes above which a piece is a message alone; SIZE_MAX: none is */
    bool in_order;        /**< ranks are numbered as they stand in the ring */
    bool adjoin;          /**< slots hold whole contributions in the order of ranks, and no piece is
                               a message of its own */
    int blocks;           /**< of the largest share, between groups; 1: shares go whole */
    size_t block;         /**< bytes above which a share is cut into blocks */
    size_t segment;       /**< bytes of a run at most; SIZE_MAX by mca_coll_pipering_grid_make */
} mca_coll_pipering_grid_t;

/** Slots [first, first + count). */
typedef struct mca_coll_pipering_span_t {
    int first, count;
} mca_coll_pipering_span_t;

/** One round of one rank. */
typedef struct mca_coll_pipering_grid_round_t {
    int to, from;                        /**< ranks, the rank itself: it has nothing to do */
    mca_coll_pipering_span_t send, recv; /**< slots of this rank, of which whole shares go */
    mca_coll_pipering_span_t full;       /**< slots all of whose bytes are there after the round */
} mca_coll_pipering_grid_round_t;

/** A part of a contribution, all of it in one share. */
typedef struct mca_coll_pipering_piece_t {
    int rank;           /**< whose contribution it is part of */
    size_t from, bytes; /**< of the contribution */
    size_t offset;      /**< bytes of pieces of its kind before it, packed or large */
    bool large;         /**< it is no part of a packed message */
} mca_coll_pipering_piece_t;

/** The slots of a rank, each with the share of a lane in the data of a group. */
typedef struct mca_coll_pipering_slots_t {
    int *first;                       /**< [p + 1] the first piece of a slot */
    mca_coll_pipering_piece_t *piece; /**< [2 p] */
    size_t packed, large;             /**< bytes of all pieces of each kind */
    mca_coll_pipering_span_t own;     /**< of the share that the rank takes into rounds, if any */
    mca_coll_pipering_span_t cut;     /**< groups from the first to the last share in blocks */
    signed char *turn; /**< [2 p rounds] of each of these, what a phase receives, and sends */
} mca_coll_pipering_slots_t;

/** Bytes of pieces of one kind that adjoin. */
typedef struct mca_coll_pipering_run_t {
    size_t begin, count;
} mca_coll_pipering_run_t;

/** The parts of pieces that a rank sends, or receives, in a round; one of them at a time. */
typedef struct mca_coll_pipering_parts_t {
    const mca_coll_pipering_piece_t *piece; /**< of the part */
    size_t from, bytes;                     /**< of the piece */
    bool begins; /**< the part is the first one of a block, or does not adjoin the one before */
    int since; /**< of a part that goes: rounds after which the rank has it */
    int until; /**< of one that comes: it is passed on in this round first, or in none before */
    bool ahead;                             /**< it is the first one of the next run */
    /* ---- of the walk ---- */
    const mca_coll_pipering_grid_t *grid;
    const mca_coll_pipering_slots_t *slots;
    bool sends;
    int group, lane;               /**< of the rank */
    int round;
    int left;                      /**< rounds of blocks after this one, -1: shares go whole */
    mca_coll_pipering_span_t span; /**< slots whose whole shares are still to come */
    int cut;                       /**< the next group that may have a share of several blocks */
    int next, end;                 /**< pieces of the slot */
    size_t at, first, last;        /**< in its share: of the next piece, and of what goes */
    size_t behind;                 /**< of all contributions in the order of ranks: the last part */
} mca_coll_pipering_parts_t;

/**
 * Groups along a ring, whose ranks have so many bytes (by rank, [p]); fills in `before` [p + 1].
 * `groups`: p, or at most the number of nodes. Pieces of up to `packed` bytes share a message; all
 * of them do where they adjoin, unless `packed` is SIZE_MAX, and one message or two are a round.
 * O(p).
 */
void mca_coll_pipering_grid_make(mca_coll_pipering_grid_t *grid,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 size_t *before, int groups, size_t packed);

/** Other groups of the same ranks, whose shares go whole. O(groups). */
void mca_coll_pipering_grid_group(mca_coll_pipering_grid_t *grid, int groups);

/** The largest share. O(groups). */
size_t mca_coll_pipering_grid_largest(const mca_coll_pipering_grid_t *grid);

/** Cuts shares that go between groups into blocks of at most so many bytes. O(groups). */
void mca_coll_pipering_grid_cut(mca_coll_pipering_grid_t *grid, size_t block);

/** Blocks of a share of so many bytes. */
int mca_coll_pipering_grid_blocks(const mca_coll_pipering_grid_t *grid, size_t share);

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

/**
 * What rank `me` sends, or receives, in round k, in the same order at both ranks: first the shares
 * that go whole, then blocks. No part yet.
 */
mca_coll_pipering_parts_t mca_coll_pipering_grid_parts(const mca_coll_pipering_grid_t *grid,
                                                       const mca_coll_pipering_slots_t *slots,
                                                       int me, int k, bool sends);

/** The next part; false: there is none. */
bool mca_coll_pipering_parts_next(mca_coll_pipering_parts_t *parts);

/**
 * The next message of pieces of one kind: those of whole shares that adjoin, or of one block, up to
 * a segment; false: there is none. Instead of mca_coll_pipering_parts_next. Both ranks find the
 * same.
 */
bool mca_coll_pipering_parts_run(mca_coll_pipering_parts_t *parts, mca_coll_pipering_run_t *run);

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
    double copy; /**< seconds to copy a byte */
    double combine; /**< of the rounds of a reduction: seconds a byte; 0: data only moves */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
} mca_coll_pipering_grid_problem_t;

/**
 * Modelled seconds, the sum over rounds: a round between nodes costs the bytes of the
 * busiest node, a round inside nodes those of the busiest rank. O(p log p).
 */
double mca_coll_pipering_grid_time(const mca_coll_pipering_grid_problem_t *problem);

/**
 * Seconds that it takes at least, if shares go whole, or (`in_blocks`) between groups in any number
 * of blocks: equal to the modelled time if contributions are equal, and go whole. O(groups).
 */
double mca_coll_pipering_grid_least(const mca_coll_pipering_grid_problem_t *problem,
                                    bool in_blocks);

/* ---- of both files ---- */

/** The pieces of a group in the order of its data, one after the other. */
typedef struct mca_coll_pipering_grid_walk_t {
    int member, lane; /**< of the piece */
    size_t from;      /**< of the member's contribution */
    size_t bytes;     /**< of the piece */
    size_t at;        /**< where it begins in the data of the group */
    const size_t *before;           /**< bytes of all ranks before each member of the group */
    size_t total;                   /**< bytes of the group */
    size_t share;                   /**< of a lane; of the first so many, one more */
    int longer;
    size_t member_ends, lane_ends;  /**< where the data of both ends in the data of the group */
} mca_coll_pipering_grid_walk_t;

/** Ring positions [first, first of the next group) are a group. */
int mca_coll_pipering_grid_first(const mca_coll_pipering_grid_t *grid, int group);

/** Bytes of a group. */
size_t mca_coll_pipering_grid_bytes(const mca_coll_pipering_grid_t *grid, int group);

/** Bytes of the share of a lane in the data of a group. */
size_t mca_coll_pipering_grid_share(const mca_coll_pipering_grid_t *grid, int group, int lane);

/** A walk over the pieces of a group from the share of a lane on; no piece yet. O(log p). */
mca_coll_pipering_grid_walk_t mca_coll_pipering_grid_walk(const mca_coll_pipering_grid_t *grid,
                                                          int group, int lane);

/** The next piece, which is not empty; false: there is none. A plan asks for thousands of these. */
static inline bool mca_coll_pipering_grid_next(mca_coll_pipering_grid_walk_t *walk)
{
    walk->at += walk->bytes;
    if (walk->at == walk->total) {
        return false;
    }
    while (walk->member_ends <= walk->at) {
        ++walk->member;
        walk->member_ends = walk->before[walk->member + 1] - walk->before[0];
    }
    while (walk->lane_ends <= walk->at) {
        ++walk->lane;
        walk->lane_ends += walk->share + (walk->lane < walk->longer);
    }
    walk->from = walk->at - (walk->before[walk->member] - walk->before[0]);
    walk->bytes = (walk->member_ends < walk->lane_ends ? walk->member_ends : walk->lane_ends)
                  - walk->at;
    return true;
}

#endif
