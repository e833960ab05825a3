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
 *                                                  its parts 0 and 1 of 2
 *                                                  = b0 a0, b1 b2 a1
 *
 * Contributions are cut in bytes of the packed signature, never in elements, since ranks
 * may describe the same bytes with different types. Paper 2.2 and 2.3.
 */

#include "coll_pipering_plan_blocks.h"

void mca_coll_pipering_cut_block(size_t bytes, size_t block_size, size_t k,
                                 size_t *offset, size_t *length)
{
    const size_t blocks = mca_coll_pipering_blocks(bytes, block_size);

    *offset = mca_coll_pipering_cut(bytes, blocks, k);
    *length = bytes / blocks + (k < bytes % blocks);
}

static void step_back(mca_coll_pipering_walk_t *walk)
{
    --walk->rest.origins;
    walk->rest.position = (walk->rest.position + walk->ring->size - 1) % walk->ring->size;
}

/*
 * Blocks [*from, *to) of the `blocks` blocks that rank `rank` contributes are the stream's. What
 * is left over by rounding goes to other parts from rank to rank: else contributions of fewer
 * blocks than parts would all go with the same ones.
 */
static void share_blocks(mca_coll_pipering_stream_t stream, int rank, uint64_t blocks,
                         uint64_t *from, uint64_t *to)
{
    if (1 >= stream.parts) {
        *from = 0;
        *to = blocks;
        return;
    }
    const uint64_t parts = (uint64_t) stream.parts, part = (uint64_t) stream.part;
    const uint64_t over = (uint64_t) rank % parts;

    *from = (blocks * part + over) / parts;
    *to = (blocks * (part + 1) + over) / parts;
}

/* The first origin of the rest that has blocks for the stream becomes the current one. */
static void skip_empties(mca_coll_pipering_walk_t *walk)
{
    walk->next = 0;
    walk->end = 0;
    while (walk->rest.origins > 0) {
        const int rank = walk->ring->rank[walk->rest.position];
        share_blocks(walk->rest, rank,
                     mca_coll_pipering_blocks(walk->bytes[rank], walk->block_size),
                     &walk->next, &walk->end);
        if (walk->next < walk->end) {
            return;
        }
        step_back(walk);
    }
}

void mca_coll_pipering_walk_init(mca_coll_pipering_walk_t *walk,
                                 const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                                 size_t block_size, mca_coll_pipering_stream_t stream)
{
    walk->ring = ring;
    walk->bytes = bytes;
    walk->block_size = block_size;
    walk->rest = stream;
    skip_empties(walk);
}

bool mca_coll_pipering_walk_next(mca_coll_pipering_walk_t *walk, mca_coll_pipering_block_t *block)
{
    if (walk->rest.origins <= 0) {
        return false;
    }

    block->rank = walk->ring->rank[walk->rest.position];
    mca_coll_pipering_cut_block(walk->bytes[block->rank], walk->block_size, (size_t) walk->next,
                                &block->offset, &block->length);
    if (++walk->next == walk->end) {
        step_back(walk);
        skip_empties(walk);
    }
    return true;
}

mca_coll_pipering_volume_t mca_coll_pipering_stream_volume(const mca_coll_pipering_ring_t *ring,
                                                           const size_t *bytes,
                                                           size_t block_size,
                                                           mca_coll_pipering_stream_t stream)
{
    mca_coll_pipering_volume_t volume = {0, 0};

    for (int i = 0; i < stream.origins; ++i) {
        const int position = (stream.position - i + ring->size) % ring->size;
        const int rank = ring->rank[position];
        const size_t m = bytes[rank];
        const uint64_t blocks = mca_coll_pipering_blocks(m, block_size);
        uint64_t from, to;

        share_blocks(stream, rank, blocks, &from, &to);
        volume.blocks += to - from;
        volume.bytes += to - from == blocks ? m
                                            : mca_coll_pipering_cut(m, blocks, to)
                                                  - mca_coll_pipering_cut(m, blocks, from);
    }
    return volume;
}
