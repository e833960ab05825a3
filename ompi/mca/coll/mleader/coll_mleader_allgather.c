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
 * MPI_Allgather, MPI_Iallgather and MPI_Allgather_init: each call is served by leaders or by the
 * module below.
 *
 *     call                 leaders serve it, by default            the first one served makes
 *     MPI_Allgather        from the third one on                   topology, segments
 *     MPI_Iallgather       once there are these segments
 *     MPI_Allgather_init   from the first one on                   topology
 *
 * Each persistent request also has segments of its own (coll_mleader_request.c).
 *
 * To make a topology or segments, ranks exchange messages and wait for them, which a nonblocking
 * call must not do.
 */

#include "coll_mleader.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "opal/util/output.h"

/* The first blocking calls on a communicator go to the module below if the algorithm is auto. */
#define FIRST_CALLS 2

/* Bytes of a half of the first segment, at least; larger calls make larger ones. */
#define LEAST_HALF ((size_t) 16384)

typedef enum { BLOCKING, NONBLOCKING, PERSISTENT } form_t;

/* ---- the decision ---- */

/* Counts and reports a call that the module below serves. */
static int decline(const mca_coll_mleader_call_t *call, mca_coll_mleader_reason_t reason)
{
    mca_coll_mleader_t *component = &mca_coll_mleader;

    mca_common_colltools_count(&mca_coll_mleader_counters.fallback[reason], 1);
    if (mca_coll_mleader_is_verbose(call->comm)) {
        opal_output(component->output,
                    "coll/mleader: %s on %s: %zu bytes a rank, left to the module below: %s",
                    call->caller.name, call->comm->c_name, call->bytes,
                    mca_coll_mleader_reasons[reason].text);
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

/*
 * Judges a call that leaders may serve by what has been before it. Many communicators see only one
 * or two blocking calls, some of them of Open MPI itself while it makes other communicators:
 * topology and segment would not pay.
 */
static mca_coll_mleader_reason_t judge_history(const mca_coll_mleader_params_t *params, form_t form,
                                               mca_coll_mleader_module_t *module)
{
    const mca_coll_mleader_topology_t *topology = module->topology;

    if (NONBLOCKING == form) {
        return NULL != topology && topology->joined
                   ? mca_coll_mleader_judge_topology(params, topology)
                   : MCA_COLL_MLEADER_FALLBACK_EARLY;
    }
    return PERSISTENT == form || NULL != topology || MCA_COLL_MLEADER_AUTO != params->algorithm
                   || FIRST_CALLS < ++module->calls
               ? MCA_COLL_MLEADER_TAKEN
               : MCA_COLL_MLEADER_FALLBACK_NEW;
}

/*
 * Judges a call by the choice of the module below, which knows the machine. Where that makes none,
 * size alone decides.
 */
static int judge_time(const mca_coll_mleader_params_t *params, const mca_coll_mleader_call_t *call,
                      const mca_coll_mleader_module_t *module,
                      mca_coll_mleader_reason_t *reason)
{
    mca_common_colltools_module_t *chooser = module->chooser;
    size_t size;
    bool others;

    if (MCA_COLL_MLEADER_TAKEN != *reason || NULL == chooser
        || MCA_COLL_MLEADER_AUTO != params->algorithm) {
        return OMPI_SUCCESS;
    }
    ompi_datatype_type_size(call->rtype, &size);
    const int rc = chooser->choose(chooser, call->rcount, size, &others);
    if (others) {
        *reason = MCA_COLL_MLEADER_FALLBACK_MODEL;
    }
    return rc;
}

/* ---- topology and segments ---- */

/*
 * Frees a topology to which no call refers. A rank that ran out of memory fails all later calls:
 * other ranks may have the topology, so this rank must not try to make it again with them.
 */
static int drop_topology(mca_coll_mleader_module_t *module, int rc)
{
    if (NULL != module->topology && !module->topology->kept) {
        mca_coll_mleader_topology_free(module->topology);
        module->topology = NULL;
    }
    module->out_of_memory = OMPI_ERR_OUT_OF_RESOURCE == rc;
    return rc;
}

/* Bytes of a half of a segment in which so many bytes go at once, if there may be so many. */
static size_t half_for(size_t bytes)
{
    const size_t most = mca_coll_mleader_segment_size() / 2;
    size_t half_size = LEAST_HALF;

    while (half_size < bytes && half_size < most) {
        half_size *= 2;
    }
    return half_size < most ? half_size : most;
}

/*
 * Makes the topology if there is none, and judges it: if leaders serve no call in it, frees it and
 * keeps the reason. `joins`: makes the segments of blocking and nonblocking calls, once.
 */
static int set_up(const mca_coll_mleader_params_t *params, mca_coll_mleader_module_t *module,
                  const mca_coll_mleader_call_t *call, bool joins)
{
    ompi_communicator_t *comm = call->comm;
    const size_t half_size = half_for(call->bytes * (size_t) ompi_comm_size(comm));
    int rc = NULL == module->topology
                 ? mca_coll_mleader_topology_make(params, module, comm, joins, half_size)
                 : OMPI_SUCCESS;

    if (OMPI_SUCCESS == rc) {
        module->reason = mca_coll_mleader_judge_topology(params, module->topology);
    }
    if (OMPI_SUCCESS != rc || MCA_COLL_MLEADER_TAKEN != module->reason) {
        return drop_topology(module, rc);
    }
    mca_coll_mleader_topology_t *topology = module->topology;
    if (joins && !topology->joined) {
        rc = mca_coll_mleader_shared_make(&topology->shared, module, comm, half_size);
        if (OMPI_SUCCESS != rc) {
            return drop_topology(module, rc);
        }
        topology->joined = true;
    }
    topology->kept = true;
    return OMPI_SUCCESS;
}

static bool is_dense(ompi_datatype_t *type, size_t count)
{
    return opal_datatype_is_contiguous_memory_layout(&type->super, 1 < count ? 2 : 1);
}

static bool is_on_device(const mca_coll_mleader_call_t *call)
{
    return mca_common_colltools_on_device(call->rtype, call->rbuf)
           || (!call->in_place && mca_common_colltools_on_device(call->stype, call->sbuf));
}

/* Fills in the fields of a call that describe its buffers. */
static void describe(mca_coll_mleader_call_t *call)
{
    ptrdiff_t extent;

    ompi_datatype_type_extent(call->rtype, &extent);
    call->stride = extent * (ptrdiff_t) call->rcount;
    ompi_datatype_get_true_extent(call->rtype, &call->true_lb, &extent);
    call->rdense = is_dense(call->rtype, call->rcount);
    if (call->in_place) {
        call->sbuf = call->rbuf + ompi_comm_rank(call->comm) * call->stride;
        call->scount = call->rcount;
        call->stype = call->rtype;
    }
    call->sdense = is_dense(call->stype, call->scount);
    call->on_device = is_on_device(call);
}

/* Fills in the fields of a call that are the arguments of the MPI call. */
static inline mca_coll_mleader_call_t
call_of(const char *name, const void *sbuf, mca_common_colltools_count_t scount,
        ompi_datatype_t *sdtype, void *rbuf, mca_common_colltools_count_t rcount,
        ompi_datatype_t *rdtype, ompi_communicator_t *comm)
{
    mca_coll_mleader_call_t call = {.comm = comm,
                                    .caller = {.owner = "mleader", .name = name, .comm = comm},
                                    .sbuf = sbuf,
                                    .scount = (size_t) scount,
                                    .stype = sdtype,
                                    .rbuf = rbuf,
                                    .rcount = (size_t) rcount,
                                    .rtype = rdtype,
                                    .in_place = MPI_IN_PLACE == sbuf};

    ompi_datatype_type_size(rdtype, &call.bytes);
    call.bytes *= call.rcount;
    return call;
}

/* ---- all forms ---- */

/*
 * Chooses the variant of a call that uses the segments of its communicator. A blocking call that
 * these cut makes larger ones.
 */
static int prepare(mca_coll_mleader_call_t *call, const mca_coll_mleader_params_t *params,
                   const mca_coll_mleader_module_t *module)
{
    mca_coll_mleader_shared_t *memory = &call->topology->shared;
    const size_t most = mca_coll_mleader_segment_size() / 2;
    int rc = OMPI_SUCCESS;

    call->memory = memory;
    mca_coll_mleader_decide(call, params, memory->half_size);
    if (call->waits && call->slice_size < call->bytes && memory->there && !memory->refused
        && memory->half_size < most) {
        mca_coll_mleader_call_t uncut = *call;
        mca_coll_mleader_decide(&uncut, params, most);
        const size_t wanted = half_for(mca_coll_mleader_half_wanted(&uncut));
        if (memory->half_size < wanted) {
            rc = mca_coll_mleader_shared_grow(memory, module, call->comm, wanted);
            mca_coll_mleader_decide(call, params, memory->half_size);
        }
    }
    mca_coll_mleader_report(call);
    return rc;
}

/* Serves a call by leaders; the error is one of Open MPI. */
static int lead(mca_coll_mleader_call_t *call, const mca_coll_mleader_params_t *params,
                mca_coll_mleader_module_t *module, form_t form, ompi_request_t **request)
{
    call->topology = module->topology;
    describe(call);
    if (PERSISTENT == form) {
        return mca_coll_mleader_request_make(call, params, module, request);
    }
    call->waits = BLOCKING == form;
    const int rc = prepare(call, params, module);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (NONBLOCKING == form) {
        return mca_coll_mleader_request_start(call, request);
    }
    call->schedules = &module->schedules;
    call->tag = MCA_COLL_BASE_TAG_ALLGATHER;
    return mca_coll_mleader_call_run(call);
}

/*
 * OMPI_ERR_NOT_SUPPORTED: the module below serves the call. It also makes the persistent request of
 * a call without data, since that can be started.
 */
static int serve(mca_coll_mleader_call_t *call, mca_coll_mleader_module_t *module, form_t form,
                 ompi_request_t **request)
{
    const mca_coll_mleader_params_t params = mca_coll_mleader_params_now();
    mca_coll_mleader_reason_t reason = mca_coll_mleader_judge_call(&params, call->bytes,
                                                                   module->reason);

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    if (MCA_COLL_MLEADER_TAKEN == reason) {
        if (0 == call->bytes) {
            if (NONBLOCKING == form) {
                *request = &ompi_request_empty;
            }
            return PERSISTENT == form ? OMPI_ERR_NOT_SUPPORTED : OMPI_SUCCESS;
        }
        reason = judge_history(&params, form, module);
    }
    int rc = judge_time(&params, call, module, &reason);
    if (OMPI_SUCCESS == rc && MCA_COLL_MLEADER_TAKEN == reason && NONBLOCKING != form) {
        rc = set_up(&params, module, call, BLOCKING == form);
        reason = module->reason;
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_MLEADER_TAKEN != reason) {
        return decline(call, reason);
    }
    if (OMPI_SUCCESS == rc) {
        rc = lead(call, &params, module, form, request);
    }
    return mca_common_colltools_mpi_error(rc);
}

/* ---- MPI_Allgather ---- */

/* Not inlined, so that mca_coll_mleader_allgather needs no stack frame of this size. */
static __opal_attribute_noinline__ int
allgather(const void *sbuf, mca_common_colltools_count_t scount, struct ompi_datatype_t *sdtype,
          void *rbuf, mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
          struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;
    mca_coll_mleader_call_t call = call_of("allgather", sbuf, scount, sdtype, rbuf, rcount,
                                           rdtype, comm);

    int rc = serve(&call, module, BLOCKING, NULL);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    MCA_COMMON_COLLTOOLS_BELOW(rc, comm, allgather, module->below.coll_allgather,
                               module->below.coll_allgather_module,
                               (sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, module_below));
    return rc;
}

/*
 * On a communicator on which leaders serve no call, a call goes to the module below after a few
 * instructions, without MCA_COMMON_COLLTOOLS_BELOW, which only the first calls need.
 */
int mca_coll_mleader_allgather(const void *sbuf, mca_common_colltools_count_t scount,
                               struct ompi_datatype_t *sdtype, void *rbuf,
                               mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;

    if (MCA_COLL_MLEADER_TAKEN == module->reason || !mca_coll_mleader_is_left_alone()) {
        return allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, base);
    }
    mca_common_colltools_count(&mca_coll_mleader_counters.fallback[module->reason], 1);
    return module->below.coll_allgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
                                        module->below.coll_allgather_module);
}

/* ---- MPI_Iallgather ---- */

int mca_coll_mleader_iallgather(const void *sbuf, mca_common_colltools_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *base)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;
    mca_coll_mleader_call_t call = call_of("iallgather", sbuf, scount, sdtype, rbuf, rcount,
                                           rdtype, comm);

    const int rc = serve(&call, module, NONBLOCKING, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_iallgather(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, request,
                                         module->below.coll_iallgather_module);
}

/* ---- MPI_Allgather_init ---- */

int mca_coll_mleader_allgather_init(const void *sbuf, mca_common_colltools_count_t scount,
                                    struct ompi_datatype_t *sdtype, void *rbuf,
                                    mca_common_colltools_count_t rcount,
                                    struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;
    mca_coll_mleader_call_t call = call_of("allgather_init", sbuf, scount, sdtype, rbuf, rcount,
                                           rdtype, comm);

    const int rc = serve(&call, module, PERSISTENT, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_allgather_init(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, info,
                                             request, module->below.coll_allgather_init_module);
}
