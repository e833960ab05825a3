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

#include "exchange.h"
#include "layout.h"
#include "tap.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATOMS 4
#define MARGIN 64
#define FILL 0x5a

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
    return type;
}

/* ---- calls ---- */

typedef struct image_t {
    unsigned char *memory, *before, *wanted;
    size_t length;
    ptrdiff_t origin;
} image_t;

struct fold_t {
    MPI_Comm comm;
    fold_call_t call;
    const kind_t *kind;
    layout_t *layout; /* of MPI_Bcast */
    MPI_Datatype type;
    MPI_Op op;
    bool own_op, in_place;
    int rank, size, root, count;
    uint64_t key;
    MPI_Request persistent; /* MPI_REQUEST_NULL: it is not */
    image_t send, recv;
    char name[120], fault[300];
};

static image_t new_image(ptrdiff_t low, ptrdiff_t high)
{
    image_t image = {.length = (size_t) (high - low) + 2 * MARGIN, .origin = MARGIN - low};

    image.memory = tap_memory(image.length);
    image.before = tap_memory(image.length);
    image.wanted = tap_memory(image.length);
    memset(image.memory, FILL, image.length);
    memset(image.wanted, FILL, image.length);
    return image;
}

static void free_image(image_t *image)
{
    free(image->memory);
    free(image->before);
    free(image->wanted);
}

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

static void fill(const fold_t *fold, unsigned char *memory, int first, int last)
{
    int64_t value[ATOMS];

    for (int k = 0; k < fold->count; k++) {
        fold_ranks(fold, first, last, k, value);
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
    int last;

    fold->send = new_image(low, high);
    fold->recv = new_image(low, high);
    fill(fold, fold->send.memory + fold->send.origin, fold->rank, fold->rank);
    memcpy(fold->send.wanted, fold->send.memory, fold->send.length);
    if (fold->in_place) {
        memcpy(fold->recv.memory, fold->send.memory, fold->send.length);
        memcpy(fold->recv.wanted, fold->send.memory, fold->send.length);
    }
    if (wanted_ranks(fold, &last)) {
        fill(fold, fold->recv.wanted + fold->recv.origin, 0, last);
    }
}

/*
 * Open MPI's own algorithms, which serve communicators of one rank, fail where the extent is
 * negative. All ranks draw alike, whatever the size of their communicator.
 */
static const kind_t *any_kind(dice_t *shared, bool forced, int size)
{
    const int kind = dice_roll(shared, forced ? KINDS : BELOW);

    return &kinds[DOWN == kind && 1 == size ? BELOW : kind];
}

static void set_reduction(fold_t *fold, dice_t *shared, size_t most_bytes, bool forced)
{
    fold->kind = any_kind(shared, forced, fold->size);
    fold->count = dice_roll(shared, (int) (most_bytes / (size_t) (4 * fold->kind->atoms)) + 2);
    fold->in_place = dice_once_in(shared, 3)
                     && (FOLD_REDUCE != fold->call || fold->rank == fold->root);
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
        exchange_pattern(fold->key, fold->root, k, memory + at, length);
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
    fold->recv = new_image(low, high);
    fold->send = new_image(0, 0);
    put_pattern(fold, fold->recv.wanted + fold->recv.origin);
    if (fold->rank == fold->root) {
        memcpy(fold->recv.memory, fold->recv.wanted, fold->recv.length);
    }
    snprintf(fold->name, sizeof(fold->name), "MPI_Bcast of %d %.80s, root %d", fold->count,
             fold->layout->text, fold->root);
}

fold_t *fold_new(const fold_spec_t *spec, dice_t *shared, dice_t *own)
{
    fold_t *fold = tap_memory(sizeof(*fold));

    memset(fold, 0, sizeof(*fold));
    name_types();
    fold->comm = spec->comm;
    MPI_Comm_rank(fold->comm, &fold->rank);
    MPI_Comm_size(fold->comm, &fold->size);
    fold->key = dice_word(shared);
    fold->persistent = MPI_REQUEST_NULL;
    fold->call = FOLD_ANY == spec->call ? (fold_call_t) dice_roll(shared, FOLD_CALLS) : spec->call;
    fold->root = spec->rooted ? spec->root : dice_roll(shared, fold->size);
    if (FOLD_BCAST == fold->call) {
        set_bcast(fold, shared, own, spec->most, spec->forced && spec->mismatch);
    } else {
        set_reduction(fold, shared, spec->most, spec->forced);
    }
    memcpy(fold->send.before, fold->send.memory, fold->send.length);
    memcpy(fold->recv.before, fold->recv.memory, fold->recv.length);
    return fold;
}

void fold_free(fold_t *fold)
{
    if (MPI_REQUEST_NULL != fold->persistent) {
        MPI_Request_free(&fold->persistent);
    }
    free_image(&fold->send);
    free_image(&fold->recv);
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

static foldcall_t call_of(const fold_t *f)
{
    const bool bcast = FOLD_BCAST == f->call;
    unsigned char *recv = f->recv.memory + f->recv.origin;
    const foldcall_t call = {.call = f->call,
                             .send = f->in_place ? MPI_IN_PLACE : f->send.memory + f->send.origin,
                             .recv = FOLD_REDUCE == f->call && f->rank != f->root ? NULL : recv,
                             .count = f->count,
                             .type = bcast ? f->layout->type : f->type,
                             .op = f->op,
                             .root = f->root,
                             .comm = f->comm};
    return call;
}

int fold_run(fold_t *fold)
{
    const foldcall_t call = call_of(fold);

    return foldcall_run(&call);
}

int fold_start(fold_t *fold, MPI_Request *request)
{
    const foldcall_t call = call_of(fold);

    return foldcall_start(&call, request);
}

int fold_start_persistent(fold_t *fold, MPI_Request *request)
{
    const foldcall_t call = call_of(fold);
    const int code = foldcall_init(&call, &fold->persistent);

    *request = fold->persistent;
    return MPI_SUCCESS == code ? MPI_Start(request) : code;
}

int fold_wait(fold_t *fold, MPI_Request *request)
{
    const int code = MPI_Wait(request, MPI_STATUS_IGNORE);

    if (MPI_REQUEST_NULL == *request) {
        fold->persistent = MPI_REQUEST_NULL;
    }
    return code;
}

static bool same(fold_t *fold, const char *what, const image_t *image)
{
    for (size_t i = 0; i < image->length; i++) {
        if (image->memory[i] != image->wanted[i]) {
            snprintf(fold->fault, sizeof(fold->fault),
                     "%s: %s buffer, byte %td of %zu is %02x and should be %02x", fold->name, what,
                     (ptrdiff_t) i - image->origin, image->length - 2 * MARGIN, image->memory[i],
                     image->wanted[i]);
            return false;
        }
    }
    return true;
}

bool fold_right(fold_t *fold)
{
    /* by MPI's rules the first rank's result of MPI_Exscan is anything */
    const bool free_result = FOLD_EXSCAN == fold->call && 0 == fold->rank;

    return same(fold, "send", &fold->send) && (free_result || same(fold, "receive", &fold->recv));
}

bool fold_right_again(fold_t *fold)
{
    const bool right = fold_right(fold);

    if (MPI_REQUEST_NULL == fold->persistent) {
        return right;
    }
    memcpy(fold->send.memory, fold->send.before, fold->send.length);
    memcpy(fold->recv.memory, fold->recv.before, fold->recv.length);
    MPI_Start(&fold->persistent);
    MPI_Wait(&fold->persistent, MPI_STATUS_IGNORE);
    return fold_right(fold) && right;
}

bool fold_has_data(const fold_t *fold)
{
    return 0 < fold->count && (NULL == fold->layout || 0 < fold->layout->size);
}

const char *fold_fault(const fold_t *fold)
{
    return fold->fault;
}

const char *fold_name(const fold_t *fold)
{
    return fold->name;
}
