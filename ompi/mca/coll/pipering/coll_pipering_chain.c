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
 * What broadcast, reductions and scans share: from the call to the pipelines of one
 * rank.
 *
 *     bcast          bytes along the chain, so that ranks may describe them by
 *                    different types
 *     reduce         elements towards the root, combined at every rank
 *     scan, exscan   the same along the line of ranks, results kept everywhere
 *     allreduce      two pipelines: a reduction, and what spreads its results, each
 *                    block as soon as it is there
 */

#include "coll_pipering_small.h"

#include <stdlib.h>

#include "ompi/op/op.h"
#include "opal/datatype/opal_datatype_internal.h"

static int key_of(const void *what, ompi_communicator_t *comm, mca_coll_pipering_key_t *key)
{
    const mca_coll_pipering_chain_call_t *call = what;
    size_t size;

    (void) comm;
    ompi_datatype_type_size(call->dtype, &size);
    key->root = call->root;
    key->parts = 1;
    key->sizes = malloc(sizeof(size_t));
    if (NULL == key->sizes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (NULL == call->op) {
        key->unit = 1;
        key->sizes[0] = (size_t) call->count * size;
    } else {
        key->unit = size;
        key->sizes[0] = (size_t) call->count;
        key->ordered = !ompi_op_is_commute(call->op);
    }
    return OMPI_SUCCESS;
}

/* ---- broadcast ---- */

static int begin_bcast(mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_pipe_plan_t pipe = {.unit = MCA_COLL_PIPERING_BYTES,
                                                .recv = &request->recv};
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < request->plan->pipes && OMPI_SUCCESS == rc; ++i) {
        rc = mca_coll_pipering_request_add(request, pipe);
    }
    return rc;
}

static void prepare_bcast(const void *what, mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_chain_call_t *call = what;

    request->begin = begin_bcast;
    request->in_place = true;
    request->recv = (mca_coll_pipering_layout_t){.buffer = call->rbuf,
                                                 .type = call->dtype,
                                                 .single = true,
                                                 .count = (size_t) call->count};
    mca_coll_pipering_layout_init(&request->recv, 1);
}

/* ---- reductions ---- */

/* Elements in a buffer, as a vector or, with `starts`, in chunks. */
static mca_coll_pipering_layout_t elements(const mca_coll_pipering_request_t *request, void *buffer)
{
    return (mca_coll_pipering_layout_t){.buffer = buffer,
                                        .type = request->unit.type,
                                        .extent = request->unit.extent,
                                        .single = true,
                                        .dense = true};
}

static bool is_scan(const mca_coll_pipering_request_t *request)
{
    return MCA_COLL_PIPERING_SCAN == request->key.collective || request->exclusive;
}

/* Whether the results that this rank makes are for its user. */
static bool keeps_results(const mca_coll_pipering_request_t *request)
{
    return is_scan(request) || MCA_COLL_PIPERING_RING == request->plan->algorithm
           || request->key.root == ompi_comm_rank(request->super.comm);
}

/* What this rank does with values that come in. */
static void aim_combine(mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_plan_t *plan = request->plan;
    mca_coll_pipering_combine_plan_t *combine = &request->combine;
    const bool both = MCA_COLL_PIPERING_ALLREDUCE == request->key.collective;
    const bool result = keeps_results(request);

    combine->any_order = !request->key.ordered && !is_scan(request);
    combine->own = &request->send;
    combine->result = result ? &request->recv : NULL;
    combine->scratch = (both || result) && !request->in_place ? &request->recv : NULL;
    combine->keep = MCA_COLL_PIPERING_RING == plan->algorithm
                        ? ompi_comm_rank(request->super.comm)
                        : 0;
    combine->in_place = request->in_place;
    combine->exclusive = request->exclusive;
}

/* A pipeline that reduces; a rank that is the first, or only takes results, combines nothing. */
static mca_coll_pipering_pipe_plan_t reduction(const mca_coll_pipering_request_t *request,
                                               const mca_coll_pipering_route_t *route)
{
    const bool exclusive = request->exclusive;
    const bool combines = 0 < route->ins && !(exclusive && 0 == route->outs);
    const bool receives = !combines && is_scan(request)
                          && (exclusive ? 0 < route->ins : !request->in_place);

    return (mca_coll_pipering_pipe_plan_t){.unit = request->unit,
                                           .send = &request->send,
                                           .recv = receives ? &request->recv : NULL,
                                           .combine = combines ? &request->combine : NULL};
}

/* A pipeline that spreads results. */
static mca_coll_pipering_pipe_plan_t spreading(const mca_coll_pipering_request_t *request)
{
    return (mca_coll_pipering_pipe_plan_t){.unit = request->unit, .recv = &request->recv};
}

/* The receive buffer of this rank means something; that of an exscan's first one does not. */
static bool has_result(const mca_coll_pipering_request_t *request)
{
    return request->exclusive ? 0 < ompi_comm_rank(request->super.comm)
                              : MCA_COLL_PIPERING_ALLREDUCE == request->key.collective
                                    || keeps_results(request);
}

static int begin_reduction(mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_plan_t *plan = request->plan;

    int rc = mca_coll_pipering_staging_begin(&request->staging, request->key.sizes[0],
                                             &request->send,
                                             has_result(request) ? &request->recv : NULL);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    aim_combine(request);
    if (MCA_COLL_PIPERING_RING == plan->algorithm) {
        request->send.starts = request->recv.starts = plan->starts;
        request->send.single = request->recv.single = false;
    }
    for (int i = 0; i < plan->pipes && OMPI_SUCCESS == rc; ++i) {
        rc = mca_coll_pipering_request_add(request, plan->route[i].reduces
                                                        ? reduction(request, &plan->route[i])
                                                        : spreading(request));
    }
    return rc;
}

static void prepare_reduction(const void *what, mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_chain_call_t *call = what;

    request->begin = begin_reduction;
    request->exclusive = MCA_COLL_PIPERING_EXSCAN == call->collective;
    request->in_place = MPI_IN_PLACE == call->sbuf;
    request->unit.type = call->dtype;
    ompi_datatype_type_size(call->dtype, &request->unit.size);
    ompi_datatype_type_extent(call->dtype, &request->unit.extent);
    request->combine.op = call->op;
    request->recv = elements(request, call->rbuf);
    request->send = elements(request, request->in_place ? call->rbuf : (void *) call->sbuf);
}

/* ---- both ---- */

/* Basic types from the first to the last, as in a datatype's bdt_used. */
#define BASIC_TYPES(first, last) ((UINT32_C(2) << (last)) - (UINT32_C(1) << (first)))
#define ROUNDED BASIC_TYPES(OPAL_DATATYPE_FLOAT2, OPAL_DATATYPE_LONG_DOUBLE_COMPLEX)
#define SATURATED                                          \
    (BASIC_TYPES(OPAL_DATATYPE_INT1, OPAL_DATATYPE_INT2)   \
     | BASIC_TYPES(OPAL_DATATYPE_UINT1, OPAL_DATATYPE_UINT2))

/*
 * Whether the bits of a result depend on the order in which values are combined. Sums
 * and products are rounded; MPI_MAX and its kin take one of two zeros or NaNs by their
 * place, so no operation on floating-point values or pairs of them is safe; op/avx makes
 * some sums of short integers saturate. What a user's operation does nobody knows. All
 * others are exact: integers (which wrap), logical and bitwise operations.
 */
static bool order_matters(const mca_coll_pipering_chain_call_t *call)
{
    const uint32_t basic = NULL == call->op ? 0 : call->dtype->super.bdt_used;

    return NULL != call->op
           && (!ompi_op_is_intrinsic(call->op) || 0 != (ROUNDED & basic)
               || (&ompi_mpi_op_sum.op == call->op && 0 != (SATURATED & basic)));
}

static mca_coll_pipering_call_t call_of(const mca_coll_pipering_chain_call_t *call)
{
    return (mca_coll_pipering_call_t){.name = call->name,
                                      .collective = call->collective,
                                      .total = mca_coll_pipering_chain_total(call),
                                      .order_matters = order_matters(call),
                                      .what = call,
                                      .key_of = key_of,
                                      .prepare = NULL == call->op ? prepare_bcast
                                                                  : prepare_reduction};
}

int mca_coll_pipering_chain_serve(const mca_coll_pipering_chain_call_t *call,
                                  struct ompi_communicator_t *comm,
                                  mca_coll_pipering_module_t *module)
{
    const mca_coll_pipering_call_t common = call_of(call);
    return mca_coll_pipering_serve(&common, comm, module);
}

int mca_coll_pipering_chain_iserve(const mca_coll_pipering_chain_call_t *call,
                                   struct ompi_communicator_t *comm,
                                   mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    const mca_coll_pipering_call_t common = call_of(call);
    return mca_coll_pipering_iserve(&common, comm, module, handle);
}

int mca_coll_pipering_chain_later(const mca_coll_pipering_chain_call_t *call,
                                  struct ompi_communicator_t *comm,
                                  mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    const mca_coll_pipering_call_t common = call_of(call);
    return mca_coll_pipering_serve_later(&common, comm, module, handle);
}
