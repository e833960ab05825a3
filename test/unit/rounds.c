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
 * Rounds: the exact count against a ring that is simulated round by round, the
 * least M against bounds; the brute force over placements is in order.c.
 */

#include "coll_pipering_plan.h"
#include "ref.h"
#include "tap.h"

#define MOST 64

/* Blocks with many empties and now and then a large one. */
static void random_blocks(uint64_t *blocks, int p, int most)
{
    const uint64_t empties = tap_below(5);

    for (int i = 0; i < p; i++) {
        blocks[i] = tap_below(5) < empties ? 0 : 1 + tap_below((uint64_t) most);
        blocks[i] *= tap_once_in(12) ? 4 : 1;
    }
}

static void try_rounds(tap_tally_t *rounds, tap_tally_t *excess, const uint64_t *blocks, int p)
{
    const uint64_t found = mca_coll_pipering_rounds(blocks, p), expected = ref_rounds(blocks, p);
    const int64_t m = mca_coll_pipering_excess(blocks, p), best = ref_excess(blocks, p);

    tap_try(rounds, found == expected, "%s: %" PRIu64 " rounds, simulated %" PRIu64,
            ref_show(blocks, p), found, expected);
    tap_try(excess, m == best, "%s: M %" PRId64 ", by definition %" PRId64, ref_show(blocks, p), m,
            best);
}

static void test_random(void)
{
    tap_tally_t rounds = {0, 0}, excess = {0, 0};
    uint64_t blocks[MOST];

    for (int i = 0; i < 25000; i++) {
        const int p = tap_between(2, 0 == i % 50 ? MOST : 0 == i % 10 ? 16 : 12);

        random_blocks(blocks, p, tap_between(1, 8));
        try_rounds(&rounds, &excess, blocks, p);
    }
    tally_ok(&rounds, 20000, "rounds are those of the simulated ring");
    tally_ok(&excess, 20000, "M is the largest sum over arcs that leave out a block");
}

/* Every ring of p ranks with at most `most` blocks each. */
static void test_exhaustive(int p, uint64_t most)
{
    tap_tally_t rounds = {0, 0}, excess = {0, 0};
    uint64_t blocks[MOST] = {0};
    int i;

    do {
        try_rounds(&rounds, &excess, blocks, p);
        for (i = 0; i < p && most == blocks[i]; i++) {
            blocks[i] = 0;
        }
        if (i < p) {
            blocks[i]++;
        }
    } while (i < p);
    tally_ok(&rounds, 1, "rounds of every ring of %d ranks with up to %" PRIu64 " blocks", p, most);
    tally_ok(&excess, 1, "M of every such ring");
}

/* Weights and lags in eighths of a round, so that sums are exact; no block, no weight. */
static void random_times(const uint64_t *blocks, double *weight, double *lag, int p)
{
    const uint64_t most = 1 + tap_below(30);

    for (int i = 0; i < p; i++) {
        lag[i] = (double) (tap_once_in(3) ? 0 : tap_below(most)) / 8;
        weight[i] = 0 == blocks[i] ? 0 : (double) (1 + tap_below(8 * blocks[i])) / 8;
    }
}

static double delay_by_definition(const uint64_t *blocks, const double *weight, const double *lag,
                                  int p)
{
    const uint64_t all = ref_sum(blocks, p);
    double best = -1e300;

    for (int start = 0; start < p; start++) {
        uint64_t inside = 0;
        double sum = 0;

        for (int length = 1; length < p; length++) {
            const int i = (start + length - 1) % p;

            inside += blocks[i];
            sum += 1 + lag[i] - weight[i];
            best = inside < all && sum > best ? sum : best;
        }
    }
    return 2 > p || 0 == all ? 0 : best;
}

static void test_delay(void)
{
    tap_tally_t delay = {0, 0}, none = {0, 0};
    uint64_t blocks[MOST];
    double lag[MOST], weight[MOST], found, expected;

    for (int i = 0; i < 20000; i++) {
        const int p = tap_between(1, 16);

        random_blocks(blocks, p, tap_between(1, 8));
        random_times(blocks, weight, lag, p);
        found = mca_coll_pipering_delay(blocks, weight, lag, p);
        expected = delay_by_definition(blocks, weight, lag, p);
        tap_try(&delay, found == expected, "%s: %g, by definition %g", ref_show(blocks, p), found,
                expected);
        for (int r = 0; r < p; r++) {
            lag[r] = 0;
            weight[r] = (double) blocks[r];
        }
        expected = (double) mca_coll_pipering_excess(blocks, p);
        found = mca_coll_pipering_delay(blocks, NULL, NULL, p);
        tap_try(&none, found == expected
                           && found == mca_coll_pipering_delay(blocks, weight, lag, p),
                "%s: %g", ref_show(blocks, p), found);
    }
    tally_ok(&delay, 20000, "the delay is the largest sum over arcs that leave out a block");
    tally_ok(&none, 20000, "the delay without weights and lags is M");
}

/* The example of Figure 3: its rounds in rank order, and those that its least M gives. */
static void test_figure3(void)
{
    const uint64_t blocks[6] = {3, 3, 3, 0, 0, 0}, none[3] = {0, 0, 0};

    is(mca_coll_pipering_rounds(blocks, 6), 11, "Figure 3: rounds in rank order");
    is(9 - 1 + mca_coll_pipering_least_excess(blocks, 6), 9, "Figure 3: rounds, empties spread");
    is(mca_coll_pipering_least_excess(none, 3), 0, "no least M without a block");
}

static void test_huge(void)
{
    const uint64_t big = (uint64_t) 1 << 41;
    const uint64_t blocks[4] = {big, 0, big + 3, big};

    ok(3 * big + 3 - 1 + 1 == mca_coll_pipering_rounds(blocks, 4), "rounds of 2^41 blocks a rank");
    is(mca_coll_pipering_least_excess(blocks, 4), 1, "least M of 2^41 blocks a rank");
}

/* No order has fewer rounds than these bounds: what every rank takes in, what the largest needs to
 * get round, and the gap that z empties leave somewhere. */
static bool bounds_hold(const uint64_t *blocks, int p, int64_t m)
{
    const int64_t sum = (int64_t) ref_sum(blocks, p), rounds = sum - 1 + m;
    const int64_t z = ref_empties(blocks, p);

    return rounds >= sum - (int64_t) ref_least(blocks, p)
           && rounds >= p - 2 + (int64_t) ref_most(blocks, p)
           && (0 == z || rounds >= sum - 1 + (z + (p - z) - 1) / (p - z));
}

static void test_bounds(void)
{
    tap_tally_t bounds = {0, 0}, below = {0, 0}, shuffle = {0, 0};
    uint64_t blocks[200];

    for (int i = 0; i < 20000; i++) {
        const int p = tap_between(2, 0 == i % 20 ? 200 : 16);
        int64_t m;

        random_blocks(blocks, p, tap_between(1, 8));
        blocks[tap_below((uint64_t) p)] = 1 + tap_below(9);
        m = mca_coll_pipering_least_excess(blocks, p);
        tap_try(&bounds, bounds_hold(blocks, p, m), "%s: least M %" PRId64, ref_show(blocks, p), m);
        tap_try(&below, m <= mca_coll_pipering_excess(blocks, p), "%s: least M %" PRId64,
                ref_show(blocks, p), m);
        for (int x = p - 1; 0 < x; x--) {
            const uint64_t y = tap_below((uint64_t) x + 1), b = blocks[x];
            blocks[x] = blocks[y];
            blocks[y] = b;
        }
        tap_try(&shuffle, m == mca_coll_pipering_least_excess(blocks, p), "%s: was %" PRId64,
                ref_show(blocks, p), m);
    }
    tally_ok(&bounds, 20000, "the least M keeps the lower bounds of any ring");
    tally_ok(&below, 20000, "no order has less than the least M");
    tally_ok(&shuffle, 20000, "the least M does not depend on the order given");
}

int main(void)
{
    tap_start();
    test_figure3();
    for (int p = 1; p <= 6; p++) {
        test_exhaustive(p, 4 >= p ? 5 : 3);
    }
    test_random();
    test_huge();
    test_delay();
    test_bounds();
    return tap_end();
}
