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
 * Areas: slices of all contributions in the order of positions, packed, without gaps. This file
 * copies a slice of the user's contribution to an area, and slices from an area to the user's
 * buffer.
 *
 *     contribution   [ ....|slice|..... ]             of rank 5, at position 2
 *                             |
 *     area           | pos 0 | pos 1 | pos 2 | ...    each `length` bytes
 *                        |
 *     rbuf           [ rank 0 | rank 1 | ...          each with its slice at `offset`
 *
 * Cost: a copy of each slice in, and of each slice out; positions that follow each other in rbuf
 * too are copied out at once. Limits: in a call of several slices, a contribution with gaps is
 * packed as a whole first.
 */

#include "coll_mleader_steps.h"

#include <string.h>

/* ---- types with gaps ---- */

int mca_coll_mleader_pack(const mca_coll_mleader_call_t *call, char *to)
{
    opal_convertor_t packer;

    OBJ_CONSTRUCT(&packer, opal_convertor_t);
    mca_common_colltools_packer(&packer, call->stype, call->scount, call->sbuf);
    const size_t packed = mca_common_colltools_pack(&packer, to, call->bytes);
    OBJ_DESTRUCT(&packer);
    return call->bytes == packed ? OMPI_SUCCESS : OMPI_ERROR;
}

static int unpack(const mca_coll_mleader_call_t *call, int rank, const char *from)
{
    opal_convertor_t unpacker;
    size_t begin = call->offset;

    OBJ_CONSTRUCT(&unpacker, opal_convertor_t);
    mca_common_colltools_unpacker(&unpacker, call->rtype, call->rcount,
                                  call->rbuf + rank * call->stride);
    if (0 < begin) {
        opal_convertor_set_position(&unpacker, &begin);
    }
    const size_t unpacked = mca_common_colltools_unpack(&unpacker, from, call->length, false);
    OBJ_DESTRUCT(&unpacker);
    return call->length == unpacked ? OMPI_SUCCESS : OMPI_ERROR;
}

/* ---- copies into and out of an area ---- */

int mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area)
{
    const int position = call->grouping->groups.position[ompi_comm_rank(call->comm)];
    char *to = area + (size_t) position * call->length;
    ptrdiff_t true_lb, extent;

    if (NULL != call->packed) {
        memcpy(to, call->packed + call->offset, call->length);
        return OMPI_SUCCESS;
    }
    if (!call->sdense) {
        return mca_coll_mleader_pack(call, to);
    }
    ompi_datatype_get_true_extent(call->stype, &true_lb, &extent);
    return mca_common_colltools_copy(to, (const char *) call->sbuf + true_lb + call->offset,
                                     call->length, call->on_device);
}

/* The number of positions from `from` on that have the same order in rbuf, without gaps. */
static int count_run(const mca_coll_mleader_call_t *call, int from, int to)
{
    const int *rank = call->grouping->groups.rank, me = ompi_comm_rank(call->comm);
    int run = 1;

    if ((ptrdiff_t) call->length != call->stride) {
        return 1;
    }
    while (from + run < to && rank[from + run] == rank[from] + run
           && !(call->in_place && rank[from + run] == me)) {
        ++run;
    }
    return run;
}

int mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from, int to)
{
    int rc = OMPI_SUCCESS;

    if (area == call->shared) {
        mca_common_colltools_count(&mca_coll_mleader_counters.bytes_copied,
                                   (size_t) (to - from) * call->length);
    }
    for (int x = from, run; x < to && OMPI_SUCCESS == rc; x += run) {
        const int rank = call->grouping->groups.rank[x];
        const char *place = area + (size_t) x * call->length;
        run = 1;
        if (call->in_place && rank == ompi_comm_rank(call->comm)) {
            continue;
        }
        if (!call->rdense) {
            rc = unpack(call, rank, place);
            continue;
        }
        run = count_run(call, x, to);
        rc = mca_common_colltools_copy(call->rbuf + rank * call->stride + call->true_lb
                                           + call->offset,
                                       place, (size_t) run * call->length, call->on_device);
    }
    return rc;
}
