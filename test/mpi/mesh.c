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
 * Calls along a mesh (coll_pipering_mesh), in all forms, from all roots: that every rank gets each
 * foreign byte once; on all ranks, on half of the mesh, on ranks that are no box, and with a
 * topology. That results are right is the fuzzer's business.
 * Communicators have names, by which mesh.t finds their calls in the verbose lines.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PART 24028 /* bytes of a vector, or of each rank's contribution */

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
    foldcall_t call = foldcall_of_parts(arm->call, PART);
    uint64_t moved, sum = 0;
    int size;

    MPI_Comm_size(comm, &size);
    call.comm = comm;
    call.root = root;
    set(arm, arm->algorithm);
    moved = knob_counter("coll_pipering_bytes_received");
    TAP_MPI(foldcall(&call, form));
    moved = knob_counter("coll_pipering_bytes_received") - moved;
    set(arm, KNOB_OFF);
    foldcall_free(&call);
    MPI_Allreduce(&moved, &sum, 1, MPI_UINT64_T, MPI_SUM, comm);
    const uint64_t parts = FOLD_ALLGATHERV == arm->call ? (uint64_t) size : 1;
    const uint64_t wanted = (uint64_t) arm->passes * (uint64_t) (size - 1) * parts * PART;
    snprintf(fault, room, "root %d: %llu bytes came in, not %llu", root,
             (unsigned long long) sum, (unsigned long long) wanted);
    return sum == wanted;
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
    enum { BYTES = 65536, PERMUTED = 6 };
    foldcall_t call = foldcall_of_parts(FOLD_ALLTOALLV, BYTES);
    MPI_Comm all;

    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_set_name(all, "all");
    TAP_MPI(MPI_Alltoall(call.send, BYTES, MPI_BYTE, call.recv, BYTES, MPI_BYTE, all));
    knob_set("coll_pipering_alltoall_algorithm", PERMUTED);
    TAP_MPI(MPI_Alltoall(MPI_IN_PLACE, BYTES, MPI_BYTE, call.recv, BYTES, MPI_BYTE, all));
    tap_check(true, NULL, "Alltoall of 64 KiB a pair, and in place");
    foldcall_free(&call);
    MPI_Comm_free(&all);
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
