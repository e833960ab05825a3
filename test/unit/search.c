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
 * Search: the block size that is found is within 5 % of the best in the model,
 * close to the best in a simulation, and never worse than the linear ring.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "dist.h"
#include "sim.h"
#include "tap.h"

#define NODES MCA_COLL_PIPERING_ORDER_NODES
#define EMPTIES MCA_COLL_PIPERING_ORDER_EMPTIES
#define COSTS 4
#define STEP 1.03 /* of the dense sweep */

static const mca_coll_pipering_cost_t costs[COSTS] = {
    {.net = {1.5e-6, 1e-10, 0}, .local = {0.4e-6, 1e-10, 0}},
    {.net = {25e-6, 8e-9, 5e-6, 32, 1448, 66}, .local = {0.5e-6, 2e-10, 0.3e-6}},
    {.net = {0.3e-6, 4e-11, 2e-6}, .local = {0.3e-6, 1e-10, 0.2e-6}},
    {.net = {50e-6, 1e-10, 0}, .local = {1e-6, 3e-10, 1e-6}}};

typedef struct instance_t {
    int p;
    int cost;
    const char *name;
    int *node_of;
    size_t *bytes;
    uint64_t *blocks;
    size_t largest;
    double least; /* bytes that the busiest link carries at least */
    sim_plan_t plan;
    void *scratch;
    mca_coll_pipering_problem_t problem;
} instance_t;

static void fill_instance(instance_t *in, dist_t dist, size_t c, int per_node)
{
    double total = 0;

    in->name = dist_names[dist];
    in->node_of = tap_memory((size_t) in->p * sizeof(*in->node_of));
    in->bytes = tap_memory((size_t) in->p * sizeof(*in->bytes));
    in->blocks = tap_memory((size_t) in->p * sizeof(*in->blocks));
    in->largest = 0;
    dist_fill(dist, c, in->p, in->bytes);
    for (int r = 0; r < in->p; r++) {
        in->node_of[r] = r / per_node;
        in->largest = in->bytes[r] > in->largest ? in->bytes[r] : in->largest;
        total += (double) in->bytes[r];
    }
    in->largest = 0 == in->largest ? 1 : in->largest;
    in->least = total / 2; /* of two links out of different nodes one carries half */
}

static void open_instance(instance_t *in, dist_t dist, size_t c, int per_node, unsigned flags)
{
    const size_t size = 1 + c / 16;

    fill_instance(in, dist, c, per_node);
    for (int r = 0; r < in->p; r++) {
        in->blocks[r] = mca_coll_pipering_blocks(in->bytes[r], size);
    }
    sim_plan(&in->plan, in->p, in->node_of, in->blocks, flags);
    in->scratch = tap_memory(mca_coll_pipering_model_scratch(in->p));
    in->problem = (mca_coll_pipering_problem_t){.ring = &in->plan.ring,
                                                .bytes = in->bytes,
                                                .cost = costs[in->cost],
                                                .scratch = in->scratch};
}

static void close_instance(instance_t *in)
{
    free(in->scratch);
    sim_plan_free(&in->plan);
    free(in->blocks);
    free(in->bytes);
    free(in->node_of);
}

/* ---- in the model ---- */

typedef struct choice_t {
    size_t size;
    double time;
} choice_t;

static void consider(const instance_t *in, choice_t *best, size_t size)
{
    const double time = mca_coll_pipering_time(&in->problem, size);

    if (time < best->time) {
        best->size = size;
        best->time = time;
    }
}

/* All sizes up to 300, then a dense grid, shares of the largest, and around the best. */
static choice_t sweep(const instance_t *in)
{
    const double alpha = fmin(in->problem.cost.net.alpha, in->problem.cost.local.alpha);
    choice_t best = {0, HUGE_VAL};

    for (size_t k = 1; k <= (in->p <= 64 ? 200 : 80) && k <= in->largest; k++) {
        consider(in, &best, mca_coll_pipering_blocks(in->largest, k));
    }
    for (double size = (double) in->largest; 1 <= size; size /= STEP) {
        if (in->least / size * alpha > best.time) {
            break; /* so many blocks take longer whatever else */
        }
        consider(in, &best, (size_t) size);
    }
    for (size_t size = 1; size <= 300 && size <= in->largest && in->p <= 64; size++) {
        consider(in, &best, size);
    }
    for (int i = -20; i <= 20; i++) {
        const double size = (double) best.size * (1 + i / 1000.0);

        if (1 <= size && size <= (double) in->largest) {
            consider(in, &best, (size_t) size);
        }
    }
    return best;
}

static void try_search(tap_tally_t *tally, double *worst, instance_t *in, size_t c)
{
    const size_t size = mca_coll_pipering_search(&in->problem);
    const double time = mca_coll_pipering_time(&in->problem, size);
    const choice_t best = sweep(in);

    tap_try(tally, 1 <= size && size <= in->largest && time <= 1.05 * best.time,
            "%s, p %d, %d nodes, c %zu, cost %d: B %zu takes %g, best B %zu takes %g", in->name,
            in->p, in->plan.ring.nodes, c, in->cost, size, time, best.size, best.time);
    *worst = 0 < best.time ? fmax(*worst, time / best.time) : *worst;
}

static void test_model(const int *sizes, int count, int per_node, size_t factor, const char *name)
{
    tap_tally_t tally = {0, 0};
    double worst = 1;
    instance_t in;

    for (int i = 0; i < count; i++) {
        for (dist_t dist = 0; dist < DIST_COUNT; dist++) {
            for (size_t c = 1024; c <= (size_t) 64 << 20; c *= factor) {
                for (in.cost = 0; in.cost < COSTS; in.cost += 1000 < sizes[i] ? 2 : 1) {
                    in.p = sizes[i];
                    open_instance(&in, dist, c, per_node,
                                  NODES | (0 == in.cost % 2 ? EMPTIES : 0));
                    try_search(&tally, &worst, &in, c);
                    close_instance(&in);
                }
            }
        }
    }
    tally_ok(&tally, 50, "%s: within 5%% of the best block size in the model", name);
    printf("# %s: worst %.3f of the best\n", name, worst);
}

/* ---- in the simulation ---- */

/* The simulated time with this block size, the ring as it is. */
static double simulated(const instance_t *in, size_t size)
{
    return sim_gather(&in->plan, in->bytes, size, in->problem.cost, 0);
}

static void try_simulated(tap_tally_t *tally, double *worst, instance_t *in, size_t c,
                          double factor)
{
    const size_t chosen = mca_coll_pipering_search(&in->problem);
    double best = HUGE_VAL, time = simulated(in, chosen);
    size_t best_size = 0;

    for (double size = (double) in->largest; 1 <= size; size /= 1.3) {
        double other;

        if (4 * in->least / size > 3000) {
            break;
        }
        other = simulated(in, (size_t) size);
        best_size = other < best ? (size_t) size : best_size;
        best = fmin(best, other);
    }
    tap_try(tally, time <= factor * best,
            "%s, p %d, %d nodes, c %zu, cost %d: B %zu takes %g simulated, B %zu takes %g",
            in->name, in->p, in->plan.ring.nodes, c, in->cost, chosen, time, best_size, best);
    *worst = fmax(*worst, time / best);
}

static void test_simulated(int per_node, double factor, const char *name)
{
    static const int sizes[] = {2, 3, 8, 16, 30};
    tap_tally_t tally = {0, 0};
    double worst = 1;
    instance_t in;

    for (int i = 0; i < 5; i++) {
        for (dist_t dist = 0; dist < DIST_COUNT; dist++) {
            for (size_t c = 4096; c <= (size_t) 4 << 20; c *= 32) {
                for (in.cost = 0; in.cost < COSTS; in.cost++) {
                    in.p = sizes[i];
                    open_instance(&in, dist, c, per_node, NODES | EMPTIES);
                    try_simulated(&tally, &worst, &in, c, factor);
                    close_instance(&in);
                }
            }
        }
    }
    tally_ok(&tally, 500, "%s: within %.0f%% of the best block size in the simulation", name,
             100 * (factor - 1));
    printf("# %s: worst %.3f of the best in the simulation\n", name, worst);
}

/* ---- guidelines ---- */

/* (p - 1) rounds of the largest contribution. */
static double linear_ring(const instance_t *in)
{
    const mca_coll_pipering_link_cost_t *net = &in->problem.cost.net;
    const double length = (double) in->largest + net->envelope;
    const double tail = 0 < net->packet ? fmod(length, net->packet) : 0;
    const double frame = 0 < tail ? net->frame * (1 - tail / net->packet) : 0;

    return (in->p - 1) * (net->alpha + net->beta * (length + frame) + net->latency);
}

static void test_guidelines(void)
{
    tap_tally_t linear = {0, 0}, limit = {0, 0};
    instance_t in;

    for (in.p = 2; in.p <= 100; in.p += 1 + in.p / 4) {
        for (dist_t dist = 0; dist < DIST_COUNT; dist++) {
            for (size_t c = 64; c <= (size_t) 64 << 20; c *= 8) {
                double time;

                in.cost = in.p % COSTS;
                open_instance(&in, dist, c, 1, NODES | EMPTIES);
                time = mca_coll_pipering_time(&in.problem,
                                              mca_coll_pipering_search(&in.problem));
                tap_try(&linear, time <= linear_ring(&in) * (1 + 1e-9),
                        "%s, p %d, c %zu, cost %d: %g, linear ring %g", in.name, in.p, c, in.cost,
                        time, linear_ring(&in));
                tap_try(&limit,
                        (0 == in.least
                         || time >= (in.p - 1) * in.problem.cost.net.alpha * (1 - 1e-9))
                            && time >= in.least * in.problem.cost.net.beta * (1 - 1e-9),
                        "%s, p %d, c %zu, cost %d: %g", in.name, in.p, c, in.cost, time);
                close_instance(&in);
            }
        }
    }
    tally_ok(&linear, 500, "never slower than the linear ring");
    tally_ok(&limit, 500, "never faster than a block on all hops, or half of the bytes on one");
}

int main(void)
{
    static const int small[] = {2, 3, 5, 8, 16, 30, 64}, medium[] = {96, 256, 1000};
    static const int large[] = {4096};

    tap_start();
    test_guidelines();
    test_model(small, 7, 1, 4, "up to 64 ranks");
    test_model(medium, 3, 1, 16, "up to 1000 ranks");
    test_model(large, 1, 1, 64, "4096 ranks");
    test_model(small + 3, 4, 4, 16, "four ranks a node");
    test_simulated(1, 1.05, "a rank a node");
    test_simulated(4, 1.10, "four ranks a node");
    return tap_end();
}
