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
 * The schedules of calls in rounds: what the algorithm of each such row of the registry is given
 * of a request.
 *
 *     rounds       a gather, or a reduction, in rounds of groups of ranks; a scan in rounds
 *     mesh_lines   a reduction along the lines of a mesh
 *     pulls        a gather, or a reduction, inside a node
 *     leaders      the same between nodes, whose leaders exchange it in rounds
 */

#include "coll_pipering_request.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"
#include "ompi/mca/coll/pipering/pulls/coll_pipering_pulls.h"

typedef mca_coll_pipering_request_t request_t;

/* At times sends wait for their receives, so that no rank is far ahead of others that it
 * hears nothing from. */
#define SYNCHRONOUS_EVERY 16

/* The starts of a call that are told apart. */
#define STARTS_BITS 24

/*
 * The name of this start of the call on its communicator: blocking calls are counted, others have a
 * tag of their own. Open MPI begins nonblocking ones as it progresses, not
 * in the order of the program's calls.
 */
static mca_coll_pipering_call_name_t name_of(request_t *request)
{
    const bool blocking = MCA_COLL_PIPERING_BLOCKING == request->call.form;
    const uint64_t start = request->starts++ & ((UINT32_C(1) << STARTS_BITS) - 1);

    return (mca_coll_pipering_call_name_t){
        .comm = MCA_COMMON_COLLTOOLS_COMM_NAME(request->super.comm),
        .call = blocking ? request->call.context->pulled++
                         : (uint64_t) -(int64_t) request->tag << STARTS_BITS | start,
        .blocking = blocking};
}

/* The exchange of leaders, to which nodes are ranks. */
static mca_coll_pipering_rounds_args_t across_of(const request_t *request, bool waits)
{
    const mca_coll_pipering_plan_t *plan = request->plan->across;
    const mca_coll_pipering_ring_t *ring = &request->plan->by_node;

    return (mca_coll_pipering_rounds_args_t){
        .caller = &request->caller,
        .tag = request->tag,
        .synchronous = waits || 1 < plan->grid.blocks,
        .me = ring->node[ring->position[ompi_comm_rank(request->super.comm)]],
        .in_place = true,
        .grid = &plan->grid,
        .slots = &plan->slots,
        .in = plan->in,
        .out = plan->out,
        .bytes = plan->bytes,
        .contributor = plan->contributor,
        .starts = plan->starts,
        .op = request->call.op,
        .unit = request->unit,
        .spreads = MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective};
}

static int make_schedule(request_t *request, mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_call_t *call = &request->call;
    const mca_coll_pipering_plan_t *plan = request->plan;
    opal_atomic_int64_t *begun = &call->context->in_rounds;
    const bool waits = SYNCHRONOUS_EVERY - 1 == *begun % SYNCHRONOUS_EVERY;
    mca_coll_pipering_rounds_args_t args
        = {.caller = &request->caller,
           .tag = request->tag,
           .synchronous = waits || 1 < plan->grid.blocks,
           .me = ompi_comm_rank(request->super.comm),
           .in_place = call->in_place,
           .send = &call->send,
           .recv = &call->recv,
           .grid = &plan->grid,
           .slots = &plan->slots,
           .in = plan->in,
           .out = plan->out,
           .splits = &plan->splits,
           .reads = call->context->setup->at.reads,
           .bytes = plan->bytes,
           .contributor = plan->contributor,
           .starts = plan->starts,
           .op = call->op,
           .unit = request->unit,
           .count = call->sizes.count,
           .exclusive = MCA_COLL_PIPERING_EXSCAN == call->collective,
           .spreads = MCA_COLL_PIPERING_ALLREDUCE == call->collective};

    mca_common_colltools_count(begun, 1);
    if (MCA_COLL_PIPERING_MESH_LINES == plan->row->algorithm) {
        return mca_coll_pipering_mesh_lines(&args, call->context->setup->ways, made);
    }
    const bool pulls = MCA_COLL_PIPERING_PULLS == plan->row->algorithm;
    if (pulls || MCA_COLL_PIPERING_LEADERS == plan->row->algorithm) {
        const mca_coll_pipering_call_name_t name = name_of(request);
        if (pulls && NULL == call->op) {
            return mca_coll_pipering_pulls_gather_new(&args, &name, made);
        }
        mca_coll_pipering_rounds_args_t across;
        if (NULL != plan->across) {
            across = across_of(request, waits);
            args.across = &across;
        }
        return mca_coll_pipering_leaders_new(&args, &name, plan->key.ordered, made);
    }
    if (mca_coll_pipering_scans(call->collective)) {
        return mca_coll_pipering_scan_rounds_new(&args, made);
    }
    return NULL == call->op ? mca_coll_pipering_gather_rounds_new(&args, made)
                            : mca_coll_pipering_reduce_rounds_new(&args, made);
}

int mca_coll_pipering_request_schedule(request_t *request)
{
    const int rc = make_schedule(request, &request->scheduled);

    if (OMPI_SUCCESS == rc) {
        mca_common_colltools_schedule_begin(&request->scheduled->schedule);
    }
    return rc;
}
