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
 * Messages of the modules below, one by one, and down and up their trees.
 *
 *     sender    |-- alpha --|                          busy: alpha for each message
 *     ports                 |-- wire bytes x beta --|  of both ends, held by one at a time
 *     receiver                                      |-- latency, handshake --| combining |
 *
 * All ranks of a node share its port to other nodes, each way; inside a node each rank has its
 * own. A tree is played from its root, or to it; in a round all ranks start from where they stood
 * before it.
 *
 *     linear 0        binary 0       binomial 0       near    0       4-nomial  0
 *          / | \           / \            / | \         b.  / | \           / | | | \
 *         1  2  3         1   2          1  2  4          1  2  4          4  8 1 2 3
 *                        /\   /\         /\  |              |  |\        /|\
 *                       3  5 4  6       3 5 6              3  5 6      5 6 7
 *                                       |                       |
 *                                       7                       7
 *
 * Cost: O(1) a message, O(log p) to find a child. Limits: messages that share a port go one after
 * the other in the order in which they are played.
 *
 * Source: Open MPI 5.0.7, ompi/mca/coll/base/coll_base_topo.c, coll_base_bcast.c, _reduce.c.
 */

#include "coll_pipering_plan_below_run.h"

#include <math.h>
#include <string.h>

typedef mca_coll_pipering_below_run_t run_t;
typedef mca_coll_pipering_link_cost_t link_t;
typedef mca_coll_pipering_below_tree_t tree_t;

size_t mca_coll_pipering_below_scratch(int ranks)
{
    return (7 * (size_t) ranks + 1) * sizeof(double);
}

run_t mca_coll_pipering_below_open(const mca_coll_pipering_below_call_t *call,
                                   mca_coll_pipering_below_group_t group)
{
    const bool all = MCA_COLL_PIPERING_BELOW_ALL == group;
    const bool inside = MCA_COLL_PIPERING_BELOW_INSIDE == group;
    const int p = all ? call->ranks : inside ? call->ppn : call->nodes;
    double *memory = call->scratch;
    const run_t run = {.ranks = p,
                       .node_of = all ? call->node_of : NULL,
                       .net = inside ? &call->cost->local : &call->cost->net,
                       .local = &call->cost->local,
                       .combine = call->combine,
                       .now = memory,
                       .then = memory,
                       .spare = memory + p,
                       .out = memory + 2 * (size_t) p,
                       .in = memory + 4 * (size_t) p,
                       .sums = memory + 6 * (size_t) p};

    memset(memory, 0, mca_coll_pipering_below_scratch(p));
    return run;
}

mca_coll_pipering_below_tally_t mca_coll_pipering_below_close(const run_t *run)
{
    mca_coll_pipering_below_tally_t tally = run->tally;
    double last = 0;

    for (int r = 0; r < run->ranks; ++r) {
        last = run->now[r] > last ? run->now[r] : last;
    }
    tally.time += last;
    return tally;
}

void mca_coll_pipering_below_open_round(run_t *run)
{
    run->then = run->spare;
    memcpy(run->then, run->now, (size_t) run->ranks * sizeof(double));
}

void mca_coll_pipering_below_close_round(run_t *run)
{
    memcpy(run->now, run->then, (size_t) run->ranks * sizeof(double));
    run->then = run->now;
}

void mca_coll_pipering_below_count(run_t *run, const link_t *link, double messages, double bytes,
                                   bool combines)
{
    const double combine = combines ? run->combine : 0;

    run->tally.messages += messages;
    run->tally.bytes += bytes;
    run->tally.work += messages * link->alpha + bytes * (link->copy + combine);
}

static double handshake(const link_t *link, double bytes)
{
    return 0 < link->eager && bytes > link->eager ? link->handshake : 0;
}

static double wire_time(const link_t *link, double messages, double bytes)
{
    return mca_coll_pipering_wire_bytes(link, messages, bytes) * link->beta;
}

double mca_coll_pipering_below_start(const link_t *link, double bytes)
{
    return link->alpha + link->latency + handshake(link, bytes);
}

bool mca_coll_pipering_below_inside(const run_t *run, int from, int to)
{
    return NULL != run->node_of && run->node_of[from] == run->node_of[to];
}

int mca_coll_pipering_below_port(const run_t *run, int rank, bool inside)
{
    return inside ? run->ranks + rank : NULL != run->node_of ? run->node_of[rank] : rank;
}

void mca_coll_pipering_below_send(run_t *run, int from, int to, double bytes, bool combines)
{
    const bool inside = mca_coll_pipering_below_inside(run, from, to);
    const link_t *link = inside ? run->local : run->net;
    double *out = &run->out[mca_coll_pipering_below_port(run, from, inside)];
    double *in = &run->in[mca_coll_pipering_below_port(run, to, inside)];
    const double start = run->now[from] + link->alpha, taken = run->now[to] + link->alpha;
    const double both = run->then == run->now ? 1 : mca_coll_pipering_both_ways(link, bytes);
    const double sent = fmax(start, fmax(*out, *in)) + both * wire_time(link, 1, bytes);
    const double came = fmax(sent + link->latency + handshake(link, bytes), taken)
                        + (combines ? bytes * run->combine : 0);

    *out = *in = sent;
    run->then[from] = fmax(run->then[from], start);
    run->then[to] = fmax(run->then[to], came);
    mca_coll_pipering_below_count(run, link, 1, bytes, combines);
}

/* ---- trees: position 0 is the root's, a child's is larger than its parent's ---- */

/* A subtree of ranks: those of its right child, those of its left one, and its root. */
static int ordered_child(int p, int rank, int i)
{
    int low = 0, size = p;

    while (rank != low + size - 1) {
        const bool left = rank >= low + size / 2;
        low += left ? size / 2 : 0;
        size = left ? size - size / 2 - 1 : size / 2;
    }
    return 0 == i && 1 < size ? rank - 1 : 1 == i && 2 < size ? low + size / 2 - 1 : p;
}

/* The child i of position v, in the order in which it is served; none: -1. */
static int child_of(tree_t tree, int p, int v, int i)
{
    long child = p, mask = 1;

    switch (tree) {
    case MCA_COLL_PIPERING_BELOW_LINEAR:
        child = 0 == v ? i + 1 : p;
        break;
    case MCA_COLL_PIPERING_BELOW_CHAIN:
        child = 0 == i ? v + 1 : p;
        break;
    case MCA_COLL_PIPERING_BELOW_BINARY:
        for (; 2 * mask <= v + 1; mask *= 2) {
        }
        child = 2 > i ? v + mask * (i + 1) : p;
        break;
    case MCA_COLL_PIPERING_BELOW_BINOMIAL:
        for (; mask <= v; mask *= 2) {
        }
        child = v + (mask << i);
        break;
    case MCA_COLL_PIPERING_BELOW_NEAR_BINOMIAL:
        child = 0 == v % (2L << i) ? v + (1L << i) : p;
        break;
    case MCA_COLL_PIPERING_BELOW_KNOMIAL:
        for (; mask < p && 0 == v % (4 * mask); mask *= 4) {
        }
        for (mask /= 4; 0 < mask && 0 <= i; mask /= 4) {
            for (int r = 1; r < 4 && v + r * mask < p && 0 <= i; ++r) {
                child = 0 == i-- ? v + r * mask : p;
            }
        }
        break;
    case MCA_COLL_PIPERING_BELOW_ORDERED_BINARY:
        child = p - 1 - ordered_child(p, p - 1 - v, i);
        break;
    }
    return 0 <= child && child < p ? (int) child : -1;
}

static int rank_at(const run_t *run, tree_t tree, int root, int v)
{
    return MCA_COLL_PIPERING_BELOW_ORDERED_BINARY == tree ? run->ranks - 1 - v
                                                          : (v + root) % run->ranks;
}

void mca_coll_pipering_below_spread(run_t *run, tree_t tree, int root, double even, double odd)
{
    for (int v = 0; v < run->ranks; ++v) {
        for (int i = 0, c; 0 <= (c = child_of(tree, run->ranks, v, i)); ++i) {
            mca_coll_pipering_below_send(run, rank_at(run, tree, root, v),
                                         rank_at(run, tree, root, c), 0 != c % 2 ? odd : even,
                                         false);
        }
    }
}

void mca_coll_pipering_below_collect(run_t *run, tree_t tree, int root, double bytes, bool combines)
{
    const bool grows = MCA_COLL_PIPERING_BELOW_NEAR_BINOMIAL == tree && !combines;
    const int p = run->ranks;

    for (int v = p - 1; 0 <= v; --v) {
        for (int i = 0, c; 0 <= (c = child_of(tree, p, v, i)); ++i) {
            const int below = c - v < p - c ? c - v : p - c;
            mca_coll_pipering_below_send(run, rank_at(run, tree, root, c),
                                         rank_at(run, tree, root, v), grows ? below * bytes : bytes,
                                         combines);
        }
    }
}
