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
 * Exchanges in packets by visits: one permutation for all ranks, whose lists are compared with
 * those that a sort of all packets gives, whom a rank visits being the next in it; and with a
 * single message under way each way all packets come through; large messages have larger
 * packets.
 */

#include "coll_pipering_plan_permuted.h"
#include "tap.h"

#include <string.h>

#define MOST 24     /* ranks */
#define PACKETS 512 /* of a rank */

/* An exchange, and the packets of each rank in their order. */
typedef struct trial_t {
    int ranks;
    int permutation[MOST];
    bool permuted;
    size_t packet, visit;
    size_t bytes[MOST][MOST]; /* from, to */
    size_t in[MOST][MOST];    /* the same by who receives */
    mca_coll_pipering_packet_t sent[MOST][PACKETS], received[MOST][PACKETS];
    size_t sends[MOST], receives[MOST];
} trial_t;

static mca_coll_pipering_permuted_plan_t plan_of(const trial_t *trial, int me, bool receives)
{
    return (mca_coll_pipering_permuted_plan_t){
        .permutation = trial->permuted ? trial->permutation : NULL,
        .ranks = trial->ranks,
        .me = me,
        .receives = receives,
        .bytes = receives ? trial->in[me] : trial->bytes[me],
        .packet = trial->packet,
        .visit = trial->visit};
}

static size_t list(const trial_t *trial, int me, bool receives, mca_coll_pipering_packet_t *packets)
{
    const mca_coll_pipering_permuted_plan_t plan = plan_of(trial, me, receives);
    mca_coll_pipering_visits_t visits;
    int peer[MOST];
    size_t count = 0;

    tap_garbage(peer, sizeof(peer));
    mca_coll_pipering_visits_begin(&visits, &plan, peer);
    while (count < PACKETS && mca_coll_pipering_visits_next(&visits, &packets[count])) {
        count++;
    }
    return count;
}

static void run(trial_t *trial)
{
    mca_coll_pipering_permutation(trial->ranks, trial->permutation);
    for (int me = 0; me < trial->ranks; me++) {
        for (int peer = 0; peer < trial->ranks; peer++) {
            trial->in[peer][me] = trial->bytes[me][peer];
        }
    }
    for (int me = 0; me < trial->ranks; me++) {
        trial->sends[me] = list(trial, me, false, trial->sent[me]);
        trial->receives[me] = list(trial, me, true, trial->received[me]);
    }
}

/* Messages of none to some packets, most of a few; also for oneself. */
static void draw(trial_t *trial, int ranks)
{
    trial->ranks = ranks;
    trial->permuted = !tap_once_in(4);
    trial->packet = (size_t) tap_between(1, 20);
    trial->visit = (size_t) tap_between(1, 4);
    for (int from = 0; from < ranks; from++) {
        for (int to = 0; to < ranks; to++) {
            const int most = tap_once_in(5) ? 20 : tap_once_in(3) ? 0 : 3;
            trial->bytes[from][to] = (size_t) tap_between(0, most * (int) trial->packet);
        }
    }
}

/* ---- the permutation ---- */

static void test_permutation(void)
{
    tap_tally_t each = {0, 0}, equal = {0, 0};
    size_t fixed = 0;

    for (int ranks = 1; ranks <= 300; ranks++) {
        int permutation[300], again[300], seen[300] = {0};
        bool all = true;

        tap_garbage(permutation, sizeof(permutation));
        mca_coll_pipering_permutation(ranks, permutation);
        (void) tap_random();
        mca_coll_pipering_permutation(ranks, again);
        for (int i = 0; i < ranks; i++) {
            all = all && 0 <= permutation[i] && ranks > permutation[i] && !seen[permutation[i]]++;
            fixed += permutation[i] == i;
        }
        tap_try(&each, all, "%d ranks", ranks);
        tap_try(&equal, 0 == memcmp(permutation, again, (size_t) ranks * sizeof(int)), "%d ranks",
                ranks);
    }
    tally_ok(&each, 300, "a permutation has each rank once");
    tally_ok(&equal, 300, "it is the same wherever it is made");
    ok(fixed > 100 && fixed < 1000, "about one rank of each keeps its place (%zu of 300)", fixed);
}

/* ---- lists ---- */

typedef struct step_t {
    size_t round;
    int visit;
    mca_coll_pipering_packet_t packet;
} step_t;

static int compare(const void *a, const void *b)
{
    const step_t *x = a, *y = b;

    if (x->round != y->round) {
        return x->round < y->round ? -1 : 1;
    }
    if (x->visit != y->visit) {
        return x->visit - y->visit;
    }
    return x->packet.offset < y->packet.offset ? -1 : 1;
}

/* Whom a rank is with at a visit of a round, by the words of the plan. */
static int target_of(const trial_t *trial, int me, int visit)
{
    const int place = (me + visit) % trial->ranks;
    return trial->permuted ? trial->permutation[place] : place;
}

static size_t reference(const trial_t *trial, int me, bool receives, step_t *keys)
{
    size_t count = 0;

    for (int other = 0; other < trial->ranks; other++) {
        const int from = receives ? other : me, to = receives ? me : other;
        const size_t bytes = trial->bytes[from][to];
        int visit = 0;

        while (to != target_of(trial, from, visit)) {
            visit++;
        }
        for (size_t at = 0, k = 0; at < bytes; at += trial->packet, k++) {
            const size_t left = bytes - at;
            const bool last = left <= trial->packet;
            keys[count++] = (step_t){k / trial->visit,
                                     visit,
                                     {other, at, last ? left : trial->packet, last}};
        }
    }
    qsort(keys, count, sizeof(keys[0]), compare);
    return count;
}

static bool is_reference(const trial_t *trial, int me, bool receives)
{
    const mca_coll_pipering_permuted_plan_t plan = plan_of(trial, me, receives);
    const mca_coll_pipering_packet_t *found = receives ? trial->received[me] : trial->sent[me];
    const size_t count = receives ? trial->receives[me] : trial->sends[me];
    step_t keys[PACKETS];

    if (reference(trial, me, receives, keys) != count
        || mca_coll_pipering_packets(&plan) != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (keys[i].packet.peer != found[i].peer || keys[i].packet.offset != found[i].offset
            || keys[i].packet.bytes != found[i].bytes || keys[i].packet.last != found[i].last) {
            return false;
        }
    }
    return true;
}

/* With one send and one receive of each rank under way: how many packets come through. */
static size_t drain(const trial_t *trial)
{
    size_t next_send[MOST] = {0}, next_receive[MOST] = {0}, moved = 0;

    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (int from = 0; from < trial->ranks; from++) {
            if (next_send[from] == trial->sends[from]) {
                continue;
            }
            const mca_coll_pipering_packet_t *out = &trial->sent[from][next_send[from]];
            const int to = out->peer;
            if (next_receive[to] < trial->receives[to]
                && trial->received[to][next_receive[to]].peer == from) {
                goes_on = trial->received[to][next_receive[to]++].bytes == out->bytes;
                next_send[from]++;
                moved++;
            }
        }
    }
    return moved;
}

static void test_lists(void)
{
    static trial_t trial;
    tap_tally_t lists = {0, 0}, drained = {0, 0};

    for (int i = 0; i < 3000; i++) {
        size_t all = 0;

        draw(&trial, 1 + i % (20 > i % 100 ? MOST : 6));
        run(&trial);
        for (int me = 0; me < trial.ranks; me++) {
            all += trial.sends[me];
            tap_try(&lists, is_reference(&trial, me, false), "sends of %d of %d", me, trial.ranks);
            tap_try(&lists, is_reference(&trial, me, true), "receives of %d of %d", me,
                    trial.ranks);
        }
        tap_try(&drained, drain(&trial) == all, "%d ranks, packets of %zu, visits of %zu",
                trial.ranks, trial.packet, trial.visit);
    }
    tally_ok(&lists, 10000, "packets come by round and visit, each byte once");
    tally_ok(&drained, 3000, "one message under way each way is enough");
}

/* ---- many packets ---- */

/* The packets of a message from rank 0 to rank 1; 0: the lists of both do not cut it alike. */
static size_t cut(size_t bytes, size_t packet)
{
    const size_t out[2] = {0, bytes}, in[2] = {bytes, 0};
    const mca_coll_pipering_permuted_plan_t plans[2]
        = {{.ranks = 2, .me = 0, .bytes = out, .packet = packet, .visit = 2},
           {.ranks = 2, .me = 1, .receives = true, .bytes = in, .packet = packet, .visit = 2}};
    mca_coll_pipering_visits_t visits[2];
    mca_coll_pipering_packet_t sent, received;
    int peer[2][2];
    size_t at = 0, packets = 0;

    for (int i = 0; i < 2; i++) {
        mca_coll_pipering_visits_begin(&visits[i], &plans[i], peer[i]);
    }
    for (; mca_coll_pipering_visits_next(&visits[0], &sent); packets++) {
        if (!mca_coll_pipering_visits_next(&visits[1], &received) || at != sent.offset
            || at != received.offset || sent.bytes != received.bytes || 0 == sent.bytes) {
            return 0;
        }
        at += sent.bytes;
    }
    const bool all = at == bytes && !mca_coll_pipering_visits_next(&visits[1], &received)
                     && packets == mca_coll_pipering_packets(&plans[0])
                     && packets == mca_coll_pipering_packets(&plans[1]);
    return all ? packets : 0;
}

static void test_many(void)
{
    const size_t most = MCA_COLL_PIPERING_PACKETS_MOST, large = ((size_t) 1 << 32) + 5;
    const size_t tiny = cut(large, 1);

    ok(most == cut(most, 1), "a message has up to %zu packets", most);
    ok(most / 2 + 1 == cut(most + 1, 1), "one byte more, and packets are larger");
    ok(0 < tiny && most >= tiny, "4 GiB in packets of 1 byte: %zu", tiny);
    ok(4097 == cut(large, (size_t) 1 << 20), "4 GiB in packets of 1 MiB");
}

int main(void)
{
    tap_start();
    test_permutation();
    test_lists();
    test_many();
    return tap_end();
}
