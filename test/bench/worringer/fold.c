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
 * The loop of fold: rows (collective, total, batch), in each row repetitions, in each
 * repetition all arms, in every second one in reverse, beginning with another one
 * after that, so that none follows itself more often than others. Before each timed
 * sample the ranks meet, leave the link idle, and meet again.
 *
 * A sample is one call or a batch of calls back to back, as OSU's programs time them.
 * Neither is the latency of a cluster where many ranks share few processors:
 *
 *   - One call: the ranks do not leave the barrier together but one after the other, as
 *     the processors come to them, and the slowest rank's time begins with what is left
 *     of that. It is the same for all arms, and brings the ratios nearer to 1.
 *   - A batch has that once for all of its calls. No rank can be two calls ahead of
 *     another, for each call wants data of all ranks; but while one rank waits others
 *     run, so the processors are never idle and what is measured is their work for a
 *     call: copies, system calls of the transport, changes of process. What arms gain by
 *     waiting less, or by memory of their own socket, does not show; what they gain by
 *     fewer messages and copies does.
 *
 * In a batch the first element of each contribution is checked after each call, within
 * the time (a load and a comparison a rank), and all bytes after the last.
 */

#include "fold.h"

#include <stdlib.h>
#include <string.h>

#define ERROR_LENGTH 512
#define MAX_TOTALS 256
#define MAX_BATCHES 8

typedef struct bench_t {
    fold_options_t options;
    agv_world_t world;
    FILE *tsv;
    agv_arm_t arms[FOLD_COLLS][AGV_MAX_ARMS]; /* in the order of --coll */
    int arm_count;
    agv_result_t results[AGV_MAX_ARMS];
    fold_counts_t counts[AGV_MAX_ARMS]; /* of timed calls, added up */
    uint64_t calls;
    size_t totals[MAX_TOTALS];
    int total_count;
    size_t batches[MAX_BATCHES];
    int batch_count;
    int root;
    int rows; /* all of them, for the progress line */
    int row;
    bool good;
} bench_t;

/* Are there ranks on other nodes both before and behind this one? */
static bool is_between(const agv_world_t *world, int rank)
{
    bool before = false, behind = false;

    for (int i = 0; i < world->size; ++i) {
        if (world->node[i] != world->node[rank]) {
            before = before || i < rank;
            behind = behind || i > rank;
        }
    }
    return before && behind;
}

/* Contributions that come from other nodes, for the node that lacks most. */
static int most_lacking(const agv_world_t *world)
{
    int most = 0;

    for (int i = 0; i < world->size; ++i) {
        int lacking = 0;

        for (int k = 0; k < world->size; ++k) {
            lacking += world->node[k] != world->node[i];
        }
        most = lacking > most ? lacking : most;
    }
    return most;
}

/* That of the slowest link; 0: none is shaped. */
static double least_rate(const bench_t *bench)
{
    double least = 0.0;

    for (int node = 0; node < bench->world.nodes; ++node) {
        const double rate = agv_world_rate(&bench->world, node, bench->options.rate);

        if (0.0 < rate && (0.0 >= least || rate < least)) {
            least = rate;
        }
    }
    return least;
}

/* Seconds that the busiest link needs. Of an allreduce a slow link may carry less than its
 * share, down to half of what is assumed here. */
static double wire_limit(const bench_t *bench, const fold_problem_t *problem)
{
    const double total = (double) problem->total, nodes = bench->world.nodes;
    const double rate = least_rate(bench);
    double bytes = total;

    if (0.0 >= rate || 2 > bench->world.nodes) {
        return 0.0;
    }
    if (FOLD_ALLREDUCE == problem->coll) {
        bytes = problem->matrix ? 2.0 * total : 2.0 * total * (nodes - 1.0) / nodes;
    } else if (FOLD_ALLGATHER == problem->coll) {
        bytes = total * most_lacking(&bench->world);
    } else if (FOLD_REDUCE == problem->coll && problem->matrix
               && is_between(&bench->world, problem->root)) {
        bytes = 2.0 * total;
    }
    return bytes / rate;
}

/* Calls back to back, those before the last checked by their first elements. */
static bool run_batch(const agv_arm_t *arm, fold_data_t *data)
{
    bool good = true;

    for (int i = 0; i < data->problem.batch; ++i) {
        if (0 < i) {
            good = fold_data_next(data) && good;
        }
        if (MPI_SUCCESS != fold_data_call(data, arm->comm)) {
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    return good;
}

static void complain(const bench_t *bench, const agv_arm_t *arm, const agv_result_t *result,
                     const fold_data_t *data, const char *error)
{
    if (result->verified) {
        fprintf(stderr, "fold: %s, %s of %zu bytes, on rank %d: %s\n", arm->name,
                fold_coll_name(data->problem.coll), data->problem.total, bench->world.rank,
                error);
    }
}

/* One sample of one arm, checked; the time of a call on this rank. */
static double sample(bench_t *bench, const agv_arm_t *arms, int which, fold_data_t *data)
{
    const agv_arm_t *arm = &arms[which];
    agv_result_t *result = &bench->results[which];
    fold_counts_t counts;
    uint64_t before[2];
    char error[ERROR_LENGTH];
    double start, end;
    bool good;

    agv_cvar_apply(arm, error, sizeof(error));
    fold_data_fill(data, ++bench->calls);
    agv_call_begin(&bench->world, bench->options.idle / 1e3, before);
    counts = fold_counts_now();
    start = MPI_Wtime();
    good = run_batch(arm, data);
    end = MPI_Wtime();
    fold_counts_add(&bench->counts[which], &counts, data->problem.batch);
    agv_call_end(&bench->world, result, before);
    snprintf(error, sizeof(error), "a call of the batch gave data of another");
    if (!good || !fold_data_verify(data, error, sizeof(error))) {
        complain(bench, arm, result, data, error);
        result->verified = false;
    }
    return (end - start) / data->problem.batch;
}

static void measure(bench_t *bench, const agv_arm_t *arms, fold_data_t *data)
{
    const int count = bench->arm_count, reps = (int) bench->options.reps;

    for (int i = 0; i < count; ++i) {
        bench->results[i].verified = true;
        bench->results[i].reps = reps;
    }
    for (int w = 0; w < (int) bench->options.warmup; ++w) {
        for (int i = 0; i < count; ++i) {
            sample(bench, arms, i, data);
        }
    }
    memset(bench->counts, 0, sizeof(bench->counts));
    for (int r = 0; r < reps; ++r) {
        for (int i = 0; i < count; ++i) {
            const int k = (r / 2 + (0 == r % 2 ? i : count - 1 - i)) % count;
            bench->results[k].seconds[r] = sample(bench, arms, k, data);
        }
    }
    for (int i = 0; i < count; ++i) {
        agv_result_combine(&bench->results[i], bench->world.control);
        fold_counts_combine(&bench->counts[i], bench->world.control);
        bench->good = bench->good && bench->results[i].verified;
    }
}

static void print_arm(const bench_t *bench, const fold_problem_t *problem, const agv_arm_t *arm,
                      const agv_result_t *result, const agv_summary_t *summary,
                      double to_tuned)
{
    const fold_counts_t *counts = &bench->counts[result - bench->results];
    const bool rooted = FOLD_BCAST == problem->coll || FOLD_REDUCE == problem->coll;
    char root[16] = "-", limit[32] = "-", frac_min[32], frac_median[32], ratio[32];
    char tuned[32];

    if (rooted) {
        snprintf(root, sizeof(root), "%d", problem->root);
    }
    if (0.0 < problem->limit) {
        snprintf(limit, sizeof(limit), "%.9f", problem->limit);
    }
    fprintf(bench->tsv,
            "%s\t%zu\t%d\t%d\t%s\t%s\t%s\t%d\t%.9f\t%.9f\t%s\t%s\t%s\t%s\t%llu\t%d\t%s\t",
            fold_coll_name(problem->coll), problem->total, bench->world.size, bench->world.nodes,
            fold_coll_has_op(problem->coll) ? bench->options.op : "-", root, arm->name,
            result->reps, summary->least, summary->median, limit,
            agv_or_none(frac_min, sizeof(frac_min), problem->limit, 1.0 / summary->least),
            agv_or_none(frac_median, sizeof(frac_median), problem->limit, 1.0 / summary->median),
            agv_or_none(ratio, sizeof(ratio), summary->ratio, 1.0),
            (unsigned long long) result->block, problem->batch,
            agv_or_none(tuned, sizeof(tuned), to_tuned, 1.0));
    fold_counts_print(counts, result->reps, bench->tsv);
    fprintf(bench->tsv, "%s\n", result->verified ? "yes" : "no");
}

static void print_row(const bench_t *bench, const fold_problem_t *problem, const agv_arm_t *arms)
{
    const agv_result_t *results = bench->results;
    const agv_result_t *stock = agv_first(arms, results, bench->arm_count, AGV_STOCK);
    const agv_result_t *tuned = agv_first(arms, results, bench->arm_count, AGV_TUNED);

    for (int i = 0; i < bench->arm_count; ++i) {
        const agv_summary_t summary = agv_summarize(&results[i], stock);
        print_arm(bench, problem, &arms[i], &results[i], &summary,
                  agv_summarize(&results[i], tuned).ratio);
    }
    fflush(bench->tsv);
}

static void run_row(bench_t *bench, const agv_arm_t *arms, fold_coll_t coll, size_t total,
                    int batch)
{
    fold_problem_t problem = {coll, total, batch, bench->options.matrix, bench->root, 0.0};
    fold_data_t data;

    problem.limit = wire_limit(bench, &problem);
    ++bench->row;
    if (bench->options.progress && 0 == bench->world.rank) {
        fprintf(stderr, "[%d/%d] %s, %zu bytes\n", bench->row, bench->rows, fold_coll_name(coll),
                total);
    }
    if (!fold_data_create(&data, &problem, &bench->world)) {
        fprintf(stderr, "fold: no memory for the buffers\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    measure(bench, arms, &data);
    fold_data_free(&data);
    if (0 == bench->world.rank) {
        print_row(bench, &problem, arms);
    }
}

static void run_rows(bench_t *bench)
{
    const int sizes = bench->total_count * bench->batch_count;

    bench->rows = sizes * bench->options.coll_count;
    for (int c = 0; c < bench->options.coll_count; ++c) {
        for (int i = 0; i < sizes; ++i) {
            run_row(bench, bench->arms[c], bench->options.coll[c],
                    bench->totals[i / bench->batch_count],
                    (int) bench->batches[i % bench->batch_count]);
        }
    }
}

static void open_outputs(bench_t *bench, int argc, char **argv)
{
    const fold_options_t *options = &bench->options;

    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i].seconds = calloc((size_t) options->reps, sizeof(double));
    }
    if (0 != bench->world.rank) {
        return;
    }
    bench->tsv = NULL == options->tsv ? stdout : fopen(options->tsv, "w");
    if (NULL == bench->tsv) {
        fprintf(stderr, "fold: --tsv %s: the file cannot be written\n", options->tsv);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    agv_report_begin(bench->tsv, &bench->world, options->rate, "fold", argc, argv);
    fprintf(bench->tsv, "#coll\ttotal\tp\tnodes\top\troot\tarm\treps\tmin_s\tmedian_s\tlimit_s\t"
                        "frac_min\tfrac_median\tratio_to_stock\tblock\tbatch\tratio_to_tuned\t"
                        "between\twithin\tcopied\tswitches\tverified\n");
    fflush(bench->tsv);
}

static void close_outputs(bench_t *bench)
{
    for (int i = 0; i < bench->arm_count; ++i) {
        free(bench->results[i].seconds);
    }
    if (NULL != bench->tsv && stdout != bench->tsv) {
        fclose(bench->tsv);
    }
}

/* Totals that are whole elements of all collectives. */
static bool prepare_totals(bench_t *bench, char *error)
{
    const fold_options_t *options = &bench->options;
    const int count = agv_options_totals(options->totals, bench->totals, MAX_TOTALS);

    bench->total_count = count > MAX_TOTALS ? MAX_TOTALS : count;
    for (int c = 0; c < options->coll_count; ++c) {
        const size_t unit = fold_unit(options->coll[c], options->matrix);
        for (int i = 0; i < bench->total_count; ++i) {
            if (0 != bench->totals[i] % unit) {
                snprintf(error, ERROR_LENGTH, "--total: %zu is not elements of %zu bytes, as %s's",
                         bench->totals[i], unit, fold_coll_name(options->coll[c]));
                return false;
            }
        }
    }
    return true;
}

static bool prepare_batches(bench_t *bench, char *error)
{
    const fold_options_t *options = &bench->options;
    const int count = agv_options_totals(options->batches, bench->batches, MAX_BATCHES);

    bench->batch_count = count > MAX_BATCHES ? MAX_BATCHES : count;
    for (int i = 0; i < bench->batch_count; ++i) {
        for (int c = 0; 1 < bench->batches[i] && c < options->coll_count; ++c) {
            if (FOLD_ALLGATHER != options->coll[c]) {
                snprintf(error, ERROR_LENGTH, "--batch %s: batches are of allgather only",
                         options->batches);
                return false;
            }
        }
    }
    return true;
}

/* Arms for all collectives before the first is measured. */
static bool prepare(bench_t *bench, char *error)
{
    const fold_options_t *options = &bench->options;

    bench->root = fold_options_root(options, bench->world.size);
    if (0 > bench->root) {
        snprintf(error, ERROR_LENGTH, "--root %s: a rank or inner is meant", options->root);
        return false;
    }
    if (!prepare_totals(bench, error) || !prepare_batches(bench, error)) {
        return false;
    }
    for (int c = 0; c < options->coll_count; ++c) {
        bench->arm_count = fold_arms_create(bench->arms[c], options->arms, options->coll[c],
                                            &bench->world, error, ERROR_LENGTH);
        if (0 > bench->arm_count) {
            return false;
        }
    }
    return true;
}

static int run(bench_t *bench, int argc, char **argv)
{
    char error[ERROR_LENGTH] = "";
    MPI_Comm base;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    agv_world_create(&bench->world, base);
    if (!prepare(bench, error)) {
        return agv_refuse("fold", bench->world.rank, error);
    }
    bench->good = true;
    open_outputs(bench, argc, argv);
    run_rows(bench);
    close_outputs(bench);
    for (int c = 0; c < bench->options.coll_count; ++c) {
        agv_arms_free(bench->arms[c], bench->arm_count);
    }
    agv_world_free(&bench->world);
    return bench->good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    char error[ERROR_LENGTH];
    const int rank = agv_begin(&argc, &argv);
    int code = 0;

    if (!fold_options_parse(&bench.options, argc, argv, error, sizeof(error))) {
        code = agv_refuse("fold", rank, error);
    } else if (bench.options.help) {
        if (0 == rank) {
            fold_options_help(stdout);
        }
    } else {
        code = run(&bench, argc, argv);
    }
    return agv_end(rank, code);
}
