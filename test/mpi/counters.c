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
 * against what any plan must come to: each rank gets each foreign byte once, and
 * along a ring each byte enters a node once.
 * Nodes are told apart by processor names, not by what the component thinks.
 */

#include "exchange.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS, BLOCKS_IN, BLOCKS_OUT, BYTES_IN, BYTES_OUT, FROM_NETWORK, ROUNDS, COUNTERS };

static const char *const counter_name[COUNTERS] = {
    [CALLS] = "coll_pipering_calls",
    [BLOCKS_IN] = "coll_pipering_blocks_received",
    [BLOCKS_OUT] = "coll_pipering_blocks_sent",
    [BYTES_IN] = "coll_pipering_bytes_received",
    [BYTES_OUT] = "coll_pipering_bytes_sent",
    [FROM_NETWORK] = "coll_pipering_bytes_from_network",
    [ROUNDS] = "coll_pipering_rounds",
};

#define BYTE 1 /* of layout_unit */

/** A communicator as the test sees it. */
typedef struct place_t {
    MPI_Comm comm;
    int size;
    int rank;
    int *node_of; /**< [size] the lowest rank on the same node */
    size_t *bytes;
    size_t total;
} place_t;

/* ---- where ranks are ---- */

static place_t place_new(MPI_Comm comm)
{
    place_t place = {.comm = comm};

    MPI_Comm_size(comm, &place.size);
    MPI_Comm_rank(comm, &place.rank);
    place.node_of = tap_memory((size_t) place.size * sizeof(int));
    place.bytes = tap_memory((size_t) place.size * sizeof(size_t));
    (void) tap_nodes(comm, place.node_of);
    return place;
}

static void place_free(place_t *place)
{
    free(place->node_of);
    free(place->bytes);
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

/* ---- what is seen ---- */

static void read_counters(uint64_t *value)
{
    for (int i = 0; i < COUNTERS; i++) {
        value[i] = knob_counter(counter_name[i]);
    }
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

/** One shape under one setting; the fault is left alone where all is right. */
static bool try_call(place_t *place, int shape, int n, char *fault, size_t room)
{
    const knob_setting_t *setting = &settings[n];
    bool whole = KNOB_RING == setting->algorithm, right;
    uint64_t before[COUNTERS], got[COUNTERS];
    char why[200] = "wrong result", laws[200];

    knob_apply(setting);
    read_counters(before);
    right = run_once(place, shape, (shape + n) % 2);
    read_counters(got);
    for (int i = 0; i < COUNTERS; i++) {
        got[i] -= before[i];
    }
    const uint64_t most = got[BLOCKS_IN] > got[BLOCKS_OUT] ? got[BLOCKS_IN] : got[BLOCKS_OUT];
    if (right && ((0 < place->total) != got[CALLS] || most != got[ROUNDS])) {
        right = false;
        snprintf(why, sizeof(why), "%llu calls, %llu rounds, most blocks %llu",
                 (unsigned long long) got[CALLS], (unsigned long long) got[ROUNDS],
                 (unsigned long long) most);
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
