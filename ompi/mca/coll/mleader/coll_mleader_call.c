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
 * A call: its variant at work, slice by slice.
 *
 * Slices bound what is needed of shared and private memory, whatever the size of the
 * result. They lie in two halves of the segment in turns (coll_mleader_turns.h), so that
 * nobody waits for readers, within a call or from one to the next.
 */

#include "coll_mleader.h"

#include <stdlib.h>

static char *find_shared(const mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_topology_t *topology = call->topology;
    const mca_coll_mleader_grouping_t *grouping = call->grouping;
    const size_t lane = call->variant.lanes ? 0
                                            : (size_t) grouping->groups.lane[grouping->group];

    return topology->half[mca_coll_mleader_turn(topology->slice)]
           + lane * (size_t) topology->ranks * call->length;
}

/* A leader works where its group, or the leaders of its node, can see it. */
static void aim(mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_variant_t *variant = &call->variant;
    const bool in = MCA_COLL_MLEADER_SHM == variant->aggregation;
    const bool any = in || variant->shm_out || variant->lanes;

    call->shared = any ? find_shared(call) : NULL;
    call->area = any && (call->grouping->leader || (in && variant->shm_out)) ? call->shared
                                                                             : call->scratch;
}

static int move_slice(mca_coll_mleader_call_t *call)
{
    aim(call);
    int rc = mca_coll_mleader_aggregate(call);
    if (OMPI_SUCCESS == rc && call->grouping->leader) {
        rc = mca_coll_mleader_exchange(call);
    }
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_mleader_distribute(call);
    }
    ++call->topology->slice;
    return rc;
}

/* Contributions already stand in rbuf as they would in an area. */
static bool can_be_direct(const mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_groups_t *groups = &call->grouping->groups;
    bool in_order = call->rdense && (ptrdiff_t) call->bytes == call->stride
                    && call->slice_size == call->bytes;

    for (int r = 0; r < groups->ranks && in_order; ++r) {
        in_order = groups->rank[r] == r;
    }
    return in_order;
}

static int take_scratch(mca_coll_mleader_call_t *call)
{
    const mca_coll_mleader_variant_t *variant = &call->variant;
    const bool wanted = MCA_COLL_MLEADER_SHM != variant->aggregation || !variant->shm_out;

    if (!wanted) {
        return OMPI_SUCCESS;
    }
    if (can_be_direct(call)) {
        call->direct = true;
        call->scratch = call->rbuf + call->true_lb;
        return OMPI_SUCCESS;
    }
    call->scratch = malloc((size_t) call->grouping->groups.ranks * call->slice_size);
    return NULL == call->scratch ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* All ranks count the same slices, those included that one of them fails in. */
int mca_coll_mleader_run(mca_coll_mleader_call_t *call)
{
    const uint64_t slices = (call->bytes + call->slice_size - 1) / call->slice_size;
    const uint64_t behind = call->topology->slice + slices;
    int rc = take_scratch(call);

    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_mleader_area_init(call);
    }
    for (call->offset = 0; OMPI_SUCCESS == rc && call->offset < call->bytes;
         call->offset += call->slice_size) {
        const size_t left = call->bytes - call->offset;
        call->length = left < call->slice_size ? left : call->slice_size;
        rc = move_slice(call);
    }
    call->topology->slice = behind;
    call->topology->pending |= call->pending;
    mca_coll_mleader_area_fini(call);
    if (!call->direct && !call->pending) {
        free(call->scratch);
    }
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
}
