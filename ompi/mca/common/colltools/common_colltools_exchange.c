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
 * The rounds of the exchanges of common_colltools_exchange.h.
 *
 *     recursive doubling      Bruck                        ring
 *     0 <-> 1  2 <-> 3        i takes 1, 2, 4 ... blocks   i takes one block a round
 *     0 <-> 2  1 <-> 3        from i + 1, i + 2, i + 4     from i - 1
 *
 *     dissemination: i takes 1, 2, 4 ... blocks from i - 1, i - 2, i - 4
 *
 * Cost for p members with m bytes in all: ceil(log2 p) messages, p - 1 with the ring, and
 * m (p - 1) / p bytes in and out. Limits: doubling needs a power of two (else: Bruck); the
 * ranges that Bruck and dissemination send may wrap around.
 *
 * Kandalla et al. 3.1, 4.3.2; Balaji et al. 4.2.1 (there "1 - 2^p" for i - 2^p).
 */

#include "common_colltools_exchange.h"

#include <stddef.h>

typedef mca_common_colltools_exchange_t exchange_t;

static mca_common_colltools_algorithm_t algorithm_of(const exchange_t *exchange)
{
    return MCA_COMMON_COLLTOOLS_DOUBLING == exchange->algorithm
                   && 0 != (exchange->count & (exchange->count - 1))
               ? MCA_COMMON_COLLTOOLS_BRUCK
               : exchange->algorithm;
}

int mca_common_colltools_exchange_rounds(const exchange_t *exchange)
{
    int rounds = 0;

    if (MCA_COMMON_COLLTOOLS_RING == exchange->algorithm) {
        return exchange->count - 1;
    }
    while (1 << rounds < exchange->count) {
        ++rounds;
    }
    return rounds;
}

static int first_of(const exchange_t *exchange, int member)
{
    return NULL == exchange->first ? member : exchange->first[member];
}

/* The positions of `blocks` members from `member` on; after the last member follows the first. */
static void find_pieces(const exchange_t *exchange, int member, int blocks,
                        mca_common_colltools_range_t piece[MCA_COMMON_COLLTOOLS_PIECES])
{
    const int p = exchange->count, start = (member + p) % p, end = start + blocks;
    const int wrapped = end > p ? end - p : 0;

    piece[0] = (mca_common_colltools_range_t){first_of(exchange, start),
                                              first_of(exchange, end - wrapped)};
    piece[1] = (mca_common_colltools_range_t){first_of(exchange, 0), first_of(exchange, wrapped)};
}

mca_common_colltools_round_t
mca_common_colltools_exchange_round(const exchange_t *exchange, int i, int k)
{
    const mca_common_colltools_algorithm_t algorithm = algorithm_of(exchange);
    const int p = exchange->count;
    const int distance = 1 << (MCA_COMMON_COLLTOOLS_RING == algorithm ? 0 : k);
    const int blocks = distance < p - distance ? distance : p - distance;
    mca_common_colltools_round_t round;

    switch (algorithm) {
    case MCA_COMMON_COLLTOOLS_DOUBLING:
        round.to = round.from = i ^ distance;
        find_pieces(exchange, i & -distance, distance, round.send);
        find_pieces(exchange, round.from & -distance, distance, round.recv);
        break;
    case MCA_COMMON_COLLTOOLS_BRUCK:
        round.to = (i - distance + p) % p;
        round.from = (i + distance) % p;
        find_pieces(exchange, i, blocks, round.send);
        find_pieces(exchange, round.from, blocks, round.recv);
        break;
    case MCA_COMMON_COLLTOOLS_DISSEMINATION:
        round.to = (i + distance) % p;
        round.from = (i - distance + p) % p;
        find_pieces(exchange, i - blocks + 1, blocks, round.send);
        find_pieces(exchange, round.from - blocks + 1, blocks, round.recv);
        break;
    default:
        round.to = (i + 1) % p;
        round.from = (i - 1 + p) % p;
        find_pieces(exchange, i - k, 1, round.send);
        find_pieces(exchange, i - 1 - k, 1, round.recv);
        break;
    }
    return round;
}
