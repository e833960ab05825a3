/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "ref.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t ref_sum(const uint64_t *blocks, int p)
{
    uint64_t sum = 0;

    for (int i = 0; i < p; i++) {
        sum += blocks[i];
    }
    return sum;
}

int ref_empties(const uint64_t *blocks, int p)
{
    int empties = 0;

    for (int i = 0; i < p; i++) {
        empties += 0 == blocks[i];
    }
    return empties;
}

uint64_t ref_least(const uint64_t *blocks, int p)
{
    uint64_t least = blocks[0];

    for (int i = 1; i < p; i++) {
        least = blocks[i] < least ? blocks[i] : least;
    }
    return least;
}

uint64_t ref_most(const uint64_t *blocks, int p)
{
    uint64_t most = blocks[0];

    for (int i = 1; i < p; i++) {
        most = blocks[i] > most ? blocks[i] : most;
    }
    return most;
}

int64_t ref_excess(const uint64_t *blocks, int p)
{
    uint64_t all = ref_sum(blocks, p);
    int64_t best = INT64_MIN;

    for (int start = 0; start < p && 0 != all; start++) {
        uint64_t inside = 0;
        int64_t sum = 0;

        for (int length = 1; length <= p; length++) {
            uint64_t b = blocks[(start + length - 1) % p];

            inside += b;
            sum += 1 - (int64_t) b;
            if (inside < all && sum > best) {
                best = sum;
            }
        }
    }
    return INT64_MIN == best ? 0 : best;
}

/* ---- the ring, round by round ---- */

typedef struct station_t {
    uint64_t own;     /* own blocks not sent yet */
    uint64_t missing; /* blocks of others not received yet */
    int *queue;       /* origins of the blocks to forward, in order of arrival */
    uint64_t head;
    uint64_t tail;
} station_t;

/* The origin of the block that a station sends in this round, or -1. */
static int station_send(station_t *station, int me)
{
    if (0 != station->own) {
        station->own--;
        return me;
    }
    return station->head < station->tail ? station->queue[station->head++] : -1;
}

static void station_receive(station_t *station, int me, int origin, int p)
{
    station->missing--;
    if ((me + 1) % p != origin) {
        station->queue[station->tail++] = origin;
    }
}

/* One round: all decide what to send before anything arrives. */
static bool ring_round(station_t *stations, int *sent, int p)
{
    bool missing = false;

    for (int i = 0; i < p; i++) {
        sent[i] = station_send(&stations[i], i);
    }
    for (int i = 0; i < p; i++) {
        if (0 <= sent[i]) {
            station_receive(&stations[(i + 1) % p], (i + 1) % p, sent[i], p);
        }
    }
    for (int i = 0; i < p; i++) {
        missing = missing || 0 != stations[i].missing;
    }
    return missing;
}

uint64_t ref_rounds(const uint64_t *blocks, int p)
{
    uint64_t all = ref_sum(blocks, p);
    station_t *stations = calloc((size_t) p, sizeof(*stations));
    int *sent = calloc((size_t) p, sizeof(*sent));
    int *queues = calloc((size_t) p * (all + 1), sizeof(*queues));
    uint64_t rounds = 0;

    assert(NULL != stations && NULL != sent && NULL != queues);
    for (int i = 0; i < p; i++) {
        stations[i].own = 1 < p ? blocks[i] : 0;
        stations[i].missing = all - blocks[i];
        stations[i].queue = queues + (size_t) i * (all + 1);
    }
    if (0 != all && 1 < p) {
        do {
            rounds++;
        } while (ring_round(stations, sent, p));
    }
    free(queues);
    free(sent);
    free(stations);
    return rounds;
}

/* ---- all orders ---- */

typedef struct search_t {
    const int *node_of;
    const uint64_t *blocks;
    int p;
    int order[REF_MOST_RANKS];
    bool used[REF_MOST_RANKS];
    ref_best_t best;
} search_t;

int ref_lasts(const int *order, const int *node_of, const uint64_t *blocks, int p)
{
    int lasts = 0;

    for (int x = 0; x < p; x++) {
        bool last = x == p - 1 || node_of[order[x]] != node_of[order[x + 1]];

        lasts += last && 0 != blocks[order[x]];
    }
    return lasts;
}

static void search_leaf(search_t *search)
{
    uint64_t ring[REF_MOST_RANKS];
    int64_t excess;
    int lasts = ref_lasts(search->order, search->node_of, search->blocks, search->p);

    for (int x = 0; x < search->p; x++) {
        ring[x] = search->blocks[search->order[x]];
    }
    excess = ref_excess(ring, search->p);
    if (0 == search->best.orders || excess < search->best.excess
        || (excess == search->best.excess && lasts > search->best.lasts)) {
        search->best.excess = excess;
        search->best.lasts = lasts;
    }
    search->best.orders++;
}

/* Has the node of the rank before position x another rank to place? */
static bool search_open(const search_t *search, int x)
{
    for (int r = 0; r < search->p && 0 < x; r++) {
        if (!search->used[r] && search->node_of[r] == search->node_of[search->order[x - 1]]) {
            return true;
        }
    }
    return false;
}

/* An unused lower rank of the same node and size stands for rank r. */
static bool search_twin(const search_t *search, int r)
{
    for (int s = 0; s < r; s++) {
        if (!search->used[s] && search->node_of[s] == search->node_of[r]
            && search->blocks[s] == search->blocks[r]) {
            return true;
        }
    }
    return false;
}

static void search_place(search_t *search, int x)
{
    bool open = search_open(search, x);

    if (x == search->p) {
        search_leaf(search);
        return;
    }
    for (int r = 0; r < search->p; r++) {
        bool same = 0 < x && search->node_of[r] == search->node_of[search->order[x - 1]];

        /* a ring may begin at any node: begin at that of rank 0 */
        if (search->used[r] || same != open || search_twin(search, r)
            || (0 == x && search->node_of[r] != search->node_of[0])) {
            continue;
        }
        search->used[r] = true;
        search->order[x] = r;
        search_place(search, x + 1);
        search->used[r] = false;
    }
}

static int senders(const int *node_of, const uint64_t *blocks, int p)
{
    int count = 0;

    for (int r = 0; r < p; r++) {
        bool first = 0 != blocks[r];

        for (int s = 0; s < r; s++) {
            first = first && (0 == blocks[s] || node_of[s] != node_of[r]);
        }
        count += first;
    }
    return count;
}

ref_best_t ref_best(const int *node_of, const uint64_t *blocks, int p)
{
    search_t search = {.node_of = node_of, .blocks = blocks, .p = p};

    assert(p <= REF_MOST_RANKS);
    search_place(&search, 0);
    search.best.senders = senders(node_of, blocks, p);
    return search.best;
}

bool ref_next_division(int *lowest, int p)
{
    for (int r = p - 1; 0 < r; r--) {
        for (int at = lowest[r] + 1; at <= r; at++) {
            if (at == r || lowest[at] == at) {
                lowest[r] = at;
                memset(lowest + r + 1, 0, (size_t) (p - 1 - r) * sizeof(int));
                return true;
            }
        }
    }
    return false;
}

/* ---- messages ---- */

static char *next_buffer(void)
{
    static char buffers[4][1024];
    static unsigned turn;

    return buffers[turn++ % 4];
}

const char *ref_show(const uint64_t *numbers, int p)
{
    char *text = next_buffer();
    int used = snprintf(text, 1024, "p=%d {", p);

    for (int i = 0; i < p && used < 980; i++) {
        used += snprintf(text + used, 1024 - (size_t) used, "%s%" PRIu64, 0 < i ? "," : "",
                         numbers[i]);
    }
    snprintf(text + used, 1024 - (size_t) used, "%s", used < 980 ? "}" : ",...}");
    return text;
}

const char *ref_show_int(const int *numbers, int p)
{
    char *text = next_buffer();
    int used = snprintf(text, 1024, "{");

    for (int i = 0; i < p && used < 980; i++) {
        used += snprintf(text + used, 1024 - (size_t) used, "%s%d", 0 < i ? "," : "", numbers[i]);
    }
    snprintf(text + used, 1024 - (size_t) used, "%s", used < 980 ? "}" : ",...}");
    return text;
}
