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
 *     scan, exscan   the same along the line of ranks, results kept everywhere
 *     allreduce      two pipelines: a reduction, and what spreads its results, each
 *                    block as soon as it is there
 */

#include "coll_pipering_request.h"

enum { THROUGH = MCA_COLL_PIPERING_THROUGH, CLOSING = MCA_COLL_PIPERING_CLOSING };

static bool is_exclusive(const mca_coll_pipering_request_t *request)
{
    return MCA_COLL_PIPERING_EXSCAN == request->call.collective;
}

static bool is_scan(const mca_coll_pipering_request_t *request)
{
    return MCA_COLL_PIPERING_SCAN == request->call.collective || is_exclusive(request);
}

/* Whether the results that this rank makes are for its user. */
static bool keeps_results(const mca_coll_pipering_request_t *request)
{
    return is_scan(request) || request->plan->row->scatters
           || request->call.root == ompi_comm_rank(request->super.comm);
}

/* What this rank does with a block; false: nothing, it is the first or only takes results. */
static bool aim_combine(mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_plan_t *plan = request->plan;
    const mca_coll_pipering_route_t *route = &plan->route[0];
    mca_coll_pipering_combine_plan_t *combine = &request->combine;
    const bool both = MCA_COLL_PIPERING_ALLREDUCE == request->call.collective;
    const bool result = keeps_results(request);

    combine->upper = 0 <= route->in[THROUGH].peer ? THROUGH : -1;
    combine->lower = 0 <= route->in[CLOSING].peer ? CLOSING : -1;
    if (0 > combine->upper && !request->key.ordered && !is_scan(request)) {
        combine->upper = combine->lower;
        combine->lower = -1;
    }
    combine->op = request->call.op;
    combine->own = &request->call.send;
    combine->result = result ? &request->call.recv : NULL;
    combine->scratch = (both || result) && !request->call.in_place ? &request->call.recv : NULL;
    combine->keep = plan->row->scatters ? ompi_comm_rank(request->super.comm) : 0;
    combine->in_place = request->call.in_place;
    combine->exclusive = is_exclusive(request);

    const bool last = 0 > route->out[THROUGH].peer && 0 > route->out[CLOSING].peer;
    return (0 <= combine->upper || 0 <= combine->lower) && !(last && is_exclusive(request));
}

/* The receive buffer of this rank means something; that of an exscan's first one does not. */
static bool has_result(const mca_coll_pipering_request_t *request)
{
    return is_exclusive(request) ? 0 < ompi_comm_rank(request->super.comm)
                                 : MCA_COLL_PIPERING_ALLREDUCE == request->call.collective
                                       || keeps_results(request);
}

/* Facts of the type; blocks are of whole elements, so that these lie as they do for the user. */
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
    int rc = mca_coll_pipering_staging_begin(&request->staging, request->call.sizes.count,
                                             &request->call.send,
                                             has_result(request) ? &request->call.recv : NULL);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    const bool combines = aim_combine(request);
    const bool receives = !combines && is_scan(request)
                          && (!is_exclusive(request) || 0 <= request->combine.lower);
    mca_coll_pipering_pipe_plan_t pipe = {.route = &plan->route[0],
                                          .unit = request->unit,
                                          .send = &request->call.send,
                                          .recv = receives ? &request->call.recv : NULL,
                                          .combine = combines ? &request->combine : NULL};

    if (plan->row->scatters) {
        request->call.send.starts = request->call.recv.starts = plan->starts;
        request->call.send.single = request->call.recv.single = false;
    }
    if (receives && request->call.in_place && !is_exclusive(request)) {
        pipe.recv = NULL; /* rank 0 of a scan has its result */
    }
    rc = mca_coll_pipering_request_add(request, pipe);
    if (OMPI_SUCCESS == rc && 1 < plan->pipes) {
        pipe = (mca_coll_pipering_pipe_plan_t){.route = &plan->route[1],
                                               .unit = request->unit,
                                               .recv = &request->call.recv,
                                               .gate = &request->pipe[0]};
        rc = mca_coll_pipering_request_add(request, pipe);
    }
    return rc;
}
