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
 * What the paper states of rounds: equation (1), the broadcast, the linear ring
 * as a special case, Figure 3, and the closed form of 2.3, which is corrected.
 */

#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "sim.h"
#include "tap.h"

#define MOST 64

static void test_equation1(void)
{
    tap_tally_t tally = {0, 0};
    uint64_t blocks[MOST];

    for (int i = 0; i < 5000; i++) {
        const int p = tap_between(2, MOST);
        uint64_t rounds;

        for (int r = 0; r < p; r++) {
            blocks[r] = 1 + tap_below(20);
        }
        rounds = ref_sum(blocks, p) - ref_least(blocks, p);
        tap_try(&tally,
                rounds == mca_coll_pipering_rounds(blocks, p)
                    && 1 - (int64_t) ref_least(blocks, p)
                           == mca_coll_pipering_least_excess(blocks, p),
                "%s: equation (1) gives %" PRIu64, ref_show(blocks, p), rounds);
    }
    tally_ok(&tally, 5000, "equation (1): b - min b_i without empties, in any order");
}

static void test_broadcast(void)
{
    tap_tally_t tally = {0, 0};
    uint64_t blocks[MOST];

    for (int p = 2; p <= MOST; p++) {
        for (uint64_t b = 1; b <= 100; b += 3) {
            memset(blocks, 0, sizeof(blocks));
            blocks[tap_below((uint64_t) p)] = b;
            tap_try(&tally,
                    b + (uint64_t) p - 2 == mca_coll_pipering_rounds(blocks, p)
                        && p - 1 == mca_coll_pipering_least_excess(blocks, p),
                    "%s", ref_show(blocks, p));
        }
    }
    tally_ok(&tally, 2000, "broadcast: b + p - 2, a linear pipeline");
    memset(blocks, 0, sizeof(blocks));
    blocks[0] = 32;
    is(mca_coll_pipering_rounds(blocks, 30), 29 + 31, "32 MB in blocks of 1 MB on 30 ranks (3.1)");
}

/* The rounds in rank order and with the empties placed, by plan and by simulation. */
static void check_figure(const uint64_t *blocks, int p, const char *name)
{
    const unsigned flags[2] = {0, MCA_COLL_PIPERING_ORDER_EMPTIES};
    const uint64_t rounds[2] = {11, 9};

    for (int i = 0; i < 2; i++) {
        uint64_t row[MOST];
        sim_plan_t plan;

        sim_plan(&plan, p, NULL, blocks, flags[i]);
        for (int x = 0; x < p; x++) {
            row[x] = blocks[plan.ring.rank[x]];
        }
        ok(rounds[i] == mca_coll_pipering_rounds(row, p) && rounds[i] == ref_rounds(row, p),
           "Figure 3, %s, %s: %" PRIu64 " rounds", name, i ? "placed" : "in rank order", rounds[i]);
        sim_plan_free(&plan);
    }
}

/* Figure 3's text: r = 11 by (1) with one block for each empty, 9 placed. */
static void test_figure3(void)
{
    const uint64_t three[6] = {3, 3, 3, 0, 0, 0}, two[6] = {4, 4, 0, 0, 0, 0};

    check_figure(three, 6, "three ranks of three blocks");
    check_figure(two, 6, "two ranks of four blocks");
}

/* The non-empty ranks equidistant, each with more blocks than empties in front of it. */
static void equidistant(uint64_t *blocks, int p, int z)
{
    const int full = p - z;

    memset(blocks, 0, (size_t) p * sizeof(*blocks));
    for (int i = 0; i < full; i++) {
        blocks[(i + 1) * p / full - 1] = (uint64_t) ((z + full - 1) / full) + 1 + tap_below(4);
    }
}

static void test_closed_form(void)
{
    tap_tally_t right = {0, 0}, floored = {0, 0}, least = {0, 0};
    unsigned long wrong = 0;
    uint64_t blocks[MOST];

    for (int i = 0; i < 5000; i++) {
        const int p = tap_between(3, MOST), z = tap_between(1, p - 2), full = p - z;
        uint64_t sum, rounds, ceiling = (uint64_t) ((z + full - 1) / full);

        equidistant(blocks, p, z);
        sum = ref_sum(blocks, p);
        rounds = mca_coll_pipering_rounds(blocks, p);
        tap_try(&right, sum - 1 + ceiling == rounds, "%s: %" PRIu64 " rounds", ref_show(blocks, p),
                rounds);
        tap_try(&least, (int64_t) ceiling == mca_coll_pipering_least_excess(blocks, p), "%s",
                ref_show(blocks, p));
        tap_try(&floored, (sum - 1 + (uint64_t) (z / full) == rounds) == (0 == z % full),
                "%s: %" PRIu64 " rounds", ref_show(blocks, p), rounds);
        wrong += sum - 1 + (uint64_t) (z / full) != rounds;
    }
    tally_ok(&right, 5000, "equidistant: b' - 1 + ceil(z / (p - z))");
    tally_ok(&least, 5000, "equidistant is optimal where all b_i > ceil(z / (p - z))");
    tally_ok(&floored, 5000, "the printed floor holds only if p - z divides z");
    ok(0 != wrong, "the printed floor is wrong on %lu of 5000", wrong);
}

/* ---- a regular problem is the linear ring ---- */

/* Block after block of rank `me`: its own, that of the rank before, ... */
static bool sends_linearly(const sim_plan_t *plan, const size_t *bytes,
                           size_t block_size, int me)
{
    const mca_coll_pipering_route_t *route = &plan->routes[me];
    const mca_coll_pipering_out_t *out = &route->out[MCA_COLL_PIPERING_RING_LINK];
    const int p = plan->ring.size;
    mca_coll_pipering_block_t block = {-1, 1, 0};
    mca_coll_pipering_walk_t walk;

    if (1 != route->outs || (me + 1) % p != out->peer || !out->own) {
        return false;
    }
    mca_coll_pipering_walk_init(&walk, &plan->ring, bytes, block_size, route->own);
    for (int round = 0; round < p - 1; round++) {
        if (!mca_coll_pipering_walk_next(&walk, &block) || (me + p - round) % p != block.rank
            || 0 != block.offset || bytes[0] != block.length) {
            return false;
        }
        if (0 == round) {
            mca_coll_pipering_walk_init(&walk, &plan->ring, bytes, block_size, out->forward);
        }
    }
    return !mca_coll_pipering_walk_next(&walk, &block);
}

static bool is_linear_ring(int p, size_t size)
{
    uint64_t blocks[MOST] = {0};
    size_t bytes[MOST] = {0};
    sim_plan_t plan;
    bool good;

    for (int r = 0; r < p; r++) {
        bytes[r] = size;
        blocks[r] = 1;
    }
    sim_plan(&plan, p, NULL, blocks, MCA_COLL_PIPERING_ORDER_EMPTIES);
    good = (uint64_t) p - 1 == mca_coll_pipering_rounds(blocks, p);
    for (int r = 0; r < p; r++) {
        good = good && sends_linearly(&plan, bytes, size, r);
    }
    good = good && p - 1 == sim_gather(&plan, bytes, size, sim_rounds_cost, 0);
    sim_plan_free(&plan);
    return good;
}

static void test_linear_ring(void)
{
    tap_tally_t tally = {0, 0};

    for (int p = 2; p <= MOST; p++) {
        tap_try(&tally, is_linear_ring(p, 1 + tap_below(100000)), "p = %d", p);
    }
    tally_ok(&tally, 50, "regular with B = m': the linear ring, block by block, p - 1 rounds");
}

int main(void)
{
    tap_start();
    test_equation1();
    test_broadcast();
    test_figure3();
    test_closed_form();
    test_linear_ring();
    return tap_end();
}
