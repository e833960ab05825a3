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
 * Plans of short reductions along the lines of a mesh. They are forced only: where a link carries
 * what it is sent without a multicast, fewer messages were as fast (docs/mesh.md).
 *
 * Almasi et al., section 3.2.
 */

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_plan_mesh_lines.h"

void mca_coll_pipering_room_for_lines(const mca_coll_pipering_ways_t *ways, int *pipes, int *links)
{
    (void) ways;
    *pipes = *links = 0;
}

bool mca_coll_pipering_can_go_along_lines(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_may_reorder(draft)
           && MCA_COLL_PIPERING_LINES_MOST >= draft->plan->total
           && mca_coll_pipering_lines_fit(&draft->ways->mesh);
}

static mca_coll_pipering_lines_t lines_of(const mca_coll_pipering_draft_t *draft)
{
    return (mca_coll_pipering_lines_t){.mesh = &draft->ways->mesh,
                                       .group = MCA_COLL_PIPERING_LINES_GROUP,
                                       .me = draft->me};
}

/* By rank 0, so that ranks in groups of other sizes plan alike. */
void mca_coll_pipering_plan_mesh_lines(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    mca_coll_pipering_lines_t lines = lines_of(draft);

    lines.me = 0;
    const mca_coll_pipering_lines_problem_t problem
        = {.lines = &lines,
           .bytes = plan->total,
           .combine = draft->combine,
           .cost = 1 < draft->nodes ? draft->cost.net : draft->cost.local};
    mca_coll_pipering_place_alone(plan);
    plan->pipes = 0;
    plan->window = 0;
    plan->block_size = plan->largest;
    plan->rounds = (uint64_t) mca_coll_pipering_lines_phases(&lines, phase);
    plan->time = mca_coll_pipering_lines_time(&problem);
}

void mca_coll_pipering_count_lines(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_lines_t lines = lines_of(draft);
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    const int count = mca_coll_pipering_lines_phases(&lines, phase);

    for (int i = 0; i < count; ++i) {
        plan->out.blocks += (uint64_t) phase[i].sends;
        plan->in.blocks += (uint64_t) phase[i].parts - 1;
        for (int part = 0; part < phase[i].parts; ++part) {
            const int from = mca_coll_pipering_lines_from(&lines, &phase[i], part);
            plan->in_from_network += draft->node_of[from] == draft->node_of[draft->me]
                                         ? 0
                                         : plan->total;
        }
    }
    plan->in.bytes = plan->in.blocks * plan->total;
    plan->out.bytes = plan->out.blocks * plan->total;
}
