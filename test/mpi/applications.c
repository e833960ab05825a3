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
 * The applications that benchmarks time (test/bench/balaji/app_*.c) on small grids, against
 * serial ones: vector scatters, exchanges of ghosts, and multigrid, with exchanges by hand
 * and by MPI_Alltoallw, for the first 1, 2, .. ranks of the job. What all ways and numbers
 * of ranks give must have the same bits; the serial solver, written in another order,
 * rounds otherwise.
 */

#include "app_multigrid.h"
#include "app_scatter.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES 3
#define NEAR 1e-12 /* of the largest value */
#define SHRINKS 0.35 /* the residual, in each cycle */

static const char *const way_names[APP_WAYS] = {"MPI_Alltoallw", "round robin", "by hand",
                                                "persistent"};

static const app_grid_t grids[] = {{12, 3, 1, false}, {12, 3, 1, true}, {12, 3, 3, false},
                                   {14, 2, 2, true},  {9, 1, 1, true}};

#define GRIDS ((int) (sizeof(grids) / sizeof(grids[0])))

/* ---- the vector scatter ---- */

static bool scattered(app_scatter_t *scatter, const uint32_t *map, app_way_t way, MPI_Comm comm)
{
    const size_t length = scatter->length;
    const int size = scatter->exchange.size;
    double *x = tap_memory((size_t) size * length * sizeof(*x));
    double *y = tap_memory((size_t) size * length * sizeof(*y));
    bool good = true;

    app_scatter_fill(scatter, 1000 + way);
    TAP_MPI(app_scatter_run(scatter, way, comm));
    TAP_MPI(app_scatter_run(scatter, way, comm));
    TAP_MPI(MPI_Allgather(scatter->x, (int) length, MPI_DOUBLE, x, (int) length, MPI_DOUBLE,
                          comm));
    TAP_MPI(MPI_Allgather(scatter->y, (int) length, MPI_DOUBLE, y, (int) length, MPI_DOUBLE,
                          comm));
    for (size_t g = 0; g < (size_t) size * length; ++g) {
        good = good && y[map[g]] == x[g];
    }
    free(x);
    free(y);
    return good && app_scatter_verify(scatter);
}

static bool is_permutation(const uint32_t *map, size_t total)
{
    bool *taken = tap_memory(total + 1);
    bool good = true;

    memset(taken, 0, total + 1);
    for (size_t g = 0; g < total; ++g) {
        good = good && map[g] < total && !taken[map[g]];
        taken[good ? map[g] : total] = true;
    }
    free(taken);
    return good;
}

/* MPI_COMM_NULL: a rank that has no part in it. */
static bool scatters(MPI_Comm comm, app_pattern_t pattern, size_t length)
{
    app_scatter_t scatter;
    uint32_t *map;
    bool good;
    int size;

    if (MPI_COMM_NULL == comm) {
        return true;
    }
    MPI_Comm_size(comm, &size);
    map = app_scatter_map(pattern, size, length, 5);
    if (NULL == map || !app_scatter_create(&scatter, comm, pattern, length, 5)) {
        tap_bail("no memory");
    }
    good = is_permutation(map, (size_t) size * length);
    for (int way = 0; way < APP_WAYS; ++way) {
        good = scattered(&scatter, map, (app_way_t) way, comm) && good;
    }
    app_scatter_free(&scatter);
    free(map);
    return good;
}

static void test_scatters(MPI_Comm comm, int size)
{
    static const size_t lengths[] = {1, 7, 500};

    for (int pattern = 0; pattern < APP_PATTERNS; ++pattern) {
        bool good = true;

        for (int i = 0; i < 3; ++i) {
            good = scatters(comm, (app_pattern_t) pattern, lengths[i]) && good;
        }
        tap_check(good, NULL, "scatter, %s, %d ranks", app_scatter_name((app_pattern_t) pattern),
                  size);
    }
}

/* ---- a serial multigrid ---- */

typedef struct serial_t {
    int n;
    int fields;
    bool box;
    double *u, *f, *r;
} serial_t;

static size_t place(const serial_t *s, const int at[3], int field)
{
    return (size_t) (((at[2] * s->n + at[1]) * s->n + at[0]) * s->fields + field);
}

/* Behind a wall: the mirror with the sign turned. */
static double value(const serial_t *s, const double *u, const int at[3], int field)
{
    double sign = 1.0;
    int inside[3];

    for (int d = 0; d < 3; ++d) {
        inside[d] = 0 > at[d] ? -1 - at[d] : s->n <= at[d] ? 2 * s->n - 1 - at[d] : at[d];
        sign = inside[d] == at[d] ? sign : -sign;
    }
    return sign * u[place(s, inside, field)];
}

static double weight(const serial_t *s, const int step[3])
{
    static const double star[] = {6.0, -1.0, 0.0, 0.0};
    static const double box[] = {128.0 / 30.0, -14.0 / 30.0, -3.0 / 30.0, -1.0 / 30.0};
    const int distance = abs(step[0]) + abs(step[1]) + abs(step[2]);

    return (s->box ? box : star)[distance] * s->n * s->n;
}

static double residual_at(const serial_t *s, const int at[3], int field)
{
    double residual = s->f[place(s, at, field)];

    for (int i = 0; i < 27; ++i) {
        const int step[3] = {i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1};
        const int there[3] = {at[0] + step[0], at[1] + step[1], at[2] + step[2]};

        residual -= weight(s, step) * value(s, s->u, there, field);
    }
    return residual;
}

/* Calls for each point; `n` points in each direction. */
#define FOR_POINTS(at, n)                                   \
    for (at[2] = 0; at[2] < (n); ++at[2])                   \
        for (at[1] = 0; at[1] < (n); ++at[1])               \
            for (at[0] = 0; at[0] < (n); ++at[0])

static double serial_residual(serial_t *s)
{
    double most = 0.0;
    int at[3];

    FOR_POINTS(at, s->n) {
        for (int field = 0; field < s->fields; ++field) {
            const double r = residual_at(s, at, field);

            s->r[place(s, at, field)] = r;
            most = fmax(most, fabs(r));
        }
    }
    return most;
}

static void serial_smooth(serial_t *s, double damping)
{
    static const int none[3] = {0, 0, 0};
    const size_t total = (size_t) (s->n * s->n * s->n * s->fields);

    serial_residual(s);
    for (size_t i = 0; i < total; ++i) {
        s->u[i] += damping * s->r[i] / weight(s, none);
    }
}

static void serial_down(serial_t *s, serial_t *coarse)
{
    int at[3];

    memset(coarse->f, 0, (size_t) (coarse->n * coarse->n * coarse->n * s->fields) * 8);
    memset(coarse->u, 0, (size_t) (coarse->n * coarse->n * coarse->n * s->fields) * 8);
    FOR_POINTS(at, s->n) {
        const int cell[3] = {at[0] / 2, at[1] / 2, at[2] / 2};

        for (int field = 0; field < s->fields; ++field) {
            coarse->f[place(coarse, cell, field)] += s->r[place(s, at, field)] / 8.0;
        }
    }
}

static void serial_up(const serial_t *coarse, serial_t *s)
{
    int at[3];

    FOR_POINTS(at, s->n) {
        for (int field = 0; field < s->fields; ++field) {
            double *u = &s->u[place(s, at, field)];
            int cell[3] = {at[0] / 2, at[1] / 2, at[2] / 2};

            *u += value(coarse, coarse->u, cell, field) / 4.0;
            for (int d = 0; d < 3; ++d) {
                const int step = 0 == at[d] % 2 ? -1 : 1;

                cell[d] += step;
                *u += value(coarse, coarse->u, cell, field) / 4.0;
                cell[d] -= step;
            }
        }
    }
}

static void serial_cycle(serial_t *s, int levels, const app_multigrid_t *dampings)
{
    if (1 == levels) {
        for (int k = 0; k < APP_LAST_STEPS; ++k) {
            serial_smooth(s, dampings->last[k]);
        }
        return;
    }
    serial_smooth(s, dampings->damping);
    serial_smooth(s, dampings->damping);
    serial_residual(s);
    serial_down(s, s + 1);
    serial_cycle(s + 1, levels - 1, dampings);
    serial_up(s + 1, s);
    serial_smooth(s, dampings->damping);
    serial_smooth(s, dampings->damping);
}

static void serial_create(serial_t *s, const app_grid_t *grid)
{
    int at[3];

    for (int l = 0; l < grid->levels; ++l) {
        const int n = grid->points >> l;
        const size_t bytes = (size_t) (n * n * n * grid->fields) * sizeof(double);

        s[l] = (serial_t){n, grid->fields, grid->box, tap_memory(bytes), tap_memory(bytes),
                          tap_memory(bytes)};
        memset(s[l].u, 0, bytes);
    }
    FOR_POINTS(at, grid->points) {
        for (int field = 0; field < grid->fields; ++field) {
            s->f[place(s, at, field)] = app_multigrid_given(grid, at, field);
        }
    }
}

static void serial_free(serial_t *s, int levels)
{
    for (int l = 0; l < levels; ++l) {
        free(s[l].u);
        free(s[l].f);
        free(s[l].r);
    }
}

/* Solves, each rank by itself; the residual at the end, negative if it did not shrink. */
static double serial_solve(serial_t *s, const app_grid_t *grid)
{
    app_multigrid_t dampings;
    double last, residual;
    bool shrinks = true;

    if (!app_multigrid_create(&dampings, MPI_COMM_SELF, grid)) {
        tap_bail("no memory");
    }
    serial_create(s, grid);
    last = serial_residual(s);
    for (int i = 0; i < CYCLES; ++i) {
        serial_cycle(s, grid->levels, &dampings);
        residual = serial_residual(s);
        shrinks = shrinks && residual < SHRINKS * last;
        last = residual;
    }
    app_multigrid_free(&dampings);
    return shrinks ? last : -1.0;
}

/* ---- multigrid on ranks ---- */

typedef struct answer_t {
    double residual;
    uint64_t checksum;
} answer_t;

static bool near_serial(const app_multigrid_t *multigrid, const serial_t *s)
{
    const app_level_t *level = &multigrid->level[0];
    double most = 0.0, off = 0.0;
    int at[3];

    FOR_POINTS(at, s->n) {
        const int own[3] = {at[0] - level->first[0], at[1] - level->first[1],
                            at[2] - level->first[2]};
        bool mine = true;

        for (int d = 0; d < 3; ++d) {
            mine = mine && 0 <= own[d] && level->size[d] > own[d];
        }
        for (int field = 0; field < s->fields; ++field) {
            const double u = s->u[place(s, at, field)];

            most = fmax(most, fabs(u));
            if (mine) {
                off = fmax(off, fabs(u - level->u[level->origin
                                                  + (size_t) own[0] * level->stride[0]
                                                  + (size_t) own[1] * level->stride[1]
                                                  + (size_t) own[2] * level->stride[2]
                                                  + (size_t) field]));
            }
        }
    }
    return 0.0 < most && off <= NEAR * most;
}

static answer_t ask(app_multigrid_t *multigrid, app_way_t way, MPI_Comm comm)
{
    answer_t answer = {0.0, app_multigrid_checksum(multigrid)};

    answer.residual = app_multigrid_residual(multigrid, way, comm);
    TAP_MPI(MPI_Allreduce(MPI_IN_PLACE, &answer.residual, 1, MPI_DOUBLE, MPI_MAX, comm));
    TAP_MPI(MPI_Allreduce(MPI_IN_PLACE, &answer.checksum, 1, MPI_UINT64_T, MPI_SUM, comm));
    return answer;
}

static bool ghosts_come_in(app_multigrid_t *multigrid, app_way_t way, MPI_Comm comm)
{
    bool good = true;

    for (int l = 0; l < multigrid->levels; ++l) {
        app_ghosts_fill(multigrid, l, 77 + (uint64_t) way);
        TAP_MPI(app_ghosts_run(multigrid, l, way, comm));
        good = app_ghosts_verify(multigrid, l, 77 + (uint64_t) way) && good;
    }
    return good;
}

/* One rank's answer is what all others must have. */
static const char *solve(MPI_Comm comm, app_way_t way, app_multigrid_t *multigrid,
                         const serial_t *s, double residual, answer_t *first)
{
    answer_t answer;

    if (!ghosts_come_in(multigrid, way, comm)) {
        return "ghosts";
    }
    app_multigrid_start(multigrid);
    for (int i = 0; i < CYCLES; ++i) {
        app_multigrid_cycle(multigrid, way, comm);
    }
    if (!near_serial(multigrid, s)) {
        return "not what the serial solver gives";
    }
    answer = ask(multigrid, way, comm);
    if (fabs(answer.residual - residual) > NEAR * 10.0) {
        return "another residual than the serial solver's";
    }
    if (0 == first->checksum) {
        *first = answer;
    }
    return answer.checksum != first->checksum || answer.residual != first->residual
               ? "other bits than before"
               : NULL;
}

static void test_solver(MPI_Comm comm, int size, int number, const serial_t *s, double residual,
                        answer_t *first)
{
    const app_grid_t *grid = &grids[number];
    app_multigrid_t multigrid;

    if (NULL != app_grid_misfit(grid, size)) {
        return;
    }
    if (MPI_COMM_NULL != comm && !app_multigrid_create(&multigrid, comm, grid)) {
        tap_bail("no memory");
    }
    for (int way = 0; way < APP_WAYS; ++way) {
        const char *fault = NULL;

        if (MPI_COMM_NULL != comm) {
            fault = solve(comm, (app_way_t) way, &multigrid, s, residual, first);
        }
        tap_check(NULL == fault, fault, "%d^3 points, %d levels, %d fields, %s, %s, %d ranks",
                  grid->points, grid->levels, grid->fields, grid->box ? "box" : "star",
                  way_names[way], size);
    }
    if (MPI_COMM_NULL != comm) {
        app_multigrid_free(&multigrid);
    }
}

/* The first ranks; MPI_COMM_NULL on the others. */
static MPI_Comm first_ranks(int size)
{
    MPI_Comm comm;

    TAP_MPI(MPI_Comm_split(MPI_COMM_WORLD, tap_rank < size ? 0 : MPI_UNDEFINED, tap_rank, &comm));
    return comm;
}

int main(int argc, char **argv)
{
    static serial_t serial[GRIDS][APP_LEVELS];
    double residual[GRIDS];
    answer_t first[GRIDS];

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    memset(first, 0, sizeof(first));
    for (int i = 0; i < GRIDS; ++i) {
        residual[i] = serial_solve(serial[i], &grids[i]);
        tap_check(0.0 <= residual[i], NULL, "the solver solves, grid %d", i);
    }
    for (int size = 1; size <= tap_size; ++size) {
        MPI_Comm comm = first_ranks(size);

        test_scatters(comm, size);
        for (int i = 0; i < GRIDS; ++i) {
            test_solver(comm, size, i, serial[i], residual[i], &first[i]);
        }
        if (MPI_COMM_NULL != comm) {
            MPI_Comm_free(&comm);
        }
    }
    for (int i = 0; i < GRIDS; ++i) {
        serial_free(serial[i], grids[i].levels);
    }
    return tap_end();
}
