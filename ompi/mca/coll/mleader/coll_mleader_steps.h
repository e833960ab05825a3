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
 * The phases of a slice: areas, the schedule, its steps, and the lanes and counters that they use.
 */

#ifndef MCA_COLL_MLEADER_STEPS_H
#define MCA_COLL_MLEADER_STEPS_H

#include "coll_mleader_call.h"

BEGIN_C_DECLS

/* ---- areas and the user's buffers (coll_mleader_area.c) ---- */

/** Packs the whole contribution, as a packer does not stop within an element, as slices do. */
int mca_coll_mleader_pack(const mca_coll_mleader_call_t *call, char *to);

/** Copies the slice of this rank's contribution to its position in an area. */
int mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area);

/** Copies the slices at positions [from, to) from an area to the user's buffer. */
int mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from, int to);

/* ---- phases (coll_mleader_schedules.c, coll_mleader_phases.c) ---- */

/**
 * Makes call->schedules large enough for the schedule of any slice, or OMPI_ERR_OUT_OF_RESOURCE.
 */
int mca_coll_mleader_schedules_take(mca_coll_mleader_call_t *call);

/** Fills in call->schedule for the slice; it can begin then. */
void mca_coll_mleader_schedules_list(mca_coll_mleader_call_t *call);

/**
 * Adds the entries of the slice to call->schedule, or only counts them, if its lists have no
 * memory; counts messages and bytes sent.
 */
void mca_coll_mleader_list(mca_coll_mleader_call_t *call, mca_coll_mleader_listing_t *listing);

/* ---- lanes and counters (coll_mleader_shared.c) ---- */

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

/**
 * Polls whether a counter has reached a value: once, or several times for a blocking call. Returns
 * OMPI_SUCCESS, OMPI_ERR_WOULD_BLOCK, or an error with which the call must end.
 */
int mca_coll_mleader_look(const mca_coll_mleader_call_t *call,
                          const mca_coll_mleader_counter_t *counter, uint64_t value);

/* ---- steps (coll_mleader_steps.c); the context of the schedule is the call ---- */

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
