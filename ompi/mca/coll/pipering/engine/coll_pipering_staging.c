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

#include <stdlib.h>

static bool is_on_device(const mca_coll_pipering_layout_t *layout)
{
    ptrdiff_t true_lb, true_extent;

    ompi_datatype_get_true_extent(layout->type, &true_lb, &true_extent);
    return mca_common_colltools_on_device(layout->buffer + true_lb);
}

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
    staged->buffer = layout->buffer;
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
    if (is_on_device(send)) {
        rc = put_copy(&staging->send, sent, send);
        if (OMPI_SUCCESS == rc) {
            rc = copy(send, sent, send->buffer, staging->send.buffer);
        }
        if (OMPI_SUCCESS == rc && in_place && !apart) {
            staging->recv.used = true;
            staging->recv.buffer = recv->buffer;
            recv->buffer = send->buffer;
        }
    }
    if (OMPI_SUCCESS == rc && NULL != recv
        && (in_place ? apart : is_on_device(recv))) {
        rc = put_copy(&staging->recv, received, recv);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_staging_drop(staging, send, recv, false);
    }
    return rc;
}

int mca_coll_pipering_staging_bring(const mca_coll_pipering_staging_t *staging,
                                    const mca_coll_pipering_layout_t *recv)
{
    return staging->recv.used
               ? copy(recv, staging->count, staging->recv.buffer, recv->buffer)
               : OMPI_SUCCESS;
}

static void drop_copy(mca_coll_pipering_staged_t *staged, mca_coll_pipering_layout_t *layout,
                      bool pending)
{
    if (staged->used) {
        layout->buffer = staged->buffer;
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
    drop_copy(&staging->send, send, pending);
    drop_copy(&staging->recv, recv, pending);
}
