/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The command line and the rows of agv. */

#include "agv.h"

#include <stdlib.h>
#include <string.h>

typedef struct agv_t {
    /* options */
    const char *dist_list;
    const char *total_list;
    const char *comm;
    const char *type;
    const char *trace; /* file, NULL: none */
    agv_type_t element;
    uint64_t seed;     /* of a permuted communicator */

    char *dists[BENCH_MAX_WORDS];
    size_t totals[BENCH_MAX_NUMBERS];
    int total_count;
    const bench_world_t *world;
    agv_problem_t problem;
    agv_data_t data;
    uint64_t sample;
    double start, end; /* of the call */
} agv_t;

static agv_t agv = {.dist_list = "regular", .total_list = "1M", .comm = "world", .type = "int"};

/* ---- the command line */

static const char own_options[]
    = "  --dist LIST        distributions (below)               [regular]\n"
      "  --total LIST       bytes that all contribute together  [1M]\n"
      "  --comm WHICH       world, permuted:SEED, minuslast     [world]\n"
      "  --type WHICH       int (of bytes where ints do not fit), byte, bytes-list\n"
      "                     (four single bytes in eight)        [int]\n"
      "  --trace FILE       sample each rank's network device, every 2 ms\n";

static const char arms[]
    = "  stock              Open MPI without our components\n"
      "  pipering           as a user meets it\n"
      "  ring, rounds, mesh_cycles\n"
      "                     pipering's algorithms forced\n"
      "  tuned:N            coll/tuned's algorithm N, without our components; needs\n"
      "                     --mca coll_tuned_allgatherv_algorithm N on mpirun's command line\n"
      "  mpich              MPICH's way: blocked ring in rank order, one MPI_Sendrecv at a time,\n"
      "                     chunks of 32 KiB or the least contribution\n"
      "  linear             the linear ring in rank order, of calls of MPI_Sendrecv\n";

static const bench_kind_t kinds[]
    = {{"stock", BENCH_STOCK, AGV_BLOCKING, NULL, NULL},
       {"mpich", BENCH_STOCK, AGV_MPICH, NULL, NULL},
       {"linear", BENCH_STOCK, AGV_LINEAR, NULL, NULL},
       {"tuned", BENCH_TUNED, AGV_BLOCKING, NULL, NULL},
       {"pipering", BENCH_PIPERING, AGV_BLOCKING, "allgatherv_algorithm=auto", NULL},
       {"ring", BENCH_PIPERING, AGV_BLOCKING, "allgatherv_algorithm=ring", NULL},
       {"rounds", BENCH_PIPERING, AGV_BLOCKING, "allgatherv_algorithm=rounds", NULL},
       {"mesh_cycles", BENCH_PIPERING, AGV_BLOCKING, "allgatherv_algorithm=mesh_cycles", NULL},
       {NULL, BENCH_STOCK, 0, NULL, NULL}};

static const bench_option_t options[] = {{"--dist", &agv.dist_list, NULL, 0.0, NULL},
                                         {"--total", &agv.total_list, NULL, 0.0, NULL},
                                         {"--comm", &agv.comm, NULL, 0.0, NULL},
                                         {"--type", &agv.type, NULL, 0.0, NULL},
                                         {"--trace", &agv.trace, NULL, 0.0, NULL},
                                         {NULL, NULL, NULL, 0.0, NULL}};

static void print_dists(FILE *out)
{
    fputs("\nDistributions, each NAME, NAME@K (turned by K ranks) or NAME~SEED (ranks shuffled)\n",
          out);
    for (const agv_dist_name_t *dist = agv_dist_names; NULL != dist->name; ++dist) {
        fprintf(out, "  %-18s %s\n", dist->name, dist->meaning);
    }
}

static bool check_comm(void)
{
    char *end;

    if (0 == strncmp(agv.comm, "permuted:", 9)) {
        agv.seed = (uint64_t) strtoul(agv.comm + 9, &end, 10);
        return end != agv.comm + 9 && '\0' == *end;
    }
    return 0 == strcmp(agv.comm, "world") || 0 == strcmp(agv.comm, "minuslast");
}

static bool check(char *error)
{
    static const char *const types[AGV_TYPES] = {"int", "byte", "bytes-list"};
    const int type = bench_find(types, AGV_TYPES, agv.type);

    agv.element = (agv_type_t) type;
    agv.total_count = bench_numbers(agv.total_list, agv.totals);
    if (0 > type) {
        snprintf(error, BENCH_ERROR_LENGTH, "--type %s: expected int, byte or bytes-list",
                 agv.type);
    } else if (!check_comm()) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "--comm %s: expected world, permuted:SEED or minuslast", agv.comm);
    } else if (0 > agv.total_count) {
        snprintf(error, BENCH_ERROR_LENGTH,
                 "--total %s: expected a list like 8,64K,1M..16M below 2 GiB", agv.total_list);
    } else {
        return true;
    }
    return false;
}

static MPI_Comm choose_comm(void)
{
    int rank, size, key, *order;
    MPI_Comm comm;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const bool out = 0 == strcmp(agv.comm, "minuslast") && 1 < size && size - 1 == rank;
    key = rank;
    if (0 == strncmp(agv.comm, "permuted:", 9)) {
        order = malloc((size_t) size * sizeof(*order));
        if (NULL == order) {
            MPI_Abort(MPI_COMM_WORLD, 3);
        }
        agv_dist_shuffle(order, size, agv.seed);
        key = order[rank];
        free(order);
    }
    MPI_Comm_split(MPI_COMM_WORLD, out ? MPI_UNDEFINED : 0, key, &comm);
    return comm;
}

/* ---- rows */

static const char *dist_of(int row)
{
    return agv.dists[row / agv.total_count];
}

static size_t total_of(int row)
{
    return agv.totals[row % agv.total_count];
}

static bool prepare(bench_t *bench, char *error)
{
    const int dists = bench_words(agv.dist_list, agv.dists);
    agv_problem_t trial;

    agv.world = &bench->world;
    for (int i = 0; i < dists; ++i) {
        if (!agv_problem_create(&trial, agv.dists[i], agv.totals[0], agv.element, agv.world)) {
            snprintf(error, BENCH_ERROR_LENGTH, "--dist %s: no such distribution, see --help",
                     agv.dists[i]);
            return false;
        }
        agv_problem_free(&trial);
    }
    if (NULL != agv.trace && !agv_trace_start(agv.trace, agv.world->rank)) {
        fprintf(stderr, "agv: --trace %s: the file cannot be written\n", agv.trace);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    bench->calls[0] = "allgatherv";
    bench->rows = dists * agv.total_count;
    snprintf(error, BENCH_ERROR_LENGTH, "--dist: expected 1 to %d of them", BENCH_MAX_WORDS);
    return 0 < dists;
}

/* Seconds that the busiest link needs: into each node what it lacks, out of it what it
 * contributes, at the least. */
static double wire_limit(const bench_t *bench)
{
    const bench_world_t *world = &bench->world;
    double most = 0.0;

    for (int node = 0; 1 < world->nodes && node < world->nodes; ++node) {
        const double link = bench_world_rate(world, node, bench->options.rate);
        size_t own = 0;

        for (int i = 0; i < world->size; ++i) {
            own += (node == world->node[i]) ? agv.problem.bytes[i] : 0;
        }
        const size_t rest = agv.problem.total - own;
        const double time = (double) (own > rest ? own : rest) / link;

        most = (0.0 < link && time > most) ? time : most;
    }
    return most;
}

static bool begin_row(bench_t *bench, int row)
{
    if (!agv_problem_create(&agv.problem, dist_of(row), total_of(row), agv.element, agv.world)
        || !agv_data_create(&agv.data, &agv.problem, agv.element, agv.world->rank)) {
        return false;
    }
    bench->limit = wire_limit(bench);
    return true;
}

static void end_row(void)
{
    agv_data_free(&agv.data);
    agv_problem_free(&agv.problem);
}

static void fill(const bench_arm_t *arm, uint64_t sample)
{
    (void) arm;
    agv.sample = sample;
    agv_data_fill(&agv.data, &agv.problem, agv.world->rank, sample);
}

static int call(const bench_arm_t *arm)
{
    int rc;

    agv.start = MPI_Wtime();
    rc = agv_call((agv_way_t) arm->kind->way, &agv.problem, &agv.data, arm->comm);
    agv.end = MPI_Wtime();
    return rc;
}

static bool verify(const bench_arm_t *arm, char *error)
{
    if (NULL != agv.trace) {
        agv_trace_call(agv.problem.dist, agv.problem.total, arm->name, agv.start, agv.end);
    }
    return agv_data_verify(&agv.data, &agv.problem, agv.world->size, agv.sample, error);
}

static void print_row(int row, FILE *out)
{
    fprintf(out, "%s\t%zu\t%s\t%s\t", dist_of(row), total_of(row), agv.comm, agv.type);
}

int main(int argc, char **argv)
{
    static const bench_program_t program
        = {.name = "agv",
           .purpose = "Times MPI_Allgatherv with unequal counts, checks every result.",
           .own_options = own_options,
           .arms = arms,
           .print_names = print_dists,
           .columns = "dist\ttotal\tcomm\ttype",
           .options = options,
           .kinds = kinds,
           .defaults = {BENCH_DEFAULTS, .arms = "stock,pipering", .idle = 20.0},
           .check = check,
           .choose_comm = choose_comm,
           .prepare = prepare,
           .begin_row = begin_row,
           .end_row = end_row,
           .fill = fill,
           .call = call,
           .verify = verify,
           .print_row = print_row};
    const int code = bench_main(&program, argc, argv);

    agv_trace_stop();
    return code;
}
