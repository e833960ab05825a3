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
 * Reductions in few rounds (mca_coll_pipering_grid_t) by the schedule engine: the rounds of a
 * gather backwards, and for an allreduce forwards again.
 *
 *     own values --copy--> slots, round by round sent, or combined with what comes in;
 *     then pieces of a share to the ranks whose they are, or shares on to all
 *
 * Cost per rank with m bytes in all: ceil(log2 g) + ceil(log2 (p / g)) messages of at most m bytes
 * together, which are combined, and a piece for each rank that its share belongs to; an allreduce
 * as many messages again instead. All values are copied once, results once.
 *
 * Limits: the operation commutes; memory for all values twice.
 */

#ifndef MCA_COLL_PIPERING_REDUCE_ROUNDS_H
#define MCA_COLL_PIPERING_REDUCE_ROUNDS_H

#include "coll_pipering_scheduled.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_grid.h"
#include "ompi/op/op.h"

BEGIN_C_DECLS

/** What a reduction in rounds is made of. All is borrowed until its end. */
typedef struct mca_coll_pipering_reduce_rounds_args_t {
    const mca_common_colltools_caller_t *caller;
    const mca_coll_pipering_grid_t *grid;   /**< in elements */
    const mca_coll_pipering_slots_t *slots; /**< of this rank */
    const size_t *starts; /**< [p] elements of the vector before the part of each rank */
    bool spreads;         /**< an allreduce; else each rank gets its part */
    uint64_t in, out;     /**< messages that come and go */
    ompi_op_t *op;
    ompi_datatype_t *type;
    size_t size;      /**< bytes of an element's signature */
    ptrdiff_t extent; /**< from one element to the next */
    char *send;       /**< the vector of this rank */
    char *recv;       /**< where its part goes, or the result of all; may be `send` */
    bool synchronous; /**< sends wait for their receives, so that no rank runs ahead */
    int tag;
} mca_coll_pipering_reduce_rounds_args_t;

/**
 * Makes a reduction and takes all memory it will ever want; its own values are copied, nothing
 * is sent or received yet. OMPI_ERR_OUT_OF_RESOURCE, OMPI_ERROR: nothing is held.
 */
int mca_coll_pipering_reduce_rounds_new(const mca_coll_pipering_reduce_rounds_args_t *args,
                                        mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
