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
 * What the Allgather family shares: the way of a call from its arguments to a
 * plan and a request, or to the module below.
 *
 * The choice rests on what MPI makes equal on all ranks, the bytes that each
 * contributes by the receive counts and type, and never on the send arguments,
 * the layout of a type, or an address.
 */

#include "coll_pipering.h"

#include <stdlib.h>

#include "opal/util/output.h"

static size_t count_of(const mca_coll_pipering_gather_t *call, int rank)
{
    return (size_t) (NULL == call->rcounts ? call->rcount : call->rcounts[rank]);
}

static size_t total_of(const mca_coll_pipering_gather_t *call, int p)
{
    size_t size, elements = 0;

    ompi_datatype_type_size(call->rdtype, &size);
    for (int r = 0; r < p; ++r) {
        elements += count_of(call, r);
    }
    return elements * size;
}

static size_t *bytes_of(const mca_coll_pipering_gather_t *call, int p)
{
    size_t *bytes = malloc((size_t) p * sizeof(size_t)), size;

    ompi_datatype_type_size(call->rdtype, &size);
    for (int r = 0; r < p && NULL != bytes; ++r) {
        bytes[r] = count_of(call, r) * size;
    }
    return bytes;
}

static int step_aside(const mca_coll_pipering_gather_t *call, ompi_communicator_t *comm,
                      size_t total, mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    mca_coll_pipering_count(&component->counters.fallback[reason], 1);
    if (mca_coll_pipering_is_talkative(comm)) {
        opal_output(component->output,
                    "coll/pipering: %s on %s: %zu bytes, left to the module below: %s", call->name,
                    comm->c_name, total, mca_coll_pipering_reason_text(reason));
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

/* What can be said without knowing anything about the communicator. */
static mca_coll_pipering_reason_t judge_size(const mca_coll_pipering_params_t *params,
                                             size_t total)
{
    if (MCA_COLL_PIPERING_OFF == params->algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    if (MCA_COLL_PIPERING_AUTO == params->algorithm && total < params->min_total) {
        return MCA_COLL_PIPERING_FALLBACK_SMALL;
    }
    return MCA_COLL_PIPERING_TAKEN;
}

/* A request for the call, owning `bytes`. */
static mca_coll_pipering_request_t *prepare(const mca_coll_pipering_gather_t *call,
                                            ompi_communicator_t *comm,
                                            mca_coll_pipering_module_t *module, size_t *bytes)
{
    mca_coll_pipering_request_t *request = mca_coll_pipering_request_new(module, comm, call->name);
    const int p = ompi_comm_size(comm);

    if (NULL == request) {
        free(bytes);
        return NULL;
    }
    request->bytes = bytes;
    request->recv = (mca_coll_pipering_layout_t){.buffer = call->rbuf,
                                                 .type = call->rdtype,
                                                 .counts = call->rcounts,
                                                 .displs = call->displs,
                                                 .count = (size_t) call->rcount};
    mca_coll_pipering_layout_init(&request->recv, p);
    request->in_place = MPI_IN_PLACE == call->sbuf;
    if (!request->in_place) {
        /* every rank's place is the one contribution there is */
        request->send = (mca_coll_pipering_layout_t){.buffer = (char *) call->sbuf,
                                                     .type = call->sdtype,
                                                     .single = true,
                                                     .count = (size_t) call->scount};
        mca_coll_pipering_layout_init(&request->send, p);
    }
    return request;
}

/* All ranks come by here with the same call, so the setup is the same for all. */
static int ensure_setup(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                        const mca_coll_pipering_params_t *params)
{
    if (NULL != module->setup) {
        return mca_coll_pipering_setup_error(module->setup);
    }
    return mca_coll_pipering_setup_start(module, comm, params);
}

static int wait_for_setup(mca_coll_pipering_module_t *module, ompi_communicator_t *comm)
{
    if (mca_coll_pipering_setup_ready(module->setup)) {
        return OMPI_SUCCESS;
    }

    mca_coll_pipering_request_t *request = mca_coll_pipering_request_new(module, comm, NULL);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    const int rc = mca_coll_pipering_request_start(request);
    return OMPI_SUCCESS == rc ? mca_coll_pipering_request_wait(request) : rc;
}

/* Runs a call whose communicator is set up, unless the plan says otherwise. */
static int run(const mca_coll_pipering_gather_t *call, ompi_communicator_t *comm,
               mca_coll_pipering_module_t *module, const mca_coll_pipering_params_t *params)
{
    size_t *bytes = bytes_of(call, ompi_comm_size(comm));
    mca_coll_pipering_plan_t *plan;

    if (NULL == bytes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    int rc = mca_coll_pipering_plan_get(module, comm, params, bytes, false, &plan);
    if (OMPI_SUCCESS != rc) {
        free(bytes);
        return rc;
    }
    if (MCA_COLL_PIPERING_TAKEN != plan->reason) {
        rc = step_aside(call, comm, plan->total, plan->reason);
        free(bytes);
        OBJ_RELEASE(plan);
        return rc;
    }

    mca_coll_pipering_request_t *request = prepare(call, comm, module, bytes);
    if (NULL == request) {
        OBJ_RELEASE(plan);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->plan = plan;
    rc = mca_coll_pipering_request_start(request);
    return OMPI_SUCCESS == rc ? mca_coll_pipering_request_wait(request) : rc;
}

static int gather(const mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm,
                  mca_coll_pipering_module_t *module)
{
    const mca_coll_pipering_params_t params
        = mca_coll_pipering_params_now(NULL == call->rcounts);
    const size_t total = total_of(call, ompi_comm_size(comm));
    const mca_coll_pipering_reason_t reason = judge_size(&params, total);

    if (0 == total) {
        return OMPI_SUCCESS;
    }
    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return step_aside(call, comm, total, reason);
    }

    int rc = ensure_setup(module, comm, &params);
    if (OMPI_SUCCESS == rc) {
        rc = wait_for_setup(module, comm);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (!mca_coll_pipering_setup_alike(module->setup)) {
        return step_aside(call, comm, total, MCA_COLL_PIPERING_FALLBACK_UNLIKE);
    }
    return run(call, comm, module, &params);
}

int mca_coll_pipering_gather(const mca_coll_pipering_gather_t *call,
                             struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module)
{
    return module->out_of_memory ? MPI_ERR_NO_MEM
                                 : mca_coll_pipering_mpi_error(gather(call, comm, module));
}

/*
 * Once a nonblocking call has returned it cannot be left to the module below any
 * more, and it must not wait for the setup before: so what decides is what is
 * known without it.
 */
static int igather(const mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm,
                   mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    const mca_coll_pipering_params_t params
        = mca_coll_pipering_params_now(NULL == call->rcounts);
    const int p = ompi_comm_size(comm);
    const size_t total = total_of(call, p);
    const mca_coll_pipering_reason_t reason = MCA_COLL_PIPERING_HETEROGENEOUS
                                                  ? MCA_COLL_PIPERING_FALLBACK_UNLIKE
                                                  : judge_size(&params, total);

    if (0 == total) {
        *handle = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return step_aside(call, comm, total, reason);
    }

    int rc = ensure_setup(module, comm, &params);
    size_t *bytes = OMPI_SUCCESS == rc ? bytes_of(call, p) : NULL;
    mca_coll_pipering_request_t *request = NULL == bytes ? NULL
                                                         : prepare(call, comm, module, bytes);
    if (NULL == request) {
        return OMPI_SUCCESS == rc ? OMPI_ERR_OUT_OF_RESOURCE : rc;
    }
    request->params = params;
    request->nonblocking = true;
    rc = mca_coll_pipering_request_start(request);
    if (OMPI_SUCCESS == rc) {
        *handle = &request->super.super;
    }
    return rc;
}

int mca_coll_pipering_igather(const mca_coll_pipering_gather_t *call,
                              struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module,
                              ompi_request_t **handle)
{
    return module->out_of_memory ? MPI_ERR_NO_MEM
                                 : mca_coll_pipering_mpi_error(igather(call, comm, module, handle));
}
