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
 * Turns: slices use the two halves of a segment in turns. Pure C.
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

#ifndef MCA_COLL_MLEADER_TURNS_H
#define MCA_COLL_MLEADER_TURNS_H

#include <stdbool.h>
#include <stdint.h>

/** Bytes between counters, so that no two writers share a cache line. */
#define MCA_COLL_MLEADER_LINE 128

/** A counter with a single writer, in shared memory. */
typedef struct mca_coll_mleader_counter_t {
    uint64_t value;
    char pad[MCA_COLL_MLEADER_LINE - sizeof(uint64_t)];
} mca_coll_mleader_counter_t;

/* Low bits of a lane's counter, for the number of rounds; the slice is in the bits above. */
#define MCA_COLL_MLEADER_ROUNDS_BITS 24

/** The half that a slice uses. */
static inline int mca_coll_mleader_turn(uint64_t slice)
{
    return (int) (slice % 2);
}

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

#endif
