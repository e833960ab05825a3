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
 * The steps of a slice's schedule (coll_mleader_phases.c): copies into and out of areas, and
 * counters in the segment. A step whose counter has not reached its value returns
 * OMPI_ERR_WOULD_BLOCK, and the schedule engine runs it again.
 */

#include "coll_mleader_steps.h"

int mca_coll_mleader_contribute(void *context, int from, int to)
{
    mca_coll_mleader_call_t *call = context;
    const bool shm = MCA_COLL_MLEADER_SHM == call->variant.aggregation;
    const int rc = mca_coll_mleader_put_own(call, shm ? call->shared : call->area);

    (void) from;
    (void) to;
    if (OMPI_SUCCESS == rc && shm) {
        const int index = call->topology->index[ompi_comm_rank(call->comm)];
        mca_coll_mleader_set(&call->memory->written[index], mca_coll_mleader_written(call->slice));
    }
    return rc;
}

int mca_coll_mleader_open_lanes(void *context, int from, int to)
{
    mca_coll_mleader_call_t *call = context;

    (void) from;
    (void) to;
    for (int lane = 0; lane < call->grouping->groups.lanes; ++lane) {
        if (mca_coll_mleader_is_mine(call, lane)) {
            mca_coll_mleader_set(mca_coll_mleader_counter_of(call, lane),
                                 mca_coll_mleader_progress(call->slice, 0));
        }
    }
    return OMPI_SUCCESS;
}

int mca_coll_mleader_await_group(void *context, int from, int to)
{
    mca_coll_mleader_call_t *call = context;
    const mca_coll_mleader_topology_t *topology = call->topology;
    const uint64_t written = mca_coll_mleader_written(call->slice);

    for (; from + call->gathered < to; ++call->gathered) {
        const int rank = call->grouping->groups.rank[from + call->gathered];
        const int rc = mca_coll_mleader_look(call, &call->memory->written[topology->index[rank]],
                                             written);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    return mca_coll_mleader_open_lanes(call, 0, 0);
}

static int deliver_pieces(mca_coll_mleader_call_t *call,
                          const mca_coll_mleader_delivery_t *delivery)
{
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < MCA_COMMON_COLLTOOLS_PIECES && OMPI_SUCCESS == rc; ++i) {
        const mca_common_colltools_range_t piece = delivery->piece[i];
        if (piece.from < piece.to) {
            rc = mca_coll_mleader_deliver(call, delivery->area, piece.from, piece.to);
        }
    }
    return rc;
}

int mca_coll_mleader_end_round(void *context, int which, int none)
{
    mca_coll_mleader_call_t *call = context;
    const mca_coll_mleader_delivery_t *delivery = &call->delivery[which];

    (void) none;
    if (NULL != delivery->counter) {
        mca_coll_mleader_set(delivery->counter,
                             mca_coll_mleader_progress(call->slice, delivery->rounds));
    }
    return deliver_pieces(call, delivery);
}

int mca_coll_mleader_follow_round(void *context, int which, int none)
{
    mca_coll_mleader_call_t *call = context;
    const mca_coll_mleader_delivery_t *delivery = &call->delivery[which];
    const int rc = mca_coll_mleader_look(call, delivery->counter,
                                         mca_coll_mleader_progress(call->slice, delivery->rounds));

    (void) none;
    return OMPI_SUCCESS == rc ? deliver_pieces(call, delivery) : rc;
}
