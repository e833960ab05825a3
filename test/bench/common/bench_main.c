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
 * The loop: rows, in each row repetitions, in each repetition all arms, in every second one
 * in reverse, beginning with another one after that, so that none follows itself more often
 * than others. Before each timed sample the ranks meet, leave the link idle, and meet again.
 *
 * A sample is one call or a batch of calls back to back, as OSU's programs time them.
 * Neither is the latency of a cluster where many ranks share few processors:
 *
 *   - One call: the ranks do not leave the barrier together but one after the other, as
 *     the processors come to them, and the slowest rank's time begins with what is left
 *     of that. It is the same for all arms, and brings the ratios nearer to 1.
 *   - A batch has that once for all of its calls. No rank can be two calls ahead of
 *     another, where each call wants data of all ranks; but while one rank waits others
 *     run, so the processors are never idle and what is measured is their work for a
 *     call: copies, system calls of the transport, changes of process. What arms gain by
 *     waiting less, or by memory of their own socket, does not show; what they gain by
 *     fewer messages and copies does.
 *
 * What is checked between the calls of a batch (next) is within the time.
 */

#include "bench.h"

#include <stdlib.h>
#include <string.h>

/* ---- samples */

/* Calls back to back; false: one before the last gave a wrong result. */
static bool run_batch(const bench_t *bench, const bench_arm_t *arm)
{
    const bench_program_t *program = bench->program;
    bool good = true;

    for (int i = 0; i < bench->batch; ++i) {
        if (0 < i && NULL != program->next) {
            good = program->next() && good;
        }
        if (MPI_SUCCESS != program->call(arm)) {
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
    }
    return good;
}

/* Once for an arm in a row. */
static void complain(const bench_t *bench, const bench_arm_t *arm, const char *error)
{
    fprintf(stderr, "%s: %s, on rank %d, in ", bench->program->name, arm->name,
            bench->world.rank);
    bench->program->print_row(bench->row, stderr);
    fprintf(stderr, ": %s\n", error);
}

/* One sample of one arm, checked; the time of a call on this rank. */
static double sample(bench_t *bench, const bench_arm_t *arm)
{
    const bench_program_t *program = bench->program;
    bench_result_t *result = &bench->results[arm->index];
    char error[BENCH_ERROR_LENGTH] = "a call of the batch gave data of another";
    bench_counters_t before;
    double start, end;
    bool good;

    bench_cvar_apply(arm, error);
    program->fill(arm, ++bench->samples);
    bench_call_begin(&bench->world, bench->options.idle, &before);
    start = MPI_Wtime();
    good = run_batch(bench, arm);
    end = MPI_Wtime();
    bench_call_end(&bench->world, &before, bench->batch, result);
    good = program->verify(arm, error) && good;
    if (!good && result->verified) {
        complain(bench, arm, error);
    }
    result->verified = result->verified && good;
    if (NULL != program->is_timed && !program->is_timed()) {
        return 0.0;
    }
    return (end - start) / bench->batch;
}

/* Rank 0 decides for all. */
static bool agree(const bench_t *bench, bool wanted)
{
    int word = wanted;

    MPI_Bcast(&word, 1, MPI_INT, 0, bench->world.control);
    return 0 != word;
}

/* Warm-ups are not counted, but one that uses up the budget is. */
static void warm_up(bench_t *bench, const bench_arm_t *arm)
{
    bench_result_t *result = &bench->results[arm->index];
    const double budget = bench->options.budget, seconds = sample(bench, arm);

    memset(result->count, 0, sizeof(result->count));
    if (0.0 < budget && agree(bench, seconds >= budget)) {
        result->seconds[0] = seconds;
        result->reps = 1;
        result->spent = seconds;
    }
}

static bool wants_another(const bench_t *bench, const bench_result_t *result)
{
    const bench_options_t *options = &bench->options;

    if (result->reps < (int) options->reps) {
        return true;
    }
    return 0.0 < options->budget && result->reps < (int) options->max_reps
           && agree(bench, result->spent < options->budget);
}

/* Samples of all arms that want one; false: none did. */
static bool repeat(bench_t *bench, const bench_arm_t *arms, int repetition)
{
    const int count = bench->arm_count;
    bool any = false;

    for (int i = 0; i < count; ++i) {
        const int place = 0 == repetition % 2 ? i : count - 1 - i;
        const int k = (repetition / 2 + place) % count;
        bench_result_t *result = &bench->results[k];

        if (wants_another(bench, result)) {
            const double begun = MPI_Wtime();
            result->seconds[result->reps++] = sample(bench, &arms[k]);
            result->spent += MPI_Wtime() - begun;
            any = true;
        }
    }
    return any;
}

static void measure(bench_t *bench, const bench_arm_t *arms)
{
    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i]
            = (bench_result_t){.seconds = bench->results[i].seconds, .verified = true};
    }
    bench->samples = 0;
    for (int w = 0; w < (int) bench->options.warmup; ++w) {
        for (int i = 0; i < bench->arm_count; ++i) {
            warm_up(bench, &arms[i]);
        }
    }
    for (int r = 0; repeat(bench, arms, r); ++r) {
        continue;
    }
    for (int i = 0; i < bench->arm_count; ++i) {
        bench_result_combine(&bench->results[i], bench->world.control);
        bench->good = bench->good && bench->results[i].verified;
    }
}

/* ---- lines */

static void print_arm(const bench_t *bench, const bench_arm_t *arm)
{
    const bench_program_t *program = bench->program;
    const bench_result_t *result = &bench->results[arm->index];

    program->print_row(bench->row, bench->tsv);
    fprintf(bench->tsv, "%d\t%d\t%d\t", bench->batch, bench->world.size, bench->world.nodes);
    if (0.0 < bench->limit) {
        fprintf(bench->tsv, "%.9f\t%s\t", bench->limit, arm->name);
    } else {
        fprintf(bench->tsv, "-\t%s\t", arm->name);
    }
    bench_result_print_counts(result, bench->tsv);
    if (NULL != program->print_result) {
        program->print_result(arm, bench->tsv);
    }
    fputs(result->verified ? "yes\t" : "no\t", bench->tsv);
    for (int i = 0; i < result->reps; ++i) {
        fprintf(bench->tsv, 0 == i ? "%.9f" : ",%.9f", result->seconds[i]);
    }
    fputc('\n', bench->tsv);
}

static void print_head(const bench_t *bench, int argc, char **argv)
{
    const bench_program_t *program = bench->program;
    const char *pml = getenv("TESTBED_PML"), *slow = getenv("TESTBED_SLOW");
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
    fprintf(bench->tsv, "# %s, %d rank(s) on %d node(s), %.0f bytes/s a link (0: not shaped)",
            version, bench->world.size, bench->world.nodes, bench->options.rate);
    fprintf(bench->tsv, "%s%s, %s\n# %s", NULL == slow || '\0' == *slow ? "" : ", ",
            NULL == slow ? "" : slow, NULL == pml || '\0' == *pml ? "ob1" : pml, program->name);
    for (int i = 1; i < argc; ++i) {
        fprintf(bench->tsv, " %s", argv[i]);
    }
    fprintf(bench->tsv, "\n#%s\tbatch\tp\tnodes\tlimit_s\tarm\t" BENCH_COUNT_NAMES "\t%sverified"
                        "\ttimes\n",
            program->columns, NULL == program->results ? "" : program->results);
    fflush(bench->tsv);
}

static void open_output(bench_t *bench, int argc, char **argv)
{
    const char *name = bench->options.tsv;

    if (0 != bench->world.rank) {
        return;
    }
    bench->tsv = NULL == name ? stdout : fopen(name, "w");
    if (NULL == bench->tsv) {
        fprintf(stderr, "%s: --tsv %s: the file cannot be written\n", bench->program->name, name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    print_head(bench, argc, argv);
}

/* ---- rows */

static void run_row(bench_t *bench)
{
    const bench_program_t *program = bench->program;
    const bench_arm_t *arms = bench->arms[bench->row * bench->call_count / bench->rows];

    if (bench->options.progress && 0 == bench->world.rank) {
        fprintf(stderr, "[%d/%d] ", bench->row + 1, bench->rows);
        program->print_row(bench->row, stderr);
        fputc('\n', stderr);
    }
    bench->limit = 0.0;
    if (!program->begin_row(bench, bench->row)) {
        fprintf(stderr, "%s: no memory for the data, or an arm that cannot be here\n",
                program->name);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    measure(bench, arms);
    for (int i = 0; 0 == bench->world.rank && i < bench->arm_count; ++i) {
        print_arm(bench, &arms[i]);
    }
    if (0 == bench->world.rank) {
        fflush(bench->tsv);
    }
    program->end_row();
}

static void run_rows(bench_t *bench)
{
    for (bench->row = 0; bench->row < bench->rows; ++bench->row) {
        for (int i = 0; i < bench->batch_count; ++i) {
            bench->batch = (int) bench->batches[i];
            run_row(bench);
        }
    }
}

/* Arms for all calls before the first is measured. */
static bool prepare(bench_t *bench, char *error)
{
    const bench_program_t *program = bench->program;
    const bench_options_t *options = &bench->options;

    bench->batch_count = bench_numbers(options->batches, bench->batches);
    if (0 > bench->batch_count) {
        snprintf(error, BENCH_ERROR_LENGTH, "--batch %s: expected a list like 1,20",
                 options->batches);
        return false;
    }
    bench->calls[0] = program->name;
    bench->call_count = 1;
    if (!program->prepare(bench, error)) {
        return false;
    }
    for (int c = 0; c < bench->call_count; ++c) {
        bench->arm_count = bench_arms_create(bench->arms[c], program, options->arms,
                                             bench->calls[c], &bench->world, error);
        if (0 > bench->arm_count) {
            return false;
        }
    }
    for (int i = 0; i < bench->arm_count; ++i) {
        bench->results[i].seconds = calloc((size_t) options->max_reps, sizeof(double));
        if (NULL == bench->results[i].seconds) {
            snprintf(error, BENCH_ERROR_LENGTH, "no memory for the samples");
            return false;
        }
    }
    return true;
}

static void finish(bench_t *bench)
{
    for (int i = 0; i < bench->arm_count; ++i) {
        free(bench->results[i].seconds);
    }
    for (int c = 0; c < bench->call_count; ++c) {
        bench_arms_free(bench->arms[c], bench->arm_count);
    }
    if (NULL != bench->tsv && stdout != bench->tsv) {
        fclose(bench->tsv);
    }
    bench_world_free(&bench->world);
}

static int run(bench_t *bench, int rank, int argc, char **argv)
{
    const bench_program_t *program = bench->program;
    char error[BENCH_ERROR_LENGTH] = "no communicator for an arm";
    MPI_Comm base = MPI_COMM_NULL;

    if (NULL != program->choose_comm) {
        base = program->choose_comm();
    } else {
        MPI_Comm_dup(MPI_COMM_WORLD, &base);
    }
    if (MPI_COMM_NULL == base) {
        return 0;
    }
    bench_world_create(&bench->world, base);
    if (!prepare(bench, error)) {
        return bench_refuse(program->name, rank, error);
    }
    bench->good = true;
    open_output(bench, argc, argv);
    run_rows(bench);
    finish(bench);
    return bench->good ? 0 : 1;
}

int bench_main(const bench_program_t *program, int argc, char **argv)
{
    static bench_t bench;
    char error[BENCH_ERROR_LENGTH];
    const int rank = bench_begin(&argc, &argv);
    int code = 0;

    bench.program = program;
    if (!bench_options_parse(&bench.options, program, argc, argv, error)) {
        code = bench_refuse(program->name, rank, error);
    } else if (!bench.options.help) {
        code = run(&bench, rank, argc, argv);
    } else if (0 == rank) {
        bench_options_help(program, stdout);
    }
    return bench_end(rank, code);
}
