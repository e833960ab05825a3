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
 * The ring buffer between two processes of a node: its protocol; coll_pipering_arena.h has
 * its memory.
 *
 *      place      0     1     2    ...              lap - 1
 *                 | k+4 | k+5 |  k  | k+1 | k+2 | k+3 | rest |
 *                    written ->  read ->
 *
 * One process writes blocks and one reads them; each advances its own counter of blocks, in
 * a cache line of its own. A buffer serves one stream of blocks after the other, each
 * possibly with another writer:
 *
 *      reader                                  writer
 *      clears the counters    -- grant -->     writes blocks, shows each
 *      reads, gives back      <------------
 *      reads the last block, clears again     (does not touch it after showing this block)
 *
 * So a writer is done with the buffer when the reader has seen its last block, and both sides
 * synchronize by the counters and the grant alone. A side that gives up breaks the buffer;
 * the other side sees this when it looks for the next block.
 *
 * Cost: one copy into the buffer, one cache line read by either side. Limits: a stride of at
 * most half the size.
 *
 * Worringer 4.1: D_ring is `size`, D_b the stride, N_b `lap`.
 */

#ifndef MCA_COLL_PIPERING_FIFO_H
#define MCA_COLL_PIPERING_FIFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MCA_COLL_PIPERING_FIFO_LINE 128

/** The value of a counter whose side has broken the buffer. */
#define MCA_COLL_PIPERING_FIFO_BROKEN UINT64_MAX

/** A ring buffer, in shared memory. */
typedef struct mca_coll_pipering_fifo_t {
    uint64_t written; /**< number of blocks */
    char pad_written[MCA_COLL_PIPERING_FIFO_LINE - sizeof(uint64_t)];
    uint64_t read; /**< number of blocks whose room is free again */
    char pad_read[MCA_COLL_PIPERING_FIFO_LINE - sizeof(uint64_t)];
    char bytes[];
} mca_coll_pipering_fifo_t;

/** A stream of blocks, the state of one side. */
typedef struct mca_coll_pipering_fifo_run_t {
    size_t stride; /**< bytes from a block to the next */
    uint64_t lap;  /**< number of blocks for which the buffer has room */
    uint64_t seen; /**< the other side's counter when it was last read */
} mca_coll_pipering_fifo_run_t;

/** The stride for blocks of `block` bytes: they are aligned for any type. */
static inline size_t mca_coll_pipering_fifo_stride(size_t block)
{
    return (block + 63) / 64 * 64;
}

/** Whether a buffer has room for two such blocks: one is read while one is written. */
static inline bool mca_coll_pipering_fifo_carries(size_t size, size_t block)
{
    return mca_coll_pipering_fifo_stride(block) <= size / 2;
}

/** Empties a buffer; by the reader, while there is no writer. */
static inline void mca_coll_pipering_fifo_clear(mca_coll_pipering_fifo_t *fifo)
{
    __atomic_store_n(&fifo->written, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&fifo->read, 0, __ATOMIC_RELAXED);
}

/** Starts a run; the writer may be ahead by as many blocks as fit. */
static inline void mca_coll_pipering_fifo_start(mca_coll_pipering_fifo_run_t *run, size_t size,
                                                size_t block)
{
    run->seen = 0;
    run->stride = mca_coll_pipering_fifo_stride(block);
    run->lap = size / run->stride;
}

/** The address of block k. */
static inline char *mca_coll_pipering_fifo_place(mca_coll_pipering_fifo_t *fifo,
                                                 const mca_coll_pipering_fifo_run_t *run,
                                                 uint64_t k)
{
    return fifo->bytes + k % run->lap * run->stride;
}

/** Whether the writer may write block k. */
static inline bool mca_coll_pipering_fifo_has_room(mca_coll_pipering_fifo_t *fifo,
                                                   mca_coll_pipering_fifo_run_t *run, uint64_t k)
{
    if (k >= run->seen + run->lap) {
        run->seen = __atomic_load_n(&fifo->read, __ATOMIC_ACQUIRE);
    }
    return MCA_COLL_PIPERING_FIFO_BROKEN != run->seen && k < run->seen + run->lap;
}

/** Shows the reader all blocks before `blocks`. */
static inline void mca_coll_pipering_fifo_show(mca_coll_pipering_fifo_t *fifo, uint64_t blocks)
{
    __atomic_store_n(&fifo->written, blocks, __ATOMIC_RELEASE);
}

/** Whether block k can be read. */
static inline bool mca_coll_pipering_fifo_is_there(mca_coll_pipering_fifo_t *fifo,
                                                   mca_coll_pipering_fifo_run_t *run, uint64_t k)
{
    if (k >= run->seen) {
        run->seen = __atomic_load_n(&fifo->written, __ATOMIC_ACQUIRE);
    }
    return MCA_COLL_PIPERING_FIFO_BROKEN != run->seen && k < run->seen;
}

/** Frees the room of all blocks before `blocks` for the writer. */
static inline void mca_coll_pipering_fifo_give_back(mca_coll_pipering_fifo_t *fifo,
                                                    uint64_t blocks)
{
    __atomic_store_n(&fifo->read, blocks, __ATOMIC_RELEASE);
}

/** Breaks the buffer; the caller, writer or reader, must not touch it again. */
static inline void mca_coll_pipering_fifo_break(mca_coll_pipering_fifo_t *fifo, bool writer)
{
    __atomic_store_n(writer ? &fifo->written : &fifo->read, MCA_COLL_PIPERING_FIFO_BROKEN,
                     __ATOMIC_RELEASE);
}

/** Whether the other side had given up when its counter was last read. */
static inline bool mca_coll_pipering_fifo_is_broken(const mca_coll_pipering_fifo_run_t *run)
{
    return MCA_COLL_PIPERING_FIFO_BROKEN == run->seen;
}

#endif
