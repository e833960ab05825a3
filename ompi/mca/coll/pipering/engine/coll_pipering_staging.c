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
 * Copies in the place of users' buffers (coll_pipering_staging.h).
 */

#include "coll_pipering_staging.h"

#include "coll_pipering_copy.h"
#include "coll_pipering_engine_steps.h"
#include "ompi/mca/common/colltools/common_colltools_copy.h"

#include <stdlib.h>

/* Open MPI finds out which side is a device's. */
static int copy(const mca_coll_pipering_layout_t *layout, size_t count, char *to, char *from)
{
    return 0 == ompi_datatype_copy_content_same_ddt(layout->type, count, to, from) ? OMPI_SUCCESS
                                                                                  : OMPI_ERROR;
}

static int put_copy(mca_coll_pipering_staged_t *staged, size_t count,
                    mca_coll_pipering_layout_t *layout)
{
    ptrdiff_t gap;

    staged->memory = malloc(mca_common_colltools_span(layout->type, count, &gap));
    if (NULL == staged->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    staged->used = true;
    staged->layout = *layout;
    layout->buffer = (char *) staged->memory - gap;
    return OMPI_SUCCESS;
}

int mca_coll_pipering_staging_begin(mca_coll_pipering_staging_t *staging,
                                    size_t sent, size_t received, bool apart,
                                    mca_coll_pipering_layout_t *send,
                                    mca_coll_pipering_layout_t *recv)
{
    const bool in_place = NULL != recv && send->buffer == recv->buffer;
    int rc = OMPI_SUCCESS;

    *staging = (mca_coll_pipering_staging_t){.count = received};
    if (mca_common_colltools_on_device(send->type, send->buffer)) {
        rc = put_copy(&staging->send, sent, send);
        if (OMPI_SUCCESS == rc) {
            rc = copy(send, sent, send->buffer, staging->send.layout.buffer);
        }
        if (OMPI_SUCCESS == rc && in_place && !apart) {
            staging->recv.used = true;
            staging->recv.layout = *recv;
            recv->buffer = send->buffer;
        }
    }
    if (OMPI_SUCCESS == rc && NULL != recv
        && (in_place ? apart : mca_common_colltools_on_device(recv->type, recv->buffer))) {
        rc = put_copy(&staging->recv, received, recv);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_staging_drop(staging, send, recv, false);
    }
    return rc;
}

/* ---- gathers ---- */

static mca_coll_pipering_place_t packed_at(char *packed, size_t bytes)
{
    return (mca_coll_pipering_place_t){packed, bytes, MPI_PACKED};
}

/* Packs a contribution. */
static int pack(const mca_coll_pipering_layout_t *layout, int rank, char *packed, size_t bytes)
{
    const mca_coll_pipering_place_t from = mca_coll_pipering_place_of(layout, rank);
    const mca_coll_pipering_place_t to = packed_at(packed, bytes);

    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    return layout->dense ? mca_common_colltools_copy_by_device(
                               packed, mca_coll_pipering_dense_place(layout, rank), bytes)
                         : mca_coll_pipering_copy(&from, &to);
}

/* Puts memory in the place of a layout, for so many contributions one behind the other. */
static int put_packed(mca_coll_pipering_staged_t *staged, const size_t *bytes, size_t count,
                      mca_coll_pipering_layout_t *layout)
{
    size_t total = 0;

    for (size_t i = 0; i < count; ++i) {
        total += bytes[i];
    }
    size_t *starts = malloc(count * sizeof(size_t) + total);
    staged->memory = starts;
    if (NULL == starts) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (size_t i = 0, begin = 0; i < count; begin += bytes[i++]) {
        starts[i] = begin;
    }
    staged->used = true;
    staged->layout = *layout;
    *layout = (mca_coll_pipering_layout_t){.buffer = (char *) (starts + count),
                                           .type = MPI_BYTE,
                                           .counts = {bytes, true},
                                           .starts = starts,
                                           .single = layout->single,
                                           .extent = 1,
                                           .dense = true};
    return OMPI_SUCCESS;
}

int mca_coll_pipering_staging_gather(mca_coll_pipering_staging_t *staging, const size_t *bytes,
                                     size_t count, int contributor, int own, int me,
                                     mca_coll_pipering_layout_t *send,
                                     mca_coll_pipering_layout_t *recv)
{
    int rc = OMPI_SUCCESS;

    *staging = (mca_coll_pipering_staging_t){.count = count, .bytes = bytes, .own = own};
    if (NULL != send && 0 < bytes[me] && mca_coll_pipering_is_on_device(send, me)) {
        rc = put_packed(&staging->send, &bytes[me], 1, send);
        if (OMPI_SUCCESS == rc) {
            send->counts.at = NULL; /* of this rank alone, which is not the first one */
            send->count = bytes[me];
            rc = pack(&staging->send.layout, me, send->buffer, bytes[me]);
        }
    }
    if (OMPI_SUCCESS == rc && mca_coll_pipering_is_on_device(recv, contributor)) {
        rc = put_packed(&staging->recv, bytes, count, recv);
        if (OMPI_SUCCESS == rc && 0 <= own) {
            rc = pack(&staging->recv.layout, own, mca_coll_pipering_dense_place(recv, own),
                      bytes[own]);
        }
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_staging_drop(staging, send, recv, false);
    }
    return rc;
}

/* Brings the contributions that are not in place; those that adjoin in one copy. */
static int bring_gathered(const mca_coll_pipering_staging_t *staging,
                          const mca_coll_pipering_layout_t *recv)
{
    const mca_coll_pipering_layout_t *to = &staging->recv.layout;
    int rc = OMPI_SUCCESS;

    for (size_t i = 0, next; OMPI_SUCCESS == rc && i < staging->count; i = next) {
        char *packed = mca_coll_pipering_dense_place(recv, (int) i);
        size_t bytes = staging->bytes[i];
        next = i + 1;
        if ((int) i == staging->own || 0 == bytes) {
            continue;
        }
        if (!to->dense) {
            const mca_coll_pipering_place_t from = packed_at(packed, bytes);
            const mca_coll_pipering_place_t place = mca_coll_pipering_place_of(to, (int) i);
            rc = mca_coll_pipering_copy(&from, &place);
            continue;
        }
        char *place = mca_coll_pipering_dense_place(to, (int) i);
        while (next < staging->count && (int) next != staging->own
               && mca_coll_pipering_dense_place(to, (int) next) == place + bytes) {
            bytes += staging->bytes[next++];
        }
        rc = mca_common_colltools_copy_by_device(place, packed, bytes);
    }
    return rc;
}

int mca_coll_pipering_staging_bring(const mca_coll_pipering_staging_t *staging,
                                    const mca_coll_pipering_layout_t *recv)
{
    if (!staging->recv.used) {
        return OMPI_SUCCESS;
    }
    return NULL == staging->bytes
               ? copy(recv, staging->count, staging->recv.layout.buffer, recv->buffer)
               : bring_gathered(staging, recv);
}

/* ---- the end ---- */

static void drop_copy(mca_coll_pipering_staged_t *staged, mca_coll_pipering_layout_t *layout,
                      bool pending)
{
    if (staged->used) {
        *layout = staged->layout;
        staged->used = false;
    }
    if (!pending) {
        free(staged->memory);
    }
    staged->memory = NULL;
}

void mca_coll_pipering_staging_drop(mca_coll_pipering_staging_t *staging,
                                    mca_coll_pipering_layout_t *send,
                                    mca_coll_pipering_layout_t *recv, bool pending)
{
    if (NULL != send) {
        drop_copy(&staging->send, send, pending);
    }
    drop_copy(&staging->recv, recv, pending);
}
