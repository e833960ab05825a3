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
 * Paths of a mesh, along which a reduction goes to its root, and rings, along which a gather goes.
 *
 *     cycle of 2 x 3         paths to root R
 *     a -- b -- c
 *     |         |            b --> c --> f --> e --> d --> a = R
 *     d -- e -- f            d --> e --> f --> c --> b --> a = R
 *
 * A Hamiltonian cycle is two paths to any of its vertices, in opposite directions: every rank has
 * one neighbour that it takes values from on each, so it combines each byte of the vector once,
 * and each path carries half of it. An open mesh whose extents are all odd has a cycle through
 * all vertices but one, vertex 0. That gives its values to two of its neighbours, one on each path.
 * Where it is the root the paths end at two of its neighbours, and these send to it.
 *
 * A ring goes along a cycle or against it; ranks of a vertex stand together.
 *
 * Cost: with k blocks and n vertices
 *
 *     T(B) = (n - 1) (c(B) + latency) + (k / 2 - 1) c(B)
 *
 * so 2 L in the long run, L being the rate of a link; there and back along one path, L. Limits:
 * the order of ranks is not that of the path, so operations must commute; a line, an open mesh of
 * one dimension, has no cycle.
 *
 * Paper, section 3.1, MPI_Reduce, Figure 2b, and MPI_Allreduce. Two streams in opposite directions
 * end at one root on a cycle only, not on a path as it says; the cycle of all vertices but one is
 * this file's.
 */

#include "coll_pipering_plan_mesh.h"

/* The place of the vertex behind one, in the direction of a path. */
static int place_behind(const mca_coll_pipering_cycle_t *cycle, int which, int place)
{
    return (place + (0 == which ? 1 : cycle->length - 1)) % cycle->length;
}

/* A neighbour of vertex 0 for each path: the next one in the first dimension, or in the second. */
static int neighbour_of_first(const mca_coll_pipering_mesh_t *mesh, int which)
{
    return mca_coll_pipering_neighbour(&mesh->extents, 0, which, 1);
}

static void add_down(mca_coll_pipering_branch_t *branch, const mca_coll_pipering_mesh_t *mesh,
                     int vertex, int root)
{
    branch->down[branch->downs++] = mca_coll_pipering_mesh_head(mesh, vertex, root);
}

/* Links of the head of a vertex on the cycle; `root` is a rank. */
static void link_on_cycle(mca_coll_pipering_branch_t *branch, const mca_coll_pipering_mesh_t *mesh,
                          const mca_coll_pipering_cycle_t *cycle, int which, int root, int vertex)
{
    const int end = mesh->vertex_of[root], place = cycle->place[vertex];
    /* of the cycle on the path: the root, or a neighbour of a root that is not on it */
    const int last = 0 > cycle->place[end] ? neighbour_of_first(mesh, which) : end;
    const int before = cycle->vertex[place_behind(cycle, 1 - which, place)];

    if (vertex != last) {
        const int next = cycle->vertex[place_behind(cycle, which, place)];
        branch->up = mca_coll_pipering_mesh_head(mesh, next, root);
    } else if (vertex != end) {
        branch->up = root;
    }
    if (before != last) {
        add_down(branch, mesh, before, root);
    }
    if (0 > cycle->place[0] && 0 != end && neighbour_of_first(mesh, which) == vertex) {
        add_down(branch, mesh, 0, root);
    }
}

/* Links of the head of vertex 0, which is not on the cycle. */
static void link_first(mca_coll_pipering_branch_t *branch, const mca_coll_pipering_mesh_t *mesh,
                       int which, int root)
{
    const int neighbour = neighbour_of_first(mesh, which);

    if (0 == mesh->vertex_of[root]) {
        add_down(branch, mesh, neighbour, root);
    } else {
        branch->up = mca_coll_pipering_mesh_head(mesh, neighbour, root);
    }
}

void mca_coll_pipering_mesh_path(mca_coll_pipering_branch_t *branch,
                                 const mca_coll_pipering_mesh_t *mesh,
                                 const mca_coll_pipering_cycle_t *cycle, int which, int root,
                                 int me)
{
    const int vertex = mesh->vertex_of[me];

    branch->up = -1;
    branch->downs = 0;
    if (me == mca_coll_pipering_mesh_head(mesh, vertex, root)) {
        if (0 > cycle->place[vertex]) {
            link_first(branch, mesh, which, root);
        } else {
            link_on_cycle(branch, mesh, cycle, which, root, vertex);
        }
    }
    mca_coll_pipering_mesh_chain(branch, mesh, root, me);
}

void mca_coll_pipering_mesh_ring(mca_coll_pipering_ring_t *ring,
                                 const mca_coll_pipering_mesh_t *mesh, const int *cycle,
                                 bool against)
{
    int x = 0;

    ring->size = mesh->ranks;
    ring->nodes = mesh->vertices;
    for (int i = 0; i < mesh->vertices; ++i) {
        const int vertex = cycle[against ? mesh->vertices - 1 - i : i];
        ring->first[i] = x;
        for (int k = mesh->first[vertex]; k < mesh->first[vertex + 1]; ++k) {
            ring->rank[x] = mesh->rank[k];
            ring->position[mesh->rank[k]] = x;
            ring->node[x++] = i;
        }
    }
    ring->first[mesh->vertices] = x;
}
