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
 * Calls along a mesh that have no plan of the engines: MPI_Barrier along whole lines and
 * MPI_Alltoall in packets, by closed forms.
 *
 * Almasi et al., sections 3.1 and 3.2.
 */

#include "predict.h"

#include "ompi/mca/coll/pipering/mesh/coll_pipering_plan_mesh_lines.h"

#include <math.h>

/* As in coll_pipering_alltoall_params.c. */
#define PACKET ((size_t) 16384)

static mca_coll_pipering_link_cost_t cost_of(const predict_t *predict)
{
    const mca_coll_pipering_cost_t cost = predict_cost(predict);

    return 1 < predict->call.nodes ? cost.net : cost.local;
}

/* ---- barrier ---- */

static bool run_barrier(const predict_t *predict, predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_mesh_t *mesh = &predict->call.ways->mesh;
    const mca_coll_pipering_lines_t lines
        = {.mesh = mesh, .group = MCA_COLL_PIPERING_LINES_WHOLE, .me = 0};
    const mca_coll_pipering_lines_problem_t problem = {.lines = &lines, .cost = cost_of(predict)};
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];

    if (!mca_coll_pipering_lines_fit(mesh)) {
        return predict_refuse("--mesh %s: lines need as many ranks at each vertex, and there are "
                              "%d ranks at %d vertices", predict->call.mesh, predict->call.ranks,
                              mesh->vertices);
    }
    const int phases = mca_coll_pipering_lines_phases(&lines, phase);
    const double time = mca_coll_pipering_lines_time(&problem);
    const double delay = phases * (problem.cost.alpha + problem.cost.latency);
    outcomes->reason = "coll_pipering_barrier_algorithm auto takes the module below; mesh_lines "
                       "forces lines";
    outcomes->limit = delay;
    outcomes->of[outcomes->count++] = (predict_outcome_t){
        .algorithm = "mesh_lines",
        .rounds = (uint64_t) phases,
        .seconds = time,
        .parts = 2,
        .part = {{"latency", "a message of each phase on its way", delay},
                 {"lines", "the other messages of a line, or those over its middle",
                  time - delay}}};
    return true;
}

/* ---- all to all ---- */

/* Pairs of places of a line whose route passes a middle of it; both ways around share ties. */
static double crossing(const mca_coll_pipering_extents_t *extents, int dim)
{
    const int extent = extents->extent[dim];

    return (double) (extent / 2) * ((extent + 1) / 2) / (extents->closed[dim] ? 2 : 1);
}

/* Pairs of vertices whose route, dimension after dimension, passes the busiest link of one. */
static double pairs_over(const mca_coll_pipering_mesh_t *mesh, int dim)
{
    return (double) mesh->vertices / mesh->extents.extent[dim] * crossing(&mesh->extents, dim);
}

/* The dimension with the busiest link. */
static int busiest(const mca_coll_pipering_mesh_t *mesh)
{
    int found = 0;

    for (int dim = 1; dim < mesh->extents.dims; ++dim) {
        found = pairs_over(mesh, dim) > pairs_over(mesh, found) ? dim : found;
    }
    return found;
}

/* Links of the longest route. */
static int farthest(const mca_coll_pipering_extents_t *extents)
{
    int hops = 0;

    for (int dim = 0; dim < extents->dims; ++dim) {
        hops += extents->closed[dim] ? extents->extent[dim] / 2 : extents->extent[dim] - 1;
    }
    return hops;
}

static bool run_alltoall(const predict_t *predict, predict_outcomes_t *outcomes)
{
    const predict_call_t *call = &predict->call;
    const mca_coll_pipering_mesh_t *mesh = &call->ways->mesh;
    const mca_coll_pipering_link_cost_t cost = cost_of(predict);
    const double bytes = (double) call->total / call->ranks;
    const size_t packet = 0 < predict->params.block_size ? predict->params.block_size : PACKET;
    const double packets = ceil(bytes / (double) packet);
    const double inside = (double) call->ranks / mesh->vertices;
    const int dim = busiest(mesh);
    const double pairs = pairs_over(mesh, dim) * inside * inside;
    const double handled = (call->ranks - 1) * packets * cost.alpha;
    const double sent = pairs * cost.beta * mca_coll_pipering_wire_bytes(&cost, packets, bytes);
    const double move = mca_coll_pipering_link_time(&cost, handled, sent);
    const double delay = farthest(&mesh->extents) * cost.latency;


    outcomes->served = true;
    outcomes->reason = "a mesh is declared";
    outcomes->chosen = 0;
    outcomes->limit = pairs * bytes * cost.beta;
    outcomes->of[outcomes->count++] = (predict_outcome_t){
        .algorithm = "permuted",
        .block = packet,
        .rounds = (uint64_t) (call->ranks - 1) * (uint64_t) packets,
        .seconds = move + delay,
        .parts = 4,
        .part = {{"latency", "the last packet on its way", delay},
                 {"handling", "what a packet costs besides its bytes, where links do not hide it",
                  move - sent},
                 {"headers", "bytes around the data", sent - outcomes->limit},
                 {"transfer", "bytes that the busiest link must carry", outcomes->limit}}};
    return true;
}

bool predict_close(const predict_t *predict, predict_outcomes_t *outcomes)
{
    return PREDICT_BARRIER == predict->call.closed ? run_barrier(predict, outcomes)
                                                   : run_alltoall(predict, outcomes);
}
