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
 * What calls by the schedule engine have in common: their memory, and what they list.
 */

#include "coll_pipering_scheduled.h"

#include "coll_pipering_copy.h"
#include "coll_pipering_engine_steps.h"

#include <stdlib.h>
#include <string.h>

void *mca_coll_pipering_scheduled_new(const mca_common_colltools_caller_t *caller, int tag,
                                      size_t size, mca_common_colltools_needs_t most, size_t more,
                                      void **behind)
{
    mca_coll_pipering_scheduled_t *scheduled = malloc(
        size + mca_common_colltools_schedule_size(most) + more);

    if (NULL != scheduled) {
        memset(scheduled, 0, size);
        *behind = mca_common_colltools_schedule_bind(&scheduled->schedule, most,
                                                     (char *) scheduled + size);
        scheduled->schedule.caller = caller;
        scheduled->schedule.tag = tag;
        scheduled->schedule.context = scheduled;
        scheduled->unpacking = -1;
    }
    return scheduled;
}

bool mca_coll_pipering_rounds_on_device(const mca_coll_pipering_rounds_args_t *args)
{
    return mca_coll_pipering_is_on_device(args->recv, args->contributor)
           || (!args->in_place && mca_coll_pipering_is_on_device(args->send, args->contributor));
}

static uint64_t open_window(mca_common_colltools_messages_t *list)
{
    uint64_t bytes = 0;

    list->window = list->count;
    for (uint32_t i = 0; i < list->count; ++i) {
        bytes += list->message[i].bytes;
    }
    return bytes;
}

void mca_coll_pipering_scheduled_listed(mca_coll_pipering_scheduled_t *scheduled)
{
    mca_coll_pipering_traffic_t *traffic = &scheduled->traffic;

    traffic->bytes_in = open_window(&scheduled->schedule.receives);
    traffic->bytes_out = open_window(&scheduled->schedule.sends);
    traffic->blocks_in = scheduled->schedule.receives.count;
    traffic->blocks_out = scheduled->schedule.sends.count;
}

int mca_coll_pipering_scheduled_pack(mca_coll_pipering_scheduled_t *scheduled,
                                     const mca_coll_pipering_layout_t *layout, int rank,
                                     char *packed, size_t bytes)
{
    const mca_coll_pipering_place_t from = mca_coll_pipering_place_of(layout, rank);
    const mca_coll_pipering_place_t to = {packed, bytes, MPI_PACKED};
    size_t size;

    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    ompi_datatype_type_size(from.type, &size);
    scheduled->traffic.bytes_copied += bytes;
    return size * from.count < bytes ? OMPI_ERROR : mca_coll_pipering_copy(&from, &to);
}

/* Puts the unpacker at a byte of a contribution, unless it is there. */
static void unpack_from(mca_coll_pipering_scheduled_t *scheduled,
                        const mca_coll_pipering_layout_t *layout, int rank, size_t begin)
{
    if (rank == scheduled->unpacking && begin == scheduled->unpacked) {
        return;
    }
    if (0 <= scheduled->unpacking) {
        opal_convertor_cleanup(scheduled->unpacker);
    }
    scheduled->unpacking = rank;
    scheduled->unpacked = begin;
    mca_common_colltools_unpacker(scheduled->unpacker, layout->type,
                                  mca_coll_pipering_contribution_count(layout, rank),
                                  mca_coll_pipering_contribution(layout, rank));
    opal_convertor_set_position(scheduled->unpacker, &begin);
}

size_t mca_coll_pipering_scheduled_deliver(mca_coll_pipering_scheduled_t *scheduled,
                                           const mca_coll_pipering_layout_t *layout, int rank,
                                           const char *packed, size_t begin, size_t bytes,
                                           bool on_device)
{
    size_t done;

    if (layout->dense) {
        char *place = mca_coll_pipering_dense_place(layout, rank) + begin;
        done = OMPI_SUCCESS == mca_common_colltools_copy(place, packed, bytes, on_device) ? bytes
                                                                                          : 0;
    } else {
        unpack_from(scheduled, layout, rank, begin);
        done = mca_common_colltools_unpack(scheduled->unpacker, packed, bytes, on_device);
        scheduled->unpacked += done;
    }
    scheduled->traffic.bytes_copied += done;
    return done;
}

bool mca_coll_pipering_scheduled_free(mca_coll_pipering_scheduled_t *scheduled)
{
    bool pending = mca_common_colltools_schedule_fini(&scheduled->schedule);

    if (NULL != scheduled->inner) {
        pending |= mca_coll_pipering_scheduled_free(scheduled->inner);
    }
    if (NULL != scheduled->unpacker) {
        OBJ_RELEASE(scheduled->unpacker);
    }
    if (!pending) {
        free(scheduled->memory);
        free(scheduled);
    }
    return pending;
}
