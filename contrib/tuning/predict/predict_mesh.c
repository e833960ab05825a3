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
 * The mesh of a call: its extents, the vertices of ranks, and the links that a plan could fill.
 */

#include "predict.h"

#include <stdlib.h>

/* ---- extents ---- */

static bool check_vertices(const predict_call_t *call, int vertices)
{
    if (2 > vertices || PREDICT_RANKS_MOST < vertices) {
        return predict_refuse("--mesh %s: the number of vertices is %d, expected 2 to %d",
                              call->mesh, vertices, PREDICT_RANKS_MOST);
    }
    if (0 == call->ranks && PREDICT_RANKS_MOST / call->ppn < vertices) {
        return predict_refuse("--mesh %s --ppn %d: expected at most %d ranks in all", call->mesh,
                              call->ppn, PREDICT_RANKS_MOST);
    }
    return true;
}

bool predict_size_mesh(predict_call_t *call)
{
    if (NULL == call->mesh) {
        return true;
    }
    const char *fault = mca_coll_pipering_extents_read(&call->extents, call->mesh);
    if (NULL != fault) {
        return predict_refuse("--mesh: \"%s\" %s", call->mesh, fault);
    }
    const int vertices = mca_coll_pipering_extents_product(&call->extents);
    if (!check_vertices(call, vertices)) {
        return false;
    }
    if (0 == call->ranks && NULL == call->counts_file) {
        call->ranks = vertices * call->ppn;
    }
    return true;
}

/* ---- vertices ---- */

/* Numbers nodes in the order of their lowest ranks, as coll_pipering_mesh.c does. */
static void number_nodes(const predict_call_t *call, int *at)
{
    int nodes = 0;

    for (int r = 0; r < call->ranks; ++r) {
        at[r] = r == call->node_of[r] ? nodes++ : at[call->node_of[r]];
    }
}

/* The vertex of each rank: that of its node, or one of its own. */
static bool find_vertices(const predict_call_t *call, int *at)
{
    const int vertices = mca_coll_pipering_extents_product(&call->extents);

    if (vertices == call->nodes) {
        number_nodes(call, at);
        return true;
    }
    for (int r = 0; r < call->ranks; ++r) {
        at[r] = r;
    }
    return vertices == call->ranks
           || predict_refuse("--mesh %s: there are %d vertices, and %d nodes of %d ranks; expected "
                             "a vertex for each node or for each rank", call->mesh, vertices,
                             call->nodes, call->ranks);
}

/* A whole machine is a box of itself. */
bool predict_lay_mesh(predict_call_t *call)
{
    if (NULL == call->mesh) {
        return true;
    }
    int *at = predict_memory((size_t) call->ranks * sizeof(*at));
    if (!find_vertices(call, at)) {
        free(at);
        return false;
    }
    call->ways = mca_coll_pipering_ways_new(call->ranks, &call->extents, at);
    free(at);
    return (NULL != call->ways && mca_coll_pipering_ways_wind(call->ways))
           || predict_refuse("there is no memory for the mesh of %d ranks", call->ranks);
}

/* ---- links ---- */

bool predict_goes_along_mesh(const predict_t *predict, const predict_outcome_t *outcome)
{
    return NULL != predict->call.ways
           && (NULL == outcome->plan || outcome->plan->row->along_mesh);
}

int predict_corner_links(const predict_call_t *call)
{
    if (NULL == call->ways || call->ways->mesh.vertices != call->nodes) {
        return 1;
    }
    return call->ways->mesh.extents.dims + mca_coll_pipering_closed(&call->ways->mesh.extents);
}

double predict_links(const predict_t *predict, const predict_outcome_t *outcome)
{
    const double beta = predict_cost(predict).net.beta;

    return 0 < outcome->seconds ? (double) predict->call.total * beta / outcome->seconds : 0;
}
