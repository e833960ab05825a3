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
 * Turns: how the ranks of a node share the two halves of a segment. Pure C.
 *
 *     slice     0  1  2  3  4 ...     numbered on a communicator, through all of its calls
 *     half      0  1  0  1  0
 *
 * A rank moves its slices one after the other, also those of calls that do not wait
 * (coll_mleader_shared.c).
 *
 * What is in a half is shown by counters with a single writer each: a rank has written
 * its part of a slice, and a lane has come so many rounds far with one. A slice that does
 * without them takes its number all the same.
 *
 * Nobody waits for readers. Who is done with slice n - 1 has something of each rank for
 * it, from a message or behind a counter; so each rank has begun with n - 1, and is done
 * with n - 2, whose half n takes. This holds for any variants one behind the other, and
 * any sizes of slices, as long as a rank ends no slice without having all of it.
 *
 * Limits: 2^24 rounds in a slice. Counters wrap around: one that is waited for has been
 * set within the last 2^38 slices.
 */

#ifndef MCA_COLL_MLEADER_TURNS_H
#define MCA_COLL_MLEADER_TURNS_H

#include <stdbool.h>
#include <stdint.h>

#define MCA_COLL_MLEADER_LINE 128

/** A counter with a single writer, in shared memory. */
typedef struct mca_coll_mleader_counter_t {
    uint64_t value;
    char pad[MCA_COLL_MLEADER_LINE - sizeof(uint64_t)];
} mca_coll_mleader_counter_t;

/* Of a counter of progress; the bits above them are the slice's. */
#define MCA_COLL_MLEADER_ROUNDS_BITS 24

/** The half that a slice lies in. */
static inline int mca_coll_mleader_turn(uint64_t slice)
{
    return (int) (slice % 2);
}

/** A rank's counter once it has written its part of a slice. */
static inline uint64_t mca_coll_mleader_written(uint64_t slice)
{
    return slice + 1;
}

/** A lane's counter once so many rounds of a slice are over; 0: what its group has is there. */
static inline uint64_t mca_coll_mleader_progress(uint64_t slice, int rounds)
{
    return ((slice + 1) << MCA_COLL_MLEADER_ROUNDS_BITS) + (uint64_t) rounds;
}

/** Whether a counter has come to a value. */
static inline bool mca_coll_mleader_has_come(uint64_t counter, uint64_t value)
{
    return counter - value <= UINT64_MAX / 2;
}

#endif
