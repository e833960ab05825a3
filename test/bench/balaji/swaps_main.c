/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The command line and the rows of swaps. */

#include "by_hand.h"
#include "swaps.h"

#include <stdlib.h>
#include <string.h>

static struct {
    /* options */
    const char *pattern_name;
    const char *call_name;
    const char *total_list;

    swaps_pattern_t pattern;
    swaps_call_t call;
    size_t totals[BENCH_MAX_NUMBERS];
    swaps_data_t data; /* of the row at hand */
    uint64_t sample;
} swaps = {.pattern_name = "ring", .call_name = "alltoallw", .total_list = "800"};

static const char *const pattern_names[SWAPS_PATTERNS] = {"ring", "dense", "mixed"};
static const char *const call_names[SWAPS_CALLS] = {"alltoallw", "alltoallv", "alltoall"};

/* ---- the command line */

static const char own_options[]
    = "  --coll CALL        alltoallw, alltoallv (patterns dense and mixed only), alltoall\n"
      "                     (pattern dense only)                [alltoallw]\n"
      "  --pattern NAME     ring (a column of doubles to both neighbours), dense (the same to\n"
      "                     all), mixed (much to every third rank, 8 bytes to the others) [ring]\n"
      "  --total LIST       bytes of a message                  [800]\n";

static const char arms[]
    = "  stock              Open MPI without our components\n"
      "  auto, bins, permuted\n"
      "                     pipering's choice, and its algorithms forced\n"
      "  round_robin        on top of MPI, of alltoallw: one peer at a time, with empty messages\n"
      "  visitN             on top of MPI, of alltoall: as permuted, with N packets a visit\n"
      "  tuned, tuned:N     coll/tuned's own choice, and its algorithm N of alltoall\n";

/* Ways of arms on top of MPI. */
enum { NO_WAY, ROUND_ROBIN, VISIT };

static const bench_kind_t kinds[]
    = {{"stock", BENCH_STOCK, NO_WAY, NULL, NULL},
       {"auto", BENCH_PIPERING, NO_WAY, "%s_algorithm=auto", NULL},
       {"bins", BENCH_PIPERING, NO_WAY, "%s_algorithm=bins", NULL},
       {"permuted", BENCH_PIPERING, NO_WAY, "%s_algorithm=permuted", NULL},
       {"round_robin", BENCH_STOCK, ROUND_ROBIN, NULL, "alltoallw"},
       {"visit", BENCH_STOCK, VISIT, NULL, "alltoall"},
       {"tuned", BENCH_TUNED, NO_WAY, NULL, NULL},
       {NULL, BENCH_STOCK, NO_WAY, NULL, NULL}};

static const bench_option_t options[] = {{"--coll", &swaps.call_name, NULL, 0.0, NULL},
                                         {"--pattern", &swaps.pattern_name, NULL, 0.0, NULL},
                                         {"--total", &swaps.total_list, NULL, 0.0, NULL},
                                         {NULL, NULL, NULL, 0.0, NULL}};

static bool prepare(bench_t *bench, char *error)
{
    const int pattern = bench_find(pattern_names, SWAPS_PATTERNS, swaps.pattern_name);
    const int call = bench_find(call_names, SWAPS_CALLS, swaps.call_name);

    if (0 > pattern || 0 > call || (SWAPS_V == call && SWAPS_DENSE > pattern)
        || (SWAPS_EQUAL == call && SWAPS_DENSE != pattern)) {
        snprintf(error, BENCH_ERROR_LENGTH, "--pattern %s --coll %s: cannot be, see --help",
                 swaps.pattern_name, swaps.call_name);
        return false;
    }
    bench->rows = bench_numbers(swaps.total_list, swaps.totals);
    if (0 > bench->rows) {
        snprintf(error, BENCH_ERROR_LENGTH, "--total %s: expected a list like 8,64K",
                 swaps.total_list);
        return false;
    }
    swaps.pattern = (swaps_pattern_t) pattern;
    swaps.call = (swaps_call_t) call;
    bench->calls[0] = call_names[call];
    return true;
}

/* ---- rows */

static bool begin_row(bench_t *bench, int row)
{
    swaps_data_create(&swaps.data, swaps.call, swaps.pattern, swaps.totals[row], &bench->world);
    return true;
}

static void end_row(void)
{
    swaps_data_free(&swaps.data);
}

static void fill(const bench_arm_t *arm, uint64_t sample)
{
    (void) arm;
    swaps.sample = sample;
    swaps_data_fill(&swaps.data, sample);
}

static int call(const bench_arm_t *arm)
{
    const swaps_data_t *data = &swaps.data;

    switch (arm->kind->way) {
    case ROUND_ROBIN:
        return by_hand_alltoallw(data->from, data->out_counts, data->displs, data->out_types,
                                 data->to, data->in_counts, data->displs, data->in_types, arm->comm);
    case VISIT:
        return by_hand_alltoall((size_t) atoi(arm->name + strlen(arm->kind->name)), data->from,
                                data->to, (size_t) data->out_counts[0] * sizeof(double), arm->comm);
    default:
        return swaps_data_call(data, arm->comm);
    }
}

static bool verify(const bench_arm_t *arm, char *error)
{
    (void) arm;
    snprintf(error, BENCH_ERROR_LENGTH, "wrong data");
    return swaps_data_right(&swaps.data, swaps.sample);
}

static void print_row(int row, FILE *out)
{
    fprintf(out, "%s\t%s\t%zu\t", swaps.call_name, swaps.pattern_name, swaps.totals[row]);
}

int main(int argc, char **argv)
{
    static const bench_program_t program
        = {.name = "swaps",
           .purpose = "Times MPI_Alltoallw and its kin, checks every result.",
           .own_options = own_options,
           .arms = arms,
           .columns = "coll\tpattern\ttotal",
           .options = options,
           .kinds = kinds,
           .defaults = {BENCH_DEFAULTS, .arms = "stock,auto"},
           .prepare = prepare,
           .begin_row = begin_row,
           .end_row = end_row,
           .fill = fill,
           .call = call,
           .verify = verify,
           .print_row = print_row};

    return bench_main(&program, argc, argv);
}
