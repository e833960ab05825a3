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
 * All ranks go through one random permutation of the ranks, each from a place of its own, and
 * leave a few packets at each visit:
 *
 *     permutation 2 0 3 1         visit   1st  2nd  3rd  4th    then again from the first
 *     rank 0 begins with 2        rank 0   2    .    3    1     those for whom something
 *     rank 1 begins with 0        rank 1   0    3    .    2     is left
 *     rank 2 begins with 3        rank 2   3    1    .    0
 *     rank 3 begins with 1        rank 3   1    2    0    .     (of rank 2: . is itself)
 *
 * At each visit all ranks are with different ones, so none is the target of many, and where
 * they go is random, so that no link of a mesh is on the way of all at once: what is under way
 * loads the links like the whole exchange does. A rank for whom nothing is left is removed from
 * the list in place, so that no time goes into passing it by.
 *
 * Receives have an order too: the one in which their senders come if all ranks go equally fast.
 * Of two messages the first in one rank's list never waits for one that stands behind it in
 * another's: all lists are parts of one order, by round and visit. So any number of sends
 * and receives under way is enough, and no ranks wait for each other in a circle.
 *
 * Cost: linear in ranks and packets. With N nodes, links of L bytes per second and a longest
 * extent of E, no exchange lets a node send more than 4 L / E times (N - 1) / N on a mesh, and
 * twice that on a torus: half of the nodes send to the other half through the middle of that
 * dimension.
 *
 * Limits: a message as short as a packet is a packet of its own. Packets of a message that would
 * have too many of them are larger, for all are listed before the first one goes, and each takes
 * about 70 bytes on either side. Removing ranks does not change
 * the order of the others, as exchanging them with the last one would; the order above
 * rests on that.
 *
 * Almasi et al., section 3.1, MPI_Alltoall and MPI_Alltoallv; bounds: section 5.3.
 */

#include "coll_pipering_plan_permuted.h"
#include "coll_pipering_plan_blocks.h"

#include <stdint.h>

#define SEED UINT64_C(0x2005)

/* splitmix64: a Weyl sequence, mixed. */
static uint64_t random_bits(uint64_t *state)
{
    uint64_t bits = *state += UINT64_C(0x9e3779b97f4a7c15);

    bits = (bits ^ (bits >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ (bits >> 27)) * UINT64_C(0x94d049bb133111eb);
    return bits ^ (bits >> 31);
}

/* Fisher and Yates. The bias of the remainder, below 2^-32, is of no weight here. */
void mca_coll_pipering_permutation(int ranks, int *permutation)
{
    uint64_t state = SEED;

    for (int i = 0; i < ranks; ++i) {
        const int place = (int) (random_bits(&state) % (uint64_t) (i + 1));
        permutation[i] = permutation[place];
        permutation[place] = i;
    }
}

/*
 * The bytes of a packet of a message of `bytes` bytes: `packet`, or more if there would be too
 * many. Sender and receiver know the bytes, so both cut the message alike.
 */
static size_t packet_size(size_t packet, size_t bytes)
{
    const size_t least = mca_coll_pipering_blocks(bytes, MCA_COLL_PIPERING_PACKETS_MOST);

    return packet < least ? least : packet;
}

size_t mca_coll_pipering_packets(const mca_coll_pipering_permuted_plan_t *plan)
{
    size_t packets = 0;

    for (int rank = 0; rank < plan->ranks; ++rank) {
        const size_t bytes = plan->bytes[rank];
        const size_t packet = packet_size(plan->packet, bytes);
        packets += mca_coll_pipering_blocks(bytes, packet);
    }
    return packets;
}

static int rank_at(const mca_coll_pipering_permuted_plan_t *plan, int place)
{
    place %= plan->ranks;
    return NULL == plan->permutation ? place : plan->permutation[place];
}

static int place_of(const mca_coll_pipering_permuted_plan_t *plan, int rank)
{
    int place = 0;

    while (rank != rank_at(plan, place)) {
        ++place;
    }
    return place;
}

/*
 * Rank r goes to the one at place r + i at its visit i, so at that time the one who comes to the
 * rank at place k is rank k - i.
 */
void mca_coll_pipering_visits_begin(mca_coll_pipering_visits_t *visits,
                                    const mca_coll_pipering_permuted_plan_t *plan, int *peer)
{
    const int place = plan->receives ? place_of(plan, plan->me) : 0;

    *visits = (mca_coll_pipering_visits_t){.plan = plan, .peer = peer, .left = plan->visit};
    for (int i = 0; i < plan->ranks; ++i) {
        const int rank = plan->receives ? (place - i + plan->ranks) % plan->ranks
                                        : rank_at(plan, plan->me + i);
        if (0 < plan->bytes[rank]) {
            peer[visits->count++] = rank;
        }
    }
}

/* The visit is over: the peer stays in the list, or is removed from it. */
static void leave(mca_coll_pipering_visits_t *visits, bool stays)
{
    if (stays) {
        visits->peer[visits->kept++] = visits->peer[visits->next];
    }
    visits->left = visits->plan->visit;
    if (++visits->next == visits->count) {
        visits->count = visits->kept;
        visits->kept = visits->next = 0;
        ++visits->round;
    }
}

bool mca_coll_pipering_visits_next(mca_coll_pipering_visits_t *visits,
                                   mca_coll_pipering_packet_t *packet)
{
    const mca_coll_pipering_permuted_plan_t *plan = visits->plan;

    if (0 == visits->count) {
        return false;
    }
    packet->peer = visits->peer[visits->next];
    const size_t bytes = plan->bytes[packet->peer];
    const size_t size = packet_size(plan->packet, bytes);
    packet->offset = (visits->round * plan->visit + plan->visit - visits->left) * size;
    packet->bytes = bytes - packet->offset;
    packet->last = packet->bytes <= size;
    if (!packet->last) {
        packet->bytes = size;
    }
    if (packet->last || 0 == --visits->left) {
        leave(visits, !packet->last);
    }
    return true;
}
