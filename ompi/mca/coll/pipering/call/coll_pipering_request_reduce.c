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
 * The pipelines of a reduction or scan on one rank.
 *
 *     reduce         elements towards the root, combined at every rank
 *     scan, exscan   the same along the chain of ranks, results kept everywhere
 *     allreduce      two pipelines: a reduction, and what spreads its results, each
 *                    block as soon as it is there
 *     reduce_scatter elements around the ring, or in two pipelines along the line of ranks, of
 *                    which the second one goes on with what the first one has made
 *
 * An algorithm in rounds has a schedule in place of pipelines (coll_pipering_request_schedule.c).
 */

#include "coll_pipering_request.h"

static bool is_exclusive(const mca_coll_pipering_request_t *request)
{
    return MCA_COLL_PIPERING_EXSCAN == request->call.collective;
}

static bool is_scan(const mca_coll_pipering_request_t *request)
{
    return mca_coll_pipering_scans(request->call.collective);
}

/* Whether each rank gets a part of the results alone. */
static bool is_scatter(const mca_coll_pipering_request_t *request)
{
    return mca_coll_pipering_scatters_result(request->call.collective);
}

/* Whether the results that this rank makes are for its user. */
static bool keeps_results(const mca_coll_pipering_request_t *request)
{
    const int me = ompi_comm_rank(request->super.comm);

    return is_scan(request) || request->plan->row->scatters
           || (is_scatter(request) ? 0 < request->plan->bytes[me] : request->call.root == me);
}

/* What this rank does with values that come in. */
static void aim_combine(mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_plan_t *plan = request->plan;
    mca_coll_pipering_combine_args_t *combine = &request->combine;
    const bool both = MCA_COLL_PIPERING_ALLREDUCE == request->call.collective;
    const bool result = keeps_results(request);
    const bool scatters = plan->row->scatters || is_scatter(request);

    combine->any_order = !request->plan->key.ordered && !is_scan(request);
    combine->op = request->call.op;
    combine->own = &request->call.send;
    combine->result = result ? &request->call.recv : NULL;
    combine->scratch = (both || result) && !request->call.in_place && !is_scatter(request)
                           ? &request->call.recv
                           : NULL;
    combine->keep = scatters ? ompi_comm_rank(request->super.comm) : 0;
    combine->in_place = request->call.in_place && !is_scatter(request);
    combine->exclusive = is_exclusive(request);
    combine->part = is_scatter(request);
}

/* A pipeline that reduces; a rank that is the first, or only takes results, combines nothing. */
static mca_coll_pipering_pipe_args_t reduction(const mca_coll_pipering_request_t *request,
                                               const mca_coll_pipering_route_t *route)
{
    const bool exclusive = is_exclusive(request);
    const bool combines = 0 < route->ins && !(exclusive && 0 == route->outs);
    const bool receives = !combines && is_scan(request)
                          && (exclusive ? 0 < route->ins : !request->call.in_place);

    return (mca_coll_pipering_pipe_args_t){.unit = request->unit,
                                           .send = &request->call.send,
                                           .recv = receives ? &request->call.recv : NULL,
                                           .combine = combines ? &request->combine : NULL};
}

/* Whether this rank receives results; rank 0 of an exscan does not. */
static bool has_result(const mca_coll_pipering_request_t *request)
{
    return is_exclusive(request) ? 0 < ompi_comm_rank(request->super.comm)
                                 : MCA_COLL_PIPERING_ALLREDUCE == request->call.collective
                                       || keeps_results(request);
}

/* Size and extent of the type. Blocks have whole elements, laid out as in the user's buffer. */
static void measure_elements(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_layout_t *send = &request->call.send, *recv = &request->call.recv;
    mca_coll_pipering_unit_t *unit = &request->unit;

    unit->type = recv->type;
    unit->size = request->call.sizes.unit;
    ompi_datatype_type_extent(unit->type, &unit->extent);
    send->extent = recv->extent = unit->extent;
    send->dense = recv->dense = true;
}

int mca_coll_pipering_request_reduce(mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_plan_t *plan = request->plan;

    measure_elements(request);
    const size_t all = plan->total / request->unit.size;
    const size_t mine = is_scatter(request)
                            ? plan->bytes[ompi_comm_rank(request->super.comm)]
                            : all;
    const bool apart = is_scatter(request) && !mca_coll_pipering_in_rounds(plan->row);

    int rc = mca_coll_pipering_staging_begin(&request->staging,
                                             all, mine, apart, &request->call.send,
                                             has_result(request) ? &request->call.recv : NULL);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (mca_coll_pipering_in_rounds(plan->row)) {
        return mca_coll_pipering_request_schedule(request);
    }
    aim_combine(request);
    if (plan->row->scatters || is_scatter(request)) {
        request->call.send.starts = plan->starts;
        request->call.send.single = false;
    }
    if (plan->row->scatters) {
        request->call.recv.starts = plan->starts;
        request->call.recv.single = false;
    }
    for (int i = 0; i < plan->pipes && OMPI_SUCCESS == rc; ++i) {
        const mca_coll_pipering_pipe_args_t spreading = {.unit = request->unit,
                                                         .recv = &request->call.recv};
        rc = mca_coll_pipering_request_add(request, plan->route[i].reduces
                                                        ? reduction(request, &plan->route[i])
                                                        : spreading);
    }
    return rc;
}
