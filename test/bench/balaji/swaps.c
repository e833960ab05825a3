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
 * The command line, the arms and the loop of swaps. Samples are taken as fold.c takes
 * them; that of a late rank is not counted.
 */

#include "swaps.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ERROR_LENGTH 512
#define MAX_TOTALS 64

typedef struct bench_t {
    const char *pattern_list, *call_name, *totals_list, *arms_list, *tsv_file;
    double reps, warmup, batch, late, rate, idle; /* late and idle in milliseconds */
    bool progress, help;
    swaps_pattern_t pattern;
    swaps_call_t call;
    size_t totals[MAX_TOTALS];
    int total_count;
    agv_world_t world;
    FILE *tsv;
    agv_arm_t arms[AGV_MAX_ARMS];
    int arm_count;
    agv_result_t results[AGV_MAX_ARMS];
    uint64_t calls;
    bool good;
} bench_t;

static const char *const pattern_names[SWAPS_PATTERNS] = {"ring", "late", "ghost", "dense",
                                                          "mixed"};
static const char *const call_names[SWAPS_CALLS] = {"alltoallw", "alltoallv",
                                                    "neighbor_alltoallw"};

static const char help_text[]
    = "usage: mpirun ... swaps [OPTION]...\n"
      "Times MPI_Alltoallw and its kin, checks every result, writes TSV lines.\n"
      "\n"
      "  --coll CALL        alltoallw, alltoallv (patterns dense and mixed only),\n"
      "                     neighbor_alltoallw                  [alltoallw]\n"
      "  --pattern NAME     ring (a column of doubles to both neighbours), late (the same; the\n"
      "                     last rank has no part and comes late), ghost (cube of doubles, up to\n"
      "                     26 neighbours), dense (the same to all), mixed (much to every third\n"
      "                     rank, 8 bytes to the others)        [ring]\n"
      "  --total LIST       bytes of a message, or of the cube's side: 8, 64K, 8..64K [800]\n"
      "  --arms LIST        NAME or NAME:VARIABLE=VALUE... with NAME of stock (Open MPI without\n"
      "                     the component), auto, bins, rotated, ordered, round_robin; each\n"
      "                     also with digits behind             [stock,auto]\n"
      "  --batch N          calls back to back in a sample      [1]\n"
      "  --late-ms MS       that the late rank sleeps           [0]\n"
      "  --reps N           timed samples of each arm           [7]\n"
      "  --warmup N         samples of each arm before a row    [1]\n"
      "  --idle-ms MS       let the link rest before a sample   [0]\n"
      "  --rate RATE        of a link, for the record           [none]\n"
      "  --tsv FILE         write the TSV lines there instead of to stdout\n"
      "  --progress         say on stderr which row is being measured\n"
      "\n"
      "TSV columns: coll pattern bytes p nodes arm reps batch min_s median_s ratio_to_stock\n"
      "verified. Times are of the slowest rank, for one call.\n";

/* ---- arms ---- */

static bool set_algorithm(agv_arm_t *arm, const char *algorithm, swaps_call_t call, char *error,
                          size_t length)
{
    char name[AGV_VALUE_LENGTH];

    snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", call_names[call]);
    return agv_arm_set(arm, name, algorithm, error, length);
}

static bool take_word(agv_arm_t *arm, int index, char *word, void *context, char *error,
                      size_t length)
{
    static const char *const kinds[] = {"auto", "bins", "rotated", "ordered", "round_robin"};
    const swaps_call_t call = *(const swaps_call_t *) context;

    if (0 < index) {
        return agv_arm_setting(arm, word, error, length);
    }
    arm->engine = AGV_PIPERING;
    if (agv_arm_is_kind(word, "stock")) {
        arm->engine = AGV_STOCK;
        return set_algorithm(arm, "off", call, error, length);
    }
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
        if (agv_arm_is_kind(word, kinds[i])) {
            return set_algorithm(arm, kinds[i], call, error, length);
        }
    }
    snprintf(error, length, "%s: no such arm, see --help", arm->name);
    return false;
}

static bool make_arms(bench_t *bench, char *error)
{
    bench->arm_count = agv_arms_parse(bench->arms, bench->arms_list, take_word, &bench->call,
                                      error, ERROR_LENGTH);
    for (int i = 0; i < bench->arm_count; ++i) {
        const bool stock = AGV_STOCK == bench->arms[i].engine;
        agv_comm_dup(bench->world.base, stock ? AGV_WITHOUT_OURS : NULL, &bench->arms[i].comm);
        bench->results[i].seconds = calloc((size_t) bench->reps, sizeof(double));
    }
    return 0 < bench->arm_count;
}

/* Neighbours are those of the pattern. The arms differ by variables alone: a communicator
 * with a topology does not take over which components the other one has. */
static MPI_Comm connect_neighbors(const swaps_data_t *data, MPI_Comm comm)
{
    int *peers = calloc(2 * (size_t) data->messages + 1, sizeof(int));
    int *weights = peers + data->messages;
    MPI_Comm graph;

    if (NULL == peers) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int i = 0; i < data->messages; ++i) {
        peers[i] = data->out[i].peer;
        weights[i] = 1;
    }
    MPI_Dist_graph_create_adjacent(comm, data->messages, peers, weights, data->messages, peers,
                                   weights, MPI_INFO_NULL, 0, &graph);
    free(peers);
    return graph;
}

/* ---- samples ---- */

static void nap(double milliseconds)
{
    const long seconds = (long) (milliseconds / 1e3);
    const struct timespec time = {seconds, (long) (1e6 * (milliseconds - 1e3 * (double) seconds))};

    nanosleep(&time, NULL);
}

static double sample(bench_t *bench, int arm, MPI_Comm comm, swaps_data_t *data)
{
    agv_result_t *result = &bench->results[arm];
    char error[ERROR_LENGTH];
    uint64_t before[2];

    agv_cvar_apply(&bench->arms[arm], error, sizeof(error));
    swaps_data_fill(data, ++bench->calls);
    agv_call_begin(&bench->world, bench->idle / 1e3, before);
    if (swaps_is_late(data)) {
        nap(bench->late);
    }
    const double start = MPI_Wtime();
    for (int i = 0; i < (int) bench->batch; ++i) {
        swaps_data_call(data, comm);
    }
    const double end = MPI_Wtime();
    agv_call_end(&bench->world, result, before);
    if (!swaps_data_right(data, bench->calls)) {
        if (result->verified) {
            fprintf(stderr, "swaps: %s on rank %d: wrong data\n", bench->arms[arm].name,
                    data->rank);
        }
        result->verified = false;
    }
    return swaps_is_late(data) ? 0.0 : (end - start) / bench->batch;
}

static void measure(bench_t *bench, MPI_Comm *comms, swaps_data_t *data)
{
    const int count = bench->arm_count, reps = (int) bench->reps;

    for (int i = 0; i < count; ++i) {
        bench->results[i].verified = true;
        bench->results[i].reps = reps;
    }
    for (int w = 0; w < (int) bench->warmup * count; ++w) {
        sample(bench, w % count, comms[w % count], data);
    }
    for (int r = 0; r < reps; ++r) {
        for (int i = 0; i < count; ++i) {
            const int k = (r / 2 + (0 == r % 2 ? i : count - 1 - i)) % count;
            bench->results[k].seconds[r] = sample(bench, k, comms[k], data);
        }
    }
    for (int i = 0; i < count; ++i) {
        agv_result_combine(&bench->results[i], bench->world.control);
        bench->good = bench->good && bench->results[i].verified;
    }
}

static void print_row(const bench_t *bench, size_t total)
{
    const agv_result_t *stock = agv_first(bench->arms, bench->results, bench->arm_count,
                                          AGV_STOCK);
    char ratio[32];

    for (int i = 0; i < bench->arm_count; ++i) {
        const agv_summary_t summary = agv_summarize(&bench->results[i], stock);
        fprintf(bench->tsv, "%s\t%s\t%zu\t%d\t%d\t%s\t%d\t%d\t%.9f\t%.9f\t%s\t%s\n",
                call_names[bench->call], pattern_names[bench->pattern], total, bench->world.size,
                bench->world.nodes, bench->arms[i].name, (int) bench->reps, (int) bench->batch,
                summary.least, summary.median,
                agv_or_none(ratio, sizeof(ratio), summary.ratio, 1.0),
                bench->results[i].verified ? "yes" : "no");
    }
    fflush(bench->tsv);
}

static void run_row(bench_t *bench, int row)
{
    const bool neighbors = SWAPS_NEIGHBORS == bench->call;
    swaps_data_t data;
    MPI_Comm comms[AGV_MAX_ARMS];

    if (bench->progress && 0 == bench->world.rank) {
        fprintf(stderr, "[%d/%d] %s, %s, %zu bytes\n", row + 1, bench->total_count,
                call_names[bench->call], pattern_names[bench->pattern], bench->totals[row]);
    }
    swaps_data_create(&data, bench->call, bench->pattern, bench->totals[row], &bench->world);
    for (int i = 0; i < bench->arm_count; ++i) {
        comms[i] = neighbors ? connect_neighbors(&data, bench->arms[i].comm)
                             : bench->arms[i].comm;
    }
    measure(bench, comms, &data);
    for (int i = 0; neighbors && i < bench->arm_count; ++i) {
        MPI_Comm_free(&comms[i]);
    }
    swaps_data_free(&data);
    if (0 == bench->world.rank) {
        print_row(bench, bench->totals[row]);
    }
}

/* ---- the command line ---- */

static int find(const char *const *names, int count, const char *name)
{
    int k = 0;

    while (k < count && 0 != strcmp(names[k], name)) {
        ++k;
    }
    return k;
}

static bool check(bench_t *bench, char *error)
{
    const int pattern = find(pattern_names, SWAPS_PATTERNS, bench->pattern_list);
    const int call = find(call_names, SWAPS_CALLS, bench->call_name);

    bench->pattern = (swaps_pattern_t) pattern;
    bench->call = (swaps_call_t) call;
    if (SWAPS_PATTERNS == pattern || SWAPS_CALLS == call
        || (SWAPS_V == call && SWAPS_DENSE > pattern)) {
        snprintf(error, ERROR_LENGTH, "--pattern %s --coll %s: cannot be, see --help",
                 bench->pattern_list, bench->call_name);
        return false;
    }
    bench->total_count = agv_options_totals(bench->totals_list, bench->totals, MAX_TOTALS);
    if (0 >= bench->total_count || MAX_TOTALS < bench->total_count) {
        snprintf(error, ERROR_LENGTH, "--total %s: a list like 8,64K is meant",
                 bench->totals_list);
        return false;
    }
    return true;
}

static bool parse(bench_t *bench, int argc, char **argv, char *error)
{
    const struct {
        const char *name, **word;
        double *number;
        bool *flag;
    } known[] = {{"--coll", &bench->call_name, NULL, NULL},
                 {"--pattern", &bench->pattern_list, NULL, NULL},
                 {"--total", &bench->totals_list, NULL, NULL},
                 {"--arms", &bench->arms_list, NULL, NULL},
                 {"--tsv", &bench->tsv_file, NULL, NULL},
                 {"--batch", NULL, &bench->batch, NULL},
                 {"--late-ms", NULL, &bench->late, NULL},
                 {"--idle-ms", NULL, &bench->idle, NULL},
                 {"--reps", NULL, &bench->reps, NULL},
                 {"--warmup", NULL, &bench->warmup, NULL},
                 {"--rate", NULL, &bench->rate, NULL},
                 {"--progress", NULL, NULL, &bench->progress},
                 {"--help", NULL, NULL, &bench->help}};
    const size_t count = sizeof(known) / sizeof(known[0]);

    for (int i = 1; i < argc; ++i) {
        size_t k = 0;
        while (k < count && 0 != strcmp(argv[i], known[k].name)) {
            ++k;
        }
        if (count == k || (NULL == known[k].flag && NULL == argv[i + 1])) {
            snprintf(error, ERROR_LENGTH, "%s: cannot be used so, see --help", argv[i]);
            return false;
        }
        if (NULL != known[k].flag) {
            *known[k].flag = true;
        } else if (NULL != known[k].word) {
            *known[k].word = argv[++i];
        } else {
            *known[k].number = agv_options_number(argv[++i]);
        }
    }
    return check(bench, error);
}

/* ---- */

static bool open_output(bench_t *bench, int argc, char **argv)
{
    if (0 != bench->world.rank) {
        return true;
    }
    bench->tsv = NULL == bench->tsv_file ? stdout : fopen(bench->tsv_file, "w");
    if (NULL == bench->tsv) {
        fprintf(stderr, "swaps: --tsv %s: the file cannot be written\n", bench->tsv_file);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    agv_report_begin(bench->tsv, &bench->world, bench->rate, "swaps", argc, argv);
    fprintf(bench->tsv, "#coll\tpattern\tbytes\tp\tnodes\tarm\treps\tbatch\tmin_s\tmedian_s\t"
                        "ratio_to_stock\tverified\n");
    return true;
}

static int run(bench_t *bench, int argc, char **argv)
{
    char error[ERROR_LENGTH] = "";
    MPI_Comm base;

    MPI_Comm_dup(MPI_COMM_WORLD, &base);
    agv_world_create(&bench->world, base);
    if (!make_arms(bench, error)) {
        return agv_refuse("swaps", bench->world.rank, error);
    }
    bench->good = open_output(bench, argc, argv);
    for (int row = 0; row < bench->total_count; ++row) {
        run_row(bench, row);
    }
    if (NULL != bench->tsv && stdout != bench->tsv) {
        fclose(bench->tsv);
    }
    for (int i = 0; i < bench->arm_count; ++i) {
        free(bench->results[i].seconds);
    }
    agv_arms_free(bench->arms, bench->arm_count);
    agv_world_free(&bench->world);
    return bench->good ? 0 : 1;
}

int main(int argc, char **argv)
{
    static bench_t bench = {.pattern_list = "ring", .call_name = "alltoallw", .totals_list = "800",
                            .arms_list = "stock,auto", .reps = 7, .warmup = 1, .batch = 1};
    char error[ERROR_LENGTH];
    const int rank = agv_begin(&argc, &argv);
    int code = 0;

    if (!parse(&bench, argc, argv, error)) {
        code = agv_refuse("swaps", rank, error);
    } else if (bench.help) {
        fputs(0 == rank ? help_text : "", stdout);
    } else {
        code = run(&bench, argc, argv);
    }
    return agv_end(rank, code);
}
