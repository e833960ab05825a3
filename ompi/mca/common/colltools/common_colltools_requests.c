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
 * Errors of messages, and requests that are pending when a call fails (common_colltools.h).
 *
 * A receive is cancelled, unless its message is being received already; a send cannot be
 * cancelled. Requests that are still pending then complete later, so their memory must exist as
 * long as the process.
 */

#include "common_colltools.h"

#include <ctype.h>
#include <stdio.h>

#include "ompi/mca/common/colltools/common_colltools_help.h"

int mca_common_colltools_blame(const mca_common_colltools_caller_t *caller,
                               const ompi_status_public_t *status, size_t expected)
{
    const bool longer = MPI_ERR_TRUNCATE == status->MPI_ERROR || expected < status->_ucount;
    char length[32] = "fewer";

    if (MPI_SUCCESS != status->MPI_ERROR && !longer) {
        return status->MPI_ERROR;
    }
    if (MCA_COMMON_COLLTOOLS_ANY_LENGTH != expected) {
        snprintf(length, sizeof(length), "%zu", expected);
    }
    mca_common_colltools_show_help("help-mca-common-colltools.txt", "other-length",
                                   toupper((unsigned char) caller->name[0]), caller->name + 1,
                                   caller->comm->c_name, ompi_comm_rank(caller->comm),
                                   status->_ucount, status->MPI_SOURCE, length, caller->owner,
                                   longer ? "MPI_ERR_TRUNCATE" : "MPI_ERR_OTHER");
    return longer ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER;
}

bool mca_common_colltools_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
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
        /* the network may still read the memory of a send whose peer has failed */
        pending |= cancel ? !mca_common_colltools_is_over(*request) : !REQUEST_COMPLETE(*request);
        ompi_request_free(request);
    }
    return pending;
}
