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
 * MPI_Alltoall: who serves it, and packets, by the counters. Right data of all types are in the
 * fuzzer's cases.
 *
 * With MESH=1 in the environment a mesh of nodes is declared, and auto serves it.
 */

#include "knob.h"
#include "tap.h"

#include <stdlib.h>

enum { AUTO = 0, BINS = 1, OFF = 5, PERMUTED = 6 };
static int word(int from, int to, int i)
{
    return 1 + i + 1000 * to + 100000 * from;
}

/** A call of so many ints for each rank; whether its data are right. */
static bool run(int ints, bool in_place)
{
    const size_t all = (size_t) (ints * tap_size);
    int *out = tap_memory(all * sizeof(int)), *in = tap_memory(all * sizeof(int));
    bool right = true;

    for (int i = 0; i < (int) all; i++) {
        out[i] = in[i] = word(tap_rank, i / ints, i % ints);
    }
    TAP_MPI(MPI_Alltoall(in_place ? MPI_IN_PLACE : out, ints, MPI_INT, in, ints, MPI_INT,
                         MPI_COMM_WORLD));
    for (int i = 0; i < (int) all; i++) {
        right = right && word(i / ints, tap_rank, i % ints) == in[i];
    }
    free(out);
    free(in);
    return right;
}

static uint64_t calls(void)
{
    return knob_counter("coll_pipering_alltoall_calls");
}

/* Of fewer than 8192 bytes in all auto leaves a call to the module below. */
static void test_small(void)
{
    const uint64_t before = calls(), small = knob_counter("coll_pipering_fallback_small");
    const int few = 8191 / (4 * tap_size), enough = (8191 + 4 * tap_size) / (4 * tap_size);
    const bool mesh = 0 != tap_number("MESH", 0);

    knob_set("coll_pipering_alltoall_algorithm", AUTO);
    const bool right = run(few, false) && run(enough, false);
    const bool left = calls() - before == mesh
                      && knob_counter("coll_pipering_fallback_small") - small == mesh;
    tap_check(right && left, right ? "not so" : "wrong data",
              "MPI_Alltoall, auto: %s", mesh ? "few bytes are left to the module below"
                                             : "never by bytes without a mesh");
}

static void test_served(void)
{
    static const int algorithms[] = {AUTO, BINS, OFF, PERMUTED};
    static const char *const names[] = {"auto", "bins", "off", "permuted"};
    const bool mesh = 0 != tap_number("MESH", 0);

    for (int i = 0; i < 4; i++) {
        const bool served = AUTO == algorithms[i] ? mesh : OFF != algorithms[i];
        const uint64_t before = calls(), meshless = knob_counter("coll_pipering_fallback_meshless");
        knob_set("coll_pipering_alltoall_algorithm", algorithms[i]);
        const bool right = run(10000, false);
        const bool for_mesh = knob_counter("coll_pipering_fallback_meshless") != meshless;
        const bool so = calls() - before == served
                        && for_mesh == (AUTO == algorithms[i] && !mesh);
        tap_check(right && so, right ? "not so" : "wrong data",
                  "MPI_Alltoall, %s: %s", names[i], served ? "served" : "left to the module below");
    }
}

/* In place there are no packets, so auto has no reason to serve a call. */
static void test_in_place(void)
{
    const uint64_t before = calls();

    knob_set("coll_pipering_alltoall_algorithm", AUTO);
    const bool right = run(10000, true);
    tap_check(right && calls() == before, right ? "served" : "wrong data",
              "MPI_Alltoall in place, auto: left to the module below");
}

/* 400 bytes for each rank in packets of 100 are four messages, of 300 two, of 1000 one. */
static void test_packets(void)
{
    static const struct {
        int bytes, messages;
    } packets[] = {{100, 4}, {300, 2}, {1000, 1}};

    knob_set("coll_pipering_alltoall_algorithm", PERMUTED);
    for (int i = 0; i < 3; i++) {
        knob_set("coll_pipering_block_size", packets[i].bytes);
        const uint64_t sent = knob_counter("coll_pipering_alltoall_messages_sent");
        const bool right = run(100, false);
        const uint64_t more = knob_counter("coll_pipering_alltoall_messages_sent") - sent;
        tap_check(right && more == (uint64_t) (packets[i].messages * (tap_size - 1)),
                  right ? "not so" : "wrong data", "400 bytes in packets of %d: %d messages each",
                  packets[i].bytes, packets[i].messages);
    }
    knob_set("coll_pipering_block_size", 0);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("coll/pipering is not there");
    }
    test_served();
    test_in_place();
    test_small();
    test_packets();
    knob_end();
    return tap_end();
}
