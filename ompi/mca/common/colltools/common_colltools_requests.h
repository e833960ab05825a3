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
 * Requests of a PML: whether they are over, what went wrong, and giving them up.
 */

#ifndef MCA_COMMON_COLLTOOLS_REQUESTS_H
#define MCA_COMMON_COLLTOOLS_REQUESTS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/** The MPI error for an error of Open MPI: out of memory must not become MPI_ERR_INTERN. */
static inline int mca_common_colltools_mpi_error(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
}

/**
 * Whether a request is over: complete, or, where Open MPI tolerates failures, its peer or
 * another rank of the communicator has failed, since then nothing would complete it. What another
 * thread has written before it completed the request can be read.
 */
static inline bool mca_common_colltools_is_over(ompi_request_t *request)
{
#if OPAL_ENABLE_FT_MPI
    const bool over = REQUEST_COMPLETE(request) || ompi_request_is_failed(request);
#else
    const bool over = REQUEST_COMPLETE(request);
#endif
    opal_atomic_rmb();
    return over;
}

/** The failure that ends a collective which waits without a request; OMPI_SUCCESS: none. */
static inline int mca_common_colltools_failure(ompi_communicator_t *comm)
{
#if OPAL_ENABLE_FT_MPI
    if (ompi_ftmpi_enabled && ompi_comm_is_revoked(comm)) {
        return MPI_ERR_REVOKED;
    }
    if (ompi_ftmpi_enabled && ompi_comm_coll_revoked(comm)) {
        return MPI_ERR_PROC_FAILED;
    }
#else
    (void) comm;
#endif
    return OMPI_SUCCESS;
}

/** The call that messages belong to, for complaints about them. */
typedef struct mca_common_colltools_caller_t {
    const char *owner; /**< the component's name for users: "pipering" */
    const char *name;  /**< the collective: "iallgatherv" */
    ompi_communicator_t *comm;
} mca_common_colltools_caller_t;

/** The expected length of a message that may have any, up to the size of its buffer. */
#define MCA_COMMON_COLLTOOLS_ANY_LENGTH SIZE_MAX

/** The part of mca_common_colltools_judge for receives with an error. */
int mca_common_colltools_blame(const mca_common_colltools_caller_t *caller,
                               const ompi_status_public_t *status, size_t expected);

/**
 * The error of a receive that is over: its own, or an error of its length, where ranks disagree
 * on the arguments of a call or on variables: MPI_ERR_TRUNCATE if more bytes than expected were
 * received, MPI_ERR_OTHER if fewer were. Errors of length are reported to the user.
 */
static inline int mca_common_colltools_judge(const mca_common_colltools_caller_t *caller,
                                             const ompi_status_public_t *status, size_t expected)
{
    if (MPI_SUCCESS == status->MPI_ERROR
        && (expected == status->_ucount || MCA_COMMON_COLLTOOLS_ANY_LENGTH == expected)) {
        return OMPI_SUCCESS;
    }
    return mca_common_colltools_blame(caller, status, expected);
}

/** Whether an error is a failed process or a revoked communicator: Open MPI informs all ranks. */
static inline bool mca_common_colltools_is_failure(int error)
{
#if OPAL_ENABLE_FT_MPI
    return MPI_ERR_PROC_FAILED == error || MPI_ERR_PROC_FAILED_PENDING == error
           || MPI_ERR_REVOKED == error;
#else
    (void) error;
    return false;
#endif
}

/**
 * Frees the requests [from, to) after a failure; request k is requests[k % window], and may be
 * MPI_REQUEST_NULL. `cancel`: these are receives, and are cancelled. True if a message may still
 * touch their memory, which must then never be freed.
 */
bool mca_common_colltools_abandon(ompi_request_t **requests, uint64_t from, uint64_t to,
                                  unsigned window, bool cancel);

END_C_DECLS

#endif
