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
 * Levels of a grid on a grid of ranks: who has which points, and the regions that
 * neighbours exchange. Ranks are in MPI's order, the last dimension (z) fastest among
 * ranks; points have x fastest.
 */

#include "app_multigrid.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int coarsest(const app_grid_t *grid)
{
    return grid->points >> (grid->levels - 1);
}

const char *app_grid_misfit(const app_grid_t *grid, int size)
{
    int ranks[3] = {0, 0, 0};

    if (1 > grid->levels || APP_LEVELS < grid->levels || 1 > coarsest(grid)
        || coarsest(grid) << (grid->levels - 1) != grid->points) {
        return "the points in each direction must halve from level to level";
    }
    MPI_Dims_create(size, 3, ranks);
    for (int d = 0; d < 3; ++d) {
        if (ranks[d] > coarsest(grid)) {
            return "the coarsest level has fewer points in a direction than there are ranks";
        }
    }
    return NULL;
}

/* ---- ghosts */

static int rank_at(const app_multigrid_t *multigrid, const int place[3])
{
    const int *ranks = multigrid->ranks;

    for (int d = 0; d < 3; ++d) {
        if (0 > place[d] || ranks[d] <= place[d]) {
            return -1;
        }
    }
    return (place[0] * ranks[1] + place[1]) * ranks[2] + place[2];
}

/* The points next to the side, edge or corner that lies in this direction; the ghosts
 * behind it if `outside`. */
static app_region_t next_to(const app_level_t *level, const int direction[3], bool outside)
{
    size_t start = level->origin;
    int size[3];

    for (int d = 0; d < 3; ++d) {
        const size_t stride = level->stride[d];

        size[d] = 0 == direction[d] ? level->size[d] : 1;
        if (0 < direction[d]) {
            start += stride * (size_t) (level->size[d] - !outside);
        } else if (0 > direction[d] && outside) {
            start -= stride;
        }
    }
    size[0] *= level->fields;
    return app_region_box(start, size, level->stride + 1);
}

static void add_neighbour(const app_multigrid_t *multigrid, app_level_t *level,
                          const int direction[3])
{
    const int distance = abs(direction[0]) + abs(direction[1]) + abs(direction[2]);
    int place[3], peer;

    for (int d = 0; d < 3; ++d) {
        place[d] = multigrid->place[d] + direction[d];
    }
    peer = rank_at(multigrid, place);
    if (0 == distance || 0 > peer || (1 < distance && !level->box)) {
        return;
    }
    app_exchange_add(&level->exchange, peer, next_to(level, direction, false),
                     next_to(level, direction, true));
}

static bool lay_exchange(const app_multigrid_t *multigrid, app_level_t *level, MPI_Comm comm)
{
    int direction[3];

    if (!app_exchange_begin(&level->exchange, comm, 26)) {
        return false;
    }
    for (int i = 0; i < 27; ++i) {
        direction[0] = i % 3 - 1;
        direction[1] = i / 3 % 3 - 1;
        direction[2] = i / 9 - 1;
        add_neighbour(multigrid, level, direction);
    }
    return app_exchange_end(&level->exchange);
}

/* ---- levels */

/* Points are shared out on the coarsest level. */
static void share_out(const app_multigrid_t *multigrid, app_level_t *level, int halvings)
{
    const int coarse = coarsest(&multigrid->grid);
    const int up = multigrid->grid.levels - 1 - halvings;

    level->points = coarse << up;
    for (int d = 0; d < 3; ++d) {
        const int ranks = multigrid->ranks[d], place = multigrid->place[d];
        const int first = coarse * place / ranks, end = coarse * (place + 1) / ranks;

        level->first[d] = first << up;
        level->size[d] = (end - first) << up;
        level->wall[d][0] = 0 == place;
        level->wall[d][1] = ranks - 1 == place;
    }
}

static bool make_level(app_multigrid_t *multigrid, MPI_Comm comm)
{
    const int halvings = multigrid->levels++;
    app_level_t *level = &multigrid->level[halvings];

    share_out(multigrid, level, halvings);
    level->fields = multigrid->grid.fields;
    level->box = multigrid->grid.box;
    level->stride[0] = (size_t) level->fields;
    level->stride[1] = level->stride[0] * (size_t) (level->size[0] + 2);
    level->stride[2] = level->stride[1] * (size_t) (level->size[1] + 2);
    level->origin = level->stride[0] + level->stride[1] + level->stride[2];
    level->room = level->stride[2] * (size_t) (level->size[2] + 2);
    level->u = calloc(level->room, sizeof(double));
    level->f = calloc(level->room, sizeof(double));
    level->v = calloc(level->room, sizeof(double));
    return NULL != level->u && NULL != level->f && NULL != level->v
           && lay_exchange(multigrid, level, comm);
}

/* ---- dampings */

/* Least and largest eigenvalue of the operator over its diagonal, for waves of `c` the
 * cosine of the angle from point to point. */
static double eigenvalue(bool box, double c)
{
    return box ? 1.0 - (84.0 * c + 36.0 * c * c + 8.0 * c * c * c) / 128.0 : 1.0 - c;
}

/* In the order of Lebedev and Finogenov: no error grows on the way. */
static void order_roots(int *order, int count)
{
    order[0] = 1;
    for (int n = 1; n < count; n *= 2) {
        for (int i = n - 1; 0 <= i; --i) {
            order[2 * i + 1] = 4 * n - order[i];
            order[2 * i] = order[i];
        }
    }
}

static void choose_dampings(app_multigrid_t *multigrid)
{
    const bool box = multigrid->grid.box;
    const double angle = acos(-1.0), low = eigenvalue(box, cos(angle / coarsest(&multigrid->grid)));
    const double high = eigenvalue(box, -1.0);
    int order[APP_LAST_STEPS];

    multigrid->damping = box ? 1.0 : 6.0 / 7.0;
    order_roots(order, APP_LAST_STEPS);
    for (int k = 0; k < APP_LAST_STEPS; ++k) {
        multigrid->last[k]
            = 2.0 / (high + low + (high - low) * cos(angle * order[k] / (2.0 * APP_LAST_STEPS)));
    }
}

static void set_given(app_multigrid_t *multigrid)
{
    const app_level_t *level = &multigrid->level[0];
    int at[3];

    for (at[2] = 0; at[2] < level->size[2]; ++at[2]) {
        for (at[1] = 0; at[1] < level->size[1]; ++at[1]) {
            for (at[0] = 0; at[0] < level->size[0]; ++at[0]) {
                const int point[3] = {level->first[0] + at[0], level->first[1] + at[1],
                                      level->first[2] + at[2]};
                const size_t place = level->origin + (size_t) at[0] * level->stride[0]
                                     + (size_t) at[1] * level->stride[1]
                                     + (size_t) at[2] * level->stride[2];

                for (int field = 0; field < level->fields; ++field) {
                    level->f[place + (size_t) field]
                        = app_multigrid_given(&multigrid->grid, point, field);
                }
            }
        }
    }
}

bool app_multigrid_create(app_multigrid_t *multigrid, MPI_Comm comm, const app_grid_t *grid)
{
    int rank, size;

    memset(multigrid, 0, sizeof(*multigrid));
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    multigrid->grid = *grid;
    MPI_Dims_create(size, 3, multigrid->ranks);
    multigrid->place[2] = rank % multigrid->ranks[2];
    multigrid->place[1] = rank / multigrid->ranks[2] % multigrid->ranks[1];
    multigrid->place[0] = rank / multigrid->ranks[2] / multigrid->ranks[1];
    choose_dampings(multigrid);
    for (int l = 0; l < grid->levels; ++l) {
        if (!make_level(multigrid, comm)) {
            return false;
        }
    }
    set_given(multigrid);
    return true;
}

void app_multigrid_free(app_multigrid_t *multigrid)
{
    for (int l = 0; l < multigrid->levels; ++l) {
        app_level_t *level = &multigrid->level[l];

        app_exchange_free(&level->exchange);
        free(level->u);
        free(level->f);
        free(level->v);
    }
    memset(multigrid, 0, sizeof(*multigrid));
}
