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
 * An allgather of unequal blocks in rounds, the blocks being ranges: who sends whom
 * what, and when. Pure C, no Open MPI, no hidden allocation.
 */

#ifndef MCA_COMMON_IRREGULAR_EXCHANGE_H
#define MCA_COMMON_IRREGULAR_EXCHANGE_H

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

typedef enum {
    MCA_COMMON_IRREGULAR_DOUBLING, /**< recursive doubling; Bruck where they are no power of two */
    MCA_COMMON_IRREGULAR_BRUCK,
    MCA_COMMON_IRREGULAR_RING,
    MCA_COMMON_IRREGULAR_DISSEMINATION /**< Bruck the other way round */
} mca_common_irregular_algorithm_t;

/** Positions [from, to). */
typedef struct mca_common_irregular_range_t {
    int from, to;
} mca_common_irregular_range_t;

/** Ranges that a message goes over may be two: where they wrap around. */
#define MCA_COMMON_IRREGULAR_PIECES 2

/** A round of one member: whom it sends what it has, and who sends it what. */
typedef struct mca_common_irregular_round_t {
    int to, from; /**< members */
    /** The part up to the end, then the one from the beginning; empty where from is to. */
    mca_common_irregular_range_t send[MCA_COMMON_IRREGULAR_PIECES];
    mca_common_irregular_range_t recv[MCA_COMMON_IRREGULAR_PIECES];
} mca_common_irregular_round_t;

/**
 * An exchange among members 0..count-1, of which member i holds positions
 * [first[i], first[i + 1]); afterwards all hold all.
 */
typedef struct mca_common_irregular_exchange_t {
    int count;
    const int *first; /**< [count + 1], borrowed; NULL: member i holds position i */
    mca_common_irregular_algorithm_t algorithm;
} mca_common_irregular_exchange_t;

/** Rounds that it takes; 0 for one member. */
int mca_common_irregular_exchange_rounds(const mca_common_irregular_exchange_t *exchange);

/**
 * Round k of member i. What is sent was held at first or received in rounds before k,
 * and what a member sends in a round the other one receives in the same round, piece
 * by piece.
 */
mca_common_irregular_round_t
mca_common_irregular_exchange_round(const mca_common_irregular_exchange_t *exchange, int i, int k);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
