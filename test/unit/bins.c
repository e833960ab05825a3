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
 * Bins: which messages there are, in which order they start, and that a pool never
 * gives the same byte twice. Orders are those of a slow sort by the words of the header: all ranks
 * start with another one at each step, or go through one order of all pairs.
 */

#include "coll_pipering_plan_bins.h"
#include "tap.h"

#include <string.h>

#define MOST 48

/* A rank's messages, and what is made of them. */
typedef struct trial_t {
    mca_coll_pipering_bins_plan_t plan;
    int peer[MOST];
    size_t bytes[MOST];
    size_t order[MOST + 1]; /* with a guard behind */
    uint64_t scratch[MOST];
    mca_coll_pipering_bins_t bins;
} trial_t;

static void run(trial_t *trial)
{
    trial->plan.bytes = trial->bytes;
    tap_garbage(trial->scratch, sizeof(trial->scratch));
    for (size_t i = 0; i <= MOST; i++) {
        trial->order[i] = SIZE_MAX;
    }
    trial->bins = mca_coll_pipering_bins(&trial->plan, trial->scratch, trial->order);
}

static int peer_of(const trial_t *trial, size_t message)
{
    return NULL == trial->plan.peer ? (int) message : trial->peer[message];
}

/* How far apart two ranks are around the end, and which of them begins, going up. */
static int pair_place(int p, int a, int b)
{
    const int up = (b - a + p) % p, down = (a - b + p) % p, low = a < b ? a : b;

    return up == down ? up * p + low : up < down ? up * p + a : down * p + b;
}

/* How many peers are before this one in the one order of all pairs; this rank itself is last. */
static int place_of_pair(int p, int me, int peer)
{
    int place = 0;

    for (int other = 0; other < p; other++) {
        place += other != me && (peer == me || pair_place(p, me, other) < pair_place(p, me, peer));
    }
    return place;
}

/* Its place among peers, by the words of the header. */
static int place_of(const trial_t *trial, int peer)
{
    const int p = trial->plan.ranks, me = trial->plan.me;
    int place = 0;

    if (MCA_COLL_PIPERING_BY_PAIR == trial->plan.sequence) {
        return place_of_pair(p, me, peer);
    }
    while ((me + 1 + place) % p != peer) {
        place++;
    }
    return place;
}

/* Some message with this peer is large. */
static bool goes_large(const trial_t *trial, int peer)
{
    for (size_t i = 0; i < trial->plan.count; i++) {
        if (peer_of(trial, i) == peer && 0 != trial->bytes[i]
            && trial->plan.small <= trial->bytes[i]) {
            return true;
        }
    }
    return false;
}

/* Message a must start before message b. */
static bool precedes(const trial_t *trial, size_t a, size_t b)
{
    const int pa = peer_of(trial, a), pb = peer_of(trial, b);
    const bool la = goes_large(trial, pa), lb = goes_large(trial, pb);

    if (pa == pb) {
        return a < b;
    }
    return la != lb ? lb : place_of(trial, pa) < place_of(trial, pb);
}

/* Each message that has bytes once, none else, in order; as many in each bin as belong there. */
static bool is_right(const trial_t *trial)
{
    size_t wanted[MOST], sent = 0, small = 0;

    for (size_t i = 0; i < trial->plan.count; i++) {
        if (0 != trial->bytes[i]) {
            size_t at = sent++;

            for (; 0 < at && precedes(trial, i, wanted[at - 1]); at--) {
                wanted[at] = wanted[at - 1];
            }
            wanted[at] = i;
            small += !goes_large(trial, peer_of(trial, i));
        }
    }
    return 0 == memcmp(wanted, trial->order, sent * sizeof(*wanted))
           && SIZE_MAX == trial->order[sent] && small == trial->bins.small
           && sent == small + trial->bins.large && sent + trial->bins.zero == trial->plan.count;
}

/* ---- random messages ---- */

static void throw_sizes(trial_t *trial)
{
    const unsigned kinds = 1 + (unsigned) tap_below(4);

    trial->plan.small = tap_once_in(4) ? 0 : tap_below(300);
    for (size_t i = 0; i < trial->plan.count; i++) {
        const size_t sizes[4] = {0, tap_below(100), trial->plan.small, tap_below(1000)};
        trial->bytes[i] = sizes[tap_below(kinds)];
    }
}

static void throw_trial(trial_t *trial)
{
    memset(trial, 0, sizeof(*trial));
    trial->plan.sequence = (mca_coll_pipering_sequence_t) tap_below(2);
    trial->plan.ranks = tap_between(1, MOST);
    trial->plan.me = (int) tap_below((uint64_t) trial->plan.ranks);
    trial->plan.count = tap_once_in(20) ? 0 : (size_t) trial->plan.ranks;
    if (tap_once_in(2)) {
        trial->plan.count = tap_below(MOST + 1);
        trial->plan.peer = trial->peer;
        for (size_t i = 0; i < trial->plan.count; i++) {
            trial->peer[i] = (int) tap_below((uint64_t) trial->plan.ranks);
        }
    }
    throw_sizes(trial);
}

static void test_random(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 20000; i++) {
        trial_t trial;

        throw_trial(&trial);
        run(&trial);
        tap_try(&tally, is_right(&trial), "trial %d: %zu messages of rank %d of %d, sequence %d", i,
                trial.plan.count, trial.plan.me, trial.plan.ranks, (int) trial.plan.sequence);
    }
    tally_ok(&tally, 20000, "each message with bytes once: small before large, peers in sequence, "
                            "one peer's messages as given");
}

/* ---- pairs ---- */

/* Of each pair one rank begins, and no rank begins many more than others. */
static bool one_begins(int p)
{
    for (int me = 0; me < p; me++) {
        int begun = 0;
        for (int peer = 0; peer < p; peer++) {
            const bool mine = mca_coll_pipering_begins_pair(p, me, peer);
            if (me != peer && mine == mca_coll_pipering_begins_pair(p, peer, me)) {
                return false;
            }
            begun += me != peer && mine;
        }
        if (begun < (p - 1) / 2 || begun > p / 2) {
            return false;
        }
    }
    return true;
}

static void test_pairs(void)
{
    tap_tally_t tally = {0, 0};

    for (int p = 2; p <= MOST; p++) {
        tap_try(&tally, one_begins(p), "%d ranks", p);
    }
    tally_ok(&tally, MOST - 1, "one of a pair begins, and each rank half of its pairs");
}

/* ---- pool ---- */

#define POOL 97

typedef struct pool_trial_t {
    mca_coll_pipering_pool_t pool;
    size_t offset[1000], bytes[1000];
    size_t oldest, next;
} pool_trial_t;

static bool overlaps(const pool_trial_t *trial, size_t offset, size_t bytes)
{
    for (size_t i = trial->oldest; i < trial->next; i++) {
        if (offset < trial->offset[i] + trial->bytes[i] && trial->offset[i] < offset + bytes) {
            return true;
        }
    }
    return POOL < offset + bytes;
}

/* Room for so many bytes in one piece, behind the youngest or before the oldest. */
static bool has_room(const pool_trial_t *trial, size_t bytes)
{
    size_t end = 0;

    if (trial->oldest < trial->next) {
        end = trial->offset[trial->next - 1] + trial->bytes[trial->next - 1];
    }
    return !overlaps(trial, end, bytes) || !overlaps(trial, 0, bytes);
}

static bool pool_holds(pool_trial_t *trial)
{
    while (trial->next < 1000) {
        const size_t bytes = 1 + tap_below(tap_once_in(3) ? POOL : 30);
        size_t *offset = &trial->offset[trial->next];
        const bool room = has_room(trial, bytes);

        if (mca_coll_pipering_pool_take(&trial->pool, bytes, offset) != room) {
            return false;
        }
        if (room) {
            if (overlaps(trial, *offset, bytes)) {
                return false;
            }
            trial->bytes[trial->next++] = bytes;
        }
        for (size_t n = room ? tap_below(2) : 1; 0 < n && trial->oldest < trial->next; n--) {
            trial->oldest++;
            mca_coll_pipering_pool_give(&trial->pool, trial->oldest < trial->next
                                                          ? trial->offset[trial->oldest]
                                                          : 0);
        }
    }
    return true;
}

static void test_pool(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 200; i++) {
        pool_trial_t trial = {.pool = {.size = POOL}};
        tap_try(&tally, pool_holds(&trial), "trial %d, message %zu", i, trial.next);
    }
    tally_ok(&tally, 200, "a pool gives room where there is some, and none twice");
}

int main(void)
{
    tap_start();
    test_random();
    test_pairs();
    test_pool();
    return tap_end();
}
