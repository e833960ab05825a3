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
 * What broadcasts, reductions and scans move, by the component's counters: every
 * byte once over every hop, and between nodes once into every node. And products of
 * matrices, which do not commute, at every root.
 */

#include "knob.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 30011 /* ints */
#define BLOCK 4096  /* bytes */

typedef enum { BCAST, REDUCE, SCAN, EXSCAN, MERGED, RING, CALLS } call_t;

static const struct {
    const char *name, *variable;
    int algorithm;
    int passes; /* times that all ranks but one take all bytes in */
} calls[CALLS] = {{"Bcast", "bcast", KNOB_PIPELINE, 1},
                  {"Reduce", "reduce", KNOB_PIPELINE, 1},
                  {"Scan", "scan", KNOB_PIPELINE, 1},
                  {"Exscan", "exscan", KNOB_PIPELINE, 1},
                  {"Allreduce, merged", "allreduce", KNOB_MERGED, 2},
                  {"Allreduce, ring", "allreduce", KNOB_RING, 2}};

static int nodes;    /* that the job has */
static int borders;  /* ranks whose predecessor is on another node */

static void find_nodes(void)
{
    int *first = tap_memory((size_t) tap_size * sizeof(int)), mine = tap_rank;
    MPI_Comm node;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Bcast(&mine, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    MPI_Allgather(&mine, 1, MPI_INT, first, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < tap_size; r++) {
        nodes += r == first[r];
        borders += 0 < r && first[r] != first[r - 1];
    }
    free(first);
}

static void run(call_t call, int root, const int *in, int *out)
{
    switch (call) {
    case BCAST:
        MPI_Bcast(out, COUNT, MPI_INT, root, MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Reduce(in, out, COUNT, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD);
        break;
    case SCAN:
        MPI_Scan(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    case EXSCAN:
        MPI_Exscan(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        break;
    default:
        MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
}

static void set(call_t call, int algorithm)
{
    char name[64];

    snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", calls[call].variable);
    knob_set(name, algorithm);
}

/* Counters, summed over the ranks: blocks and bytes received, bytes from other nodes. */
static void moved(call_t call, int root, const int *in, int *out, uint64_t sum[3])
{
    static const char *const names[3] = {"coll_pipering_blocks_received",
                                         "coll_pipering_bytes_received",
                                         "coll_pipering_bytes_from_network"};
    uint64_t mine[3];

    set(call, calls[call].algorithm);
    for (int i = 0; i < 3; i++) {
        mine[i] = knob_counter(names[i]);
    }
    run(call, root, in, out);
    for (int i = 0; i < 3; i++) {
        mine[i] = knob_counter(names[i]) - mine[i];
    }
    set(call, KNOB_OFF);
    MPI_Allreduce(mine, sum, 3, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static uint64_t blocks_of(uint64_t bytes)
{
    return (bytes + BLOCK - 1) / BLOCK;
}

/* Elements of a rank's chunk of a vector that is scattered. */
static uint64_t chunk(int rank)
{
    return (uint64_t) (COUNT / tap_size + (rank < COUNT % tap_size));
}

/* Blocks that all bytes are: a ring's are those of each rank's chunk. */
static uint64_t count_blocks(call_t call)
{
    uint64_t blocks = 0;

    for (int r = 0; RING == call && r < tap_size; r++) {
        blocks += blocks_of(chunk(r) * sizeof(int));
    }
    return RING == call ? blocks : blocks_of(COUNT * sizeof(int));
}

/* All bytes come into every node but one, a scan's wherever it changes the node. */
static void try_network(call_t call, int root, uint64_t moved)
{
    const uint64_t bytes = COUNT * sizeof(int), passes = (uint64_t) calls[call].passes;
    const uint64_t times = SCAN == call || EXSCAN == call ? (uint64_t) borders
                                                          : passes * (uint64_t) (nodes - 1);

    tap_check(moved == times * bytes, "another number", "%s from %d: %llu bytes from other nodes",
              calls[call].name, root, (unsigned long long) moved);
}

/* Into every node come all chunks but one to be combined, and all but its own as results. */
static void try_ring_network(uint64_t moved)
{
    const uint64_t links = 1 < nodes ? (uint64_t) nodes : 0, bytes = COUNT * sizeof(int);
    const uint64_t most = chunk(0) * sizeof(int), least = chunk(tap_size - 1) * sizeof(int);
    const uint64_t results = (uint64_t) (nodes - 1) * bytes;

    tap_check(moved >= results + links * (bytes - most)
                  && moved <= results + links * (bytes - least),
              "another number", "%s: %llu bytes from other nodes", calls[RING].name,
              (unsigned long long) moved);
}

static void try_counts(call_t call, int root)
{
    const uint64_t bytes = COUNT * sizeof(int), hops = (uint64_t) (tap_size - 1);
    const uint64_t passes = (uint64_t) calls[call].passes;
    int *in = tap_memory(bytes), *out = tap_memory(bytes);
    uint64_t sum[3];

    memset(in, 0, bytes);
    memset(out, 0, bytes);
    moved(call, root, in, out, sum);
    tap_check(sum[0] == passes * hops * count_blocks(call), "another number",
              "%s from %d: %llu blocks", calls[call].name, root, (unsigned long long) sum[0]);
    tap_check(sum[1] == passes * hops * bytes, "another number", "%s from %d: %llu bytes",
              calls[call].name, root, (unsigned long long) sum[1]);
    if (RING == call) {
        try_ring_network(sum[2]);
    } else {
        try_network(call, root, sum[2]);
    }
    free(in);
    free(out);
}

/* ---- what does not commute ---- */

static void multiply(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const uint32_t *a = in;
    uint32_t *b = inout;

    (void) type;
    for (int k = 0; k < *length; k++, a += 4, b += 4) {
        const uint32_t c[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                               a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
        memcpy(b, c, sizeof(c));
    }
}

static void fill(int rank, uint32_t *matrix, int count)
{
    for (int i = 0; i < 4 * count; i++) {
        matrix[i] = (uint32_t) (rank * 7 + i * 3 + 1);
    }
}

static void try_order(int root, MPI_Datatype type, MPI_Op op)
{
    enum { MATRICES = 1500 };
    const size_t bytes = MATRICES * 16;
    uint32_t *mine = tap_memory(bytes), *wanted = tap_memory(bytes), *next = tap_memory(bytes);
    uint32_t *got = tap_memory(bytes);
    const uint64_t forced = 1 < tap_size && 0 <= knob_get("coll_pipering_priority", -1);
    uint64_t calls;
    int count = MATRICES;

    fill(tap_rank, mine, count);
    fill(tap_size - 1, wanted, count);
    for (int r = tap_size - 2; r >= 0; r--) {
        fill(r, next, count);
        multiply(next, wanted, &count, &type);
    }
    calls = knob_counter("coll_pipering_calls");
    MPI_Reduce(mine, got, count, type, op, root, MPI_COMM_WORLD);
    calls = knob_counter("coll_pipering_calls") - calls;
    tap_check(tap_rank != root || 0 == memcmp(got, wanted, bytes), "wrong product",
              "MPI_Reduce of matrices at root %d", root);
    if (0 == root) {
        MPI_Allreduce(mine, got, count, type, op, MPI_COMM_WORLD);
        tap_check(0 == memcmp(got, wanted, bytes), "wrong product", "MPI_Allreduce of matrices");
    }
    tap_check(forced == calls, "another module has", "the component has multiplied matrices");
    free(mine);
    free(wanted);
    free(next);
    free(got);
}

int main(int argc, char **argv)
{
    MPI_Datatype type;
    MPI_Op op;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (knob_begin()) {
        find_nodes();
        knob_set("coll_pipering_block_size", BLOCK);
        for (int root = 0; root < tap_size; root += 1 + (root > 0)) {
            for (int call = 0; call < CALLS; call++) {
                try_counts((call_t) call, root);
            }
        }
        set(REDUCE, KNOB_PIPELINE);
        set(MERGED, KNOB_MERGED);
    }
    MPI_Type_contiguous(4, MPI_UINT32_T, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(multiply, 0, &op);
    for (int root = 0; root < tap_size; root++) {
        try_order(root, type, op);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    knob_end();
    return tap_end();
}
