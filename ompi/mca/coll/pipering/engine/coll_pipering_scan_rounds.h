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
 * Scans in few rounds: a plan of the schedule engine (rounds: coll_pipering_plan_scan.c).
 *
 *     own value --copy--> result ---> sends of round 0, 1, 2 ...
 *                           ^
 *     receives --combine----'           MPI_Exscan: the first one becomes the result; in round 1 the
 *                                       result goes with the own value behind it
 *
 * What comes is combined in front of the result, so operations need not commute. The result is sent
 * from where the user wants it, and is combined when it has gone.
 *
 * Cost per rank: memory for two vectors that come; MPI_Exscan: for one more, in place for two.
 */

#ifndef MCA_COLL_PIPERING_SCAN_ROUNDS_H
#define MCA_COLL_PIPERING_SCAN_ROUNDS_H

#include "coll_pipering_scheduled.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_scan.h"
#include "ompi/op/op.h"

BEGIN_C_DECLS

/** The arguments of a scan in rounds; what they point at is borrowed until it is freed. */
typedef struct mca_coll_pipering_scan_rounds_args_t {
    const mca_common_colltools_caller_t *caller; /**< for complaints about messages */
    mca_coll_pipering_scan_t scan;
    ompi_op_t *op;
    ompi_datatype_t *type;
    size_t count;     /**< elements of the vector */
    size_t size;      /**< bytes of an element's signature */
    ptrdiff_t extent; /**< from one element to the next */
    char *send;       /**< the vector of this rank */
    char *recv;       /**< where its result goes; may be `send` */
    bool synchronous; /**< sends wait for their receives, so that no rank runs ahead */
    int tag;
} mca_coll_pipering_scan_rounds_args_t;

/**
 * Makes a scan in rounds and takes all memory it will ever want; the own value is copied.
 * OMPI_ERR_OUT_OF_RESOURCE, OMPI_ERROR: nothing is held.
 */
int mca_coll_pipering_scan_rounds_new(const mca_coll_pipering_scan_rounds_args_t *args,
                                      mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
