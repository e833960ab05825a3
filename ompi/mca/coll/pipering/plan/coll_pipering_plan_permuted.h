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
 * The order of packets in an exchange of all with all where ranks visit each other in turns
 * (coll_pipering_plan_permuted.c). Pure C, as coll_pipering_plan.h.
 */

#ifndef MCA_COLL_PIPERING_PLAN_PERMUTED_H
#define MCA_COLL_PIPERING_PLAN_PERMUTED_H

#include <stdbool.h>
#include <stddef.h>

/** Writes a permutation of 0 .. ranks - 1 to `permutation`, the same wherever it is made. */
void mca_coll_pipering_permutation(int ranks, int *permutation);

/** What a rank sends to the others, or receives from them. */
typedef struct mca_coll_pipering_permuted_plan_t {
    const int *permutation; /**< [ranks], or NULL: the ranks in their order */
    int ranks, me;
    bool receives;       /**< the packets that come in, else those that go out */
    const size_t *bytes; /**< [ranks] for, or from, each rank; 0: there is no message */
    size_t packet;       /**< least bytes of a packet, at least 1 */
    size_t visit;        /**< packets of a visit, at least 1 */
} mca_coll_pipering_permuted_plan_t;

/** Packets of a message at most. */
#define MCA_COLL_PIPERING_PACKETS_MOST 16384

/** A packet. */
typedef struct mca_coll_pipering_packet_t {
    int peer;
    size_t offset, bytes; /**< which part of the message it is */
    bool last;            /**< with it the message is complete */
} mca_coll_pipering_packet_t;

/** A rank on its way from visit to visit. */
typedef struct mca_coll_pipering_visits_t {
    const mca_coll_pipering_permuted_plan_t *plan;
    int *peer;   /**< [ranks] those with packets left, in the order of visits ... */
    size_t count, kept, next; /**< ... so many; those kept for the next round; the one visited */
    size_t left;              /**< packets of this visit */
    size_t round;             /**< visits to each of them before this one */
} mca_coll_pipering_visits_t;

/** Packets of all messages. */
size_t mca_coll_pipering_packets(const mca_coll_pipering_permuted_plan_t *plan);

/** Begins; `peer` is room for so many numbers as there are ranks. The plan is borrowed. */
void mca_coll_pipering_visits_begin(mca_coll_pipering_visits_t *visits,
                                    const mca_coll_pipering_permuted_plan_t *plan, int *peer);

/** The next packet; false: there is none. */
bool mca_coll_pipering_visits_next(mca_coll_pipering_visits_t *visits,
                                   mca_coll_pipering_packet_t *packet);

#endif
