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
 * Contributions that are split among the ranks of a node.
 *
 *     contribution of rank 0 |  part 0  |  part 1  |  part 2  |
 *     pulled from rank 0                    rank 1     rank 2      first
 *     pulled from each other  by all others                        then
 *
 * Whoever reads memory of another process takes locks of its page tables, page by page, so readers
 * of one process wait for each other. Where each rank first pulls a part of its own, and then the
 * parts of the others from these, each process is read by all others at different places.
 *
 * Where all contributions are alike, each process is read by one other at a time anyhow. So
 * those above the mean are split, the largest first.
 */

#include "coll_pipering_plan_pulls.h"

/* A part should take longer to be copied than its notice to be seen. */
#define SPLIT_LEAST ((size_t) 64 * 1024)

/* Parts begin at lines of a cache, counted from the first byte. */
#define LINE ((size_t) 64)

mca_coll_pipering_splits_t mca_coll_pipering_splits_find(const size_t *bytes, int ranks)
{
    mca_coll_pipering_splits_t splits = {.count = 0};
    size_t total = 0;

    for (int r = 0; r < ranks; ++r) {
        total += bytes[r];
    }
    for (int r = 0; r < ranks; ++r) {
        int at = splits.count;
        if (SPLIT_LEAST > bytes[r] || bytes[r] <= total / (size_t) ranks) {
            continue;
        }
        while (0 < at && bytes[splits.rank[at - 1]] < bytes[r]) {
            --at;
        }
        if (MCA_COLL_PIPERING_SPLITS == at) {
            continue;
        }
        splits.count += MCA_COLL_PIPERING_SPLITS > splits.count;
        for (int i = splits.count - 1; i > at; --i) {
            splits.rank[i] = splits.rank[i - 1];
        }
        splits.rank[at] = r;
    }
    return splits;
}

size_t mca_coll_pipering_part_begin(size_t bytes, int ranks, int rank)
{
    const size_t lines = (bytes + LINE - 1) / LINE, p = (size_t) ranks, r = (size_t) rank;
    const size_t begin = (lines / p * r + lines % p * r / p) * LINE;

    return begin < bytes ? begin : bytes;
}
