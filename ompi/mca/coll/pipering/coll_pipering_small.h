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
 * Small calls, which pass through to the module below.
 *
 * One that comes after a pause pays for every line of code and data that it touches, more
 * than for instructions: so all that decides it is inline in the function that MPI calls.
 */

#ifndef MCA_COLL_PIPERING_SMALL_H
#define MCA_COLL_PIPERING_SMALL_H

#include "coll_pipering.h"

/** Bytes that a call of the Allgather family is about. */
static inline size_t mca_coll_pipering_gather_total(const mca_coll_pipering_gather_t *call,
                                                    ompi_communicator_t *comm)
{
    const int p = ompi_comm_size(comm);
    size_t size, elements = 0;

    ompi_datatype_type_size(call->rdtype, &size);
    if (NULL == call->rcounts) {
        return (size_t) p * (size_t) call->rcount * size;
    }
    for (int r = 0; r < p; ++r) {
        elements += (size_t) call->rcounts[r];
    }
    return elements * size;
}

static inline mca_coll_pipering_collective_t
mca_coll_pipering_gather_collective(const mca_coll_pipering_gather_t *call)
{
    return NULL == call->rcounts ? MCA_COLL_PIPERING_ALLGATHER : MCA_COLL_PIPERING_ALLGATHERV;
}

/** Bytes that a call along a chain is about. */
static inline size_t mca_coll_pipering_chain_total(const mca_coll_pipering_chain_call_t *call)
{
    size_t size;

    ompi_datatype_type_size(call->dtype, &size);
    return (size_t) call->count * size;
}

/**
 * Whether a blocking call passes through to the module below because it is small; then it is
 * counted.
 */
static inline bool mca_coll_pipering_passes(const char *name,
                                            mca_coll_pipering_collective_t collective,
                                            size_t total, ompi_communicator_t *comm,
                                            const mca_coll_pipering_module_t *module)
{
    if (!mca_coll_pipering_is_small(collective, total) || 0 == total
        || &mca_coll_pipering_component.spare == module) {
        return false;
    }
    if (0 < mca_coll_pipering_component.verbose) {
        mca_coll_pipering_tell_fallback(name, total, comm, MCA_COLL_PIPERING_FALLBACK_SMALL);
    } else {
        mca_common_irregular_count(&mca_coll_pipering_component.counters
                                        .fallback[MCA_COLL_PIPERING_FALLBACK_SMALL], 1);
    }
    return true;
}

/** mca_coll_pipering_gather, unless the call is small and needs no change for the module below. */
static inline int mca_coll_pipering_gather_blocking(mca_coll_pipering_gather_t *call,
                                                    ompi_communicator_t *comm,
                                                    mca_coll_pipering_module_t *module)
{
    const bool passes
        = call->sdtype == call->rdtype && MPI_IN_PLACE != call->sbuf
          && mca_coll_pipering_passes(call->name, mca_coll_pipering_gather_collective(call),
                                      mca_coll_pipering_gather_total(call, comm), comm, module);

    return passes ? OMPI_ERR_NOT_SUPPORTED : mca_coll_pipering_gather(call, comm, module);
}

/** mca_coll_pipering_chain_serve, unless the call is small. */
static inline int mca_coll_pipering_chain_blocking(const mca_coll_pipering_chain_call_t *call,
                                                   ompi_communicator_t *comm,
                                                   mca_coll_pipering_module_t *module)
{
    return mca_coll_pipering_passes(call->name, call->collective,
                                    mca_coll_pipering_chain_total(call), comm, module)
               ? OMPI_ERR_NOT_SUPPORTED
               : mca_coll_pipering_chain_serve(call, comm, module);
}

#endif
