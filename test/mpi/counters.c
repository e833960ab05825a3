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
 * Blocks and bytes that a call really moves, by the performance variables,
 * against what the plan says of this rank, and against what any plan must come
 * to: each rank gets each foreign byte once, and each byte enters a node once.
 * Nodes are told apart by processor names, not by what the component thinks.
 */

#include "coll_pipering_plan.h"
#include "exchange.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS, BLOCKS_IN, BLOCKS_OUT, BYTES_IN, BYTES_OUT, FROM_NETWORK, ROUNDS, COPIED, COUNTERS };

static const char *const counter_name[COUNTERS] = {
    [CALLS] = "coll_pipering_calls",
    [BLOCKS_IN] = "coll_pipering_blocks_received",
    [BLOCKS_OUT] = "coll_pipering_blocks_sent",
    [BYTES_IN] = "coll_pipering_bytes_received",
    [BYTES_OUT] = "coll_pipering_bytes_sent",
    [FROM_NETWORK] = "coll_pipering_bytes_from_network",
    [ROUNDS] = "coll_pipering_rounds",
    [COPIED] = "coll_pipering_bytes_copied",
};

#define BYTE 1 /* of layout_unit */
#define LINKS MCA_COLL_PIPERING_ROUTE_LINKS

/** A communicator as the test sees it. */
typedef struct place_t {
    MPI_Comm comm;
    int size;
    int rank;
    int *node_of; /**< [size] the lowest rank on the same node */
    int nodes;
    size_t *bytes;
    size_t *before; /**< by ring position */
    size_t total;
    uint64_t *blocks;
    void *scratch;
    void *memory;
    void *route;   /**< memory of this rank's */
    size_t packed; /**< bytes of pieces that go together in rounds */
    mca_coll_pipering_slots_t slots;
    mca_coll_pipering_ring_t ring;
} place_t;

/* ---- where ranks are ---- */

static place_t place_new(MPI_Comm comm)
{
    place_t place = {.comm = comm};

    MPI_Comm_size(comm, &place.size);
    MPI_Comm_rank(comm, &place.rank);
    place.node_of = tap_memory((size_t) place.size * sizeof(int));
    place.bytes = tap_memory((size_t) place.size * sizeof(size_t));
    place.before = tap_memory(((size_t) place.size + 1) * sizeof(size_t));
    place.slots.first = tap_memory(((size_t) place.size + 1) * sizeof(int));
    place.slots.piece = tap_memory(2 * (size_t) place.size * sizeof(*place.slots.piece));
    place.slots.turn = tap_memory(2 * 32 * (size_t) place.size);
    place.blocks = tap_memory((size_t) place.size * sizeof(uint64_t));
    place.scratch = tap_memory(mca_coll_pipering_order_scratch(place.size));
    place.memory = tap_memory(mca_coll_pipering_ring_size(place.size));
    mca_coll_pipering_ring_bind(&place.ring, place.size, place.memory);
    place.route = tap_memory(mca_coll_pipering_routes_size(1, LINKS, LINKS));
    place.nodes = tap_nodes(comm, place.node_of);
    return place;
}

static void place_free(place_t *place)
{
    free(place->node_of);
    free(place->bytes);
    free(place->before);
    free(place->slots.first);
    free(place->slots.piece);
    free(place->slots.turn);
    free(place->blocks);
    free(place->scratch);
    free(place->memory);
    free(place->route);
}

/* ---- distributions ---- */

enum { REGULAR, FIRST, LAST, ALTERNATE, FALLING, OUTLIER, NODE_EMPTY, WILD, SHAPES };

static const char *const shape_name[SHAPES] = {
    "regular", "only the first rank", "only the last rank", "odd ranks empty",
    "falling", "an outlier",          "one node empty",     "wild"};

static size_t bytes_of(const place_t *place, int shape, int rank)
{
    switch (shape) {
    case REGULAR:
        return 40000;
    case FIRST:
        return 0 == rank ? 150001 : 0;
    case LAST:
        return place->size - 1 == rank ? 150001 : 0;
    case ALTERNATE:
        return 0 == rank % 2 ? 33333 : 0;
    case FALLING:
        return (size_t) (place->size - 1 - rank) * 12345;
    case OUTLIER:
        return place->size / 2 == rank ? 200000 : 100;
    case NODE_EMPTY:
        return place->node_of[rank] == place->node_of[place->size / 3] ? 0 : 25000;
    default:
        return (size_t) (dice_mix((uint64_t) rank) % 3 * (dice_mix(77 + (uint64_t) rank) % 30000));
    }
}

static void distribute(place_t *place, int shape)
{
    place->total = 0;
    for (int i = 0; i < place->size; i++) {
        place->bytes[i] = bytes_of(place, shape, i);
        place->total += place->bytes[i];
    }
}

/* ---- what is to be expected ---- */

static void add(uint64_t *blocks, uint64_t *bytes, mca_coll_pipering_volume_t volume)
{
    *blocks += volume.blocks;
    *bytes += volume.bytes;
}

/** Messages and bytes of a round: a message for all packed pieces, or each run, and each large part. */
static mca_coll_pipering_volume_t volume_of(const place_t *place,
                                            const mca_coll_pipering_grid_t *grid, int k, bool sends)
{
    mca_coll_pipering_parts_t parts = mca_coll_pipering_grid_parts(grid, &place->slots, place->rank,
                                                                   k, sends);
    mca_coll_pipering_volume_t volume = {0, 0};
    bool packed = false;

    while (mca_coll_pipering_parts_next(&parts)) {
        volume.bytes += parts.bytes;
        volume.blocks += parts.piece->large || parts.begins;
        packed |= !parts.piece->large && !grid->adjoin;
    }
    volume.blocks += packed;
    return volume;
}

/** What is evened out inside the group of this rank. */
static void expect_evening(place_t *place, const mca_coll_pipering_grid_t *grid, uint64_t *wanted)
{
    const mca_coll_pipering_slots_t *slots = &place->slots;

    for (int lane = 0; lane < grid->lanes; lane++) {
        const mca_coll_pipering_piece_t *piece
            = mca_coll_pipering_grid_given(grid, slots, place->rank, lane);

        if (NULL != piece) {
            add(&wanted[BLOCKS_OUT], &wanted[BYTES_OUT],
                (mca_coll_pipering_volume_t){1, piece->bytes});
        }
    }
    for (int i = slots->first[slots->own.first];
         i < slots->first[slots->own.first + slots->own.count]; i++) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];

        if (place->rank != piece->rank) {
            add(&wanted[BLOCKS_IN], &wanted[BYTES_IN],
                (mca_coll_pipering_volume_t){1, piece->bytes});
            wanted[FROM_NETWORK] += place->node_of[piece->rank] != place->node_of[place->rank]
                                        ? piece->bytes
                                        : 0;
        }
    }
}

/**
 * What this rank copies: packed pieces to the caller's buffer, where contributions do not adjoin; of
 * its own share what is its own, to where it is sent from, or to the caller's buffer.
 */
static uint64_t expect_copies(const place_t *place, const mca_coll_pipering_grid_t *grid)
{
    const mca_coll_pipering_slots_t *slots = &place->slots;
    uint64_t bytes = 0;

    for (int i = 0; i < slots->first[grid->lanes * grid->groups]; i++) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        const bool own = place->rank == piece->rank && slots->first[slots->own.first] <= i
                         && i < slots->first[slots->own.first + slots->own.count];

        bytes += own ? piece->bytes : 0;
        bytes += !piece->large && !grid->adjoin ? piece->bytes : 0;
    }
    return bytes;
}

/**
 * What the plan of an exchange in rounds of so many groups says of this rank, in blocks of so many
 * bytes, 0: whole.
 */
static void expect_rounds(place_t *place, int groups, size_t block, uint64_t *wanted)
{
    mca_coll_pipering_ring_t *ring = &place->ring;
    mca_coll_pipering_grid_t grid;

    memset(place->blocks, 0, (size_t) place->size * sizeof(*place->blocks));
    mca_coll_pipering_order(ring, place->node_of, place->blocks,
                            MCA_COLL_PIPERING_ORDER_NODES, place->scratch);
    mca_coll_pipering_grid_make(&grid, ring, place->bytes, place->before, groups, place->packed);
    if (0 < block) {
        mca_coll_pipering_grid_cut(&grid, block);
    }
    mca_coll_pipering_grid_slots(&grid, place->rank, &place->slots);
    memset(wanted, 0, COUNTERS * sizeof(*wanted));
    wanted[CALLS] = 1;
    expect_evening(place, &grid, wanted);
    for (int k = 0; k < mca_coll_pipering_grid_rounds(&grid); k++) {
        mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&grid, place->rank, k);
        mca_coll_pipering_volume_t in = volume_of(place, &grid, k, false);

        add(&wanted[BLOCKS_IN], &wanted[BYTES_IN], in);
        add(&wanted[BLOCKS_OUT], &wanted[BYTES_OUT],
            volume_of(place, &grid, k, true));
        if (place->node_of[round.from] != place->node_of[place->rank]) {
            wanted[FROM_NETWORK] += in.bytes;
        }
    }
    wanted[COPIED] = expect_copies(place, &grid);
    wanted[ROUNDS] = wanted[BLOCKS_IN] > wanted[BLOCKS_OUT] ? wanted[BLOCKS_IN]
                                                            : wanted[BLOCKS_OUT];
}

/** What the plan of a ring says of this rank. */
static void expect_ring(place_t *place, const knob_setting_t *setting, uint64_t *wanted)
{
    const unsigned flags = MCA_COLL_PIPERING_ORDER_NODES | MCA_COLL_PIPERING_ORDER_EMPTIES;
    const size_t block_size = setting->block_size;
    const bool shared = 1 << 30 > block_size; /* no ring buffer holds such blocks */
    mca_coll_pipering_ring_t *ring = &place->ring;
    mca_coll_pipering_route_t *route = mca_coll_pipering_routes_bind(place->route, 1, LINKS,
                                                                     LINKS);

    for (int i = 0; i < place->size; i++) {
        place->blocks[i] = mca_coll_pipering_blocks(place->bytes[i], block_size);
    }
    mca_coll_pipering_order(ring, place->node_of, place->blocks, flags, place->scratch);
    mca_coll_pipering_route(route, ring, place->rank);
    memset(wanted, 0, COUNTERS * sizeof(*wanted));
    wanted[CALLS] = 1;
    for (int i = 0; i < route->ins; i++) {
        mca_coll_pipering_volume_t in = mca_coll_pipering_stream_volume(
            ring, place->bytes, block_size, route->in[i].stream);

        add(&wanted[BLOCKS_IN], &wanted[BYTES_IN], in);
        if (place->node_of[route->in[i].peer] != place->node_of[place->rank]) {
            wanted[FROM_NETWORK] += in.bytes;
        } else if (shared) {
            wanted[COPIED] += in.bytes; /* out of a ring buffer */
        }
    }
    for (int i = 0; i < route->outs; i++) {
        const uint64_t before = wanted[BYTES_OUT];

        add(&wanted[BLOCKS_OUT], &wanted[BYTES_OUT],
            mca_coll_pipering_stream_volume(ring, place->bytes, block_size, route->out[i].forward));
        if (route->out[i].own) {
            add(&wanted[BLOCKS_OUT], &wanted[BYTES_OUT],
                mca_coll_pipering_stream_volume(ring, place->bytes, block_size, route->own));
        }
        if (shared && place->node_of[route->out[i].peer] == place->node_of[place->rank]) {
            wanted[COPIED] += wanted[BYTES_OUT] - before; /* into one */
        }
    }
    wanted[COPIED] += place->bytes[place->rank]; /* to the caller's buffer */
    wanted[ROUNDS] = wanted[BLOCKS_IN] > wanted[BLOCKS_OUT] ? wanted[BLOCKS_IN]
                                                            : wanted[BLOCKS_OUT];
}

/* ---- what is seen ---- */

static void read_counters(uint64_t *value)
{
    for (int i = 0; i < COUNTERS; i++) {
        value[i] = knob_counter(counter_name[i]);
    }
}

static bool same_counters(const uint64_t *got, const uint64_t *wanted, char *fault, size_t room)
{
    for (int i = 0; i < COUNTERS; i++) {
        if (got[i] != wanted[i]) {
            snprintf(fault, room, "%s: %llu, by the plan %llu", counter_name[i],
                     (unsigned long long) got[i], (unsigned long long) wanted[i]);
            return false;
        }
    }
    return true;
}

/** What holds for any plan. `whole`: nodes are kept together. */
static bool lawful(const place_t *place, const uint64_t *got, bool whole, char *fault, size_t room)
{
    uint64_t *all = tap_memory((size_t) place->size * sizeof(*all));
    uint64_t entered = 0, own = 0, sum[2] = {got[BYTES_IN], got[BYTES_OUT]};
    int me = place->node_of[place->rank];

    MPI_Allreduce(MPI_IN_PLACE, sum, 2, MPI_UINT64_T, MPI_SUM, place->comm);
    for (int i = 0; i < place->size; i++) {
        all[i] = got[FROM_NETWORK];
        MPI_Bcast(&all[i], 1, MPI_UINT64_T, i, place->comm);
        if (me == place->node_of[i]) {
            entered += all[i];
            own += place->bytes[i];
        }
    }
    free(all);
    if (got[BYTES_IN] != place->total - place->bytes[place->rank]) {
        snprintf(fault, room, "%llu bytes came, of %zu foreign ones",
                 (unsigned long long) got[BYTES_IN], place->total - place->bytes[place->rank]);
        return false;
    }
    if (whole && entered != place->total - own) {
        snprintf(fault, room, "%llu bytes entered the node, m - M_J are %llu",
                 (unsigned long long) entered, (unsigned long long) (place->total - own));
        return false;
    }
    snprintf(fault, room, "all ranks received %llu bytes and sent %llu",
             (unsigned long long) sum[0], (unsigned long long) sum[1]);
    return sum[0] == sum[1];
}

/* Of the communicator's ranks. */
static const size_t *contributions;

static int count_of(int rank)
{
    return (int) contributions[rank];
}

static bool run_once(place_t *place, int shape, bool nonblocking)
{
    contributions = place->bytes;
    call_t *call = exchange_simple(place->comm, 500 + (uint64_t) shape, REGULAR == shape,
                                   layout_unit(BYTE, 0), count_of);
    const bool right = MPI_SUCCESS == call_run(call, nonblocking ? NONBLOCKING : BLOCKING)
                       && call_right(call);

    call_free(call);
    return right;
}

static const knob_setting_t settings[] = {
    {"ring, 16 KiB", KNOB_RING, KNOB_SEARCH, 16384, 0, false},
    {"ring, blocks of 1000 bytes", KNOB_RING, KNOB_SEARCH, 1000, 0, false},
    {"ring, window of 3", KNOB_RING, KNOB_SEARCH, 5000, 3, false},
    {"ring of whole contributions", KNOB_RING, KNOB_SEARCH, 1 << 30, 0, false},
    {"rounds", KNOB_ROUNDS, KNOB_SEARCH, 0, 0, false},
    {"rounds, all alone", KNOB_ROUNDS, KNOB_SEARCH, 0, 0, true},
};
enum { WHOLE = 3 }; /* of them */
#define SETTINGS ((int) (sizeof(settings) / sizeof(settings[0])))

static bool in_rounds(const knob_setting_t *setting)
{
    return KNOB_ROUNDS == setting->algorithm;
}

/** All ranks have seen what the plan says; of an exchange in rounds, of some number of groups. */
static bool as_planned(place_t *place, const knob_setting_t *setting, const uint64_t *got,
                       char *fault, size_t room)
{
    uint64_t wanted[COUNTERS];
    int groups = place->size, same = 0;

    while (0 < groups && !same) {
        in_rounds(setting) ? expect_rounds(place, groups, setting->block_size, wanted)
                           : expect_ring(place, setting, wanted);
        groups = !in_rounds(setting)             ? 0
                 : groups > place->ring.nodes    ? place->ring.nodes
                                                 : groups / 2;
        if (0 == place->total) {
            memset(wanted, 0, sizeof(wanted)); /* nothing to gather: left to the module below */
        }
        same = same_counters(got, wanted, fault, room);
        MPI_Allreduce(MPI_IN_PLACE, &same, 1, MPI_INT, MPI_MIN, place->comm);
    }
    return same;
}

/** One shape under one setting; the fault is left alone where all is right. */
static bool try_call(place_t *place, int shape, int n, char *fault, size_t room)
{
    const knob_setting_t *setting = &settings[n];
    bool whole = KNOB_RING == setting->algorithm, right;
    uint64_t before[COUNTERS], got[COUNTERS];
    char why[200] = "wrong result", laws[200];

    knob_apply(setting);
    place->packed = setting->alone ? 1 : KNOB_PACKED;
    read_counters(before);
    right = run_once(place, shape, (shape + n) % 2);
    read_counters(got);
    for (int i = 0; i < COUNTERS; i++) {
        got[i] -= before[i];
    }
    if (!as_planned(place, setting, got, why, sizeof(why)) && right) {
        right = false;
    }
    if (!lawful(place, got, whole, laws, sizeof(laws)) && right) {
        right = false;
        memcpy(why, laws, sizeof(why));
    }
    if (!right) {
        snprintf(fault, room, "%s: %s", setting->name, why);
    }
    return right;
}

static void try_shape(place_t *place, int shape, const char *where)
{
    char fault[400] = "";
    bool right = true;

    distribute(place, shape);
    for (int n = 0; n < SETTINGS; n++) {
        right &= try_call(place, shape, n, fault, sizeof(fault));
    }
    tap_check(right, fault, "%s, %s", shape_name[shape], where);
}

/** Blocks that are as large as the largest contribution: one a rank. */
static void try_whole(place_t *place)
{
    uint64_t before, blocks;

    distribute(place, WILD);
    knob_apply(&settings[WHOLE]);
    before = knob_counter("coll_pipering_blocks_received");
    run_once(place, WILD, false);
    blocks = knob_counter("coll_pipering_blocks_received") - before;
    for (int i = 0; i < place->size; i++) {
        blocks -= i != place->rank && 0 < place->bytes[i];
    }
    tap_check(0 == blocks, NULL,
              "ring of whole contributions: one block of each other rank that has any");
}

int main(int argc, char **argv)
{
    MPI_Comm reversed;
    place_t place;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here, so nothing to count");
    }
    place = place_new(MPI_COMM_WORLD);
    for (int shape = 0; shape < SHAPES; shape++) {
        try_shape(&place, shape, "all ranks");
    }
    try_whole(&place);
    place_free(&place);

    MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, &reversed);
    place = place_new(reversed);
    try_shape(&place, FALLING, "ranks reversed");
    try_shape(&place, WILD, "ranks reversed");
    place_free(&place);
    MPI_Comm_free(&reversed);
    knob_end();
    return tap_end();
}
