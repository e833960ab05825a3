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
 * Short calls along the lines of a mesh, in all forms. MPI_Allreduce: short and long vectors, in
 * place, and the same bits on all ranks (other types and operations are in the fuzzer's cases).
 * Barriers: no rank is through before the last one has come, whichever that is.
 * lines.t finds the calls in the verbose lines by the names of communicators.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- forms ---- */

/* A persistent call is made twice, so one in place must not be. */
static void call(const foldcall_t *c, form_t form)
{
    MPI_Request request = MPI_REQUEST_NULL;

    TAP_MPI(foldcall_issue(c, form, &request));
    for (int i = 0; PERSISTENT == form && i < 2; i++) {
        TAP_MPI(MPI_Start(&request));
        TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    TAP_MPI(PERSISTENT == form ? MPI_Request_free(&request)
                               : MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void reduce(form_t form, const void *in, void *out, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm)
{
    call(&(foldcall_t){FOLD_ALLREDUCE, in, out, count, type, op, 0, comm, NULL, NULL}, form);
}

/* ---- reductions ---- */

static bool sums_are_right(form_t form, int count, bool in_place, MPI_Comm comm)
{
    int *in = tap_memory((size_t) (count + 1) * sizeof(int));
    int *out = tap_memory((size_t) (count + 1) * sizeof(int));
    int rank, size, wrong = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    in_place = in_place && PERSISTENT != form;
    for (int i = 0; i <= count; i++) {
        in[i] = 1000 * rank + i;
        out[i] = in_place && i < count ? in[i] : -7;
    }
    reduce(form, in_place ? MPI_IN_PLACE : in, out, count, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        wrong += 1000 * (size * (size - 1) / 2) + size * i != out[i] || 1000 * rank + i != in[i];
    }
    wrong += -7 != out[count];
    free(in);
    free(out);
    return 0 == wrong;
}

/* Values of unlike size, so that any other order gives other bits. */
static bool bits_are_equal(form_t form, MPI_Comm comm)
{
    enum { COUNT = 100 };
    double in[COUNT], out[COUNT], first[COUNT];
    int rank;

    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < COUNT; i++) {
        in[i] = (double) (1 + (rank * 7919 + i * 104729) % 1009) / 1009
                * (0 == (rank + i) % 3 ? 1e9 : 1e-3);
    }
    reduce(form, in, out, COUNT, MPI_DOUBLE, MPI_SUM, comm);
    memcpy(first, out, sizeof(out));
    TAP_MPI(MPI_Bcast(first, COUNT, MPI_DOUBLE, 0, comm));
    return 0 == memcmp(first, out, sizeof(out));
}

/* ---- barriers ---- */

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double) at.tv_sec + 1e-9 * (double) at.tv_nsec;
}

/* All ranks have one clock; each is the last one in its turn. */
static bool all_wait(form_t form, MPI_Comm comm)
{
    int rank, size;
    double came, last_came, left;
    bool right = true;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int late = 0; late < size; late++) {
        if (rank == late) {
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        }
        came = now();
        call(&(foldcall_t){.call = FOLD_BARRIER, .comm = comm}, form);
        left = now();
        TAP_MPI(MPI_Allreduce(&came, &last_came, 1, MPI_DOUBLE, MPI_MAX, comm));
        right &= left >= last_came;
    }
    return right;
}

/* ---- tests ---- */

static void set(int algorithm)
{
    knob_set("coll_pipering_allreduce_algorithm", algorithm);
    knob_set("coll_pipering_barrier_algorithm", algorithm);
}

static bool try_sums(form_t form, MPI_Comm comm)
{
    static const int counts[] = {0, 1, 2, 63, 4096, 16384, 16385, 50000};
    bool right = true;

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        right &= sums_are_right(form, counts[i], false, comm)
                 && sums_are_right(form, counts[i], true, comm);
    }
    return right;
}

/* Ranks that are not in the communicator pass MPI_COMM_NULL. */
static void try_comm(MPI_Comm comm, const char *name)
{
    static const struct {
        const char *name;
        bool (*run)(form_t form, MPI_Comm comm);
    } tests[] = {{"sums, short and long", try_sums},
                 {"the same bits on all ranks", bits_are_equal},
                 {"a barrier", all_wait}};

    if (MPI_COMM_NULL != comm) {
        MPI_Comm_set_name(comm, name);
    }
    set(KNOB_MESH_LINES);
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        for (int form = 0; form < FORMS; form++) {
            const bool right = MPI_COMM_NULL == comm || tests[i].run((form_t) form, comm);
            tap_check(right, NULL, "%s, %s, on %s", tests[i].name, form_name((form_t) form), name);
        }
    }
    set(KNOB_OFF);
}

/* Some ranks of all, in the opposite order. */
static void try_some(bool taken, const char *name)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, taken ? 0 : MPI_UNDEFINED, -tap_rank, &comm);
    try_comm(comm, name);
    if (MPI_COMM_NULL != comm) {
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv)
{
    MPI_Comm all;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_skip("coll/pipering is not there", "calls along lines");
        return tap_end();
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    try_comm(all, "all");
    MPI_Comm_free(&all);
    try_some(tap_rank < tap_size / 2, "half");
    try_some(tap_rank != tap_size / 2, "torso");
    knob_end();
    return tap_end();
}
