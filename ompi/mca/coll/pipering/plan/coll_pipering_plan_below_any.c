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
 * The least that modules of which nothing is known need for a call, from textbook algorithms
 * between nodes; what ranks do inside their nodes is left out.
 *
 *     gathers    a ring of whole contributions; bruck; to a root and down a tree
 *     vectors    a binomial tree; or, but for scans and where order matters, scattered and gathered
 *
 * Cost: O(p + n log n) for n nodes.
 *
 * Source: Thakur, Rabenseifner, Gropp: Optimization of Collective Communication Operations in
 * MPICH, 2005.
 */

#include "coll_pipering_plan_below_run.h"

#include <math.h>

typedef mca_coll_pipering_below_call_t call_t;
typedef mca_coll_pipering_below_tally_t tally_t;
typedef mca_coll_pipering_link_cost_t link_t;

static int count_steps(int members)
{
    int steps = 0;

    for (; steps < 31 && 1L << steps < members; ++steps) {
    }
    return steps;
}

/* Contributions of nodes, or of the ranks of a single one, in the scratch memory; the largest. */
static double sum_members(const call_t *call, double *sums, double *least)
{
    double largest = 0;
    int members = 0;

    for (int r = 0; r < call->ranks; ++r) {
        sums[r] = 0;
    }
    for (int r = 0; r < call->ranks; ++r) {
        sums[1 < call->nodes ? call->node_of[r] : r] +=
            NULL == call->bytes ? (double) call->total / call->ranks : (double) call->bytes[r];
    }
    for (int r = 0; r < call->ranks; ++r) {
        if (1 >= call->nodes || call->node_of[r] == r) {
            sums[members] = sums[r];
            largest = fmax(largest, sums[members]);
            *least = 0 == members || sums[members] < *least ? sums[members] : *least;
            ++members;
        }
    }
    return largest;
}

/* Bytes of so many members in a row, most of all. */
static double largest_span(const double *sums, int members, int count)
{
    double span = 0, largest = 0;

    for (int i = 0; i < count; ++i) {
        span += sums[i];
    }
    for (int i = 0; i < members; ++i) {
        largest = fmax(largest, span);
        span += sums[(i + count) % members] - sums[i];
    }
    return largest;
}

/* So many messages and bytes, of which these times are the longest chain. */
static tally_t tally_of(const link_t *link, double time, double messages, double bytes)
{
    return (tally_t) {.time = time,
                      .messages = messages,
                      .bytes = bytes,
                      .work = messages * 2 * link->alpha};
}

static tally_t least_of(tally_t a, tally_t b)
{
    const bool less = b.time < a.time;

    return (tally_t) {.time = less ? b.time : a.time,
                      .messages = b.work < a.work ? b.messages : a.messages,
                      .bytes = b.bytes < a.bytes ? b.bytes : a.bytes,
                      .work = b.work < a.work ? b.work : a.work};
}

static double hop(const link_t *link, double bytes)
{
    return mca_coll_pipering_below_start(link, bytes)
           + mca_coll_pipering_wire_bytes(link, 1, bytes) * link->beta;
}

static tally_t least_gather(const call_t *call, const link_t *link, int members)
{
    double *sums = call->scratch, least = 0, bruck = 0, steps = count_steps(members);
    const double total = (double) call->total, most = sum_members(call, sums, &least);
    const double start = link->alpha + link->latency;
    const double rooted = (1 + steps) * start
                          + (total - least + total * (2 > steps ? steps : 2)) * link->beta;

    for (int distance = 1; distance < members; distance *= 2) {
        const int count = distance < members - distance ? distance : members - distance;
        bruck += hop(link, largest_span(sums, members, count));
    }
    const double n = members, bytes = (n - 1) * total;
    return least_of(least_of(tally_of(link, (n - 1) * hop(link, most), n * (n - 1), bytes),
                             tally_of(link, bruck, n * steps, bytes)),
                    tally_of(link, rooted, 2 * (n - 1), bytes));
}

static tally_t least_vector(const call_t *call, const link_t *link, int members)
{
    const double n = members, steps = count_steps(members), m = (double) call->total;
    const double start = link->alpha + link->latency;
    const tally_t tree = tally_of(link, steps * (start + m * link->beta), n - 1, (n - 1) * m);
    const bool whole = call->ordered || MCA_COLL_PIPERING_SCAN == call->collective
                       || MCA_COLL_PIPERING_EXSCAN == call->collective;
    const double scattered = (steps + n - 1) * start
                             + 2 * m * link->beta * (call->ranks - 1) / call->ranks;

    return whole ? tree
                 : least_of(tree, tally_of(link, scattered, 2 * (n - 1), 2 * (n - 1) * m / n));
}

tally_t mca_coll_pipering_below_least(const call_t *call)
{
    const bool nodes = 1 < call->nodes;
    const int members = nodes ? call->nodes : call->ranks;
    const link_t link = nodes ? call->cost->net : call->cost->local;

    return MCA_COLL_PIPERING_ALLGATHERV == call->collective
                   || MCA_COLL_PIPERING_ALLGATHER == call->collective
               ? least_gather(call, &link, members)
               : least_vector(call, &link, members);
}
