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
 * The arithmetic of the multigrid solver, and ghosts alone with a check of each.
 *
 * A wall lies half a point behind the last one, so what is behind it is a mirror with the
 * sign turned. For that ghosts are filled direction by direction, x first, with those that
 * are already there, so that edges and corners come out right.
 */

#include "app_multigrid.h"

#include <math.h>
#include <string.h>

double app_multigrid_given(const app_grid_t *grid, const int point[3], int field)
{
    const uint64_t place = ((uint64_t) point[2] * (uint64_t) grid->points + (uint64_t) point[1])
                               * (uint64_t) grid->points + (uint64_t) point[0];

    return 1.0 + field + app_draw(place * 64 + (uint64_t) field);
}

static size_t row_at(const app_level_t *level, int y, int z)
{
    return level->origin + (size_t) y * level->stride[1] + (size_t) z * level->stride[2];
}

static size_t row_length(const app_level_t *level)
{
    return (size_t) level->size[0] * level->stride[0];
}

/* ---- ghosts */

/* All doubles of the plane `to`, with its ghosts, get those of the plane `from` with the
 * sign turned; `other` are the two directions in the plane. */
static void mirror(const app_level_t *level, double *to, const double *from, const int other[2])
{
    const size_t a = level->stride[other[0]], b = level->stride[other[1]];

    for (int i = 0; i < level->size[other[1]] + 2; ++i) {
        for (int k = 0; k < level->size[other[0]] + 2; ++k) {
            const size_t at = (size_t) i * b + (size_t) k * a;

            for (size_t field = 0; field < (size_t) level->fields; ++field) {
                to[at + field] = -from[at + field];
            }
        }
    }
}

static void fill_walls(const app_level_t *level, double *u)
{
    for (int d = 0; d < 3; ++d) {
        const int other[2] = {0 == d ? 1 : 0, 2 == d ? 1 : 2};
        const size_t stride = level->stride[d], size = (size_t) level->size[d];

        if (level->wall[d][0]) {
            mirror(level, u, u + stride, other);
        }
        if (level->wall[d][1]) {
            mirror(level, u + (size + 1) * stride, u + size * stride, other);
        }
    }
}

static void fill_ghosts(const app_multigrid_t *multigrid, app_level_t *level)
{
    if (MPI_SUCCESS
        != app_exchange_run(&level->exchange, multigrid->way, multigrid->comm, level->u,
                            level->u)) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    fill_walls(level, level->u);
}

/* ---- the operator */

/* out = a u + c (f - A u) for one row; A is the Laplacian times -1 over `scale`, points as
 * in a star. */
static void star_row(const app_level_t *level, size_t at, double a, double c, double scale)
{
    const size_t x = level->stride[0], y = level->stride[1], z = level->stride[2];
    const size_t length = row_length(level);
    const double *u = level->u + at, *f = level->f + at;
    double *restrict out = level->v + at;

    for (size_t i = 0; i < length; ++i) {
        const double *p = u + i;
        const double sum = (p[x] + *(p - x)) + (p[y] + *(p - y)) + (p[z] + *(p - z));

        out[i] = a * *p + c * (f[i] - scale * (6.0 * *p - sum));
    }
}

/* A row's neighbours in x. */
static inline double beside(const double *p, size_t x)
{
    return p[x] + *(p - x);
}

/* The four rows around one, in a cross: +-y and +-z, or the diagonals. */
static inline double around(const double *p, size_t y, size_t z)
{
    return (p[y] + *(p - y)) + (p[z] + *(p - z));
}

static inline double beside_around(const double *p, size_t x, size_t y, size_t z)
{
    return around(p + x, y, z) + around(p - x, y, z);
}

/* The same with the 27 points of a box: 128, -14, -3, -1 over 30. */
static void box_row(const app_level_t *level, size_t at, double a, double c, double scale)
{
    const size_t x = level->stride[0], y = level->stride[1], z = level->stride[2];
    const size_t length = row_length(level);
    const double *u = level->u + at, *f = level->f + at;
    double *restrict out = level->v + at;

    for (size_t i = 0; i < length; ++i) {
        const double *p = u + i;
        const double sides = beside(p, x) + around(p, y, z);
        const double edges = beside_around(p, x, y, z) + around(p, y + z, z - y);
        const double corners = beside_around(p, x, y + z, z - y);

        out[i] = a * *p
                 + c * (f[i] - scale / 30.0 * (128.0 * *p - 14.0 * sides - 3.0 * edges - corners));
    }
}

static void apply(const app_level_t *level, double a, double c)
{
    const double scale = (double) level->points * level->points;

    for (int z = 0; z < level->size[2]; ++z) {
        for (int y = 0; y < level->size[1]; ++y) {
            if (level->box) {
                box_row(level, row_at(level, y, z), a, c, scale);
            } else {
                star_row(level, row_at(level, y, z), a, c, scale);
            }
        }
    }
}

/* v = f - A u */
static void find_residual(const app_multigrid_t *multigrid, app_level_t *level)
{
    fill_ghosts(multigrid, level);
    apply(level, 0.0, 1.0);
}

/* One step of Jacobi. */
static void smooth(const app_multigrid_t *multigrid, app_level_t *level, double damping)
{
    const double diagonal = (level->box ? 128.0 / 30.0 : 6.0) * level->points * level->points;
    double *next = level->v;

    fill_ghosts(multigrid, level);
    apply(level, 1.0, damping / diagonal);
    level->v = level->u;
    level->u = next;
}

/* ---- from level to level */

/* f of the coarse level: the mean of the residuals of the 8 points in a cell. */
static void go_down(const app_level_t *fine, app_level_t *coarse)
{
    const size_t x = fine->stride[0], y = fine->stride[1], z = fine->stride[2];

    for (int k = 0; k < coarse->size[2]; ++k) {
        for (int j = 0; j < coarse->size[1]; ++j) {
            double *f = coarse->f + row_at(coarse, j, k);
            const double *v = fine->v + row_at(fine, 2 * j, 2 * k);

            for (int i = 0; i < coarse->size[0]; ++i, f += x, v += 2 * x) {
                for (size_t n = 0; n < x; ++n) {
                    const double *p = v + n;

                    f[n] = 0.125 * (((p[0] + p[x]) + (p[y] + p[x + y]))
                                    + ((p[z] + p[x + z]) + (p[y + z] + p[x + y + z])));
                }
            }
        }
    }
    memset(coarse->u, 0, coarse->room * sizeof(double));
}

/* A point's quarter of the way to the neighbours of its cell: linear with a star only. */
static void go_up_row(const app_level_t *coarse, const app_level_t *fine, int y, int z)
{
    const size_t x = coarse->stride[0], above = coarse->stride[1], behind = coarse->stride[2];
    const double *e = coarse->u + row_at(coarse, y / 2, z / 2);
    double *u = fine->u + row_at(fine, y, z);

    for (int i = 0; i < fine->size[0]; ++i, u += x) {
        const double *cell = e + (size_t) (i / 2) * x;

        for (size_t n = 0; n < x; ++n) {
            const double *p = cell + n;
            const double in_x = 0 == i % 2 ? *(p - x) : p[x];
            const double in_y = 0 == y % 2 ? *(p - above) : p[above];
            const double in_z = 0 == z % 2 ? *(p - behind) : p[behind];

            u[n] += 0.25 * ((*p + in_x) + (in_y + in_z));
        }
    }
}

static void go_up(const app_multigrid_t *multigrid, app_level_t *coarse, const app_level_t *fine)
{
    fill_ghosts(multigrid, coarse);
    for (int z = 0; z < fine->size[2]; ++z) {
        for (int y = 0; y < fine->size[1]; ++y) {
            go_up_row(coarse, fine, y, z);
        }
    }
}

static void descend(app_multigrid_t *multigrid, int l)
{
    app_level_t *level = &multigrid->level[l];

    if (multigrid->levels - 1 == l) {
        for (int k = 0; k < APP_LAST_STEPS; ++k) {
            smooth(multigrid, level, multigrid->last[k]);
        }
        return;
    }
    smooth(multigrid, level, multigrid->damping);
    smooth(multigrid, level, multigrid->damping);
    find_residual(multigrid, level);
    go_down(level, level + 1);
    descend(multigrid, l + 1);
    go_up(multigrid, level + 1, level);
    smooth(multigrid, level, multigrid->damping);
    smooth(multigrid, level, multigrid->damping);
}

void app_multigrid_start(app_multigrid_t *multigrid)
{
    app_level_t *finest = &multigrid->level[0];

    memset(finest->u, 0, finest->room * sizeof(double));
}

void app_multigrid_cycle(app_multigrid_t *multigrid, app_way_t way, MPI_Comm comm)
{
    multigrid->way = way;
    multigrid->comm = comm;
    descend(multigrid, 0);
}

/* ---- answers */

double app_multigrid_residual(app_multigrid_t *multigrid, app_way_t way, MPI_Comm comm)
{
    app_level_t *level = &multigrid->level[0];
    double most = 0.0;

    multigrid->way = way;
    multigrid->comm = comm;
    find_residual(multigrid, level);
    for (int z = 0; z < level->size[2]; ++z) {
        for (int y = 0; y < level->size[1]; ++y) {
            const double *v = level->v + row_at(level, y, z);

            for (size_t i = 0; i < row_length(level); ++i) {
                most = fabs(v[i]) > most ? fabs(v[i]) : most;
            }
        }
    }
    return most;
}

/* Of the double so many behind the first in the row (y, z): its place in the whole grid. */
static uint64_t whole_place(const app_level_t *level, int i, int y, int z)
{
    const int64_t points = level->points;
    const int64_t row = (level->first[2] + z) * points + level->first[1] + y;

    return (uint64_t) ((row * points + level->first[0]) * level->fields + i);
}

uint64_t app_multigrid_checksum(const app_multigrid_t *multigrid)
{
    const app_level_t *level = &multigrid->level[0];
    uint64_t sum = 0, bits;

    for (int z = 0; z < level->size[2]; ++z) {
        for (int y = 0; y < level->size[1]; ++y) {
            const double *u = level->u + row_at(level, y, z);

            for (int i = 0; i < (int) row_length(level); ++i) {
                memcpy(&bits, &u[i], sizeof(bits));
                sum += app_mix(bits ^ app_mix(whole_place(level, i, y, z)));
            }
        }
    }
    return sum;
}

/* ---- ghosts alone */

void app_ghosts_fill(app_multigrid_t *multigrid, int l, uint64_t call)
{
    app_level_t *level = &multigrid->level[l];

    for (size_t i = 0; i < level->room; ++i) {
        level->u[i] = -1e300;
    }
    for (int z = 0; z < level->size[2]; ++z) {
        for (int y = 0; y < level->size[1]; ++y) {
            double *u = level->u + row_at(level, y, z);

            for (int i = 0; i < (int) row_length(level); ++i) {
                u[i] = app_draw(app_mix(call) + whole_place(level, i, y, z));
            }
        }
    }
}

int app_ghosts_run(app_multigrid_t *multigrid, int l, app_way_t way, MPI_Comm comm)
{
    app_level_t *level = &multigrid->level[l];

    return app_exchange_run(&level->exchange, way, comm, level->u, level->u);
}

/* How many directions lead out of this rank's points, -1: out of the cube. */
static int ways_out(const app_level_t *level, const int at[3])
{
    int out = 0;

    for (int d = 0; d < 3; ++d) {
        if ((0 > at[d] && level->wall[d][0])
            || (level->size[d] <= at[d] && level->wall[d][1])) {
            return -1;
        }
        out += 0 > at[d] || level->size[d] <= at[d];
    }
    return out;
}

/* What is not to come in must still be what it was filled with. */
static bool right_at(const app_level_t *level, const int at[3], uint64_t call)
{
    const int out = ways_out(level, at);
    const double *u = level->u + level->origin;

    u += at[0] * (ptrdiff_t) level->stride[0] + at[1] * (ptrdiff_t) level->stride[1]
         + at[2] * (ptrdiff_t) level->stride[2];
    for (int field = 0; field < level->fields; ++field) {
        const uint64_t place = whole_place(level, at[0] * level->fields + field, at[1], at[2]);
        const bool there = 0 <= out && (level->box || 2 > out);

        if (u[field] != (there ? app_draw(app_mix(call) + place) : -1e300)) {
            return false;
        }
    }
    return true;
}

bool app_ghosts_verify(const app_multigrid_t *multigrid, int l, uint64_t call)
{
    const app_level_t *level = &multigrid->level[l];
    int at[3];

    for (at[2] = -1; at[2] <= level->size[2]; ++at[2]) {
        for (at[1] = -1; at[1] <= level->size[1]; ++at[1]) {
            for (at[0] = -1; at[0] <= level->size[0]; ++at[0]) {
                if (!right_at(level, at, call)) {
                    return false;
                }
            }
        }
    }
    return true;
}
