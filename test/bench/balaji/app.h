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
 * app: times the applications of Balaji et al. with their exchanges packed by hand and
 * left to MPI_Alltoallw with derived types, several arms beside each other in one job as
 * agv does (agv.h), every result checked.
 *
 *   app_options.c    the command line
 *   app_arms.c       the arms
 *   app_region.c     what is exchanged, as loops and as types
 *   app_exchange.c   exchanges
 *   app_scatter.c    the vector scatter
 *   app_grid.c       grids on ranks, their ghosts
 *   app_multigrid.c  the 3-D Laplacian
 *   app_case.c       these as cases that are timed
 *   app_main.c       the loop over rows, repetitions and arms; the TSV lines
 */

#ifndef APP_H
#define APP_H

#include "agv.h"
#include "app_multigrid.h"
#include "app_scatter.h"

typedef enum { APP_SCATTER, APP_GHOSTS, APP_LAPLACIAN, APP_KINDS } app_kind_t;

typedef struct app_options_t {
    const char *app;
    const char *patterns; /**< comma separated */
    const char *stencils; /**< comma separated */
    const char *elements; /**< as agv's totals */
    const char *fields;   /**< as agv's totals */
    const char *arms;     /**< comma separated */
    const char *tsv;      /**< file for the TSV lines, NULL: stdout */
    app_kind_t kind;
    double points;
    double levels;
    double calls;
    double reps;
    double warmup;
    double seed;
    double idle; /**< milliseconds */
    double rate; /**< bytes a second, 0: not shaped */
    bool progress;
    bool help;
} app_options_t;

typedef struct app_arm_t {
    agv_arm_t base;
    app_way_t way;
} app_arm_t;

/** One row of the table. */
typedef struct app_row_t {
    app_kind_t kind;
    size_t size; /**< elements of each rank, or points in each direction */
    app_pattern_t pattern;
    app_grid_t grid;
    int level;   /**< of ghosts */
    uint64_t seed;
} app_row_t;

/** A row laid down on the ranks. */
typedef struct app_case_t {
    app_row_t row;
    uint64_t call;
    app_scatter_t scatter;
    app_multigrid_t multigrid;
} app_case_t;

/** What the ranks together have computed, the same for any number of them. */
typedef struct app_answer_t {
    bool right;        /**< each value, where all are known */
    double residual;   /**< the largest, of the solver */
    uint64_t checksum; /**< of the solver */
} app_answer_t;

/* app_options.c */
bool app_options_parse(app_options_t *options, int argc, char **argv, char *error,
                       size_t length);
void app_options_help(FILE *out);
/** The rows that are asked for in order; their number. `rows` may be NULL. */
int app_options_rows(const app_options_t *options, app_row_t *rows);
const char *app_kind_name(app_kind_t kind);
/** The pattern or stencil. */
const char *app_row_name(const app_row_t *row);

/* app_arms.c */
/** The arms, connected; their number or -1. */
int app_arms_create(app_arm_t *arms, const char *list, const agv_world_t *world, char *error,
                    size_t length);
/** Gives each arm its MCA variables; false and a sentence if one cannot have them. */
bool app_arm_apply(const app_arm_t *arm, char *error, size_t length);

/* app_case.c */
/** Collective; false: no memory. */
bool app_case_create(app_case_t *now, const app_row_t *row, const agv_world_t *world);
void app_case_free(app_case_t *now);
/** New values for the sample of this number, or the solver's start. */
void app_case_fill(app_case_t *now, uint64_t call);
/** A scatter, an exchange of ghosts or a V-cycle. */
void app_case_run(app_case_t *now, const app_arm_t *arm);
app_answer_t app_case_answer(app_case_t *now, const app_arm_t *arm, const agv_world_t *world);

#endif
