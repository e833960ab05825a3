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
 * Blocks: cuts tile a contribution, streams walk it in the order of the links.
 */

#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "tap.h"

/* All blocks of a contribution, in order: no gap, no overlap, none empty or above B, no more than
 * have to be. */
static bool tiles(size_t bytes, size_t block_size)
{
    const uint64_t blocks = mca_coll_pipering_blocks(bytes, block_size);
    size_t end = 0, least = SIZE_MAX, most = 0, offset, length = 0;

    for (uint64_t k = 0; k < blocks; k++) {
        mca_coll_pipering_cut_block(bytes, block_size, k, &offset, &length);
        if (offset != end || 0 == length || length > block_size) {
            return false;
        }
        end += length;
        least = length < least ? length : least;
        most = length > most ? length : most;
    }
    return end == bytes
           && (0 == blocks || (most - least <= 1 && (blocks - 1) * block_size < bytes));
}

static void test_small(void)
{
    tap_tally_t tally = {0, 0};

    for (size_t bytes = 0; bytes <= 200; bytes++) {
        for (size_t size = 1; size <= bytes + 2; size++) {
            tap_try(&tally, tiles(bytes, size), "%zu bytes, B = %zu", bytes, size);
        }
    }
    tally_ok(&tally, 20000, "blocks tile every small contribution");
}

/* Block k and its neighbour fit together, and lie where 128 bit arithmetic puts them. */
static bool fits_at(size_t bytes, size_t block_size, uint64_t k)
{
    const uint64_t blocks = mca_coll_pipering_blocks(bytes, block_size);
    const size_t part = bytes / blocks;
    size_t offset, length, next_offset, next_length;
    unsigned __int128 low = (unsigned __int128) part * k;

    mca_coll_pipering_cut_block(bytes, block_size, k, &offset, &length);
    if (0 == length || length > block_size || offset < low || offset > low + k
        || length > bytes - offset || (0 == k && 0 != offset)) {
        return false;
    }
    if (length != part && length != part + 1) {
        return false;
    }
    if (k + 1 == blocks) {
        return offset + length == bytes;
    }
    mca_coll_pipering_cut_block(bytes, block_size, k + 1, &next_offset, &next_length);
    return next_offset == offset + length;
}

static void test_huge(void)
{
    static const size_t huge[] = {((size_t) 1 << 31) - 1, (size_t) 1 << 31, ((size_t) 1 << 32) + 5,
                                  (size_t) 1 << 40,       SIZE_MAX / 2,     SIZE_MAX};
    static const size_t sizes[] = {1, 2, 7, 4099, ((size_t) 1 << 31) - 1, (size_t) 1 << 31,
                                   ((size_t) 1 << 40) - 1, SIZE_MAX};
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 6 * 8; i++) {
        const size_t bytes = huge[i / 8] - (0 == i / 8 ? 0 : tap_below(3));
        const size_t block_size = sizes[i % 8];
        const uint64_t blocks = mca_coll_pipering_blocks(bytes, block_size);

        for (int j = 0; j < 60; j++) {
            uint64_t k = j < 2 ? j * (blocks - 1) : tap_below(blocks);
            tap_try(&tally, fits_at(bytes, block_size, k), "%zu bytes, B = %zu, block %" PRIu64,
                    bytes, block_size, k);
        }
    }
    tally_ok(&tally, 2000, "blocks of huge contributions do not overflow");
}

/* ---- streams ---- */

#define MOST_RANKS 10

/* A walk gives each origin's blocks, ranks backwards, first block to last. */
static bool walks(const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                  size_t block_size, mca_coll_pipering_stream_t stream)
{
    const mca_coll_pipering_volume_t volume = mca_coll_pipering_stream_volume(ring, bytes,
                                                                              block_size, stream);
    mca_coll_pipering_block_t block = {-1, 0, 0}, end;
    mca_coll_pipering_walk_t walk;
    mca_coll_pipering_volume_t seen = {0, 0};

    mca_coll_pipering_walk_init(&walk, ring, bytes, block_size, stream);
    for (int i = 0; i < stream.origins; i++) {
        const int rank = ring->rank[(stream.position + ring->size - i) % ring->size];
        const uint64_t blocks = mca_coll_pipering_blocks(bytes[rank], block_size);

        for (uint64_t k = 0; k < blocks; k++) {
            size_t offset, length;
            mca_coll_pipering_cut_block(bytes[rank], block_size, k, &offset, &length);
            if (!mca_coll_pipering_walk_next(&walk, &block) || block.rank != rank
                || block.offset != offset || block.length != length) {
                return false;
            }
            seen.blocks++;
            seen.bytes += length;
        }
    }
    end = block;
    for (int again = 0; again < 2; again++) {
        if (mca_coll_pipering_walk_next(&walk, &block) || end.rank != block.rank
            || end.offset != block.offset || end.length != block.length) {
            return false;
        }
    }
    return seen.blocks == volume.blocks && seen.bytes == volume.bytes;
}

static void shuffled_ring(mca_coll_pipering_ring_t *ring, int p, void *memory)
{
    mca_coll_pipering_ring_bind(ring, p, memory);
    ring->nodes = p;
    tap_deal(ring->rank, p);
    for (int x = 0; x < p; x++) {
        ring->node[x] = ring->first[x] = x;
        ring->position[ring->rank[x]] = x;
    }
    ring->first[p] = p;
}

static void test_streams(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 5000; i++) {
        const int p = tap_between(1, MOST_RANKS);
        const size_t block_size = 1 + tap_below(9);
        const mca_coll_pipering_stream_t stream = {.position = (int) tap_below((uint64_t) p),
                                                   .origins = tap_between(0, p),
                                                   .parts = tap_between(0, 1)};
        void *memory = tap_memory(mca_coll_pipering_ring_size(p));
        size_t *bytes = tap_memory((size_t) p * sizeof(*bytes));
        mca_coll_pipering_ring_t ring;

        shuffled_ring(&ring, p, memory);
        for (int r = 0; r < p; r++) {
            bytes[r] = tap_once_in(2) ? 0 : tap_below(40);
        }
        tap_try(&tally,
                walks(&ring, bytes, block_size, stream),
                "%s, B = %zu, stream from %d, %d origins", ref_show(bytes, p), block_size,
                stream.position, stream.origins);
        free(bytes);
        free(memory);
    }
    tally_ok(&tally, 5000, "a walk gives a stream's blocks in order and stops");
}

/* A stream carries blocks of its origins, of each those from next[rank] on; what passes it. */
static bool continues(const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                      size_t block_size, mca_coll_pipering_stream_t stream,
                      uint64_t *next, mca_coll_pipering_volume_t *seen)
{
    mca_coll_pipering_walk_t walk;
    mca_coll_pipering_block_t block;
    int back = 0; /* positions, to the origin of the last block */

    *seen = (mca_coll_pipering_volume_t){0, 0};
    mca_coll_pipering_walk_init(&walk, ring, bytes, block_size, stream);
    while (mca_coll_pipering_walk_next(&walk, &block)) {
        size_t offset, length;

        while (ring->rank[(stream.position + ring->size - back) % ring->size] != block.rank) {
            if (++back == stream.origins) {
                return false;
            }
        }
        mca_coll_pipering_cut_block(bytes[block.rank], block_size, next[block.rank]++, &offset,
                                    &length);
        if (offset != block.offset || length != block.length) {
            return false;
        }
        seen->blocks++;
        seen->bytes += length;
    }
    return true;
}

/*
 * Streams that share contributions: of each they carry blocks that follow each other, none is left
 * out or carried twice, and their numbers differ by one at most.
 */
static bool shares(const mca_coll_pipering_ring_t *ring, const size_t *bytes,
                   size_t block_size, mca_coll_pipering_stream_t whole, int parts)
{
    const mca_coll_pipering_volume_t all = mca_coll_pipering_stream_volume(ring, bytes, block_size,
                                                                           whole);
    uint64_t next[MOST_RANKS] = {0}, least = UINT64_MAX, most = 0;
    mca_coll_pipering_volume_t sum = {0, 0};

    for (int part = 0; part < parts; part++) {
        const mca_coll_pipering_stream_t stream = {whole.position, whole.origins, part, parts};
        const mca_coll_pipering_volume_t volume = mca_coll_pipering_stream_volume(
            ring, bytes, block_size, stream);
        mca_coll_pipering_volume_t seen;

        if (!continues(ring, bytes, block_size, stream, next, &seen) || seen.blocks != volume.blocks
            || seen.bytes != volume.bytes) {
            return false;
        }
        least = volume.blocks < least ? volume.blocks : least;
        most = volume.blocks > most ? volume.blocks : most;
        sum.blocks += volume.blocks;
        sum.bytes += volume.bytes;
    }
    return sum.blocks == all.blocks && sum.bytes == all.bytes
           && most - least <= (uint64_t) whole.origins;
}

static void test_parts(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 5000; i++) {
        const int p = tap_between(1, MOST_RANKS), parts = tap_between(2, 7);
        const size_t block_size = 1 + tap_below(9);
        const mca_coll_pipering_stream_t whole = {.position = (int) tap_below((uint64_t) p),
                                                  .origins = tap_between(0, p)};
        void *memory = tap_memory(mca_coll_pipering_ring_size(p));
        size_t bytes[MOST_RANKS];
        mca_coll_pipering_ring_t ring;

        shuffled_ring(&ring, p, memory);
        for (int r = 0; r < p; r++) {
            bytes[r] = tap_once_in(3) ? 0 : tap_below(80);
        }
        tap_try(&tally, shares(&ring, bytes, block_size, whole, parts),
                "%s, B = %zu, stream from %d, %d origins, %d parts", ref_show(bytes, p),
                block_size, whole.position, whole.origins, parts);
        free(memory);
    }
    tally_ok(&tally, 5000, "streams that share contributions carry each block once, in order");
}

static void test_huge_volume(void)
{
    const size_t bytes[3] = {(size_t) 1 << 40, 0, ((size_t) 1 << 41) + 1};
    const size_t block_size = 1;
    const mca_coll_pipering_stream_t all = {.position = 1, .origins = 3};
    void *memory = tap_memory(mca_coll_pipering_ring_size(3));
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_volume_t volume;

    shuffled_ring(&ring, 3, memory);
    volume = mca_coll_pipering_stream_volume(&ring, bytes, block_size, all);
    ok(volume.bytes == bytes[0] + bytes[2] && volume.blocks == volume.bytes,
       "volume of terabytes in blocks of a byte");
    free(memory);
}

int main(void)
{
    tap_start();
    test_small();
    test_huge();
    test_streams();
    test_parts();
    test_huge_volume();
    return tap_end();
}
