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
 * Plans of scans in log2 p rounds (coll_pipering_plan_scan.c).
 */

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_scan.h"

static mca_coll_pipering_scan_t scan_of(const mca_coll_pipering_draft_t *draft)
{
    return (mca_coll_pipering_scan_t){.ranks = draft->at.ranks,
                                      .exclusive = MCA_COLL_PIPERING_EXSCAN
                                                   == draft->plan->key.collective};
}

bool mca_coll_pipering_can_scan(const mca_coll_pipering_draft_t *draft)
{
    return draft->plan->total <= draft->plan->key.params.rounds_max_total;
}

void mca_coll_pipering_decide_scan(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_scan_problem_t problem = {.scan = scan_of(draft),
                                                      .node_of = draft->at.node_of,
                                                      .bytes = plan->total,
                                                      .combine = draft->combine,
                                                      .cost = draft->cost,
                                                      .scratch = draft->sizes};

    mca_coll_pipering_place_alone(plan);
    plan->block_size = plan->largest;
    plan->rounds = (uint64_t) mca_coll_pipering_scan_rounds(&problem.scan);
    plan->time = mca_coll_pipering_scan_time(&problem);
}

void mca_coll_pipering_count_scan(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_scan_t scan = scan_of(draft);
    const int none = MCA_COLL_PIPERING_SCAN_NONE;

    for (int k = 0; k < mca_coll_pipering_scan_rounds(&scan); ++k) {
        const int from = mca_coll_pipering_scan_from(&scan, draft->at.me, k);
        const bool across = none != from
                            && draft->at.node_of[from] != draft->at.node_of[draft->at.me];
        plan->out += none != mca_coll_pipering_scan_to(&scan, draft->at.me, k);
        plan->in += none != from;
        plan->in_from_network += across ? plan->total : 0;
    }
}
