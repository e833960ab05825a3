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
 * What leaders exchange: an allgather of unequal blocks, the blocks being ranges.
 *
 *     recursive doubling      Bruck                        ring
 *     0 <-> 1  2 <-> 3        i takes 1, 2, 4 ... blocks   i takes one block a round
 *     0 <-> 2  1 <-> 3        from i + 1, i + 2, i + 4     from i - 1
 *
 * Cost for m bytes in all of p members: ceil(log2 p) messages, the ring p - 1, and
 * m (p - 1) / p bytes in and out. Limits: doubling wants a power of two (else: Bruck);
 * what Bruck sends may wrap around, and then goes as two messages.
 *
 * Kandalla et al. 3.1, 4.3.2.
 */

#include "coll_mleader_plan.h"

static bool is_power_of_two(int count)
{
    return 0 == (count & (count - 1));
}

static mca_coll_mleader_exchange_t algorithm_of(const mca_coll_mleader_exchange_plan_t *plan)
{
    return MCA_COLL_MLEADER_DOUBLING == plan->algorithm && !is_power_of_two(plan->count)
               ? MCA_COLL_MLEADER_BRUCK
               : plan->algorithm;
}

int mca_coll_mleader_rounds(const mca_coll_mleader_exchange_plan_t *plan)
{
    int rounds = 0;

    if (MCA_COLL_MLEADER_RING == plan->algorithm) {
        return plan->count - 1;
    }
    while (1 << rounds < plan->count) {
        ++rounds;
    }
    return rounds;
}

/* The positions of `blocks` members from `member` on, around the end. */
static void find_pieces(const mca_coll_mleader_exchange_plan_t *plan, int member, int blocks,
                        mca_coll_mleader_range_t piece[MCA_COLL_MLEADER_PIECES])
{
    const int start = (member + plan->count) % plan->count, end = start + blocks;
    const int wrapped = end > plan->count ? end - plan->count : 0;

    piece[0] = (mca_coll_mleader_range_t){plan->first[start], plan->first[end - wrapped]};
    piece[1] = (mca_coll_mleader_range_t){plan->first[0], plan->first[wrapped]};
}

mca_coll_mleader_round_t mca_coll_mleader_round(const mca_coll_mleader_exchange_plan_t *plan,
                                                int i, int k)
{
    const int p = plan->count, distance = 1 << (MCA_COLL_MLEADER_RING == plan->algorithm ? 0 : k);
    mca_coll_mleader_round_t round;

    switch (algorithm_of(plan)) {
    case MCA_COLL_MLEADER_DOUBLING:
        round.to = round.from = i ^ distance;
        find_pieces(plan, i & -distance, distance, round.send);
        find_pieces(plan, round.from & -distance, distance, round.recv);
        break;
    case MCA_COLL_MLEADER_BRUCK: {
        const int blocks = distance < p - distance ? distance : p - distance;
        round.to = (i - distance + p) % p;
        round.from = (i + distance) % p;
        find_pieces(plan, i, blocks, round.send);
        find_pieces(plan, round.from, blocks, round.recv);
        break;
    }
    default:
        round.to = (i + 1) % p;
        round.from = (i - 1 + p) % p;
        find_pieces(plan, i - k, 1, round.send);
        find_pieces(plan, i - 1 - k, 1, round.recv);
        break;
    }
    return round;
}
