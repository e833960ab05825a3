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
 * The functions that MPI calls, and how they serve a call.
 *
 * Most calls are small and pass through to the module below. One that comes after a pause pays
 * for every line of code and data that it touches, more than for instructions: so all that
 * decides it is inline in the function that MPI calls.
 */

#ifndef MCA_COLL_PIPERING_CALLS_H
#define MCA_COLL_PIPERING_CALLS_H

#include "coll_pipering.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_registry.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "coll_pipering_request.h"

BEGIN_C_DECLS

/** The value of the variable that says a call's algorithm. */
static inline int mca_coll_pipering_algorithm_of(mca_coll_pipering_collective_t collective)
{
    return mca_coll_pipering.algorithm[mca_coll_pipering_variable_of(collective)];
}

/* ---- small calls ---- */

/** Whether a call about `total` bytes is one for the module below because it is small. */
static inline bool mca_coll_pipering_is_small(const mca_coll_pipering_context_t *context,
                                              mca_coll_pipering_collective_t collective,
                                              size_t total)
{
    const mca_coll_pipering_setup_t *setup = __atomic_load_n(&context->setup, __ATOMIC_ACQUIRE);

    return MCA_COLL_PIPERING_SMALL > total && 0 < total && NULL != setup
           && 0 != (setup->small[collective] >> mca_coll_pipering_small_class(total) & 1)
           && MCA_COLL_PIPERING_AUTO == mca_coll_pipering_algorithm_of(collective);
}

/**
 * Leaves a call to the module below: counts it, notes it for tools, and writes the verbose line
 * about it: the call's name, its bytes in all, or MCA_COLL_PIPERING_NO_TOTAL where ranks do not
 * know them, and the number of its plan, 0: there is none. OMPI_ERR_NOT_SUPPORTED.
 */
#define MCA_COLL_PIPERING_NO_TOTAL SIZE_MAX
int mca_coll_pipering_decline(mca_coll_pipering_context_t *context, const char *name,
                              size_t total, mca_coll_pipering_reason_t reason, unsigned plan);

/** Whether sums of a collective are made in fixed point, whatever the size. */
static inline bool mca_coll_pipering_is_fixed(mca_coll_pipering_collective_t collective)
{
    return mca_coll_pipering.fixed_point_sum
           && (MCA_COLL_PIPERING_ALLREDUCE == collective || MCA_COLL_PIPERING_REDUCE == collective);
}

/**
 * Whether a blocking call passes through to the module below because it is small; then it is
 * counted. One that has a verbose line to write is left by mca_coll_pipering_serve.
 */
static inline bool mca_coll_pipering_passes(mca_coll_pipering_collective_t collective,
                                            size_t total, mca_coll_pipering_module_t *module)
{
    if (!mca_coll_pipering_is_small(&module->context, collective, total)
        || module->out_of_memory || 0 < mca_coll_pipering.process.verbose
        || mca_coll_pipering_is_fixed(collective)) {
        return false;
    }
    mca_coll_pipering_note_left(&module->context, MCA_COLL_PIPERING_FALLBACK_SMALL);
    mca_common_colltools_count(&mca_coll_pipering.process.counters
                                    .fallback[MCA_COLL_PIPERING_FALLBACK_SMALL], 1);
    return true;
}

/** Sum of the counts of all ranks. */
static inline size_t mca_coll_pipering_sum_of(mca_common_colltools_array_t counts,
                                              ompi_communicator_t *comm)
{
    const int p = ompi_comm_size(comm);
    size_t sum = 0;

    for (int r = 0; r < p; ++r) {
        sum += (size_t) mca_common_colltools_entry(counts, (size_t) r);
    }
    return sum;
}

/** Elements of all parts of a call. */
static inline size_t mca_coll_pipering_elements_of(const mca_coll_pipering_sizes_t *sizes,
                                                   ompi_communicator_t *comm)
{
    return NULL == sizes->counts.at ? (size_t) sizes->parts * sizes->count
                                    : mca_coll_pipering_sum_of(sizes->counts, comm);
}

/** Bytes of so many elements. */
static inline size_t mca_coll_pipering_bytes_of(size_t count, struct ompi_datatype_t *dtype)
{
    size_t size;

    ompi_datatype_type_size(dtype, &size);
    return count * size;
}

/* ---- all others (coll_pipering_serve.c) ---- */

/**
 * Serves a call: a blocking one to its end; *request becomes that of another form, a nonblocking
 * one being started. The sizes of the call are those of `recalled`, if that is not NULL.
 * OMPI_ERR_NOT_SUPPORTED: it is for the module below, on all ranks.
 */
int mca_coll_pipering_serve(const mca_coll_pipering_call_t *call,
                            mca_coll_pipering_module_t *module,
                            mca_coll_pipering_plan_t *recalled, ompi_request_t **request);

/** Whether coll/mleader's leaders serve a call (common_colltools_chooser.h). */
int mca_coll_pipering_choose_leaders(mca_common_colltools_module_t *base, size_t count,
                                     size_t size, bool *others);

/** Arguments of a gather, as MPI has them. */
typedef struct mca_coll_pipering_gather_t {
    const void *sbuf;
    mca_common_colltools_count_t scount;
    struct ompi_datatype_t *sdtype;
    void *rbuf;
    mca_common_colltools_array_t rcounts; /**< or none: rcount of each rank */
    mca_common_colltools_array_t displs;  /**< or none: one after the other */
    mca_common_colltools_count_t rcount;
    struct ompi_datatype_t *rdtype;
} mca_coll_pipering_gather_t;

/**
 * Serves a gather (coll_pipering_gather.c). One that is for the module below is safe for it then:
 * where types differ this rank's contribution is put in place, and the call is one with
 * MPI_IN_PLACE.
 */
int mca_coll_pipering_gather(mca_coll_pipering_gather_t *gather,
                             mca_coll_pipering_collective_t collective,
                             mca_coll_pipering_form_t form, mca_coll_pipering_module_t *module,
                             ompi_request_t **request);

/** Arguments of a reduction or scan, as MPI has them; the root of one that has none is 0. */
typedef struct mca_coll_pipering_reduction_t {
    const void *sbuf;
    void *rbuf;
    mca_common_colltools_count_t count;
    mca_common_colltools_array_t counts; /**< of each rank, or none: count */
    struct ompi_datatype_t *dtype;
    struct ompi_op_t *op;
    int root;
} mca_coll_pipering_reduction_t;

/** Serves a reduction or scan (coll_pipering_reduction.c). */
int mca_coll_pipering_reduction(const mca_coll_pipering_reduction_t *reduction,
                                mca_coll_pipering_collective_t collective,
                                mca_coll_pipering_form_t form,
                                mca_coll_pipering_module_t *module, ompi_request_t **request);

END_C_DECLS

#endif
