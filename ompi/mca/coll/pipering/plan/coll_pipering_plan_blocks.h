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
 * Blocks: how contributions are cut, and the streams of blocks that pass the links of a ring
 * (plan_blocks).
 */

#ifndef MCA_COLL_PIPERING_PLAN_BLOCKS_H
#define MCA_COLL_PIPERING_PLAN_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_pipering_plan_ring.h"

/** One block: bytes [offset, offset + length) of the contribution of rank. */
typedef struct mca_coll_pipering_block_t {
    int rank;
    size_t offset;
    size_t length;
} mca_coll_pipering_block_t;

/**
 * A stream of blocks: the contributions of `origins` ranks, from ring position
 * `position` backwards, each from its first block to its last; empty contributions
 * are skipped. Blocks pass every link of the ring in this order: first the sender's
 * own blocks, then those of its predecessor, then those of the rank before that.
 */
typedef struct mca_coll_pipering_stream_t {
    int position;
    int origins;
    int part, parts;
} mca_coll_pipering_stream_t;

/** An iterator over the blocks of a stream. */
typedef struct mca_coll_pipering_walk_t {
    const mca_coll_pipering_ring_t *ring;
    const size_t *bytes; /**< [p] contributions by rank */
    size_t block_size;   /**< B, at least 1 */
    mca_coll_pipering_stream_t rest; /**< from the current origin on */
    uint64_t next;                   /**< next block of the current origin */
    uint64_t end;                    /**< behind the last one of it that the stream carries */
} mca_coll_pipering_walk_t;

/** Blocks and bytes that pass a link. */
typedef struct mca_coll_pipering_volume_t {
    uint64_t blocks;
    uint64_t bytes;
} mca_coll_pipering_volume_t;

/** b_i = ceil(bytes / B); 0 for an empty contribution. */
static inline uint64_t mca_coll_pipering_blocks(size_t bytes, size_t block_size)
{
    return bytes / block_size + (0 != bytes % block_size);
}

/** Where part i begins of so many equal ones; i may be their number. */
static inline size_t mca_coll_pipering_cut(size_t bytes, size_t parts, size_t i)
{
    const size_t rest = bytes % parts;

    return bytes / parts * i + (i < rest ? i : rest);
}

/**
 * Offset and length, in bytes, of block k of a contribution of `bytes` bytes; k < b_i. The sizes
 * of its blocks differ by at most one byte (paper 2.3).
 */
void mca_coll_pipering_cut_block(size_t bytes, size_t block_size, size_t k,
                                 size_t *offset, size_t *length);

/** Starts a walk over a stream; `bytes` [p] by rank is borrowed. */
void mca_coll_pipering_walk_init(mca_coll_pipering_walk_t *walk,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 size_t block_size, mca_coll_pipering_stream_t stream);

/** The next block of the stream; at its end false, and `block` is left as it is. */
bool mca_coll_pipering_walk_next(mca_coll_pipering_walk_t *walk, mca_coll_pipering_block_t *block);

/** Blocks and bytes of a whole stream. O(origins). */
mca_coll_pipering_volume_t mca_coll_pipering_stream_volume(const mca_coll_pipering_ring_t *ring,
                                                           const size_t *bytes,
                                                           size_t block_size,
                                                           mca_coll_pipering_stream_t stream);

#endif
