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
 * What the phases of a slice and their steps have in common: lanes and their counters.
 */

#ifndef MCA_COLL_MLEADER_STEPS_H
#define MCA_COLL_MLEADER_STEPS_H

#include "coll_mleader.h"

BEGIN_C_DECLS

/** Whether ranks wait for counters of lanes. */
static inline bool mca_coll_mleader_is_followed(const mca_coll_mleader_call_t *call)
{
    return call->variant.shm_out || call->variant.lanes;
}

static inline mca_coll_mleader_counter_t *
mca_coll_mleader_counter_of(const mca_coll_mleader_call_t *call, int lane)
{
    return &call->memory->progress[call->grouping->counter + lane];
}

/** Lanes that this rank takes part in: its own, or some of a node with fewer leaders. */
static inline bool mca_coll_mleader_is_mine(const mca_coll_mleader_call_t *call, int lane)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;

    return grouping->leader
           && (call->variant.lanes
                   ? grouping->group == mca_coll_mleader_group_at(&grouping->groups, grouping->node,
                                                                  lane)
                   : lane == grouping->groups.lane[grouping->group]);
}

/* Steps of a schedule whose context is the call. */

/** Puts this rank's contribution where its leader will see it, or where it is sent from. */
mca_common_irregular_step_fn_t mca_coll_mleader_contribute;

/** Waits until others have written positions [from, to) of the group, and opens the lanes. */
mca_common_irregular_step_fn_t mca_coll_mleader_await_group;

/** What its group has is there: those who follow the lanes of this rank may read it. */
mca_common_irregular_step_fn_t mca_coll_mleader_open_lanes;

/** Round `from` of the deliveries is over: this rank uses it, and says so to others. */
mca_common_irregular_step_fn_t mca_coll_mleader_end_round;

/** Waits for round `from` of the deliveries, of another leader, and has its use of it. */
mca_common_irregular_step_fn_t mca_coll_mleader_follow_round;

END_C_DECLS

#endif
