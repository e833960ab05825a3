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
 * Decide: the plans of the calls of a communicator.
 */

#ifndef MCA_COLL_PIPERING_DECIDE_H
#define MCA_COLL_PIPERING_DECIDE_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_choice.h"
#include "coll_pipering_context.h"

BEGIN_C_DECLS

/**
 * The plan used last by a call of this collective with these counts of elements of `scale`
 * bytes, retained for the caller; NULL: that was another call.
 */
mca_coll_pipering_plan_t *mca_coll_pipering_plan_recall(mca_coll_pipering_context_t *context,
                                                        mca_coll_pipering_collective_t collective,
                                                        const mca_coll_pipering_sizes_t *sizes);

/**
 * The plan for a call whose sizes are those of `recalled`, if that is not NULL, on a communicator
 * that is set up. The plan is retained for the caller, `key` and `recalled` are borrowed.
 */
int mca_coll_pipering_plan_get(mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_key_t *key,
                               mca_coll_pipering_plan_t *recalled,
                               mca_coll_pipering_plan_t **plan);

/** Lets go of all plans that are kept; and of the one that a communicator used last. */
void mca_coll_pipering_plans_drop(struct mca_coll_pipering_setup_t *setup);
void mca_coll_pipering_last_drop(mca_coll_pipering_context_t *context);

/**
 * Whether a small call, of `total` bytes, is left to the module below, on a communicator that is
 * set up; judged once for calls of its class. OMPI_ERR_OUT_OF_RESOURCE.
 */
int mca_coll_pipering_judge_small(mca_coll_pipering_context_t *context,
                                  const mca_coll_pipering_key_t *key, size_t total, bool *below);

END_C_DECLS

#endif
