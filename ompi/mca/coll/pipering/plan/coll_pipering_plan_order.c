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
 * Order: the position of each rank in the ring.
 *
 *     rank order, nodes A B     A0 A1 A2 | B0 B1 B2       one edge into and one
 *     ranks mapped A B A B A B  0  2  4  | 1  3  5        out of every node
 *
 *     b by rank 2 1 2 3 0 0     2  1  2  3  0  0          M = 2, 9 rounds
 *     empties placed            2  1  0  2  0  3          M = 1, 8 rounds
 *
 * An empty rank delays the blocks that pass it by a round (+1 on an arc), a rank of b_i
 * blocks makes up for b_i - 1 of these delays. With the ranks of a node together, a node of
 * e empty ranks is one item that adds e - sum min(M, b_i - 1) to the delay so far. M is
 * reached if the items have an order in which the delay never exceeds M. With one rank
 * a node these are the gaps of plan_rounds; with more ranks it is bin packing, which is
 * NP-hard. So the order is filled greedily for each M from the lower bound on, and searched
 * for exhaustively, within a fixed number of steps, where this misses the bound. Both are
 * limited by steps, not by time, so that all ranks find the same ring.
 *
 * Paper 2.2, Figures 1 and 3, and 2.3.
 */

#include <stdbool.h>
#include <string.h>

#include "coll_pipering_plan_ring.h"

/* Steps of the exhaustive search, more than 8 ranks need: a plan may serve a single call. */
#define SEARCH_STEPS 1000
/* Above this many ranks the exhaustive search would cover next to nothing of the space. */
#define SEARCH_RANKS 32
/* Limit of the greedy search: trials times ranks. */
#define GREEDY_WORK 400000

typedef struct {
    int p;
    int nodes;
    const uint64_t *blocks; /* by rank */
    int *node;              /* [p] node of a rank, numbered by lowest rank */
    int *member;            /* [p] ranks by node, fewest blocks first */
    int *first;             /* [p + 1] index in `member` of a node's first rank */
    int *trial;             /* [p] an order of ranks */
    int *best;              /* [p] the best order so far */
    int64_t best_excess;
    int best_senders;
    uint64_t *row; /* [p] blocks in the order of a trial */

    /* greedy search: linked lists of nodes by their change of the delay */
    int *next;         /* [p] next node of the same list */
    int *adds;         /* [p + 1] heads: nodes that add d to the delay, by d */
    int *takes;        /* [p + 1] heads: nodes that subtract d from it, by d */
    int adds_top;      /* the largest d of `adds` with a node */
    int takes_top;     /* the largest d of `takes` with a node */
    uint64_t *emptied; /* [p] number of empty ranks of a node */

    /* exhaustive search */
    bool *used; /* [p] by index in `member` */
    int64_t bound;
    int filled_left; /* ranks with blocks that are not placed yet */
    int steps;
} workspace_t;

size_t mca_coll_pipering_ring_size(int p)
{
    return (4 * (size_t) p + 1) * sizeof(int);
}

void mca_coll_pipering_ring_bind(mca_coll_pipering_ring_t *ring, int p, void *memory)
{
    int *ints = memory;

    ring->size = p;
    ring->nodes = 0;
    ring->rank = ints;
    ring->position = ints + p;
    ring->node = ints + 2 * (size_t) p;
    ring->first = ints + 3 * (size_t) p;
    ring->leaf_of = NULL;
    ring->turn = 0;
}

size_t mca_coll_pipering_order_scratch(int p)
{
    const size_t n = (size_t) p + 1;

    return 2 * n * sizeof(uint64_t) + 8 * n * sizeof(int) + n * sizeof(bool);
}

static void workspace_bind(workspace_t *w, int p, void *scratch)
{
    const size_t n = (size_t) p + 1;
    uint64_t *words = scratch;
    int *ints = (int *) (words + 2 * n);

    w->p = p;
    w->row = words;
    w->emptied = words + n;
    w->node = ints;
    w->member = ints + n;
    w->first = ints + 2 * n;
    w->trial = ints + 3 * n;
    w->best = ints + 4 * n;
    w->next = ints + 5 * n;
    w->adds = ints + 6 * n;
    w->takes = ints + 7 * n;
    w->used = (bool *) (ints + 8 * n);
}

/*
 * Numbers nodes by their leaf switches: all of a switch in a row, or `turn` of each of them in
 * turn. The first pass sorts them by switch.
 */
static void sort_by_leaf(workspace_t *w, const int *leaf_of, int turn)
{
    int *leaf = w->adds, *list = w->next, *end = w->best, *number = w->trial;
    int nodes = 0, leaves = 0, placed = 0;

    for (int r = 0; r < w->p; ++r) {
        number[r] = -1;
    }
    for (int r = 0; r < w->p; ++r) {
        if (w->node[r] < nodes) {
            continue;
        }
        if (0 > number[leaf_of[r]]) {
            end[leaves] = 0;
            number[leaf_of[r]] = leaves++;
        }
        leaf[nodes] = number[leaf_of[r]];
        ++end[leaf[nodes++]];
    }
    for (int i = 1; i < leaves; ++i) {
        end[i] += end[i - 1];
    }
    for (int j = nodes - 1; 0 <= j; --j) {
        list[--end[leaf[j]]] = j; /* so that `end` is the first one */
    }
    for (int from = 0; placed < nodes; from += 0 == turn ? nodes : turn) {
        for (int i = 0; i < leaves; ++i) {
            const int behind = i + 1 < leaves ? end[i + 1] : nodes;
            const int last = end[i] + from + turn;
            for (int k = end[i] + from; k < behind && (0 == turn || k < last); ++k) {
                number[list[k]] = placed++;
            }
        }
    }
    for (int r = 0; r < w->p; ++r) {
        w->node[r] = number[w->node[r]];
    }
}

/*
 * Numbers the nodes by their lowest rank, or by their leaf switches, and lists their ranks in rank
 * order.
 */
static void sort_by_node(workspace_t *w, const mca_coll_pipering_ring_t *ring, const int *node_of,
                         bool together)
{
    int *number = w->trial, *fill = w->best;

    w->nodes = 0;
    for (int r = 0; r < w->p; ++r) {
        number[r] = -1;
        w->first[r] = 0;
    }
    w->first[w->p] = 0;
    for (int r = 0; r < w->p; ++r) {
        const int name = together ? node_of[r] : r;
        if (0 > number[name]) {
            number[name] = w->nodes++;
        }
        w->node[r] = number[name];
    }
    if (NULL != ring->leaf_of) {
        sort_by_leaf(w, ring->leaf_of, ring->turn);
    }
    for (int r = 0; r < w->p; ++r) {
        ++w->first[w->node[r] + 1];
    }
    for (int j = 0; j < w->nodes; ++j) {
        w->first[j + 1] += w->first[j];
        fill[j] = w->first[j];
    }
    for (int r = 0; r < w->p; ++r) {
        w->member[fill[w->node[r]]++] = r;
    }
}

/* Within each node: the ranks of fewest blocks first, equals in rank order. */
static void sort_by_blocks(workspace_t *w)
{
    for (int j = 0; j < w->nodes; ++j) {
        w->emptied[j] = 0;
        for (int i = w->first[j]; i < w->first[j + 1]; ++i) {
            const int rank = w->member[i];
            int k = i;
            for (; k > w->first[j] && w->blocks[w->member[k - 1]] > w->blocks[rank]; --k) {
                w->member[k] = w->member[k - 1];
            }
            w->member[k] = rank;
            w->emptied[j] += 0 == w->blocks[rank];
        }
    }
}

/* Number of nodes whose last rank in the order is not empty. */
static int count_senders(const workspace_t *w, const int *order)
{
    int senders = 0;

    for (int i = 0; i < w->p; ++i) {
        const bool last = i + 1 == w->p || w->node[order[i + 1]] != w->node[order[i]];
        senders += last && 0 != w->blocks[order[i]];
    }
    return senders;
}

/* Keeps the trial if it has fewer rounds, or as many and more nodes that can send at once. */
static void judge(workspace_t *w)
{
    for (int i = 0; i < w->p; ++i) {
        w->row[i] = w->blocks[w->trial[i]];
    }

    const int64_t excess = mca_coll_pipering_excess(w->row, w->p);
    const int senders = count_senders(w, w->trial);

    if (excess < w->best_excess || (excess == w->best_excess && senders > w->best_senders)) {
        w->best_excess = excess;
        w->best_senders = senders;
        memcpy(w->best, w->trial, (size_t) w->p * sizeof(int));
    }
}

/* The delay that a node adds, or subtracts, where no delay above `limit` is allowed. */
static int64_t node_adds(const workspace_t *w, int node, int64_t limit)
{
    int64_t sum = (int64_t) w->emptied[node];

    for (int i = w->first[node] + (int) w->emptied[node]; i < w->first[node + 1]; ++i) {
        const int64_t room = (int64_t) w->blocks[w->member[i]] - 1;
        sum -= room < limit ? room : limit;
    }
    return sum;
}

/*
 * Orders the ranks of a node: empty ranks as early as the incoming delay allows, the rank
 * with most blocks last. Returns the outgoing delay.
 */
static int64_t lay_node(const workspace_t *w, int node, int64_t delay, int64_t limit,
                        int64_t last_limit, int *out)
{
    const int end = w->first[node + 1];
    int empty = w->first[node], full = empty + (int) w->emptied[node];
    const int empties_end = full;

    for (; full < end; ++full) {
        const int64_t top = full + 1 == end ? last_limit : limit;
        const int64_t room = (int64_t) w->blocks[w->member[full]] - 1;
        for (; empty < empties_end && delay < top; ++empty, ++delay) {
            *out++ = w->member[empty];
        }
        *out++ = w->member[full];
        delay = delay > room ? delay - room : 0;
    }
    for (; empty < empties_end; ++empty, ++delay) {
        *out++ = w->member[empty];
    }
    return delay;
}

static int clip(int64_t value, int p)
{
    return value > p ? p : (int) value;
}

/* Puts all nodes but `last` into the lists by their change of the delay. */
static void list_nodes(workspace_t *w, int64_t limit, int last)
{
    for (int i = 0; i <= w->p; ++i) {
        w->adds[i] = w->takes[i] = -1;
    }
    w->adds_top = w->takes_top = 0;
    for (int j = w->nodes - 1; j >= 0; --j) {
        if (last != j) {
            const int64_t sum = node_adds(w, j, limit);
            const int at = clip(sum > 0 ? sum : -sum, w->p);
            int *head = sum > 0 ? &w->adds[at] : &w->takes[at];
            int *top = sum > 0 ? &w->adds_top : &w->takes_top;
            w->next[j] = *head;
            *head = j;
            *top = at > *top ? at : *top;
        }
    }
}

static int take_from(workspace_t *w, int *heads, int from, int to, int step)
{
    for (int i = from; step > 0 ? i <= to : i >= to; i += step) {
        if (0 <= heads[i]) {
            const int node = heads[i];
            heads[i] = w->next[node];
            return node;
        }
    }
    return -1;
}

static void lower_tops(workspace_t *w)
{
    while (0 < w->adds_top && 0 > w->adds[w->adds_top]) {
        --w->adds_top;
    }
    while (0 < w->takes_top && 0 > w->takes[w->takes_top]) {
        --w->takes_top;
    }
}

/*
 * The next node: the one that adds most delay without exceeding the limit; else the one
 * that subtracts just enough for the remaining node that adds most; else any remaining one.
 */
static int pick_node(workspace_t *w, int64_t delay, int64_t limit)
{
    const int64_t left = limit - delay;
    int node = take_from(w, w->adds, left < w->adds_top ? (int) left : w->adds_top, 1, -1);

    if (0 <= node) {
        return node;
    }
    lower_tops(w);
    const int64_t needed = 0 == w->adds_top ? 0 : delay + w->adds_top - limit;
    node = take_from(w, w->takes, clip(needed > 0 ? needed : 0, w->p), w->takes_top, 1);
    if (0 > node) {
        node = take_from(w, w->takes, w->takes_top, 0, -1);
    }
    return 0 <= node ? node : take_from(w, w->adds, 1, w->adds_top, 1);
}

/* One greedy trial: no delay above `limit`, node `last` at the end. */
static void try_limit(workspace_t *w, int64_t limit, int last)
{
    const int64_t largest = (int64_t) w->blocks[w->member[w->first[last + 1] - 1]] - 1;
    const int64_t fill = limit < largest ? limit : largest;
    int64_t delay = 0;
    int *out = w->trial;

    list_nodes(w, limit, last);
    for (int placed = 0; placed + 1 < w->nodes; ++placed) {
        const int node = pick_node(w, delay, fill);
        delay = lay_node(w, node, delay, fill, fill, out);
        out += w->first[node + 1] - w->first[node];
    }
    (void) lay_node(w, last, delay, fill, limit, out);
    judge(w);
}

/* Whether a node can be the last: `largest`, or a non-empty one that adds no delay. */
static bool can_be_last(const workspace_t *w, int node, int largest, int64_t limit)
{
    return node == largest
           || (0 != w->blocks[w->member[w->first[node + 1] - 1]]
               && 0 >= node_adds(w, node, limit));
}

static void search_greedily(workspace_t *w)
{
    int64_t work = 0;
    int largest = 0;

    for (int j = 0; j < w->nodes; ++j) {
        const uint64_t blocks = w->blocks[w->member[w->first[j + 1] - 1]];
        largest = blocks > w->blocks[w->member[w->first[largest + 1] - 1]] ? j : largest;
    }
    for (int64_t limit = w->bound; limit < w->best_excess && work < GREEDY_WORK; ++limit) {
        for (int i = 0; i < w->nodes && limit < w->best_excess && work < GREEDY_WORK; ++i) {
            const int node = (largest + i) % w->nodes;
            if (can_be_last(w, node, largest, limit)) {
                try_limit(w, limit, node);
                work += w->p;
            }
        }
    }
}

/* The best order reaches the bound, and every node with data can send at once. */
static bool is_optimal(const workspace_t *w)
{
    int filled = 0;

    for (int j = 0; j < w->nodes; ++j) {
        filled += w->first[j + 1] - w->first[j] > (int) w->emptied[j];
    }
    return w->best_excess <= w->bound && w->best_senders == filled;
}

/*
 * Depth-first search over all orders that keep the ranks of a node together. `running` is
 * the largest arc that ends at the last placed rank, `top` the largest of all arcs so far
 * that leave out a block, which is a lower bound of M.
 */
static void search_all(workspace_t *w, int placed, int left_in_node, int64_t running, int64_t top)
{
    if (placed == w->p) {
        judge(w);
        return;
    }
    if (0 >= --w->steps || top > w->best_excess || is_optimal(w)) {
        return;
    }

    const int node = left_in_node > 0 ? w->node[w->trial[placed - 1]] : -1;
    const int from = 0 > node ? 0 : w->first[node];
    const int to = 0 > node ? (0 == placed ? w->first[1] : w->p) : w->first[node + 1];
    int tried = -1;

    for (int i = from; i < to; ++i) {
        const int rank = w->member[i], home = w->node[rank];
        const bool twin = 0 <= tried && w->node[w->member[tried]] == home
                          && w->blocks[w->member[tried]] == w->blocks[rank];
        if (w->used[i] || twin) {
            continue;
        }
        const int rest = 0 > node ? w->first[home + 1] - w->first[home] : left_in_node;
        const int64_t arc = (running > 0 ? running : 0) + 1 - (int64_t) w->blocks[rank];
        const int filled = 0 != w->blocks[rank];
        w->trial[placed] = rank;
        w->used[i] = true;
        w->filled_left -= filled;
        search_all(w, placed + 1, rest - 1, arc, 0 < w->filled_left && arc > top ? arc : top);
        w->filled_left += filled;
        w->used[i] = false;
        tried = i;
    }
}

static void place_empties(workspace_t *w)
{
    uint64_t empties = 0;

    for (int r = 0; r < w->p; ++r) {
        w->row[r] = w->blocks[r];
        empties += 0 == w->blocks[r];
    }
    if (0 == empties || (uint64_t) w->p == empties) {
        return;
    }

    w->bound = mca_coll_pipering_least_excess(w->row, w->p);
    w->best_excess = INT64_MAX;
    w->best_senders = 0;
    memcpy(w->trial, w->member, (size_t) w->p * sizeof(int));
    judge(w);
    sort_by_blocks(w);
    search_greedily(w);
    if (w->p <= SEARCH_RANKS && !is_optimal(w)) {
        w->steps = SEARCH_STEPS;
        w->filled_left = w->p - (int) empties;
        memset(w->used, 0, (size_t) w->p * sizeof(bool));
        search_all(w, 0, 0, 0, INT64_MIN);
    }
    memcpy(w->member, w->best, (size_t) w->p * sizeof(int));
}

void mca_coll_pipering_order(mca_coll_pipering_ring_t *ring, const int *node_of,
                             const uint64_t *blocks, unsigned flags, void *scratch)
{
    workspace_t w;
    int node = -1;

    workspace_bind(&w, ring->size, scratch);
    w.blocks = blocks;
    sort_by_node(&w, ring, node_of, 0 != (flags & MCA_COLL_PIPERING_ORDER_NODES));
    if (0 != (flags & MCA_COLL_PIPERING_ORDER_EMPTIES)) {
        place_empties(&w);
    }

    ring->nodes = 0;
    for (int x = 0; x < ring->size; ++x) {
        const int rank = w.member[x];
        if (w.node[rank] != node) {
            node = w.node[rank];
            ring->first[ring->nodes++] = x;
        }
        ring->rank[x] = rank;
        ring->position[rank] = x;
        ring->node[x] = ring->nodes - 1;
    }
    ring->first[ring->nodes] = ring->size;
}
