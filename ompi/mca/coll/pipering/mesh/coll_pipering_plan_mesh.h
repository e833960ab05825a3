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
 * Meshes and tori: networks without a switch, where each vertex has a link of its own to each of
 * its neighbours, and the plans that use all of these links at once. Pure C: no MPI, no Open MPI.
 *
 *     (0,0) -- (0,1) -- (0,2)        a mesh of 2 x 3; the last coordinate changes first
 *       |        |        |
 *     (1,0) -- (1,1) -- (1,2)        vertex 5 is (1,2); a closed dimension adds a link
 *                                    from its end to its beginning
 *
 * A vertex is a node with all of its ranks or, where the declared mesh has as many vertices as
 * the job has ranks, a single rank: then ranks of a node are a dimension of the mesh.
 * A link carries messages both ways; a way is an arc.
 *
 * Paper: Almasi et al., "Optimization of MPI Collective Communication on BlueGene/L Systems",
 * section 3.
 */

#ifndef MCA_COLL_PIPERING_PLAN_MESH_H
#define MCA_COLL_PIPERING_PLAN_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_pipering_mesh.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_model.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_ring.h"

/** Most ranks or vertices that a mesh may have. */
#define MCA_COLL_PIPERING_MESH_MOST (1 << 24)

/** Extents of a mesh. */
typedef struct mca_coll_pipering_extents_t {
    int dims;
    int extent[MCA_COLL_PIPERING_MESH_DIMS];  /**< [dims], at least 1 each */
    bool closed[MCA_COLL_PIPERING_MESH_DIMS]; /**< [dims] the end has a link to the beginning */
} mca_coll_pipering_extents_t;

/** The mesh of a communicator's ranks; arrays are the caller's (mca_coll_pipering_mesh_bind). */
typedef struct mca_coll_pipering_mesh_t {
    mca_coll_pipering_extents_t extents; /**< all 2 or more; a closed one is 3 or more */
    int vertices;   /**< product of the extents */
    int ranks;      /**< p */
    int *vertex_of; /**< [ranks] the vertex of a rank */
    int *first;     /**< [vertices + 1] where the ranks of a vertex begin ... */
    int *rank;      /**< [ranks] ... in this list, ascending for each vertex */
} mca_coll_pipering_mesh_t;

/* ---- extents (coll_pipering_plan_mesh.c) ---- */

/**
 * Reads extents from text: "4x4x2", or "4tx4tx2" where the first two dimensions are closed. NULL,
 * or what is wrong with the text, as a phrase; `extents` is set on success only.
 */
const char *mca_coll_pipering_extents_read(mca_coll_pipering_extents_t *extents, const char *text);

/** Writes them likewise into `text` of `size` bytes; returns `text`. */
char *mca_coll_pipering_extents_write(const mca_coll_pipering_extents_t *extents, char *text,
                                      size_t size);

/** Number of vertices, and of closed dimensions. */
int mca_coll_pipering_extents_product(const mca_coll_pipering_extents_t *extents);
int mca_coll_pipering_closed(const mca_coll_pipering_extents_t *extents);

/** The coordinates [dims] of a vertex, and the vertex at coordinates. */
void mca_coll_pipering_coordinates(const mca_coll_pipering_extents_t *extents, int vertex,
                                   int *coordinate);
int mca_coll_pipering_vertex_at(const mca_coll_pipering_extents_t *extents, const int *coordinate);

/** The neighbour of a vertex in dimension `dim`, one step (1 or -1) on; -1: there is none. */
int mca_coll_pipering_neighbour(const mca_coll_pipering_extents_t *extents, int vertex, int dim,
                                int step);

/* ---- boxes (coll_pipering_plan_mesh.c) ---- */

/** Bytes of scratch memory for mca_coll_pipering_mesh_fill. */
size_t mca_coll_pipering_mesh_scratch(const mca_coll_pipering_extents_t *machine);

/** Bytes of memory for a mesh of p ranks, and the mesh laid into it. */
size_t mca_coll_pipering_mesh_size(int p);
void mca_coll_pipering_mesh_bind(mca_coll_pipering_mesh_t *mesh, int p, void *memory);

/**
 * The mesh of ranks that stand at vertices `at` [p] of a machine, several ranks at one or not.
 * False unless these vertices are a box of the machine, without holes, of 2 vertices or more: the
 * product of its extents is their number. A box may lie across the end of a closed dimension; it
 * is closed itself where it has all of one. Dimensions of one vertex are left out, and a closed
 * one of two is an open one. The result depends on the arguments only. O(p dims + extents).
 */
bool mca_coll_pipering_mesh_fill(mca_coll_pipering_mesh_t *mesh,
                                 const mca_coll_pipering_extents_t *machine, const int *at,
                                 void *scratch);

/* ---- branches (coll_pipering_plan_mesh_streams.c) ---- */

/** Neighbours that a rank may have in a tree or on a path, away from the root. */
#define MCA_COLL_PIPERING_MESH_DOWNS (2 * MCA_COLL_PIPERING_MESH_DIMS + 1)

/** Neighbours of a rank in a tree or on a path. */
typedef struct mca_coll_pipering_branch_t {
    int up; /**< rank towards the root, -1: this is the root */
    int downs;
    int down[MCA_COLL_PIPERING_MESH_DOWNS]; /**< ranks away from the root, the own vertex's last */
} mca_coll_pipering_branch_t;

/** The rank of a vertex that data of a tree or path comes to: the root, or the lowest one. */
int mca_coll_pipering_mesh_head(const mca_coll_pipering_mesh_t *mesh, int vertex, int root);

/**
 * Completes a branch that has the links between vertices, if rank `me` is a head, by those within
 * its vertex: a chain of its ranks from the head on. O(1).
 */
void mca_coll_pipering_mesh_chain(mca_coll_pipering_branch_t *branch,
                                  const mca_coll_pipering_mesh_t *mesh, int root, int me);

/** Hops of the longest of these chains. O(vertices). */
int mca_coll_pipering_mesh_inside(const mca_coll_pipering_mesh_t *mesh);

/** Streams side by side from a root or to it, for the model. */
typedef struct mca_coll_pipering_streams_problem_t {
    int streams; /**< each with its share of the blocks */
    int hops;    /**< between vertices, the longest way */
    int inside;  /**< within vertices */
    int passes;  /**< 1, or 2: to the root and back at the same time */
    size_t bytes;
    double combine; /**< seconds that a rank combines for a byte of the vector, 0: none does */
    mca_coll_pipering_cost_t cost;
} mca_coll_pipering_streams_problem_t;

/** Modelled seconds (mca_coll_pipering_time_fn_t), and the best block size in bytes. */
double mca_coll_pipering_streams_time(const void *problem, size_t block_size);
size_t mca_coll_pipering_streams_search(const mca_coll_pipering_streams_problem_t *problem);

/* ---- trees (coll_pipering_plan_mesh_trees.c) ---- */

/** Number of trees: as many as dimensions, twice as many in a torus. */
int mca_coll_pipering_trees_count(const mca_coll_pipering_extents_t *extents);

/** The place of rank `me` in tree `which` of those with this root. O(dims^3). */
void mca_coll_pipering_mesh_tree(mca_coll_pipering_branch_t *branch,
                                 const mca_coll_pipering_mesh_t *mesh, int which, int root, int me);

/** Hops between vertices from the root, a vertex, to the farthest one in any of the trees. */
int mca_coll_pipering_trees_depth(const mca_coll_pipering_extents_t *extents, int root);

/* ---- paths and rings (coll_pipering_plan_mesh_paths.c) ---- */

/**
 * A cycle through all vertices or, of an open mesh whose extents are all odd, through all but
 * vertex 0. Arrays are borrowed.
 */
typedef struct mca_coll_pipering_cycle_t {
    int length;
    const int *vertex; /**< [length] in its order */
    const int *place;  /**< [vertices] where they stand in it, -1: vertex 0 does not */
} mca_coll_pipering_cycle_t;

/**
 * The place of rank `me` on path `which`, 0 or 1, to the root: the two paths pass all vertices
 * along the cycle in opposite directions, and share no arc. O(dims).
 */
void mca_coll_pipering_mesh_path(mca_coll_pipering_branch_t *branch,
                                 const mca_coll_pipering_mesh_t *mesh,
                                 const mca_coll_pipering_cycle_t *cycle, int which, int root,
                                 int me);

/** Fills a bound ring with the ranks along a cycle of all vertices, or against it. O(p). */
void mca_coll_pipering_mesh_ring(mca_coll_pipering_ring_t *ring,
                                 const mca_coll_pipering_mesh_t *mesh, const int *cycle,
                                 bool against);

/* ---- Hamiltonian cycles (coll_pipering_plan_mesh_cycles.c) ---- */

/**
 * The most Hamiltonian cycles that are looked for in a mesh as mca_coll_pipering_mesh_fill makes
 * it, no two of which share a link: one for each closed dimension; without any, one if there are
 * two dimensions and the number of vertices is even; else 0.
 */
int mca_coll_pipering_cycles_count(const mca_coll_pipering_extents_t *extents);

/** Bytes of scratch memory for the functions below. */
size_t mca_coll_pipering_cycles_scratch(const mca_coll_pipering_extents_t *extents);

/**
 * Fills order [count][vertices] with these cycles, the vertices of each in the order in which it
 * passes them; returns how many have been found: `count`, unless the search for them is too long.
 * O(vertices x dims^2) with a large factor.
 */
int mca_coll_pipering_cycles(const mca_coll_pipering_extents_t *extents, int *order,
                             void *scratch);

/**
 * The cycle through all vertices but vertex 0 of a mesh of two open dimensions or more, whose
 * extents are all odd: order [vertices - 1].
 */
bool mca_coll_pipering_near_cycle(const mca_coll_pipering_extents_t *extents, int *order,
                                  void *scratch);

#endif
