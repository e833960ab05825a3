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
 * Bins: sorts the messages that a rank sends into zero, small and large ones. This is the order in
 * which they start.
 *
 *     rank 2 of 6, messages to     0   1   2   3   4   5
 *     bytes                       900  8   -   0  900  8     small below 100
 *
 *     zero   [3]                  not sent
 *     small  [5] [1]              sent first, from rank 3 on
 *     large  [4] [0]              sent last, from rank 3 on
 *
 * A rank that waits for a small message does not wait until the sender has packed large ones, and
 * two ranks that have no data for each other do not wait for each other.
 *
 * Cost: linear in the number of messages; n log n for a list of n peers in any order. Limits: fewer
 * than 2^32 messages; only a rank's own sizes count, so large messages of several ranks may still
 * meet at one receiver.
 *
 * Balaji et al., section 4.2.2. The paper does not say in which order the messages of a bin start;
 * here each rank begins with the next one, so that no rank is the first target of all.
 */

#include "coll_pipering_plan_bins.h"

#include <stdlib.h>

/*
 * BY_PAIR puts all pairs of ranks into one order: by their distance on the closed ring of ranks,
 * then by the rank from which the pair goes up. (5 1) of 6 ranks goes up from 5, past the end. One
 * of the two pairs of rank `me` at distance `apart` goes up from me, the other one goes up from
 * me - apart or, past the end, from me - apart + ranks.
 *
 *     rank 1 of 6     1 apart: (0 1) (1 2)    2 apart: (1 3) (5 1)    3 apart: (1 4)
 */
static bool upper_first(int me, int apart)
{
    return me < apart;
}

/* The distance from this rank up to another one, past the end if that is lower. */
static int steps_up(int ranks, int me, int peer)
{
    return me <= peer ? peer - me : peer - me + ranks;
}

bool mca_coll_pipering_begins_pair(int ranks, int me, int peer)
{
    const int up = steps_up(ranks, me, peer), down = ranks - up;

    return up < down || (up == down && me < peer);
}

/* The place of a peer in the sequence, 0 .. ranks - 1; each peer has another place. */
static uint64_t place_of(const mca_coll_pipering_bins_plan_t *plan, int peer)
{
    const int p = plan->ranks, up = steps_up(p, plan->me, peer), down = p - up;
    const int apart = up < down ? up : down;

    if (0 == up) {
        return (uint64_t) (p - 1);
    }
    if (MCA_COLL_PIPERING_BY_DISTANCE == plan->sequence) {
        return (uint64_t) (up - 1);
    }
    return up == down ? (uint64_t) (p - 2)
                      : 2 * (uint64_t) (apart - 1)
                            + (upper_first(plan->me, apart) != (up < down));
}

/* The rank at a place: the inverse of place_of. */
static size_t rank_at(const mca_coll_pipering_bins_plan_t *plan, int place)
{
    const int p = plan->ranks, me = plan->me, apart = place / 2 + 1;
    int up = place + 1;

    if (MCA_COLL_PIPERING_BY_PAIR == plan->sequence) {
        up = p - 1 == place                               ? p
             : upper_first(me, apart) == (0 == place % 2) ? apart
                                                          : p - apart;
    }
    return (size_t) (me + up < p ? me + up : me + up - p);
}

/* ---- sort keys: the place in the upper 32 bits, the number of the message in the lower ---- */

static uint64_t key_of(uint64_t place, size_t message)
{
    return place << 32 | (uint64_t) message;
}

static size_t message_of(uint64_t key)
{
    return (size_t) (key & UINT32_MAX);
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t first = *(const uint64_t *) a, second = *(const uint64_t *) b;

    return (first > second) - (first < second);
}

/* Writes the keys of all messages that have bytes, in order; returns their number. */
static size_t make_keys(const mca_coll_pipering_bins_plan_t *plan, uint64_t *keys)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->count; ++i) {
        if (0 != plan->bytes[i]) {
            keys[count++] = key_of(place_of(plan, plan->peer[i]), i);
        }
    }
    qsort(keys, count, sizeof(*keys), compare_keys);
    return count;
}

/* The same where message i has the peer i: the keys need no sorting. */
static size_t make_keys_of_all(const mca_coll_pipering_bins_plan_t *plan, uint64_t *keys)
{
    size_t count = 0;

    for (size_t place = 0; place < plan->count; ++place) {
        const size_t message = rank_at(plan, (int) place);
        if (0 != plan->bytes[message]) {
            keys[count++] = key_of(place, message);
        }
    }
    return count;
}

/* ---- bins ---- */

/* The end of the messages from `first` on with the same peer; *large: one of them is large. */
static size_t end_of_peer(const mca_coll_pipering_bins_plan_t *plan, const uint64_t *keys,
                          size_t first, size_t count, bool *large)
{
    size_t end = first;

    for (*large = false; end < count && keys[first] >> 32 == keys[end] >> 32; ++end) {
        *large = *large || plan->small <= plan->bytes[message_of(keys[end])];
    }
    return end;
}

/* Writes the messages of the small or the large bin to `order`; returns their number. */
static size_t put_bin(const mca_coll_pipering_bins_plan_t *plan, const uint64_t *keys,
                      size_t count, bool large_bin, size_t *order)
{
    size_t put = 0, end;
    bool large;

    for (size_t i = 0; i < count; i = end) {
        end = end_of_peer(plan, keys, i, count, &large);
        for (size_t k = i; k < end && large == large_bin; ++k) {
            order[put++] = message_of(keys[k]);
        }
    }
    return put;
}

mca_coll_pipering_bins_t mca_coll_pipering_bins(const mca_coll_pipering_bins_plan_t *plan,
                                                uint64_t *scratch, size_t *order)
{
    const size_t count = NULL == plan->peer ? make_keys_of_all(plan, scratch)
                                            : make_keys(plan, scratch);
    mca_coll_pipering_bins_t bins = {.zero = plan->count - count};

    bins.small = put_bin(plan, scratch, count, false, order);
    if (bins.small < count) {
        bins.large = put_bin(plan, scratch, count, true, order + bins.small);
    }
    return bins;
}

/* ---- pool ---- */

/*
 *     [....head#######tail....]     or, wrapped     [###tail....head#####]
 *
 * A message has one contiguous piece of the buffer, so the end of the buffer may stay unused.
 */
bool mca_coll_pipering_pool_take(mca_coll_pipering_pool_t *pool, size_t bytes, size_t *offset)
{
    const bool wrapped = 0 < pool->held && pool->tail <= pool->head;

    if (0 == pool->held) {
        pool->head = pool->tail = 0;
    }
    if (bytes <= (wrapped ? pool->head : pool->size) - pool->tail) {
        *offset = pool->tail;
    } else if (!wrapped && bytes <= pool->head) {
        *offset = 0;
    } else {
        return false;
    }
    pool->tail = *offset + bytes;
    ++pool->held;
    return true;
}

void mca_coll_pipering_pool_give(mca_coll_pipering_pool_t *pool, size_t next)
{
    --pool->held;
    pool->head = next;
}
