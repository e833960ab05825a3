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
 * The steps of a slice's schedule, and the lanes and counters that the steps and the phases use.
 */

#ifndef MCA_COLL_MLEADER_STEPS_H
#define MCA_COLL_MLEADER_STEPS_H

#include "coll_mleader.h"

BEGIN_C_DECLS

/** Whether other ranks of the node wait for the counters of lanes. */
static inline bool mca_coll_mleader_is_followed(const mca_coll_mleader_call_t *call)
{
    return mca_coll_mleader_is_shared(&call->variant) || call->variant.lanes;
}

/** The counter of the rounds that are over in a lane. */
static inline mca_coll_mleader_counter_t *
mca_coll_mleader_counter_of(const mca_coll_mleader_call_t *call, int lane)
{
    return &call->memory->progress[call->grouping->counter + lane];
}

/**
 * Whether this rank is the leader in a lane. On a node with fewer groups than there are lanes, a
 * leader may have several. If leaders do not exchange in lanes, a leader has the one of its group.
 */
static inline bool mca_coll_mleader_is_mine(const mca_coll_mleader_call_t *call, int lane)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;

    return grouping->leader
           && (call->variant.lanes
                   ? grouping->group == mca_coll_mleader_group_at(&grouping->groups, grouping->node,
                                                                  lane)
                   : lane == grouping->groups.lane[grouping->group]);
}

/* Steps; the context of the schedule is the call. */

/**
 * Copies the slice of this rank's contribution to the segment and sets this rank's counter, or to
 * the area from which it is sent.
 */
mca_common_colltools_step_fn_t mca_coll_mleader_contribute;

/** Waits until the ranks at positions [from, to) have written to the segment; opens the lanes. */
mca_common_colltools_step_fn_t mca_coll_mleader_await_group;

/** Sets the counters of this rank's lanes to 0 rounds: others may read the group's data. */
mca_common_colltools_step_fn_t mca_coll_mleader_open_lanes;

/** Sets the counter of delivery `from`, if it has one, and delivers. */
mca_common_colltools_step_fn_t mca_coll_mleader_end_round;

/** Waits for the counter of delivery `from`, which another leader sets, and delivers. */
mca_common_colltools_step_fn_t mca_coll_mleader_follow_round;

END_C_DECLS

#endif
