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
 * Model: modelled times against a simulation with real times, rounds against
 * the ring round by round, equation (2) against its formula.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "dist.h"
#include "ref.h"
#include "sim.h"
#include "tap.h"

#define NODES MCA_COLL_PIPERING_ORDER_NODES
#define EMPTIES MCA_COLL_PIPERING_ORDER_EMPTIES
#define MOST 64
#define COSTS 4

/* A fast network, a slow one with packets, one whose latency counts, and memory as fast as the
 * net. */
static const mca_coll_pipering_cost_t costs[COSTS] = {
    {.net = {1.5e-6, 1e-10, 0}, .local = {0.4e-6, 1e-10, 0}},
    {.net = {25e-6, 8e-9, 5e-6, 32, 1448, 66}, .local = {0.5e-6, 2e-10, 0.3e-6}},
    {.net = {0.5e-6, 4e-11, 8e-6}, .local = {0.3e-6, 1e-10, 0.2e-6}},
    {.net = {2e-6, 2e-10, 1e-6}, .local = {1e-6, 3e-10, 1e-6}}};

/* A problem, its plan for one block size, what the model and what the simulator says. */
typedef struct instance_t {
    int p;
    int node_of[MOST];
    size_t bytes[MOST];
    uint64_t blocks[MOST];
    size_t block_size;
    sim_plan_t plan;
    void *scratch;
    mca_coll_pipering_problem_t problem;
} instance_t;

static void open_instance(instance_t *in, size_t block_size, unsigned flags,
                          const mca_coll_pipering_cost_t *cost)
{
    in->block_size = block_size;
    for (int r = 0; r < in->p; r++) {
        in->blocks[r] = mca_coll_pipering_blocks(in->bytes[r], block_size);
    }
    sim_plan(&in->plan, in->p, in->node_of, in->blocks, flags);
    in->scratch = tap_memory(mca_coll_pipering_model_scratch(in->p));
    tap_garbage(in->scratch, mca_coll_pipering_model_scratch(in->p));
    in->problem = (mca_coll_pipering_problem_t){.ring = &in->plan.ring,
                                                .bytes = in->bytes,
                                                .cost = *cost,
                                                .scratch = in->scratch};
}

static void close_instance(instance_t *in)
{
    free(in->scratch);
    sim_plan_free(&in->plan);
}

static double simulated(const instance_t *in)
{
    return sim_gather(&in->plan, in->bytes, in->block_size, in->problem.cost, 0);
}

static void fill_nodes(instance_t *in, int per_node)
{
    for (int r = 0; r < in->p; r++) {
        in->node_of[r] = r / per_node;
    }
}

/* ---- times ---- */

/* Blocks of any size take as long as the least that is said of a call, or longer. */
static void test_least(void)
{
    tap_tally_t tally = {0, 0}, close = {0, 0};
    instance_t in;

    for (int i = 0; i < 2000; i++) {
        const size_t most = 1 + tap_below(tap_once_in(2) ? 200000 : 2000);
        in.p = tap_between(2, 24);
        fill_nodes(&in, tap_between(1, 3));
        for (int r = 0; r < in.p; r++) {
            in.bytes[r] = tap_once_in(4) ? 0 : 1 + tap_below(tap_once_in(8) ? 8 * most : most);
        }
        in.bytes[tap_below((uint64_t) in.p)] = most;
        mca_coll_pipering_cost_t cost = costs[i % COSTS];
        cost.net.eager = tap_once_in(2) ? 0 : 1 + (double) tap_below(40000);
        cost.net.handshake = tap_once_in(2) ? 0 : 5e-5;
        cost.crowd = tap_once_in(2) ? 0 : tap_between(1, 4);
        open_instance(&in, most, NODES, &cost);
        in.problem.reduces = tap_once_in(3);
        in.problem.combine = in.problem.reduces ? 1e-9 * (double) tap_below(3) : 0;
        const double least = mca_coll_pipering_least_time(&in.problem, HUGE_VAL);
        const size_t chosen = mca_coll_pipering_search(&in.problem);
        const size_t size = tap_once_in(2) ? chosen : 1 + tap_below(2 * most);
        const double time = mca_coll_pipering_time(&in.problem, size);
        tap_try(&tally, least <= time * (1 + 1e-9), "cost %d, %d ranks, %d nodes, B %zu: %g, at least %g",
                i % COSTS, in.p, in.plan.ring.nodes, size, time, least);
        tap_try(&close, mca_coll_pipering_least_time(&in.problem, 0) <= least, "%d ranks", in.p);
        close_instance(&in);
    }
    tally_ok(&tally, 2000, "no blocks take less than the least that is said of a call");
    tally_ok(&close, 2000, "nor is more said where that is enough");
}

typedef struct spread_t {
    double least;
    double most;
} spread_t;

/* Model against simulation at one point of the grid. */
static void try_time(tap_tally_t *tally, spread_t *spread, instance_t *in, size_t block_size,
                     int cost, double tolerance, const char *name)
{
    double model, real;

    for (int placed = 0; placed < 2; placed++) {
        open_instance(in, block_size, NODES | (placed ? EMPTIES : 0), &costs[cost]);
        model = mca_coll_pipering_time(&in->problem, block_size);
        real = simulated(in);
        tap_try(tally, fabs(model - real) <= tolerance * real,
                "%s, p %d, %d nodes, cost %d, B %zu, flags %d: model %g, simulated %g, %s", name,
                in->p, in->plan.ring.nodes, cost, block_size, placed, model, real,
                ref_show(in->blocks, in->p));
        spread->least = fmin(spread->least, model / real);
        spread->most = fmax(spread->most, model / real);
        close_instance(in);
    }
}

/* Block sizes that give at most so many blocks, the chosen one among them. */
static void try_sizes(tap_tally_t *tally, spread_t *spread, instance_t *in, int cost,
                      double tolerance, const char *name)
{
    size_t largest = 1, total = 0, chosen;

    for (int r = 0; r < in->p; r++) {
        largest = in->bytes[r] > largest ? in->bytes[r] : largest;
        total += in->bytes[r];
    }
    for (size_t size = 1024; size < largest; size *= 4) {
        if (total / size < 3000) {
            try_time(tally, spread, in, size, cost, tolerance, name);
        }
    }
    try_time(tally, spread, in, largest, cost, tolerance, name);
    open_instance(in, largest, NODES, &costs[cost]);
    chosen = mca_coll_pipering_search(&in->problem);
    close_instance(in);
    if (total / chosen < 6000) {
        try_time(tally, spread, in, chosen, cost, tolerance, name);
    }
}

static void test_times(int per_node, double tolerance, const char *name)
{
    static const int sizes[] = {2, 3, 8, 17, 64};
    tap_tally_t tally = {0, 0};
    spread_t spread = {1, 1};
    instance_t in;

    for (int i = 0; i < 5; i++) {
        in.p = sizes[i];
        fill_nodes(&in, per_node);
        for (dist_t dist = 0; dist < DIST_COUNT && per_node < in.p; dist++) {
            for (size_t c = 1024; c <= (size_t) 16 << 20; c *= 16) {
                dist_fill(dist, c, in.p, in.bytes);
                for (int cost = 0; cost < COSTS; cost++) {
                    try_sizes(&tally, &spread, &in, cost, tolerance, dist_names[dist]);
                }
            }
        }
    }
    tally_ok(&tally, 500, "%s: modelled time within %.0f%% of the simulation", name,
             100 * tolerance);
    printf("# %s: model / simulation %.3f .. %.3f\n", name, spread.least, spread.most);
}

/* ---- rounds ---- */

static void test_rounds(void)
{
    tap_tally_t tally = {0, 0};
    instance_t in;

    for (int i = 0; i < 2000; i++) {
        const size_t size = 1 + tap_below(10);
        uint64_t members[MOST] = {0}, rounds;

        in.p = tap_between(1, 16);
        fill_nodes(&in, tap_once_in(2) ? 1 : tap_between(1, in.p));
        for (int r = 0; r < in.p; r++) {
            in.bytes[r] = tap_once_in(2) ? 0 : tap_below(50);
        }
        open_instance(&in, size, NODES | (tap_once_in(2) ? EMPTIES : 0), &costs[0]);
        for (int x = 0; x < in.p; x++) {
            members[1 < in.plan.ring.nodes ? in.plan.ring.node[x] : x]
                += in.blocks[in.plan.ring.rank[x]];
        }
        rounds = ref_rounds(members, 1 < in.plan.ring.nodes ? in.plan.ring.nodes : in.p);
        tap_try(&tally, rounds == mca_coll_pipering_model_rounds(&in.problem, size),
                "%d nodes, %s, B %zu: %" PRIu64 " rounds, simulated %" PRIu64, in.plan.ring.nodes,
                ref_show(in.blocks, in.p), size,
                mca_coll_pipering_model_rounds(&in.problem, size), rounds);
        close_instance(&in);
    }
    tally_ok(&tally, 2000, "the model's rounds are those of its members' ring");
}

/* ---- equation (2) ---- */

static double equation2(const instance_t *in)
{
    double p = in->p, z = 0, m = 0, least = HUGE_VAL, below;

    for (int r = 0; r < in->p; r++) {
        z += 0 == in->bytes[r];
        m += (double) in->bytes[r];
        least = fmin(least, (double) in->bytes[r]);
    }
    if (0 == z) {
        below = (p - 1) / 2;
        m -= least;
    } else {
        below = (p - z) / 2 - 1 + ceil(z / (p - z));
    }
    return sqrt(m * in->problem.cost.net.alpha / in->problem.cost.net.beta / below);
}

static void test_equation2(void)
{
    tap_tally_t tally = {0, 0};
    instance_t in;

    for (int i = 0; i < 2000; i++) {
        in.p = tap_between(2, MOST);
        fill_nodes(&in, 1);
        for (int r = 0; r < in.p; r++) {
            in.bytes[r] = tap_once_in(2) && 0 == i % 2 ? 0 : 1 + tap_below(1 << (i % 24));
        }
        in.bytes[0] = 4 + tap_below(1 << (i % 24));
        in.bytes[1] = 0 == i % 2 ? 0 : in.bytes[0] / 2 + 1; /* never regular */
        open_instance(&in, 1, NODES, &costs[i % COSTS]);
        size_t largest = 0, size = mca_coll_pipering_equation2(&in.problem);
        for (int r = 0; r < in.p; r++) {
            largest = in.bytes[r] > largest ? in.bytes[r] : largest;
        }
        const double wanted = fmin(fmax(equation2(&in), 1), (double) largest);
        tap_try(&tally, 1 <= size && size <= largest && fabs((double) size - wanted) <= 1,
                "p %d: B %zu, formula %g", in.p, size, wanted);
        close_instance(&in);
    }
    tally_ok(&tally, 2000, "equation (2) is its formula, corrected");
}

static void test_equation2_edges(void)
{
    instance_t in = {.p = 2, .node_of = {0, 1}, .bytes = {100000000, 100000000}};

    open_instance(&in, 1, NODES, &costs[0]);
    is(mca_coll_pipering_equation2(&in.problem), 100000000, "regular: B is m'");
    in.bytes[0] = in.bytes[1] = 0;
    is(mca_coll_pipering_equation2(&in.problem), 1, "nothing to send: B is 1");
    is(mca_coll_pipering_search(&in.problem), 1, "nothing to send: the search finds 1");
    ok(0 == mca_coll_pipering_time(&in.problem, 1), "nothing to send takes no time");
    is(mca_coll_pipering_model_rounds(&in.problem, 1), 0, "nothing to send takes no round");
    close_instance(&in);
}

/* One block over one link: a byte more than a packet holds costs nearly all of a frame. */
static void test_packets(void)
{
    const mca_coll_pipering_cost_t cost = {
        .net = {.beta = 1e-9, .envelope = 32, .packet = 1448, .frame = 66}};
    const double full = 3 * 1448 - 32;
    instance_t in = {.p = 2, .node_of = {0, 1}, .bytes = {0, 3 * 1448 - 32}};

    open_instance(&in, 1 << 20, NODES, &cost);
    const double fits = mca_coll_pipering_time(&in.problem, 1 << 20);
    ok(fabs(fits - 1e-9 * (full + 32)) < 1e-15, "a block that fills its packets: its bytes");
    is(mca_coll_pipering_search(&in.problem), 3 * 1448 - 32, "it stays whole");
    close_instance(&in);

    in.bytes[1] = 3 * 1448 - 31;
    open_instance(&in, 1 << 20, NODES, &cost);
    const double more = mca_coll_pipering_time(&in.problem, 1 << 20) - fits;
    ok(fabs(more - 1e-9 * (1 + 66 * (1 - 1.0 / 1448))) < 1e-15, "a byte more: a frame more");
    close_instance(&in);
}

/* Handling and sending that overlap: the norm of exponent 3/2, by the library's functions. */
static void test_norm(void)
{
    const mca_coll_pipering_link_cost_t link = {.overlap = true};
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 10000; i++) {
        const double handled = 1e-6 * (double) tap_below(1000);
        const double sent = ldexp(1e-6 * (double) tap_below(1000), tap_below(21) - 10);
        const double expected = pow(pow(handled, 1.5) + pow(sent, 1.5), 2.0 / 3);
        const double found = mca_coll_pipering_link_time(&link, handled, sent);
        tap_try(&tally, fabs(found - expected) <= 1e-8 * expected, "%g, %g: %g, expected %g",
                handled, sent, found, expected);
    }
    tally_ok(&tally, 10000, "handling overlaps sending as stated");
}

int main(void)
{
    tap_start();
    test_norm();
    test_rounds();
    test_equation2();
    test_equation2_edges();
    test_packets();
    test_least();
    test_times(1, 0.15, "a rank a node");
    test_times(4, 0.25, "four ranks a node"); /* links inside a node are modelled roughly */
    return tap_end();
}
