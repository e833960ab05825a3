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
 * Plans of an exchange of unlike messages with many peers (MPI_Alltoallw and its
 * kin): which messages there are and in which order a rank starts them. Pure C, as
 * coll_pipering_plan.h.
 *
 * Words: a message is zero if it has no bytes, small below a threshold, large else.
 *
 * Paper: Balaji et al., "Nonuniformly Communicating Noncontiguous Data", section 4.2.2.
 */

#ifndef MCA_COLL_PIPERING_PLAN_BINS_H
#define MCA_COLL_PIPERING_PLAN_BINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** In which order peers come, within a bin. */
typedef enum {
    MCA_COLL_PIPERING_BY_DISTANCE, /**< me + 1, me + 2, ..., me: nobody is everyone's first */
    MCA_COLL_PIPERING_BY_RANK,     /**< 0, 1, ..., so that all begin with the same one */
    MCA_COLL_PIPERING_BY_PAIR      /**< me + 1 and me - 1, me + 2 and me - 2, ...: all pairs in one
                                        order, so that whoever waits waits for an earlier pair */
} mca_coll_pipering_sequence_t;

/** Messages of a rank. */
typedef struct mca_coll_pipering_bins_plan_t {
    mca_coll_pipering_sequence_t sequence;
    int ranks, me;
    size_t count;        /**< messages */
    const int *peer;     /**< [count] whom with, or NULL: message i with rank i, or none at all */
    const size_t *bytes; /**< [count] */
    size_t small;        /**< a message of fewer bytes is small, in order before all others */
} mca_coll_pipering_bins_plan_t;

/** Whether it is this rank of the two from which the pair goes up, the shorter way round. */
bool mca_coll_pipering_begins_pair(int ranks, int me, int peer);

/** How many there are of each. */
typedef struct mca_coll_pipering_bins_t {
    size_t zero, small, large;
} mca_coll_pipering_bins_t;

/** Words of scratch for so many messages. */
static inline size_t mca_coll_pipering_bins_scratch(size_t count)
{
    return count;
}

/**
 * The order in which messages start: small ones, then large ones, in order[0 .. small +
 * large - 1]. Messages with one peer keep their order, so they all go where the
 * largest of them goes, and count there. `scratch` is for
 * mca_coll_pipering_bins_scratch(count) words.
 */
mca_coll_pipering_bins_t mca_coll_pipering_bins(const mca_coll_pipering_bins_plan_t *plan,
                                                uint64_t *scratch, size_t *order);

/**
 * Room for messages that lie in a buffer for a while and leave it in the order in
 * which they came.
 */
typedef struct mca_coll_pipering_pool_t {
    size_t size;
    size_t head, tail; /**< the oldest message begins at head, the youngest ends at tail */
    size_t held;       /**< messages in it */
} mca_coll_pipering_pool_t;

/** Finds room; false if there is none. An empty pool has room for all that is not larger. */
bool mca_coll_pipering_pool_take(mca_coll_pipering_pool_t *pool, size_t bytes, size_t *offset);

/** The oldest message leaves; `next` is where the one behind it begins, if there is one. */
void mca_coll_pipering_pool_give(mca_coll_pipering_pool_t *pool, size_t next);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
