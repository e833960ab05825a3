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
 * Plans of an all-to-all of messages of any size (MPI_Alltoallw and its family): which messages a
 * rank sends, in which order they start, and room for packed ones. Pure C, as coll_pipering_plan.h.
 *
 * A message is zero if it has no bytes, small if it has fewer bytes than a threshold, else large.
 *
 * Paper: Balaji et al., "Nonuniformly Communicating Noncontiguous Data", section 4.2.2.
 */

#ifndef MCA_COLL_PIPERING_PLAN_BINS_H
#define MCA_COLL_PIPERING_PLAN_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The order of peers within a bin. */
typedef enum {
    MCA_COLL_PIPERING_BY_DISTANCE, /**< me + 1, me + 2, ..., me: no rank is the first of all */
    MCA_COLL_PIPERING_BY_PAIR      /**< me + 1 and me - 1, me + 2 and me - 2, ...: all pairs are in
                                        one order, so that a pair waits for earlier ones only */
} mca_coll_pipering_sequence_t;

/** The messages of a rank. Arrays are borrowed. */
typedef struct mca_coll_pipering_bins_plan_t {
    mca_coll_pipering_sequence_t sequence;
    int ranks, me;
    size_t count;        /**< messages */
    const int *peer;     /**< [count], or NULL: message i has the peer i; count is ranks, or 0 */
    const size_t *bytes; /**< [count] */
    size_t small;        /**< a message of fewer bytes is small */
} mca_coll_pipering_bins_plan_t;

/**
 * Whether a pair goes up from this rank, not from its peer: on the closed ring of ranks the peer is
 * at most ranks / 2 places above. At exactly ranks / 2 it goes up from the lower rank.
 */
bool mca_coll_pipering_begins_pair(int ranks, int me, int peer);

/** The number of messages in each bin. */
typedef struct mca_coll_pipering_bins_t {
    size_t zero, small, large;
} mca_coll_pipering_bins_t;

/**
 * Writes the order in which messages start to order[0 .. small + large - 1]: small ones, then large
 * ones. Messages with the same peer stay together in their order: if one of them is large, all
 * count as large. `scratch` has `count` words.
 */
mca_coll_pipering_bins_t mca_coll_pipering_bins(const mca_coll_pipering_bins_plan_t *plan,
                                                uint64_t *scratch, size_t *order);

/**
 * A pool: room for messages in a circular buffer of the caller. Messages leave it in the order in
 * which they came. A pool is empty if all fields but `size` are 0.
 */
typedef struct mca_coll_pipering_pool_t {
    size_t size;       /**< bytes of the buffer */
    size_t head, tail; /**< the oldest message begins at head, the youngest ends at tail */
    size_t held;       /**< messages in the pool */
} mca_coll_pipering_pool_t;

/**
 * Takes room for a message, which begins at *offset; false: there is none now. An empty pool has
 * room for any message of at most `size` bytes.
 */
bool mca_coll_pipering_pool_take(mca_coll_pipering_pool_t *pool, size_t bytes, size_t *offset);

/** The oldest message leaves; `next` is the offset of the one behind it, if there is one. */
void mca_coll_pipering_pool_give(mca_coll_pipering_pool_t *pool, size_t next);

#endif
