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
 * Memory for the schedules of slices, one for each half of the segment.
 *
 *     half 0   receives | sends | their requests | steps | deliveries
 *     half 1   the same
 *
 * Successive calls with the same parameters use the schedule of a half again. It is filled in anew
 * only if its slice has another length or another area.
 */

#include "coll_mleader_steps.h"

#include <stdlib.h>

/* Bytes of one half. */
static size_t size_of(const mca_common_colltools_needs_t *most)
{
    return mca_common_colltools_schedule_size(*most)
           + most->steps * sizeof(mca_coll_mleader_delivery_t);
}

/*
 * Whether the schedules are those of the call, for slices of the same length and area.
 * Other addresses need no comparison: length, grouping, variant and half determine `shared`.
 */
static bool is_laid_out(const mca_coll_mleader_schedules_t *schedules,
                        const mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_variant_t *had = &schedules->variant, *has = &call->variant;

    return NULL != schedules->memory && schedules->grouping == call->grouping
           && schedules->slice_size == call->slice_size
           && schedules->message_size == call->message_size
           && had->aggregation == has->aggregation && had->exchange == has->exchange
           && had->lanes == has->lanes;
}

/* The entries of a slice of the largest size: shorter ones have no more messages. */
static mca_common_colltools_needs_t count_entries(mca_coll_mleader_call_t *call)
{
    mca_coll_mleader_listing_t listing = {0};

    call->schedule = (mca_common_colltools_schedule_t){0};
    call->length = call->slice_size;
    mca_coll_mleader_list(call, &listing);
    return mca_common_colltools_schedule_so_far(&call->schedule);
}

/* Forgets schedules, and makes the memory large enough for those of a call. */
static void lay_out(mca_coll_mleader_schedules_t *schedules, mca_coll_mleader_call_t *call)
{
    schedules->grouping = call->grouping;
    schedules->variant = call->variant;
    schedules->slice_size = call->slice_size;
    schedules->message_size = call->message_size;
    schedules->most = count_entries(call);
    schedules->listing[0].length = schedules->listing[1].length = 0;

    const size_t size = 2 * size_of(&schedules->most);
    if (NULL == schedules->memory || schedules->size < size) {
        free(schedules->memory);
        schedules->memory = malloc(size);
        schedules->size = size;
    }
}

int mca_coll_mleader_schedules_take(mca_coll_mleader_call_t *call)
{
    if (!is_laid_out(call->schedules, call)) {
        lay_out(call->schedules, call);
    }
    return NULL == call->schedules->memory ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* Gives the call an empty schedule, whose lists are in a half of the memory. */
static void point_at(mca_coll_mleader_call_t *call, int half)
{
    const mca_common_colltools_needs_t *most = &call->schedules->most;
    mca_common_colltools_schedule_t *schedule = &call->schedule;

    *schedule = (mca_common_colltools_schedule_t){.caller = &call->caller,
                                                  .tag = call->tag,
                                                  .context = call};
    schedule->receives.window = schedule->sends.window = UINT32_MAX;
    call->delivery = mca_common_colltools_schedule_bind(
        schedule, *most, call->schedules->memory + (0 == half ? 0 : size_of(most)));
}

static void count(const mca_coll_mleader_listing_t *listing)
{
    mca_coll_mleader_counters_t *counters = &mca_coll_mleader_counters;

    mca_common_colltools_count(&counters->messages_between, listing->messages[0]);
    mca_common_colltools_count(&counters->bytes_between, listing->bytes[0]);
    mca_common_colltools_count(&counters->messages_within, listing->messages[1]);
    mca_common_colltools_count(&counters->bytes_within, listing->bytes[1]);
}

void mca_coll_mleader_schedules_list(mca_coll_mleader_call_t *call)
{
    const int half = call->slice % 2;
    mca_coll_mleader_listing_t *listing = &call->schedules->listing[half];
    mca_common_colltools_schedule_t *schedule = &call->schedule;

    point_at(call, half);
    if (listing->length == call->length && listing->area == call->area) {
        schedule->receives.count = listing->entries.receives;
        schedule->sends.count = listing->entries.sends;
        schedule->steps = listing->entries.steps;
    } else {
        *listing = (mca_coll_mleader_listing_t){.length = call->length, .area = call->area};
        mca_coll_mleader_list(call, listing);
        listing->entries = mca_common_colltools_schedule_so_far(schedule);
    }
    call->gathered = 0;
    if (0 < schedule->sends.count) {
        count(listing);
    }
}
