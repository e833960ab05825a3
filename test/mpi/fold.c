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
 * Folds (fold.h). An element is a few atoms at offsets of its own, so that types
 * have gaps and lower bounds; values are small integers, so that every operation is
 * exact in whatever representation. Operations take (lower, upper) in the order of
 * ranks; the product of matrices does not commute.
 */

#include "fold.h"

#include "layout.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATOMS 4

typedef enum { INT32, INT64, DOUBLE } atom_t;

/* upper = lower op upper, atom by atom values of an element */
typedef void apply_t(const int64_t *lower, int64_t *upper);

typedef struct kind_t {
    const char *name;
    atom_t atom;
    int atoms;
    int offset[ATOMS];
    int lb, extent;
    MPI_Datatype *type; /* predefined, NULL: made from the above */
    MPI_Op *op;         /* predefined, NULL: made from user */
    MPI_User_function *user;
    int commutes;
    apply_t *apply;
} kind_t;

/* ---- atoms ---- */

static int64_t load(atom_t atom, const unsigned char *from)
{
    int32_t word;
    int64_t value;
    double real;

    switch (atom) {
    case INT32:
        memcpy(&word, from, sizeof(word));
        return word;
    case INT64:
        memcpy(&value, from, sizeof(value));
        return value;
    default:
        memcpy(&real, from, sizeof(real));
        return (int64_t) real;
    }
}

static void store(atom_t atom, unsigned char *to, int64_t value)
{
    const int32_t word = (int32_t) value;
    const double real = (double) value;

    switch (atom) {
    case INT32:
        memcpy(to, &word, sizeof(word));
        break;
    case INT64:
        memcpy(to, &value, sizeof(value));
        break;
    default:
        memcpy(to, &real, sizeof(real));
    }
}

/* ---- operations ---- */

static void sum(const int64_t *lower, int64_t *upper)
{
    for (int i = 0; i < ATOMS; i++) {
        upper[i] = (int64_t) ((uint64_t) lower[i] + (uint64_t) upper[i]);
    }
}

static void most(const int64_t *lower, int64_t *upper)
{
    upper[0] = lower[0] > upper[0] ? lower[0] : upper[0];
}

static void xor(const int64_t *lower, int64_t *upper)
{
    upper[0] ^= lower[0];
}

static void minloc(const int64_t *lower, int64_t *upper)
{
    if (lower[0] < upper[0] || (lower[0] == upper[0] && lower[1] < upper[1])) {
        upper[0] = lower[0];
        upper[1] = lower[1];
    }
}

/* Of 2 x 2 matrices modulo 2^32. */
static void product(const int64_t *a, int64_t *b)
{
    const uint32_t c[ATOMS] = {
        (uint32_t) a[0] * (uint32_t) b[0] + (uint32_t) a[1] * (uint32_t) b[2],
        (uint32_t) a[0] * (uint32_t) b[1] + (uint32_t) a[1] * (uint32_t) b[3],
        (uint32_t) a[2] * (uint32_t) b[0] + (uint32_t) a[3] * (uint32_t) b[2],
        (uint32_t) a[2] * (uint32_t) b[1] + (uint32_t) a[3] * (uint32_t) b[3]};

    for (int i = 0; i < ATOMS; i++) {
        b[i] = (int32_t) c[i];
    }
}

static MPI_User_function user_matrix, user_gaps, user_below, user_down;

static void read_element(const kind_t *kind, const unsigned char *at, int64_t *value)
{
    memset(value, 0, ATOMS * sizeof(*value));
    for (int i = 0; i < kind->atoms; i++) {
        value[i] = load(kind->atom, at + kind->offset[i]);
    }
}

static void write_element(const kind_t *kind, unsigned char *at, const int64_t *value)
{
    for (int i = 0; i < kind->atoms; i++) {
        store(kind->atom, at + kind->offset[i], value[i]);
    }
}

static void user(const kind_t *kind, const void *in, void *inout, int length)
{
    int64_t lower[ATOMS], upper[ATOMS];

    for (int k = 0; k < length; k++) {
        const ptrdiff_t at = (ptrdiff_t) k * kind->extent;
        read_element(kind, (const unsigned char *) in + at, lower);
        read_element(kind, (const unsigned char *) inout + at, upper);
        kind->apply(lower, upper);
        write_element(kind, (unsigned char *) inout + at, upper);
    }
}

enum { MATRIX = 6, GAPS, BELOW, DOWN, KINDS };

static MPI_Datatype type_int, type_long, type_double, type_2int;
static MPI_Op op_sum, op_max, op_xor, op_minloc;

static const kind_t kinds[KINDS] = {
    {"int sum", INT32, 1, {0}, 0, 4, &type_int, &op_sum, NULL, 1, sum},
    {"int max", INT32, 1, {0}, 0, 4, &type_int, &op_max, NULL, 1, most},
    {"int xor", INT32, 1, {0}, 0, 4, &type_int, &op_xor, NULL, 1, xor},
    {"long sum", INT64, 1, {0}, 0, 8, &type_long, &op_sum, NULL, 1, sum},
    {"double sum", DOUBLE, 1, {0}, 0, 8, &type_double, &op_sum, NULL, 1, sum},
    {"2int minloc", INT32, 2, {0, 4}, 0, 8, &type_2int, &op_minloc, NULL, 1, minloc},
    {"matrix", INT32, 4, {0, 4, 8, 12}, 0, 16, NULL, NULL, user_matrix, 0, product},
    {"matrix with gaps", INT32, 4, {20, 4, 28, 12}, 0, 40, NULL, NULL, user_gaps, 0, product},
    {"sum below", INT64, 2, {-16, 0}, -16, 32, NULL, NULL, user_below, 1, sum},
    {"sum downwards", INT64, 2, {0, 16}, 0, -40, NULL, NULL, user_down, 1, sum}};

static void user_matrix(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    user(&kinds[MATRIX], in, inout, *length);
}

static void user_gaps(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    user(&kinds[GAPS], in, inout, *length);
}

static void user_below(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    user(&kinds[BELOW], in, inout, *length);
}

static void user_down(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) type;
    user(&kinds[DOWN], in, inout, *length);
}

static void name_types(void)
{
    type_int = MPI_INT;
    type_long = MPI_INT64_T;
    type_double = MPI_DOUBLE;
    type_2int = MPI_2INT;
    op_sum = MPI_SUM;
    op_max = MPI_MAX;
    op_xor = MPI_BXOR;
    op_minloc = MPI_MINLOC;
}

static MPI_Datatype make_type(const kind_t *kind)
{
    MPI_Datatype atom = INT32 == kind->atom ? MPI_INT32_T : MPI_INT64_T, parts, type;
    int length[ATOMS] = {1, 1, 1, 1};
    MPI_Aint at[ATOMS];

    if (NULL != kind->type) {
        return *kind->type;
    }
    for (int i = 0; i < kind->atoms; i++) {
        at[i] = kind->offset[i];
    }
    MPI_Type_create_hindexed(kind->atoms, length, at, atom, &parts);
    MPI_Type_create_resized(parts, kind->lb, kind->extent, &type);
    MPI_Type_free(&parts);
    MPI_Type_commit(&type);
    (void) MPI_Type_c2f(type); /* as in layout.c */
    return type;
}

/* ---- calls ---- */

typedef struct fold_t {
    call_t base;
    MPI_Comm comm;
    fold_call_t call;
    const kind_t *kind;
    layout_t *layout; /* of MPI_Bcast */
    MPI_Datatype type;
    MPI_Op op;
    bool own_op, in_place;
    int rank, size, root, count;
    int *counts;     /* [size] of MPI_Reduce_scatter, whose sum is count; likewise of its kin */
    int first, part; /* elements of the result for this rank, and how many */
    uint64_t key;
    image_t send, recv;
    char name[120];
} fold_t;

/* Small values: matrices of 0 to 2, ties in minloc. */
static void contribution(const fold_t *fold, int rank, int k, int64_t *value)
{
    dice_t dice = dice_from(fold->key, (uint64_t) rank, (uint64_t) k);

    memset(value, 0, ATOMS * sizeof(*value));
    for (int i = 0; i < fold->kind->atoms; i++) {
        value[i] = dice_roll(&dice, 4 == fold->kind->atoms ? 3 : 5);
    }
}

/* What ranks first .. last give together. */
static void fold_ranks(const fold_t *fold, int first, int last, int k, int64_t *value)
{
    int64_t upper[ATOMS];

    contribution(fold, first, k, value);
    for (int r = first + 1; r <= last; r++) {
        contribution(fold, r, k, upper);
        fold->kind->apply(value, upper);
        memcpy(value, upper, sizeof(upper));
    }
}

/* Elements from .. from + count - 1 of it, of all ranks first .. last together. */
static void fill(const fold_t *fold, unsigned char *memory, int from, int count, int first,
                 int last)
{
    int64_t value[ATOMS];

    for (int k = 0; k < count; k++) {
        fold_ranks(fold, first, last, from + k, value);
        write_element(fold->kind, memory + (ptrdiff_t) k * fold->kind->extent, value);
    }
}

/* The ranks whose fold this rank is to have; false: none. */
static bool wanted_ranks(const fold_t *fold, int *last)
{
    *last = FOLD_SCAN == fold->call     ? fold->rank
            : FOLD_EXSCAN == fold->call ? fold->rank - 1
                                        : fold->size - 1;
    return 0 <= *last && (FOLD_REDUCE != fold->call || fold->rank == fold->root);
}

static void set_buffers(fold_t *fold)
{
    const ptrdiff_t bytes = (ptrdiff_t) fold->count * fold->kind->extent;
    const ptrdiff_t low = (0 > bytes ? bytes : 0) - 32, high = (0 < bytes ? bytes : 0) + 32;
    image_t *send = &fold->send, *recv = &fold->recv;
    int last;

    *send = image_new(fold->key, low, high);
    *recv = image_new(fold->key + 1, low, high);
    fill(fold, send->before + send->origin, 0, fold->count, fold->rank, fold->rank);
    memcpy(send->after, send->before, send->length);
    if (fold->in_place) {
        memcpy(recv->before, send->before, send->length);
        memcpy(recv->after, send->before, send->length);
    }
    if (wanted_ranks(fold, &last)) {
        fill(fold, recv->after + recv->origin, fold->first, fold->part, 0, last);
    }
}

/*
 * Open MPI's own algorithms, which serve communicators of one rank, fail where the extent is
 * negative. All ranks draw alike, whatever the size of their communicator.
 */
static const kind_t *any_kind(dice_t *shared, const fold_spec_t *spec, int size)
{
    const int kind = dice_roll(shared, spec->close ? GAPS : spec->forced ? KINDS : BELOW);

    return &kinds[DOWN == kind && 1 == size ? BELOW : kind];
}

static bool scatters(const fold_t *fold)
{
    return FOLD_REDUCE_SCATTER == fold->call || FOLD_REDUCE_SCATTER_BLOCK == fold->call;
}

/* Cuts the elements of a vector into a part for each rank: about equal, one large, or some empty. */
static void cut_parts(fold_t *fold, dice_t *shared)
{
    const int kind = FOLD_REDUCE_SCATTER == fold->call ? dice_roll(shared, 3) : 0;
    const int some = dice_roll(shared, fold->size), even = fold->count / fold->size;

    fold->counts = tap_memory((size_t) fold->size * sizeof(int));
    fold->count = 0;
    for (int r = 0; r < fold->size; r++) {
        const int drawn = dice_roll(shared, 2 * even + 2);
        fold->counts[r] = FOLD_REDUCE_SCATTER_BLOCK == fold->call ? even
                          : 1 == kind                             ? (r == some ? drawn : drawn % 3)
                          : 2 == kind && dice_once_in(shared, 2)  ? 0
                                                                  : drawn;
        fold->first = r == fold->rank ? fold->count : fold->first;
        fold->count += fold->counts[r];
    }
    fold->part = fold->counts[fold->rank];
}

static void set_reduction(fold_t *fold, dice_t *shared, const fold_spec_t *spec)
{
    fold->kind = any_kind(shared, spec, fold->size);
    fold->count = dice_roll(shared, (int) (spec->most / (size_t) (4 * fold->kind->atoms)) + 2);
    fold->part = fold->count;
    if (scatters(fold)) {
        cut_parts(fold, shared);
    }
    fold->in_place = dice_once_in(shared, 3)
                     && (FOLD_REDUCE != fold->call || fold->rank == fold->root)
                     && !(spec->close && scatters(fold));
    fold->type = make_type(fold->kind);
    fold->own_op = NULL == fold->kind->op;
    if (fold->own_op) {
        MPI_Op_create(fold->kind->user, fold->kind->commutes, &fold->op);
    } else {
        fold->op = *fold->kind->op;
    }
    set_buffers(fold);
    snprintf(fold->name, sizeof(fold->name), "MPI_%s of %d %s, root %d%s",
             foldcall_name(fold->call), fold->count, fold->kind->name, fold->root,
             fold->in_place ? ", in place" : "");
}

static void put_pattern(const fold_t *fold, unsigned char *memory)
{
    layout_walk_t walk = {.layout = fold->layout, .count = (size_t) fold->count};
    ptrdiff_t at;
    size_t length, k = 0;

    while (layout_walk_next(&walk, &at, &length)) {
        call_pattern(fold->key, fold->root, k, memory + at, length);
        k += length;
    }
}

/* Every rank describes the same bytes by a type of its own. */
static void set_bcast(fold_t *fold, dice_t *shared, dice_t *own, size_t most_bytes, bool mismatch)
{
    static const int steps[] = {1, 2, 6, 12, 60};
    const int unit = dice_roll(shared, LAYOUT_UNITS), step = steps[dice_roll(shared, 5)];
    const int units = step * dice_roll(shared,
                                       (int) (most_bytes / layout_unit_size(unit)) / step + 2);
    dice_t *types = mismatch ? own : shared;
    ptrdiff_t low, high;

    for (int attempt = 0; NULL == fold->layout; attempt++) {
        const int part = 0 == attempt % 20 ? 1 : dice_divisor(types, step);
        fold->layout = layout_random(types, unit, part);
        fold->count = units / part;
        if (layout_overlaps(fold->layout, (size_t) fold->count)) {
            layout_free(fold->layout);
            fold->layout = NULL;
        }
    }
    layout_span(fold->layout, (size_t) fold->count, &low, &high);
    fold->recv = image_new(fold->key + 1, low, high);
    put_pattern(fold, fold->recv.after + fold->recv.origin);
    if (fold->rank == fold->root) {
        memcpy(fold->recv.before, fold->recv.after, fold->recv.length);
    }
    snprintf(fold->name, sizeof(fold->name), "MPI_Bcast of %d %.80s, root %d", fold->count,
             fold->layout->text, fold->root);
}

static int issue(call_t *call, form_t form)
{
    const fold_t *f = (fold_t *) call;
    const foldcall_t c = {.call = f->call,
                          .send = f->in_place ? MPI_IN_PLACE : image_address(&f->send),
                          .recv = FOLD_REDUCE == f->call && f->rank != f->root
                                      ? NULL
                                      : image_address(&f->recv),
                          .count = scatters(f) ? f->part : f->count,
                          .counts = f->counts,
                          .type = NULL == f->layout ? f->type : f->layout->type,
                          .op = f->op,
                          .root = f->root,
                          .comm = f->comm};

    return foldcall_issue(&c, form, &call->request);
}

static void reset(call_t *call)
{
    image_reset(&((fold_t *) call)->send);
    image_reset(&((fold_t *) call)->recv);
}

static bool same(fold_t *fold, const char *what, const image_t *image)
{
    ptrdiff_t place;

    if (NULL == image->memory || image_right(image, &place)) {
        return true;
    }
    snprintf(fold->base.fault, sizeof(fold->base.fault), "%s: %s buffer, byte %td is wrong",
             fold->name, what, place);
    return false;
}

/* By MPI's rules what is behind the part of a result that takes the place of a vector is anything. */
static void accept_rest(const fold_t *fold)
{
    const image_t *recv = &fold->recv;
    unsigned char *got = tap_memory(recv->length);
    int64_t value[ATOMS];

    image_memory.copy(got, recv->memory, recv->length);
    for (int k = fold->part; k < fold->count; k++) {
        const ptrdiff_t at = recv->origin + (ptrdiff_t) k * fold->kind->extent;
        read_element(fold->kind, got + at, value);
        write_element(fold->kind, recv->after + at, value);
    }
    free(got);
}

static bool right(call_t *call)
{
    fold_t *fold = (fold_t *) call;
    /* by MPI's rules the first rank's result of MPI_Exscan is anything */
    const bool free_result = FOLD_EXSCAN == fold->call && 0 == fold->rank;

    if (scatters(fold) && fold->in_place) {
        accept_rest(fold);
    }
    return same(fold, "send", &fold->send) && (free_result || same(fold, "receive", &fold->recv));
}

static bool has_data(const call_t *call)
{
    const fold_t *fold = (const fold_t *) call;

    return 0 < fold->count && (NULL == fold->layout || 0 < fold->layout->size);
}

static void spoil(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) in;
    (void) length;
    (void) type;
    *(unsigned char *) inout ^= 1;
}

static void orphan(call_t *call)
{
    fold_t *fold = (fold_t *) call;

    if (NULL != fold->layout) {
        layout_spoil(fold->layout);
    } else if (NULL == fold->kind->type) {
        MPI_Type_free(&fold->type);
        MPI_Type_contiguous(1, MPI_CHAR, &fold->type);
        MPI_Type_commit(&fold->type);
    }
    if (fold->own_op) {
        MPI_Op_free(&fold->op);
        MPI_Op_create(spoil, 1, &fold->op);
    }
}

static void release(call_t *call)
{
    fold_t *fold = (fold_t *) call;

    free(fold->counts);
    image_free(&fold->send);
    image_free(&fold->recv);
    if (NULL != fold->layout) {
        layout_free(fold->layout);
    } else if (NULL == fold->kind->type) {
        MPI_Type_free(&fold->type);
    }
    if (fold->own_op) {
        MPI_Op_free(&fold->op);
    }
    free(fold);
}

call_t *fold_new(const fold_spec_t *spec, dice_t *shared, dice_t *own)
{
    static const call_class_t class = {issue, reset, right, has_data, orphan, release};
    fold_t *fold = tap_memory(sizeof(*fold));

    *fold = (fold_t){.base = {.class = &class, .request = MPI_REQUEST_NULL}, .comm = spec->comm};
    name_types();
    MPI_Comm_rank(fold->comm, &fold->rank);
    MPI_Comm_size(fold->comm, &fold->size);
    fold->key = dice_word(shared);
    fold->call = FOLD_ANY == spec->call ? (fold_call_t) dice_roll(shared, FOLD_CALLS) : spec->call;
    fold->root = spec->rooted ? spec->root : dice_roll(shared, fold->size);
    if (FOLD_BCAST == fold->call) {
        set_bcast(fold, shared, own, spec->most, spec->forced && spec->mismatch);
    } else {
        set_reduction(fold, shared, spec);
    }
    reset(&fold->base);
    return &fold->base;
}
