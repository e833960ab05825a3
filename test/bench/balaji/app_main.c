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
 * app: times the applications of Balaji et al. with their exchanges packed by hand and left
 * to MPI_Alltoallw with derived types, with the harness of bench.h.
 *
 *   app_region.c     what is exchanged, as loops and as types
 *   app_exchange.c   exchanges
 *   app_scatter.c    the vector scatter
 *   app_grid.c       grids on ranks, their ghosts
 *   app_multigrid.c  the 3-D Laplacian
 *   app_main.c       the command line, rows
 *
 * What arms give must be right in itself (scatter), and the solver's answer must
 * have the bits of the row's first sample. Arms with MPI_Alltoallw are the same code, told
 * apart by MCA variables and by the components that their communicators may use.
 */

#include "app_multigrid.h"
#include "app_scatter.h"
#include "bench.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POINTS 100 /* in each direction */
#define LEVELS 3   /* of the multigrid */
#define SEED 1     /* of the patterns */
#define STENCILS 2

enum { APP_SCATTER, APP_LAPLACIAN, APP_KINDS };

/** What the ranks together have computed, the same for any number of them. */
typedef struct app_answer_t {
    bool right;        /**< each value, where all are known */
    double residual;   /**< the largest, of the solver */
    uint64_t checksum; /**< of the solver */
} app_answer_t;

static struct {
    /* options */
    const char *kind_name;
    const char *element_list;

    bool scatters;
    size_t sizes[BENCH_MAX_NUMBERS]; /* elements of a rank */
    int size_count;
    const bench_world_t *world;
    app_scatter_t scatter; /* of the row at hand */
    app_multigrid_t multigrid;
    uint64_t sample;
    app_answer_t answer; /* of the first sample */
} app = {.kind_name = "scatter", .element_list = "4K"};

static const char *const kind_names[APP_KINDS] = {"scatter", "laplacian"};
static const char *const stencil_names[STENCILS] = {"star", "box"};

/* ---- the command line */

static const char own_options[]
    = "  --app WHICH        scatter; laplacian: V-cycles        [scatter]\n"
      "  --elements LIST    of the scatter: doubles of each rank [4K]\n"
      "  Rows are the patterns stride, shuffle, next, halves of the scatter, and the stencils star and\n"
      "  box (7 and 27 points) of 3 levels of 100 points in each direction. The size of a row is the\n"
      "  elements of each rank or the points in each direction.\n"
      "  residual (the largest) and checksum are of the solver after all calls of a sample.\n";

static const char arms[]
    = "  handall            packed by hand, a message a peer, unpacked when all are there\n"
      "  persistentall      the same with persistent requests\n"
      "  stock              derived types and MPI_Alltoallw of Open MPI without our components\n"
      "                     and without look-ahead\n"
      "  baseline           the same with the paper's baseline: round robin, messages of no\n"
      "                     bytes too, look-ahead that searches again\n"
      "  ours               the same with coll/pipering's choice and two contexts of look-ahead\n";

#define BASELINE "opal_datatype_lookahead=research"
#define OURS "alltoallw_algorithm=auto:opal_datatype_lookahead=dual"

static const bench_kind_t kinds[]
    = {{"handall", BENCH_STOCK, APP_HAND, NULL, NULL},
       {"persistentall", BENCH_STOCK, APP_PERSISTENT, NULL, NULL},
       {"stock", BENCH_STOCK, APP_ALLTOALLW, NULL, NULL},
       {"baseline", BENCH_PIPERING, APP_ROUND_ROBIN, BASELINE, NULL},
       {"ours", BENCH_PIPERING, APP_ALLTOALLW, OURS, NULL},
       {NULL, BENCH_STOCK, 0, NULL, NULL}};

static const bench_option_t options[] = {{"--app", &app.kind_name, NULL, 0.0, NULL},
                                         {"--elements", &app.element_list, NULL, 0.0, NULL},
                                         {NULL, NULL, NULL, 0.0, NULL}};

/* ---- rows: patterns, in each sizes; or stencils */

static app_grid_t grid_of(int row)
{
    return (app_grid_t){.points = POINTS, .levels = LEVELS, .fields = 1, .box = 1 == row};
}

static bool prepare(bench_t *bench, char *error)
{
    const int kind = bench_find(kind_names, APP_KINDS, app.kind_name);
    const app_grid_t grid = grid_of(0);
    const char *misfit = APP_SCATTER == kind ? NULL : app_grid_misfit(&grid, bench->world.size);

    app.scatters = APP_SCATTER == kind;
    app.world = &bench->world;
    app.size_count = bench_numbers(app.element_list, app.sizes);
    bench->rows = app.scatters ? APP_PATTERNS * app.size_count : STENCILS;
    if (0 > kind || 0 > app.size_count) {
        misfit = "expected --app scatter or laplacian, and --elements like 1K,4K..64K";
    }
    snprintf(error, BENCH_ERROR_LENGTH, "%s", NULL == misfit ? "" : misfit);
    return NULL == misfit;
}

static app_pattern_t pattern_of(int row)
{
    return (app_pattern_t) (row / app.size_count);
}

static size_t size_of(int row)
{
    return app.sizes[row % app.size_count];
}

static void print_row(int row, FILE *out)
{
    if (app.scatters) {
        fprintf(out, "scatter\t%s\t%zu\t1\t", app_scatter_name(pattern_of(row)), size_of(row));
    } else {
        fprintf(out, "laplacian\t%s\t%d\t1\t", stencil_names[row], POINTS);
    }
}

/* ---- what the harness calls */

static bool begin_row(bench_t *bench, int row)
{
    const MPI_Comm comm = bench->world.control;
    const app_grid_t grid = grid_of(row);

    return app.scatters
               ? app_scatter_create(&app.scatter, comm, pattern_of(row), size_of(row), SEED)
               : app_multigrid_create(&app.multigrid, comm, &grid);
}

static void end_row(void)
{
    if (app.scatters) {
        app_scatter_free(&app.scatter);
    } else {
        app_multigrid_free(&app.multigrid);
    }
}

static void fill(const bench_arm_t *arm, uint64_t sample)
{
    (void) arm;
    app.sample = sample;
    if (app.scatters) {
        app_scatter_fill(&app.scatter, sample);
    } else {
        app_multigrid_start(&app.multigrid);
    }
}

/* A scatter or a V-cycle. */
static int call(const bench_arm_t *arm)
{
    const app_way_t way = (app_way_t) arm->kind->way;

    if (app.scatters) {
        return app_scatter_run(&app.scatter, way, arm->comm);
    }
    app_multigrid_cycle(&app.multigrid, way, arm->comm);
    return MPI_SUCCESS;
}

static app_answer_t find_answer(const bench_arm_t *arm)
{
    app_answer_t answer = {true, 0.0, 0};

    if (app.scatters) {
        answer.right = app_scatter_verify(&app.scatter);
    } else {
        answer.checksum = app_multigrid_checksum(&app.multigrid);
        answer.residual = app_multigrid_residual(&app.multigrid, (app_way_t) arm->kind->way,
                                                 arm->comm);
    }
    MPI_Allreduce(MPI_IN_PLACE, &answer.residual, 1, MPI_DOUBLE, MPI_MAX, app.world->control);
    MPI_Allreduce(MPI_IN_PLACE, &answer.checksum, 1, MPI_UINT64_T, MPI_SUM, app.world->control);
    return answer;
}

static bool verify(const bench_arm_t *arm, char *error)
{
    const app_answer_t answer = find_answer(arm);

    if (1 == app.sample) {
        app.answer = answer;
    }
    snprintf(error, BENCH_ERROR_LENGTH, answer.right ? "another answer than the first sample's"
                                                     : "wrong data");
    return answer.right && app.answer.residual == answer.residual
           && app.answer.checksum == answer.checksum;
}

static void print_result(const bench_arm_t *arm, FILE *out)
{
    (void) arm;
    if (!app.scatters) {
        fprintf(out, "%.17g\t0x%016" PRIx64 "\t", app.answer.residual, app.answer.checksum);
    } else {
        fputs("-\t-\t", out);
    }
}

int main(int argc, char **argv)
{
    static const bench_program_t program
        = {.name = "app",
           .purpose = "Times the vector scatter and the 3-D Laplacian of Balaji et al. with\n"
                      "exchanges by hand and by MPI_Alltoallw with derived types, checks every\n"
                      "result.",
           .own_options = own_options,
           .arms = arms,
           .columns = "app\twhat\tsize\tfields",
           .results = "residual\tchecksum\t",
           .options = options,
           .kinds = kinds,
           .defaults = {BENCH_DEFAULTS, .arms = "handall,stock", .idle = -1.0},
           .prepare = prepare,
           .begin_row = begin_row,
           .end_row = end_row,
           .fill = fill,
           .call = call,
           .verify = verify,
           .print_row = print_row,
           .print_result = print_result};

    return bench_main(&program, argc, argv);
}
