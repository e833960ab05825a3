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

static void add(predict_closed_t *closed, const char *name, const char *meaning, double seconds)
{
    closed->parts[closed->count++] = (predict_part_t){name, meaning, seconds};
}

/* ---- barrier ---- */

static bool run_barrier(const predict_t *predict, predict_closed_t *closed)
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
    closed->algorithm = "mesh_lines";
    closed->reason = "coll_pipering_barrier_algorithm auto takes the module below; mesh_lines "
                     "forces lines";
    closed->phases = mca_coll_pipering_lines_phases(&lines, phase);
    for (int i = 0; i < closed->phases; ++i) {
        closed->messages += phase[i].sends;
    }
    closed->seconds = mca_coll_pipering_lines_time(&problem);
    const double delay = closed->phases * (problem.cost.alpha + problem.cost.latency);
    add(closed, "latency", "a message of each phase on its way", delay);
    add(closed, "lines", "the other messages of a line, or those over its middle",
        closed->seconds - delay);
    (void) snprintf(closed->bound, sizeof(closed->bound), "%d phases of %.4g us",
                    closed->phases, 1e6 * (problem.cost.alpha + problem.cost.latency));
    closed->limit = delay;
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

static bool run_alltoall(const predict_t *predict, predict_closed_t *closed)
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

    closed->algorithm = "permuted";
    closed->served = true;
    closed->reason = "a mesh is declared";
    closed->phases = 1;
    closed->messages = (call->ranks - 1) * packets;
    closed->limit = pairs * bytes * cost.beta;
    closed->seconds = move + delay;
    (void) snprintf(closed->bound, sizeof(closed->bound), "the busiest link, of dimension %d with "
                    "%d places, carries %.10g bytes: those of %.10g of %.10g pairs of ranks",
                    dim, mesh->extents.extent[dim], pairs * bytes, pairs,
                    (double) call->ranks * (call->ranks - 1));
    add(closed, "latency", "the last packet on its way", delay);
    add(closed, "handling", "what a packet costs besides its bytes, where links do not hide it",
        move - sent);
    add(closed, "headers", "bytes around the data", sent - closed->limit);
    add(closed, "transfer", "bytes that the busiest link must carry", closed->limit);
    return true;
}

/* ---- what is printed ---- */

static void print(const predict_t *predict, const predict_closed_t *closed)
{
    (void) printf("\n  %-20s %10s %12s %12s\n  %-20s %10d %12.0f %12.4f\n", "algorithm", "phases",
                  "messages", "model ms", closed->algorithm, closed->phases, closed->messages,
                  1e3 * closed->seconds);
    (void) printf("messages: of a rank. No message is followed: this is a closed form.\n\n");
    (void) printf("%s: %s\nthe limit of the links is %.4f ms\n",
                  closed->served ? "served by coll/pipering" : "left to the module below",
                  closed->reason, 1e3 * closed->limit);
    if (predict->explain) {
        (void) printf("bound: %s\n\nwhere the time goes, by the model:\n", closed->bound);
        for (int i = closed->count - 1; 0 <= i; --i) {
            (void) printf("  %-12s %12.4f ms %6.1f %%  %s\n", closed->parts[i].name,
                          1e3 * closed->parts[i].seconds,
                          0 < closed->seconds ? 100 * closed->parts[i].seconds / closed->seconds
                                              : 0,
                          closed->parts[i].meaning);
        }
    }
}

static void print_json(const predict_closed_t *closed)
{
    (void) printf("  \"served\": %s,\n  \"reason\": \"%s\",\n  \"limit_seconds\": %.9g,\n"
                  "  \"bound\": \"%s\",\n  \"algorithms\": [\n    {\"algorithm\": \"%s\", "
                  "\"chosen\": %s, \"phases\": %d, \"messages\": %.10g,\n"
                  "     \"model_seconds\": %.9g, \"executed_seconds\": null,\n     \"parts\": {",
                  closed->served ? "true" : "false", closed->reason, closed->limit, closed->bound,
                  closed->algorithm, closed->served ? "true" : "false", closed->phases,
                  closed->messages, closed->seconds);
    for (int i = 0; i < closed->count; ++i) {
        (void) printf("%s\"%s\": %.9g", 0 < i ? ", " : "", closed->parts[i].name,
                      closed->parts[i].seconds);
    }
    (void) printf("}}\n  ]\n}\n");
}

bool predict_close(const predict_t *predict)
{
    predict_closed_t closed = {.count = 0};

    if (!(PREDICT_BARRIER == predict->call.closed ? run_barrier(predict, &closed)
                                                  : run_alltoall(predict, &closed))) {
        return false;
    }
    if (predict->json) {
        predict_begin_json(predict);
        (void) printf(",\n");
        print_json(&closed);
    } else {
        predict_print_head(predict);
        print(predict, &closed);
    }
    return true;
}
