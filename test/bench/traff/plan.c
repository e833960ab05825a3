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
 * What the component's plans say about a distribution, without MPI: the rounds
 * of the pipelined ring, what they cost at least on links of a given speed, the modelled
 * times of this ring and of the linear one, and how long the planning itself takes. One TSV
 * line with a `#` header.
 */

#define _POSIX_C_SOURCE 200809L

#include "agv_dist.h"
#include "coll_pipering_plan.h"
#include "machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINKS MCA_COLL_PIPERING_ROUTE_LINKS

typedef struct plan_t {
    const char *dist;
    size_t total;
    int ranks;
    size_t block;  /* 0: search */
    double rate;   /* bytes/s */
    double alpha;  /* seconds a block */
    const char *link; /* tcp: with its headers; plain: alpha and beta alone */
    size_t *bytes;
    int *node_of;
    uint64_t *blocks; /* by rank */
    void *ring_memory;
    void *model_scratch;
    void *order_scratch;
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_route_t *route;
} plan_t;

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static int refuse(const char *what, const char *why)
{
    fprintf(stderr, "plan: %s: %s\n", what, why);
    return 2;
}

static bool create(plan_t *plan)
{
    size_t p = (size_t) plan->ranks;
    size_t unit = agv_dist_unit(plan->total, plan->ranks);

    plan->bytes = calloc(p, sizeof(*plan->bytes));
    plan->node_of = calloc(p, sizeof(*plan->node_of));
    plan->blocks = calloc(p, sizeof(*plan->blocks));
    plan->ring_memory = malloc(mca_coll_pipering_ring_size(plan->ranks));
    plan->model_scratch = malloc(mca_coll_pipering_model_scratch(plan->ranks));
    plan->order_scratch = malloc(mca_coll_pipering_order_scratch(plan->ranks));
    plan->route = malloc(mca_coll_pipering_routes_size(1, LINKS, LINKS));
    if (NULL == plan->route || NULL == plan->bytes || NULL == plan->node_of || NULL == plan->blocks
        || NULL == plan->model_scratch || NULL == plan->ring_memory
        || NULL == plan->order_scratch) {
        return false;
    }
    for (int i = 0; i < plan->ranks; ++i) {
        plan->node_of[i] = i;
    }
    mca_coll_pipering_ring_bind(&plan->ring, plan->ranks, plan->ring_memory);
    (void) mca_coll_pipering_routes_bind(plan->route, 1, LINKS, LINKS);
    return agv_dist_fill(plan->dist, plan->ranks, plan->node_of, plan->total / unit, unit,
                         plan->bytes);
}

static void destroy(plan_t *plan)
{
    free(plan->bytes);
    free(plan->node_of);
    free(plan->blocks);
    free(plan->model_scratch);
    free(plan->ring_memory);
    free(plan->order_scratch);
    free(plan->route);
}

static void order(plan_t *plan, size_t block)
{
    for (int i = 0; i < plan->ranks; ++i) {
        plan->blocks[i] = mca_coll_pipering_blocks(plan->bytes[i], block);
    }
    mca_coll_pipering_order(&plan->ring, plan->node_of, plan->blocks,
                            MCA_COLL_PIPERING_ORDER_NODES | MCA_COLL_PIPERING_ORDER_EMPTIES,
                            plan->order_scratch);
}

static mca_coll_pipering_link_cost_t link_cost(const plan_t *plan)
{
    const double beta = 1.0 / plan->rate;

    if (0 == strcmp(plan->link, "plain")) {
        return (mca_coll_pipering_link_cost_t){.alpha = plan->alpha, .beta = beta};
    }
    return machines_tcp(plan->alpha, beta);
}

static mca_coll_pipering_problem_t problem_of(const plan_t *plan)
{
    const mca_coll_pipering_link_cost_t cost = link_cost(plan);

    return (mca_coll_pipering_problem_t){.ring = &plan->ring,
                                         .bytes = plan->bytes,
                                         .cost = {cost, cost},
                                         .scratch = plan->model_scratch};
}

/* B of the least modelled time in the order at hand. */
static size_t search(const plan_t *plan)
{
    const mca_coll_pipering_problem_t problem = problem_of(plan);

    return mca_coll_pipering_search(&problem);
}

/* The linear ring, by the paper's section 2.1: p - 1 rounds, in each of which somebody sends
 * the largest contribution. */
static double linear_time(const plan_t *plan)
{
    const mca_coll_pipering_link_cost_t cost = link_cost(plan);
    size_t largest = 0;

    for (int i = 0; i < plan->ranks; ++i) {
        largest = plan->bytes[i] > largest ? plan->bytes[i] : largest;
    }
    return (plan->ranks - 1) * mca_coll_pipering_stream_time(&cost, 1, (double) largest);
}

/* All that a call plans: an order for many small blocks, B in that order, the
 * order for this B, the route of one rank. */
static size_t whole_plan(plan_t *plan)
{
    size_t block = plan->block;

    if (0 == block) {
        order(plan, 1 + plan->total / 256);
        block = search(plan);
    }
    order(plan, block);
    mca_coll_pipering_route(plan->route, &plan->ring, plan->ranks / 2);
    return block;
}

/* Seconds of one planning: the least of ten batches that take 10 ms each. */
static double planning_time(plan_t *plan)
{
    double least = 1e9;

    for (int batch = 0; batch < 10; ++batch) {
        double begun = now(), took;
        int done = 0;

        do {
            whole_plan(plan);
            ++done;
            took = now() - begun;
        } while (0.010 > took);
        least = took / done < least ? took / done : least;
    }
    return least;
}

/* Blocks are cut evenly: the longest block of all contributions. */
static size_t longest_block(const plan_t *plan)
{
    size_t longest = 0;

    for (int i = 0; i < plan->ranks; ++i) {
        if (0 < plan->blocks[i]) {
            size_t length = (size_t) ((plan->bytes[i] + plan->blocks[i] - 1) / plan->blocks[i]);
            longest = length > longest ? length : longest;
        }
    }
    return longest;
}

static void report(plan_t *plan)
{
    const size_t block = whole_plan(plan);
    const mca_coll_pipering_problem_t problem = problem_of(plan);
    const double modelled = mca_coll_pipering_time(&problem, block);
    uint64_t *in_order = calloc((size_t) plan->ranks, sizeof(*in_order));
    size_t lacking = 0;

    if (NULL == in_order) {
        return;
    }
    for (int x = 0; x < plan->ranks; ++x) {
        const size_t rest = plan->total - plan->bytes[x];

        in_order[x] = plan->blocks[plan->ring.rank[x]];
        lacking = rest > lacking ? rest : lacking;
    }
    const uint64_t rounds = mca_coll_pipering_rounds(in_order, plan->ranks);
    const double moved = (double) rounds * (double) longest_block(plan);
    printf("#dist\ttotal\tp\tblock\trounds\tfrac\ttime_s\tlinear_s\tplan_us\n");
    printf("%s\t%zu\t%d\t%zu\t%llu\t%.4f\t%.9f\t%.9f\t%.3f\n", plan->dist, plan->total,
           plan->ranks, block, (unsigned long long) rounds,
           0.0 < moved ? (double) lacking / moved : 1.0, modelled, linear_time(plan),
           1e6 * planning_time(plan));
    free(in_order);
}

static int parse(plan_t *plan, int argc, char **argv)
{
    for (int i = 1; i < argc; i += 2) {
        const char *name = argv[i], *word = (i + 1 < argc) ? argv[i + 1] : NULL;

        if (NULL == word) {
            return refuse(name, "wants a value");
        }
        if (0 == strcmp(name, "--dist")) {
            plan->dist = word;
        } else if (0 == strcmp(name, "--total")) {
            plan->total = strtoul(word, NULL, 10);
        } else if (0 == strcmp(name, "--ranks")) {
            plan->ranks = atoi(word);
        } else if (0 == strcmp(name, "--block")) {
            plan->block = strtoul(word, NULL, 10);
        } else if (0 == strcmp(name, "--rate")) {
            plan->rate = strtod(word, NULL);
        } else if (0 == strcmp(name, "--alpha")) {
            plan->alpha = strtod(word, NULL);
        } else if (0 == strcmp(name, "--link")) {
            plan->link = word;
        } else {
            return refuse(name, "is not one of --dist NAME, --total BYTES, --ranks P, --block BYTES, "
                                "--rate BYTES/S, --alpha SECONDS (of a block), --link tcp or plain "
                                "(without headers)");
        }
    }
    return 0;
}

static int check(const plan_t *plan)
{
    if (0 != strcmp(plan->link, "tcp") && 0 != strcmp(plan->link, "plain")) {
        return refuse("--link", "tcp or plain is meant");
    }
    if (1 > plan->ranks || 1 > plan->total || 0.0 >= plan->rate) {
        return refuse("--total, --ranks, --rate", "positive numbers are meant");
    }
    return 0;
}

int main(int argc, char **argv)
{
    plan_t plan = {.link = "tcp", .dist = "regular", .total = 1048576,
                   .ranks = 8, .rate = 12500000.0, .alpha = 1e-5};
    int code = parse(&plan, argc, argv);

    code = 0 == code ? check(&plan) : code;
    if (0 != code) {
        return code;
    }
    if (!create(&plan)) {
        code = refuse(plan.dist, "no such distribution, or no memory for so many ranks");
    } else {
        report(&plan);
    }
    destroy(&plan);
    return code;
}
