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
 * MPI_Alltoall in its three forms: right data with types with and without gaps, of which ranks of
 * odd numbers use others than the rest; who serves it, by the counters; packets, by the counters.
 *
 * With MESH=1 in the environment a mesh of nodes is declared, and auto serves it.
 */

#include "call.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AUTO = 0, BINS = 1, OFF = 5, PERMUTED = 6 };
#define PAIR 2 /* ints of an element with a gap behind its first one */

/* An int, or two with a gap; each element with its extent in ints. */
typedef struct kind_t {
    MPI_Datatype type;
    int ints, stride;
} kind_t;

static kind_t kinds[2];

static void make_kinds(void)
{
    const int lengths[PAIR] = {1, 1}, places[PAIR] = {0, 2};
    MPI_Datatype gap;

    kinds[0] = (kind_t){MPI_INT, 1, 1};
    TAP_MPI(MPI_Type_indexed(PAIR, lengths, places, MPI_INT, &gap));
    TAP_MPI(MPI_Type_create_resized(gap, 0, 4 * (MPI_Aint) sizeof(int), &kinds[1].type));
    TAP_MPI(MPI_Type_commit(&kinds[1].type));
    TAP_MPI(MPI_Type_free(&gap));
    kinds[1].ints = PAIR;
    kinds[1].stride = 4;
}

/* Where int i of a buffer of elements lies. */
static size_t place_of(const kind_t *kind, size_t i)
{
    return i / (size_t) kind->ints * (size_t) kind->stride + 2 * (i % (size_t) kind->ints);
}

static int word(int from, int to, int i)
{
    return 1 + i + 1000 * to + 100000 * from;
}

typedef struct trial_t {
    int ints; /* for each rank, a multiple of PAIR */
    const kind_t *send, *recv;
    bool in_place;
    int *out, *in;
    size_t out_ints, in_ints;
} trial_t;

static void fill(trial_t *call)
{
    const kind_t *from = call->in_place ? call->recv : call->send;
    int *buffer = call->in_place ? call->in : call->out;

    memset(call->in, -1, call->in_ints * sizeof(int));
    for (int to = 0; to < tap_size; to++) {
        for (int i = 0; i < call->ints; i++) {
            buffer[place_of(from, (size_t) to * (size_t) call->ints + (size_t) i)]
                = word(tap_rank, to, i);
        }
    }
}

/* All ints have come, and gaps are as they were. */
static bool is_right(const trial_t *call)
{
    int *wanted = tap_memory(call->in_ints * sizeof(int));

    memset(wanted, -1, call->in_ints * sizeof(int));
    for (int from = 0; from < tap_size; from++) {
        for (int i = 0; i < call->ints; i++) {
            wanted[place_of(call->recv, (size_t) from * (size_t) call->ints + (size_t) i)]
                = word(from, tap_rank, i);
        }
    }
    const bool right = 0 == memcmp(wanted, call->in, call->in_ints * sizeof(int));
    free(wanted);
    return right;
}

static void start(const trial_t *call, form_t form, MPI_Request *request)
{
    const void *from = call->in_place ? MPI_IN_PLACE : call->out;
    const int scount = call->ints / call->send->ints, rcount = call->ints / call->recv->ints;

    *request = MPI_REQUEST_NULL;
    TAP_MPI(CALL_IN(form, request, Alltoall, Ialltoall, from, scount, call->send->type, call->in,
                    rcount, call->recv->type, MPI_COMM_WORLD));
}

/* A persistent call runs twice. */
static bool run(trial_t *call, form_t form)
{
    MPI_Request request;
    bool right = true;

    fill(call);
    start(call, form, &request);
    for (int i = 0; i < (PERSISTENT == form ? 2 : 1); i++) {
        if (PERSISTENT == form) {
            fill(call);
            TAP_MPI(MPI_Start(&request));
        }
        TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        right = right && is_right(call);
    }
    if (PERSISTENT == form) {
        TAP_MPI(MPI_Request_free(&request));
    }
    return right;
}

static bool run_kinds(int ints, int send, int recv, bool in_place, form_t form)
{
    trial_t call = {.ints = ints,
                   .send = &kinds[send],
                   .recv = &kinds[recv],
                   .in_place = in_place,
                   .out_ints = 4 * (size_t) ints * (size_t) tap_size + 1};

    call.in_ints = call.out_ints;
    call.out = tap_memory(call.out_ints * sizeof(int));
    call.in = tap_memory(call.in_ints * sizeof(int));
    const bool right = run(&call, form);
    free(call.out);
    free(call.in);
    return right;
}

/* Ranks of odd numbers send with gaps, those of every third receive so. */
static void test_data(int algorithm, const char *name)
{
    static const int sizes[] = {0, 2, 50, 1000, 20000};

    knob_set("coll_pipering_alltoall_algorithm", algorithm);
    for (form_t form = BLOCKING; form < FORMS; form++) {
        bool right = true;
        for (int i = 0; i < 5; i++) {
            right = right && run_kinds(sizes[i], tap_rank % 2, 0 == tap_rank % 3, false, form)
                    && run_kinds(sizes[i], 0, 0, false, form)
                    && run_kinds(sizes[i], 1, 1, true, form);
        }
        tap_check(right, "wrong data", "MPI_Alltoall, %s, %s: data", form_name(form), name);
    }
}

static uint64_t calls(void)
{
    return knob_counter("coll_pipering_alltoall_calls");
}

/* Of fewer bytes in all than min_total auto leaves a call to the module below. */
static void test_small(void)
{
    const uint64_t before = calls(), small = knob_counter("coll_pipering_fallback_small");
    const double least = knob_get("coll_pipering_min_total", 0);
    const bool mesh = 0 != tap_number("MESH", 0);

    knob_set("coll_pipering_alltoall_algorithm", AUTO);
    knob_set("coll_pipering_min_total", 4 * 100 * tap_size);
    const bool right = run_kinds(98, 0, 0, false, BLOCKING)
                       && run_kinds(100, 0, 0, false, BLOCKING);
    const bool left = calls() - before == mesh
                      && knob_counter("coll_pipering_fallback_small") - small == mesh;
    tap_check(right && left, right ? "not so" : "wrong data",
              "MPI_Alltoall, auto: %s", mesh ? "few bytes are left to the module below"
                                             : "never by bytes without a mesh");
    knob_set("coll_pipering_min_total", least);
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
        const bool right = run_kinds(10000, 0, 0, false, BLOCKING);
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
    const bool right = run_kinds(10000, 0, 0, true, BLOCKING);
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
        const bool right = run_kinds(100, 1, 1, false, BLOCKING);
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
    make_kinds();
    test_data(PERMUTED, "permuted");
    test_data(BINS, "bins");
    test_data(AUTO, "auto");
    test_served();
    test_in_place();
    test_small();
    test_packets();
    knob_end();
    return tap_end();
}
