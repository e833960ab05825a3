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
 * Exchanges of unequal blocks in rounds: all members, round by round, with blocks of
 * all sizes.
 */

#include <string.h>

#include "common_colltools_exchange.h"
#include "ref.h"
#include "tap.h"

#define MEMBERS 70
#define BLOCK 4

typedef struct exchange_t {
    mca_common_colltools_exchange_t plan;
    int first[MEMBERS + 1];
    bool held[MEMBERS][MEMBERS * BLOCK];
    int out[MEMBERS];
    const char *fault;
} exchange_t;

enum { EQUAL, UNEQUAL, SPARSE, ONE, EMPTY, SHAPES };

static void open_exchange(exchange_t *ex, int count, int algorithm, int shape)
{
    const int chosen = tap_between(0, count - 1);

    memset(ex, 0, sizeof(*ex));
    ex->plan.count = count;
    ex->plan.first = ex->first;
    ex->plan.algorithm = (mca_common_colltools_algorithm_t) algorithm;
    ex->fault = "";
    ex->first[0] = tap_between(0, 1); /* the positions of a group begin anywhere */
    for (int i = 0; i < count; i++) {
        const int sizes[SHAPES] = {[EQUAL] = 2,
                                   [UNEQUAL] = tap_between(0, BLOCK - 1),
                                   [SPARSE] = tap_once_in(8) ? 3 : 0,
                                   [ONE] = i == chosen ? 3 : 0,
                                   [EMPTY] = 0};

        ex->first[i + 1] = ex->first[i] + sizes[shape];
        for (int x = ex->first[i]; x < ex->first[i + 1]; x++) {
            ex->held[i][x] = true;
        }
    }
}

static bool blame(exchange_t *ex, const char *fault)
{
    ex->fault = fault;
    return false;
}

/* All positions of some pieces are held, or none is. */
static bool all_held(const exchange_t *ex, int i, const mca_common_colltools_range_t *piece,
                     bool held)
{
    for (int n = 0; n < MCA_COMMON_COLLTOOLS_PIECES; n++) {
        for (int x = piece[n].from; x < piece[n].to; x++) {
            if (held != ex->held[i][x]) {
                return false;
            }
        }
    }
    return true;
}

static bool send_round(exchange_t *ex, int i, int k)
{
    const mca_common_colltools_round_t mine = mca_common_colltools_exchange_round(&ex->plan, i, k);

    if (0 > mine.to || ex->plan.count <= mine.to || i == mine.to) {
        return blame(ex, "no member to send to");
    }
    const mca_common_colltools_round_t other
        = mca_common_colltools_exchange_round(&ex->plan, mine.to, k);
    for (int n = 0; n < MCA_COMMON_COLLTOOLS_PIECES; n++) {
        if (mine.send[n].from > mine.send[n].to) {
            return blame(ex, "a piece that ends before it begins");
        }
        if (mine.send[n].from != other.recv[n].from || mine.send[n].to != other.recv[n].to) {
            return blame(ex, "what is sent is not what is received");
        }
        ex->out[i] += mine.send[n].to - mine.send[n].from;
    }
    if (!all_held(ex, i, mine.send, true)) {
        return blame(ex, "what is sent is not held");
    }
    return i == other.from || blame(ex, "who receives expects it from another one");
}

static bool receive_round(exchange_t *ex, int i, int k)
{
    const mca_common_colltools_round_t mine = mca_common_colltools_exchange_round(&ex->plan, i, k);

    if (!all_held(ex, i, mine.recv, false)) {
        return blame(ex, "something comes twice");
    }
    for (int n = 0; n < MCA_COMMON_COLLTOOLS_PIECES; n++) {
        for (int x = mine.recv[n].from; x < mine.recv[n].to; x++) {
            ex->held[i][x] = true;
        }
    }
    return true;
}

static bool run_exchange(exchange_t *ex)
{
    const int rounds = mca_common_colltools_exchange_rounds(&ex->plan), p = ex->plan.count;
    const mca_common_colltools_range_t all[MCA_COMMON_COLLTOOLS_PIECES]
        = {{ex->first[0], ex->first[p]}};

    for (int k = 0; k < rounds; k++) {
        for (int i = 0; i < p; i++) {
            if (!send_round(ex, i, k)) {
                return false;
            }
        }
        for (int i = 0; i < p; i++) {
            if (!receive_round(ex, i, k)) {
                return false;
            }
        }
    }
    for (int i = 0; i < p; i++) {
        if (!all_held(ex, i, all, true)) {
            return blame(ex, "something is missing at the end");
        }
    }
    return true;
}

static int wanted_rounds(const exchange_t *ex)
{
    int rounds = 0;

    if (MCA_COMMON_COLLTOOLS_RING == ex->plan.algorithm) {
        return ex->plan.count - 1;
    }
    for (int reached = 1; reached < ex->plan.count; reached *= 2) {
        rounds++;
    }
    return rounds;
}

/* Nothing comes twice, so what all receive is (p - 1) m; of equal blocks all send alike. */
static bool has_volume(const exchange_t *ex, int shape)
{
    const int p = ex->plan.count, all = ex->first[p] - ex->first[0];
    int out = 0;

    for (int i = 0; i < p; i++) {
        out += ex->out[i];
        if (EQUAL == shape && all / p * (p - 1) != ex->out[i]) {
            return false;
        }
    }
    return (p - 1) * all == out;
}

static void test_exchange(int algorithm, const char *name)
{
    tap_tally_t flow = {0, 0}, rounds = {0, 0}, volume = {0, 0};
    exchange_t ex;

    for (int count = 1; count <= MEMBERS; count++) {
        for (int i = 0; i < 3 * SHAPES; i++) {
            open_exchange(&ex, count, algorithm, i % SHAPES);
            tap_try(&flow, run_exchange(&ex), "%d members, shape %d: %s", count, i % SHAPES,
                    ex.fault);
            tap_try(&rounds, wanted_rounds(&ex) == mca_common_colltools_exchange_rounds(&ex.plan),
                    "%d members", count);
            tap_try(&volume, has_volume(&ex, i % SHAPES), "%d members, shape %d", count,
                    i % SHAPES);
        }
    }
    tally_ok(&flow, 1000, "%s: all blocks, once, in messages that fit", name);
    tally_ok(&rounds, 1000, "%s: rounds", name);
    tally_ok(&volume, 1000, "%s: (p - 1) m in all, and from each of equal blocks (p - 1) / p m",
             name);
}

int main(void)
{
    tap_start();
    test_exchange(MCA_COMMON_COLLTOOLS_DOUBLING, "recursive doubling");
    test_exchange(MCA_COMMON_COLLTOOLS_BRUCK, "Bruck");
    test_exchange(MCA_COMMON_COLLTOOLS_DISSEMINATION, "dissemination");
    test_exchange(MCA_COMMON_COLLTOOLS_RING, "ring");
    return tap_end();
}
