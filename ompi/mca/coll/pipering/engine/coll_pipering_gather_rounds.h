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
 *     own ---> pieces for other lanes of the group
 *      '-----> slots ---> sends of round 0, 1, 2 ...
 *                ^  |
 *     receives --'  '---> steps: to the user's buffer
 *
 * Pieces of up to `grid->packed` bytes are adjacent in an area, and each round sends those of
 * its slots as one message. Each larger piece, or block of it, is a message of its own, from and to
 * the user's buffer where this is dense, else from and to a place in the area. Where contributions
 * adjoin in messages (`grid->adjoin`) and in the receive buffer, no piece has a place in the area, and
 * nothing but the rank's own contribution is copied. Ranks agree on messages, since these follow from
 * the sizes; the place of the data may differ from rank to rank.
 *
 * Before the rounds a rank sends a message to each lane of its group in whose share a part of its
 * contribution falls. The messages of a round are posted when all rounds before are over.
 * Received pieces are delivered to the user's buffer while the next round is under way, a
 * part at a time.
 *
 * Cost: the area, of the size of the packed pieces and, without a dense buffer, of the
 * others.
 */

#ifndef MCA_COLL_PIPERING_GATHER_ROUNDS_H
#define MCA_COLL_PIPERING_GATHER_ROUNDS_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_scheduled.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_grid.h"

BEGIN_C_DECLS

/** The arguments of a gather in rounds; what they point at is borrowed until it is freed. */
typedef struct mca_coll_pipering_rounds_args_t {
    const mca_common_colltools_caller_t *caller; /**< for complaints about messages */
    const mca_coll_pipering_grid_t *grid;
    const mca_coll_pipering_slots_t *slots; /**< of this rank */
    size_t bytes; /**< of this rank */
    int some;     /**< the first rank that has any */
    uint64_t in, out; /**< messages of this rank */
    const mca_coll_pipering_layout_t *send; /**< NULL: the own contribution is in place */
    const mca_coll_pipering_layout_t *recv;
    bool synchronous; /**< synchronous sends, so that no rank runs ahead */
    int tag;
} mca_coll_pipering_rounds_args_t;

/**
 * Makes a gather in rounds: takes all memory, and copies this rank's contribution to the places that
 * it is sent from. OMPI_ERR_OUT_OF_RESOURCE, or the error of that copy: nothing is made.
 */
int mca_coll_pipering_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                 mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
