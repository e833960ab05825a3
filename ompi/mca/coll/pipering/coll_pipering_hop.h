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
 * Hops: the ways by which blocks reach a rank from another one on its node without
 * messages. A hop is a ring buffer (coll_pipering_fifo.h) in memory that both
 * share; the receiver makes it when the first call wants it,
 *
 *     receiver                              sender
 *     makes a segment     -- offer -->      attaches
 *     removes its name    <-- answer --
 *
 * and from then on it lies between these two, until their communicator is freed.
 * Where one of them cannot, both send messages as between nodes. Pipelines use a
 * hop one after the other, in the order in which their calls began.
 *
 * Limits: one direction, one pair of ranks, one link of the engine.
 */

#ifndef MCA_COLL_PIPERING_HOP_H
#define MCA_COLL_PIPERING_HOP_H

#include "coll_pipering_compat.h"

#include "coll_pipering_fifo.h"
#include "coll_pipering_plan.h"
#include "coll_pipering_wire.h"
#include "ompi/mca/common/irregular/common_irregular.h"
#include "opal/class/opal_list.h"

BEGIN_C_DECLS

typedef enum {
    MCA_COLL_PIPERING_HOP_NEW,
    MCA_COLL_PIPERING_HOP_OFFERED,  /**< the sender waits for the offer */
    MCA_COLL_PIPERING_HOP_ANSWERED, /**< the answer is under way or waited for */
    MCA_COLL_PIPERING_HOP_OPEN      /**< both ends know whether there is a buffer */
} mca_coll_pipering_hop_state_t;

/** A hop, one end of it. */
typedef struct mca_coll_pipering_hop_t {
    opal_list_item_t super;
    mca_coll_pipering_hop_state_t state;
    int peer;
    int link;     /**< of the engine, THROUGH or CLOSING */
    bool inbound; /**< this is the end that reads */
    bool broken;  /**< a pipeline failed in the midst of its blocks */
    mca_coll_pipering_fifo_t *fifo; /**< NULL: blocks go as messages */
    size_t size;                    /**< bytes of the buffer */
    uint64_t position;              /**< where the next run begins */
    uint64_t issued, serving;       /**< turns of pipelines: given away, and whose it is */
    mca_common_irregular_segment_t segment;
    int32_t answer;
    ompi_request_t *request[2]; /**< of the offer and of the answer */
} mca_coll_pipering_hop_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_hop_t);

/** All hops of a rank on a communicator. */
typedef struct mca_coll_pipering_hops_t {
    mca_coll_pipering_wire_t wire;
    opal_list_t list;
} mca_coll_pipering_hops_t;

void mca_coll_pipering_hops_init(mca_coll_pipering_hops_t *hops,
                                 const mca_coll_pipering_wire_t *wire);
void mca_coll_pipering_hops_fini(mca_coll_pipering_hops_t *hops);

/**
 * The hop of a link from or to a rank of this node, which begins to open if it is
 * new; `size` bytes are what its buffer is to have. NULL: no memory. Both ends must
 * ask for it in the same call.
 */
mca_coll_pipering_hop_t *mca_coll_pipering_hop_get(mca_coll_pipering_hops_t *hops, int peer,
                                                   int link, bool inbound, size_t size);

/** Moves the opening on without waiting; true if all hops are open, or wire.error tells why not. */
bool mca_coll_pipering_hops_open(mca_coll_pipering_hops_t *hops);

END_C_DECLS

#endif
