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
 * Factors of a mesh, and the squares at which two of them change places
 * (coll_pipering_plan_mesh_squares.c). Only the search for Hamiltonian cycles includes this.
 */

#ifndef MCA_COLL_PIPERING_PLAN_MESH_SQUARES_H
#define MCA_COLL_PIPERING_PLAN_MESH_SQUARES_H

#include <stdbool.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** A 2-factor, cycles that cover n vertices: the two neighbours of each in its cycle. */
typedef struct mca_coll_pipering_two_factor_t {
    int *near; /**< [n][2] */
} mca_coll_pipering_two_factor_t;

/** Where the vertices stand in the cycles of a factor. */
typedef struct mca_coll_pipering_trace_t {
    int *cycle; /**< [n] the least vertex of the same cycle */
    int *place; /**< [n] along this cycle */
} mca_coll_pipering_trace_t;

/** The corners of a square: p -- q and r -- s go across, p -- r and q -- s down. */
typedef struct mca_coll_pipering_square_t {
    int p, q, r, s;
} mca_coll_pipering_square_t;

/* ---- factors ---- */

/** Whether u and v are neighbours in a cycle. O(1), like all but the next two. */
bool mca_coll_pipering_has_link(mca_coll_pipering_two_factor_t factor, int u, int v);

/** Fills a trace of n vertices. O(n). */
void mca_coll_pipering_trace(mca_coll_pipering_two_factor_t factor, int n,
                             mca_coll_pipering_trace_t trace);

/** Writes the cycle of vertex 0, which has all n vertices, into order [n]. O(n). */
void mca_coll_pipering_unroll(mca_coll_pipering_two_factor_t factor, int n, int *order);

/** Sets the neighbours of v, and replaces `from` by `to` among them; v alone changes. */
void mca_coll_pipering_set_links(mca_coll_pipering_two_factor_t factor, int v, int before,
                                 int after);
void mca_coll_pipering_exchange_end(mca_coll_pipering_two_factor_t factor, int v, int from,
                                    int to);

/* ---- squares ---- */

/** The same square with its sides across as those down. */
mca_coll_pipering_square_t mca_coll_pipering_turned(mca_coll_pipering_square_t at);

/** Whether a traced factor that has the links across passes them in the same direction. */
bool mca_coll_pipering_is_parallel(mca_coll_pipering_trace_t trace, mca_coll_pipering_square_t at);

/** Replaces the links of a factor across by those down. */
void mca_coll_pipering_turn_links(mca_coll_pipering_two_factor_t factor,
                                  mca_coll_pipering_square_t at);

/** Whether the one factor has the links across and the other one those down. */
bool mca_coll_pipering_can_switch(mca_coll_pipering_two_factor_t across,
                                  mca_coll_pipering_two_factor_t down,
                                  mca_coll_pipering_square_t at);

/** Gives the links across to the factor that has those down, and these to the other one. */
void mca_coll_pipering_switch(mca_coll_pipering_two_factor_t across,
                              mca_coll_pipering_two_factor_t down, mca_coll_pipering_square_t at);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
