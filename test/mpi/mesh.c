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
 * Calls along a mesh (coll_pipering_mesh), in all forms, from all roots: their results, and that
 * every rank gets each foreign byte once; on all ranks, on half of the mesh, on ranks that are no
 * box, and with a topology.
 * Communicators have names, by which mesh.t finds their calls in the verbose lines.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 6007 /* ints */

typedef struct {
    const char *name, *variable;
    int algorithm;
    fold_call_t call;
    int passes; /* times that all ranks but one take all bytes in */
} arm_t;

static const arm_t arms[] = {
    {"Bcast, trees", "bcast", KNOB_MESH_TREES, FOLD_BCAST, 1},
    {"Reduce, trees", "reduce", KNOB_MESH_TREES, FOLD_REDUCE, 1},
    {"Reduce, paths", "reduce", KNOB_MESH_PATH, FOLD_REDUCE, 1},
    {"Allreduce, path", "allreduce", KNOB_MESH_PATH, FOLD_ALLREDUCE, 2},
    {"Allreduce, cycles", "allreduce", KNOB_MESH_CYCLES, FOLD_ALLREDUCE, 2},
    {"Allgatherv, cycles", "allgatherv", KNOB_MESH_CYCLES, FOLD_ALLGATHERV, 1},
};

#define ARMS (sizeof(arms) / sizeof(arms[0]))

/* One call on one rank. */
typedef struct {
    MPI_Comm comm;
    int rank, size, root;
    int *in, *out, *wanted;
    int *counts, *displs;
    int total; /* ints of the result */
} problem_t;

/* ---- problems ---- */

/* Some contribute nothing, one much. */
static int contribution(int rank, int size)
{
    return rank == size / 2 ? COUNT : 0 == rank % 3 ? 0 : 29 * rank;
}

static int value(int rank, int i)
{
    return 1000 * rank + i;
}

static void fill_gather(problem_t *problem)
{
    int *counts = problem->counts, *displs = problem->displs;

    problem->total = 0;
    for (int r = 0; r < problem->size; r++) {
        counts[r] = contribution(r, problem->size);
        displs[r] = problem->total;
        problem->total += counts[r];
        for (int i = 0; i < counts[r]; i++) {
            problem->wanted[displs[r] + i] = value(r, i);
        }
    }
}

static void fill_vector(problem_t *problem, fold_call_t call)
{
    const int p = problem->size, sum = p * (p - 1) / 2;

    problem->total = COUNT;
    for (int i = 0; i < COUNT; i++) {
        problem->wanted[i] = FOLD_BCAST == call ? value(problem->root, i) : 1000 * sum + p * i;
    }
}

static void open_problem(problem_t *problem, MPI_Comm comm, fold_call_t call, int root)
{
    problem->comm = comm;
    problem->root = root;
    MPI_Comm_rank(comm, &problem->rank);
    MPI_Comm_size(comm, &problem->size);
    const size_t most = (size_t) (2 * COUNT + 29 * problem->size * problem->size) * sizeof(int);
    problem->in = tap_memory(most);
    problem->out = tap_memory(most);
    problem->wanted = tap_memory(most);
    problem->counts = tap_memory((size_t) problem->size * sizeof(int));
    problem->displs = tap_memory((size_t) problem->size * sizeof(int));
    if (FOLD_ALLGATHERV == call) {
        fill_gather(problem);
    } else {
        fill_vector(problem, call);
    }
}

static void close_problem(problem_t *problem)
{
    free(problem->in);
    free(problem->out);
    free(problem->wanted);
    free(problem->counts);
    free(problem->displs);
}

/* Buffers as they are before a call: a broadcast's is one for both. */
static void reset(problem_t *problem, fold_call_t call)
{
    memset(problem->out, 0x55, (size_t) problem->total * sizeof(int));
    for (int i = 0; i < COUNT; i++) {
        problem->in[i] = value(problem->rank, i);
    }
    if (FOLD_BCAST == call && problem->rank == problem->root) {
        memcpy(problem->out, problem->in, COUNT * sizeof(int));
    }
}

static bool is_right(const problem_t *problem, fold_call_t call)
{
    const bool has = FOLD_REDUCE != call || problem->rank == problem->root;

    return !has
           || 0 == memcmp(problem->out, problem->wanted, (size_t) problem->total * sizeof(int));
}

/* ---- calls ---- */

/* A persistent request is started twice; its results are judged both times. */
static bool run(problem_t *at, fold_call_t call, form_t form)
{
    const foldcall_t c = {.call = call, .send = at->in, .recv = at->out, .count = COUNT,
                          .type = MPI_INT, .op = MPI_SUM, .root = at->root, .comm = at->comm,
                          .counts = at->counts, .displs = at->displs};
    MPI_Request request = MPI_REQUEST_NULL;
    bool right = true;

    reset(at, call);
    TAP_MPI(foldcall_issue(&c, form, &request));
    for (int i = 0; i < (PERSISTENT == form ? 2 : 1); i++) {
        if (PERSISTENT == form) {
            reset(at, call);
            TAP_MPI(MPI_Start(&request));
        }
        TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        right &= is_right(at, call);
    }
    if (PERSISTENT == form) {
        TAP_MPI(MPI_Request_free(&request));
    }
    return right;
}

/* ---- tests ---- */

static void set(const arm_t *arm, int algorithm)
{
    char name[64];

    snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", arm->variable);
    knob_set(name, algorithm);
}

/* One arm in one form; bytes that came in are compared with those that must. */
static bool try_call(const arm_t *arm, form_t form, MPI_Comm comm, int root, char *fault,
                     size_t room)
{
    problem_t problem;
    uint64_t moved, sum = 0;

    open_problem(&problem, comm, arm->call, root);
    set(arm, arm->algorithm);
    moved = knob_counter("coll_pipering_bytes_received");
    const bool right = run(&problem, arm->call, form);
    moved = knob_counter("coll_pipering_bytes_received") - moved;
    set(arm, KNOB_OFF);
    MPI_Allreduce(&moved, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    const uint64_t runs = PERSISTENT == form ? 2 : 1;
    const uint64_t wanted = runs * (uint64_t) arm->passes * (uint64_t) (problem.size - 1)
                            * (uint64_t) problem.total * sizeof(int);
    snprintf(fault, room, "root %d: %s, %llu bytes came in, not %llu", root,
             right ? "right" : "wrong", (unsigned long long) sum, (unsigned long long) wanted);
    close_problem(&problem);
    return right && sum == wanted;
}

/* All arms in all forms; ranks that are not in the communicator pass `none`. */
static void try_comm(MPI_Comm comm, const char *name)
{
    static const size_t packets[] = {0, 1000, 4096};
    char fault[160] = "";
    int size = 1;

    if (MPI_COMM_NULL != comm) {
        MPI_Comm_size(comm, &size);
        MPI_Comm_set_name(comm, name);
    }
    for (size_t i = 0; i < ARMS; i++) {
        for (int form = 0; form < FORMS; form++) {
            bool right = true;
            knob_set("coll_pipering_block_size", (double) packets[(i + (size_t) form) % 3]);
            for (int root = 0; root < size && MPI_COMM_NULL != comm && right; root++) {
                right = try_call(&arms[i], (form_t) form, comm, root, fault, sizeof(fault));
            }
            tap_check(right, fault, "%s, %s, on %s", arms[i].name, form_name((form_t) form), name);
        }
    }
}

/* The first half of the ranks, which is a box if the first extent is even. */
static void try_half(void)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, tap_rank < tap_size / 2 ? 0 : MPI_UNDEFINED, tap_rank, &comm);
    try_comm(comm, "half");
    if (MPI_COMM_NULL != comm) {
        MPI_Comm_free(&comm);
    }
}

/* All ranks but one are no box, unless they are a line. */
static void try_torso(void)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, tap_rank == tap_size / 2 ? MPI_UNDEFINED : 0, -tap_rank, &comm);
    try_comm(comm, "torso");
    if (MPI_COMM_NULL != comm) {
        MPI_Comm_free(&comm);
    }
}

static void try_cartesian(void)
{
    int dims[2] = {0, 0}, periods[2] = {1, 0};
    MPI_Comm comm;

    MPI_Dims_create(tap_size, 2, dims);
    MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &comm);
    try_comm(comm, "grid");
    MPI_Comm_free(&comm);
}

/* TEST_EXCHANGE: a program that has no other calls on all of its ranks than these. */
static void try_exchange(void)
{
    enum { INTS = 16384, PERMUTED = 6 };
    int *in = tap_memory((size_t) (INTS * tap_size) * sizeof(int));
    int *out = tap_memory((size_t) (INTS * tap_size) * sizeof(int));
    int wrong = 0;
    MPI_Comm all;

    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_name(all, "all");
    for (int i = 0; i < INTS * tap_size; i++) {
        in[i] = value(tap_rank, i);
    }
    MPI_Alltoall(in, INTS, MPI_INT, out, INTS, MPI_INT, all);
    for (int i = 0; i < INTS * tap_size; i++) {
        wrong += value(i / INTS, tap_rank * INTS + i % INTS) != out[i];
    }
    knob_set("coll_pipering_alltoall_algorithm", PERMUTED);
    MPI_Alltoall(MPI_IN_PLACE, INTS, MPI_INT, out, INTS, MPI_INT, all);
    for (int i = 0; i < INTS * tap_size; i++) {
        wrong += value(tap_rank, i) != out[i];
    }
    tap_check(0 == wrong, "wrong data", "Alltoall of 64 KiB a pair, and back in place");
    MPI_Comm_free(&all);
    free(out);
    free(in);
}

int main(int argc, char **argv)
{
    MPI_Comm all;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_skip("coll/pipering is not there", "calls along a mesh");
        return tap_end();
    }
    if (0 != tap_number("TEST_EXCHANGE", 0)) {
        try_exchange();
        knob_end();
        return tap_end();
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    try_comm(all, "all");
    if (0 == tap_number("TEST_SHORT", 0)) {
        try_half();
        try_torso();
        try_cartesian();
    }
    MPI_Comm_free(&all);
    knob_end();
    return tap_end();
}
