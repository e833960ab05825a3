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
 * Segments, the shared memory of nodes, and turns: slices use the two halves of a segment in turns.
 *
 *     slice     0  1  2  3  4 ...     numbered through all calls that share the segment
 *     half      0  1  0  1  0
 *
 * A rank moves its slices one after the other, in nonblocking calls too (coll_mleader_shared.c).
 * Counters show the content of a half: each rank has one for the slice to which it has written its
 * contribution, and each lane has one for the slice and the number of its rounds that are over. A
 * counter has a single writer. A slice whose variant needs no counters takes a number all the same.
 *
 * No rank waits until others have read a half:
 *
 *     - a rank that has finished slice n - 1 has data of every rank for this slice, which it has
 *       received in a message or read behind a counter;
 *     - so every rank has begun slice n - 1, and has finished slice n - 2;
 *     - so no rank reads slice n - 2 any more, and slice n may overwrite its half.
 *
 * This holds for any sequence of variants and sizes of slices, as long as each rank finishes a
 * slice only when it has all of its data.
 *
 * Limits: fewer than 2^24 rounds in a slice. Counters wrap around, so a counter for which a rank
 * waits must have been set within the last 2^38 slices.
 */

#ifndef MCA_COLL_MLEADER_SEGMENT_H
#define MCA_COLL_MLEADER_SEGMENT_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/common/colltools/common_colltools_segment.h"

BEGIN_C_DECLS

/** Bytes between counters, so that no two writers share a cache line. */
#define MCA_COLL_MLEADER_LINE 128

/** A counter with a single writer, in shared memory. */
typedef struct mca_coll_mleader_counter_t {
    uint64_t value;
    char pad[MCA_COLL_MLEADER_LINE - sizeof(uint64_t)];
} mca_coll_mleader_counter_t;

/* Low bits of a lane's counter, for the number of rounds; the slice is in the bits above. */
#define MCA_COLL_MLEADER_ROUNDS_BITS 24

/** The value of a rank's counter when it has written its contribution to a slice. */
static inline uint64_t mca_coll_mleader_written(uint64_t slice)
{
    return slice + 1;
}

/** The value of a lane's counter after so many rounds; 0: the data of its group is there. */
static inline uint64_t mca_coll_mleader_progress(uint64_t slice, int rounds)
{
    return ((slice + 1) << MCA_COLL_MLEADER_ROUNDS_BITS) + (uint64_t) rounds;
}

/** Whether a counter has reached a value, or passed it. */
static inline bool mca_coll_mleader_has_come(uint64_t counter, uint64_t value)
{
    return counter - value <= UINT64_MAX / 2;
}

/**
 * State that successive calls share: numbers of slices and, if `there`, a segment on each node.
 * Calls take their slices in the same order on all ranks, and move them in this order, one call
 * after the other.
 *
 *     segment   | written [ranks of a node] | progress [lanes] | half 0 | half 1 |
 */
typedef struct mca_coll_mleader_shared_t {
    bool there;                           /**< all nodes have their segments */
    mca_common_colltools_segment_t segment;
    size_t held;                          /**< this rank's share of the segment's bytes */
    mca_coll_mleader_counter_t *written;  /**< by topology->index: set by this rank of the node */
    mca_coll_mleader_counter_t *progress; /**< [topology->lanes] set by the leader in the lane */
    char *half[2];                        /**< slices use them in turns */
    size_t half_size;                     /**< bytes, equal on all nodes */
    bool refused;                         /**< a larger segment could not be had */
    uint64_t taken; /**< number of the first slice of the next call */
    uint64_t last;  /**< number behind the slices of the last call that began */
    uint64_t moved; /**< number behind the slices of the last call that ended; atomic */
    int error;      /**< of a failed call: calls that began before it ended fail too */
    bool pending;   /**< a call failed, and a message may still access the segment */
} mca_coll_mleader_shared_t;

struct mca_coll_mleader_module_t;
struct mca_coll_mleader_topology_t;

/**
 * Makes a segment on each node, with two halves of `half_size` bytes; 0: makes none. `shared` is
 * all zero. All ranks must call this in the same MPI call, since it sends messages and calls an
 * MPI_Allgather of the module below. If a rank cannot have its segment, no rank has one: this is
 * no error, and shared->there is false. On an error nothing is held.
 */
int mca_coll_mleader_shared_make(mca_coll_mleader_shared_t *shared,
                                 const struct mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size);

/**
 * The same in two steps, for a caller that tells all ranks itself, between them, whether each of
 * them has its segment: shared->segment.address is not NULL; `there`: all have. Of the topology
 * ranks and nodes are known.
 */
int mca_coll_mleader_shared_offer(mca_coll_mleader_shared_t *shared,
                                  const struct mca_coll_mleader_topology_t *topology,
                                  ompi_communicator_t *comm, size_t half_size);
void mca_coll_mleader_shared_settle(mca_coll_mleader_shared_t *shared,
                                    const struct mca_coll_mleader_topology_t *topology, int me,
                                    bool there);

/**
 * Replaces the segments by larger ones, when all calls that have begun have ended. All ranks must
 * call this in the same blocking MPI call. If a rank cannot have its segment, all keep those that
 * there are: no error, and shared->refused.
 */
int mca_coll_mleader_shared_grow(mca_coll_mleader_shared_t *shared,
                                 const struct mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size);

/** Gives all memory back, except a segment that a message may still access. */
void mca_coll_mleader_shared_free(mca_coll_mleader_shared_t *shared);

/**
 * Takes slices for a call that begins; returns the number of the first one. Its turn comes
 * when all calls that began before it have ended: mca_coll_mleader_shared_is_turn(shared, *turn).
 */
uint64_t mca_coll_mleader_shared_take(mca_coll_mleader_shared_t *shared, uint64_t slices,
                                      uint64_t *turn);

/** Takes the slices of a call that fails before it begins: other ranks take them too. */
void mca_coll_mleader_shared_skip(mca_coll_mleader_shared_t *shared, uint64_t slices);

/** Whether all calls before the one with this `turn` have ended. */
static inline bool mca_coll_mleader_shared_is_turn(const mca_coll_mleader_shared_t *shared,
                                                   uint64_t turn)
{
    return turn == __atomic_load_n(&shared->moved, __ATOMIC_ACQUIRE);
}

/**
 * Ends a call whose slices end before number `end`. If `error` is one, the calls that have begun
 * behind it fail with the same error, shared->error.
 */
void mca_coll_mleader_shared_pass(mca_coll_mleader_shared_t *shared, uint64_t end, int error);

/** Sets a counter; a rank that sees the value sees all that was written before. */
void mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value);

END_C_DECLS

#endif
