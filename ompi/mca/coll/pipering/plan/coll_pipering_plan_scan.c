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
 * Scans in log2 p rounds: in each a rank sends what it has to one further on, and puts what comes
 * before what it has. So operations need not commute.
 *
 *     rank                  0     1     2     3     4     5     6
 *     MPI_Scan              0     1     2     3     4     5     6
 *     round 0, to r + 1     0     01    12    23    34    45    56
 *     round 1, to r + 2     0     01    012   0-3   1-4   2-5   3-6
 *     round 2, to r + 4     0     01    012   0-3   0-4   0-5   0-6
 *
 *     MPI_Exscan
 *     round 0, to r + 1     .     0     1     2     3     4     5      the own value
 *     round 1, to r + 2     .     0     01    0-2   1-3   2-4   3-5    with the own value behind it
 *     round 2, to r + 3     .     0     01    0-2   0-3   0-4   0-5    then to r + 6, r + 12, ...
 *
 * Cost of m bytes: ceil(log2 p) rounds, or the least k with 3 x 2^(k - 2) >= p - 1, of a message of
 * m bytes, which is combined once, in round 1 of MPI_Exscan twice. Limits: all bytes go in each
 * round, and those of all ranks of a node leave it in those over its bound: for short vectors. The
 * pipeline of coll_pipering_plan_chain.c moves long ones once.
 *
 * Hillis and Steele, Data parallel algorithms (1986); Traeff, 123-doubling (arXiv 2507.04785).
 */

#include "coll_pipering_plan_scan.h"

#include <math.h>

typedef mca_coll_pipering_scan_t scan_t;

/* Ranks before its own that a rank has heard of before round k. */
static long long heard_of(const scan_t *scan, int k)
{
    return !scan->exclusive ? (1LL << k) - 1 : 2 > k ? k : 3LL << (k - 2);
}

/* Ranks between partners: what is sent begins with the own value, or with the one before. */
static long long skip_of(const scan_t *scan, int k)
{
    return heard_of(scan, k) + (scan->exclusive && 1 < k ? 0 : 1);
}

int mca_coll_pipering_scan_rounds(const scan_t *scan)
{
    int k = 0;

    while (heard_of(scan, k) < scan->ranks - 1) {
        ++k;
    }
    return k;
}

/* Without the own value rank 0 has nothing to pass on after round 1. */
static int first_of(const scan_t *scan, int k)
{
    return scan->exclusive && 1 < k ? 1 : 0;
}

int mca_coll_pipering_scan_to(const scan_t *scan, int me, int k)
{
    const long long to = me + skip_of(scan, k);

    return first_of(scan, k) <= me && to < scan->ranks ? (int) to : MCA_COLL_PIPERING_SCAN_NONE;
}

int mca_coll_pipering_scan_from(const scan_t *scan, int me, int k)
{
    const long long from = me - skip_of(scan, k);

    return first_of(scan, k) <= from ? (int) from : MCA_COLL_PIPERING_SCAN_NONE;
}

/* ---- model ---- */

/*
 * Messages that the busiest node sends to others in a round, and takes in; whether any stay inside.
 */
static size_t most_across(const mca_coll_pipering_scan_problem_t *problem, int k, size_t *local)
{
    const scan_t *scan = &problem->scan;
    const int *node_of = problem->node_of;
    size_t most = 0;

    *local = 0;
    for (int pass = 0; pass < 2; ++pass) { /* a node's messages out, then those in */
        for (int r = 0; r < scan->ranks; ++r) {
            problem->scratch[r] = 0;
        }
        for (int r = 0; r < scan->ranks; ++r) {
            const int other = 0 == pass ? mca_coll_pipering_scan_to(scan, r, k)
                                        : mca_coll_pipering_scan_from(scan, r, k);
            if (MCA_COLL_PIPERING_SCAN_NONE == other) {
                continue;
            }
            if (node_of[r] == node_of[other]) {
                *local += 0 == pass;
            } else {
                const size_t count = ++problem->scratch[node_of[r]];
                most = count > most ? count : most;
            }
        }
    }
    return most;
}

static double burst(const mca_coll_pipering_link_cost_t *link, double bytes, double all)
{
    return mca_coll_pipering_burst_time(link, 1, all, 0 < link->eager && bytes > link->eager);
}

double mca_coll_pipering_scan_time(const mca_coll_pipering_scan_problem_t *problem)
{
    const scan_t *scan = &problem->scan;
    const double bytes = (double) problem->bytes;
    mca_coll_pipering_work_t work = {0};
    double time = 0;

    for (int k = 0; k < mca_coll_pipering_scan_rounds(scan); ++k) {
        const double combined = (scan->exclusive ? 0 == k ? 0 : 1 == k ? 2 : 1 : 1)
                                * problem->combine * bytes;
        size_t local;
        const size_t across = most_across(problem, k, &local);
        const double net = 0 < across ? burst(&problem->cost.net, bytes, (double) across * bytes)
                                      : 0;
        time += fmax(net, 0 < local ? burst(&problem->cost.local, bytes, bytes) : 0) + combined;
        const double sent = (double) (scan->ranks - first_of(scan, k) - skip_of(scan, k));
        work.messages += sent - (double) local;
        work.bytes += (sent - (double) local) * bytes;
        work.local_messages += (double) local;
        work.local_bytes += (double) local * bytes;
        work.combining += sent * combined;
    }
    return mca_coll_pipering_crowded_time(&problem->cost, time,
                                          mca_coll_pipering_work_time(&problem->cost, &work),
                                          scan->ranks);
}
