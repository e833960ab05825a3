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
 * Folds (fold.h). An element is the bytes of its signature, lower op upper those of two elements in
 * the order of ranks.
 *
 *     built-in ops   small numbers, which are exact in whatever representation and order
 *     users' ops     bytes: their sums, or a product of affine maps, which does not commute
 *
 * A user's operation works on any type: it finds its list of bytes (layout.h) by the handle that
 * MPI gives it. What a rank contributes to it is a pattern of memory, not of elements, so these may
 * overlap where MPI allows that.
 */

#include "fold.h"

#include "layout.h"
#include "tap.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST 1024 /* bytes of an element */

/* upper = lower op upper, of elements of so many bytes */
typedef void apply_t(const unsigned char *lower, unsigned char *upper, size_t size);

/* Values of built-in types: small numbers, so that there are ties. */
typedef void value_t(dice_t *dice, unsigned char *element);

typedef struct kind_t {
    const char *name;
    drawn_op_t op_class;
    MPI_Datatype basic; /* predefined, MPI_DATATYPE_NULL: derived, from a random layout */
    MPI_Op op;          /* predefined, MPI_OP_NULL: made from user */
    MPI_User_function *user;
    int commutes;
    apply_t *apply;
    value_t *value;  /* NULL: a pattern of memory */
} kind_t;

/* ---- operations ---- */

#define VALUE_OF(Type, name)                                       \
    static void name##_value(dice_t *dice, unsigned char *element) \
    {                                                              \
        const Type value = (Type) dice_roll(dice, 5);              \
        memcpy(element, &value, sizeof(value));                    \
    }

/* Packed pairs have no padding. */
#define LOC_OF(Type, name)                                                                \
    static void name##_minloc(const unsigned char *lower, unsigned char *upper, size_t size) \
    {                                                                                     \
        Type a, b;                                                                        \
        int32_t i, k;                                                                     \
        memcpy(&a, lower, sizeof(a));                                                     \
        memcpy(&b, upper, sizeof(b));                                                     \
        memcpy(&i, lower + sizeof(a), sizeof(i));                                         \
        memcpy(&k, upper + sizeof(a), sizeof(k));                                         \
        if (a < b || (a == b && i < k)) {                                                 \
            memcpy(upper, lower, size);                                                   \
        }                                                                                 \
    }                                                                                     \
    static void name##_pair(dice_t *dice, unsigned char *element)                         \
    {                                                                                     \
        const Type value = (Type) dice_roll(dice, 5);                                     \
        const int32_t index = dice_roll(dice, 5);                                         \
        memcpy(element, &value, sizeof(value));                                           \
        memcpy(element + sizeof(value), &index, sizeof(index));                           \
    }

#define APPLY_OF(Type, name, what)                                                    \
    static void name(const unsigned char *lower, unsigned char *upper, size_t size)   \
    {                                                                                 \
        Type a, b;                                                                    \
        memcpy(&a, lower, sizeof(a));                                                 \
        memcpy(&b, upper, sizeof(b));                                                 \
        b = what;                                                                     \
        memcpy(upper, &b, size);                                                      \
    }

VALUE_OF(int32_t, int)
VALUE_OF(int64_t, long)
VALUE_OF(double, double)
VALUE_OF(float, float)
LOC_OF(int32_t, int)
LOC_OF(double, double)
APPLY_OF(int32_t, int_sum, a + b)
APPLY_OF(int32_t, int_max, a > b ? a : b)
APPLY_OF(int32_t, int_xor, a ^ b)
APPLY_OF(int64_t, long_sum, a + b)
APPLY_OF(double, double_sum, a + b)
APPLY_OF(double, double_max, a > b ? a : b)
APPLY_OF(float, float_sum, a + b)

static void sum_bytes(const unsigned char *lower, unsigned char *upper, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        upper[i] = (unsigned char) (lower[i] + upper[i]);
    }
}

/* Bytes a, b are the map of x to a x + b; the last one of an odd number is only added. */
static void product_of_maps(const unsigned char *lower, unsigned char *upper, size_t size)
{
    for (size_t i = 0; i + 1 < size; i += 2) {
        upper[i + 1] = (unsigned char) (lower[i] * upper[i + 1] + lower[i + 1]);
        upper[i] = (unsigned char) (lower[i] * upper[i]);
    }
    if (0 != size % 2) {
        upper[size - 1] = (unsigned char) (lower[size - 1] + upper[size - 1]);
    }
}

/* ---- elements in memory ---- */

static void read_element(const layout_t *layout, const unsigned char *at, unsigned char *element)
{
    for (size_t i = 0; i < layout->runs; i++) {
        memcpy(element, at + layout->run[i].at, layout->run[i].length);
        element += layout->run[i].length;
    }
}

static void write_element(const layout_t *layout, unsigned char *at, const unsigned char *element)
{
    for (size_t i = 0; i < layout->runs; i++) {
        memcpy(at + layout->run[i].at, element, layout->run[i].length);
        element += layout->run[i].length;
    }
}

/* ---- users' operations ---- */

/*
 * Types of folds, so that operations know their layouts; the last one of a handle is the right one,
 * or of a predefined type as good as any. An operation holds the lock, since another thread may be
 * done with the fold that it has the layout of.
 */
static struct {
    MPI_Datatype type;
    const layout_t *layout;
} *known;
static size_t known_count, known_room;
static pthread_rwlock_t known_lock = PTHREAD_RWLOCK_INITIALIZER;

static void know(MPI_Datatype type, const layout_t *layout)
{
    pthread_rwlock_wrlock(&known_lock);
    if (known_count == known_room) {
        known_room = 2 * known_room + 64;
        known = realloc(known, known_room * sizeof(*known));
        if (NULL == known) {
            tap_bail("no memory for %zu types", known_room);
        }
    }
    known[known_count].type = type;
    known[known_count++].layout = layout;
    pthread_rwlock_unlock(&known_lock);
}

static void forget(const layout_t *layout)
{
    size_t left = 0;

    pthread_rwlock_wrlock(&known_lock);
    for (size_t i = 0; i < known_count; i++) {
        if (layout != known[i].layout) {
            known[left++] = known[i];
        }
    }
    known_count = left;
    pthread_rwlock_unlock(&known_lock);
}

static const layout_t *layout_of(MPI_Datatype type)
{
    const layout_t *layout = NULL;

    for (size_t i = 0; i < known_count; i++) {
        layout = type == known[i].type ? known[i].layout : layout;
    }
    if (NULL == layout) {
        tap_bail("an operation is given a type that no call has");
    }
    return layout;
}

static void use(apply_t *apply, const void *in, void *inout, int length, MPI_Datatype type)
{
    unsigned char lower[SIZE_MOST], upper[SIZE_MOST];

    pthread_rwlock_rdlock(&known_lock);
    const layout_t *layout = layout_of(type);
    for (int k = 0; k < length; k++) {
        const ptrdiff_t at = (ptrdiff_t) k * layout->extent;
        read_element(layout, (const unsigned char *) in + at, lower);
        read_element(layout, (const unsigned char *) inout + at, upper);
        apply(lower, upper, layout->size);
        write_element(layout, (unsigned char *) inout + at, upper);
    }
    pthread_rwlock_unlock(&known_lock);
}

static void user_sum(void *in, void *inout, int *length, MPI_Datatype *type)
{
    use(sum_bytes, in, inout, *length, *type);
}

static void user_maps(void *in, void *inout, int *length, MPI_Datatype *type)
{
    use(product_of_maps, in, inout, *length, *type);
}

static const kind_t kinds[] = {
    {"int sum", DRAWN_EXACT, MPI_INT, MPI_SUM, NULL, 1, int_sum, int_value},
    {"int max", DRAWN_EXACT, MPI_INT, MPI_MAX, NULL, 1, int_max, int_value},
    {"int xor", DRAWN_EXACT, MPI_INT, MPI_BXOR, NULL, 1, int_xor, int_value},
    {"long sum", DRAWN_EXACT, MPI_INT64_T, MPI_SUM, NULL, 1, long_sum, long_value},
    {"double sum", DRAWN_FLOATING, MPI_DOUBLE, MPI_SUM, NULL, 1, double_sum, double_value},
    {"double max", DRAWN_FLOATING, MPI_DOUBLE, MPI_MAX, NULL, 1, double_max, double_value},
    {"float sum", DRAWN_FLOATING, MPI_FLOAT, MPI_SUM, NULL, 1, float_sum, float_value},
    {"2int minloc", DRAWN_PAIRS, MPI_2INT, MPI_MINLOC, NULL, 1, int_minloc, int_pair},
    {"double int minloc", DRAWN_PAIRS, MPI_DOUBLE_INT, MPI_MINLOC, NULL, 1, double_minloc,
     double_pair},
    {"user's sum", DRAWN_USER_BASIC, MPI_INT, MPI_OP_NULL, user_sum, 1, sum_bytes, NULL},
    {"user's maps", DRAWN_USER_BASIC_ORDERED, MPI_INT64_T, MPI_OP_NULL, user_maps, 0,
     product_of_maps, NULL},
    {"user's sum", DRAWN_USER_DERIVED, MPI_DATATYPE_NULL, MPI_OP_NULL, user_sum, 1, sum_bytes,
     NULL},
    {"user's maps", DRAWN_USER_DERIVED_ORDERED, MPI_DATATYPE_NULL, MPI_OP_NULL, user_maps, 0,
     product_of_maps, NULL}};

#define KINDS ((int) (sizeof(kinds) / sizeof(kinds[0])))
#define BUILT_IN 9          /* of these, the first so many */
#define DERIVED (KINDS - 2) /* the first of the last ones, which have most classes of types */

/* ---- calls ---- */

typedef struct fold_t {
    call_t base;
    fold_call_t call;
    const kind_t *kind;
    layout_t *layout;
    MPI_Op op;
    bool in_place;
    int rank, size, root, count;
    int *counts;     /* [size] of MPI_Reduce_scatter, whose sum is count; likewise of its kin */
    int first, part; /* elements of the result for this rank, and how many */
    uint64_t key;
    image_t send, recv;
    MPI_Datatype absolute; /* of MPI_Bcast from MPI_BOTTOM, else MPI_DATATYPE_NULL */
    char name[200];
} fold_t;

static void contribution(const fold_t *fold, int rank, int k, unsigned char *element)
{
    const layout_t *layout = fold->layout;

    if (NULL != fold->kind->value) {
        dice_t dice = dice_from(fold->key, (uint64_t) rank, (uint64_t) k);
        fold->kind->value(&dice, element);
        return;
    }
    for (size_t i = 0; i < layout->runs; i++) {
        const ptrdiff_t at = (ptrdiff_t) k * layout->extent + layout->run[i].at;
        call_pattern(fold->key, rank, ((size_t) 1 << 40) + (size_t) at, element,
                     layout->run[i].length);
        element += layout->run[i].length;
    }
}

/* What ranks first .. last give together. */
static void fold_ranks(const fold_t *fold, int first, int last, int k, unsigned char *element)
{
    unsigned char upper[SIZE_MOST];

    contribution(fold, first, k, element);
    for (int r = first + 1; r <= last; r++) {
        contribution(fold, r, k, upper);
        fold->kind->apply(element, upper, fold->layout->size);
        memcpy(element, upper, fold->layout->size);
    }
}

/* Elements from .. from + count - 1 of it, of all ranks first .. last together. */
static void fill(const fold_t *fold, unsigned char *memory, int from, int count, int first,
                 int last)
{
    unsigned char element[SIZE_MOST];

    for (int k = 0; k < count; k++) {
        fold_ranks(fold, first, last, from + k, element);
        write_element(fold->layout, memory + (ptrdiff_t) k * fold->layout->extent, element);
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
    image_t *send = &fold->send, *recv = &fold->recv;
    ptrdiff_t low, high;
    int last;

    layout_span(fold->layout, (size_t) fold->count, &low, &high);
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

static bool scatters(const fold_t *fold)
{
    return FOLD_REDUCE_SCATTER == fold->call || FOLD_REDUCE_SCATTER_BLOCK == fold->call;
}

/*
 * Cuts the elements of a vector into a part for each rank: about equal, one large, or some empty.
 */
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

/* Elements that must not overlap: those of a result, and of a vector that is also read there. */
static int apart(const fold_t *fold)
{
    int most = 0;

    for (int r = 0; scatters(fold) && !fold->in_place && r < fold->size; r++) {
        most = fold->counts[r] > most ? fold->counts[r] : most;
    }
    return scatters(fold) && !fold->in_place ? most : fold->count;
}

/*
 * Whether a type will do. Open MPI's own algorithms, which serve communicators of one rank, fail
 * where the lower bound is not 0 or data does not begin there, the extent is negative, or elements
 * interleave; and coll/libnbc, which serves persistent calls without data, refuses an extent of 0.
 */
static bool is_fit(const fold_t *fold, const layout_t *layout, const fold_spec_t *spec)
{
    const bool own = spec->forced && 1 < fold->size;
    const int count = own ? apart(fold) : fold->count;
    ptrdiff_t low, high;

    layout_span(layout, 1, &low, &high);
    return SIZE_MOST >= layout->size && 0 != layout->extent && !layout_overlaps(layout, (size_t) count)
           && (own || (0 == layout->lb && 0 == low && 0 <= layout->extent
                       && 0 == (layout_classes(layout, (size_t) count)
                                & DRAWN(DRAWN_INTERLEAVED))));
}

/* The type of a derived kind, equal on all ranks; the number of elements is known. */
static layout_t *any_layout(const fold_t *fold, dice_t *shared, int unit, int units,
                            const fold_spec_t *spec)
{
    for (int attempt = 0; attempt < 20; attempt++) {
        layout_t *layout = dice_once_in(shared, 4)
                               ? layout_column(shared, unit, units, apart(fold))
                               : layout_random(shared, unit, units, apart(fold));
        if (is_fit(fold, layout, spec)) {
            return layout;
        }
        layout_free(layout);
    }
    return layout_contiguous(units, layout_unit(unit, 0));
}

static const kind_t *any_kind(dice_t *shared, const fold_spec_t *spec)
{
    const int first = dice_once_in(shared, 3) && !spec->close ? DERIVED : 0;

    return &kinds[first + dice_roll(shared, (spec->close ? BUILT_IN : KINDS) - first)];
}

static void set_reduction(fold_t *fold, dice_t *shared, const fold_spec_t *spec)
{
    static const int steps[] = {1, 2, 2, 3, 4, 6, 12, 24};
    const int unit = dice_roll(shared, LAYOUT_UNITS), units = steps[dice_roll(shared, 8)];

    fold->kind = any_kind(shared, spec);
    const bool derived = MPI_DATATYPE_NULL == fold->kind->basic;
    const size_t size = derived ? layout_unit_size(unit) * (size_t) units : 12;
    fold->count = dice_roll(shared, (int) (spec->most / size) + 2);
    fold->part = fold->count;
    if (scatters(fold)) {
        cut_parts(fold, shared);
    }
    fold->in_place = dice_once_in(shared, 3) && !(spec->close && scatters(fold));
    fold->layout = !derived ? layout_basic(fold->kind->basic)
                   : dice_once_in(shared, 20) && spec->forced
                       ? layout_resized(-4, 64, layout_contiguous(0, layout_unit(unit, 0)))
                       : any_layout(fold, shared, unit, units, spec);
    fold->in_place = fold->in_place && (FOLD_REDUCE != fold->call || fold->rank == fold->root);
    if (MPI_OP_NULL == fold->kind->op) {
        MPI_Op_create(fold->kind->user, fold->kind->commutes, &fold->op);
    } else {
        fold->op = fold->kind->op;
    }
    know(fold->layout->type, fold->layout);
    set_buffers(fold);
    fold->base.drawn.of[DRAWN_OP] = DRAWN(fold->kind->op_class);
    fold->base.drawn.of[DRAWN_TYPE] = layout_classes(fold->layout, (size_t) fold->count);
    snprintf(fold->name, sizeof(fold->name), "MPI_%s of %d %s of %.100s, root %d%s",
             foldcall_name(fold->call), fold->count, fold->kind->name, fold->layout->text,
             fold->root, fold->in_place ? ", in place" : "");
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
static void set_bcast(fold_t *fold, dice_t *shared, dice_t *own, const fold_spec_t *spec)
{
    static const int steps[] = {1, 2, 6, 12, 60};
    const bool unlike = spec->forced && spec->mismatch && 1 < fold->size;
    const int unit = dice_roll(shared, LAYOUT_UNITS), step = steps[dice_roll(shared, 5)];
    const int units = step * dice_roll(shared,
                                       (int) (spec->most / layout_unit_size(unit)) / step + 2);
    const bool nothing = dice_once_in(shared, 20);
    dice_t *types = unlike ? own : shared;
    ptrdiff_t low, high;

    for (int attempt = 0; NULL == fold->layout; attempt++) {
        const int part = 19 == attempt % 20 ? 1 : dice_divisor(types, step);
        fold->count = units / part;
        fold->layout = nothing ? layout_resized(-4, 64, layout_contiguous(0, layout_unit(unit, 0)))
                               : layout_random(types, unit, part, fold->count);
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
    if (dice_once_in(types, 8)) {
        fold->absolute = image_absolute(&fold->recv, fold->layout->type);
    }
    fold->base.drawn.of[DRAWN_OP] = DRAWN(DRAWN_NO_OP);
    fold->base.drawn.of[DRAWN_TYPE] = layout_classes(fold->layout, (size_t) fold->count)
                                      | (unlike ? DRAWN(DRAWN_UNLIKE) : 0)
                                      | (MPI_DATATYPE_NULL != fold->absolute
                                             ? DRAWN(DRAWN_ABSOLUTE) : 0);
    snprintf(fold->name, sizeof(fold->name), "MPI_Bcast of %d %.80s, root %d%s", fold->count,
             fold->layout->text, fold->root,
             MPI_DATATYPE_NULL != fold->absolute ? ", from MPI_BOTTOM" : "");
}

static int issue(call_t *call, form_t form)
{
    const fold_t *f = (fold_t *) call;
    const bool absolute = MPI_DATATYPE_NULL != f->absolute;
    const foldcall_t c = {.call = f->call,
                          .send = f->in_place ? MPI_IN_PLACE : image_address(&f->send),
                          .recv = FOLD_REDUCE == f->call && f->rank != f->root ? NULL
                                  : absolute ? MPI_BOTTOM
                                             : image_address(&f->recv),
                          .count = scatters(f) ? f->part : f->count,
                          .counts = f->counts,
                          .type = absolute ? f->absolute : f->layout->type,
                          .op = f->op,
                          .root = f->root,
                          .comm = call->comm};

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

/*
 * By MPI's rules what is behind the part of a result that takes the place of a vector is anything.
 */
static void accept_rest(const fold_t *fold)
{
    const image_t *recv = &fold->recv;
    unsigned char *got = tap_memory(recv->length), element[SIZE_MOST];

    image_memory.copy(got, recv->memory, recv->length);
    for (int k = fold->part; k < fold->count; k++) {
        const ptrdiff_t at = recv->origin + (ptrdiff_t) k * fold->layout->extent;
        read_element(fold->layout, got + at, element);
        write_element(fold->layout, recv->after + at, element);
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

    return 0 < fold->count && 0 < fold->layout->size;
}

static void spoil(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) in;
    (void) length;
    (void) type;
    *(unsigned char *) inout ^= 1;
}

static bool has_own_op(const fold_t *fold)
{
    return NULL != fold->kind && MPI_OP_NULL == fold->kind->op;
}

static void orphan(call_t *call)
{
    fold_t *fold = (fold_t *) call;

    layout_spoil(fold->layout);
    if (has_own_op(fold)) {
        MPI_Op_free(&fold->op);
        MPI_Op_create(spoil, 1, &fold->op);
    }
    if (MPI_DATATYPE_NULL != fold->absolute) {
        MPI_Type_free(&fold->absolute);
    }
}

static void release(call_t *call)
{
    fold_t *fold = (fold_t *) call;

    forget(fold->layout);
    free(fold->counts);
    image_free(&fold->send);
    image_free(&fold->recv);
    if (has_own_op(fold)) {
        MPI_Op_free(&fold->op);
    }
    if (MPI_DATATYPE_NULL != fold->absolute) {
        MPI_Type_free(&fold->absolute);
    }
    layout_free(fold->layout);
    free(fold);
}

call_t *fold_new(const fold_spec_t *spec, dice_t *shared, dice_t *own)
{
    static const call_class_t class = {issue, reset, right, has_data, orphan, release};
    fold_t *fold = tap_memory(sizeof(*fold));

    *fold = (fold_t){.base = {.class = &class, .request = MPI_REQUEST_NULL, .comm = spec->comm},
                     .absolute = MPI_DATATYPE_NULL};
    MPI_Comm_rank(spec->comm, &fold->rank);
    MPI_Comm_size(spec->comm, &fold->size);
    fold->key = dice_word(shared);
    fold->call = FOLD_ANY == spec->call ? (fold_call_t) dice_roll(shared, FOLD_CALLS) : spec->call;
    fold->root = spec->rooted ? spec->root : dice_roll(shared, fold->size);
    if (FOLD_BCAST == fold->call) {
        set_bcast(fold, shared, own, spec);
    } else {
        set_reduction(fold, shared, spec);
    }
    fold->base.drawn.of[DRAWN_CALL] = DRAWN(fold->call);
    reset(&fold->base);
    return &fold->base;
}
