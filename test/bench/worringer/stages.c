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
 * Pipelines by their stages, without MPI: the charts of Figure 5 of Worringer's paper
 * from the model, or what it says about a call on links of given speed.
 */

#include "machines.h"
#include "staged.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MB 1e6
#define LEAST_BLOCK 1024
#define LARGEST_BLOCK 131072
#define LEAST_RANKS 8
#define LARGEST_RANKS 256
#define LEAST_VECTOR 16384
#define LARGEST_VECTOR 4194304
#define POINTS_AN_OCTAVE 4
/* Where the paper compares delays of flow control. */
#define FLOW_BLOCK 8192
#define FLOW_RANKS 64

typedef struct stages_t {
    const char *machine;
    const char *points; /* the chart to print the points of, NULL: tables */
    const char *coll;   /* the call to tell about, NULL: Figure 5 */
    int ranks;
    size_t total;
    size_t block; /* 0: search */
    double alpha; /* seconds a block */
    double beta;  /* seconds a byte */
    double copy, combine;
} stages_t;

static int refuse(const char *what, const char *why)
{
    fprintf(stderr, "stages: %s: %s\n", what, why);
    return 2;
}

/* ---- Figure 5 ---- */

/* A broadcast on the paper's machine; `flow` times its delay of flow control. */
static staged_problem_t pcast(const stages_t *stages, int ranks, size_t bytes, double flow)
{
    staged_problem_t problem = {.protocol = STAGED_PCAST,
                                .ranks = ranks,
                                .bytes = bytes,
                                .machine = staged_cluster(0 == strcmp(stages->machine, "figure"))};

    problem.machine.flow *= flow;
    return problem;
}

/* MB/s of each rank. */
static double bandwidth(const staged_problem_t *problem, size_t block)
{
    return (double) problem->bytes / staged_time(problem, block) / MB;
}

/* The generic broadcast: a binomial tree that passes the vector on whole, by PIO. */
static double tree_bandwidth(const staged_problem_t *problem)
{
    const staged_machine_t *machine = &problem->machine;
    const double bytes = (double) problem->bytes;
    const double sent = mca_coll_pipering_stream_time(&machine->first, 1, bytes) + machine->flow;

    return bytes / (ceil(log2(problem->ranks)) * sent) / MB;
}

/* The least and the largest size around `best` that cost at most 5% more. */
static void print_range(const staged_problem_t *problem, size_t best)
{
    const double most = 1.05 * staged_time(problem, best);
    size_t least = best, largest = best;

    while (1 < least && most >= staged_time(problem, least - 1)) {
        least--;
    }
    while (largest < problem->bytes && most >= staged_time(problem, largest + 1)) {
        largest++;
    }
    printf(" %5.1f .. %.1f", (double) least / 1024, (double) largest / 1024);
}

static void print_blocks(const char *corner)
{
    printf("%-8s", corner);
    for (size_t block = LEAST_BLOCK; block <= LARGEST_BLOCK; block *= 2) {
        printf(" %5zuK", block / 1024);
    }
}

static void print_bandwidths(const staged_problem_t *problem)
{
    for (size_t block = LEAST_BLOCK; block <= LARGEST_BLOCK; block *= 2) {
        printf(" %6.1f", bandwidth(problem, block));
    }
}

static void table_blocks(const stages_t *stages)
{
    printf("Broadcast of %zu bytes on the machine of the paper's %s: MB/s over the block size\n",
           stages->total, stages->machine);
    print_blocks("P");
    printf(" | %6s %6s %s\n", "best K", "MB/s", "within 5%, K");
    for (int ranks = LEAST_RANKS; ranks <= LARGEST_RANKS; ranks *= 2) {
        const staged_problem_t problem = pcast(stages, ranks, stages->total, 1);
        const size_t best = staged_search(&problem);
        printf("%-8d", ranks);
        print_bandwidths(&problem);
        printf(" | %6.1f %6.1f", (double) best / 1024, bandwidth(&problem, best));
        print_range(&problem, best);
        printf("\n");
    }
}

static void table_ranks(const stages_t *stages)
{
    printf("The same with the best block size, over the bytes\n%-8s", "P");
    for (size_t bytes = LEAST_VECTOR; bytes <= LARGEST_VECTOR; bytes *= 4) {
        printf(" %6zuK", bytes / 1024);
    }
    printf(" | %s\n", "binomial tree");
    for (int ranks = LEAST_RANKS; ranks <= LARGEST_RANKS; ranks *= 2) {
        printf("%-8d", ranks);
        for (size_t bytes = LEAST_VECTOR; bytes <= LARGEST_VECTOR; bytes *= 4) {
            const staged_problem_t problem = pcast(stages, ranks, bytes, 1);
            printf(" %7.1f", bandwidth(&problem, staged_search(&problem)));
        }
        const staged_problem_t problem = pcast(stages, ranks, stages->total, 1);
        printf(" | %6.1f\n", tree_bandwidth(&problem));
    }
}

static void table_flow(const stages_t *stages)
{
    const staged_problem_t once = pcast(stages, FLOW_RANKS, stages->total, 1);

    printf("Broadcast of %zu bytes on %d ranks, flow control of 5 us and slower\n", stages->total,
           FLOW_RANKS);
    print_blocks("t_fc");
    printf(" | loss at %dK\n", FLOW_BLOCK / 1024);
    for (int flow = 1; flow <= 4; flow *= 2) {
        const staged_problem_t problem = pcast(stages, FLOW_RANKS, stages->total, flow);
        printf("x%-7d", flow);
        print_bandwidths(&problem);
        printf(" | %.1f%%\n",
               100 * (1 - bandwidth(&problem, FLOW_BLOCK) / bandwidth(&once, FLOW_BLOCK)));
    }
}

static void points_of(const staged_problem_t *problem, const char *name, int number)
{
    for (int i = 0; i <= POINTS_AN_OCTAVE * log2(LARGEST_BLOCK / LEAST_BLOCK); ++i) {
        const double block = LEAST_BLOCK * exp2((double) i / POINTS_AN_OCTAVE);
        printf("%s%d\t%.0f\t%.3f\n", name, number, block, bandwidth(problem, (size_t) block));
    }
}

static void points_blocks(const stages_t *stages)
{
    for (int ranks = LEAST_RANKS; ranks <= LARGEST_RANKS; ranks *= 2) {
        const staged_problem_t problem = pcast(stages, ranks, stages->total, 1);
        points_of(&problem, "P = ", ranks);
    }
}

static void points_ranks(const stages_t *stages)
{
    for (size_t bytes = LEAST_VECTOR; bytes <= LARGEST_VECTOR; bytes *= 4) {
        for (int ranks = 2; ranks <= LARGEST_RANKS; ranks *= 2) {
            const staged_problem_t problem = pcast(stages, ranks, bytes, 1);
            printf("%zu KB\t%d\t%.3f\n", bytes / 1024, ranks,
                   bandwidth(&problem, staged_search(&problem)));
        }
    }
    for (int ranks = 2; ranks <= LARGEST_RANKS; ranks *= 2) {
        const staged_problem_t problem = pcast(stages, ranks, stages->total, 1);
        printf("tree\t%d\t%.3f\n", ranks, tree_bandwidth(&problem));
    }
}

static void points_flow(const stages_t *stages)
{
    for (int flow = 1; flow <= 4; flow *= 2) {
        const staged_problem_t problem = pcast(stages, FLOW_RANKS, stages->total, flow);
        points_of(&problem, "t_fc x ", flow);
    }
}

static int figure5(const stages_t *stages)
{
    static const struct {
        const char *name;
        void (*points)(const stages_t *stages);
    } charts[] = {{"blocks", points_blocks}, {"ranks", points_ranks}, {"flow", points_flow}};

    if (NULL == stages->points) {
        table_blocks(stages);
        table_ranks(stages);
        table_flow(stages);
        return 0;
    }
    for (size_t i = 0; i < sizeof(charts) / sizeof(charts[0]); ++i) {
        if (0 == strcmp(charts[i].name, stages->points)) {
            charts[i].points(stages);
            return 0;
        }
    }
    return refuse(stages->points, "no such chart; there are blocks, ranks, flow");
}

/* ---- a call ---- */

static bool find_protocol(const char *coll, staged_protocol_t *protocol)
{
    static const char *const names[] = {[STAGED_PCAST] = "bcast",
                                        [STAGED_RPIPE] = "reduce",
                                        [STAGED_SCAN] = "scan",
                                        [STAGED_SERIAL] = "serial",
                                        [STAGED_MERGED] = "merged"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        if (0 == strcmp(names[i], coll)) {
            *protocol = (staged_protocol_t) i;
            return true;
        }
    }
    return false;
}

static int tell(const stages_t *stages)
{
    const mca_coll_pipering_link_cost_t link = machines_tcp(stages->alpha, stages->beta);
    staged_problem_t problem = {
        .ranks = stages->ranks,
        .bytes = stages->total,
        .machine = {
            .first = link, .forward = link, .copy = stages->copy, .combine = stages->combine}};
    size_t block = stages->block;

    if (!find_protocol(stages->coll, &problem.protocol)) {
        return refuse(stages->coll, "not one of bcast, reduce, scan, serial, merged");
    }
    block = 0 < block ? block : staged_search(&problem);
    printf("#coll\ttotal\tp\tblock\tstages\tmodel_s\n");
    printf("%s\t%zu\t%d\t%zu\t%llu\t%.9f\n", stages->coll, problem.bytes, problem.ranks, block,
           (unsigned long long) staged_count(&problem, block), staged_time(&problem, block));
    return 0;
}

/* ---- the command line ---- */

static bool set_number(stages_t *stages, const char *name, double value)
{
    if (0 == strcmp(name, "--ranks")) {
        stages->ranks = (int) value;
    } else if (0 == strcmp(name, "--total")) {
        stages->total = (size_t) value;
    } else if (0 == strcmp(name, "--block")) {
        stages->block = (size_t) value;
    } else if (0 == strcmp(name, "--alpha")) {
        stages->alpha = value;
    } else if (0 == strcmp(name, "--beta")) {
        stages->beta = value;
    } else if (0 == strcmp(name, "--copy")) {
        stages->copy = value;
    } else if (0 == strcmp(name, "--combine")) {
        stages->combine = value;
    } else {
        return false;
    }
    return true;
}

static int parse(stages_t *stages, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *word = (i + 1 < argc) ? argv[i + 1] : NULL;

        if (NULL == word) {
            return refuse(name, "wants a value");
        }
        if (0 == strcmp(name, "--machine")) {
            stages->machine = word;
        } else if (0 == strcmp(name, "--points")) {
            stages->points = word;
        } else if (0 == strcmp(name, "--coll")) {
            stages->coll = word;
        } else if (!set_number(stages, name, strtod(word, NULL))) {
            return refuse(name, "is not one of --machine text|figure, --points blocks|ranks|flow; "
                                "--coll NAME, --ranks P, --total BYTES, --block BYTES, "
                                "--alpha SECONDS, --beta, --copy, --combine SECONDS A BYTE");
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    stages_t stages = {.machine = "figure", .ranks = 8, .total = 1048576, .alpha = 1e-5,
                       .beta = 8e-8, .combine = 2.5e-10};
    const int code = parse(&stages, argc, argv);

    if (0 != code) {
        return code;
    }
    if (0 != strcmp(stages.machine, "text") && 0 != strcmp(stages.machine, "figure")) {
        return refuse(stages.machine, "no such machine; there are text, figure");
    }
    if (2 > stages.ranks || 1 > stages.total || 0.0 >= stages.alpha || 0.0 >= stages.beta
        || 0.0 > stages.copy || 0.0 > stages.combine) {
        return refuse("--ranks, --total, --alpha, --beta, --copy, --combine",
                      "two ranks at least and positive numbers are meant");
    }
    return NULL == stages.coll ? figure5(&stages) : tell(&stages);
}
