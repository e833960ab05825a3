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
 * The same arguments on the same nodes give the same bits: whatever was called before, and whatever
 * streams of other calls have shown of links, in every form of a call. Values are of all
 * magnitudes, with NaNs and zeros of both signs, so that another order of combination shows.
 *
 * The last line says what all bits together are, for comparing runs.
 */

#include "dice.h"
#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <complex.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

static double odd_value(dice_t *dice)
{
    static const double odd[] = {NAN, -NAN, 0.0, -0.0, INFINITY, -INFINITY};

    return odd[dice_roll(dice, 6)];
}

static double value_of(dice_t *dice)
{
    const double mantissa = 1 + (double) (dice_word(dice) >> 12) * 0x1p-52;

    if (dice_once_in(dice, 8)) {
        return odd_value(dice);
    }
    return ldexp(dice_once_in(dice, 2) ? mantissa : -mantissa, dice_roll(dice, 12));
}

static void put_double(dice_t *dice, void *to)
{
    *(double *) to = value_of(dice);
}

static void put_float(dice_t *dice, void *to)
{
    *(float *) to = (float) value_of(dice);
}

static void put_complex(dice_t *dice, void *to)
{
    put_double(dice, to);
    put_double(dice, (double *) to + 1);
}

static void put_float_complex(dice_t *dice, void *to)
{
    put_float(dice, to);
    put_float(dice, (float *) to + 1);
}

static void put_float_int(dice_t *dice, void *to)
{
    put_float(dice, to);
    ((int *) to)[1] = dice_roll(dice, 5);
}

static void put_short(dice_t *dice, void *to)
{
    *(int16_t *) to = (int16_t) dice_word(dice);
}

static void put_int(dice_t *dice, void *to)
{
    *(int32_t *) to = (int32_t) dice_word(dice);
}

static void add_pairs(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const double *lower = in;
    double *upper = inout;

    (void) type;
    for (int i = 0; i < 2 * *length; i++) {
        upper[i] = lower[i] + upper[i];
    }
}

/* Of functions x -> a x + b. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const double *lower = in;
    double *upper = inout;

    (void) type;
    for (int i = 0; i < 2 * *length; i += 2) {
        upper[i + 1] = lower[i] * upper[i + 1] + lower[i + 1];
        upper[i] = lower[i] * upper[i];
    }
}

static MPI_Datatype pair;
static MPI_Op pair_sum, composition;

typedef struct kind_t {
    const char *name;
    MPI_Datatype type;
    MPI_Op op;
    size_t size;
    void (*put)(dice_t *dice, void *to);
} kind_t;

enum { KINDS = 13 };

static void make_kinds(kind_t *kinds)
{
    const kind_t all[KINDS] = {
        {"MPI_DOUBLE, MPI_SUM", MPI_DOUBLE, MPI_SUM, 8, put_double},
        {"MPI_DOUBLE, MPI_PROD", MPI_DOUBLE, MPI_PROD, 8, put_double},
        {"MPI_DOUBLE, MPI_MAX", MPI_DOUBLE, MPI_MAX, 8, put_double},
        {"MPI_FLOAT, MPI_SUM", MPI_FLOAT, MPI_SUM, 4, put_float},
        {"MPI_FLOAT, MPI_MIN", MPI_FLOAT, MPI_MIN, 4, put_float},
        {"MPI_C_DOUBLE_COMPLEX, MPI_PROD", MPI_C_DOUBLE_COMPLEX, MPI_PROD, 16, put_complex},
        {"MPI_C_FLOAT_COMPLEX, MPI_SUM", MPI_C_FLOAT_COMPLEX, MPI_SUM, 8, put_float_complex},
        {"MPI_FLOAT_INT, MPI_MAXLOC", MPI_FLOAT_INT, MPI_MAXLOC, 8, put_float_int},
        {"MPI_INT16_T, MPI_SUM", MPI_INT16_T, MPI_SUM, 2, put_short},
        {"pairs, a sum of the user's", pair, pair_sum, 16, put_complex},
        {"pairs, what does not commute", pair, composition, 16, put_complex},
        {"MPI_INT32_T, MPI_PROD", MPI_INT32_T, MPI_PROD, 4, put_int},
        {"MPI_INT16_T, MPI_MAX", MPI_INT16_T, MPI_MAX, 2, put_short}};

    memcpy(kinds, all, sizeof(all));
}

/* ---- calls ---- */

static void fill(const kind_t *kind, char *memory, int count, int rank)
{
    dice_t dice = dice_from(7, (uint64_t) rank, (uint64_t) count);

    for (int i = 0; i < count; i++) {
        kind->put(&dice, memory + (size_t) i * kind->size);
    }
}

static uint64_t hash(uint64_t state, const char *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        state = (state ^ (unsigned char) memory[i]) * UINT64_C(0x100000001b3);
    }
    return state;
}

/* The bits that this rank's user gets. */
static uint64_t bits_of(MPI_Comm comm, const kind_t *kind, fold_call_t call, form_t form,
                        int count)
{
    const size_t bytes = (size_t) count * kind->size;
    int *parts = tap_memory((size_t) tap_size * sizeof(int));
    const foldcall_t c = {.call = call, .send = tap_memory(bytes), .recv = tap_memory(bytes),
                          .count = FOLD_REDUCE_SCATTER_BLOCK == call ? count / tap_size : count,
                          .counts = parts, .type = kind->type, .op = kind->op,
                          .root = tap_size / 2, .comm = comm};
    uint64_t bits;

    parts[tap_size - 1] = count;
    for (int r = 0; r + 1 < tap_size; r++) {
        parts[r] = count / (tap_size + r);
        parts[tap_size - 1] -= parts[r];
    }
    fill(kind, (char *) c.send, count, tap_rank);
    memset(c.recv, 0, bytes);
    TAP_MPI(foldcall(&c, form));
    if (FOLD_EXSCAN == call && 0 == tap_rank) {
        memset(c.recv, 0, bytes); /* is anything */
    }
    bits = hash(UINT64_C(0xcbf29ce484222325), c.recv, bytes);
    free((void *) c.send);
    free(c.recv);
    free(parts);
    return bits;
}

/* Bytes of a vector: left below, near the thresholds, and large. */
static const size_t sizes[] = {5000, 12000, 30000, 70000, 600000};

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* Forms in this order on a new communicator: early ones, which must not wait, come first. */
static const form_t forms[] = {NONBLOCKING, PERSISTENT, BLOCKING,
                                    NONBLOCKING, PERSISTENT};

enum { TURNS = sizeof(forms) / sizeof(forms[0]) };

typedef struct results_t {
    uint64_t bits[FOLD_CALLS][SIZES][TURNS];
} results_t;

/* Not all sizes of all kinds, for their time. */
static bool is_wanted(const kind_t *kind, int size)
{
    return sizes[size] < 100000 || (MPI_DOUBLE == kind->type && MPI_SUM == kind->op)
           || composition == kind->op;
}

static void run_form(const kind_t *kind, MPI_Comm comm, int form, results_t *results)
{
    for (int call = FOLD_REDUCE; call < FOLD_CALLS; call++) {
        for (int size = 0; size < SIZES; size++) {
            results->bits[call][size][form]
                = is_wanted(kind, size)
                      ? bits_of(comm, kind, (fold_call_t) call, forms[form],
                                (int) (sizes[size] / kind->size))
                      : 0;
        }
    }
}

static void run_all(const kind_t *kind, results_t *results)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int form = 0; form < TURNS; form++) {
        run_form(kind, comm, form, results);
    }
    MPI_Comm_free(&comm);
}

/* How many results differ, on any rank, and which is the first. */
static int count_other(const results_t *a, const results_t *b, char *first, size_t room)
{
    int other = 0;

    for (int call = FOLD_REDUCE; call < FOLD_CALLS; call++) {
        for (int size = 0; size < SIZES; size++) {
            for (int form = 0; form < TURNS; form++) {
                if (a->bits[call][size][form] != b->bits[call][size][form] && 0 == other++) {
                    snprintf(first, room, "MPI_%s, %s (%d), %zu bytes",
                             foldcall_name((fold_call_t) call), form_name(forms[form]),
                             form, sizes[size]);
                }
            }
        }
    }
    return other;
}

/* What is called early is what is called late. */
static void try_history(const kind_t *kind, const results_t *results)
{
    char fault[200] = "";

    for (int call = FOLD_REDUCE; call < FOLD_CALLS; call++) {
        for (int size = 0; size < SIZES; size++) {
            const uint64_t *bits = results->bits[call][size];
            if (bits[0] != bits[3] || bits[1] != bits[4]) {
                snprintf(fault, sizeof(fault), "MPI_%s, %zu bytes",
                         foldcall_name((fold_call_t) call), sizes[size]);
            }
        }
    }
    tap_check('\0' == fault[0], fault, "%s: the same early and late", kind->name);
}

static void try_ranks(const kind_t *kind, const results_t *results)
{
    uint64_t bits[SIZES][TURNS];

    memcpy(bits, results->bits[FOLD_ALLREDUCE], sizeof(bits));
    MPI_Bcast(bits, SIZES * TURNS, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    tap_check(0 == memcmp(bits, results->bits[FOLD_ALLREDUCE], sizeof(bits)), "other bits",
              "%s: MPI_Allreduce gives all ranks the same", kind->name);
}

/* Broadcasts whose order is anything, long enough to show how fast links are, on a new communicator
 * and on all that come later. */
static void show_links(void)
{
    enum { BYTES = 1 << 20 };
    char *vector = tap_memory(BYTES);
    MPI_Comm comm;

    memset(vector, 0, BYTES);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int i = 0; i < 3; i++) {
        TAP_MPI(MPI_Bcast(vector, BYTES, MPI_BYTE, 0, comm));
    }
    MPI_Comm_free(&comm);
    free(vector);
}

/* `bits` gathers all of the first run. */
static void try_kind(const kind_t *kind, const results_t *first, uint64_t *bits)
{
    static results_t next;
    char fault[200];

    run_all(kind, &next);
    tap_check(0 == count_other(first, &next, fault, sizeof(fault)), fault,
              "%s: once links are known", kind->name);
    try_history(kind, first);
    try_ranks(kind, first);
    *bits = hash(*bits, (const char *) first, sizeof(*first));
}

int main(int argc, char **argv)
{
    kind_t kinds[KINDS];
    uint64_t bits = 1, sum = 0, calls;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("no coll/pipering");
    }
    MPI_Type_contiguous(2, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(add_pairs, 1, &pair_sum);
    MPI_Op_create(compose, 0, &composition);
    make_kinds(kinds);
    results_t *results = tap_memory(KINDS * sizeof(*results));
    calls = knob_counter("coll_pipering_calls");
    for (int i = 0; i < KINDS; i++) {
        run_all(&kinds[i], &results[i]);
    }
    show_links();
    for (int i = 0; i < KINDS; i++) {
        try_kind(&kinds[i], &results[i], &bits);
    }
    free(results);
    calls = knob_counter("coll_pipering_calls") - calls;
    tap_check(0 < calls && 0 < knob_counter("coll_pipering_fallback_small"), "none",
              "some calls are pipering's, some are not");
    MPI_Allreduce(&bits, &sum, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    tap_note("bits %016llx", (unsigned long long) sum);
    MPI_Op_free(&composition);
    MPI_Op_free(&pair_sum);
    MPI_Type_free(&pair);
    knob_end();
    return tap_end();
}
