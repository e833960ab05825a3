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
 * The engine of exchanges in few rounds (coll_pipering_plan_grid.c).
 *
 *     own ---> shelves ---> sends of round 0, 1, 2 ...
 *                 ^  |
 *     receives ---'  '---> the user's buffer
 *
 * Contributions of up to `packed` bytes stand side by side in an area, and go as one
 * message a round. Larger ones go alone: from and to the user's buffer where this is
 * dense, else by places of their own in the area. Messages are equal on all ranks, since
 * they follow from sizes; where data lies is each rank's own business.
 *
 * Cost: the area, as large as what is packed and, without a dense buffer, the rest; all
 * receives are posted at once.
 */

#ifndef MCA_COLL_PIPERING_ENGINE_GRID_H
#define MCA_COLL_PIPERING_ENGINE_GRID_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_engine.h"

BEGIN_C_DECLS

/** What an exchange is made of. All is borrowed until mca_coll_pipering_swap_fini. */
typedef struct mca_coll_pipering_swap_plan_t {
    const mca_common_irregular_caller_t *caller; /**< for what is said of messages */
    mca_coll_pipering_grid_t grid;
    const size_t *bytes; /**< [p] by rank */
    size_t packed;
    uint64_t in, out;    /**< messages of this rank */
    const mca_coll_pipering_layout_t *send; /**< NULL: the own contribution is in place */
    const mca_coll_pipering_layout_t *recv;
    bool synchronous; /**< sends wait for their receives, so that nobody runs away */
    int tag;
} mca_coll_pipering_swap_plan_t;

/** Messages of a span, one after the other. */
typedef struct mca_coll_pipering_parcels_t {
    mca_coll_pipering_span_t rest;
    bool packed; /**< the one of small contributions is still to come */
} mca_coll_pipering_parcels_t;

/** An exchange on its way. */
typedef struct mca_coll_pipering_swap_t {
    ompi_communicator_t *comm;
    mca_coll_pipering_swap_plan_t plan;
    int me, own; /**< rank, and its shelf */
    int error;   /**< OMPI_SUCCESS, or what ended the exchange */
    int rounds;
    bool begun;
    bool on_device; /**< the user's buffers are, or one of them */
    int sent;      /**< rounds whose messages are sent */
    int delivered; /**< rounds whose contributions are in the user's buffer, -1: not the own one */
    uint64_t posted, arrived, started, completed; /**< messages in and out */
    ompi_request_t **in, **out;
    size_t *expected; /**< [plan.in] bytes of the messages that come in */
    uint64_t *due;  /**< [rounds] messages that have come when a round's have */
    int *rank;      /**< [p] of a shelf */
    size_t *offset; /**< [p + 1] of a shelf in the area, of small contributions */
    char **place;   /**< [p] where the contribution of a shelf is */
    void *memory;
    char *area;
    mca_coll_pipering_span_t delivery; /**< shelves still to be delivered, of a round */
    size_t delivery_done; /**< bytes of the first of them that are */
    opal_convertor_t unpacker;
    mca_coll_pipering_traffic_t traffic;
} mca_coll_pipering_swap_t;

/** As the functions for pipelines in coll_pipering_engine.h. */
int mca_coll_pipering_swap_init(mca_coll_pipering_swap_t *swap, ompi_communicator_t *comm,
                                const mca_coll_pipering_swap_plan_t *plan);
int mca_coll_pipering_swap_progress(mca_coll_pipering_swap_t *swap);
bool mca_coll_pipering_swap_done(const mca_coll_pipering_swap_t *swap);
void mca_coll_pipering_swap_fini(mca_coll_pipering_swap_t *swap);

END_C_DECLS

#endif
