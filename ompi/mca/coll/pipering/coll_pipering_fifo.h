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
 * The ring buffer between two processes of a node: the protocol, without what it
 * stands on.
 *
 *      position   0                                             size
 *                 | read ->                written ->            |
 *                 |   . . |  k  | k+1 | k+2 | . . . . . . | gap |
 *                          <-- stride -->
 *
 * One process writes blocks, one reads them, each moves one counter, which has a
 * cache line to itself. Counters are positions in bytes that only grow, over all
 * calls, so that the blocks of a call follow those of the call before and nobody
 * waits in between: this is flow control between subsequent collectives, whatever
 * they are. The blocks of one call are equally far apart (`stride`), never wrap
 * around, and both sides know where each of them lies from where the call begins.
 *
 * Cost: a copy in, one cache line read by either side. Limits: a stride of at most
 * half the size.
 *
 * Worringer 4.1: D_ring is `size`, D_b the stride, N_b `ahead`.
 */

#ifndef MCA_COLL_PIPERING_FIFO_H
#define MCA_COLL_PIPERING_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCA_COLL_PIPERING_FIFO_LINE 128

/** As it lies in shared memory; zeros are an empty one. */
typedef struct mca_coll_pipering_fifo_t {
    uint64_t written;
    char pad_written[MCA_COLL_PIPERING_FIFO_LINE - sizeof(uint64_t)];
    uint64_t read;
    char pad_read[MCA_COLL_PIPERING_FIFO_LINE - sizeof(uint64_t)];
    char bytes[];
} mca_coll_pipering_fifo_t;

/** The blocks of one call, as one side sees them. */
typedef struct mca_coll_pipering_fifo_run_t {
    uint64_t from;  /**< position that the run begins at */
    size_t size;    /**< bytes of the buffer, a multiple of 64 */
    size_t stride;  /**< bytes from a block to the next */
    uint64_t limit; /**< bytes that the writer may be ahead */
    uint64_t seen;  /**< the other side's counter when it was last looked at */
} mca_coll_pipering_fifo_run_t;

/** The stride for blocks of so many bytes: they begin where any type may. */
static inline size_t mca_coll_pipering_fifo_stride(size_t block)
{
    return (block + 63) / 64 * 64;
}

/** Whether a buffer can carry blocks of so many bytes: one is read while one is written. */
static inline bool mca_coll_pipering_fifo_carries(size_t size, size_t block)
{
    return mca_coll_pipering_fifo_stride(block) <= size / 2;
}

/** Starts a run; `ahead` blocks are allowed, at least 2, or 0 for what fits. */
static inline void mca_coll_pipering_fifo_start(mca_coll_pipering_fifo_run_t *run, uint64_t from,
                                                size_t size, size_t block, unsigned ahead)
{
    run->from = from;
    run->seen = 0;
    run->size = size;
    run->stride = mca_coll_pipering_fifo_stride(block);
    run->limit = 0 == ahead || ahead > size / run->stride ? size : ahead * (uint64_t) run->stride;
}

/** Position of block k: laps of the buffer hold whole strides, the first what is left of it. */
static inline uint64_t mca_coll_pipering_fifo_at(const mca_coll_pipering_fifo_run_t *run,
                                                 uint64_t k)
{
    const size_t left = run->size - (size_t) (run->from % run->size);
    const uint64_t first = left / run->stride, lap = run->size / run->stride;

    if (k < first) {
        return run->from + k * run->stride;
    }
    k -= first;
    return run->from + left + k / lap * run->size + k % lap * run->stride;
}

/** Position behind the first `blocks` blocks, where the next run begins after all of them. */
static inline uint64_t mca_coll_pipering_fifo_behind(const mca_coll_pipering_fifo_run_t *run,
                                                     uint64_t blocks)
{
    return 0 == blocks ? run->from : mca_coll_pipering_fifo_at(run, blocks - 1) + run->stride;
}

/** Where block k lies. */
static inline char *mca_coll_pipering_fifo_place(mca_coll_pipering_fifo_t *fifo,
                                                 const mca_coll_pipering_fifo_run_t *run,
                                                 uint64_t k)
{
    return fifo->bytes + mca_coll_pipering_fifo_at(run, k) % run->size;
}

/** The writer may write block k. */
static inline bool mca_coll_pipering_fifo_has_room(mca_coll_pipering_fifo_t *fifo,
                                                   mca_coll_pipering_fifo_run_t *run, uint64_t k)
{
    const uint64_t end = mca_coll_pipering_fifo_behind(run, k + 1);

    if (end > run->seen + run->limit) {
        run->seen = __atomic_load_n(&fifo->read, __ATOMIC_ACQUIRE);
    }
    return end <= run->seen + run->limit;
}

/** Shows the reader all blocks before `blocks`. */
static inline void mca_coll_pipering_fifo_show(mca_coll_pipering_fifo_t *fifo,
                                               const mca_coll_pipering_fifo_run_t *run,
                                               uint64_t blocks)
{
    __atomic_store_n(&fifo->written, mca_coll_pipering_fifo_behind(run, blocks), __ATOMIC_RELEASE);
}

/** Block k is there to read. */
static inline bool mca_coll_pipering_fifo_is_there(mca_coll_pipering_fifo_t *fifo,
                                                   mca_coll_pipering_fifo_run_t *run, uint64_t k)
{
    const uint64_t end = mca_coll_pipering_fifo_behind(run, k + 1);

    if (end > run->seen) {
        run->seen = __atomic_load_n(&fifo->written, __ATOMIC_ACQUIRE);
    }
    return end <= run->seen;
}

/** Gives the room of all blocks before `blocks` back. */
static inline void mca_coll_pipering_fifo_give_back(mca_coll_pipering_fifo_t *fifo,
                                                    const mca_coll_pipering_fifo_run_t *run,
                                                    uint64_t blocks)
{
    __atomic_store_n(&fifo->read, mca_coll_pipering_fifo_behind(run, blocks), __ATOMIC_RELEASE);
}

#endif
