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
 * The circulant schedule, by the conditions that make it one, for all numbers of members up to
 * 4,096; and blocks from one root, round by round, for some.
 */

#include <string.h>

#include "coll_pipering_plan_circulant.h"
#include "tap.h"

#define MOST 4096
#define MOST_ROUNDS 12
#define MOST_BLOCKS 40

static signed char receives[MOST][MOST_ROUNDS], sends[MOST][MOST_ROUNDS];

/* The skips of the papers: halves of the number of members, rounded up. */
static int make_skips(int p, int *skip)
{
    int rounds = 0;

    while (1 << rounds < p) {
        rounds++;
    }
    skip[rounds] = p;
    for (int k = rounds - 1; 0 <= k; k--) {
        skip[k] = (skip[k + 1] + 1) / 2;
    }
    return rounds;
}

/* The smallest of the skips that add up to a place, the largest one first. */
static int base_of(int place, const int *skip, int rounds)
{
    int base = rounds;

    for (int k = rounds - 1; 0 <= k; k--) {
        if (skip[k] <= place) {
            place -= skip[k];
            base = k;
        }
    }
    return base;
}

/* Its own base block of this phase, and all others of the one before. */
static bool receives_all(int place, int base, int rounds)
{
    bool seen[2 * MOST_ROUNDS] = {false};

    for (int k = 0; k < rounds; k++) {
        const int entry = receives[place][k];

        if (-rounds > entry || rounds <= entry || seen[entry + rounds]) {
            return false;
        }
        seen[entry + rounds] = true;
    }
    return seen[base + rounds] && !seen[base];
}

/* What a partner expects is its base block of the phase before, or came in a round before. */
static bool sends_held(int place, int base, const int *skip, int rounds, int p)
{
    for (int k = 0; k < rounds; k++) {
        const int to = (place + skip[k]) % p;
        bool held = base - rounds == receives[to][k];

        for (int j = 0; j < k; j++) {
            held |= receives[place][j] == receives[to][k];
        }
        if (0 != to && !held) {
            return false;
        }
    }
    return true;
}

static void try_members(tap_tally_t *skips, tap_tally_t *all, tap_tally_t *held, int p)
{
    int skip[MOST_ROUNDS + 1];
    const int rounds = make_skips(p, skip);
    bool same = rounds == mca_coll_pipering_circulant_rounds(p);

    for (int k = 0; k <= rounds; k++) {
        same = same && skip[k] == mca_coll_pipering_circulant_skip(p, k);
    }
    tap_try(skips, same, "%d members", p);
    for (int place = 0; place < p; place++) {
        mca_coll_pipering_circulant_receives(p, place, receives[place]);
    }
    for (int place = 1; place < p; place++) {
        const int base = base_of(place, skip, rounds);

        tap_try(all, receives_all(place, base, rounds), "%d members, place %d", p, place);
        tap_try(held, sends_held(place, base, skip, rounds, p), "%d members, place %d", p, place);
    }
}

/* Members send what they have, each gets each block once, and partners agree. */
static bool runs(int p, int blocks)
{
    static bool has[MOST][MOST_BLOCKS];
    const int rounds = mca_coll_pipering_circulant_rounds(p);

    memset(has, 0, sizeof(has));
    memset(has[0], 1, (size_t) blocks);
    for (int place = 0; place < p; place++) {
        mca_coll_pipering_circulant_receives(p, place, receives[place]);
        mca_coll_pipering_circulant_sends(p, place, sends[place]);
    }
    for (int left = blocks - 2 + rounds; 0 <= left; left--) {
        const int k = rounds - 1 - left % rounds;
        static int comes[MOST];

        for (int place = 0; place < p; place++) {
            const int to = (place + mca_coll_pipering_circulant_skip(p, k)) % p;
            const int out = mca_coll_pipering_circulant_block(p, sends[place][k], blocks, left);

            comes[to] = mca_coll_pipering_circulant_block(p, receives[to][k], blocks, left);
            if (out != comes[to] || blocks <= out || (0 <= out && !has[place][out])
                || (0 <= out && has[to][out])) {
                return false;
            }
        }
        for (int place = 0; place < p; place++) {
            if (0 <= comes[place]) {
                has[place][comes[place]] = true;
            }
        }
    }
    for (int place = 0; place < p; place++) {
        for (int b = 0; b < blocks; b++) {
            if (!has[place][b]) {
                return false;
            }
        }
    }
    return true;
}

int main(void)
{
    tap_tally_t skips = {0, 0}, all = {0, 0}, held = {0, 0}, run = {0, 0};

    tap_start();
    for (int p = 2; p <= MOST; p++) {
        try_members(&skips, &all, &held, p);
    }
    for (int i = 0; i < 120; i++) {
        const int p = 100 > i ? 2 + i : tap_between(2, 400);
        const int blocks = tap_between(1, MOST_BLOCKS);

        tap_try(&run, runs(p, blocks), "%d members, %d blocks", p, blocks);
    }
    tally_ok(&skips, MOST - 1, "skips and rounds, up to %d members", MOST);
    tally_ok(&all, 8000000, "a phase brings each base block once");
    tally_ok(&held, 8000000, "a member sends what it has");
    tally_ok(&run, 120, "all blocks come to all members, once, in n - 1 + q rounds");
    return tap_end();
}
