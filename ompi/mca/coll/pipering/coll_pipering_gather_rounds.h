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
 * Contributions of up to `packed` bytes stand side by side in an area, and go as one
 * message a round. Larger ones go alone: from and to the user's buffer where this is
 * dense, else by places of their own in the area. Messages are equal on all ranks, since
 * they follow from sizes; where data lies is each rank's own business.
 *
 * A round is sent when all rounds before it have come. Contributions that have come are
 * brought to the user's buffer while the next round is under way, a piece at a time.
 *
 * Cost: the area, as large as what is packed and, without a dense buffer, the rest; all
 * receives are posted at once.
 */

#ifndef MCA_COLL_PIPERING_GATHER_ROUNDS_H
#define MCA_COLL_PIPERING_GATHER_ROUNDS_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_engine.h"
#include "ompi/mca/common/irregular/common_irregular_schedule.h"

BEGIN_C_DECLS

/** What such a gather is made of. All is borrowed until mca_coll_pipering_rounds_fini. */
typedef struct mca_coll_pipering_rounds_plan_t {
    const mca_common_irregular_caller_t *caller; /**< for what is said of messages */
    mca_coll_pipering_grid_t grid;
    const size_t *bytes; /**< [p] by rank */
    size_t packed;
    uint64_t in, out;    /**< messages of this rank */
    const mca_coll_pipering_layout_t *send; /**< NULL: the own contribution is in place */
    const mca_coll_pipering_layout_t *recv;
    bool synchronous; /**< sends wait for their receives, so that no rank runs ahead */
    int tag;
} mca_coll_pipering_rounds_plan_t;

/** A gather in rounds on its way. */
typedef struct mca_coll_pipering_rounds_t {
    mca_coll_pipering_rounds_plan_t plan;
    mca_common_irregular_schedule_t schedule;
    int me, own;    /**< rank, and its slot */
    bool begun;
    bool on_device; /**< the user's buffers are, or one of them */
    int *rank;      /**< [p] of a slot */
    size_t *offset; /**< [p + 1] of a slot in the area, of small contributions */
    char **place;   /**< [p] where the contribution of a slot is */
    void *memory;
    char *area;
    int delivery;         /**< slot that is being delivered, -1: none */
    size_t delivery_done; /**< bytes of it that are delivered */
    opal_convertor_t unpacker;
    mca_coll_pipering_traffic_t traffic;
} mca_coll_pipering_rounds_t;

/** Takes all memory, and brings the own contribution to where it is sent from. */
int mca_coll_pipering_rounds_init(mca_coll_pipering_rounds_t *rounds,
                                  const mca_coll_pipering_rounds_plan_t *plan);

/** Moves on without waiting; true: it is over, and rounds->schedule.error tells how. */
bool mca_coll_pipering_rounds_move(mca_coll_pipering_rounds_t *rounds, int *progress);

/** Gives everything back, but memory into which a message may still come. */
void mca_coll_pipering_rounds_fini(mca_coll_pipering_rounds_t *rounds);

END_C_DECLS

#endif
