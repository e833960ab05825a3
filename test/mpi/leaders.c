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
 * MPI_Allgather through coll/mleader: all its variants, with segments of several sizes
 * and none, contributions of one byte to 1 MiB, types, communicators of all kinds.
 * TINY=1: only slices of a few bytes.
 */

#include "knob.h"
#include "leading.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRIDE 7 /* through the variants, if not all are tried; prime to their number */

static uint64_t key = 9000;
static int turn;    /* the variant that comes next */
static int few = 1; /* only one in so many variants is tried */

/** Runs a call by `variants` variants, the next ones in turn, and judges all of them. */
static void try_call(const leading_call_t *call, int variants, const char *name)
{
    exchange_t *x = leading_exchange(call);
    char fault[600] = "";
    bool right = true;

    for (int i = 0; i < variants; i += few) {
        const leading_variant_t variant = leading_variant(turn);

        turn = (turn + STRIDE) % LEADING_VARIANTS;
        leading_use(variant);
        if (NULL == x) {
            continue;
        }
        exchange_reset(x);
        const int code = exchange_run(x);
        if (right && (MPI_SUCCESS != code || !exchange_right(x))) {
            right = false;
            snprintf(fault, sizeof(fault), "%s: error %d, %s", leading_text(variant), code,
                     x->fault);
        }
    }
    tap_check(right, fault, "%s", name);
    leading_free(x);
    key++;
}

/* ---- sizes ---- */

typedef struct size_try_t {
    int bytes, variants;
} size_try_t;

static void try_sizes(size_t segment_size)
{
    static const size_try_t tries[] = {
        {0, 4}, {1, LEADING_VARIANTS}, {7, 40}, {1000, 40}, {9001, LEADING_VARIANTS}, {100000, 12}};
    MPI_Comm comm;
    char name[120];

    leading_setup(segment_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++) {
        for (int in_place = 0; in_place < 2; in_place++) {
            const leading_call_t call = {.comm = comm,
                                         .key = key,
                                         .units = tries[i].bytes,
                                         .send = in_place ? LEADING_IN_PLACE : 0};

            snprintf(name, sizeof(name), "%d bytes, segment of %zu%s", tries[i].bytes,
                     segment_size, in_place ? ", in place" : "");
            try_call(&call, tries[i].variants / (1 + in_place), name);
        }
    }
    MPI_Comm_free(&comm);
}

static void try_mebibyte(size_t segment_size, int variants)
{
    leading_call_t call = {.key = key, .units = 1 << 20};
    char name[120];

    leading_setup(segment_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &call.comm);
    snprintf(name, sizeof(name), "1 MiB, segment of %zu", segment_size);
    try_call(&call, variants, name);
    MPI_Comm_free(&call.comm);
}

/** Segments of so few bytes that slices are tiny, and that areas of all groups may not fit in. */
static void try_tiny(void)
{
    static const int bytes[] = {1, 50, 400};
    MPI_Comm comm;

    leading_setup(256);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        const leading_call_t call = {.comm = comm, .key = key++, .units = bytes[i]};
        exchange_t *x = leading_exchange(&call);
        bool right = true;

        for (int n = 0; n < 12; n++) {
            const leading_variant_t variant = {.aggregation = n % 2 ? 0 : 3,
                                               .exchange = n / 2 % 3,
                                               .scope = n / 6};

            leading_use(variant);
            exchange_reset(x);
            right &= MPI_SUCCESS == exchange_run(x) && exchange_right(x);
        }
        tap_check(right, x->fault, "%d bytes, segment of 256", bytes[i]);
        leading_free(x);
    }
    MPI_Comm_free(&comm);
}

/* ---- types ---- */

/** Layouts of the sender and of the receiver; each rank may have its own. */
static void try_types(MPI_Comm comm, size_t segment_size, int units)
{
    char name[120];

    for (int n = 0; n < LEADING_LAYOUTS; n++) {
        leading_call_t call = {
            .comm = comm, .key = key, .unit = 3 + n, .units = units, .send = n, .recv = n};

        snprintf(name, sizeof(name), "type %d, %d units, segment of %zu", n, units, segment_size);
        try_call(&call, 24, name);
        call.send = LEADING_IN_PLACE;
        snprintf(name, sizeof(name), "type %d, %d units, segment of %zu, in place", n, units,
                 segment_size);
        try_call(&call, 24, name);
        call.send = (n + tap_rank) % LEADING_LAYOUTS;
        call.recv = (n + 5 * tap_rank + 1) % LEADING_LAYOUTS;
        snprintf(name, sizeof(name), "types of each rank's own %d, %d units, segment of %zu", n,
                 units, segment_size);
        try_call(&call, 24, name);
    }
}

static void try_segments(void)
{
    static const size_t segments[] = {8192, 65536, 2 << 20, 0};
    MPI_Comm comm;

    for (size_t i = 0; i < sizeof(segments) / sizeof(segments[0]); i++) {
        try_sizes(segments[i]);
        leading_setup(segments[i]);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        try_types(comm, segments[i], 12);
        try_types(comm, segments[i], 2400);
        MPI_Comm_free(&comm);
    }
    try_mebibyte(8192, 3);
    try_mebibyte(65536, 6);
    try_mebibyte(2 << 20, 12);
    try_mebibyte(0, 6);
}

/* ---- communicators ---- */

/** Takes and frees the communicator. */
static void try_comm(MPI_Comm comm, const char *name)
{
    static const int units[] = {1, 600, 9000};
    char text[120];

    for (int i = 0; i < 3; i++) {
        const leading_call_t call = {.comm = comm, .key = key, .unit = 3, .units = units[i]};

        snprintf(text, sizeof(text), "%s, %d units", name, units[i]);
        try_call(&call, 20, text);
    }
    if (MPI_COMM_NULL != comm) {
        MPI_Comm_free(&comm);
    }
}

static void try_split(int color, int order, const char *name)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, color, order, &comm);
    try_comm(comm, name);
}

/** The halves of the world, the upper one first. */
static MPI_Comm merge_halves(void)
{
    const bool low = tap_rank < tap_size / 2;
    MPI_Comm half, inter, merged;

    MPI_Comm_split(MPI_COMM_WORLD, low, tap_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? tap_size / 2 : 0, 3, &inter);
    MPI_Intercomm_merge(inter, low, &merged);
    MPI_Comm_free(&half);
    MPI_Comm_free(&inter);
    return merged;
}

static void try_comms(void)
{
    int *order = tap_memory((size_t) tap_size * sizeof(int));
    dice_t dice = dice_from(6, 0, 0);
    MPI_Comm comm;

    leading_setup(65536);
    try_split(0, -tap_rank, "reversed");
    try_split(tap_rank % 2, tap_rank, "even and odd ranks");
    try_split(tap_rank < tap_size / 2, -tap_rank, "halves, reversed");
    try_split(0 == tap_rank ? MPI_UNDEFINED : 0, tap_rank, "all but the first rank");
    try_split(tap_rank, 0, "single ranks");
    for (int i = 0; i < 3; i++) {
        dice_shuffle(&dice, order, tap_size);
        try_split(i, order[tap_rank], "shuffled");
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -tap_rank, MPI_INFO_NULL, &comm);
    try_comm(comm, "the ranks of a node, reversed");
    try_comm(merge_halves(), "a merged communicator, upper half first");
    free(order);
}

/** Six communicators in turns, so that none is done with its calls when others begin. */
static void try_side_by_side(void)
{
    leading_call_t call = {.unit = 4, .units = 300};
    MPI_Comm comm[6];
    char fault[400] = "";
    bool right = true;

    for (int i = 0; i < 6; i++) {
        leading_setup((size_t) 8192 * (size_t) i);
        MPI_Comm_split(MPI_COMM_WORLD, 0, i % 3 ? tap_rank : -tap_rank, &comm[i]);
    }
    for (int n = 0; n < 60; n++) {
        call.comm = comm[(59 - n) * 5 % 6];
        call.key = key++;
        exchange_t *x = leading_exchange(&call);
        leading_use(leading_variant(n * STRIDE % LEADING_VARIANTS));
        if ((MPI_SUCCESS != exchange_run(x) || !exchange_right(x)) && right) {
            right = false;
            memcpy(fault, x->fault, sizeof(fault));
        }
        leading_free(x);
    }
    tap_check(right, fault, "six communicators in turn");
    for (int i = 0; i < 6; i++) {
        MPI_Comm_free(&comm[i]);
    }
}

/**
 * All that was forced was served, and communicators of one rank are not the component's. The
 * nonblocking calls are Open MPI's own.
 */
static void try_served(void)
{
    const uint64_t calls = knob_counters("coll_mleader_calls_");
    const uint64_t left = knob_counters("coll_mleader_fallback_")
                          - knob_counter("coll_mleader_fallback_early");

    tap_check(0 < calls && 0 == left, "some calls were left to the module below",
              "the component has served all calls");
}

int main(int argc, char **argv)
{
    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    few = (int) tap_number("FEW", 1);
    try_tiny();
    if (0 == tap_number("TINY", 0)) {
        try_segments();
        try_side_by_side();
        try_comms();
    }
    try_served();
    return leading_end();
}
