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
 * How many leaders a node should have: where several pay, against the inequality in
 * whole numbers that the model comes to.
 */

#include "coll_mleader_plan.h"
#include "tap.h"

#define LOADS 200000

static mca_coll_mleader_load_t random_load(void)
{
    return (mca_coll_mleader_load_t){.nodes = tap_between(2, 40),
                                     .ranks = tap_between(1, 64),
                                     .processors = tap_between(1, 64),
                                     .bytes = tap_below(tap_once_in(2) ? 1000 : 10000000),
                                     .message = tap_below(tap_once_in(4) ? 1 : 50000)};
}

static bool pays(const mca_coll_mleader_load_t *load, int leaders)
{
    return mca_coll_mleader_leading_cost(load, leaders) < mca_coll_mleader_leading_cost(load, 1);
}

/*
 * q (L - 1) m < bytes (1 - 1 / K): leaders with K of the processors, or with one where
 * they have less than that, which never pays.
 */
static bool should_pay(const mca_coll_mleader_load_t *load, int leaders)
{
    const bool crowded = load->ranks > load->processors;
    const int64_t over = crowded ? load->ranks : 1;
    const int64_t has = leaders * (crowded ? load->processors : 1);
    int64_t rounds = 0;

    for (int reach = 1; reach < load->nodes; reach *= 2) {
        rounds++;
    }
    return has > over
           && rounds * (leaders - 1) * (int64_t) load->message * has
                  < (int64_t) load->bytes * (has - over);
}

/* Where both sides are equal, rounding decides. */
static bool is_close(const mca_coll_mleader_load_t *load, int leaders)
{
    const double one = mca_coll_mleader_leading_cost(load, 1);
    const double many = mca_coll_mleader_leading_cost(load, leaders);

    return one - many < 1e-9 * one && many - one < 1e-9 * one;
}

static void test_choice(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < LOADS; n++) {
        const mca_coll_mleader_load_t load = random_load();
        const int leaders = tap_between(2, 16);

        tap_try(&tally,
                is_close(&load, leaders) || pays(&load, leaders) == should_pay(&load, leaders),
                "%d nodes, %d ranks on %d processors, %zu bytes, message %zu: %d leaders",
                load.nodes, load.ranks, load.processors, load.bytes, load.message, leaders);
    }
    tally_ok(&tally, LOADS, "several leaders pay where the inequality says so");
}

int main(void)
{
    tap_start();
    test_choice();
    return tap_end();
}
