/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */


/** @file The command line of fold. */

#include "fold.h"

#include <stdlib.h>
#include <string.h>

static const char help_options[]
    = "usage: mpirun ... fold [OPTION]...\n"
      "Times MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan, MPI_Allreduce, MPI_Allgather,\n"
      "checks every result, writes TSV lines.\n"
      "\n"
      "  --coll LIST        of bcast, reduce, scan, exscan, allreduce, allgather [bcast]\n"
      "  --total LIST       bytes of a rank's contribution: 8, 64K, 1M, 8..16M (times 2),\n"
      "                     8..16M*4 (times 4)                  [1M]\n"
      "  --arms LIST        ways to run the call (below)        [stock,pipering]\n"
      "  --op WHICH         sum (of doubles), matrix (product of 2 x 2 uint32 matrices, which\n"
      "                     does not commute)                   [sum]\n"
      "  --root WHICH       a rank, or inner: the one in the middle [0]\n"
      "  --batch LIST       calls back to back in each timed sample, as --total; more than 1 of\n"
      "                     allgather only                      [1]\n"
      "  --reps N           timed samples of each arm           [7]\n"
      "  --warmup N         samples of each arm before a row    [1]\n"
      "  --idle-ms MS       let the link rest before each sample [20, or 0 without --rate]\n"
      "  --rate RATE        of a link: 12500000 (bytes/s), 100mbit, none; for the wire limit\n"
      "                     [environment TESTBED_RATE, else none]; nodes in TESTBED_SLOW have\n"
      "                     that of their own\n"
      "  --tsv FILE         write the TSV lines there instead of to stdout\n"
      "  --progress         say on stderr which row is being measured\n"
      "\n";

static const char help_arms[]
    = "arms, each NAME or NAME:VARIABLE=VALUE:VARIABLE=VALUE\n"
      "  stock, stock2 ...  Open MPI without coll/pipering and coll/mleader\n"
      "  pipering           as a user without coll/mleader meets it (also pipering2 ...)\n"
      "  pipeline           forced: the pipeline (all but allreduce and allgather)\n"
      "  ring, merged, serial\n"
      "                     forced: pipering's algorithms of allreduce\n"
      "  ring, linear       forced: pipering's algorithms of allgather\n"
      "  mleader            as a user meets it, with both (also mleader2 ...); of allgather\n"
      "  off                forced: the module below\n"
      "  tuned              coll/tuned's own choice, without these and coll/han\n"
      "  sm                 coll/sm, and what it lacks (scans) from coll/tuned; on one node\n"
      "  tuned:N            coll/tuned's algorithm N of the collective, without coll/pipering\n"
      "                     (some cannot do --op matrix: their results are wrong)\n"
      "  tuned:N:seg=BYTES  the same with segments of so many bytes (tuned: with Open MPI 5.0;\n"
      "                     that of 4.1 takes these from mpirun's command line only)\n"
      "  A VARIABLE is an MCA variable; coll_pipering_ may be left out, B is block_size. Behind\n"
      "  mleader coll_mleader_ may be left out, and + stands for a comma in its VALUE.\n";

static const char help_columns[]
    = "\nTSV columns: coll total p nodes op root arm reps min_s median_s limit_s frac_min\n"
      "frac_median ratio_to_stock block batch ratio_to_tuned between within copied switches\n"
      "verified.\n"
      "Times are of the slowest rank, for one call: that of a batch is divided by its calls.\n"
      "limit_s is the time the wire needs for m bytes over n nodes: m / rate;\n"
      "allreduce 2 m (n - 1) / n / rate; with\n"
      "--op matrix, allreduce and reduce to a root between the others 2 m / rate; allgather the\n"
      "most that a node lacks / rate. frac is limit_s / time; ratio_to_stock (_tuned) is the\n"
      "median of time / time of the first stock (tuned) arm in the same repetition; block is\n"
      "pipering's B, 0: it did not serve the call. Counts are of all ranks, for one call:\n"
      "messages of mleader between nodes and within them, bytes that it read from shared\n"
      "memory, and changes of process.\n";

static const char *const colls[FOLD_COLLS] = {"bcast",  "reduce",    "scan",
                                              "exscan", "allreduce", "allgather"};

void fold_options_help(FILE *out)
{
    fputs(help_options, out);
    fputs(help_arms, out);
    fputs(help_columns, out);
}

const char *fold_coll_name(fold_coll_t coll)
{
    return colls[coll];
}

bool fold_coll_has_op(fold_coll_t coll)
{
    return FOLD_BCAST != coll && FOLD_ALLGATHER != coll;
}

int fold_options_root(const fold_options_t *options, int size)
{
    char *end;
    long root = strtol(options->root, &end, 10);

    if (0 == strcmp(options->root, "inner")) {
        return size / 2;
    }
    return (end == options->root || '\0' != *end || 0 > root || size <= root) ? -1 : (int) root;
}

static bool parse_colls(fold_options_t *options)
{
    char copy[128];
    char *rest, *word;
    int k;

    snprintf(copy, sizeof(copy), "%s", options->colls);
    for (word = strtok_r(copy, ",", &rest); NULL != word; word = strtok_r(NULL, ",", &rest)) {
        for (k = 0; k < FOLD_COLLS && 0 != strcmp(word, colls[k]); ++k) {
            continue;
        }
        if (FOLD_COLLS == k || FOLD_COLLS == options->coll_count) {
            return false;
        }
        options->coll[options->coll_count++] = (fold_coll_t) k;
    }
    return 0 < options->coll_count;
}

static bool check(fold_options_t *options, char *error, size_t length)
{
    if (!parse_colls(options)) {
        snprintf(error, length,
                 "--coll %s: of bcast, reduce, scan, exscan, allreduce, allgather is meant",
                 options->colls);
        return false;
    }
    options->matrix = 0 == strcmp(options->op, "matrix");
    if (!options->matrix && 0 != strcmp(options->op, "sum")) {
        snprintf(error, length, "--op %s: one of sum, matrix is meant", options->op);
        return false;
    }
    if (0 > agv_options_totals(options->totals, NULL, 0)) {
        snprintf(error, length, "--total %s: a list like 8,64K,1M..16M below 2 GiB is meant",
                 options->totals);
        return false;
    }
    if (0 > agv_options_totals(options->batches, NULL, 0)) {
        snprintf(error, length, "--batch %s: a list like 1,20 is meant", options->batches);
        return false;
    }
    if (0.0 > options->idle) {
        options->idle = 0.0 < options->rate ? 20.0 : 0.0;
    }
    return true;
}

static void defaults(fold_options_t *options)
{
    const char *rate = getenv("TESTBED_RATE");

    memset(options, 0, sizeof(*options));
    options->colls = "bcast";
    options->totals = "1M";
    options->arms = "stock,pipering";
    options->batches = "1";
    options->op = "sum";
    options->root = "0";
    options->reps = 7.0;
    options->warmup = 1.0;
    options->idle = -1.0;
    if (NULL != rate && 0.0 < agv_options_number(rate)) {
        options->rate = agv_options_number(rate);
    }
}

bool fold_options_parse(fold_options_t *options, int argc, char **argv, char *error,
                        size_t length)
{
    const agv_option_t known[] = {{"--coll", &options->colls, NULL, 0.0, NULL},
                              {"--total", &options->totals, NULL, 0.0, NULL},
                              {"--arms", &options->arms, NULL, 0.0, NULL},
                              {"--batch", &options->batches, NULL, 0.0, NULL},
                              {"--op", &options->op, NULL, 0.0, NULL},
                              {"--root", &options->root, NULL, 0.0, NULL},
                              {"--tsv", &options->tsv, NULL, 0.0, NULL},
                              {"--reps", NULL, &options->reps, 1.0, NULL},
                              {"--warmup", NULL, &options->warmup, 0.0, NULL},
                              {"--idle-ms", NULL, &options->idle, 0.0, NULL},
                              {"--rate", NULL, &options->rate, 0.0, NULL},
                              {"--progress", NULL, NULL, 0.0, &options->progress},
                              {"--help", NULL, NULL, 0.0, &options->help}};
    const size_t count = sizeof(known) / sizeof(known[0]);

    defaults(options);
    if (!agv_options_take(known, count, argc, argv, error, length)) {
        return false;
    }
    return check(options, error, length);
}
