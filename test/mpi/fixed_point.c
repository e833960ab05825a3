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
 * Sums in fixed point, through MPI: whatever the ranks and their order, the form, the algorithm
 * and what else is under way, they have the bits that the values alone say.
 *
 * Values belong to labels, which are dealt to ranks. Of every third element two labels alone have
 * values other than zeros: what the processor adds these to is its sum for any number of ranks.
 * The sums of others are computed from all labels' values in one process (test/unit/fixed_point.c
 * tests these sums against exact ones).
 */

#include "coll_pipering_plan_fixed_point.h"
#include "dice.h"
#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

typedef struct kind_t {
    const char *name;
    MPI_Datatype type;
    mca_coll_pipering_format_t format;
    int parts; /* values of an element */
} kind_t;

enum { KINDS = 4 };

static void make_kinds(kind_t *kinds)
{
    const kind_t all[KINDS] = {
        {"MPI_DOUBLE", MPI_DOUBLE, MCA_COLL_PIPERING_BINARY64, 1},
        {"MPI_FLOAT", MPI_FLOAT, MCA_COLL_PIPERING_BINARY32, 1},
        {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, MCA_COLL_PIPERING_BINARY64, 2},
        {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, MCA_COLL_PIPERING_BINARY32, 2}};

    memcpy(kinds, all, sizeof(all));
}

static size_t size_of(const kind_t *kind)
{
    return (size_t) kind->parts * mca_coll_pipering_format_sizes(kind->format).value;
}

static bool is_float(const kind_t *kind)
{
    return MCA_COLL_PIPERING_BINARY32 == kind->format;
}

static void put(const kind_t *kind, void *values, int i, double value)
{
    if (is_float(kind)) {
        ((float *) values)[i] = (float) value;
    } else {
        ((double *) values)[i] = value;
    }
}

static double get(const kind_t *kind, const void *values, int i)
{
    return is_float(kind) ? ((const float *) values)[i] : ((const double *) values)[i];
}

/* ---- values ---- */

static bool is_of_two(int i)
{
    return 0 == i % 3;
}

/* Value i of a label, which `seed` makes others. */
static double value_of(const kind_t *kind, uint64_t seed, int label, int i)
{
    static const double odd[] = {NAN, INFINITY, -INFINITY, -0.0, 0.0};
    dice_t common = dice_from(seed, 0, (uint64_t) i);
    dice_t dice = dice_from(seed, 1 + (uint64_t) label, (uint64_t) i);
    const int spread = is_float(kind) ? 40 : 43;
    const int exponent = dice_between(&common, -60, 60) + dice_roll(&dice, spread);
    const double mantissa = is_float(kind) ? 1 + (double) (dice_word(&dice) >> 41) * 0x1p-23
                                           : 1 + (double) (dice_word(&dice) >> 12) * 0x1p-52;

    if (is_of_two(i) ? 1 < label : dice_once_in(&dice, 6)) {
        return dice_once_in(&dice, 2) ? 0.0 : -0.0;
    }
    if (!is_of_two(i) && dice_once_in(&common, 12)) {
        return odd[dice_roll(&dice, 5)];
    }
    return ldexp(dice_once_in(&dice, 2) ? mantissa : -mantissa, exponent);
}

static void fill(const kind_t *kind, uint64_t seed, int label, int count, void *values)
{
    for (int i = 0; i < count * kind->parts; i++) {
        put(kind, values, i, value_of(kind, seed, label, i));
    }
}

/* ---- sums in one process ---- */

static void take_largest(const kind_t *kind, const void *keys, void *largest, int count)
{
    for (int i = 0; i < count; i++) {
        if (is_float(kind)) {
            const uint8_t key = ((const uint8_t *) keys)[i], *most = (uint8_t *) largest + i;
            ((uint8_t *) largest)[i] = key > *most ? key : *most;
        } else {
            const uint16_t key = ((const uint16_t *) keys)[i], *most = (uint16_t *) largest + i;
            ((uint16_t *) largest)[i] = key > *most ? key : *most;
        }
    }
}

/* The sums of `labels` labels' values. */
static void sum_up(const kind_t *kind, uint64_t seed, int labels, int count, void *sums)
{
    const size_t values = (size_t) (count * kind->parts);
    uint16_t *keys = calloc(values, sizeof(*keys)), *largest = calloc(values, sizeof(*largest));
    char *addends = tap_memory(16 * values), *sum = calloc(values, 16);

    if (NULL == keys || NULL == largest || NULL == sum) {
        tap_bail("no memory");
    }
    for (int label = 0; label < labels; label++) {
        fill(kind, seed, label, count, sums);
        mca_coll_pipering_fixed_keys(kind->format, sums, values, keys);
        take_largest(kind, keys, largest, (int) values);
    }
    for (int label = 0; label < labels; label++) {
        fill(kind, seed, label, count, sums);
        mca_coll_pipering_fixed_addends(kind->format, sums, largest, values, addends);
        mca_coll_pipering_fixed_add(kind->format, addends, sum, values);
    }
    mca_coll_pipering_fixed_values(kind->format, sum, largest, values, sums);
    free(keys);
    free(largest);
    free(addends);
    free(sum);
}

/* Whether sums of two values are what the processor adds them to. */
static bool agrees_with_processor(const kind_t *kind, uint64_t seed, int labels, int count,
                                  const void *sums)
{
    for (int i = 0; i < count * kind->parts; i += 3) {
        const double a = value_of(kind, seed, 0, i), b = 1 < labels ? value_of(kind, seed, 1, i)
                                                                    : 0.0;
        const double sum = is_float(kind) ? (float) a + (float) b : a + b;
        if (get(kind, sums, i) != sum) {
            return false;
        }
    }
    return true;
}

/* The first value that has other bits, -1: none. Any NaN is as good as another. */
static int find_other(const kind_t *kind, const void *a, const void *b, int count)
{
    const size_t size = mca_coll_pipering_format_sizes(kind->format).value;

    for (int i = 0; i < count * kind->parts; i++) {
        if (0 != memcmp((const char *) a + (size_t) i * size, (const char *) b + (size_t) i * size,
                        size)
            && !(isnan(get(kind, a, i)) && isnan(get(kind, b, i)))) {
            return i;
        }
    }
    return -1;
}

/* ---- calls ---- */

typedef struct trial_t {
    const kind_t *kind;
    fold_call_t call;
    form_t form;
    int count, root;
    bool in_place;
    uint64_t seed;
    MPI_Comm comm;
    int label; /* of this rank */
} trial_t;

static bool gets_sums(const trial_t *t)
{
    int rank;

    MPI_Comm_rank(t->comm, &rank);
    return FOLD_REDUCE != t->call || rank == t->root;
}

/* Whether the call gives this rank the right bits. */
static bool succeeds(const trial_t *t, char *fault, size_t room)
{
    const size_t bytes = (size_t) t->count * size_of(t->kind);
    char *send = tap_memory(bytes), *recv = tap_memory(bytes), *wanted = tap_memory(bytes);
    const bool here = gets_sums(t), in_place = t->in_place && here;
    const foldcall_t c = {.call = t->call, .send = in_place ? MPI_IN_PLACE : send,
                          .recv = here ? recv : NULL, .count = t->count, .type = t->kind->type,
                          .op = MPI_SUM, .root = t->root, .comm = t->comm};
    int size, other = -1;

    MPI_Comm_size(t->comm, &size);
    fill(t->kind, t->seed, t->label, t->count, in_place ? recv : send);
    TAP_MPI(foldcall(&c, t->form));
    if (here) {
        sum_up(t->kind, t->seed, size, t->count, wanted);
        other = find_other(t->kind, recv, wanted, t->count);
        if (!agrees_with_processor(t->kind, t->seed, size, t->count, recv)) {
            other = 0;
        }
    }
    if (-1 != other) {
        snprintf(fault, room, "%s, MPI_%s, %s%s, %d elements, root %d: value %d is %a, not %a",
                 t->kind->name, foldcall_name(t->call), form_name(t->form),
                 t->in_place ? " in place" : "", t->count, t->root, other,
                 get(t->kind, recv, other), get(t->kind, wanted, other));
    }
    free(send);
    free(recv);
    free(wanted);
    return -1 == other;
}

/* ---- any number of ranks in any order ---- */

static uint64_t hash(uint64_t state, const void *memory, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        state = (state ^ ((const unsigned char *) memory)[i]) * UINT64_C(0x100000001b3);
    }
    return state;
}

/* The bits of sums of two values on this communicator, others left out. */
static uint64_t bits_of_two(const kind_t *kind, MPI_Comm comm, int label)
{
    enum { COUNT = 300 };
    double send[COUNT * 2], recv[COUNT * 2];
    uint64_t bits = UINT64_C(0xcbf29ce484222325);

    fill(kind, 5, label, COUNT, send);
    TAP_MPI(MPI_Allreduce(send, recv, COUNT, kind->type, MPI_SUM, comm));
    for (int i = 0; i < COUNT * kind->parts; i += 3) {
        const double sum = get(kind, recv, i);
        bits = hash(bits, &sum, sizeof(sum));
    }
    return bits;
}

/* A communicator of `size` ranks that dice choose; MPI_COMM_NULL on others. */
static MPI_Comm choose_ranks(dice_t *dice, int size, int *label)
{
    int place[64], labels[64];
    MPI_Comm comm;

    dice_shuffle(dice, place, tap_size);
    dice_shuffle(dice, labels, size);
    const int mine = place[tap_rank];
    MPI_Comm_split(MPI_COMM_WORLD, mine < size ? 0 : MPI_UNDEFINED, mine, &comm);
    *label = mine < size ? labels[mine] : 0;
    return comm;
}

static void try_size(const kind_t *kind, int size, uint64_t *bits)
{
    dice_t dice = dice_from(11, (uint64_t) size, (uint64_t) kind->parts);
    char fault[300] = "";
    bool good = true;

    for (int order = 0; order < 3; order++) {
        trial_t t = {.kind = kind, .call = FOLD_ALLREDUCE, .count = 400, .seed = 3};
        t.comm = choose_ranks(&dice, size, &t.label);
        if (MPI_COMM_NULL == t.comm) {
            continue;
        }
        good = succeeds(&t, fault, sizeof(fault)) && good;
        const uint64_t found = bits_of_two(kind, t.comm, t.label);
        if (1 < size && 0 != *bits && found != *bits) {
            snprintf(fault, sizeof(fault), "other bits");
            good = false;
        }
        *bits = 1 < size ? found : *bits;
        MPI_Comm_free(&t.comm);
    }
    tap_check(good, fault, "%s: %d ranks", kind->name, size);
}

static void try_orders(const kind_t *kinds)
{
    uint64_t all = 0;

    for (int i = 0; i < KINDS; i++) {
        uint64_t bits = 0;
        for (int size = tap_size; 0 < size; size--) {
            try_size(&kinds[i], size, &bits);
        }
        all = hash(all, &bits, sizeof(bits));
    }
    tap_note("bits %016llx", (unsigned long long) all);
}

/* ---- forms, algorithms, sizes ---- */

static const int counts[] = {1, 63, 2000, 9000};

enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

static void try_algorithm(const kind_t *kind, const char *name, int algorithm, fold_call_t call)
{
    char fault[300] = "";
    bool good = true;

    knob_set("coll_pipering_allreduce_algorithm", algorithm);
    for (int form = 0; form < FORMS; form++) {
        for (int i = 0; i < 2 * COUNTS; i++) {
            const trial_t t = {.kind = kind, .call = call, .form = (form_t) form,
                               .count = counts[i / 2], .root = (tap_size - 1) * (i % 2),
                               .in_place = 0 != i % 2, .seed = (uint64_t) (form + 3 * i),
                               .comm = MPI_COMM_WORLD, .label = tap_size - 1 - tap_rank};
            good = succeeds(&t, fault, sizeof(fault)) && good;
        }
    }
    tap_check(good, fault, "%s, MPI_%s, %s", kind->name, foldcall_name(call), name);
    knob_set("coll_pipering_allreduce_algorithm", KNOB_AUTO);
}

/* Several sums under way, which end in another order than they begin. */
static void try_many(const kind_t *kind, bool persistent)
{
    enum { SUMS = 5, COUNT = 700 };
    const size_t bytes = COUNT * size_of(kind);
    char *send[SUMS], *recv[SUMS], *wanted = tap_memory(bytes);
    MPI_Request requests[SUMS];
    int other = -1;

    for (int i = 0; i < SUMS; i++) {
        send[i] = tap_memory(bytes);
        recv[i] = tap_memory(bytes);
        fill(kind, (uint64_t) i, tap_rank, COUNT, send[i]);
        const foldcall_t c = {.call = FOLD_ALLREDUCE, .send = send[i], .recv = recv[i],
                              .count = COUNT, .type = kind->type, .op = MPI_SUM,
                              .comm = MPI_COMM_WORLD};
        TAP_MPI(foldcall_issue(&c, persistent ? PERSISTENT : NONBLOCKING, &requests[i]));
    }
    for (int run = 0; run < (persistent ? 3 : 1); run++) {
        for (int i = 0; i < SUMS && persistent; i++) {
            /* ranks begin with different ones */
            const int at = (i + tap_rank) % SUMS;
            fill(kind, (uint64_t) (at + 10 * run), tap_rank, COUNT, send[at]);
            TAP_MPI(MPI_Start(&requests[at]));
        }
        for (int i = SUMS - 1; 0 <= i; i--) {
            TAP_MPI(MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
            sum_up(kind, (uint64_t) (i + 10 * run), tap_size, COUNT, wanted);
            other = -1 == other ? find_other(kind, recv[i], wanted, COUNT) : other;
        }
    }
    for (int i = 0; i < SUMS; i++) {
        if (persistent) {
            MPI_Request_free(&requests[i]);
        }
        free(send[i]);
        free(recv[i]);
    }
    free(wanted);
    tap_check(-1 == other, "wrong sums", "%s: several %s sums at once", kind->name,
              persistent ? "persistent" : "nonblocking");
}

/* Calls that are not for fixed point are made in other ways, and right. */
static void try_others(void)
{
    const long double long_double = 1;
    const double pair = tap_rank;
    const int integer = 1;
    long double long_sum;
    double most;
    int sum;
    const uint64_t before = knob_counter("coll_pipering_fixed_point_sums");

    TAP_MPI(MPI_Allreduce(&long_double, &long_sum, 1, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    TAP_MPI(MPI_Allreduce(&integer, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    TAP_MPI(MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    TAP_MPI(MPI_Allreduce(NULL, NULL, 0, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    tap_check(tap_size == long_sum && tap_size == sum && tap_size - 1 == most, "wrong",
              "other types and operations are right");
    tap_check(before == knob_counter("coll_pipering_fixed_point_sums"), "counted",
              "and are not for fixed point");
}

static void try_forms(const kind_t *kinds)
{
    static const struct {
        const char *name;
        int algorithm;
    } ways[] = {{"auto", KNOB_AUTO}, {"ring", KNOB_RING}, {"merged", KNOB_MERGED},
                {"by the module below", KNOB_OFF}};
    const uint64_t before = knob_counter("coll_pipering_fixed_point_sums");

    /* on a communicator that nothing has set up yet */
    try_many(&kinds[0], false);
    try_many(&kinds[1], true);
    for (int i = 0; i < KINDS; i++) {
        for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
            try_algorithm(&kinds[i], ways[way].name, ways[way].algorithm, FOLD_ALLREDUCE);
        }
        try_algorithm(&kinds[i], "auto", KNOB_AUTO, FOLD_REDUCE);
        try_many(&kinds[i], false);
        try_many(&kinds[i], true);
    }
    tap_check(before + 400 < knob_counter("coll_pipering_fixed_point_sums"), "fewer",
              "all in fixed point");
    try_others();
}

/* ---- long vectors, which are cut into slices ---- */

static void try_long(const kind_t *kinds)
{
    for (int i = 0; i < 2 * FORMS; i++) {
        char fault[300] = "";
        const trial_t t = {.kind = &kinds[0 == i % 2 ? 3 : 0], .call = FOLD_ALLREDUCE,
                           .form = (form_t) (i / 2), .count = (1 << 20) + 1, .seed = 2,
                           .in_place = 0 != i % 2, .comm = MPI_COMM_WORLD, .label = tap_rank};
        tap_check(succeeds(&t, fault, sizeof(fault)), fault, "%s, %s", t.kind->name,
                  form_name(t.form));
    }
}

/* ---- without the variable ---- */

/* Integers, so that any order of additions gives the same sums. */
static void try_plain(const char *name)
{
    enum { COUNT = 40000 };
    double *values = tap_memory(COUNT * sizeof(double));
    const uint64_t before = knob_counter("coll_pipering_fixed_point_sums");
    bool good = true;

    for (int i = 0; i < COUNT; i++) {
        values[i] = i + tap_rank;
    }
    TAP_MPI(MPI_Allreduce(MPI_IN_PLACE, values, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    for (int i = 0; i < COUNT; i++) {
        good = good && tap_size * i + tap_size * (tap_size - 1) / 2 == values[i];
    }
    tap_check(good, "wrong sums", "%s: sums", name);
    tap_check(before == knob_counter("coll_pipering_fixed_point_sums"), "in fixed point",
              "%s: as ever", name);
    free(values);
}

int main(int argc, char **argv)
{
    kind_t kinds[KINDS];
    const char *what;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("no coll/pipering");
    }
    what = 2 == argc ? argv[1] : "";
    make_kinds(kinds);
    if (0 == strcmp(what, "orders")) {
        try_orders(kinds);
    } else if (0 == strcmp(what, "forms")) {
        try_forms(kinds);
    } else if (0 == strcmp(what, "long")) {
        try_long(kinds);
    } else if (0 == strcmp(what, "off")) {
        try_plain("by default");
    } else {
        tap_bail("orders, forms, long or off?");
    }
    knob_end();
    return tap_end();
}
