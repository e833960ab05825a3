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
 * A call: moves its slices, one after the other.
 *
 *     begin     takes the numbers of the slices
 *     move      waits for the calls before this one, then runs a schedule for each slice
 *     run       begin and move of a blocking call; allocates and frees its memory, too
 *
 *     slice     n            n + 1        n + 2        n + 3
 *     half      0            1            0            1
 *               |-- call A -----------|   |-- call B ----------...
 *
 * Slices bound the shared and private memory of a call, whatever the size of its result. They use
 * the two halves of the segment in turns (coll_mleader_segment.h), so no rank waits until others
 * have read a slice, within a call or between calls.
 */

#include "coll_mleader_steps.h"

#include <stdlib.h>

#include "opal/runtime/opal_progress.h"

/* ---- memory ---- */

int mca_coll_mleader_call_init(mca_coll_mleader_call_t *call)
{
    const bool private = !mca_coll_mleader_is_shared(&call->variant);
    const bool packs = call->slice_size < call->bytes && !call->sdense;

    if (private) {
        call->scratch = malloc((size_t) call->topology->ranks * call->slice_size);
    }
    if (packs) {
        call->packed = malloc(call->bytes);
    }
    if ((private && NULL == call->scratch) || (packs && NULL == call->packed)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return mca_coll_mleader_schedules_take(call);
}

void mca_coll_mleader_call_fini(mca_coll_mleader_call_t *call)
{
    free(call->packed);
    if (!call->pending) {
        free(call->scratch);
    }
    call->packed = call->scratch = NULL;
}

/* ---- slices ---- */

/* The area of the slice in the segment: in lanes one for the node, else one for each group. */
static char *find_shared(const mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const size_t lane = call->variant.lanes ? 0
                                            : (size_t) grouping->groups.lane[grouping->group];

    return call->memory->half[call->slice % 2]
           + lane * (size_t) call->topology->ranks * call->length;
}

/*
 * Finds the areas of the slice. A leader sends from the segment and receives there if its group, or
 * other leaders of the node, read or write the same area.
 */
static void find_areas(mca_coll_mleader_call_t *call)
{
    const bool all = mca_coll_mleader_is_shared(&call->variant);
    const bool any = all || call->variant.lanes;

    call->shared = any ? find_shared(call) : NULL;
    call->area = any && (call->grouping->leader || all) ? call->shared : call->scratch;
}

static void begin_slice(mca_coll_mleader_call_t *call)
{
    const size_t left = call->bytes - call->offset;

    call->length = left < call->slice_size ? left : call->slice_size;
    find_areas(call);
    mca_coll_mleader_schedules_list(call);
    mca_common_colltools_schedule_begin(&call->schedule);
}

/* Ends a call; after an error, too, with all of its slices, as on the other ranks. */
static void end_call(mca_coll_mleader_call_t *call, int rc)
{
    call->memory->pending |= call->pending;
    call->error = rc;
    call->state = MCA_COLL_MLEADER_OVER;
    mca_coll_mleader_shared_pass(call->memory, call->end, rc);
}

/* Begins the first slice when the calls before this one have ended. */
static void enter(mca_coll_mleader_call_t *call)
{
    int rc = call->memory->error;

    call->state = MCA_COLL_MLEADER_MOVING;
    if (OMPI_SUCCESS == rc && call->waits) {
        rc = mca_coll_mleader_call_init(call);
    }
    if (OMPI_SUCCESS == rc && NULL != call->packed) {
        rc = mca_coll_mleader_pack(call, call->packed);
    }
    if (OMPI_SUCCESS == rc) {
        begin_slice(call);
    } else {
        end_call(call, rc);
    }
}

/* Ends a slice; begins the next one, or ends the call. */
static void go_on(mca_coll_mleader_call_t *call)
{
    const int rc = call->schedule.error;

    if (OPAL_UNLIKELY(OMPI_SUCCESS != rc)) {
        call->pending |= mca_common_colltools_schedule_fini(&call->schedule);
    }
    ++call->slice;
    call->offset += call->slice_size;
    if (OMPI_SUCCESS == rc && call->offset < call->bytes) {
        begin_slice(call);
    } else {
        end_call(call, rc);
    }
}

/* ---- calls ---- */

void mca_coll_mleader_call_begin(mca_coll_mleader_call_t *call)
{
    const uint64_t slices = mca_coll_mleader_slices(call);
    mca_coll_mleader_counters_t *counters = &mca_coll_mleader_counters;

    call->slice = mca_coll_mleader_shared_take(call->memory, slices, &call->turn);
    call->end = call->slice + slices;
    call->offset = 0;
    call->state = MCA_COLL_MLEADER_WAITING;
    mca_common_colltools_count(mca_coll_mleader_is_shared(&call->variant)
                                   ? &counters->calls_shared
                                   : &counters->calls_messages,
                               1);
}

bool mca_coll_mleader_call_move(mca_coll_mleader_call_t *call, int *progress)
{
    if (MCA_COLL_MLEADER_WAITING == call->state) {
        if (!mca_coll_mleader_shared_is_turn(call->memory, call->turn)) {
            return false;
        }
        enter(call);
    }
    while (MCA_COLL_MLEADER_MOVING == call->state) {
        if (!mca_common_colltools_schedule_move(&call->schedule, progress)) {
            return false;
        }
        go_on(call);
    }
    return true;
}

int mca_coll_mleader_call_run(mca_coll_mleader_call_t *call)
{
    mca_coll_mleader_call_begin(call);
    while (!mca_coll_mleader_shared_is_turn(call->memory, call->turn)) {
        opal_progress();
    }
    enter(call);
    while (MCA_COLL_MLEADER_MOVING == call->state) {
        (void) mca_common_colltools_schedule_wait(&call->schedule);
        go_on(call);
    }
    mca_coll_mleader_call_fini(call);
    return call->error;
}
