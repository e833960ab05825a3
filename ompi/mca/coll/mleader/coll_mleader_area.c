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
 * packed as a whole first, and an rbuf with gaps needs a convertor for each rank.
 */

#include "coll_mleader.h"

#include <stdlib.h>
#include <string.h>

static int rank_of(const mca_coll_mleader_call_t *call)
{
    return ompi_comm_rank(call->comm);
}

/* ---- types with gaps ---- */

/* Packs the whole contribution; `on_device`: `to` may be in memory of a device. */
static int pack_all(const mca_coll_mleader_call_t *call, char *to, bool on_device)
{
    opal_convertor_t packer;
    size_t done = 0;

    OBJ_CONSTRUCT(&packer, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &call->stype->super,
                                             call->scount, call->sbuf, 0, &packer);
    for (size_t packed = 1; 0 < packed && done < call->bytes; done += packed) {
        packed = mca_common_colltools_pack(&packer, to + done, call->bytes - done, on_device);
    }
    OBJ_DESTRUCT(&packer);
    return call->bytes == done ? OMPI_SUCCESS : OMPI_ERROR;
}

static void prepare_unpacker(const mca_coll_mleader_call_t *call, int rank,
                             opal_convertor_t *unpacker)
{
    OBJ_CONSTRUCT(unpacker, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &call->rtype->super,
                                             call->rcount, call->rbuf + rank * call->stride, 0,
                                             unpacker);
}

static int unpack(opal_convertor_t *unpacker, const char *from, size_t length)
{
    return length == mca_common_colltools_unpack(unpacker, from, length, false) ? OMPI_SUCCESS
                                                                                : OMPI_ERROR;
}

/* In a call of several slices, the convertor of each rank keeps its position between them. */
static int unpack_rank(mca_coll_mleader_call_t *call, int rank, const char *from)
{
    opal_convertor_t unpacker;

    if (NULL != call->unpackers) {
        return unpack(&call->unpackers[rank], from, call->length);
    }
    prepare_unpacker(call, rank, &unpacker);
    const int rc = unpack(&unpacker, from, call->length);
    OBJ_DESTRUCT(&unpacker);
    return rc;
}

int mca_coll_mleader_area_init(mca_coll_mleader_call_t *call)
{
    const bool sliced = call->slice_size < call->bytes;

    if (sliced && !call->sdense) {
        call->packed = malloc(call->bytes);
        if (NULL == call->packed) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    if (sliced && !call->rdense) {
        call->unpackers = malloc((size_t) call->grouping->groups.ranks
                                 * sizeof(opal_convertor_t));
        if (NULL == call->unpackers) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    return OMPI_SUCCESS;
}

void mca_coll_mleader_area_fini(mca_coll_mleader_call_t *call)
{
    free(call->unpackers);
    free(call->packed);
    call->unpackers = NULL;
    call->packed = NULL;
}

int mca_coll_mleader_area_begin(mca_coll_mleader_call_t *call)
{
    for (int r = 0; NULL != call->unpackers && r < call->grouping->groups.ranks; ++r) {
        prepare_unpacker(call, r, &call->unpackers[r]);
        call->unpacking = true;
    }
    return NULL == call->packed ? OMPI_SUCCESS : pack_all(call, call->packed, false);
}

void mca_coll_mleader_area_end(mca_coll_mleader_call_t *call)
{
    for (int r = 0; call->unpacking && r < call->grouping->groups.ranks; ++r) {
        OBJ_DESTRUCT(&call->unpackers[r]);
    }
    call->unpacking = false;
}

/* ---- copies into and out of an area ---- */

/* Copies the contribution to its place in rbuf, which is the area. */
static int put_in_place(const mca_coll_mleader_call_t *call)
{
    if (call->in_place) {
        return OMPI_SUCCESS;
    }
    char *place = call->rbuf + rank_of(call) * call->stride + call->true_lb;
    if (!call->sdense) {
        return pack_all(call, place, call->on_device);
    }
    ptrdiff_t true_lb, extent;
    ompi_datatype_get_true_extent(call->stype, &true_lb, &extent);
    return mca_common_colltools_copy(place, (const char *) call->sbuf + true_lb, call->bytes,
                                     call->on_device);
}

int mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area)
{
    const int position = call->grouping->groups.position[rank_of(call)];
    char *to = area + (size_t) position * call->length;
    ptrdiff_t true_lb, extent;

    if (call->direct && area == call->scratch) {
        return put_in_place(call);
    }
    if (NULL != call->packed) {
        memcpy(to, call->packed + call->offset, call->length);
        return OMPI_SUCCESS;
    }
    if (!call->sdense) {
        return pack_all(call, to, false);
    }
    ompi_datatype_get_true_extent(call->stype, &true_lb, &extent);
    return mca_common_colltools_copy(to, (const char *) call->sbuf + true_lb + call->offset,
                                     call->length, call->on_device);
}

/* The number of positions from `from` on that have the same order in rbuf, without gaps. */
static int count_run(const mca_coll_mleader_call_t *call, int from, int to)
{
    const int *rank = call->grouping->groups.rank, me = rank_of(call);
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

    if (call->direct && area == call->scratch) {
        return OMPI_SUCCESS;
    }
    if (area == call->shared) {
        mca_common_colltools_count(&mca_coll_mleader.counters.bytes_copied,
                                   (size_t) (to - from) * call->length);
    }
    for (int x = from, run; x < to && OMPI_SUCCESS == rc; x += run) {
        const int rank = call->grouping->groups.rank[x];
        const char *place = area + (size_t) x * call->length;
        run = 1;
        if (call->in_place && rank == rank_of(call)) {
            continue;
        }
        if (!call->rdense) {
            rc = unpack_rank(call, rank, place);
            continue;
        }
        run = count_run(call, x, to);
        rc = mca_common_colltools_copy(call->rbuf + rank * call->stride + call->true_lb
                                           + call->offset,
                                       place, (size_t) run * call->length, call->on_device);
    }
    return rc;
}
