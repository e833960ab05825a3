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
 * Scans in rounds: what each rank has heard of after all rounds, for all numbers of ranks up to
 * 600; and the model, of cases that can be counted by hand.
 */

#include "coll_pipering_plan_scan.h"
#include "tap.h"

#define MOST 600
#define NONE MCA_COLL_PIPERING_SCAN_NONE

/* Ranks [first, last], in this order; none: first > last. */
typedef struct {
    int first, last;
} ranks_t;

/* `front` directly before `behind`; false: ranks are missing between them, or there twice. */
static bool join(ranks_t front, ranks_t *behind)
{
    if (behind->first > behind->last) {
        *behind = front;
        return true;
    }
    const bool fits = front.last + 1 == behind->first;
    behind->first = front.first;
    return fits;
}

/*
 * What a rank sends in a round: what it has, in the first rounds of MPI_Exscan with its own value.
 */
static ranks_t sent(const mca_coll_pipering_scan_t *scan, ranks_t has, int me, int k)
{
    ranks_t own = {me, me};

    if (!scan->exclusive || 1 < k) {
        return has;
    }
    if (1 == k && has.first <= has.last) {
        own.first = has.first;
    }
    return own;
}

static bool runs(const mca_coll_pipering_scan_t *scan)
{
    static ranks_t has[MOST], came[MOST];
    const int p = scan->ranks;

    for (int r = 0; r < p; r++) {
        has[r] = scan->exclusive ? (ranks_t){0, -1} : (ranks_t){r, r};
    }
    for (int k = 0; k < mca_coll_pipering_scan_rounds(scan); k++) {
        for (int r = 0; r < p; r++) {
            const int to = mca_coll_pipering_scan_to(scan, r, k);
            const int from = mca_coll_pipering_scan_from(scan, r, k);

            if ((NONE != to && (r >= to || p <= to || r != mca_coll_pipering_scan_from(scan, to, k)))
                || (NONE != from && r != mca_coll_pipering_scan_to(scan, from, k))) {
                return false;
            }
            came[r] = NONE == from ? (ranks_t){0, -1} : sent(scan, has[from], from, k);
        }
        for (int r = 0; r < p; r++) {
            if (NONE != mca_coll_pipering_scan_from(scan, r, k) && !join(came[r], &has[r])) {
                return false;
            }
        }
    }
    for (int r = 0; r < p; r++) {
        if (scan->exclusive && 0 == r ? has[r].first <= has[r].last
                                      : 0 != has[r].first
                                            || r - (scan->exclusive ? 1 : 0) != has[r].last) {
            return false;
        }
    }
    return true;
}

/* The least number of rounds in which what is heard of doubles, the first one aside. */
static int least_rounds(const mca_coll_pipering_scan_t *scan)
{
    static const int exclusive[] = {0, 1, 3};
    int rounds = 0, heard = 1;

    if (!scan->exclusive) {
        for (; heard < scan->ranks; heard *= 2) {
            rounds++;
        }
        return rounds;
    }
    while (3 > rounds && exclusive[rounds] < scan->ranks - 1) {
        rounds++;
    }
    for (heard = 3; 2 < rounds && heard * 2 < scan->ranks - 1; heard *= 2) {
        rounds++;
    }
    return rounds;
}

#define ALPHA 1e-5
#define BETA 1e-9

static double time_of(int ranks, int ppn, bool exclusive, double combine)
{
    static int node_of[MOST];
    static size_t scratch[MOST];
    const mca_coll_pipering_link_cost_t net = {.alpha = ALPHA, .gap = ALPHA, .beta = BETA};
    const mca_coll_pipering_link_cost_t local = {.alpha = ALPHA / 10, .gap = ALPHA / 10,
                                                 .beta = BETA / 10};

    for (int r = 0; r < ranks; r++) {
        node_of[r] = r - r % ppn;
    }
    const mca_coll_pipering_scan_problem_t problem = {.scan = {ranks, exclusive},
                                                      .node_of = node_of,
                                                      .bytes = 1000,
                                                      .combine = combine,
                                                      .cost = {.net = net, .local = local},
                                                      .scratch = scratch};
    return mca_coll_pipering_scan_time(&problem);
}

static void test_model(void)
{
    const double m = 1000 * BETA;

    ok(tap_near(time_of(8, 1, false, 0), 3 * (ALPHA + m)), "8 nodes: 3 (a + m b)");
    ok(tap_near(time_of(9, 1, false, 1e-9), 4 * (ALPHA + 2 * m)),
       "9 nodes that combine as fast as links: 4 (a + 2 m b)");
    ok(tap_near(time_of(7, 1, true, 1e-9), 3 * (ALPHA + m) + 3 * m),
       "without the own value, 7 nodes: 3 rounds, 0 + 2 + 1 vectors combined");
    ok(tap_near(time_of(16, 4, false, 0), 2 * ALPHA + m * (1 + 2) + 2 * ALPHA + m * (4 + 4)),
       "4 nodes of 4: 1, 2, 4, 4 vectors leave a node");
    ok(0 == time_of(1, 1, false, 0) && 0 == time_of(1, 1, true, 0), "one rank: 0");
}

int main(void)
{
    tap_tally_t right = {0, 0}, least = {0, 0};

    tap_start();
    for (int p = 1; p <= MOST; p++) {
        for (int exclusive = 0; exclusive < 2; exclusive++) {
            const mca_coll_pipering_scan_t scan = {p, 0 < exclusive};

            tap_try(&right, runs(&scan), "%d ranks, exclusive %d", p, exclusive);
            tap_try(&least, least_rounds(&scan) == mca_coll_pipering_scan_rounds(&scan),
                    "%d ranks, exclusive %d: %d", p, exclusive,
                    mca_coll_pipering_scan_rounds(&scan));
        }
    }
    tally_ok(&right, 2 * MOST, "each rank has all before it, in their order");
    tally_ok(&least, 2 * MOST, "rounds");
    test_model();
    return tap_end();
}
