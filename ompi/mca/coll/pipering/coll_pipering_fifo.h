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
 *      place      0     1     2    ...              lap - 1
 *                 | k+4 | k+5 |  k  | k+1 | k+2 | k+3 | rest |
 *                    written ->  read ->
 *
 * One process writes blocks, one reads them, each moves one counter of blocks, which has
 * a cache line to itself. A buffer serves one stream of blocks after the other, maybe
 * with another writer each:
 *
 *      reader                                  writer
 *      clears the counters    -- grant -->     writes blocks, shows each
 *      reads, gives back      <------------
 *      has read the last one, clears again    (has not touched it since it showed that)
 *
 * so that all that is shared with a writer is over when the reader has seen its last block,
 * and nothing is handed over but by the counters and the grant. Whoever has to give up breaks
 * the buffer, and the other side finds that where it looks for the next block.
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

/** A counter of a buffer that its side has broken. */
#define MCA_COLL_PIPERING_FIFO_BROKEN UINT64_MAX

/** As it lies in shared memory. */
typedef struct mca_coll_pipering_fifo_t {
    uint64_t written; /**< blocks */
    char pad_written[MCA_COLL_PIPERING_FIFO_LINE - sizeof(uint64_t)];
    uint64_t read; /**< blocks whose room is free again */
    char pad_read[MCA_COLL_PIPERING_FIFO_LINE - sizeof(uint64_t)];
    char bytes[];
} mca_coll_pipering_fifo_t;

/** A stream of blocks, as one side sees it. */
typedef struct mca_coll_pipering_fifo_run_t {
    size_t stride;  /**< bytes from a block to the next */
    uint64_t lap;   /**< blocks that the buffer has room for */
    uint64_t limit; /**< blocks that the writer may be ahead */
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

/** Makes a buffer empty; for the reader, while there is no writer. */
static inline void mca_coll_pipering_fifo_clear(mca_coll_pipering_fifo_t *fifo)
{
    __atomic_store_n(&fifo->written, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fifo->read, 0, __ATOMIC_RELAXED);
}

/** Starts a run; `ahead` blocks are allowed, at least 2, or 0 for what fits. */
static inline void mca_coll_pipering_fifo_start(mca_coll_pipering_fifo_run_t *run, size_t size,
                                                size_t block, unsigned ahead)
{
    run->seen = 0;
    run->stride = mca_coll_pipering_fifo_stride(block);
    run->lap = size / run->stride;
    run->limit = 0 == ahead || ahead > run->lap ? run->lap : ahead;
}

/** Where block k lies. */
static inline char *mca_coll_pipering_fifo_place(mca_coll_pipering_fifo_t *fifo,
                                                 const mca_coll_pipering_fifo_run_t *run,
                                                 uint64_t k)
{
    return fifo->bytes + k % run->lap * run->stride;
}

/** The writer may write block k. */
static inline bool mca_coll_pipering_fifo_has_room(mca_coll_pipering_fifo_t *fifo,
                                                   mca_coll_pipering_fifo_run_t *run, uint64_t k)
{
    if (k >= run->seen + run->limit) {
        run->seen = __atomic_load_n(&fifo->read, __ATOMIC_ACQUIRE);
    }
    return MCA_COLL_PIPERING_FIFO_BROKEN != run->seen && k < run->seen + run->limit;
}

/** Shows the reader all blocks before `blocks`. */
static inline void mca_coll_pipering_fifo_show(mca_coll_pipering_fifo_t *fifo, uint64_t blocks)
{
    __atomic_store_n(&fifo->written, blocks, __ATOMIC_RELEASE);
}

/** Block k is there to read. */
static inline bool mca_coll_pipering_fifo_is_there(mca_coll_pipering_fifo_t *fifo,
                                                   mca_coll_pipering_fifo_run_t *run, uint64_t k)
{
    if (k >= run->seen) {
        run->seen = __atomic_load_n(&fifo->written, __ATOMIC_ACQUIRE);
    }
    return MCA_COLL_PIPERING_FIFO_BROKEN != run->seen && k < run->seen;
}

/** Gives the room of all blocks before `blocks` back. */
static inline void mca_coll_pipering_fifo_give_back(mca_coll_pipering_fifo_t *fifo,
                                                    uint64_t blocks)
{
    __atomic_store_n(&fifo->read, blocks, __ATOMIC_RELEASE);
}

/** The writer, or the reader, gives up, and does not touch the buffer again. */
static inline void mca_coll_pipering_fifo_break(mca_coll_pipering_fifo_t *fifo, bool writer)
{
    __atomic_store_n(writer ? &fifo->written : &fifo->read, MCA_COLL_PIPERING_FIFO_BROKEN,
                     __ATOMIC_RELEASE);
}

/** The other side had given up when it was last looked at. */
static inline bool mca_coll_pipering_fifo_is_broken(const mca_coll_pipering_fifo_run_t *run)
{
    return MCA_COLL_PIPERING_FIFO_BROKEN == run->seen;
}

#endif
