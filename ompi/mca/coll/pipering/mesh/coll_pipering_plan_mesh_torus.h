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
 * Two Hamiltonian cycles of a torus that two cycles span (coll_pipering_plan_mesh_torus.c). Only
 * the search for Hamiltonian cycles includes this.
 */

#ifndef MCA_COLL_PIPERING_PLAN_MESH_TORUS_H
#define MCA_COLL_PIPERING_PLAN_MESH_TORUS_H

#include "coll_pipering_plan_mesh_squares.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/**
 * A torus: its columns are the places of a cycle of a vertices, its rows those of one of b <= a.
 * All arrays are the caller's.
 */
typedef struct mca_coll_pipering_torus_t {
    int a, b, n;                     /**< n = a b */
    const int *column, *row;         /**< [a], [b] the cycles' vertices in their order */
    int column_step, row_step;       /**< vertex (x, y): column[x] column_step + row[y] row_step */
    mca_coll_pipering_two_factor_t across, down; /**< [n] the two cycles, to be made */
    mca_coll_pipering_trace_t trace, other;  /**< [n] for traces of `across` and of `down` */
} mca_coll_pipering_torus_t;

/** A way to the two cycles: false if it leads to none, and then the factors are undefined. */
typedef bool mca_coll_pipering_torus_way_t(const mca_coll_pipering_torus_t *torus);

/** By squares, from rows and columns: for all tori. O(n (a - b + 1)). */
bool mca_coll_pipering_torus_join(const mca_coll_pipering_torus_t *torus);

/** Cycles that go in one direction only: for some tori. O(n). */
bool mca_coll_pipering_torus_wind(const mca_coll_pipering_torus_t *torus);

/**
 * By squares, from a cycle across a part of which goes in one direction only: for even b, unless
 * the search is too long. O(n^2).
 */
bool mca_coll_pipering_torus_skew(const mca_coll_pipering_torus_t *torus);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
