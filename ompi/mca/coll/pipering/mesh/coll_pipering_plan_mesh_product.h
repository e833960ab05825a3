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
 * Hamiltonian cycles of products of graphs (coll_pipering_plan_mesh_product.c). Only the search
 * for Hamiltonian cycles includes this.
 */

#ifndef MCA_COLL_PIPERING_PLAN_MESH_PRODUCT_H
#define MCA_COLL_PIPERING_PLAN_MESH_PRODUCT_H

#include <stdbool.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** Cycles of a graph of n vertices, no two of which share a link, as orders of its vertices. */
typedef struct mca_coll_pipering_cycles_t {
    int count, n;
    int *order; /**< [count][n] */
} mca_coll_pipering_cycles_t;

/**
 * Room for the `dims` cycles of dimensions with these extents at the beginning of `memory`, which
 * moves behind it.
 */
mca_coll_pipering_cycles_t mca_coll_pipering_take_cycles(const int *extent, int dims,
                                                         int **memory);

/**
 * Fills the orders of the `dims` cycles of a torus, all of whose dimensions are closed; the last
 * coordinate changes first. False if they are not found. Scratch memory: int [n][3 dims + 6].
 */
bool mca_coll_pipering_wind_torus(const int *extent, int dims, mca_coll_pipering_cycles_t cycles,
                                  int *memory);

/**
 * Fills the orders of the product of a graph and an open mesh, with as many cycles as the graph:
 * vertex (u, w) is u times the mesh's vertices, plus w. False if they are not found. Scratch
 * memory: int [count][n][2].
 */
bool mca_coll_pipering_stack(mca_coll_pipering_cycles_t base, const int *extent, int dims,
                             mca_coll_pipering_cycles_t product, int *memory);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
