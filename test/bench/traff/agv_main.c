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
 * The loop: rows (distribution, total), in each row repetitions, in each
 * repetition all arms, beginning with another one each time. Before each timed
 * call the ranks meet, leave the link idle, and meet again.
 */

#include "agv.h"

#include <stdlib.h>
#include <string.h>

#define ERROR_LENGTH 512

typedef struct bench_t {
    agv_options_t options;
    agv_world_t world;
    agv_report_t report;
    agv_arm_t arms[AGV_MAX_ARMS];
    int arm_count;
    agv_result_t results[AGV_MAX_ARMS];
    uint64_t calls;
    int rows; /* all of them, for the progress line */
    int row;
    bool good;
} bench_t;

/* The communicator that is measured; MPI_COMM_NULL on a rank that is not in it. */
static bool choose_comm(const char *which, MPI_Comm *comm)
{
    int rank, size, *order;
    char *end;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (0 == strcmp(which, "world")) {
        return MPI_SUCCESS == MPI_Comm_dup(MPI_COMM_WORLD, comm);
    }
    if (0 == strcmp(which, "minuslast")) {
        bool out = size > 1 && size - 1 == rank;
        return MPI_SUCCESS
               == MPI_Comm_split(MPI_COMM_WORLD, out ? MPI_UNDEFINED : 0, rank, comm);
    }
    if (0 != strncmp(which, "permuted:", 9)
        || (order = malloc((size_t) size * sizeof(*order))) == NULL) {
        return false;
    }
    agv_dist_shuffle(order, size, (uint64_t) strtoul(which + 9, &end, 10));
    bool good = end != which + 9 && '\0' == *end
                && MPI_SUCCESS == MPI_Comm_split(MPI_COMM_WORLD, 0, order[rank], comm);
    free(order);
    return good;
}

/* Seconds that the busiest link needs: into each node what it lacks, out of it what it
 * contributes, at the least. */
static double wire_limit(const agv_world_t *world, const size_t *bytes, size_t total, double rate)
{
    double most = 0.0;

    for (int node = 0; 1 < world->nodes && node < world->nodes; ++node) {
        const double link = agv_world_rate(world, node, rate);
        size_t own = 0;

        for (int i = 0; i < world->size; ++i) {
            own += (node == world->node[i]) ? bytes[i] : 0;
        }
        const double time = (double) (own > total - own ? own : total - own) / link;

        most = (0.0 < link && time > most) ? time : most;
    }
    return most;
}

static bool create_problem(agv_problem_t *problem, const bench_t *bench, const char *dist,
                           size_t total, char *error)
{
    const agv_world_t *world = &bench->world;
    size_t ranks = (size_t) world->size;
    int displ = 0;

    memset(problem, 0, sizeof(*problem));
    problem->dist = dist;
    problem->total = total;
    problem->unit = (AGV_TYPE_BYTE == bench->options.element) ? 1
                                                              : agv_dist_unit(total, world->size);
    problem->bytes = calloc(ranks, sizeof(*problem->bytes));
    problem->counts = calloc(ranks, sizeof(*problem->counts));
    problem->displs = calloc(ranks, sizeof(*problem->displs));
    if (NULL == problem->bytes || NULL == problem->counts || NULL == problem->displs
        || !agv_dist_fill(dist, world->size, world->node, total / problem->unit, problem->unit,
                          problem->bytes)) {
        snprintf(error, ERROR_LENGTH, "--dist %s: no such distribution, see --help", dist);
        return false;
    }
    for (int i = 0; i < world->size; ++i) {
        problem->counts[i] = (int) (problem->bytes[i] / problem->unit);
        problem->displs[i] = displ;
        displ += problem->counts[i];
        if (bench->options.allgather && problem->bytes[i] != problem->bytes[0]) {
            snprintf(error, ERROR_LENGTH, "--op allgather: %s of %zu bytes is not equal counts",
                     dist, total);
            return false;
        }
    }
    problem->limit = wire_limit(world, problem->bytes, total, bench->options.rate);
    return true;
}

static void free_problem(agv_problem_t *problem)
{
    free(problem->bytes);
    free(problem->counts);
    free(problem->displs);
}

/* One call of one arm, checked; its time on this rank. */
static double call(bench_t *bench, int index, const agv_problem_t *problem, agv_data_t *data)
{
    const agv_arm_t *arm = &bench->arms[index];
    agv_result_t *result = &bench->results[index];
    uint64_t before[2];
    char error[ERROR_LENGTH];
    double start, end;

    agv_cvar_apply(arm, error, sizeof(error));
    agv_data_fill(data, problem, bench->world.rank, ++bench->calls);
    agv_call_begin(&bench->world, bench->options.idle, before);
    start = MPI_Wtime();
    if (MPI_SUCCESS != agv_arm_call(arm, problem, data, bench->options.allgather)) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    end = MPI_Wtime();
    agv_call_end(&bench->world, result, before);
    if (NULL != bench->options.trace) {
        agv_trace_call(problem->dist, problem->total, arm->name, start, end);
    }
    if (bench->options.verify
        && !agv_data_verify(data, problem, bench->world.size, bench->calls, error,
                            sizeof(error))) {
        if (result->verified) {
            fprintf(stderr, "agv: %s, %s of %zu bytes, on rank %d: %s\n", arm->name,
                    problem->dist, problem->total, bench->world.rank, error);
        }
        result->verified = false;
    }
    return end - start;
}

/* Rank 0 decides for all whether another repetition fits in. */
static bool another(const bench_t *bench, int done, double begun)
{
    const agv_options_t *options = &bench->options;
    int more = done < options->reps;

    if (!more && 0.0 < options->budget && done < options->max_reps) {
        more = MPI_Wtime() - begun < options->budget;
        MPI_Bcast(&more, 1, MPI_INT, 0, bench->world.control);
    }
    return more;
}

static void measure(bench_t *bench, const agv_problem_t *problem, agv_data_t *data)
{
    double begun = MPI_Wtime();
    int reps = 0;

    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i].verified = true;
    }
    for (int w = 0; w < bench->options.warmup; ++w) {
        for (int i = 0; i < bench->arm_count; ++i) {
            call(bench, i, problem, data);
        }
    }
    for (; another(bench, reps, begun); ++reps) {
        for (int i = 0; i < bench->arm_count; ++i) {
            int index = (i + reps) % bench->arm_count;
            bench->results[index].seconds[reps] = call(bench, index, problem, data);
        }
    }
    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i].reps = reps;
        agv_result_combine(&bench->results[i], bench->world.control);
        bench->good = bench->good && bench->results[i].verified;
    }
}

static bool run_row(bench_t *bench, const char *dist, size_t total, char *error)
{
    agv_problem_t problem;
    agv_data_t data;
    bool good = create_problem(&problem, bench, dist, total, error);

    ++bench->row;
    if (good && bench->options.progress && 0 == bench->world.rank) {
        fprintf(stderr, "[%d/%d] %s, %zu bytes\n", bench->row, bench->rows, dist, total);
    }
    if (good) {
        if (!agv_data_create(&data, &problem, bench->options.element, bench->world.rank)) {
            fprintf(stderr, "agv: no memory for the buffers\n");
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        measure(bench, &problem, &data);
        agv_data_free(&data);
        if (0 == bench->world.rank) {
            agv_report_row(&bench->report, &bench->world, &problem, bench->arms, bench->results,
                           bench->arm_count);
        }
    }
    free_problem(&problem);
    return good;
}

static bool run_rows(bench_t *bench, char *error)
{
    char dists[1024], *rest, *dist;
    size_t totals[256];
    int count = agv_options_totals(bench->options.totals, totals, 256);
    bool good = true;

    count = count > 256 ? 256 : count;
    snprintf(dists, sizeof(dists), "%s", bench->options.dists);
    bench->rows = count;
    for (const char *comma = dists; NULL != (comma = strchr(comma, ',')); ++comma) {
        bench->rows += count;
    }
    for (dist = strtok_r(dists, ",", &rest); good && NULL != dist;
         dist = strtok_r(NULL, ",", &rest)) {
        for (int i = 0; good && i < count; ++i) {
            good = run_row(bench, dist, totals[i], error);
        }
    }
    return good;
}

static bool open_outputs(bench_t *bench, int argc, char **argv, char *error)
{
    const agv_options_t *options = &bench->options;
    agv_report_t *report = &bench->report;

    report->table = options->table;
    report->checked = options->verify;
    report->comm = options->comm;
    report->type = options->type;
    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i].seconds = calloc((size_t) options->max_reps, sizeof(double));
    }
    if (0 == bench->world.rank) {
        if (NULL != options->tsv) {
            report->tsv = fopen(options->tsv, "w");
        } else if (!options->table) {
            report->tsv = stdout;
        }
        agv_report_header(report, &bench->world, options->rate, argc, argv);
    }
    if (0 == bench->world.rank && NULL != options->tsv && NULL == report->tsv) {
        snprintf(error, ERROR_LENGTH, "--tsv %s: the file cannot be written", options->tsv);
        fprintf(stderr, "agv: %s\n", error);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    if (NULL != options->trace
        && !agv_trace_start(options->trace, options->interval, bench->world.rank)) {
        fprintf(stderr, "agv: --trace %s: the file cannot be written\n", options->trace);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    return true;
}

static void close_outputs(bench_t *bench)
{
    agv_trace_stop();
    for (int i = 0; i < bench->arm_count; ++i) {
        free(bench->results[i].seconds);
    }
    if (NULL != bench->report.tsv && stdout != bench->report.tsv) {
        fclose(bench->report.tsv);
    }
}

static int run(bench_t *bench, MPI_Comm base, int argc, char **argv)
{
    char error[ERROR_LENGTH] = "";
    int code = 0;

    agv_world_create(&bench->world, base);
    bench->arm_count = agv_arms_create(bench->arms, bench->options.arms, &bench->world, error,
                                       sizeof(error));
    if (0 > bench->arm_count) {
        return agv_refuse("agv", bench->world.rank, error);
    }
    bench->good = true;
    open_outputs(bench, argc, argv, error);
    if (!run_rows(bench, error)) {
        code = agv_refuse("agv", bench->world.rank, error);
    } else if (!bench->good) {
        code = 1;
    }
    close_outputs(bench);
    agv_arms_free(bench->arms, bench->arm_count);
    agv_world_free(&bench->world);
    return code;
}

int main(int argc, char **argv)
{
    static bench_t bench;
    char error[ERROR_LENGTH];
    MPI_Comm base = MPI_COMM_NULL;
    const int rank = agv_begin(&argc, &argv);
    int code = 0;

    if (!agv_options_parse(&bench.options, argc, argv, error, sizeof(error))) {
        code = agv_refuse("agv", rank, error);
    } else if (bench.options.help) {
        if (0 == rank) {
            agv_options_help(stdout);
        }
    } else if (!choose_comm(bench.options.comm, &base)) {
        code = agv_refuse("agv", rank, "--comm: one of world, permuted:SEED, minuslast is meant");
    } else if (MPI_COMM_NULL != base) {
        code = run(&bench, base, argc, argv);
    }
    agv_end(rank, code);
    return code;
}
