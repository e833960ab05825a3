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
 * Plans of calls by pulls (coll_pipering_pulls.c): who contributes what, and no message.
 */

#include "coll_pipering_draft.h"

bool mca_coll_pipering_can_pull(const mca_coll_pipering_draft_t *draft)
{
    return draft->at.pulls;
}

/* A broadcast is a gather to which the root alone contributes. */
void mca_coll_pipering_decide_pulls(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (2 > plan->key.sizes.parts) {
        mca_coll_pipering_place_root(plan, draft->at.ranks);
    }
    plan->block_size = plan->largest;
}

/* No message is sent. */
void mca_coll_pipering_count_pulls(mca_coll_pipering_draft_t *draft)
{
    (void) draft;
}
