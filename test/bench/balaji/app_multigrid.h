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
 * The solver of Balaji et al., section 5.5: -Laplace(u) = f on the unit cube, u = 0 at its
 * walls, by multigrid. Points are the middles of cells, so that each level has half of the
 * points of the one above it in each direction (100, 50, 25); ranks are a grid, and a cell
 * and those it is made of are on the same rank:
 *
 *     exchange ghosts, smooth (twice)             smooth (twice)
 *     residual -> mean of 8           u += linear interpolation
 *           ... the next level, the same way ...
 *                    the last one: many steps
 *
 * Smoothing is damped Jacobi, on the last level with the damping of each step from a
 * Chebyshev polynomial, which makes of 32 steps what takes hundreds with one damping. Every
 * point's arithmetic is the same wherever it lies, so results have the same bits for all
 * numbers of ranks and all ways of exchanging; norms are maxima for the same reason.
 *
 * Star stencils have 7 points and need ghosts from 6 neighbours, boxes 27 and 26. Fields of
 * a point are side by side in memory (interlaced) and independent of each other.
 */

#ifndef APP_MULTIGRID_H
#define APP_MULTIGRID_H

#include "app_exchange.h"

#define APP_LEVELS 8
#define APP_LAST_STEPS 32 /* a power of two */

typedef struct app_grid_t {
    int points;       /**< of the whole grid in each direction, on the finest level */
    int levels;
    int fields;
    bool box;
} app_grid_t;

typedef struct app_level_t {
    int points;       /**< of the whole grid in each direction */
    int first[3];     /**< this rank's first point */
    int size[3];      /**< this rank's points */
    bool wall[3][2];  /**< does its part end at a wall of the cube? */
    int fields;
    bool box;
    size_t stride[3]; /**< doubles to the next point, with ghosts */
    size_t origin;    /**< place of the first point that is no ghost */
    size_t room;      /**< doubles of an array */
    double *u;
    double *f;
    double *v;        /**< the next u, or the residual */
    app_exchange_t exchange;
} app_level_t;

typedef struct app_multigrid_t {
    app_grid_t grid;
    int levels;       /**< made so far */
    int ranks[3];
    int place[3];     /**< of this rank among them */
    app_level_t level[APP_LEVELS];
    double damping;   /**< of Jacobi, over the diagonal */
    double last[APP_LAST_STEPS];
    app_way_t way;    /**< how ghosts are exchanged at present */
    MPI_Comm comm;
} app_multigrid_t;

/* app_grid.c */
/** NULL, or why such a grid cannot be laid on so many ranks. */
const char *app_grid_misfit(const app_grid_t *grid, int size);
/** Collective; false: no memory. */
bool app_multigrid_create(app_multigrid_t *multigrid, MPI_Comm comm, const app_grid_t *grid);
void app_multigrid_free(app_multigrid_t *multigrid);

/* app_multigrid.c */
/** The given values of a point's field on the finest level, exact multiples of 2^-30. */
double app_multigrid_given(const app_grid_t *grid, const int point[3], int field);
/** u = 0. */
void app_multigrid_start(app_multigrid_t *multigrid);
/** A V-cycle. */
void app_multigrid_cycle(app_multigrid_t *multigrid, app_way_t way, MPI_Comm comm);
/** Of this rank's part: the largest residual, and a sum over u that depends on places. */
double app_multigrid_residual(app_multigrid_t *multigrid, app_way_t way, MPI_Comm comm);
uint64_t app_multigrid_checksum(const app_multigrid_t *multigrid);
/** Ghosts alone: u of a level gets new values; the ghosts that the stencil uses come in. */
void app_ghosts_fill(app_multigrid_t *multigrid, int level, uint64_t call);
int app_ghosts_run(app_multigrid_t *multigrid, int level, app_way_t way, MPI_Comm comm);
bool app_ghosts_verify(const app_multigrid_t *multigrid, int level, uint64_t call);

#endif
