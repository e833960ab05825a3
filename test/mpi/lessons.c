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
 * Calls that teach what links between nodes cost: which of them do, that all ranks plan
 * alike by it, and that nonblocking calls, whose time is that of the program, do not.
 *
 * NODES is how many nodes there are.
 */

#include "knob.h"
#include "tap.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL (256 * 1024)
#define CALLS 9

typedef struct {
    MPI_Comm comm;
    int rank, size;
    int *count, *displ;
    unsigned char *mine, *all;
} gather_t;

static gather_t gather_new(MPI_Comm comm)
{
    gather_t gather = {.comm = comm};
    int at = 0;

    MPI_Comm_rank(comm, &gather.rank);
    MPI_Comm_size(comm, &gather.size);
    gather.count = tap_memory((size_t) gather.size * sizeof(int));
    gather.displ = tap_memory((size_t) gather.size * sizeof(int));
    for (int i = 0; i < gather.size; i++) {
        gather.displ[i] = at;
        gather.count[i] = TOTAL * 2 * (i + 1) / (gather.size * (gather.size + 1));
        at += gather.count[i];
    }
    gather.mine = tap_memory(TOTAL);
    gather.all = tap_memory(TOTAL);
    return gather;
}

static void gather_free(gather_t *gather)
{
    free(gather->count);
    free(gather->displ);
    free(gather->mine);
    free(gather->all);
}

static unsigned char value(int rank, int i, int call)
{
    return (unsigned char) (rank * 31 + i * 7 + call * 13);
}

static void fill(gather_t *gather, int call)
{
    for (int i = 0; i < gather->count[gather->rank]; i++) {
        gather->mine[i] = value(gather->rank, i, call);
    }
    memset(gather->all, 0, TOTAL);
}

static bool is_right(const gather_t *gather, int call)
{
    for (int r = 0; r < gather->size; r++) {
        for (int i = 0; i < gather->count[r]; i++) {
            if (value(r, i, call) != gather->all[gather->displ[r] + i]) {
                return false;
            }
        }
    }
    return true;
}

static bool run(gather_t *gather, int call)
{
    fill(gather, call);
    MPI_Allgatherv(gather->mine, gather->count[gather->rank], MPI_BYTE, gather->all, gather->count,
                   gather->displ, MPI_BYTE, gather->comm);
    return is_right(gather, call);
}

static bool irun(gather_t *gather, int call)
{
    MPI_Request request;

    fill(gather, call);
    MPI_Iallgatherv(gather->mine, gather->count[gather->rank], MPI_BYTE, gather->all,
                    gather->count, gather->displ, MPI_BYTE, gather->comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return is_right(gather, call);
}

/* All ranks have the same number. */
static bool is_equal(MPI_Comm comm, uint64_t number)
{
    uint64_t least, most;

    MPI_Allreduce(&number, &least, 1, MPI_UINT64_T, MPI_MIN, comm);
    MPI_Allreduce(&number, &most, 1, MPI_UINT64_T, MPI_MAX, comm);
    return least == most;
}

/* Lessons are the first, second, fourth and eighth call, and nothing else. */
static void try_schedule(bool taught)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    gather_t gather = gather_new(comm);
    for (int call = 1; call <= CALLS; call++) {
        const uint64_t before = knob_counter("coll_pipering_lessons");
        const bool right = run(&gather, call), iright = irun(&gather, call);
        const uint64_t lessons = knob_counter("coll_pipering_lessons") - before;
        const bool teaches = taught && 0 == (call & (call - 1));

        tap_check(right && iright, "", "call %d: the results are right", call);
        tap_check(lessons == (teaches ? 1u : 0u), "", "call %d teaches: %d", call, teaches);
        tap_check(is_equal(comm, knob_counter("coll_pipering_block_size_used")), "",
                  "call %d: all ranks take the same blocks", call);
    }
    gather_free(&gather);
    MPI_Comm_free(&comm);
}

/*
 * Small calls of a job that knows nothing yet: the eighth goes through a pipeline and teaches, so
 * that a program without large calls learns too.
 */
static void try_small(bool taught)
{
    static unsigned char data[16384];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int call = 1; call < 16; call++) {
        const uint64_t before = knob_counter("coll_pipering_lessons");
        const bool teaches = taught && 8 == call;
        bool right = true;

        memset(data, 0 == tap_rank ? call : 0, sizeof(data));
        MPI_Bcast(data, sizeof(data), MPI_BYTE, 0, comm);
        for (size_t i = 0; i < sizeof(data); i++) {
            right &= call == data[i];
        }
        tap_check(right, "", "small call %d: the result is right", call);
        tap_check(before + teaches == knob_counter("coll_pipering_lessons"), "",
                  "small call %d teaches: %d", call, teaches);
    }
    MPI_Comm_free(&comm);
}

/* What a nonblocking call is expected to take on a communicator that is set up. */
static uint64_t expected_time(MPI_Comm comm)
{
    char settle[16384] = {0};
    gather_t gather = gather_new(comm);

    knob_set("coll_pipering_bcast_algorithm", KNOB_PIPELINE);
    MPI_Bcast(settle, sizeof(settle), MPI_BYTE, 0, comm);
    knob_set("coll_pipering_bcast_algorithm", KNOB_AUTO);
    (void) irun(&gather, 0);
    gather_free(&gather);
    return knob_counter("coll_pipering_predicted_time");
}

/* A communicator begins with what its ranks have learnt on others, whoever was there. */
static void try_others(void)
{
    MPI_Comm comm, part;
    uint64_t known, adopted;

    MPI_Comm_split(MPI_COMM_WORLD, 0 == tap_rank ? MPI_UNDEFINED : 0, 0, &part);
    if (MPI_COMM_NULL != part) { /* rank 0 knows less than the others */
        gather_t gather = gather_new(part);
        for (int call = 1; call <= CALLS; call++) {
            (void) run(&gather, call);
        }
        gather_free(&gather);
        MPI_Comm_free(&part);
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    known = expected_time(comm);
    tap_check(0 < known && is_equal(comm, known), "", "a new communicator: all ranks expect alike");
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    adopted = expected_time(comm);
    tap_check(known == adopted, "", "and on the next one the same");
    MPI_Comm_free(&comm);
}

/* Nonblocking calls alone, with work in between, teach nothing. */
static void try_nonblocking(void)
{
    const uint64_t before = knob_counter("coll_pipering_lessons");
    MPI_Comm comm;
    bool right = true;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    gather_t gather = gather_new(comm);
    for (int call = 0; call < 4; call++) {
        MPI_Request request;
        int done = 0;

        fill(&gather, call);
        MPI_Iallgatherv(gather.mine, gather.count[gather.rank], MPI_BYTE, gather.all, gather.count,
                        gather.displ, MPI_BYTE, comm, &request);
        while (!done) {
            const double end = MPI_Wtime() + 0.002;
            while (MPI_Wtime() < end) {
            }
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        right &= is_right(&gather, call);
    }
    tap_check(right, "", "nonblocking calls between work: the results are right");
    tap_check(before == knob_counter("coll_pipering_lessons"), "", "and they teach nothing");
    gather_free(&gather);
    MPI_Comm_free(&comm);
}

/* With given costs there is nothing to learn. */
static void try_given(void)
{
    const uint64_t before = knob_counter("coll_pipering_lessons");
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    gather_t gather = gather_new(comm);
    knob_set("coll_pipering_alpha", 40);
    knob_set("coll_pipering_beta", 80);
    tap_check(run(&gather, 1), "", "costs are given: the result is right");
    tap_check(before == knob_counter("coll_pipering_lessons"), "", "and there is no lesson");
    knob_set("coll_pipering_alpha", 0);
    knob_set("coll_pipering_beta", 0);
    gather_free(&gather);
    MPI_Comm_free(&comm);
}

/*
 * Where blocks are said to be dear the module below has the calls, and lessons time it, until one
 * has tried a pipeline.
 */
static void try_below(void)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    gather_t gather = gather_new(comm);
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_AUTO);
    knob_set("coll_pipering_alpha", 100000);
    for (int call = 1; call <= CALLS; call++) {
        const uint64_t lessons = knob_counter("coll_pipering_lessons");
        const uint64_t left = knob_counter("coll_pipering_fallback_model");
        const bool right = run(&gather, call), may_teach = 0 == (call & (call - 1));
        const uint64_t taught = knob_counter("coll_pipering_lessons") - lessons;

        tap_check(right, "", "dear blocks, call %d: the result is right", call);
        if (1 == call) {
            tap_check(left + 1 == knob_counter("coll_pipering_fallback_model"), "",
                      "and the module below had it");
        }
        tap_check(1 == call ? 1 == taught : taught <= may_teach, "", "and %d lessons of it",
                  (int) taught);
    }
    knob_set("coll_pipering_alpha", 0);
    gather_free(&gather);
    MPI_Comm_free(&comm);
}

/* The same of calls of which not every rank waits for all others. */

#define INTS (16 * 1024)

static void call_bcast(const int *in, int *out, MPI_Comm comm)
{
    memcpy(out, in, INTS * sizeof(int));
    MPI_Bcast(out, INTS, MPI_INT, 0, comm);
}

static void call_reduce(const int *in, int *out, MPI_Comm comm)
{
    MPI_Reduce(in, out, INTS, MPI_INT, MPI_SUM, 0, comm);
}

static void call_scan(const int *in, int *out, MPI_Comm comm)
{
    MPI_Scan(in, out, INTS, MPI_INT, MPI_SUM, comm);
}

static void call_exscan(const int *in, int *out, MPI_Comm comm)
{
    MPI_Exscan(in, out, INTS, MPI_INT, MPI_SUM, comm);
}

static void try_folds_below(long nodes)
{
    static const struct {
        const char *name;
        void (*call)(const int *in, int *out, MPI_Comm comm);
    } folds[] = {{"bcast", call_bcast},
                 {"reduce", call_reduce},
                 {"scan", call_scan},
                 {"exscan", call_exscan}};
    static int in[INTS], out[INTS];

    knob_set("coll_pipering_alpha", 100000);
    for (size_t i = 0; i < sizeof(folds) / sizeof(folds[0]); i++) {
        const uint64_t left = knob_counter("coll_pipering_fallback_model");
        const uint64_t lessons = knob_counter("coll_pipering_lessons");
        MPI_Comm comm;

        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int call = 1; call < 8; call++) {
            folds[i].call(in, out, comm);
        }
        /* a chain of 3 nodes has as many steps as a tree */
        tap_check(4 > nodes || lessons == knob_counter("coll_pipering_lessons"), "",
                  "dear blocks, %s: seven calls teach nothing", folds[i].name);
        folds[i].call(in, out, comm);
        tap_check(4 > nodes
                      || (lessons + 1 == knob_counter("coll_pipering_lessons")
                          && left + 8 == knob_counter("coll_pipering_fallback_model")),
                  "", "the eighth does, and the module below had them all");
        MPI_Comm_free(&comm);
    }
    knob_set("coll_pipering_alpha", 0);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    const long nodes = tap_number("NODES", 1);
    const bool taught = 1 < nodes;

    try_small(taught);
    try_nonblocking();
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    try_schedule(taught);
    try_given();
    if (taught) {
        try_others();
        try_below();
        try_folds_below(nodes);
    }
    knob_end();
    return tap_end();
}
