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
 * Short calls along the lines of a mesh, in all forms. MPI_Allreduce: results against values that
 * are known, with types of several kinds, operations of the user, in place, and the same bits on
 * all ranks; what lines do not serve (an operation that does not commute, long vectors) is right
 * too. Barriers: no rank is through before the last one has come, whichever that is.
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

/* Pairs with a gap; the place of a largest value. */
static bool places_are_right(form_t form, MPI_Comm comm)
{
    struct {
        double value;
        int place;
    } in[3], out[3];
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < 3; i++) {
        in[i].value = (rank + i) % size;
        in[i].place = rank;
    }
    reduce(form, in, out, 3, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    for (int i = 0; i < 3; i++) {
        if (size - 1 != (int) out[i].value || (2 * size - 1 - i) % size != out[i].place) {
            return false;
        }
    }
    return true;
}

/* Of each element the first and third int: from + to, modulo a prime. */
static void add(void *from, void *to, int *count, MPI_Datatype *type)
{
    int *a = from, *b = to;
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *count; i++) {
        for (int k = 0; k < 3; k += 2) {
            b[k] = (a[k] + b[k]) % 10007;
        }
        a += extent / (MPI_Aint) sizeof(int);
        b += extent / (MPI_Aint) sizeof(int);
    }
}

enum { GAPS_COUNT = 50, GAPS_STRIDE = 4 };

/* The gaps of a derived type stay as they are; each element begins `stride` ints after the last. */
static bool try_gaps(form_t form, int stride, MPI_Comm comm)
{
    enum { COUNT = GAPS_COUNT, STRIDE = GAPS_STRIDE };
    const int first = 0 > stride ? (COUNT - 1) * STRIDE : 0;
    int in[COUNT * STRIDE], out[COUNT * STRIDE], rank, size, wrong = 0;
    MPI_Datatype pair, wide;
    MPI_Op op;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, stride * (MPI_Aint) sizeof(int), &wide);
    MPI_Type_commit(&wide);
    MPI_Op_create(add, 1, &op);
    for (int i = 0; i < COUNT * STRIDE; i++) {
        in[i] = 31 * rank + i;
        out[i] = -i;
    }
    reduce(form, in + first, out + first, COUNT, wide, op, comm);
    for (int i = 0; i < COUNT * STRIDE; i++) {
        const int sum = (31 * (size * (size - 1) / 2) + size * i) % 10007;
        wrong += (0 == i % 2 ? sum : -i) != out[i];
    }
    MPI_Op_free(&op);
    MPI_Type_free(&wide);
    MPI_Type_free(&pair);
    return 0 == wrong;
}

static bool gaps_are_kept(form_t form, MPI_Comm comm)
{
    return try_gaps(form, GAPS_STRIDE, comm);
}

static bool downward_gaps_are_kept(form_t form, MPI_Comm comm)
{
    return try_gaps(form, -GAPS_STRIDE, comm);
}

/* The last value in the order of ranks. */
static void last(void *from, void *to, int *count, MPI_Datatype *type)
{
    (void) from;
    (void) to;
    (void) count;
    (void) type;
}

static bool order_is_kept(form_t form, MPI_Comm comm)
{
    int in, out = -1, size;
    MPI_Op op;

    MPI_Comm_rank(comm, &in);
    MPI_Comm_size(comm, &size);
    MPI_Op_create(last, 0, &op);
    reduce(form, &in, &out, 1, MPI_INT, op, comm);
    MPI_Op_free(&op);
    return size - 1 == out;
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
                 {"places of the largest", places_are_right},
                 {"a type with gaps, an operation of the user", gaps_are_kept},
                 {"a type of negative extent", downward_gaps_are_kept},
                 {"an operation that does not commute", order_is_kept},
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
