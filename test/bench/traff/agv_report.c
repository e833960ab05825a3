/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Statistics of a row, as TSV lines for programs and as a table for people. */

#include "agv.h"

#include <stdlib.h>
#include <string.h>

static int ascending(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

/* Sorts; the mean of the two in the middle of an even number. */
static double median(double *values, int count)
{
    qsort(values, (size_t) count, sizeof(*values), ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2.0;
}

static double least(const double *values, int count)
{
    double least = values[0];

    for (int i = 1; i < count; ++i) {
        least = values[i] < least ? values[i] : least;
    }
    return least;
}

agv_summary_t agv_summarize(const agv_result_t *result, const agv_result_t *reference)
{
    agv_summary_t summary = {0.0, 0.0, 0.0};
    double *copy = malloc((size_t) result->reps * sizeof(*copy));

    summary.least = least(result->seconds, result->reps);
    if (NULL == copy) {
        return summary;
    }
    memcpy(copy, result->seconds, (size_t) result->reps * sizeof(*copy));
    summary.median = median(copy, result->reps);
    if (NULL != reference) {
        for (int i = 0; i < result->reps; ++i) {
            copy[i] = result->seconds[i] / reference->seconds[i];
        }
        summary.ratio = median(copy, result->reps);
    }
    free(copy);
    return summary;
}

const char *agv_or_none(char *text, size_t length, double value, double scale)
{
    if (0.0 < value) {
        snprintf(text, length, "%.4f", value * scale);
    } else {
        snprintf(text, length, "-");
    }
    return text;
}

static void read_version(char version[MPI_MAX_LIBRARY_VERSION_STRING])
{
    int length;

    MPI_Get_library_version(version, &length);
    version[strcspn(version, ",\n")] = '\0';
}

void agv_report_begin(FILE *tsv, const agv_world_t *world, double rate, const char *program,
                      int argc, char **argv)
{
    const char *pml = getenv("TESTBED_PML"), *slow = getenv("TESTBED_SLOW");
    char version[MPI_MAX_LIBRARY_VERSION_STRING];

    read_version(version);
    fprintf(tsv, "# %s, %d rank(s) on %d node(s), %.0f bytes/s a link (0: not shaped)%s%s, %s\n",
            version, world->size, world->nodes, rate, NULL == slow || '\0' == *slow ? "" : ", ",
            NULL == slow ? "" : slow, NULL == pml || '\0' == *pml ? "ob1" : pml);
    fprintf(tsv, "# %s", program);
    for (int i = 1; i < argc; ++i) {
        fprintf(tsv, " %s", argv[i]);
    }
    fprintf(tsv, "\n");
}

void agv_report_header(const agv_report_t *report, const agv_world_t *world, double rate,
                       int argc, char **argv)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];

    if (NULL != report->tsv) {
        agv_report_begin(report->tsv, world, rate, "agv", argc, argv);
        fprintf(report->tsv, "#dist\ttotal\tp\tnodes\tcomm\ttype\tarm\treps\tmin_s\tmedian_s\t"
                             "limit_s\tfrac_min\tfrac_median\tratio\tblock\trounds\tverified\n");
        fflush(report->tsv);
    }
    read_version(version);
    if (report->table) {
        printf("%s, %d rank(s) on %d node(s); least time of the slowest rank in ms;\n"
               "of: fraction of the wire limit; x: time over stock's\n",
               version, world->size, world->nodes);
        fflush(stdout);
    }
}

static void print_tsv(const agv_report_t *report, const agv_world_t *world,
                      const agv_problem_t *problem, const agv_arm_t *arm,
                      const agv_result_t *result, const agv_summary_t *summary)
{
    char limit[32], frac_min[32], frac_median[32], ratio[32];

    snprintf(limit, sizeof(limit), 0.0 < problem->limit ? "%.9f" : "-", problem->limit);
    fprintf(report->tsv,
            "%s\t%zu\t%d\t%d\t%s\t%s\t%s\t%d\t%.9f\t%.9f\t%s\t%s\t%s\t%s\t%llu\t%llu\t%s\n",
            problem->dist, problem->total, world->size, world->nodes, report->comm, report->type,
            arm->name, result->reps, summary->least, summary->median, limit,
            agv_or_none(frac_min, sizeof(frac_min), problem->limit, 1.0 / summary->least),
            agv_or_none(frac_median, sizeof(frac_median), problem->limit, 1.0 / summary->median),
            agv_or_none(ratio, sizeof(ratio), summary->ratio, 1.0),
            (unsigned long long) result->block, (unsigned long long) result->rounds,
            !report->checked ? "-" : result->verified ? "yes" : "no");
    fflush(report->tsv);
}

static void print_head(const agv_arm_t *arms, int count)
{
    printf("\n%-14s %9s %9s", "distribution", "bytes", "limit ms");
    for (int i = 0; i < count; ++i) {
        printf(" | %21.21s", arms[i].name);
    }
    printf("\n%-14s %9s %9s", "", "", "");
    for (int i = 0; i < count; ++i) {
        printf(" | %9s %5s %5s", "ms", "of", "x");
    }
    printf("\n");
}

static void print_table(const agv_problem_t *problem, const agv_arm_t *arms,
                        const agv_result_t *results, const agv_summary_t *summaries, int count)
{
    static bool begun = false;
    char limit[32], of[32], ratio[32];

    if (!begun) {
        print_head(arms, count);
        begun = true;
    }
    agv_or_none(limit, sizeof(limit), problem->limit, 1e3);
    printf("%-14s %9zu %9.9s", problem->dist, problem->total, limit);
    for (int i = 0; i < count; ++i) {
        agv_or_none(of, sizeof(of), problem->limit, 1.0 / summaries[i].least);
        agv_or_none(ratio, sizeof(ratio), summaries[i].ratio, 1.0);
        printf(" | %9.3f %5.5s %5.5s%s", 1e3 * summaries[i].least, of, ratio,
               results[i].verified ? "" : " WRONG RESULT");
    }
    printf("\n");
    fflush(stdout);
}

const agv_result_t *agv_first(const agv_arm_t *arms, const agv_result_t *results, int count,
                              agv_engine_t engine)
{
    for (int i = 0; i < count; ++i) {
        if (engine == arms[i].engine) {
            return &results[i];
        }
    }
    return NULL;
}

void agv_report_row(const agv_report_t *report, const agv_world_t *world,
                    const agv_problem_t *problem, const agv_arm_t *arms,
                    const agv_result_t *results, int count)
{
    agv_summary_t summaries[AGV_MAX_ARMS];

    for (int i = 0; i < count; ++i) {
        summaries[i] = agv_summarize(&results[i], agv_first(arms, results, count, AGV_STOCK));
        if (NULL != report->tsv) {
            print_tsv(report, world, problem, &arms[i], &results[i], &summaries[i]);
        }
    }
    if (report->table) {
        print_table(problem, arms, results, summaries, count);
    }
}
