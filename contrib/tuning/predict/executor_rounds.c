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
 * Runs an exchange in rounds: the messages of a round, the one that can begin first first. A rank
 * sends in a round what it has received in those before, all of it.
 */

#include "executor_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a rank sends in a round, as one burst. */
typedef struct burst_t {
    int from, to;
    double ready;
    mca_coll_pipering_volume_t volume;
} burst_t;

typedef struct rounds_t {
    const executor_rounds_t *problem;
    executor_result_t *result;
    burst_t *burst; /* [ranks] of a round */
    double *ready;  /* [ranks] when a rank has all of the rounds before */
    double *in_port, *out_port, *local_port, *carried; /* [ranks] */
} rounds_t;

static int compare_bursts(const void *a, const void *b)
{
    const burst_t *x = a, *y = b;

    return x->ready != y->ready ? (x->ready > y->ready) - (x->ready < y->ready)
                                : x->from - y->from;
}

/* Seconds on the link. Messages are sent together, so handling the later ones takes a gap each. */
static double burst_time(const executor_rounds_t *problem, const burst_t *burst, bool local)
{
    const mca_coll_pipering_link_cost_t *link = local ? &problem->machine.cost.local
                                                      : &problem->machine.cost.net;
    const double count = (double) burst->volume.blocks;
    const double slower = local || NULL == problem->machine.slower
                              ? 1
                              : problem->machine.slower[burst->from];

    return slower
           * mca_coll_pipering_link_time(link, link->alpha + (count - 1) * link->gap,
                                         ((double) burst->volume.bytes + count * link->envelope)
                                             * link->beta);
}

/* The largest message is about the mean one: a rendezvous takes a way there and back. */
static double asking_time(const mca_coll_pipering_link_cost_t *link, const burst_t *burst)
{
    const double mean = (double) burst->volume.bytes / (double) burst->volume.blocks;

    return 0 < link->eager && mean > link->eager ? 2 * link->latency : 0;
}

/* Takes both ports, as in executor.c; when the burst is through the second one. */
static double pass(rounds_t *run, const burst_t *burst, bool local)
{
    const executor_wiring_t wiring = run->problem->machine.wiring;
    const int from = run->problem->node_of[burst->from], to = run->problem->node_of[burst->to];
    const bool shared = EXECUTOR_SWITCH == wiring || EXECUTOR_HALF == wiring;
    const mca_coll_pipering_cost_t *cost = &run->problem->machine.cost;
    const double time = burst_time(run->problem, burst, local);
    double *out = &run->out_port[from];
    double *in = local ? &run->local_port[burst->to]
                 : EXECUTOR_HALF == wiring ? &run->out_port[to]
                                           : &run->in_port[to];
    const double bucket = local ? 0 : run->problem->machine.bucket;
    const double alpha = (local ? cost->local : cost->net).alpha;
    double begins = burst->ready;

    if (!shared) {
        return begins + time;
    }
    if (!local) {
        begins = fmax(begins, (EXECUTOR_HALF == wiring ? fmax(*in, *out) : *out) - bucket);
        *out = fmax(begins, *out) + time;
        run->carried[from] += time;
    }
    *in = fmax(begins, *in) + time;
    return fmax(begins + alpha, fmax(local ? 0 : *out, *in) - bucket);
}

static void send(rounds_t *run, const burst_t *burst)
{
    const executor_machine_t *machine = &run->problem->machine;
    const bool local = run->problem->node_of[burst->from] == run->problem->node_of[burst->to];
    const mca_coll_pipering_link_cost_t *link = local ? &machine->cost.local : &machine->cost.net;

    run->result->messages += burst->volume.blocks;
    run->ready[burst->to] = fmax(run->ready[burst->to],
                                 pass(run, burst, local) + link->latency
                                     + asking_time(link, burst) + 2 * machine->handling);
}

static void run_round(rounds_t *run, int k)
{
    const executor_rounds_t *problem = run->problem;
    const int ranks = problem->grid->ring->size;

    for (int r = 0; r < ranks; ++r) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(problem->grid, r,
                                                                                  k);
        run->burst[r] = (burst_t){r, round.to, run->ready[r],
                                  mca_coll_pipering_grid_volume(problem->grid, r, problem->bytes,
                                                                problem->packed, round.send)};
    }
    qsort(run->burst, (size_t) ranks, sizeof(*run->burst), compare_bursts);
    for (int i = 0; i < ranks; ++i) {
        if (0 < run->burst[i].volume.blocks) {
            send(run, &run->burst[i]);
        }
    }
}

/* Small contributions are packed before they are sent and unpacked in the end. */
static double copying_time(const executor_rounds_t *problem)
{
    double bytes = 0;

    for (int r = 0; r < problem->grid->ring->size; ++r) {
        bytes += problem->bytes[r] <= problem->packed ? (double) problem->bytes[r] : 0;
    }
    return 2 * problem->machine.combine * bytes;
}

static void finish(rounds_t *run)
{
    const int ranks = run->problem->grid->ring->size;
    const double copying = copying_time(run->problem);

    for (int r = 0; r < ranks; ++r) {
        run->result->done[r] = run->ready[r] + copying;
        run->result->finish = fmax(run->result->finish, run->result->done[r]);
        run->result->busiest = fmax(run->result->busiest, run->carried[r]);
    }
}

bool executor_run_rounds(const executor_rounds_t *problem, executor_result_t *result)
{
    const size_t ranks = (size_t) problem->grid->ring->size;
    rounds_t run = {.problem = problem,
                    .result = result,
                    .burst = malloc(ranks * sizeof(burst_t)),
                    .ready = calloc(5 * ranks, sizeof(double))};

    memset(result, 0, sizeof(*result));
    result->done = calloc(ranks, sizeof(*result->done));
    const bool good = NULL != run.burst && NULL != run.ready && NULL != result->done;
    if (good) {
        run.in_port = run.ready + ranks;
        run.out_port = run.in_port + ranks;
        run.local_port = run.out_port + ranks;
        run.carried = run.local_port + ranks;
        for (int k = 0; k < mca_coll_pipering_grid_rounds(problem->grid); ++k) {
            run_round(&run, k);
        }
        finish(&run);
    } else {
        (void) executor_fail(result, "there is no memory for %zu ranks", ranks);
    }
    free(run.burst);
    free(run.ready);
    return good;
}
