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
 * An allgather in rounds of unequal blocks, which are ranges of positions: the partners of a
 * member in each round, and the ranges that it sends and receives. Pure C, no Open MPI, no
 * hidden allocation.
 */

#ifndef MCA_COMMON_COLLTOOLS_EXCHANGE_H
#define MCA_COMMON_COLLTOOLS_EXCHANGE_H

typedef enum {
    MCA_COMMON_COLLTOOLS_DOUBLING, /**< recursive doubling; Bruck if count is no power of two */
    MCA_COMMON_COLLTOOLS_BRUCK,
    MCA_COMMON_COLLTOOLS_RING,
    MCA_COMMON_COLLTOOLS_DISSEMINATION /**< Bruck in the opposite direction */
} mca_common_colltools_algorithm_t;

/** Positions [from, to). */
typedef struct mca_common_colltools_range_t {
    int from, to;
} mca_common_colltools_range_t;

/** Ranges of a message: two, since it may wrap around. */
#define MCA_COMMON_COLLTOOLS_PIECES 2

/** A round of one member: its partners, and the ranges that it sends and receives. */
typedef struct mca_common_colltools_round_t {
    int to, from; /**< members */
    /** The range up to the end, then the one from the beginning; from == to: empty. */
    mca_common_colltools_range_t send[MCA_COMMON_COLLTOOLS_PIECES];
    mca_common_colltools_range_t recv[MCA_COMMON_COLLTOOLS_PIECES];
} mca_common_colltools_round_t;

/**
 * An exchange among members 0..count-1. Member i holds positions [first[i], first[i + 1]);
 * afterwards every member holds all positions.
 */
typedef struct mca_common_colltools_exchange_t {
    int count;
    const int *first; /**< [count + 1], borrowed; NULL: member i holds position i */
    mca_common_colltools_algorithm_t algorithm;
} mca_common_colltools_exchange_t;

/** Number of rounds; 0 for one member. */
int mca_common_colltools_exchange_rounds(const mca_common_colltools_exchange_t *exchange);

/**
 * Round k of member i. A member sends only positions that it held at first or received in
 * rounds before k. Its ranges `send` are the ranges `recv` of its partner in the same round,
 * in the same order.
 */
mca_common_colltools_round_t
mca_common_colltools_exchange_round(const mca_common_colltools_exchange_t *exchange, int i, int k);

#endif
