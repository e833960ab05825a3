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
 * Exchanges in rounds: those of unequal blocks among members, and those of ranks in groups that are
 * made of them, also in blocks. All members, round by round, for all numbers of members and of
 * groups, and what the model says of cases that can be counted by hand.
 */

#include <math.h>
#include <string.h>

#include "common_colltools_exchange.h"
#include "coll_pipering_plan.h"
#include "ref.h"
#include "tap.h"

#define MOST 70
#define BLOCK 4
#define ITEMS 1200
#define PACKED 100
#define MOST_BLOCKS 12

/* ---- rounds ---- */

/* What a member sends, or receives, in a round: items in their order, so many in each piece. */
typedef struct message_t {
    int peer, count;
    int piece[MCA_COMMON_COLLTOOLS_PIECES];
    int item[ITEMS];
    int runs;
    size_t run[ITEMS]; /* of a reduction */
} message_t;

/* The least part of a contribution that goes anywhere. */
typedef struct {
    int rank;
    size_t from, bytes;
} atom_t;

typedef struct instance_t instance_t;
typedef void list_fn_t(const instance_t *in, int me, int k, bool sends, message_t *message);

struct instance_t {
    list_fn_t *list;
    int p, rounds, items;
    bool held[MOST][ITEMS];
    int came[MOST][ITEMS]; /* rounds that were over then */
    const char *fault;
    /* members with blocks */
    mca_common_colltools_exchange_t plan;
    int first[MOST + 1];
    /* ranks in groups */
    int node_of[MOST];
    size_t bytes[MOST], before[MOST + 1];
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_grid_t grid;
    int first_piece[MOST][MOST + 1]; /* of the slots of each rank */
    mca_coll_pipering_piece_t piece[MOST][2 * MOST];
    mca_coll_pipering_slots_t slots[MOST];
    signed char turn[MOST][2 * MOST * 8];
    atom_t atom[ITEMS];
    int first_atom[MOST + 1]; /* of each rank */
    void *memory, *scratch;
};

static list_fn_t list_slots;
static bool knows_when(instance_t *in, int me, int k, bool sends);

static bool blame(instance_t *in, const char *fault)
{
    in->fault = fault;
    return false;
}

/* What is sent is held, and expected in this order by the other one. */
static bool send_round(instance_t *in, int me, int k)
{
    message_t mine, other;

    in->list(in, me, k, true, &mine);
    if (me == mine.peer && 0 == mine.count && list_slots == in->list) {
        return true; /* its group has fewer rounds, or none of its ranks has this lane */
    }
    if (0 > mine.peer || in->p <= mine.peer || me == mine.peer) {
        return blame(in, "nobody to send to");
    }
    in->list(in, mine.peer, k, false, &other);
    if (me != other.peer || mine.count != other.count
        || 0 != memcmp(mine.piece, other.piece, sizeof(mine.piece))
        || 0 != memcmp(mine.item, other.item, (size_t) mine.count * sizeof(int))
        || mine.runs != other.runs
        || 0 != memcmp(mine.run, other.run, (size_t) mine.runs * sizeof(size_t))) {
        return blame(in, "who receives expects something else");
    }
    for (int i = 0; i < mine.count; i++) {
        if (!in->held[me][mine.item[i]]) {
            return blame(in, "what is sent is not held");
        }
    }
    return list_slots != in->list || knows_when(in, me, k, true);
}

static bool receive_round(instance_t *in, int me, int k)
{
    message_t mine;

    in->list(in, me, k, false, &mine);
    for (int i = 0; i < mine.count; i++) {
        if (in->held[me][mine.item[i]]) {
            return blame(in, "something comes twice");
        }
        in->held[me][mine.item[i]] = true;
        in->came[me][mine.item[i]] = k + 1;
    }
    return true;
}

static bool run(instance_t *in)
{
    for (int k = 0; k < in->rounds; k++) {
        for (int me = 0; me < in->p; me++) {
            if (!send_round(in, me, k)) {
                return false;
            }
        }
        for (int me = 0; me < in->p; me++) {
            if (!receive_round(in, me, k)) {
                return false;
            }
        }
    }
    for (int me = 0; me < in->p; me++) {
        for (int i = 0; i < in->items; i++) {
            if (!in->held[me][i]) {
                return blame(in, "something is missing at the end");
            }
        }
    }
    return true;
}

static void clear(message_t *message, int peer)
{
    message->peer = peer;
    message->count = message->runs = 0;
    memset(message->piece, 0, sizeof(message->piece));
}

/* An item, or -1, which nobody holds, where it is none. */
static void add_item(const instance_t *in, message_t *message, int item)
{
    if (ITEMS > message->count) {
        message->item[message->count++] = 0 <= item && in->items > item ? item : ITEMS - 1;
    }
}

static int log2_up(int count)
{
    int rounds = 0;

    while (1 << rounds < count) {
        rounds++;
    }
    return rounds;
}

/* ---- blocks of members ---- */

enum { EQUAL, UNEQUAL, FEW, SINGLE, NOTHING, KINDS };

static void list_blocks(const instance_t *in, int me, int k, bool sends, message_t *message)
{
    const mca_common_colltools_round_t round
        = mca_common_colltools_exchange_round(&in->plan, me, k);
    const mca_common_colltools_range_t *piece = sends ? round.send : round.recv;

    clear(message, sends ? round.to : round.from);
    for (int n = 0; n < MCA_COMMON_COLLTOOLS_PIECES; n++) {
        message->piece[n] = piece[n].to - piece[n].from;
        for (int x = piece[n].from; x < piece[n].to; x++) {
            add_item(in, message, x - in->first[0]);
        }
        if (0 > message->piece[n]) {
            add_item(in, message, -1);
        }
    }
}

static void open_exchange(instance_t *in, int count, int algorithm, int shape)
{
    const int chosen = tap_between(0, count - 1);

    memset(in, 0, sizeof(*in));
    in->list = list_blocks;
    in->p = count;
    in->plan = (mca_common_colltools_exchange_t){
        .count = count,
        .first = in->first,
        .algorithm = (mca_common_colltools_algorithm_t) algorithm};
    in->fault = "";
    in->first[0] = tap_between(0, 1); /* the positions of a group begin anywhere */
    for (int i = 0; i < count; i++) {
        const int sizes[KINDS] = {[EQUAL] = 2,
                                  [UNEQUAL] = tap_between(0, BLOCK - 1),
                                  [FEW] = tap_once_in(8) ? 3 : 0,
                                  [SINGLE] = i == chosen ? 3 : 0,
                                  [NOTHING] = 0};

        in->first[i + 1] = in->first[i] + sizes[shape];
        for (int x = in->first[i]; x < in->first[i + 1]; x++) {
            in->held[i][x - in->first[0]] = true;
        }
    }
    in->items = in->first[count] - in->first[0];
    in->rounds = mca_common_colltools_exchange_rounds(&in->plan);
}

/* Of equal blocks all send alike, in whole pieces. */
static bool sends_alike(const instance_t *in)
{
    for (int me = 0; me < in->p; me++) {
        int sent = 0;

        for (int k = 0; k < in->rounds; k++) {
            message_t message;

            list_blocks(in, me, k, true, &message);
            sent += message.count;
        }
        if (in->items / in->p * (in->p - 1) != sent) {
            return false;
        }
    }
    return true;
}

static void test_exchange(int algorithm, const char *name)
{
    tap_tally_t flow = {0, 0}, rounds = {0, 0}, volume = {0, 0};
    static instance_t in;

    for (int count = 1; count <= MOST; count++) {
        const int wanted = MCA_COMMON_COLLTOOLS_RING == algorithm ? count - 1 : log2_up(count);

        for (int i = 0; i < 3 * KINDS; i++) {
            open_exchange(&in, count, algorithm, i % KINDS);
            tap_try(&flow, run(&in), "%d members, shape %d: %s", count, i % KINDS, in.fault);
            tap_try(&rounds, wanted == in.rounds, "%d members", count);
            if (EQUAL == i % KINDS) {
                tap_try(&volume, sends_alike(&in), "%d members", count);
            }
        }
    }
    tally_ok(&flow, 1000, "%s: all blocks, once, in messages that fit", name);
    tally_ok(&rounds, 1000, "%s: rounds", name);
    tally_ok(&volume, 200, "%s: from each of equal blocks (p - 1) / p m", name);
}

/* ---- ranks in groups ---- */

enum { REGULAR, OUTLIER, SPARSE, ONE, WILD, EMPTY, SHAPES };

static size_t bytes_of(int shape, int rank, int chosen)
{
    switch (shape) {
    case REGULAR:
        return 64;
    case OUTLIER:
        return rank == chosen ? 5000 : 8;
    case SPARSE:
        return tap_once_in(6) ? (size_t) tap_between(1, 300) : 0;
    case ONE:
        return rank == chosen ? 80000 : 0;
    case WILD:
        return (size_t) tap_between(0, 200);
    default:
        return 0;
    }
}

/* The first atom of bytes of a contribution, and the one behind them; equal: they are no atoms. */
static void find_atoms(const instance_t *in, int rank, size_t from, size_t bytes, int *first,
                       int *behind)
{
    const bool known = 0 <= rank && in->p > rank;
    const int end = known ? in->first_atom[rank + 1] : 0;

    *first = *behind = known ? in->first_atom[rank] : 0;
    while (*first < end && in->atom[*first].from < from) {
        ++*first;
    }
    *behind = *first;
    while (*behind < end && in->atom[*behind].from + in->atom[*behind].bytes <= from + bytes) {
        ++*behind;
    }
    if (*first == *behind || in->atom[*first].from != from
        || in->atom[*behind - 1].from + in->atom[*behind - 1].bytes != from + bytes) {
        *behind = *first;
    }
}

static bool holds(const instance_t *in, int me, const mca_coll_pipering_piece_t *piece)
{
    int i, behind;

    find_atoms(in, piece->rank, piece->from, piece->bytes, &i, &behind);
    bool all = i < behind;
    for (; i < behind; i++) {
        all = all && in->held[me][i];
    }
    return all;
}

static void hold(instance_t *in, int me, const mca_coll_pipering_piece_t *piece)
{
    int i, behind;

    find_atoms(in, piece->rank, piece->from, piece->bytes, &i, &behind);
    for (; i < behind; i++) {
        in->held[me][i] = true;
    }
}

/* Where block b of so many begins. */
static size_t block_begin(size_t bytes, size_t blocks, size_t b)
{
    return bytes / blocks * b + (b < bytes % blocks ? b : bytes % blocks);
}

static int compare_atoms(const void *a, const void *b)
{
    const atom_t *x = a, *y = b;

    return x->rank != y->rank   ? x->rank - y->rank
           : x->from < y->from ? -1
                                : x->from > y->from;
}

/* Cuts the pieces of a slot of rank 0 into blocks of its share. */
static void cut_slot(instance_t *in, int s)
{
    size_t share = 0, at = 0;

    for (int i = in->first_piece[0][s]; i < in->first_piece[0][s + 1]; i++) {
        share += in->piece[0][i].bytes;
    }
    const size_t blocks = share <= in->grid.block
                              ? 1
                              : (share + in->grid.block - 1) / in->grid.block;
    for (int i = in->first_piece[0][s]; i < in->first_piece[0][s + 1]; i++) {
        const mca_coll_pipering_piece_t *piece = &in->piece[0][i];

        for (size_t b = 0; b < blocks; b++) {
            const size_t begin = block_begin(share, blocks, b);
            const size_t end = block_begin(share, blocks, b + 1);
            const size_t from = begin > at ? begin : at;
            const size_t last = end < at + piece->bytes ? end : at + piece->bytes;

            if (from < last && ITEMS > in->items) {
                in->atom[in->items++] = (atom_t){piece->rank, piece->from + from - at, last - from};
            }
        }
        at += piece->bytes;
    }
}

static void make_atoms(instance_t *in)
{
    in->items = 0;
    for (int s = 0; s < in->grid.lanes * in->grid.groups; s++) {
        cut_slot(in, s);
    }
    qsort(in->atom, (size_t) in->items, sizeof(atom_t), compare_atoms);
    for (int rank = 0, i = 0; rank <= in->p; rank++) {
        while (i < in->items && in->atom[i].rank < rank) {
            i++;
        }
        in->first_atom[rank] = i;
    }
}

/* What a rank sends, or receives, in a round. */
static mca_coll_pipering_parts_t parts_of(const instance_t *in, int me, int k, bool sends)
{
    return mca_coll_pipering_grid_parts(&in->grid, &in->slots[me], me, k, sends);
}

/*
 * The runs of a round are its parts, up to a segment each, shorter only where one does not adjoin.
 */
static void list_runs(const instance_t *in, int me, int k, bool sends, message_t *message)
{
    mca_coll_pipering_parts_t parts = parts_of(in, me, k, sends);
    mca_coll_pipering_run_t run, last = {0, 0};
    size_t left = 0;

    for (mca_coll_pipering_parts_t all = parts; mca_coll_pipering_parts_next(&all);) {
        left += all.bytes;
    }
    while (mca_coll_pipering_parts_run(&parts, &run)) {
        const bool within = last.begin <= run.begin && run.begin < last.begin + last.count;
        const bool adjoins = 0 < last.count && run.begin == last.begin + last.count;
        const bool one = 1 == in->grid.blocks && !in->grid.adjoin;
        if (ITEMS == message->runs || left < run.count || in->grid.segment < run.count || within
            || (one && adjoins && last.count < in->grid.segment)) {
            add_item(in, message, -1);
            return;
        }
        message->run[message->runs++] = run.count;
        left -= run.count;
        last = run;
    }
    if (0 < left || (in->grid.adjoin && 2 < message->runs)) {
        add_item(in, message, -1);
    }
}

static void list_slots(const instance_t *in, int me, int k, bool sends, message_t *message)
{
    const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&in->grid, me, k);
    const mca_coll_pipering_span_t span = sends ? round.send : round.recv;
    const int count = in->grid.lanes * in->grid.groups;
    mca_coll_pipering_parts_t parts = parts_of(in, me, k, sends);
    size_t end = SIZE_MAX; /* of the packed pieces so far */
    int last = -1;         /* behind the atoms of the part before */

    clear(message, sends ? round.to : round.from);
    if (0 > span.first || 0 > span.count || count < span.first + span.count) {
        add_item(in, message, -1);
        return;
    }
    while (mca_coll_pipering_parts_next(&parts)) {
        const size_t begin = parts.piece->offset + parts.from;
        int i, behind;

        find_atoms(in, parts.piece->rank, parts.piece->from + parts.from, parts.bytes, &i, &behind);
        if (i == behind || (in->grid.adjoin && parts.begins == (i == last))) {
            add_item(in, message, -1); /* a run is of contributions in the order of ranks */
        }
        last = behind;
        for (; i < behind; i++) {
            add_item(in, message, i);
        }
        if (!parts.piece->large && SIZE_MAX > in->grid.packed) {
            if (SIZE_MAX != end && begin != end) { /* packed pieces of a round are a message */
                add_item(in, message, -1);
            }
            end = begin + parts.bytes;
        }
    }
    if (SIZE_MAX == in->grid.packed || in->grid.adjoin) {
        list_runs(in, me, k, sends, message);
    }
}

/*
 * Whether a rank has each part that it sends by the round that the part says; backwards, whether
 * all that is combined with a part that it sends is there by then.
 */
static bool knows_when(instance_t *in, int me, int k, bool sends)
{
    mca_coll_pipering_parts_t parts = parts_of(in, me, k, sends);

    while (mca_coll_pipering_parts_next(&parts)) {
        int i, behind;

        find_atoms(in, parts.piece->rank, parts.piece->from + parts.from, parts.bytes, &i, &behind);
        for (; i < behind; i++) {
            if (sends ? k < parts.since || in->came[me][i] > parts.since
                      : k >= parts.until || in->came[me][i] < parts.until) {
                return blame(in, "a part is not there when it says");
            }
        }
    }
    return true;
}

/* Nodes of so many ranks each (0: of any number), ranks dealt out to them in some order. */
static void open_instance(instance_t *in, int p, int ranks, int shape)
{
    const int chosen = tap_between(0, p - 1), stride = tap_between(1, p);
    uint64_t blocks[MOST] = {0};
    int label[MOST];

    memset(in, 0, sizeof(*in));
    in->list = list_slots;
    in->p = p;
    in->fault = "";
    for (int r = 0; r < p; r++) {
        int lowest = 0;

        label[r] = 0 == ranks ? tap_between(0, stride - 1) % p : r % (p / ranks);
        in->bytes[r] = bytes_of(shape, r, chosen);
        while (label[lowest] != label[r]) {
            lowest++;
        }
        in->node_of[r] = lowest;
    }
    in->memory = tap_memory(mca_coll_pipering_ring_size(p));
    in->scratch = tap_memory(mca_coll_pipering_order_scratch(p));
    mca_coll_pipering_ring_bind(&in->ring, p, in->memory);
    mca_coll_pipering_order(&in->ring, in->node_of, blocks, MCA_COLL_PIPERING_ORDER_NODES,
                            in->scratch);
}

/* Groups of ranks, and blocks of at most so many bytes. */
static void make_grid(instance_t *in, int groups, size_t packed, size_t block)
{
    mca_coll_pipering_grid_make(&in->grid, &in->ring, in->bytes, in->before, groups, packed);
    if (SIZE_MAX > block) {
        mca_coll_pipering_grid_cut(&in->grid, block);
    }
    if (SIZE_MAX == packed && tap_once_in(2)) { /* of a reduction; runs of a round are up to ITEMS */
        const size_t least = 1 + in->before[in->p] / (ITEMS / 2);
        in->grid.segment = least + tap_below(1 + in->before[in->p] / 2);
    }
    in->rounds = mca_coll_pipering_grid_rounds(&in->grid);
}

/* The slots of all ranks; at first a rank holds the pieces of its own. */
static void fill_slots(instance_t *in)
{
    for (int me = 0; me < in->p; me++) {
        mca_coll_pipering_slots_t *slots = &in->slots[me];

        slots->first = in->first_piece[me];
        slots->piece = in->piece[me];
        slots->turn = in->turn[me];
        mca_coll_pipering_grid_slots(&in->grid, me, slots);
    }
    make_atoms(in);
    memset(in->held, 0, sizeof(in->held));
    memset(in->came, 0, sizeof(in->came));
    for (int me = 0; me < in->p; me++) {
        const mca_coll_pipering_slots_t *slots = &in->slots[me];

        for (int i = slots->first[slots->own.first];
             i < slots->first[slots->own.first + slots->own.count]; i++) {
            hold(in, me, &slots->piece[i]);
        }
    }
}

static void close_instance(instance_t *in)
{
    free(in->memory);
    free(in->scratch);
}

/* Each byte of each contribution stands in one piece of every rank; pieces of a kind adjoin. */
static bool has_pieces(instance_t *in)
{
    for (int me = 0; me < in->p; me++) {
        const mca_coll_pipering_slots_t *slots = &in->slots[me];
        size_t covered[MOST] = {0}, end[2] = {0, 0};

        for (int i = 0; i < slots->first[in->grid.lanes * in->grid.groups]; i++) {
            const mca_coll_pipering_piece_t *piece = &slots->piece[i];
            const bool large = piece->large;

            if (large != (PACKED < piece->bytes && !in->grid.adjoin) && 1 == in->grid.blocks
                && SIZE_MAX > in->grid.packed) {
                return blame(in, "a piece is of the other kind");
            }
            if (0 > piece->rank || in->p <= piece->rank || 0 == piece->bytes
                || piece->from + piece->bytes > in->bytes[piece->rank]
                || end[large] != piece->offset) {
                return blame(in, "a piece is wrong");
            }
            for (int j = 0; j < i; j++) {
                const mca_coll_pipering_piece_t *other = &slots->piece[j];

                if (other->rank == piece->rank && other->from < piece->from + piece->bytes
                    && piece->from < other->from + other->bytes) {
                    return blame(in, "pieces overlap");
                }
            }
            covered[piece->rank] += piece->bytes;
            end[large] += piece->bytes;
        }
        if (0 != memcmp(covered, in->bytes, (size_t) in->p * sizeof(size_t))
            || end[0] != slots->packed || end[1] != slots->large) {
            return blame(in, "pieces are not all");
        }
    }
    return true;
}

/* Shares of a group are as equal as bytes can be, and a rank is given what it lacks of its own. */
static bool is_even(instance_t *in)
{
    int given = 0, taken = 0;

    for (int me = 0; me < in->p; me++) {
        const mca_coll_pipering_slots_t *slots = &in->slots[me];
        size_t share = 0;

        for (int lane = 0; lane < in->grid.lanes; lane++) {
            const mca_coll_pipering_piece_t *piece
                = mca_coll_pipering_grid_given(&in->grid, slots, me, lane);
            const int member = mca_coll_pipering_grid_member(&in->grid, me, lane);

            if (NULL == piece) {
                continue;
            }
            given++;
            if (me != piece->rank || me == member || !holds(in, member, piece)) {
                return blame(in, "a rank is given what it does not want");
            }
        }
        if (0 == slots->own.count) {
            continue;
        }
        for (int i = slots->first[slots->own.first]; i < slots->first[slots->own.first + 1]; i++) {
            taken += me != slots->piece[i].rank;
            share += slots->piece[i].bytes;
        }
        size_t bytes = 0;
        for (int g = 0; g < in->grid.groups; g++) {
            const int first = mca_coll_pipering_grid_first(&in->grid, g);
            const int x = in->ring.position[me];

            bytes = first <= x && x < mca_coll_pipering_grid_first(&in->grid, g + 1)
                        ? mca_coll_pipering_grid_bytes(&in->grid, g)
                        : bytes;
        }
        if (share != bytes / (size_t) in->grid.lanes
            && share != bytes / (size_t) in->grid.lanes + 1) {
            return blame(in, "a share is not even");
        }
    }
    return given == taken || blame(in, "something is given that nobody takes");
}

/* Each byte enters each node but its own once. */
static bool enters_once(const instance_t *in)
{
    uint64_t lacks[MOST] = {0};
    bool right = true;

    for (int r = 0; r < in->p; r++) {
        for (int node = 0; node < in->p; node++) {
            lacks[node] += in->node_of[node] == node && in->node_of[r] != node ? in->bytes[r] : 0;
        }
    }
    for (int me = 0; me < in->p; me++) {
        for (int k = 0; k < in->rounds; k++) {
            message_t message;

            list_slots(in, me, k, false, &message);
            for (int i = 0; i < message.count; i++) {
                lacks[in->node_of[me]] -= in->node_of[me] == in->node_of[message.peer]
                                              ? 0
                                              : in->atom[message.item[i]].bytes;
            }
        }
    }
    for (int node = 0; node < in->p; node++) {
        right &= 0 == lacks[node];
    }
    return right;
}

/* Ranks whose values of an item a rank has combined. */
typedef struct {
    uint64_t low, high;
} ranks_t;

/*
 * The rounds backwards, as reductions go: values of a piece are combined once each, and those of
 * all ranks end where its share is.
 */
static bool runs_back(instance_t *in)
{
    static ranks_t has[MOST][ITEMS];
    message_t message;

    for (int me = 0; me < in->p; me++) {
        for (int i = 0; i < in->items; i++) {
            has[me][i] = (ranks_t){64 > me ? UINT64_C(1) << me : 0,
                                   64 > me ? 0 : UINT64_C(1) << (me - 64)};
        }
    }
    for (int me = 0; me < in->p; me++) {
        for (int i = 0; i < in->items; i++) {
            in->came[me][i] = in->rounds; /* the least round that combines */
        }
    }
    for (int k = in->rounds - 1; 0 <= k; k--) {
        for (int me = 0; me < in->p; me++) {
            list_slots(in, me, k, false, &message);
            if (!knows_when(in, me, k, false)) {
                return false;
            }
            for (int i = 0; i < message.count; i++) {
                ranks_t *mine = &has[me][message.item[i]];
                ranks_t *its = &has[message.peer][message.item[i]];

                if (0 != (mine->low & its->low) || 0 != (mine->high & its->high)
                    || 0 == (mine->low | mine->high)) {
                    return blame(in, "values are combined twice, or go twice");
                }
                *its = (ranks_t){its->low | mine->low, its->high | mine->high};
                in->came[message.peer][message.item[i]] = k;
                *mine = (ranks_t){0, 0};
            }
        }
    }
    for (int me = 0; me < in->p; me++) {
        const mca_coll_pipering_slots_t *slots = &in->slots[me];
        for (int i = slots->first[slots->own.first];
             i < slots->first[slots->own.first + slots->own.count]; i++) {
            int at, behind;

            find_atoms(in, slots->piece[i].rank, slots->piece[i].from, slots->piece[i].bytes, &at,
                       &behind);
            for (; at < behind; at++) {
                const ranks_t all = has[me][at];
                if (in->p != __builtin_popcountll(all.low) + __builtin_popcountll(all.high)) {
                    return blame(in, "values of a rank are missing");
                }
            }
        }
    }
    return true;
}

typedef struct findings_t {
    tap_tally_t pieces, even, flow, back, rounds, entered;
} findings_t;

/* A block of which the largest share has any number, or all of it. */
static size_t some_block(instance_t *in, int groups)
{
    make_grid(in, groups, PACKED, SIZE_MAX);
    const size_t largest = mca_coll_pipering_grid_largest(&in->grid);
    return 0 == largest ? 1 : largest / (size_t) tap_between(1, MOST_BLOCKS) + 1;
}

static void try_instance(findings_t *found, instance_t *in, int groups, bool cut)
{
    const size_t block = cut ? some_block(in, groups) : SIZE_MAX;

    make_grid(in, groups, cut && tap_once_in(2) ? SIZE_MAX : PACKED, block);
    fill_slots(in);
    const size_t largest = mca_coll_pipering_grid_largest(&in->grid);
    const int blocks = largest <= block || 1 == groups ? 1 : (int) ((largest + block - 1) / block);
    const int wanted = log2_up(groups) + blocks - 1 + log2_up(in->grid.members);
    const char *nodes = ref_show_int(in->node_of, in->p);

    tap_try(&found->pieces, has_pieces(in), "%d ranks, %d groups, nodes %s: %s", in->p, groups,
            nodes, in->fault);
    tap_try(&found->even, is_even(in), "%d ranks, %d groups, nodes %s: %s", in->p, groups, nodes,
            in->fault);
    tap_try(&found->flow, run(in), "%d ranks, %d groups, nodes %s: %s", in->p, groups, nodes,
            in->fault);
    tap_try(&found->back, runs_back(in), "%d ranks, %d groups, nodes %s: %s", in->p, groups, nodes,
            in->fault);
    tap_try(&found->rounds, wanted == in->rounds, "%d ranks, %d groups", in->p, groups);
    if (in->ring.nodes == groups) {
        tap_try(&found->entered, enters_once(in), "%d ranks, %d groups", in->p, groups);
    }
}

/* Nodes of equally many ranks, and of any; any number of groups that nodes allow. */
static void test_schedules(void)
{
    findings_t found = {{0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}};
    static instance_t in;

    for (int p = 1; p <= MOST; p++) {
        for (int ranks = 0; ranks <= p; ranks++) {
            if (0 < ranks && 0 != p % ranks) {
                continue;
            }
            for (int i = 0; i < 3 * SHAPES; i++) {
                open_instance(&in, p, ranks, i % SHAPES);
                const int nodes = in.ring.nodes;

                try_instance(&found, &in,
                             0 == i % 3   ? p
                             : 1 == i % 3 ? nodes
                                          : tap_between(1, nodes),
                             2 * SHAPES <= i);
                close_instance(&in);
            }
        }
    }
    tally_ok(&found.pieces, 3000, "each byte is in one piece");
    tally_ok(&found.even, 3000, "shares are even, and are given by those who have them");
    tally_ok(&found.flow, 3000, "all pieces, once, in messages that fit");
    tally_ok(&found.back, 3000, "backwards, the values of each rank once, to where the share is");
    tally_ok(&found.rounds, 3000, "rounds");
    tally_ok(&found.entered, 1000, "with a group for each node each byte enters each node once");
}

/* ---- model ---- */

#define ALPHA 1e-5
#define BETA 1e-9
#define FAR 5e-6 /* latency between leaf switches */

static double scratch[3 * (MOST + 1)];

/* Links where a message takes ALPHA + BETA a byte, inside nodes a tenth of it. */
static mca_coll_pipering_grid_problem_t problem_of(instance_t *in, int groups, size_t packed,
                                                   size_t block)
{
    const mca_coll_pipering_link_cost_t net = {.alpha = ALPHA, .gap = ALPHA, .beta = BETA};
    const mca_coll_pipering_link_cost_t local = {.alpha = ALPHA / 10, .gap = ALPHA / 10,
                                                 .beta = BETA / 10};

    make_grid(in, groups, packed, block);
    return (mca_coll_pipering_grid_problem_t){.grid = &in->grid,
                                              .cost = {.net = net, .local = local},
                                              .scratch = scratch};
}

static double time_of(instance_t *in, int groups, size_t packed)
{
    const mca_coll_pipering_grid_problem_t problem = problem_of(in, groups, packed, SIZE_MAX);
    return mca_coll_pipering_grid_time(&problem);
}

static void test_model(void)
{
    const double share = 80000 / 4;
    static instance_t in;

    open_instance(&in, 16, 1, REGULAR);
    ok(tap_near(time_of(&in, 16, PACKED), 4 * ALPHA + 15 * 64 * BETA),
       "a rank a node: 4 a + 15 m b");
    ok(tap_near(time_of(&in, 4, PACKED), 4 * ALPHA + 15 * 64 * BETA),
       "in groups of 4 there is nothing to even out");
    ok(tap_near(time_of(&in, 16, 0), 4 * ALPHA + 15 * 64 * BETA),
       "those that adjoin are a message of any size");
    close_instance(&in);

    open_instance(&in, 15, 1, REGULAR);
    ok(tap_near(time_of(&in, 15, 0), 7 * ALPHA + 14 * 64 * BETA),
       "no power of two: in three rounds some rank sends the last ones and the first ones");
    close_instance(&in);

    open_instance(&in, 16, 4, REGULAR);
    ok(tap_near(time_of(&in, 4, PACKED), 2.2 * ALPHA + (4 * 3 + 0.1 * 12) * 64 * BETA),
       "4 nodes of 4 in lanes: a lane's share from each rank, then inside");
    ok(tap_near(time_of(&in, 16, PACKED), 2.2 * ALPHA + (4 * 12 + 0.1 * 3) * 64 * BETA),
       "4 nodes of 4 at once: all from each rank of a node");
    ok(tap_near(time_of(&in, 16, 0), 12.3 * ALPHA + (4 * 12 + 0.1 * 3) * 64 * BETA),
       "each contribution a message, since ranks are numbered across nodes");
    close_instance(&in);

    open_instance(&in, 16, 1, ONE);
    ok(tap_near(time_of(&in, 16, PACKED), 4 * (ALPHA + 80000 * BETA)), "one has all: 4 (a + m b)");
    ok(tap_near(time_of(&in, 4, 1 << 20),
                3 * ALPHA + (80000 - share) * BETA + 2 * (ALPHA + share * BETA)
                    + 2 * ALPHA + 3 * share * BETA),
       "evened out among 4: 3 messages, 2 rounds of a share, 2 of one and two");
    const mca_coll_pipering_grid_problem_t blocks = problem_of(&in, 16, PACKED, 80000 / 5);
    ok(tap_near(mca_coll_pipering_grid_time(&blocks), (4 + 5 - 1) * (2 * ALPHA + 80000 / 5 * BETA)),
       "in 5 blocks, each of them answered: (4 + 5 - 1) (2 a + m / 5 b)");
    close_instance(&in);
    open_instance(&in, 16, 1, EMPTY);
    ok(0 == time_of(&in, 16, PACKED), "nobody has anything: 0");
    close_instance(&in);
}

/*
 * What it takes at least, of any problem: less than what it takes, or as much, but for a byte or
 * two.
 */
#define ROUNDED 1.001

static void test_least(void)
{
    tap_tally_t whole = {0, 0}, cut = {0, 0};
    static instance_t in;

    for (int i = 0; i < 4000; i++) {
        open_instance(&in, tap_between(2, tap_once_in(2) ? MOST : 4), tap_between(0, 1), i % SHAPES);
        const int nodes = in.ring.nodes, groups = tap_once_in(3) ? in.p : tap_between(1, nodes);
        mca_coll_pipering_grid_problem_t problem
            = problem_of(&in, groups, tap_once_in(3) ? SIZE_MAX : tap_below(2 * PACKED), SIZE_MAX);
        problem.copy = tap_once_in(2) ? 0 : 1e-10;
        problem.combine = SIZE_MAX > in.grid.packed || tap_once_in(2) ? 0 : 1e-9;
        problem.cost.net.overlap = tap_once_in(2);
        problem.cost.net.latency = tap_once_in(2) ? 0 : 5e-6;
        problem.cost.net.eager = tap_once_in(2) ? 0 : (double) tap_below(4096);
        problem.cost.net.both = tap_once_in(2) ? 0 : 1.8;
        problem.cost.net.copy = tap_once_in(2) ? 0 : 2 * BETA;
        problem.cost.crowd = tap_once_in(2) ? 0 : tap_between(1, 4);
        const double time = mca_coll_pipering_grid_time(&problem);
        const double least = mca_coll_pipering_grid_least(&problem, false);
        tap_try(&whole, least <= time * ROUNDED, "%d ranks, %d nodes, %d groups: %g, at least %g",
                in.p, nodes, groups, time, least);
        if (1 < groups && groups == nodes) {
            const size_t block = some_block(&in, groups); /* it makes the grid anew */
            const double any = mca_coll_pipering_grid_least(&problem, true);
            mca_coll_pipering_grid_cut(&in.grid, block);
            const double blocks = mca_coll_pipering_grid_time(&problem);
            tap_try(&cut, any <= blocks * ROUNDED, "%d ranks, %d nodes, %d blocks: %g, at least %g",
                    in.p, nodes, in.grid.blocks, blocks, any);
        }
        close_instance(&in);
    }
    tally_ok(&whole, 4000, "no groups take less than the least that is said of them");
    tally_ok(&cut, 500, "in any blocks no less than the least of these");
    open_instance(&in, 16, 1, REGULAR);
    const mca_coll_pipering_grid_problem_t equal = problem_of(&in, 16, PACKED, SIZE_MAX);
    ok(tap_near(mca_coll_pipering_grid_time(&equal), mca_coll_pipering_grid_least(&equal, false)),
       "equal contributions take as much");
    close_instance(&in);
}

/*
 * Seconds of 16 equal contributions of 64 bytes, on 4 leaf switches of 4 nodes with so many links.
 */
static double time_far(int turn, double uplinks, size_t block)
{
    static instance_t in;
    int leaf_of[16];
    uint64_t blocks[16] = {0};

    open_instance(&in, 16, 1, REGULAR);
    mca_coll_pipering_grid_problem_t problem = problem_of(&in, 16, PACKED, block);
    for (int r = 0; r < 16; r++) {
        leaf_of[r] = r / 4 * 4;
    }
    in.ring.leaf_of = leaf_of;
    in.ring.turn = turn;
    mca_coll_pipering_order(&in.ring, in.node_of, blocks, MCA_COLL_PIPERING_ORDER_NODES,
                            in.scratch);
    make_grid(&in, 16, PACKED, block);
    problem.cost.far = FAR;
    problem.cost.uplinks = uplinks;
    const double time = mca_coll_pipering_grid_time(&problem);
    close_instance(&in);
    return time;
}

/* Far messages, one after the other, for which a rank waits in the rounds. */
static double count_late(const instance_t *in, const int *leaf_of)
{
    double late[MOST] = {0}, next[MOST] = {0}, most = 0;

    for (int k = 0; k < in->rounds; k++) {
        for (int r = 0; r < in->p; r++) {
            const int to = mca_coll_pipering_grid_round(&in->grid, r, k).to;
            next[to] = fmax(late[to], late[r] + (leaf_of[r] != leaf_of[to]));
        }
        memcpy(late, next, sizeof(late));
    }
    for (int r = 0; r < in->p; r++) {
        most = fmax(most, late[r]);
    }
    return most;
}

/* Nodes on switches of any numbers of nodes: those alone, or all of them as one group. */
static void try_late(tap_tally_t *tally)
{
    static instance_t in;

    for (int i = 0; i < 300; i++) {
        int leaf_of[MOST];
        uint64_t blocks[MOST] = {0};
        open_instance(&in, tap_between(2, MOST / 2), 1, REGULAR);
        const int most = tap_between(1, in.p), groups = i % 2 ? in.p : 1;

        for (int r = 0, left = 0; r < in.p; r++, left--) {
            leaf_of[r] = 0 < left ? leaf_of[r - 1] : r;
            left = 0 < left ? left : tap_between(1, most);
        }
        in.ring.leaf_of = leaf_of;
        in.ring.turn = tap_between(0, 2);
        mca_coll_pipering_order(&in.ring, in.node_of, blocks, MCA_COLL_PIPERING_ORDER_NODES,
                                in.scratch);
        mca_coll_pipering_grid_problem_t problem = problem_of(&in, groups, PACKED, SIZE_MAX);
        const double near = mca_coll_pipering_grid_time(&problem);
        problem.cost.far = FAR;
        const double far = mca_coll_pipering_grid_time(&problem);
        tap_try(tally, tap_near(far, near + count_late(&in, leaf_of) * FAR),
                "%d nodes, at most %d a switch, turn %d: %g, %g without switches", in.p, most,
                in.ring.turn, far, near);
        close_instance(&in);
    }
}

static void test_far(void)
{
    tap_tally_t late = {0, 0};
    const double each = 64 * BETA;

    ok(tap_near(time_far(0, 0, SIZE_MAX), 4 * ALPHA + 2 * FAR + 15 * each),
       "switches in a row: two rounds of four are far");
    ok(tap_near(time_far(1, 0, SIZE_MAX), 4 * ALPHA + 2 * FAR + 15 * each),
       "switches in turn: two others");
    ok(tap_near(time_far(0, 4, SIZE_MAX), time_far(0, 0, SIZE_MAX)),
       "as many links as nodes are enough");
    ok(tap_near(time_far(0, 2, SIZE_MAX), 4 * ALPHA + 2 * FAR + (3 + 2 * 12) * each),
       "half as many: far rounds take twice as long, in a row the last ones");
    ok(tap_near(time_far(1, 2, SIZE_MAX), 4 * ALPHA + 2 * FAR + (2 * 3 + 12) * each),
       "in turn the first ones, which carry less");
    /*
     * skips 8 and 4, 4 nodes of a switch; 2 and 1, 2 and 1 of them: one block of 16 bytes each way
     */
    ok(tap_near(time_far(0, 1, 16), time_far(0, 0, 16)
                                        + ((3 + 3 + 1) * (1 + 3 / 4.0)) * 16 * 16 * BETA),
       "blocks: a switch passes on what its nodes send to others");
    try_late(&late);
    tally_ok(&late, 300, "rounds are as late as the far messages that one waits for");
}

/*
 * Bytes and messages of a round: one for all packed pieces, or a run of them, one for each large
 * one.
 */
typedef struct {
    size_t bytes, messages;
} volume_t;

static volume_t volume_of(const instance_t *in, int me, int k)
{
    mca_coll_pipering_parts_t parts = parts_of(in, me, k, true);
    volume_t volume = {0, 0};
    bool packed = false;

    while (mca_coll_pipering_parts_next(&parts)) {
        volume.bytes += parts.bytes;
        volume.messages += parts.piece->large + parts.begins; /* a block is answered */
        packed |= !parts.piece->large && !in->grid.adjoin;
    }
    volume.messages += packed;
    return volume;
}

/*
 * Seconds of the rounds, message by message: a rank sends when all that it sent and received in the
 * rounds before is over. The port of a node carries the bytes of one message in and one out, that
 * which waits longest first; ranks handle messages side by side. `alike`: each as many as the one
 * that sends most.
 */
static double simulate(const instance_t *in, const mca_coll_pipering_grid_problem_t *problem,
                       bool alike)
{
    double ready[MOST] = {0}, out[MOST] = {0}, into[MOST] = {0}, finish = 0;

    for (int k = 0; k < mca_coll_pipering_grid_rounds(problem->grid); k++) {
        double next[MOST];
        bool sent[MOST] = {false};
        size_t most = 0;

        for (int r = 0; alike && r < in->p; r++) {
            const size_t messages = volume_of(in, r, k).messages;
            most = messages > most ? messages : most;
        }
        memcpy(next, ready, sizeof(next));
        for (int i = 0; i < in->p; i++) {
            int from = -1;
            for (int r = 0; r < in->p; r++) {
                from = !sent[r] && (0 > from || ready[r] < ready[from]) ? r : from;
            }
            const mca_coll_pipering_grid_round_t round
                = mca_coll_pipering_grid_round(problem->grid, from, k);
            volume_t volume = volume_of(in, from, k);
            volume.messages = volume.messages > most ? volume.messages : most;
            const int node = in->node_of[from], other = in->node_of[round.to];
            const bool local = node == other;
            const mca_coll_pipering_link_cost_t *cost = local ? &problem->cost.local
                                                              : &problem->cost.net;
            const double time = (double) volume.bytes * cost->beta;
            const double begins = local ? ready[from] : fmax(ready[from], out[node]);

            out[node] = local ? out[node] : begins + time;
            const double ends = local ? begins + time : fmax(begins, into[other]) + time;
            into[other] = local ? into[other] : ends;
            next[round.to] = fmax(next[round.to], ends + (double) volume.messages * cost->alpha);
            next[from] = fmax(next[from], ends + (double) volume.messages * cost->alpha);
            finish = fmax(finish, next[round.to]);
            sent[from] = true;
        }
        memcpy(ready, next, sizeof(ready));
    }
    return finish;
}

/* Rounds of blocks, of one contribution; and of one beside small ones, which not all ranks send. */
static void try_blocks(tap_tally_t *tally)
{
    static instance_t in;

    for (int i = 0; i < 200; i++) {
        open_instance(&in, tap_between(2, MOST / 2), 1, i % 2 ? ONE : OUTLIER);
        const size_t block = some_block(&in, in.p);
        const mca_coll_pipering_grid_problem_t problem = problem_of(&in, in.p, PACKED, block);
        fill_slots(&in);
        const double model = mca_coll_pipering_grid_time(&problem);
        const double simulated = simulate(&in, &problem, false);
        tap_try(tally, 0.999 * simulated <= model && model <= (i % 2 ? 1.001 : 1.5) * simulated,
                "p %d, block %zu: model %g, simulated %g", in.p, block, model, simulated);
        close_instance(&in);
    }
}

static void test_simulated(void)
{
    tap_tally_t alone = {0, 0}, shared = {0, 0}, blocks = {0, 0};
    static instance_t in;

    for (int i = 0; i < 400; i++) {
        const int ranks = i % 2 ? 4 : 1;

        open_instance(&in, ranks * tap_between(2, MOST / 4), ranks, REGULAR);
        const mca_coll_pipering_grid_problem_t problem = problem_of(&in, in.p, PACKED, SIZE_MAX);
        fill_slots(&in);
        const double model = mca_coll_pipering_grid_time(&problem);
        const double simulated = simulate(&in, &problem, 1 == ranks);
        tap_try(1 == ranks ? &alone : &shared,
                1 == ranks ? tap_near(model, simulated)
                           : 0.9 * simulated <= model && model <= 1.5 * simulated,
                "p %d: model %g, simulated %g", in.p, model, simulated);
        close_instance(&in);
    }
    try_blocks(&blocks);
    tally_ok(&alone, 200, "a rank a node: the time of its rounds, message by message");
    tally_ok(&shared, 200, "nodes of 4: not far from that");
    tally_ok(&blocks, 200, "blocks: not far from that");
}

int main(void)
{
    tap_start();
    test_exchange(MCA_COMMON_COLLTOOLS_DOUBLING, "recursive doubling");
    test_exchange(MCA_COMMON_COLLTOOLS_BRUCK, "Bruck");
    test_exchange(MCA_COMMON_COLLTOOLS_DISSEMINATION, "dissemination");
    test_exchange(MCA_COMMON_COLLTOOLS_RING, "ring");
    test_schedules();
    test_model();
    test_least();
    test_far();
    test_simulated();
    return tap_end();
}
