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
 * What trees and paths of a mesh share: how data goes on within a vertex, and what several streams
 * side by side cost.
 *
 *     parent --> head -----------> children          vertex of ranks 4, 5 and 6: its head is 4,
 *                  |                                 or the root, if that is one of them
 *                  5 --> 6
 */

#include <math.h>

#include "coll_pipering_plan_mesh.h"

/* ---- within a vertex ---- */

int mca_coll_pipering_mesh_head(const mca_coll_pipering_mesh_t *mesh, int vertex, int root)
{
    return vertex == mesh->vertex_of[root] ? root : mesh->rank[mesh->first[vertex]];
}

/* Where rank `me` stands among the ranks of all vertices. */
static int find_index(const mca_coll_pipering_mesh_t *mesh, int me)
{
    int index = mesh->first[mesh->vertex_of[me]];

    for (; me != mesh->rank[index]; ++index) {
    }
    return index;
}

/* The next rank of a vertex in a direction that is not its head, -1: there is none. */
static int next_in_chain(const mca_coll_pipering_mesh_t *mesh, int vertex, int head, int index,
                         int step)
{
    index += index >= mesh->first[vertex] && index < mesh->first[vertex + 1]
                     && mesh->rank[index] == head
                 ? step
                 : 0;
    return index < mesh->first[vertex] || index >= mesh->first[vertex + 1] ? -1
                                                                            : mesh->rank[index];
}

void mca_coll_pipering_mesh_chain(mca_coll_pipering_branch_t *branch,
                                  const mca_coll_pipering_mesh_t *mesh, int root, int me)
{
    const int vertex = mesh->vertex_of[me];
    const int head = mca_coll_pipering_mesh_head(mesh, vertex, root), at = find_index(mesh, me);
    int next;

    if (me == head) {
        next = next_in_chain(mesh, vertex, head, mesh->first[vertex], 1);
    } else {
        const int before = next_in_chain(mesh, vertex, head, at - 1, -1);
        branch->up = 0 > before ? head : before;
        branch->downs = 0;
        next = next_in_chain(mesh, vertex, head, at + 1, 1);
    }
    if (0 <= next) {
        branch->down[branch->downs++] = next;
    }
}

int mca_coll_pipering_mesh_inside(const mca_coll_pipering_mesh_t *mesh)
{
    int most = 0;

    for (int v = 0; v < mesh->vertices; ++v) {
        const int hops = mesh->first[v + 1] - mesh->first[v] - 1;
        most = hops > most ? hops : most;
    }
    return most;
}

/* ---- model ---- */

/*
 * Links carry blocks of all streams side by side; the processor of a rank handles and combines
 * those of one stream after those of the other.
 */
double mca_coll_pipering_streams_time(const void *problem, size_t block_size)
{
    const mca_coll_pipering_streams_problem_t *streams = problem;
    const mca_coll_pipering_link_cost_t *net = &streams->cost.net, *local = &streams->cost.local;
    const uint64_t blocks = mca_coll_pipering_blocks(streams->bytes, block_size);

    if (0 == blocks) {
        return 0;
    }
    const double size = (double) streams->bytes / (double) blocks;
    const double combine = size * streams->combine;
    const double far = mca_coll_pipering_stream_time(net, 1, size);
    const double near = mca_coll_pipering_stream_time(local, 1, size);
    const double work = streams->streams * (streams->passes * net->gap + combine);
    const mca_coll_pipering_stage_t stages[] = {
        {.count = streams->passes * streams->hops,
         .pass = far + net->latency + combine,
         .hold = fmax(far, work)},
        {.count = streams->passes * streams->inside,
         .pass = near + local->latency + combine,
         .hold = streams->streams * fmax(streams->passes * near, combine)}};

    return mca_coll_pipering_stages_time(stages, 2,
                                         mca_coll_pipering_blocks((size_t) blocks,
                                                                  (size_t) streams->streams));
}

size_t mca_coll_pipering_streams_search(const mca_coll_pipering_streams_problem_t *problem)
{
    const mca_coll_pipering_link_cost_t *net = &problem->cost.net;
    const double share = (double) problem->bytes / problem->streams;
    const int hops = problem->passes * (problem->hops + problem->inside);

    return mca_coll_pipering_search_size(mca_coll_pipering_streams_time, problem, net,
                                         problem->cost.local.eager, problem->bytes,
                                         sqrt(share * net->alpha / net->beta
                                              / (1 < hops ? hops : 1)));
}
