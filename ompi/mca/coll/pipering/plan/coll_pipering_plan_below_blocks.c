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
 * The gathers of the modules below, by coll/tuned's numbers.
 *
 *                   1                  2         3                 4         5         6
 *     allgatherv    gatherv and bcast  bruck     ring              neighbor  2 ranks
 *     allgather                        bruck     recursive dblg.   ring      neighbor  2 ranks
 *     gather        linear             binomial  linear, in sync
 *
 * The p (p - 1) messages of a ring are not played. One of them, in round r on link i, waits for
 * those of round r - 1 on the links i - 1, i and i + 1: with its own block, the one behind it and
 * the next. So no chain of waits is longer than the way of the largest block, which is exact if
 * links are alike. If they are not, it is a lower bound, as is what the port of the busiest node
 * sends; the longer one counts. A neighbor exchange is the same with pairs of blocks.
 *
 * Cost: O(p), of bruck and doubling O(p log p). Limits: a ring whose links are not alike may take
 * longer where large blocks meet at a slow link.
 *
 * Source: Open MPI 5.0.7, ompi/mca/coll/base/coll_base_allgatherv.c, _allgather.c, _gather.c.
 */

#include "coll_pipering_plan_below_run.h"

#include <math.h>
#include <string.h>

typedef mca_coll_pipering_below_run_t run_t;
typedef mca_coll_pipering_link_cost_t link_t;

static double block_of(const run_t *run, int rank)
{
    return NULL == run->bytes ? run->block : (double) run->bytes[rank];
}

/* Blocks that each go from rank to rank. */
typedef struct {
    double total;
    int largest;    /* whose block is */
    int across;     /* steps to the next rank that leave a node */
    double crossed; /* bytes of all blocks on these */
    double busiest; /* seconds on the wire of a node that sends most */
} circle_t;

static circle_t circle_of(run_t *run)
{
    const int p = run->ranks;
    double *bytes = run->spare, *messages = run->sums;
    circle_t circle = {0};

    memset(bytes, 0, (size_t) p * sizeof(double));
    memset(messages, 0, (size_t) p * sizeof(double));
    for (int r = 0; r < p; ++r) {
        circle.total += block_of(run, r);
        circle.largest = block_of(run, r) > block_of(run, circle.largest) ? r : circle.largest;
    }
    for (int r = 0; r < p; ++r) {
        if (!mca_coll_pipering_below_inside(run, r, (r + 1) % p)) {
            const int port = mca_coll_pipering_below_port(run, r, false);
            const double sent = circle.total - block_of(run, (r + 1) % p);
            bytes[port] += sent;
            messages[port] += p - 1;
            circle.crossed += sent;
            circle.across += 1;
        }
    }
    for (int port = 0; port < p; ++port) {
        const double wire = mca_coll_pipering_wire_bytes(run->net, messages[port], bytes[port]);
        const double mean = 0 < messages[port] ? bytes[port] / messages[port] : 0;
        circle.busiest = fmax(circle.busiest, wire * run->net->beta
                                                    * mca_coll_pipering_both_ways(run->net, mean));
    }
    return circle;
}

/* Seconds of a message of a round. */
static double hop(const run_t *run, const link_t *link, double bytes, bool combines)
{
    return mca_coll_pipering_below_start(link, bytes)
           + mca_coll_pipering_wire_bytes(link, 1, bytes) * link->beta
                 * mca_coll_pipering_both_ways(link, bytes)
           + (combines ? bytes * run->combine : 0);
}

/* So many messages of each rank, in all so many bytes to each, by the steps of the circle. */
static void count_circle(run_t *run, const circle_t *circle, double each, bool combines)
{
    const double p = run->ranks, away = circle->across;

    mca_coll_pipering_below_count(run, run->net, away * each, circle->crossed, combines);
    mca_coll_pipering_below_count(run, run->local, (p - away) * each,
                                  (p - 1) * circle->total - circle->crossed, combines);
}

/* A block a round to the next rank. */
void mca_coll_pipering_below_ring(run_t *run, bool combines)
{
    const circle_t circle = circle_of(run);
    const int p = run->ranks, before = (circle.largest + p - 1) % p;
    const bool near = mca_coll_pipering_below_inside(run, before, circle.largest);
    const double far = circle.across - (near ? 0 : 1), m = block_of(run, circle.largest);
    const double mean = circle.total / p, combining = combines ? mean * run->combine : 0;
    const double waits = (p - 1) * (mca_coll_pipering_below_start(run->net, mean) + combining);

    run->tally.time += fmax(0 < circle.across ? waits + circle.busiest : 0,
                              far * hop(run, run->net, m, combines)
                                  + (p - 1 - far) * hop(run, run->local, m, combines));
    count_circle(run, &circle, p - 1, combines);
}

/* A block to the one neighbor, then two blocks a round to the other and the one in turn. */
static void neighbor_exchange(run_t *run)
{
    const circle_t circle = circle_of(run);
    const double p = run->ranks, rounds = p / 2, crossing = circle.across / p;
    const link_t *link = mca_coll_pipering_below_inside(run, 0, 1) ? run->local : run->net;
    double pair = -1, single = 0;

    for (int r = 0; r < run->ranks; r += 2) {
        const double a = block_of(run, r), b = block_of(run, r + 1);
        single = a + b > pair ? fmax(a, b) : single;
        pair = fmax(pair, a + b);
    }
    const double waits = mca_coll_pipering_below_start(run->net, 2 * circle.total / p);
    run->tally.time += fmax(crossing * rounds * waits + circle.busiest,
                              hop(run, link, single, false)
                                  + (rounds - 1)
                                        * (crossing * hop(run, run->net, pair, false)
                                           + (1 - crossing) * hop(run, run->local, pair, false)));
    count_circle(run, &circle, rounds, false);
}

/* Blocks of as many ranks as a rank has so far, from the rank as far ahead. */
static void bruck(run_t *run)
{
    const int p = run->ranks;

    for (int r = 0; r < p; ++r) {
        run->sums[r + 1] = run->sums[r] + block_of(run, r);
    }
    for (int distance = 1; distance < p; distance *= 2) {
        const int blocks = distance < p - distance ? distance : p - distance;
        mca_coll_pipering_below_open_round(run);
        for (int r = 0; r < p; ++r) {
            const int end = r + blocks, over = end > p ? end - p : 0;
            mca_coll_pipering_below_send(run, r, (r - distance + p) % p,
                                         run->sums[end - over] - run->sums[r] + run->sums[over],
                                         false);
        }
        mca_coll_pipering_below_close_round(run);
    }
}

static void double_blocks(run_t *run) /* of 2^k ranks */
{
    for (int distance = 1; distance < run->ranks; distance *= 2) {
        mca_coll_pipering_below_open_round(run);
        for (int r = 0; r < run->ranks; ++r) {
            mca_coll_pipering_below_send(run, r, r ^ distance, distance * run->block, false);
        }
        mca_coll_pipering_below_close_round(run);
    }
}

void mca_coll_pipering_below_play_gather(run_t *run, int algorithm)
{
    if (0 == algorithm) {
        for (int r = 1; r < run->ranks; ++r) {
            if (0 < block_of(run, r)) {
                mca_coll_pipering_below_send(run, r, 0, block_of(run, r), false);
            }
        }
        return;
    }
    mca_coll_pipering_below_collect(run, 2 == algorithm ? MCA_COLL_PIPERING_BELOW_NEAR_BINOMIAL
                                                        : MCA_COLL_PIPERING_BELOW_LINEAR,
                                    0, run->block, false);
    if (3 == algorithm) { /* the root asks for each, and gets it in two parts */
        run->tally.time += mca_coll_pipering_below_start(run->net, 0);
        mca_coll_pipering_below_count(run, run->net, 2 * (run->ranks - 1), 0, false);
    }
}

void mca_coll_pipering_below_play_blocks(run_t *run,
                                         mca_coll_pipering_collective_t collective,
                                         int algorithm)
{
    const bool v = MCA_COLL_PIPERING_ALLGATHERV == collective;

    if (2 == algorithm) {
        bruck(run);
    } else if (3 == algorithm && !v) {
        double_blocks(run);
    } else if ((v ? 4 : 5) == algorithm) {
        neighbor_exchange(run);
    } else {
        mca_coll_pipering_below_ring(run, false);
    }
}
