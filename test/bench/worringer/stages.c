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
 * The charts of Figure 5 of Worringer's paper from the model of stages, without MPI: lines of
 * chart, series, x and MB/s of each rank, for a broadcast on the machine that the figure must have
 * been drawn with.
 *
 *     blocks   1 MB over the block size, for each P; `best` has the best block size of each
 *     ranks    over P with the best block size, for each vector; of 1 MB also the generic broadcast
 *     flow     1 MB on 64 ranks over the block size, with slower and slower flow control
 */

#include "staged.h"

#include <math.h>
#include <stdio.h>

#define MB 1e6
#define TOTAL 1048576
#define LEAST_BLOCK 1024
#define LARGEST_BLOCK 131072
#define LEAST_RANKS 8
#define LARGEST_RANKS 256
#define LEAST_VECTOR 16384
#define LARGEST_VECTOR 4194304
#define POINTS_AN_OCTAVE 4
#define FLOW_RANKS 64

/* A broadcast; `flow` times the machine's delay of flow control. */
static staged_problem_t pcast(int ranks, size_t bytes, double flow)
{
    staged_problem_t problem = {.protocol = STAGED_PCAST,
                                .ranks = ranks,
                                .bytes = bytes,
                                .machine = staged_cluster(true)};

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

static void print_blocks(const char *chart, const char *name, int number,
                         const staged_problem_t *problem)
{
    for (int i = 0; i <= POINTS_AN_OCTAVE * log2(LARGEST_BLOCK / LEAST_BLOCK); ++i) {
        const double block = LEAST_BLOCK * exp2((double) i / POINTS_AN_OCTAVE);
        printf("%s\t%s%d\t%.0f\t%.3f\n", chart, name, number, block,
               bandwidth(problem, (size_t) block));
    }
}

int main(void)
{
    printf("#chart\tseries\tx\tmb_s\n");
    for (int ranks = LEAST_RANKS; ranks <= LARGEST_RANKS; ranks *= 2) {
        const staged_problem_t problem = pcast(ranks, TOTAL, 1);
        const size_t best = staged_search(&problem);

        print_blocks("blocks", "P = ", ranks, &problem);
        printf("best\tP = %d\t%zu\t%.3f\n", ranks, best, bandwidth(&problem, best));
    }
    for (size_t bytes = LEAST_VECTOR; bytes <= LARGEST_VECTOR; bytes *= 4) {
        for (int ranks = 2; ranks <= LARGEST_RANKS; ranks *= 2) {
            const staged_problem_t problem = pcast(ranks, bytes, 1);
            printf("ranks\t%zu KB\t%d\t%.3f\n", bytes / 1024, ranks,
                   bandwidth(&problem, staged_search(&problem)));
        }
    }
    for (int ranks = 2; ranks <= LARGEST_RANKS; ranks *= 2) {
        const staged_problem_t problem = pcast(ranks, TOTAL, 1);
        printf("ranks\ttree\t%d\t%.3f\n", ranks, tree_bandwidth(&problem));
    }
    for (int flow = 1; flow <= 4; flow *= 2) {
        const staged_problem_t problem = pcast(FLOW_RANKS, TOTAL, flow);
        print_blocks("flow", "t_fc x ", flow, &problem);
    }
    return 0;
}
