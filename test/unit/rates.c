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
 * Rates: how they are kept, and whether calls that learn from them come to block sizes
 * that are nearly the best, on networks that the component has never heard of.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "tap.h"

/* ---- how rates are kept ---- */

static void test_classes(void)
{
    bool grows = true;

    is(mca_coll_pipering_rate_class(1), 0, "a byte is of the first class");
    is(mca_coll_pipering_rate_class(8000), 3, "what is less than 8 KiB with its headers is of one");
    is(mca_coll_pipering_rate_class(8192), 4, "8 KiB are of the next");
    is(mca_coll_pipering_rate_class((size_t) 1 << 40), MCA_COLL_PIPERING_RATES - 1,
       "there is a last class");
    for (size_t size = 1; size < (size_t) 8 << 20; size += 1 + size / 50) {
        grows &= mca_coll_pipering_rate_class(size) <= mca_coll_pipering_rate_class(size + 1);
    }
    ok(grows, "larger blocks are of no lower class");
}

static mca_coll_pipering_rates_t random_rates(void)
{
    mca_coll_pipering_rates_t rates;

    memset(&rates, 0, sizeof(rates));
    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        if (tap_once_in(2)) {
            rates.of[i].seconds = 1e-9f * (float) tap_between(1, 4);
            rates.of[i].bytes = (float) tap_between(1, 3);
            rates.of[i].length = (float) tap_between(1, 2);
        }
    }
    return rates;
}

static mca_coll_pipering_rates_t merged(mca_coll_pipering_rates_t a, mca_coll_pipering_rates_t b)
{
    mca_coll_pipering_rates_merge(&a, &b);
    return a;
}

static bool same(mca_coll_pipering_rates_t a, mca_coll_pipering_rates_t b)
{
    return 0 == memcmp(&a, &b, sizeof(a));
}

/* An agreement merges contributions in any order, and some of them more than once. */
static void test_merging(void)
{
    bool idempotent = true, commutes = true, associates = true;

    for (int i = 0; i < 20000; ++i) {
        const mca_coll_pipering_rates_t a = random_rates(), b = random_rates(), c = random_rates();
        idempotent &= same(merged(a, a), a) && same(merged(merged(a, b), b), merged(a, b));
        commutes &= same(merged(a, b), merged(b, a));
        associates &= same(merged(merged(a, b), c), merged(a, merged(b, c)));
    }
    ok(idempotent, "merging twice is merging once");
    ok(commutes, "the order of two ranks does not matter");
    ok(associates, "nor does that of three");
}

static void test_adding(void)
{
    mca_coll_pipering_rates_t rates;
    const mca_coll_pipering_rate_t *rate = &rates.of[mca_coll_pipering_rate_class(5000)];

    memset(&rates, 0, sizeof(rates));
    ok(!mca_coll_pipering_rates_known(&rates), "at first nothing is known");
    mca_coll_pipering_rates_add(&rates, 5000, 0, 0);
    ok(!mca_coll_pipering_rates_known(&rates), "a stream that shows nothing teaches nothing");
    mca_coll_pipering_rates_add(&rates, 5000, 9e-9, 1e6);
    ok(mca_coll_pipering_rates_known(&rates) && 9e-9f == rate->seconds, "a first rate counts");
    mca_coll_pipering_rates_add(&rates, 5000, 8.4e-9, 1e6);
    ok(8.4e-9f < rate->seconds && 9e-9f > rate->seconds, "one that is nearly the same counts a part");
    mca_coll_pipering_rates_add(&rates, 5000, 7e-9, 1e6);
    ok(7e-9f == rate->seconds, "a much lower one does");
    mca_coll_pipering_rates_add(&rates, 5000, 9e-9, 1e6);
    ok(7e-9f == rate->seconds, "a higher one is noise");
    mca_coll_pipering_rates_add(&rates, 5000, 1e-9, 1e5);
    ok(7e-9f == rate->seconds, "that of a much shorter stream is no better");
    mca_coll_pipering_rates_add(&rates, 5000, 10e-9, 1e7);
    ok(10e-9f == rate->seconds, "that of a much longer one is");
    for (int i = 0; i < 4; ++i) {
        mca_coll_pipering_rates_add(&rates, 5000, 40e-9, 1e7);
    }
    ok(25e-9f < rate->seconds, "a first rate that was far too low is forgotten");
}

/* A call of many tiny contributions shows nothing of bytes. */
static void test_short(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 1000; ++i) {
        const double load = exp2((double) tap_between(0, 3));
        const double alpha = load * exp2((double) tap_between(-18, -15));
        const double beta = exp2((double) tap_between(-31, -29));
        const double length = (double) tap_between(20, 500);
        mca_coll_pipering_rates_t rates;

        memset(&rates, 0, sizeof(rates));
        mca_coll_pipering_rates_add(&rates, length, alpha / length + beta, 1e5);
        const mca_coll_pipering_link_cost_t cost = mca_coll_pipering_rates_cost(&rates, load);
        const double seen = alpha + beta * length, time = alpha + 32768 * beta;
        const double modelled = cost.alpha + 32768 * cost.beta;
        tap_try(&tally,
                fabs(cost.alpha + cost.beta * length - seen) < 0.01 * seen && modelled < 16 * time,
                "load %g, alpha %g, beta %g, blocks of %g: alpha %g, beta %g", load, alpha, beta,
                length, cost.alpha, cost.beta);
    }
    tally_ok(&tally, 1000, "blocks of a few bytes do not make bytes dear");
}

/* Short blocks that cost as much a byte as long ones, on loaded nodes. */
static void test_long_beside_short(void)
{
    mca_coll_pipering_rates_t rates;

    memset(&rates, 0, sizeof(rates));
    mca_coll_pipering_rates_add(&rates, 1500, 88e-9, 5e4);
    ok(44e-9 > mca_coll_pipering_rates_cost(&rates, 4).beta,
       "what short blocks cost is mostly the handling");
    mca_coll_pipering_rates_add(&rates, 12000, 90e-9, 5e4);
    const mca_coll_pipering_link_cost_t cost = mca_coll_pipering_rates_cost(&rates, 4);
    ok(88e-9 < cost.beta && 90e-9 > cost.beta,
       "unless long ones cost as much a byte: then bytes do");
}

/* ---- learning ---- */

#define RANKS 16

typedef struct {
    int ranks;
    size_t bytes[RANKS];
    mca_coll_pipering_ring_t ring;
    char memory[8192], scratch[8192];
} call_t;

static void make_call(call_t *call, size_t total)
{
    int node_of[RANKS];
    uint64_t blocks[RANKS];
    char scratch[8192];
    const int kind = (int) tap_below(3);

    call->ranks = (int) tap_between(3, RANKS);
    for (int r = 0; r < call->ranks; ++r) {
        node_of[r] = r;
        blocks[r] = 1;
        call->bytes[r] = 0 == kind   ? total / (size_t) call->ranks
                         : 1 == kind ? (0 == r ? total : 0)
                                     : 2 * total * (size_t) (call->ranks - r)
                                           / (size_t) (call->ranks * (call->ranks + 1));
    }
    mca_coll_pipering_ring_bind(&call->ring, call->ranks, call->memory);
    mca_coll_pipering_order(&call->ring, node_of, blocks, 0, scratch);
}

static mca_coll_pipering_problem_t problem_of(call_t *call, mca_coll_pipering_link_cost_t net)
{
    return (mca_coll_pipering_problem_t){.ring = &call->ring,
                                         .bytes = call->bytes,
                                         .cost = {.net = net, .local = net},
                                         .scratch = call->scratch};
}

/* A network: 100 Mbit/s to 200 Gbit/s, asking from a size on that nobody tells. */
static mca_coll_pipering_link_cost_t make_network(void)
{
    const double beta = 83e-9 * pow(10, -(double) tap_below(34) / 10);
    const double alpha = 90e-6 * pow(beta / 83e-9, 0.4) * pow(2, (double) tap_between(0, 40) / 20 - 1);
    mca_coll_pipering_link_cost_t net = {.alpha = alpha,
                                         .gap = alpha / 4,
                                         .latency = alpha,
                                         .beta = beta,
                                         .envelope = 32,
                                         .overlap = true};

    if (!tap_once_in(3)) {
        net.eager = ldexp(1024, tap_between(2, 8)) - 64;
        net.eager *= tap_once_in(3) ? 1 + (double) tap_below(100) / 100 : 1;
        net.handshake = alpha * (double) tap_between(2, 40);
    }
    return net;
}

static double count_blocks(const call_t *call, size_t block)
{
    double blocks = 0;

    for (int r = 0; r < call->ranks; ++r) {
        blocks += (double) mca_coll_pipering_blocks(call->bytes[r], block);
    }
    return blocks;
}

/* The call as it comes, the number-th: what it takes, and what it teaches. */
static double run_call(call_t *call, const mca_coll_pipering_link_cost_t *net,
                       mca_coll_pipering_rates_t *rates, int number, unsigned *lessons)
{
    const mca_coll_pipering_problem_t belief
        = problem_of(call, mca_coll_pipering_rates_cost(rates, 1));
    const mca_coll_pipering_problem_t truth = problem_of(call, *net);
    size_t block = mca_coll_pipering_search(&belief);
    double bytes = 0;

    for (int r = 0; r < call->ranks; ++r) {
        bytes += (double) call->bytes[r];
    }
    if (0 == (number & (number - 1))) {
        block = mca_coll_pipering_rates_vary(rates, block,
                                             (size_t) (bytes / count_blocks(call, block)),
                                             (size_t) bytes, (*lessons)++);
        const double blocks = count_blocks(call, block);
        const double noise = 1 + (double) tap_below(5) / 100;
        const double seconds = mca_coll_pipering_stream_time(net, blocks, bytes) / bytes;
        if (6 <= blocks) {
            mca_coll_pipering_rates_add(rates, bytes / blocks, noise * seconds, bytes);
        }
    }
    return mca_coll_pipering_time(&truth, block);
}

static double best_time(call_t *call, const mca_coll_pipering_link_cost_t *net)
{
    const mca_coll_pipering_problem_t truth = problem_of(call, *net);
    return mca_coll_pipering_time(&truth, mca_coll_pipering_search(&truth));
}

#define NETWORKS 1500
#define CALLS 65

static void test_learning(void)
{
    static double last[NETWORKS], whole[NETWORKS];
    static call_t call;
    double first = 0;

    for (int i = 0; i < NETWORKS; ++i) {
        const mca_coll_pipering_link_cost_t net = make_network();
        mca_coll_pipering_rates_t rates;
        unsigned lessons = 0;
        double sum = 0;

        memset(&rates, 0, sizeof(rates));
        make_call(&call, (size_t) 65536 << tap_below(8));
        const double best = best_time(&call, &net);
        for (int k = 1; k <= CALLS; ++k) {
            last[i] = run_call(&call, &net, &rates, k, &lessons) / best;
            sum += last[i];
            first += 1 == k ? last[i] / NETWORKS : 0;
        }
        whole[i] = sum / CALLS;
    }
    tap_sort(last, NETWORKS);
    tap_sort(whole, NETWORKS);
    printf("# time over the best: the first call %.2f; after %d calls median %.3f, of 19 in 20 "
           "%.3f, worst %.3f; over all calls %.3f, %.3f, %.3f\n",
           first, CALLS, last[NETWORKS / 2], last[NETWORKS * 19 / 20], last[NETWORKS - 1],
           whole[NETWORKS / 2], whole[NETWORKS * 19 / 20], whole[NETWORKS - 1]);
    ok(1.02 >= last[NETWORKS / 2], "half of all calls come within 2%% of the best block size");
    ok(2 >= last[NETWORKS * 19 / 20], "19 in 20 are within twice that, however much asking costs");
    ok(1.2 >= whole[NETWORKS / 2], "what half of them try on the way costs less than 20%%");
    ok(first > last[NETWORKS * 19 / 20], "to know nothing would cost more on average");
}

int main(void)
{
    tap_start();
    test_classes();
    test_merging();
    test_adding();
    test_short();
    test_long_beside_short();
    test_learning();
    return tap_end();
}
