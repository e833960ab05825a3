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
 * Pulls: which contributions of a gather inside a node are split among its ranks, and how. Pure C.
 */

#ifndef MCA_COLL_PIPERING_PLAN_PULLS_H
#define MCA_COLL_PIPERING_PLAN_PULLS_H

#include <stdbool.h>
#include <stddef.h>

/** Contributions that are split at most. */
#define MCA_COLL_PIPERING_SPLITS 4

/** Bytes from which on a contribution is read by itself, not along with those beside it. */
#define MCA_COLL_PIPERING_LEADERS_APART ((size_t) 4096)

/** Bytes that are read and worked on while they are in a cache of the second level. */
#define MCA_COLL_PIPERING_PULLS_BLOCK ((size_t) 128 * 1024)

/** Bytes of the largest contribution that is in a notice, where others find it without a read. */
#define MCA_COLL_PIPERING_PULLS_SMALL ((size_t) 80)

/** Contributions that are split. */
typedef struct mca_coll_pipering_splits_t {
    int count;
    bool pushed; /**< the owner writes a part to all itself, since it has nothing else to do */
    int rank[MCA_COLL_PIPERING_SPLITS]; /**< [count] whose they are, the largest first */
} mca_coll_pipering_splits_t;

/**
 * Finds the contributions that are split: the largest ones above the mean, if they are large
 * enough. `bytes` [ranks]. O(ranks).
 */
mca_coll_pipering_splits_t mca_coll_pipering_splits_find(const size_t *bytes, int ranks);

/** The number of the split that is the contribution of a rank, -1: it is not split. */
static inline int mca_coll_pipering_split_of(const mca_coll_pipering_splits_t *splits, int rank)
{
    int i = splits->count - 1;

    while (0 <= i && rank != splits->rank[i]) {
        --i;
    }
    return i;
}

/** Where the part of a rank begins in a split contribution of so many bytes; `ranks`: its end. */
size_t mca_coll_pipering_part_begin(size_t bytes, int ranks, int rank);

#endif
