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
 * The loop of app: rows, in each row repetitions, in each repetition all arms, in turns as
 * fold's. Before each timed sample the ranks meet. On a machine with fewer processors than
 * ranks times are the work for a call, as fold.c explains.
 *
 * What arms give must be right in itself (scatter, ghosts), and the solver's answer must
 * have the bits of the row's first sample.
 */

#include "app.h"

#include <inttypes.h>
#include <stdlib.h>

#define ERROR_LENGTH 512

typedef struct bench_t {
    app_options_t options;
    agv_world_t world;
    FILE *tsv;
    app_arm_t arms[AGV_MAX_ARMS];
    int arm_count;
    agv_result_t results[AGV_MAX_ARMS];
    app_answer_t answer; /* of the row's first sample */
    uint64_t calls;
    app_row_t *rows;
    int row_count;
    bool good;
} bench_t;

static void complain(const bench_t *bench, const app_arm_t *arm, const app_row_t *row)
{
    if (0 == bench->world.rank) {
        fprintf(stderr, "app: %s, %s %s of %zu: the result is wrong\n", arm->base.name,
                app_kind_name(row->kind), app_row_name(row), row->size);
    }
}

static void check_answer(bench_t *bench, const app_arm_t *arm, agv_result_t *result,
                         app_case_t *now)
{
    const app_answer_t answer = app_case_answer(now, arm, &bench->world);

    if (0 == now->call) {
        bench->answer = answer;
    }
    if (result->verified
        && (!answer.right || bench->answer.residual != answer.residual
            || bench->answer.checksum != answer.checksum)) {
        complain(bench, arm, &now->row);
        result->verified = false;
    }
}

/* One sample of one arm, checked; the time of a call on this rank. */
static double sample(bench_t *bench, int k, app_case_t *now)
{
    const app_arm_t *arm = &bench->arms[k];
    const int calls = (int) bench->options.calls;
    uint64_t before[2];
    char error[ERROR_LENGTH];
    double start, end;

    app_arm_apply(arm, error, sizeof(error));
    app_case_fill(now, bench->calls++);
    agv_call_begin(&bench->world, bench->options.idle / 1e3, before);
    start = MPI_Wtime();
    for (int i = 0; i < calls; ++i) {
        app_case_run(now, arm);
    }
    end = MPI_Wtime();
    agv_call_end(&bench->world, &bench->results[k], before);
    check_answer(bench, arm, &bench->results[k], now);
    return (end - start) / calls;
}

static void measure(bench_t *bench, app_case_t *now)
{
    const int count = bench->arm_count, reps = (int) bench->options.reps;

    bench->calls = 0;
    for (int i = 0; i < count; ++i) {
        bench->results[i].verified = true;
        bench->results[i].reps = reps;
    }
    for (int w = 0; w < (int) bench->options.warmup; ++w) {
        for (int i = 0; i < count; ++i) {
            sample(bench, i, now);
        }
    }
    for (int r = 0; r < reps; ++r) {
        for (int i = 0; i < count; ++i) {
            const int k = (r / 2 + (0 == r % 2 ? i : count - 1 - i)) % count;
            bench->results[k].seconds[r] = sample(bench, k, now);
        }
    }
    for (int i = 0; i < count; ++i) {
        agv_result_combine(&bench->results[i], bench->world.control);
        bench->good = bench->good && bench->results[i].verified;
    }
}

/* The first arm by hand, or the first that is stock's; NULL: there is none. */
static const agv_result_t *first(const bench_t *bench, bool by_hand)
{
    for (int i = 0; i < bench->arm_count; ++i) {
        if (AGV_STOCK == bench->arms[i].base.engine
            && by_hand == (APP_ALLTOALLW != bench->arms[i].way)) {
            return &bench->results[i];
        }
    }
    return NULL;
}

static void print_arm(const bench_t *bench, const app_row_t *row, int k)
{
    const agv_result_t *result = &bench->results[k];
    const agv_summary_t summary = agv_summarize(result, first(bench, true));
    const double to_stock = agv_summarize(result, first(bench, false)).ratio;
    const int fields = APP_SCATTER == row->kind ? 1 : row->grid.fields;
    char hand[32], stock[32];

    fprintf(bench->tsv, "%s\t%s\t%zu\t%d\t%d\t%d\t%s\t%d\t%d\t%.9f\t%.9f\t%s\t%s\t",
            app_kind_name(row->kind), app_row_name(row), row->size, fields, bench->world.size,
            bench->world.nodes, bench->arms[k].base.name, result->reps,
            (int) bench->options.calls, summary.least, summary.median,
            agv_or_none(hand, sizeof(hand), summary.ratio, 1.0),
            agv_or_none(stock, sizeof(stock), to_stock, 1.0));
    if (APP_LAPLACIAN == row->kind) {
        fprintf(bench->tsv, "%.17g\t%016" PRIx64 "\t", bench->answer.residual,
                bench->answer.checksum);
    } else {
        fprintf(bench->tsv, "-\t-\t");
    }
    fprintf(bench->tsv, "%s\n", result->verified ? "yes" : "no");
}

static void run_row(bench_t *bench, int index)
{
    const app_row_t *row = &bench->rows[index];
    app_case_t now;

    if (bench->options.progress && 0 == bench->world.rank) {
        fprintf(stderr, "[%d/%d] %s %s, %zu\n", index + 1, bench->row_count,
                app_kind_name(row->kind), app_row_name(row), row->size);
    }
    if (!app_case_create(&now, row, &bench->world)) {
        fprintf(stderr, "app: no memory for the arrays\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    measure(bench, &now);
    app_case_free(&now);
    for (int k = 0; 0 == bench->world.rank && k < bench->arm_count; ++k) {
        print_arm(bench, row, k);
    }
}

static void open_outputs(bench_t *bench, int argc, char **argv)
{
    const app_options_t *options = &bench->options;

    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i].seconds = calloc((size_t) options->reps, sizeof(double));
    }
    if (0 != bench->world.rank) {
        return;
    }
    bench->tsv = NULL == options->tsv ? stdout : fopen(options->tsv, "w");
    if (NULL == bench->tsv) {
        fprintf(stderr, "app: --tsv %s: the file cannot be written\n", options->tsv);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    agv_report_begin(bench->tsv, &bench->world, options->rate, "app", argc, argv);
    fprintf(bench->tsv, "#app\twhat\tsize\tfields\tp\tnodes\tarm\treps\tcalls\tmin_s\tmedian_s\t"
                        "to_hand\tto_stock\tresidual\tchecksum\tverified\n");
}

static void close_outputs(bench_t *bench)
{
    for (int i = 0; i < bench->arm_count; ++i) {
        free(bench->results[i].seconds);
        MPI_Comm_free(&bench->arms[i].base.comm);
    }
    if (NULL != bench->tsv && stdout != bench->tsv) {
        fclose(bench->tsv);
    }
    free(bench->rows);
}

static bool prepare(bench_t *bench, char *error)
{
    bench->row_count = app_options_rows(&bench->options, NULL);
    bench->rows = malloc((size_t) bench->row_count * sizeof(*bench->rows));
    if (NULL == bench->rows) {
        snprintf(error, ERROR_LENGTH, "no memory for the rows");
        return false;
    }
    app_options_rows(&bench->options, bench->rows);
    for (int i = 0; i < bench->row_count && APP_SCATTER != bench->options.kind; ++i) {
        const char *why = app_grid_misfit(&bench->rows[i].grid, bench->world.size);

        if (NULL != why) {
            snprintf(error, ERROR_LENGTH, "%s", why);
            return false;
        }
    }
    bench->arm_count = app_arms_create(bench->arms, bench->options.arms, &bench->world, error,
                                       ERROR_LENGTH);
    return 0 < bench->arm_count;
}

static int run(bench_t *bench, int argc, char **argv)
{
    char error[ERROR_LENGTH] = "";
    MPI_Comm base;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    agv_world_create(&bench->world, base);
    if (!prepare(bench, error)) {
        return agv_refuse("app", bench->world.rank, error);
    }
    bench->good = true;
    open_outputs(bench, argc, argv);
    for (int i = 0; i < bench->row_count; ++i) {
        run_row(bench, i);
    }
    close_outputs(bench);
    agv_world_free(&bench->world);
    return bench->good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    char error[ERROR_LENGTH];
    const int rank = agv_begin(&argc, &argv);
    int code = 0;

    if (!app_options_parse(&bench.options, argc, argv, error, sizeof(error))) {
        code = agv_refuse("app", rank, error);
    } else if (bench.options.help) {
        if (0 == rank) {
            app_options_help(stdout);
        }
    } else {
        code = run(&bench, argc, argv);
    }
    return agv_end(rank, code);
}
