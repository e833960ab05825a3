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
 * Gathers in few rounds: a plan of the schedule engine (rounds: coll_pipering_plan_grid.c).
 *
 *     own ---> slots ---> sends of round 0, 1, 2 ...
 *                ^  |
 *     receives --'  '---> steps: to the user's buffer
 *
 * Contributions of up to `packed` bytes are adjacent in an area, and each round sends those of
 * its slots as one message. Each larger contribution is a message of its own, from and to
 * the user's buffer where this is dense, else from and to a place in the area. Ranks agree on
 * messages, since these follow from the sizes; the place of the data may differ from rank to
 * rank.
 *
 * The messages of a round are sent when all rounds before have been received. Received
 * contributions are delivered to the user's buffer while the next round is under way, a
 * piece at a time.
 *
 * Cost: the area, of the size of the packed contributions and, without a dense buffer, of the
 * others. All receives are posted at once.
 */

#ifndef MCA_COLL_PIPERING_GATHER_ROUNDS_H
#define MCA_COLL_PIPERING_GATHER_ROUNDS_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_engine.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_grid.h"
#include "ompi/mca/common/irregular/common_irregular_schedule.h"

BEGIN_C_DECLS

/** The arguments of a gather in rounds, borrowed until mca_coll_pipering_rounds_fini. */
typedef struct mca_coll_pipering_rounds_plan_t {
    const mca_common_irregular_caller_t *caller; /**< for complaints about messages */
    mca_coll_pipering_grid_t grid;
    const size_t *bytes; /**< [p] by rank */
    int some;            /**< the first rank that has any */
    size_t packed;
    uint64_t in, out;    /**< messages of this rank */
    const mca_coll_pipering_layout_t *send; /**< NULL: the own contribution is in place */
    const mca_coll_pipering_layout_t *recv;
    bool synchronous; /**< synchronous sends, so that no rank runs ahead */
    int tag;
} mca_coll_pipering_rounds_plan_t;

/** A gather in rounds that is under way. */
typedef struct mca_coll_pipering_rounds_t {
    mca_coll_pipering_rounds_plan_t plan;
    mca_common_irregular_schedule_t schedule;
    int me, own;    /**< this rank, and the slot of its contribution */
    bool begun;
    bool on_device; /**< one of the user's buffers is memory of a device */
    int *rank;      /**< [p] the rank whose contribution is in a slot */
    size_t *offset; /**< [p + 1] offset of a slot in the area, if its contribution is packed */
    char **place;   /**< [p] address of the contribution of a slot */
    void *memory;
    char *area;
    int delivery;         /**< the slot that is being delivered, -1: none */
    size_t delivery_done; /**< bytes of this slot that have been delivered */
    opal_convertor_t unpacker;
    mca_coll_pipering_traffic_t traffic;
} mca_coll_pipering_rounds_t;

/** Allocates all memory, and copies this rank's contribution to the place that it is sent from. */
int mca_coll_pipering_rounds_init(mca_coll_pipering_rounds_t *rounds,
                                  const mca_coll_pipering_rounds_plan_t *plan);

/** Moves the gather on without waiting; true: it is over, rounds->schedule.error is its error. */
bool mca_coll_pipering_rounds_move(mca_coll_pipering_rounds_t *rounds, int *progress);

/** Frees all but the memory into which a message may still come. */
void mca_coll_pipering_rounds_fini(mca_coll_pipering_rounds_t *rounds);

END_C_DECLS

#endif
