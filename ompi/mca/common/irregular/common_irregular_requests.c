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
 * Waiting for messages, and what becomes of them when a call fails (common_irregular.h).
 *
 * A receive is withdrawn, unless its message is coming in already; a send cannot be. What
 * is still pending then ends by itself, and must find its memory as long as the process
 * lives.
 */

#include "common_irregular.h"

int mca_common_irregular_wait_all(ompi_request_t **requests, int count)
{
    int rc = ompi_request_wait_all((size_t) count, requests, MPI_STATUSES_IGNORE);

    for (int i = 0; MPI_ERR_IN_STATUS == rc && i < count; ++i) {
        if (MPI_REQUEST_NULL != requests[i] && REQUEST_COMPLETE(requests[i])
            && MPI_SUCCESS != requests[i]->req_status.MPI_ERROR) {
            rc = requests[i]->req_status.MPI_ERROR;
        }
    }
    return rc;
}

bool mca_common_irregular_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel)
{
    bool pending = false;

    for (uint64_t k = from; k < to; ++k) {
        ompi_request_t **request = &requests[k % window];
        if (MPI_REQUEST_NULL == *request) {
            continue;
        }
        if (cancel && !REQUEST_COMPLETE(*request)) {
            (void) ompi_request_cancel(*request);
        }
        /* What the request of a send to a peer that failed says is not what its network does. */
        pending |= cancel ? !mca_common_irregular_is_over(*request) : !REQUEST_COMPLETE(*request);
        ompi_request_free(request);
    }
    return pending;
}
