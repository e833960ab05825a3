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
 */

#include "coll_pipering_request.h"

#include "ompi/mca/coll/pipering/engine/coll_pipering_gather_rounds.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_reduce_rounds.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_scan_rounds.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"

typedef mca_coll_pipering_request_t request_t;

/* At times sends wait for their receives, so that no rank is far ahead of others that it
 * hears nothing from. */
#define SYNCHRONOUS_EVERY 16

static int make_reduction(const request_t *request, bool synchronous,
                          mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_plan_t *plan = request->plan;
    const mca_coll_pipering_reduce_rounds_args_t args
        = {.caller = &request->caller,
           .grid = &plan->grid,
           .slots = &plan->slots,
           .starts = plan->starts,
           .spreads = MCA_COLL_PIPERING_ALLREDUCE == request->call.collective,
           .in = plan->in.blocks,
           .out = plan->out.blocks,
           .op = request->call.op,
           .type = request->unit.type,
           .size = request->unit.size,
           .extent = request->unit.extent,
           .send = request->call.send.buffer,
           .recv = request->call.recv.buffer,
           .synchronous = synchronous,
           .tag = request->tag};

    return mca_coll_pipering_reduce_rounds_new(&args, made);
}

static int make_gather(const request_t *request, bool synchronous,
                       mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_plan_t *plan = request->plan;
    const mca_coll_pipering_rounds_args_t args
        = {.caller = &request->caller,
           .grid = &plan->grid,
           .slots = &plan->slots,
           .bytes = plan->bytes[ompi_comm_rank(request->caller.comm)],
           .some = plan->some,
           .in = plan->in.blocks,
           .out = plan->out.blocks,
           .send = request->call.in_place ? NULL : &request->call.send,
           .recv = &request->call.recv,
           .synchronous = synchronous,
           .tag = request->tag};

    return mca_coll_pipering_rounds_new(&args, made);
}

static int make_scan(const request_t *request, bool synchronous,
                     mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_collective_t collective = request->call.collective;
    const mca_coll_pipering_scan_rounds_args_t args
        = {.caller = &request->caller,
           .scan = {.ranks = ompi_comm_size(request->caller.comm),
                    .exclusive = MCA_COLL_PIPERING_EXSCAN == collective},
           .op = request->call.op,
           .type = request->unit.type,
           .count = request->plan->total / request->unit.size,
           .size = request->unit.size,
           .extent = request->unit.extent,
           .send = request->call.send.buffer,
           .recv = request->call.recv.buffer,
           .synchronous = synchronous,
           .tag = request->tag};

    return mca_coll_pipering_scan_rounds_new(&args, made);
}

static int make_rounds(const request_t *request, mca_coll_pipering_scheduled_t **made)
{
    opal_atomic_int64_t *begun = &request->call.context->in_rounds;
    const bool synchronous = SYNCHRONOUS_EVERY - 1 == *begun % SYNCHRONOUS_EVERY;

    mca_common_colltools_count(begun, 1);
    if (mca_coll_pipering_scans(request->call.collective)) {
        return make_scan(request, synchronous, made);
    }
    return NULL == request->call.op ? make_gather(request, synchronous, made)
                                    : make_reduction(request, synchronous, made);
}

static int (*const make[])(const request_t *request, mca_coll_pipering_scheduled_t **made)
    = {[MCA_COLL_PIPERING_ROUNDS] = make_rounds,
       [MCA_COLL_PIPERING_MESH_LINES] = mca_coll_pipering_mesh_lines};

int mca_coll_pipering_request_schedule(request_t *request)
{
    const int rc = make[request->plan->row->algorithm](request, &request->scheduled);

    if (OMPI_SUCCESS == rc) {
        mca_common_colltools_schedule_begin(&request->scheduled->schedule);
    }
    return rc;
}
