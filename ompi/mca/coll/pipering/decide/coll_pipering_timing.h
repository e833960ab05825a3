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
 * Timings: the longest time of all ranks, found by dissemination while this rank waits.
 */

#ifndef MCA_COLL_PIPERING_TIMING_H
#define MCA_COLL_PIPERING_TIMING_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_context.h"
#include "ompi/mca/common/irregular/common_irregular_agree.h"
#include "ompi/mca/common/irregular/common_irregular_task.h"

BEGIN_C_DECLS

typedef struct mca_coll_pipering_timing_t {
    mca_common_irregular_task_t super;
    mca_common_irregular_agreement_t agreement;
    double time; /**< of this rank; at the end the longest of all ranks */
} mca_coll_pipering_timing_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_timing_t);

/** A timing of a communicator that is set up, to be released; NULL: no memory. */
mca_coll_pipering_timing_t *mca_coll_pipering_timing_new(mca_coll_pipering_context_t *context);

/**
 * Waits until all ranks have come here, and releases the timing. *time, in seconds, becomes the
 * longest of all ranks. The error of a message, or OMPI_SUCCESS.
 */
int mca_coll_pipering_timing_agree(mca_coll_pipering_timing_t *timing, double *time);

END_C_DECLS

#endif
