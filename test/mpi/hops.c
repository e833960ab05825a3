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
 * What goes through ring buffers in shared memory, by the component's counters: all that ranks of a
 * node get from each other, and nothing where there are no buffers, or these cannot carry the
 * blocks. That results are right is the fuzzer's business. EXPECT=none: no buffer can be had;
 * EXPECT=some: there is memory for a few of them. FIRST=1: the first of the ways only; CHANGES=1:
 * variables change while a communicator lives.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 9001 /* elements of an int */

typedef enum { GATHER, BCAST, REDUCE, SCAN, EXSCAN, MERGED, RING, KINDS } kind_t;

static const struct {
    const char *name;
    fold_call_t call;
    int both_ways; /* algorithm of MPI_Allreduce */
} kinds[KINDS] = {{"Allgatherv", FOLD_ALLGATHERV, KNOB_OFF},
                  {"Bcast", FOLD_BCAST, KNOB_OFF},
                  {"Reduce", FOLD_REDUCE, KNOB_OFF},
                  {"Scan", FOLD_SCAN, KNOB_OFF},
                  {"Exscan", FOLD_EXSCAN, KNOB_OFF},
                  {"Allreduce, merged", FOLD_ALLREDUCE, KNOB_MERGED},
                  {"Allreduce, ring", FOLD_ALLREDUCE, KNOB_RING}};

/** Variables, what is called, and whether that can go through ring buffers. */
typedef struct way_t {
    const char *name;
    size_t block_size;
    size_t ring_buffer_size;
    form_t form;
    bool gaps; /**< between the elements: a reduction does not copy these as bytes */
    bool shares;
} way_t;

static const way_t ways[] = {
    {"blocks of 64 bytes", 64, 4096, BLOCKING, false, true},
    {"blocks of half a buffer", 2048, 4096, NONBLOCKING, false, true},
    {"blocks of more than half a buffer", 2052, 4096, BLOCKING, false, false},
    {"buffers of the next smaller size", 2048, 8191, BLOCKING, false, true},
    {"buffers of 0 bytes", 1024, 0, BLOCKING, false, false},
    {"buffers of fewer bytes than there can be", 1024, 4095, BLOCKING, false, false},
    {"persistent calls", 1024, 4096, PERSISTENT, false, true},
    {"elements with gaps", 1024, 4096, BLOCKING, true, true},
};
#define WAYS ((int) (sizeof(ways) / sizeof(ways[0])))

static MPI_Datatype gapped; /* an int in the place of two */
static MPI_Op gapped_sum;

static void add_gapped(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    for (int i = 0; i < *length; i++) {
        ((int *) inout)[2 * i] += ((int *) in)[2 * i];
    }
}

static void make_gapped(void)
{
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gapped);
    MPI_Type_commit(&gapped);
    MPI_Op_create(add_gapped, 1, &gapped_sum);
}

/* ---- a call ---- */

static foldcall_t new_call(kind_t kind, const way_t *way, MPI_Comm comm, int root)
{
    const int step = way->gaps ? 2 : 1; /* ints from an element to the next */
    foldcall_t call = foldcall_of_parts(kinds[kind].call, step * COUNT * (int) sizeof(int));
    int *counts = (int *) call.counts, *displs = (int *) call.displs;

    call.comm = comm;
    call.root = root;
    call.count = COUNT;
    call.type = way->gaps ? gapped : MPI_INT;
    call.op = way->gaps ? gapped_sum : MPI_SUM;
    for (int i = 0; i < tap_size; i++) {
        counts[i] = COUNT;
        displs[i] = i * COUNT;
    }
    return call;
}

static void set_way(const way_t *way, kind_t kind)
{
    knob_set("coll_pipering_block_size", (double) way->block_size);
    knob_set("coll_pipering_ring_buffer_size", (double) way->ring_buffer_size);
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    knob_folds(KNOB_PIPELINE, kinds[kind].both_ways);
}

static void set_off(void)
{
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_OFF);
    knob_folds(KNOB_OFF, KNOB_OFF);
}

/* ---- the counters ---- */

enum { SHARED, RECEIVED, FROM_NETWORK, CALLS, COUNTERS };
static const char *const counters[COUNTERS]
    = {"coll_pipering_bytes_shared", "coll_pipering_bytes_received",
       "coll_pipering_bytes_from_network", "coll_pipering_calls"};

/* Runs a call; how far the counters of all ranks went meanwhile. */
static void run_counted(kind_t kind, const way_t *way, MPI_Comm comm, int root,
                        uint64_t sum[COUNTERS])
{
    const foldcall_t call = new_call(kind, way, comm, root);
    uint64_t mine[COUNTERS];

    set_way(way, kind);
    for (int i = 0; i < COUNTERS; i++) {
        mine[i] = knob_counter(counters[i]);
    }
    TAP_MPI(foldcall(&call, way->form));
    for (int i = 0; i < COUNTERS; i++) {
        mine[i] = knob_counter(counters[i]) - mine[i];
    }
    set_off();
    foldcall_free(&call);
    MPI_Allreduce(mine, sum, COUNTERS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

typedef enum { NONE, SOME, ALL } portion_t;

static uint64_t all_shared, all_inside; /* bytes of all calls so far */

static portion_t expected(kind_t kind, const way_t *way)
{
    const char *expect = getenv("EXPECT");
    const bool copies = !way->gaps || GATHER == kind || BCAST == kind;

    if (!way->shares || !copies || (NULL != expect && 0 == strcmp(expect, "none"))) {
        return NONE;
    }
    return NULL != expect && 0 == strcmp(expect, "some") ? SOME : ALL;
}

/* Of what ranks got from others on their node. */
static bool is_portion(portion_t portion, const uint64_t sum[COUNTERS])
{
    const uint64_t inside = sum[RECEIVED] - sum[FROM_NETWORK];

    switch (portion) {
    case NONE:
        return 0 == sum[SHARED];
    case SOME:
        return sum[SHARED] <= inside;
    default:
        return sum[SHARED] == inside && 0 < sum[RECEIVED];
    }
}

/* A call on a communicator, whose buffers are made for it if this is the first one. */
static void try_call(kind_t kind, const way_t *way, MPI_Comm comm, int root)
{
    static const char *const words[] = {"none", "some", "all"};
    const portion_t portion = expected(kind, way);
    uint64_t sum[COUNTERS] = {0};
    run_counted(kind, way, comm, root, sum);
    const bool served = (uint64_t) tap_size == sum[CALLS];
    char fault[300];

    all_shared += sum[SHARED];
    all_inside += sum[RECEIVED] - sum[FROM_NETWORK];
    snprintf(fault, sizeof(fault),
             "%d ranks, calls %llu, bytes received %llu, of these from other nodes %llu, through "
             "ring buffers %llu",
             tap_size, (unsigned long long) sum[CALLS],
             (unsigned long long) sum[RECEIVED], (unsigned long long) sum[FROM_NETWORK],
             (unsigned long long) sum[SHARED]);
    tap_check(served && is_portion(portion, sum), fault,
              "%s, %s: %s goes through ring buffers", kinds[kind].name, way->name, words[portion]);
}

/* Every kind on a communicator of its own, and once more where the buffers are there. */
static void try_way(const way_t *way)
{
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        try_call((kind_t) kind, way, comm, 0);
        try_call((kind_t) kind, way, comm, tap_size / 2);
        MPI_Comm_free(&comm);
    }
}

/* Buffers of other sizes from call to call on one communicator. */
static void try_changes(void)
{
    static const way_t larger = {"larger buffers than before", 30000, 1 << 20, BLOCKING,
                                 false, true};
    static const way_t smaller = {"smaller buffers than there can be", 512, 1024,
                                  NONBLOCKING, false, false};
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int kind = 0; kind < KINDS; kind++) {
        try_call((kind_t) kind, &ways[0], comm, 0);
        try_call((kind_t) kind, &smaller, comm, 0);
        try_call((kind_t) kind, &larger, comm, 0);
        try_call((kind_t) kind, &ways[1], comm, 0);
    }
    MPI_Comm_free(&comm);
}

static void try_all(void)
{
    const char *expect = getenv("EXPECT");
    const int count = 0 != tap_number("FIRST", 0) ? 1 : WAYS;

    for (int i = 0; i < count; i++) {
        try_way(&ways[i]);
    }
    if (NULL != expect && 0 == strcmp(expect, "some")) {
        tap_check(0 < all_shared && all_shared < all_inside, "none or all",
                  "in all %llu bytes of %llu go through ring buffers",
                  (unsigned long long) all_shared, (unsigned long long) all_inside);
    }
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    set_off();
    make_gapped();
    if (0 != tap_number("CHANGES", 0)) {
        try_changes();
    } else {
        try_all();
    }
    MPI_Op_free(&gapped_sum);
    MPI_Type_free(&gapped);
    knob_end();
    return tap_end();
}
