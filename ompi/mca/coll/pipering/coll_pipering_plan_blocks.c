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
 * Blocks: how a contribution is cut into blocks, and the order of blocks on a link.
 *
 *     position   0      1      2      3            stream {2, 3}: three origins
 *     blocks   [aa]   [bbb]   [ ]    [d]           from position 2 backwards
 *                                                  = b0 b1 b2 a0 a1
 *
 * Contributions are cut in bytes of the packed signature, never in elements, since ranks
 * may describe the same bytes with different types. Paper 2.2 and 2.3.
 */

#include "coll_pipering_plan.h"

void mca_coll_pipering_cut_block(size_t bytes, mca_coll_pipering_cut_t cut, size_t k,
                                 size_t *offset, size_t *length)
{
    if (MCA_COLL_PIPERING_SPLIT_FULL == cut.split) {
        *offset = k * cut.block_size;
        *length = bytes - *offset < cut.block_size ? bytes - *offset : cut.block_size;
        return;
    }

    /* the first `longer` blocks are one byte longer than the others */
    const size_t blocks = mca_coll_pipering_blocks(bytes, cut.block_size);
    const size_t shorter_size = bytes / blocks, longer = bytes % blocks;

    *offset = k * shorter_size + (k < longer ? k : longer);
    *length = shorter_size + (k < longer);
}

static void step_back(mca_coll_pipering_walk_t *walk)
{
    --walk->rest.origins;
    walk->rest.position = (walk->rest.position + walk->ring->size - 1) % walk->ring->size;
}

/* Makes the next origin with blocks the current one. */
static void skip_empties(mca_coll_pipering_walk_t *walk)
{
    walk->next = 0;
    walk->blocks = 0;
    while (walk->rest.origins > 0) {
        const int rank = walk->ring->rank[walk->rest.position];
        walk->blocks = mca_coll_pipering_blocks(walk->bytes[rank], walk->cut.block_size);
        if (0 != walk->blocks) {
            return;
        }
        step_back(walk);
    }
}

void mca_coll_pipering_walk_init(mca_coll_pipering_walk_t *walk,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 mca_coll_pipering_cut_t cut, mca_coll_pipering_stream_t stream)
{
    walk->ring = ring;
    walk->bytes = bytes;
    walk->cut = cut;
    walk->rest = stream;
    skip_empties(walk);
}

bool mca_coll_pipering_walk_next(mca_coll_pipering_walk_t *walk, mca_coll_pipering_block_t *block)
{
    if (walk->rest.origins <= 0) {
        return false;
    }

    block->rank = walk->ring->rank[walk->rest.position];
    mca_coll_pipering_cut_block(walk->bytes[block->rank], walk->cut, walk->next, &block->offset,
                                &block->length);
    if (++walk->next == walk->blocks) {
        step_back(walk);
        skip_empties(walk);
    }
    return true;
}

mca_coll_pipering_volume_t mca_coll_pipering_stream_volume(const mca_coll_pipering_ring_t *ring,
                                                           const size_t *bytes,
                                                           mca_coll_pipering_cut_t cut,
                                                           mca_coll_pipering_stream_t stream)
{
    mca_coll_pipering_volume_t volume = {0, 0};

    for (int i = 0; i < stream.origins; ++i) {
        const int position = (stream.position - i + ring->size) % ring->size;
        const size_t m = bytes[ring->rank[position]];
        volume.blocks += mca_coll_pipering_blocks(m, cut.block_size);
        volume.bytes += m;
    }
    return volume;
}
