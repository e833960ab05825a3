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
 * Trees of a mesh: a broadcast that sends a part of the blocks down each of several spanning
 * trees, no two of which have an arc in common; a reduction goes up the same trees.
 *
 *     tree 0                  tree 1                  3 x 3, root R; dimension 0 goes across,
 *                                                     dimension 1 down
 *     R --> o --> o           R     o     o
 *           |     |           |     ^     ^
 *           v     v           v     |     |
 *     o <-- o     o           o --> o --> o
 *           |     |           |
 *           v     v           v
 *     o <-- o     o           o --> o --> o
 *
 * Tree k begins along dimension k; where a line is there, the next dimension (k + 1, ..., k - 1,
 * in turns) leaves it along lines, and so on: the trees are rotations of one. By coordinates
 * relative to the root, the parent of a vertex is
 *
 * - the vertex one step nearer in the last of the dimensions k, k + 1, ... in which the vertex
 *   is not level with the root, unless it is level with the root in dimension k;
 * - else the vertex one step farther in dimension k.
 *
 * An arc away from the root in dimension j ends at vertices of which tree k is the only one that
 * takes it: k is the first dimension behind j in which they are not level with the root. An arc
 * towards the root is taken by the tree of its own dimension, and by that only where it reaches
 * the level of the root. So d trees share no arc, for any root, and every rank receives each
 * block once, over d links where there are as many.
 *
 * A torus, all of whose dimensions are closed, has 2d trees: d of them count coordinates in one
 * direction all around, d in the other one. An arc against the direction of the former is theirs
 * only where it ends level with the root, which is the one that the latter leave out.
 *
 * The lowest rank of a vertex, or the root, receives for its other ranks, which form a chain.
 * Blocks are forwarded one by one, at turns too.
 *
 * Cost: with k blocks, T trees and at most h hops,
 *
 *     T(B) = h (c(B) + latency) + (k / T - 1) c(B),      h <= 1 + sum of distances
 *
 * where a link passes 1 / T of the bytes: d L in a mesh, 2 d L in a torus, L being the rate of a
 * link. Limits: a mesh of closed and open dimensions has d trees.
 *
 * Paper, section 3.1, MPI_Bcast and Figure 1, after J. Watts, R. van de Geijn, "A pipelined
 * broadcast for multidimensional meshes", 1995. Rules for any root and for a torus are this
 * file's.
 */

#include "coll_pipering_plan_mesh.h"

/* A tree as a vertex sees it: where it stands relative to the root, in the tree's directions. */
typedef struct {
    const mca_coll_pipering_extents_t *extents;
    int dim; /* that the tree begins along */
    int root[MCA_COLL_PIPERING_MESH_DIMS];
    bool around, mirrored; /* coordinates count around, in one direction or the other */
} view_t;

static bool is_torus(const mca_coll_pipering_extents_t *extents)
{
    return mca_coll_pipering_closed(extents) == extents->dims;
}

int mca_coll_pipering_trees_count(const mca_coll_pipering_extents_t *extents)
{
    return is_torus(extents) ? 2 * extents->dims : extents->dims;
}

static view_t view_of(const mca_coll_pipering_extents_t *extents, int which, int root)
{
    view_t view = {.extents = extents,
                   .dim = which % extents->dims,
                   .around = is_torus(extents),
                   .mirrored = which >= extents->dims};

    mca_coll_pipering_coordinates(extents, root, view.root);
    return view;
}

/* Steps from the root in a dimension; negative ones, where these do not count around. */
static int level(const view_t *view, const int *coordinate, int dim)
{
    const int extent = view->extents->extent[dim], steps = coordinate[dim] - view->root[dim];

    if (!view->extents->closed[dim]) {
        return steps;
    }
    const int ahead = ((view->mirrored ? -steps : steps) + extent) % extent;
    return view->around || 2 * ahead <= extent ? ahead : ahead - extent;
}

/* The direction in which coordinates grow. */
static int forward(const view_t *view)
{
    return view->mirrored ? -1 : 1;
}

/* The direction away from the root of a vertex that is level with it. */
static int away(const view_t *view, const int *coordinate)
{
    const int k = view->dim;
    const bool last = !view->extents->closed[k]
                      && coordinate[k] == view->extents->extent[k] - 1;

    return last ? -1 : forward(view);
}

/* The parent of a vertex, -1: it is the root. */
static int parent_of(const view_t *view, int vertex)
{
    int coordinate[MCA_COLL_PIPERING_MESH_DIMS], last = -1;
    const int dims = view->extents->dims, k = view->dim;

    mca_coll_pipering_coordinates(view->extents, vertex, coordinate);
    for (int i = 0; i < dims; ++i) {
        last = 0 != level(view, coordinate, (k + i) % dims) ? (k + i) % dims : last;
    }
    if (0 > last) {
        return -1;
    }
    if (0 == level(view, coordinate, k)) {
        return mca_coll_pipering_neighbour(view->extents, vertex, k, away(view, coordinate));
    }
    const int back = 0 < level(view, coordinate, last) ? -forward(view) : forward(view);
    return mca_coll_pipering_neighbour(view->extents, vertex, last, back);
}

/* Adds the neighbours of a vertex whose parent it is. */
static void add_children(mca_coll_pipering_branch_t *branch, const mca_coll_pipering_mesh_t *mesh,
                         const view_t *view, int vertex, int root)
{
    for (int i = 0; i < view->extents->dims; ++i) {
        for (int step = 1; -1 <= step; step -= 2) {
            const int child = mca_coll_pipering_neighbour(view->extents, vertex, i, step);
            if (0 <= child && vertex == parent_of(view, child)) {
                branch->down[branch->downs++] = mca_coll_pipering_mesh_head(mesh, child, root);
            }
        }
    }
}

void mca_coll_pipering_mesh_tree(mca_coll_pipering_branch_t *branch,
                                 const mca_coll_pipering_mesh_t *mesh, int which, int root, int me)
{
    const int vertex = mesh->vertex_of[me];
    const view_t view = view_of(&mesh->extents, which, mesh->vertex_of[root]);

    if (me == mca_coll_pipering_mesh_head(mesh, vertex, root)) {
        const int parent = parent_of(&view, vertex);
        branch->up = 0 > parent ? -1 : mca_coll_pipering_mesh_head(mesh, parent, root);
        branch->downs = 0;
        add_children(branch, mesh, &view, vertex, root);
    }
    mca_coll_pipering_mesh_chain(branch, mesh, root, me);
}

/* A vertex that is level with the root in the tree's dimension takes a step more, and one back. */
int mca_coll_pipering_trees_depth(const mca_coll_pipering_extents_t *extents, int root)
{
    const view_t view = view_of(extents, 0, root);
    int sum = 0, least = 2; /* of the most steps in a dimension */

    for (int i = 0; i < extents->dims; ++i) {
        const int extent = extents->extent[i], first = view.root[i], last = extent - 1 - first;
        const int most = view.around          ? extent - 1
                         : extents->closed[i] ? extent / 2
                         : first > last       ? first
                                              : last;
        sum += most;
        least = most < least ? most : least;
    }
    return 1 < extents->dims ? sum + 2 - least : sum;
}
