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
 * The broadcasts and reductions of the modules below, by coll/tuned's numbers.
 *
 *           bcast                    reduce             allreduce
 *     1     linear                   linear             linear, to a root and from it
 *     2, 3  chain                    chain              3: recursive doubling
 *     4     halves down a binary     binary             ring, twice
 *           tree, then exchanged
 *     5     binary                   binomial
 *     6     binomial                 ordered binary     Rabenseifner: halving, doubling
 *     7     4-nomial                 Rabenseifner
 *     8     scatter and allgather
 *
 * Cost: O(p) for trees and chains, at most O(p log^2 p) for the others.
 *
 * Source: Open MPI 5.0.7, ompi/mca/coll/base/coll_base_bcast.c, _reduce.c, _allreduce.c, _scan.c,
 * _exscan.c, and ompi/mca/coll/libnbc/nbc_ibcast.c, nbc_ireduce.c.
 */

#include "coll_pipering_plan_below_run.h"

#include <math.h>

typedef mca_coll_pipering_below_run_t run_t;
typedef mca_coll_pipering_below_tree_t tree_t;

int mca_coll_pipering_below_power(int ranks)
{
    int power = 1;

    for (; power <= ranks / 2; power *= 2) {
    }
    return power;
}

/* The halves down the sides of a binary tree, then to each rank the other half. */
static void spread_halves(run_t *run, int root, double bytes, double unit)
{
    const int p = run->ranks;
    const double left = ceil(bytes / unit / 2) * unit, right = bytes - left;

    mca_coll_pipering_below_spread(run, MCA_COLL_PIPERING_BELOW_BINARY, root, right, left);
    mca_coll_pipering_below_open_round(run);
    for (int v = 1; v < p; v += 2) {
        const int one = (root + v) % p, other = (root + v + 1) % p; /* the last one's is the root */
        mca_coll_pipering_below_send(run, other, one, right, false);
        if (v + 1 < p) {
            mca_coll_pipering_below_send(run, one, other, left, false);
        }
    }
    mca_coll_pipering_below_close_round(run);
}

/* A part of the vector to each rank down a tree, then all parts to all. */
static void scatter_gather(run_t *run, int root, double bytes, double unit)
{
    const int p = run->ranks;
    const double part = ceil(bytes / unit / p) * unit;

    for (int mask = mca_coll_pipering_below_power(p - 1); 0 < mask; mask /= 2) {
        for (int v = 0; v + mask < p; v += 2 * mask) {
            const double sent = fmin(bytes, (v + 2.0 * mask) * part) - (v + mask) * part;
            if (0 < sent) {
                mca_coll_pipering_below_send(run, (v + root) % p, (v + mask + root) % p, sent,
                                             false);
            }
        }
    }
    for (int mask = 1; mask < p; mask *= 2) {
        mca_coll_pipering_below_open_round(run);
        for (int v = 0; v < p; ++v) {
            const int group = v - v % mask, other = v ^ mask;
            const double from = fmin(bytes, group * part);
            if (other < p) {
                mca_coll_pipering_below_send(run, (v + root) % p, (other + root) % p,
                                             fmin(bytes, (group + mask) * part) - from, false);
            }
        }
        mca_coll_pipering_below_close_round(run);
        /* those without another get the parts that they lack from those with one */
        const int group = p - p % (2 * mask), has = p - group - mask;
        const double from = fmin(bytes, (group + mask) * part);
        for (int half = 0 < has && has < mask ? mask / 2 : 0; 0 < half; half /= 2) {
            for (int v = group; v < group + mask; ++v) {
                const int base = v - v % (2 * half), other = v ^ half;
                if (other > v && v < base + has && other >= base + has) {
                    mca_coll_pipering_below_send(run, (v + root) % p, (other + root) % p,
                                                 fmin(bytes, (group + 2.0 * mask) * part) - from,
                                                 false);
                }
            }
        }
    }
}

/* Vectors to and from a power of two ranks, the first of which stand for two each. */
static void double_vectors(run_t *run, double bytes)
{
    const int power = mca_coll_pipering_below_power(run->ranks), rest = run->ranks - power;

    for (int r = 0; r < rest; ++r) {
        mca_coll_pipering_below_send(run, 2 * r, 2 * r + 1, bytes, true);
    }
    for (int mask = 1; mask < power; mask *= 2) {
        mca_coll_pipering_below_open_round(run);
        for (int v = 0; v < power; ++v) {
            const int other = v ^ mask;
            mca_coll_pipering_below_send(run, v < rest ? 2 * v + 1 : v + rest,
                                         other < rest ? 2 * other + 1 : other + rest, bytes, true);
        }
        mca_coll_pipering_below_close_round(run);
    }
    for (int r = 0; r < rest; ++r) {
        mca_coll_pipering_below_send(run, 2 * r + 1, 2 * r, bytes, false);
    }
}

/* Bytes of the vector that v has after so many halvings. */
static double window(double bytes, double unit, int v, int halvings)
{
    double units = bytes / unit;

    for (int i = 0; i < halvings; ++i) {
        units = 0 == (v >> i & 1) ? floor(units / 2) : ceil(units / 2);
    }
    return units * unit;
}

/* Halved and combined by a power of two ranks, then gathered by all, or to the root alone. */
static void rabenseifner(run_t *run, int root, double bytes, double unit, bool all)
{
    const int power = mca_coll_pipering_below_power(run->ranks), rest = run->ranks - power;
    const bool spared = root < 2 * rest && 1 == root % 2; /* the root stands behind another */
    const int head = spared ? 0 : root < 2 * rest ? root / 2 : root - rest;
    const double left = window(bytes, unit, 0, 1);
    int steps = 0;

    mca_coll_pipering_below_open_round(run);
    for (int r = 0; r < rest; ++r) {
        mca_coll_pipering_below_send(run, 2 * r, 2 * r + 1, bytes - left, true);
        mca_coll_pipering_below_send(run, 2 * r + 1, 2 * r, left, true);
    }
    mca_coll_pipering_below_close_round(run);
    for (int r = 0; r < rest; ++r) {
        mca_coll_pipering_below_send(run, 2 * r + 1, 2 * r, bytes - left, false);
    }
    for (; 1 << steps < power; ++steps) {
        mca_coll_pipering_below_open_round(run);
        for (int v = 0; v < power; ++v) {
            const int w = v ^ 1 << steps;
            mca_coll_pipering_below_send(run, v < rest ? 2 * v : v + rest,
                                         w < rest ? 2 * w : w + rest,
                                         window(bytes, unit, w, steps + 1), true);
        }
        mca_coll_pipering_below_close_round(run);
    }
    if (!all && spared) {
        mca_coll_pipering_below_send(run, 0, root, window(bytes, unit, 0, steps), false);
    }
    while (0 < steps--) {
        mca_coll_pipering_below_open_round(run);
        for (int v = 0; v < power; ++v) {
            const int w = v ^ 1 << steps;
            if (all || 1 == (v ^ head) >> steps) {
                mca_coll_pipering_below_send(run, v < rest ? 2 * v : v + rest,
                                             !all && spared && 0 == w ? root
                                             : w < rest               ? 2 * w
                                                                      : w + rest,
                                             window(bytes, unit, v, steps + 1), false);
            }
        }
        mca_coll_pipering_below_close_round(run);
    }
    for (int r = 0; all && r < rest; ++r) {
        mca_coll_pipering_below_send(run, 2 * r, 2 * r + 1, bytes, false);
    }
}

static void reduce(run_t *run, int algorithm, int root, double bytes, double unit)
{
    static const tree_t trees[] = {[1] = MCA_COLL_PIPERING_BELOW_LINEAR,
                                   [2] = MCA_COLL_PIPERING_BELOW_CHAIN,
                                   [3] = MCA_COLL_PIPERING_BELOW_CHAIN,
                                   [4] = MCA_COLL_PIPERING_BELOW_BINARY,
                                   [5] = MCA_COLL_PIPERING_BELOW_NEAR_BINOMIAL,
                                   [6] = MCA_COLL_PIPERING_BELOW_ORDERED_BINARY};

    if (7 == algorithm) {
        rabenseifner(run, root, bytes, unit, false);
        return;
    }
    mca_coll_pipering_below_collect(run, trees[algorithm], root, bytes, true);
    if (6 == algorithm && run->ranks - 1 != root) {
        mca_coll_pipering_below_send(run, run->ranks - 1, root, bytes, false);
    }
}

static void bcast(run_t *run, int algorithm, int root, double bytes, double unit)
{
    static const tree_t trees[] = {[1] = MCA_COLL_PIPERING_BELOW_LINEAR,
                                   [2] = MCA_COLL_PIPERING_BELOW_CHAIN,
                                   [3] = MCA_COLL_PIPERING_BELOW_CHAIN,
                                   [5] = MCA_COLL_PIPERING_BELOW_BINARY,
                                   [6] = MCA_COLL_PIPERING_BELOW_BINOMIAL,
                                   [7] = MCA_COLL_PIPERING_BELOW_KNOMIAL};

    if (4 == algorithm) {
        spread_halves(run, root, bytes, unit);
    } else if (8 == algorithm) {
        scatter_gather(run, root, bytes, unit);
    } else {
        mca_coll_pipering_below_spread(run, trees[algorithm], root, bytes, bytes);
    }
}

static void allreduce(run_t *run, int algorithm, double bytes, double unit)
{
    switch (algorithm) {
    case 1:
        mca_coll_pipering_below_collect(run, MCA_COLL_PIPERING_BELOW_LINEAR, 0, bytes, true);
        mca_coll_pipering_below_spread(run, MCA_COLL_PIPERING_BELOW_LINEAR, 0, bytes, bytes);
        break;
    case 3:
        double_vectors(run, bytes);
        break;
    case 4:
        run->block = bytes / run->ranks;
        mca_coll_pipering_below_ring(run, true);
        mca_coll_pipering_below_ring(run, false);
        break;
    case 6:
        rabenseifner(run, 0, bytes, unit, true);
        break;
    }
}

void mca_coll_pipering_below_play(run_t *run, mca_coll_pipering_collective_t collective,
                                  int algorithm, int root, double bytes, double unit)
{
    const bool scan = MCA_COLL_PIPERING_SCAN == collective;

    switch (collective) {
    case MCA_COLL_PIPERING_BCAST:
        bcast(run, algorithm, root, bytes, unit);
        break;
    case MCA_COLL_PIPERING_REDUCE:
        reduce(run, algorithm, root, bytes, unit);
        break;
    case MCA_COLL_PIPERING_ALLREDUCE:
        allreduce(run, algorithm, bytes, unit);
        break;
    case MCA_COLL_PIPERING_SCAN:
    case MCA_COLL_PIPERING_EXSCAN:
        for (int r = 0; r + 1 < run->ranks; ++r) {
            mca_coll_pipering_below_send(run, r, r + 1, bytes, scan || r + 2 < run->ranks);
        }
        break;
    default:
        break;
    }
}

/* In parts of 8 KiB from each rank to the next. */
static void reduce_chain(run_t *run, double bytes)
{
    const double parts = ceil(bytes / 8192), hops = run->ranks - 1, part = bytes / parts;
    const double wire = mca_coll_pipering_wire_bytes(run->net, 1, part) * run->net->beta;
    const double hop = mca_coll_pipering_below_start(run->net, part) + wire + part * run->combine;

    run->tally.time += (hops + parts - 1) * hop;
    mca_coll_pipering_below_count(run, run->net, hops * parts, hops * bytes, true);
}

#define LARGE 65536 /* bytes that coll/libnbc reduces in parts between few ranks */

void mca_coll_pipering_below_play_nbc(run_t *run, mca_coll_pipering_collective_t collective,
                                      int root, double bytes, double unit)
{
    const int p = run->ranks;

    if (MCA_COLL_PIPERING_BCAST == collective) {
        bcast(run, 4 < p ? 6 : 1, root, bytes, unit);
    } else if (2 < p && bytes / unit >= mca_coll_pipering_below_power(p)) {
        reduce(run, 7, root, bytes, unit);
    } else if (4 < p || LARGE > bytes) {
        reduce(run, 5, root, bytes, unit);
    } else {
        reduce_chain(run, bytes);
    }
}
