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
 * The modules below: which algorithm they choose, on both sides of their decisions' edges; what
 * it takes, by formulas of textbooks and a recurrence of the ring; and how this depends on costs.
 * test/mpi/below.t counts the messages of the real modules.
 */

#include "coll_pipering_plan_below.h"
#include "tap.h"

#include <math.h>
#include <string.h>

#define MOST 128

typedef mca_coll_pipering_below_call_t call_t;
typedef mca_coll_pipering_below_time_t time_of_t;
typedef mca_coll_pipering_collective_t collective_t;

#define ALLGATHERV MCA_COLL_PIPERING_ALLGATHERV
#define ALLGATHER MCA_COLL_PIPERING_ALLGATHER
#define BCAST MCA_COLL_PIPERING_BCAST
#define REDUCE MCA_COLL_PIPERING_REDUCE
#define SCAN MCA_COLL_PIPERING_SCAN
#define EXSCAN MCA_COLL_PIPERING_EXSCAN
#define ALLREDUCE MCA_COLL_PIPERING_ALLREDUCE

/* A call and the memory that it borrows. */
typedef struct {
    call_t call;
    mca_coll_pipering_cost_t cost;
    size_t bytes[MOST];
    int node_of[MOST], leaf_of[MOST];
} instance_t;

static const mca_coll_pipering_cost_t plain = {
    .net = {.alpha = 20e-6, .beta = 8e-9, .latency = 10e-6},
    .local = {.alpha = 1e-6, .beta = 0.2e-9, .latency = 0.5e-6}};

/* So many ranks on each node, in a row or in turn; the last node has what is left. */
static void pose(instance_t *in, int ranks, int ppn, bool in_turn)
{
    const int nodes = (ranks + ppn - 1) / ppn;

    memset(in, 0, sizeof(*in));
    in->cost = plain;
    for (int r = 0; r < ranks; r++) {
        in->node_of[r] = in_turn ? r % nodes : r / ppn * ppn;
    }
    in->call = (call_t) {.modules = MCA_COLL_PIPERING_BELOW_TUNED,
                         .collective = BCAST,
                         .ranks = ranks,
                         .nodes = nodes,
                         .ppn = ranks < ppn ? ranks : ppn,
                         .equal = 0 == ranks % ppn,
                         .unit = 1,
                         .node_of = in->node_of,
                         .cost = &in->cost,
                         .combine = 1e-9};
}

static time_of_t ask(instance_t *in)
{
    time_of_t time;

    in->call.cost = &in->cost;
    in->call.node_of = in->node_of;
    in->call.leaf_of = NULL == in->call.leaf_of ? NULL : in->leaf_of;
    in->call.bytes = NULL == in->call.bytes ? NULL : in->bytes;
    in->call.scratch = tap_memory(mca_coll_pipering_below_scratch(in->call.ranks));
    tap_garbage(in->call.scratch, mca_coll_pipering_below_scratch(in->call.ranks));
    time = mca_coll_pipering_below_time(&in->call);
    free(in->call.scratch);
    return time;
}

/* ---- decisions ---- */

/* Of a vector of so many bytes, or of blocks of so many. */
static void chosen(collective_t collective, bool ordered, int ranks, size_t bytes, size_t unit,
                   const char *expected)
{
    const bool gather = ALLGATHERV == collective || ALLGATHER == collective;
    instance_t in;

    pose(&in, ranks, 1, false);
    in.call.collective = collective;
    in.call.ordered = ordered;
    in.call.total = gather ? bytes * (size_t) ranks : bytes;
    in.call.unit = unit;
    const char *found = ask(&in).algorithm;
    ok(0 == strcmp(found, expected), "collective %d, %d ranks, %zu bytes%s: %s (%s)",
       (int) collective, ranks, bytes, ordered ? ", in order" : "", expected, found);
}

static void test_decisions(void)
{
    chosen(ALLGATHERV, false, 2, 2047, 1, "tuned: ring");
    chosen(ALLGATHERV, false, 2, 2048, 1, "tuned: two_proc");
    chosen(ALLGATHERV, false, 4, 255, 1, "tuned: default");
    chosen(ALLGATHERV, false, 4, 256, 1, "tuned: neighbor");
    chosen(ALLGATHERV, false, 5, 256, 1, "tuned: ring");
    chosen(ALLGATHERV, false, 7, 16384, 1, "tuned: bruck");
    chosen(ALLGATHERV, false, 8, 1023, 1, "tuned: default");
    chosen(ALLGATHERV, false, 8, 1024, 1, "tuned: bruck");
    chosen(ALLGATHERV, false, 8, 1 << 20, 1, "tuned: bruck");
    chosen(ALLGATHERV, false, 16, 262144, 1, "tuned: ring");
    chosen(ALLGATHERV, false, 63, 8191, 1, "tuned: bruck");
    chosen(ALLGATHERV, false, 64, 8191, 1, "tuned: ring");
    chosen(ALLGATHER, false, 2, 1, 1, "tuned: two_proc");
    chosen(ALLGATHER, false, 8, 1 << 20, 1, "tuned: recursive_doubling");
    chosen(ALLGATHER, false, 7, 1 << 20, 1, "tuned: bruck");
    chosen(ALLGATHER, false, 32, 65535, 1, "tuned: neighbor");
    chosen(ALLGATHER, false, 33, 65535, 1, "tuned: ring");
    chosen(ALLGATHER, false, 32, 65536, 1, "tuned: ring");
    chosen(BCAST, false, 3, 255, 1, "tuned: binary_tree");
    chosen(BCAST, false, 3, 262143, 1, "tuned: chain");
    chosen(BCAST, false, 7, 8192, 1, "tuned: basic_linear");
    chosen(BCAST, false, 7, 1 << 20, 1, "tuned: chain");
    chosen(BCAST, false, 15, 1 << 20, 1, "tuned: basic_linear");
    chosen(BCAST, false, 16, 1048575, 1, "tuned: binomial");
    chosen(BCAST, false, 16, 1 << 20, 1, "tuned: scatter_allgather");
    chosen(BCAST, false, 16, 1 << 20, 1 << 18, "tuned: basic_linear");
    chosen(BCAST, false, 64, 1 << 20, 1, "tuned: knomial");
    chosen(REDUCE, false, 2, 262144, 8, "tuned: pipeline");
    chosen(REDUCE, false, 8, 8191, 1, "tuned: binary");
    chosen(REDUCE, false, 8, 8192, 8, "tuned: binomial");
    chosen(REDUCE, true, 8, 8192, 8, "tuned: in-order_binary");
    chosen(REDUCE, true, 8, 16384, 8, "tuned: linear");
    chosen(ALLREDUCE, false, 3, 65536, 8, "tuned: ring");
    chosen(ALLREDUCE, false, 8, 8191, 1, "tuned: recursive_doubling");
    chosen(ALLREDUCE, false, 8, 8192, 8, "tuned: rabenseifner");
    chosen(ALLREDUCE, false, 8, 8192, 4096, "tuned: basic_linear");
    chosen(ALLREDUCE, false, 2, 4096, 4096, "tuned: recursive_doubling");
    chosen(ALLREDUCE, true, 8, 1 << 20, 8, "tuned: nonoverlapping");
    chosen(ALLREDUCE, true, 7, 1 << 20, 8, "tuned: recursive_doubling");
    chosen(SCAN, false, 8, 8192, 8, "basic: linear");
    chosen(EXSCAN, true, 8, 8192, 8, "basic: linear");
}

/* ---- times ---- */

static double hop(const mca_coll_pipering_link_cost_t *link, double bytes)
{
    return link->alpha + link->latency + bytes * link->beta;
}

static void takes(const instance_t *in, collective_t collective, bool ordered, double bytes,
                  double expected, const char *what)
{
    instance_t call = *in;

    call.call.collective = collective;
    call.call.ordered = ordered;
    call.call.total = (size_t) bytes;
    call.call.unit = 8;
    const double found = ask(&call).time;
    ok(tap_near(found, expected), "%s: %g s (%g)", what, expected, found);
}

/* A rank a node, by hand. */
static void test_formulas(void)
{
    const double m = 1 << 20, all = hop(&plain.net, m), half = hop(&plain.net, m / 2);
    const double combine = m * 1e-9, beta = m * plain.net.beta;
    instance_t in;

    pose(&in, 4, 1, false);
    takes(&in, BCAST, false, m, 3 * all, "a chain of 4");
    takes(&in, BCAST, false, m / 2, half + beta, "3 messages of half a MiB by one link");
    takes(&in, SCAN, false, m, 3 * (all + combine), "a scan of 4");
    takes(&in, EXSCAN, false, m, 3 * all + 2 * combine, "an exscan of 4");
    takes(&in, REDUCE, false, m, all + 2 * beta + combine, "3 messages to a root");
    takes(&in, ALLGATHER, false, 4 * m, all + hop(&plain.net, 2 * m), "doubling of 4 MiB");
    takes(&in, ALLGATHERV, false, 4 * m, all + hop(&plain.net, 2 * m), "a neighbor exchange");
    takes(&in, ALLREDUCE, false, m,
          2 * (half + hop(&plain.net, m / 4)) + 0.75 * combine, "halving and doubling of 1 MiB");
    takes(&in, ALLREDUCE, true, m, 2 * (all + combine), "doubling of vectors");
    for (int r = 0; r < 4; r++) {
        in.leaf_of[r] = r / 2 * 2;
    }
    in.call.leaf_of = in.leaf_of;
    in.cost.far = 15e-6;
    takes(&in, ALLGATHER, false, 4 * m, all + hop(&plain.net, 2 * m) + 5e-6,
          "doubling of 4 MiB over two leaf switches");
    in.cost.uplinks = 1;
    takes(&in, ALLGATHER, false, 4 * m, all + hop(&plain.net, 4 * m) + 5e-6,
          "the same with one link between them");
    pose(&in, 16, 1, false);
    takes(&in, ALLGATHERV, false, 16 * m, 15 * all, "a ring of 16");
    takes(&in, BCAST, false, m,
          8 * hop(&plain.net, 0) + 2 * 15 * m / 16 * plain.net.beta, "scattered and gathered");
    in.cost.net.eager = 65536;
    in.cost.net.handshake = 40e-6;
    takes(&in, ALLGATHERV, false, 16 * m, 15 * (all + 40e-6), "a ring with handshakes");
    pose(&in, 16, 4, true);
    takes(&in, ALLGATHERV, false, 16 * m, 15 * (hop(&plain.net, 0) + 4 * beta),
          "a ring of 4 nodes in turn");
}

/* What differs in 6.0: a reduction's chain has two branches, coll/han has leaders for vectors. */
static void test_six(void)
{
    const double m = 8192, each = hop(&plain.net, m) + m * 1e-9;
    const size_t block = 64, sizes = 3 * 4 * sizeof(size_t);
    instance_t in;

    pose(&in, 5, 1, false);
    takes(&in, REDUCE, false, m, 4 * each, "a chain of 5");
    in.call.modules = MCA_COLL_PIPERING_BELOW_TUNED_6;
    takes(&in, REDUCE, false, m, 2 * each + m * plain.net.beta, "two chains of 2 to a root");

    for (int i = 0; i < 4; i++) {
        const bool scatters = 2 <= i;
        pose(&in, 16, 4, 0 < i % 2);
        in.call.collective = scatters ? MCA_COLL_PIPERING_REDUCE_SCATTER : ALLGATHERV;
        in.call.ordered = scatters;
        in.call.total = 16 * block;
        in.call.modules = MCA_COLL_PIPERING_BELOW_HAN;
        const time_of_t before = ask(&in);
        in.call.modules = MCA_COLL_PIPERING_BELOW_HAN_6;
        const time_of_t found = ask(&in);
        ok(found.messages - before.messages == 9
               && found.bytes - before.bytes == (double) (9 * block + sizes),
           "leaders %s, after 9 sizes: %g messages, %g bytes more",
           scatters ? "scatter" : "gather", found.messages - before.messages, found.bytes - before.bytes);
    }
}

/* The time of a ring, in round r on link i: after three of the round before it. O(p^2). */
static double ring_time(const instance_t *in)
{
    const int p = in->call.ranks;
    double done[MOST] = {0}, next[MOST], last = 0;

    for (int round = 0; round < p - 1; round++) {
        for (int i = 0; i < p; i++) {
            const bool inside = in->node_of[i] == in->node_of[(i + 1) % p];
            const double before = fmax(done[i], fmax(done[(i + 1) % p], done[(i + p - 1) % p]));
            next[i] = before + hop(inside ? &in->cost.local : &in->cost.net,
                                   (double) in->bytes[(i + p - round) % p]);
        }
        memcpy(done, next, sizeof(done));
    }
    for (int i = 0; i < p; i++) {
        last = fmax(last, done[i]);
    }
    return last;
}

/* Contributions of a kind, of the size that coll/tuned gathers along a ring. */
static void pose_gather(instance_t *in, int ranks, int ppn)
{
    const int kind = tap_between(0, 3), outlier = tap_between(0, ranks - 1);

    pose(in, ranks, ppn, false);
    in->call.collective = ALLGATHERV;
    in->call.bytes = in->bytes;
    for (int r = 0; r < ranks; r++) {
        const size_t zipf = ((size_t) 1 << 24) / (size_t) (1 + (r + outlier) % ranks);
        const size_t sizes[] = {1 << 20, zipf, r == outlier ? 1 << 28 : 0,
                                (size_t) tap_below(1 << 21)};
        in->bytes[r] = sizes[kind];
        in->call.total += sizes[kind];
    }
}

/* Exact where all links are alike, else a lower bound that is more than half of it. */
static void test_ring(void)
{
    tap_tally_t tally[2] = {{0, 0}, {0, 0}};
    instance_t in;

    for (int i = 0; i < 4000; i++) {
        const bool alike = i % 2;

        pose_gather(&in, tap_between(32, 64), alike ? 1 : tap_between(2, 16));
        const time_of_t found = ask(&in);
        const double expected = ring_time(&in), least = alike ? 1 - 1e-9 : 0.5;
        if (0 == strcmp(found.algorithm, "tuned: ring")) {
            tap_try(&tally[alike],
                    found.time <= (1 + 1e-9) * expected && least * expected <= found.time,
                    "%d ranks, %d a node: %g, not %g", in.call.ranks, in.call.ppn, found.time,
                    expected);
        }
    }
    tally_ok(&tally[1], 1000, "a ring of links alike takes as long as its recurrence");
    tally_ok(&tally[0], 1000, "one of nodes no longer, and more than half of it");
}

/* ---- properties ---- */

/* Whom coll/han serves: nodes of several ranks, as many on each but in an allreduce. */
static bool is_han(const call_t *call)
{
    const collective_t of = call->collective;

    return (MCA_COLL_PIPERING_BELOW_HAN == call->modules
            || MCA_COLL_PIPERING_BELOW_HAN_6 == call->modules)
           && ALLGATHERV != of && SCAN != of
           && EXSCAN != of && !((REDUCE == of || ALLREDUCE == of) && call->ordered)
           && 1 < call->nodes && 1 < call->ppn && (call->equal || ALLREDUCE == of);
}

static void pose_any(instance_t *in)
{
    pose(in, tap_between(2, 70), tap_once_in(2) ? 1 : tap_between(1, 9), tap_once_in(2));
    in->call.collective = (collective_t) tap_between(ALLGATHERV, ALLREDUCE);
    in->call.modules = (mca_coll_pipering_below_t) tap_between(0, MCA_COLL_PIPERING_BELOW_HAN_6);
    in->call.root = tap_between(0, in->call.ranks - 1);
    in->call.ordered = BCAST < in->call.collective && tap_once_in(3);
    in->call.unit = (size_t) 1 << tap_between(0, 4);
    in->call.total = in->call.unit * (size_t) tap_between(1, 1 << tap_between(3, 20));
    in->cost.net.eager = tap_once_in(2) ? 65536 : 0;
    in->cost.net.handshake = 30e-6;
    in->cost.net.envelope = 60;
    if (ALLGATHERV == in->call.collective) {
        in->call.bytes = in->bytes;
        in->call.total = 0;
        for (int r = 0; r < in->call.ranks; r++) {
            in->bytes[r] = tap_once_in(4) ? 0 : (size_t) tap_below(1 << tap_between(4, 20));
            in->call.total += in->bytes[r];
        }
        in->bytes[0] += 1;
        in->call.total += 1;
    }
    if (ALLGATHER == in->call.collective) {
        in->call.total *= (size_t) in->call.ranks;
    }
}

static void test_properties(void)
{
    tap_tally_t sane = {0, 0}, han = {0, 0}, costs = {0, 0}, any = {0, 0}, grows = {0, 0};

    for (int i = 0; i < 5000; i++) {
        instance_t in, other;
        pose_any(&in);
        const time_of_t found = ask(&in);
        tap_try(&sane, 0 < found.time && isfinite(found.time) && NULL != found.algorithm
                           && found.messages >= 1 && found.bytes > 0,
                "collective %d, %d ranks: %g", (int) in.call.collective, in.call.ranks, found.time);
        tap_try(&han, MCA_COLL_PIPERING_BELOW_ANY == in.call.modules
                          || is_han(&in.call) == (0 == strcmp(found.algorithm, "han")),
                "collective %d, %d ranks, %d a node: %s", (int) in.call.collective, in.call.ranks,
                in.call.ppn, found.algorithm);

        other = in;
        double *grown[] = {&other.cost.net.alpha,   &other.cost.net.beta,
                           &other.cost.net.latency, &other.cost.net.handshake,
                           &other.cost.local.alpha, &other.cost.local.beta,
                           &other.cost.local.latency, &other.call.combine,
                           &other.cost.net.copy};
        const int which = tap_between(0, 8);
        *grown[which] *= 1.5;
        tap_try(&costs, ask(&other).time >= found.time * (1 - 1e-12), "cost %d of collective %d, "
                "%s of %d ranks", which, (int) in.call.collective, found.algorithm, in.call.ranks);

        other = in;
        other.call.modules = MCA_COLL_PIPERING_BELOW_ANY;
        tap_try(&any, ask(&other).time <= found.time * (1 + 1e-12), "collective %d, %s, %d ranks",
                (int) in.call.collective, found.algorithm, in.call.ranks);

        other = in;
        other.call.total += in.call.unit * (size_t) (ALLGATHER == in.call.collective
                                                         ? in.call.ranks : 1);
        other.bytes[tap_between(0, in.call.ranks - 1)] += in.call.unit;
        const time_of_t more = ask(&other);
        /*
         * larger parts of a scatter leave less to the last ranks; segments begin elsewhere; what
         * "default" and "nonoverlapping" call may go by another algorithm with more bytes
         */
        if (0 == strcmp(more.algorithm, found.algorithm)
            && NULL == strstr(found.algorithm, "scatter")
            && NULL == strstr(found.algorithm, "default")
            && NULL == strstr(found.algorithm, "nonoverlapping")
            && (MCA_COLL_PIPERING_BELOW_TUNED == in.call.modules
                || MCA_COLL_PIPERING_BELOW_TUNED_6 == in.call.modules)) {
            tap_try(&grows, more.time >= found.time * (1 - 1e-12), "collective %d, %s of %d ranks",
                    (int) in.call.collective, found.algorithm, in.call.ranks);
        }
    }
    tally_ok(&sane, 5000, "each call takes some time");
    tally_ok(&han, 5000, "coll/han serves where it can, and nobody else as it");
    tally_ok(&costs, 5000, "no cost that grows saves time");
    tally_ok(&any, 5000, "other modules take no longer than known ones");
    tally_ok(&grows, 1000, "an element more saves no time");
}

/*
 * Between nodes coll/mleader sends what one rank a node would, by recursive doubling or Bruck's
 * way below 256 KiB, around a ring beyond; inside a node it copies, and sends nothing.
 */
static void test_leaders(void)
{
    tap_tally_t sent = {0, 0}, slower = {0, 0};

    for (int i = 0; i < 2000; i++) {
        const int nodes = tap_between(2, 16), ppn = tap_between(2, 8), ranks = nodes * ppn;
        const size_t block = (size_t) 1 << tap_between(0, 16);
        const bool ring = 262144 <= block * (size_t) ranks;
        const double moved = (double) (nodes - 1) * (double) block * ranks;
        int rounds = ring ? nodes - 1 : 0;
        instance_t in, copies;

        pose(&in, ranks, ppn, tap_once_in(2));
        in.call.modules = MCA_COLL_PIPERING_BELOW_LEADERS;
        in.call.collective = ALLGATHER;
        in.call.total = block * (size_t) ranks;
        while (!ring && 1 << rounds < nodes) {
            rounds++;
        }
        const time_of_t found = ask(&in);
        tap_try(&sent, found.messages == rounds * nodes && tap_near(found.bytes, moved)
                           && 0 == strcmp("mleader", found.algorithm),
                "%d nodes of %d ranks, %zu bytes each: %g messages, %g bytes", nodes, ppn, block,
                found.messages, found.bytes);
        copies = in;
        copies.cost.local.beta *= 3;
        const double more = (double) (ranks + 1) * (double) block * in.cost.local.beta;
        tap_try(&slower, fabs(ask(&copies).time - found.time - more) <= 1e-9 * found.time,
                "%d nodes of %d ranks, %zu bytes each: %g", nodes, ppn, block, found.time);
    }
    tally_ok(&sent, 2000, "leaders send what one rank a node would");
    tally_ok(&slower, 2000, "each rank copies what it gives and gets, once");
}

/* A rank a node: by which rank one begins to count does not matter. */
static void test_renumbering(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 2000; i++) {
        instance_t in, other;
        pose_any(&in);
        pose(&other, in.call.ranks, 1, false);
        memcpy(in.node_of, other.node_of, sizeof(in.node_of));
        in.call.nodes = in.call.ranks;
        in.call.ppn = 1;
        in.call.equal = true;
        in.call.modules = MCA_COLL_PIPERING_BELOW_TUNED;
        other = in;
        const int p = in.call.ranks, by = tap_between(1, p - 1);
        for (int r = 0; r < p; r++) {
            other.bytes[(r + by) % p] = in.bytes[r];
        }
        other.call.root = (in.call.root + by) % p;
        const time_of_t found = ask(&in), turned = ask(&other);
        const bool rooted = NULL != strstr(found.algorithm, "in-order")
                            || NULL != strstr(found.algorithm, "default")
                            || NULL != strstr(found.algorithm, "neighbor")
                            || NULL != strstr(found.algorithm, "rabenseifner");
        if (!rooted) {
            tap_try(&tally, tap_near(turned.time, found.time)
                                && turned.bytes == found.bytes && turned.messages == found.messages,
                    "%s of %d ranks, by %d: %g, %g", found.algorithm, p, by, found.time,
                    turned.time);
        }
    }
    tally_ok(&tally, 500, "ranks may be counted from any of them");
}

int main(void)
{
    tap_start();
    test_decisions();
    test_formulas();
    test_six();
    test_ring();
    test_properties();
    test_leaders();
    test_renumbering();
    return tap_end();
}
