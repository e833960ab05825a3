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
 * What pulls move: no message, and each byte that a rank receives once, whoever copies it. Regular
 * contributions, one contributor, few large ones, and broadcasts; in place, with types that have
 * gaps on some ranks, and with counts that differ between ranks, which is an error of all. What
 * reductions move: each rank reads a range of all vectors, and results.
 *
 * FAILS=1: some rank can read no more at some time, and from then on all calls are errors of all,
 * but those whose contributions are in notices.
 */

#include "knob.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

enum { REGULAR, ONE, SOME, KINDS };
static const char *const kinds[KINDS] = {"regular", "one contributor", "some large ones"};

#define LARGE 300000
#define SMALL 1000
#define TOLD 20 /* a notice has room for them */
#define MANY 300

/* Elements of a rank's contribution. */
static int count_of(int kind, int rank)
{
    return REGULAR == kind   ? LARGE
           : ONE == kind     ? (1 == rank ? LARGE : 0)
           : 0 == rank % 2 ? LARGE - rank
                             : SMALL;
}

static int value_of(int rank, int i)
{
    return 7 * i + 1000003 * rank;
}

static void force(int algorithm)
{
    knob_set("coll_pipering_allgatherv_algorithm", algorithm);
    knob_set("coll_pipering_allgather_algorithm", algorithm);
    knob_set("coll_pipering_bcast_algorithm", algorithm);
    knob_set("coll_pipering_reduce_algorithm", algorithm);
    knob_set("coll_pipering_allreduce_algorithm", algorithm);
    knob_set("coll_pipering_reduce_scatter_algorithm", algorithm);
}

/* By messages, as the collectives are what is tried. */
static uint64_t sum(uint64_t own)
{
    uint64_t all = own, other;

    for (int r = 1; r < tap_size; r++) {
        if (0 == tap_rank) {
            TAP_MPI(MPI_Recv(&other, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            all += other;
        }
    }
    if (0 < tap_rank) {
        TAP_MPI(MPI_Send(&own, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD));
    }
    for (int r = 1; r < tap_size; r++) {
        if (0 == tap_rank) {
            TAP_MPI(MPI_Send(&all, 1, MPI_UINT64_T, r, 0, MPI_COMM_WORLD));
        } else if (r == tap_rank) {
            TAP_MPI(MPI_Recv(&all, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
    }
    return all;
}

/* A gather in place, or a broadcast; elements of rank 0 have gaps, if `gaps`. */
static void try_gather(int kind, bool gaps)
{
    int *counts = tap_memory((size_t) tap_size * sizeof(int));
    int *displs = tap_memory((size_t) tap_size * sizeof(int));
    const int step = gaps && 0 == tap_rank ? 2 : 1;
    MPI_Datatype type;
    int total = 0;
    bool right = true;

    for (int r = 0; r < tap_size; r++) {
        counts[r] = count_of(kind, r);
        displs[r] = total;
        total += counts[r];
    }
    TAP_MPI(MPI_Type_create_resized(MPI_INT, 0, step * (MPI_Aint) sizeof(int), &type));
    TAP_MPI(MPI_Type_commit(&type));
    int *all = tap_memory((size_t) total * (size_t) step * sizeof(int));
    memset(all, 0, (size_t) total * (size_t) step * sizeof(int));
    for (int i = 0; i < counts[tap_rank]; i++) {
        all[(displs[tap_rank] + i) * step] = value_of(tap_rank, i);
    }
    const uint64_t messages = knob_counters("coll_pipering_blocks_");
    const uint64_t calls = knob_counter("coll_pipering_calls");
    const uint64_t copied = knob_counter("coll_pipering_bytes_copied");
    TAP_MPI(MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, type, MPI_COMM_WORLD));
    const bool served = calls + 1 == knob_counter("coll_pipering_calls");
    const uint64_t more = knob_counter("coll_pipering_bytes_copied") - copied;
    for (int r = 0; r < tap_size; r++) {
        for (int i = 0; i < counts[r]; i++) {
            right = right && value_of(r, i) == all[(displs[r] + i) * step];
        }
    }
    tap_check(right && served, right ? "it was not served" : "a wrong byte", "%s%s", kinds[kind],
              gaps ? ", with gaps on rank 0" : "");
    tap_check(messages == knob_counters("coll_pipering_blocks_"), "messages", "%s: no message",
              kinds[kind]);
    if (!gaps) {
        const uint64_t received
            = sum((uint64_t) (total - counts[tap_rank]) * sizeof(int));
        tap_check(received == sum(more), "bytes are copied more than once, or not at all",
                  "%s: each byte is copied once", kinds[kind]);
    }
    TAP_MPI(MPI_Type_free(&type));
    free(all);
    free(displs);
    free(counts);
}

static void try_bcast(int elements)
{
    int *vector = tap_memory((size_t) elements * sizeof(int));
    const uint64_t copied = knob_counter("coll_pipering_bytes_copied");
    bool right = true;

    for (int i = 0; i < elements; i++) {
        vector[i] = 0 == tap_rank ? value_of(3, i) : 0;
    }
    TAP_MPI(MPI_Bcast(vector, elements, MPI_INT, 0, MPI_COMM_WORLD));
    const uint64_t more = knob_counter("coll_pipering_bytes_copied") - copied;
    for (int i = 0; i < elements; i++) {
        right = right && value_of(3, i) == vector[i];
    }
    tap_check(right, "a wrong byte", "broadcast of %d elements", elements);
    tap_check((uint64_t) elements * sizeof(int) * (uint64_t) (tap_size - 1) == sum(more),
              "bytes are copied more than once, or not at all",
              "broadcast of %d elements: each byte is copied once", elements);
    free(vector);
}

/* Sums whose ranges are even: bytes that all ranks copy, in elements of a rank's range. */
static void try_reductions(void)
{
    static const char *const names[] = {"reduce-scatter", "reduction", "allreduce"};
    const uint64_t p = (uint64_t) tap_size;
    const uint64_t expected[] = {p * (p - 1), (p + 1) * (p - 1), 2 * p * (p - 1)};
    const int range = LARGE / 4, elements = range * tap_size;
    int *vector = tap_memory((size_t) elements * sizeof(int));
    int *result = tap_memory((size_t) elements * sizeof(int));

    for (int kind = 0; kind < 3; kind++) {
        const bool has_result = 1 != kind || 0 == tap_rank;
        const int count = 0 == kind ? range : elements, first = 0 == kind ? tap_rank * range : 0;
        const uint64_t messages = knob_counters("coll_pipering_blocks_");
        const uint64_t calls = knob_counter("coll_pipering_calls");
        const uint64_t copied = knob_counter("coll_pipering_bytes_copied");
        bool right = true;

        for (int i = 0; i < elements; i++) {
            vector[i] = value_of(tap_rank, i);
        }
        if (0 == kind) {
            TAP_MPI(MPI_Reduce_scatter_block(vector, result, range, MPI_INT, MPI_SUM,
                                             MPI_COMM_WORLD));
        } else if (1 == kind) {
            TAP_MPI(MPI_Reduce(vector, result, elements, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
        } else {
            TAP_MPI(MPI_Allreduce(vector, result, elements, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        }
        const bool served = calls + 1 == knob_counter("coll_pipering_calls");
        const uint64_t more = knob_counter("coll_pipering_bytes_copied") - copied;
        for (int i = 0; has_result && i < count; i++) {
            int value = 0;
            for (int r = 0; r < tap_size; r++) {
                value += value_of(r, first + i);
            }
            right = right && value == result[i];
        }
        tap_check(right && served && messages == knob_counters("coll_pipering_blocks_"),
                  right ? "it was not served, or by messages" : "a wrong sum", "%s", names[kind]);
        tap_check(expected[kind] * (uint64_t) range * sizeof(int) == sum(more),
                  "other bytes are copied", "%s: each rank reads its range, and results",
                  names[kind]);
    }
    free(vector);
    free(result);
}

/*
 * Open MPI begins calls of its own as it progresses, on some ranks before a call of the program, on
 * others after it.
 */
static void try_duplicate(void)
{
    int *vector = tap_memory(LARGE * sizeof(int));
    MPI_Comm comm;
    MPI_Request request;
    bool right = true;
    int done;

    TAP_MPI(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    for (int i = 0; 0 == tap_rank && i < 1000; i++) {
        TAP_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < LARGE; i++) {
        vector[i] = 0 == tap_rank ? value_of(0, i) : 0;
    }
    TAP_MPI(MPI_Bcast(vector, LARGE, MPI_INT, 0, MPI_COMM_WORLD));
    for (int i = 0; i < LARGE; i++) {
        right = right && value_of(0, i) == vector[i];
    }
    TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Comm_free(&comm));
    tap_check(right, "a wrong byte", "a broadcast while its communicator is duplicated");
    free(vector);
}

/* More calls than a process has notices, behind, or before, a call that others wait for. */
static void try_many(void)
{
    MPI_Comm comm;
    MPI_Request requests[MANY];
    int values[MANY], word = 0 == tap_rank ? 7 : 0;
    bool right = true;

    TAP_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int turn = 0; turn < 2; turn++) {
        if ((0 == turn) != (0 == tap_rank)) {
            TAP_MPI(MPI_Bcast(&word, 1, MPI_INT, 0, comm));
        }
        for (int i = 0; 0 == turn && i < MANY; i++) {
            values[i] = 0 == tap_rank ? i : -1;
            TAP_MPI(MPI_Ibcast(&values[i], 1, MPI_INT, 0, MPI_COMM_WORLD, &requests[i]));
        }
    }
    TAP_MPI(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++) {
        right = right && i == values[i];
    }
    tap_check(right && 7 == word, "a wrong byte", "%d calls at a time, and another", MANY);
    TAP_MPI(MPI_Comm_free(&comm));
}

/* Calls until some rank has failed to read, and some more: all ranks see the same. */
static void try_failing(void)
{
    int *all = tap_memory((size_t) tap_size * LARGE * sizeof(int));
    int *sums = tap_memory(LARGE * sizeof(int));
    int failed = 0, different = 0, calls = 0;
    MPI_Comm comm;

    memset(all, 0, (size_t) tap_size * LARGE * sizeof(int));
    force(KNOB_OFF);
    TAP_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TAP_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    force(KNOB_PULLS);
    for (; calls < 40 && 4 > failed; calls++) {
        const int code = 0 == calls % 2
                             ? MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, LARGE, MPI_INT, comm)
                             : MPI_Allreduce(all, sums, LARGE, MPI_INT, MPI_SUM, comm);
        const int errors = (int) sum(MPI_SUCCESS != code);
        failed += 0 < errors;
        different += 0 < errors && tap_size > errors;
    }
    for (int i = 0; i < TOLD; i++) {
        all[tap_rank * TOLD + i] = value_of(tap_rank, i);
    }
    bool right = MPI_SUCCESS
                 == MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, all, TOLD, MPI_INT, comm);
    for (int i = 0; i < tap_size * TOLD; i++) {
        right = right && value_of(i / TOLD, i % TOLD) == all[i];
    }
    force(KNOB_OFF);
    tap_check(4 == failed && 0 == different, "ranks differ, or nothing fails",
              "what cannot be read is an error of all ranks");
    tap_check(right, "an error, or a wrong byte", "contributions that fit in notices are not read");
    TAP_MPI(MPI_Comm_free(&comm));
    free(all);
    free(sums);
}

/* Rank 0 believes that the last rank has one element more. */
static void try_unequal(void)
{
    int *counts = tap_memory((size_t) tap_size * sizeof(int));
    int *displs = tap_memory((size_t) tap_size * sizeof(int));
    int *all = tap_memory((size_t) tap_size * (SMALL + 1) * sizeof(int));
    MPI_Comm comm;
    int code;

    for (int r = 0; r < tap_size; r++) {
        counts[r] = SMALL + (0 == tap_rank && tap_size - 1 == r);
        displs[r] = r * (SMALL + 1);
    }
    memset(all, 0, (size_t) tap_size * (SMALL + 1) * sizeof(int));
    TAP_MPI(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    TAP_MPI(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
    code = MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, all, counts, displs, MPI_INT, comm);
    tap_check(MPI_SUCCESS != code, "no error", "counts that differ are an error of all ranks");
    TAP_MPI(MPI_Comm_free(&comm));
    free(all);
    free(displs);
    free(counts);
}

/* Whether this machine lets ranks pull. */
static bool are_there(void)
{
    knob_watch_t watch;
    int value = 0;

    knob_watch(MPI_COMM_WORLD, &watch);
    TAP_MPI(MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD));
    const char *verdict = knob_verdict(&watch);
    const bool there = NULL != verdict && 0 == strcmp("pulls", verdict);
    knob_unwatch(&watch);
    return there;
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("coll/pipering is not there");
    }
    force(KNOB_PULLS);
    if (!are_there()) {
        tap_skip("processes may not read each other's memory here", "pulls");
        knob_end();
        return tap_end();
    }
    if (0 != tap_number("FAILS", 0)) {
        try_failing();
        knob_end();
        return tap_end();
    }
    for (int kind = 0; kind < KINDS; kind++) {
        try_gather(kind, false);
        try_gather(kind, true);
    }
    try_bcast(1);
    try_bcast(SMALL);
    try_bcast(LARGE);
    try_reductions();
    try_duplicate();
    try_many();
    try_unequal();
    knob_end();
    return tap_end();
}
