/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "exchange.h"

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY (-1)

typedef struct exchange_t {
    call_t call;
    int rank, size;
    uint64_t key;
    bool same, in_place, bare, owned;
    int send_count;
    int *count, *displ;
    layout_t *send, *recv;
    image_t source, target;
    MPI_Datatype absolute[2]; /**< of source and target from MPI_BOTTOM, or MPI_DATATYPE_NULL */
} exchange_t;

/** Writes the contribution of `rank` as `count` elements at `start` bytes from the origin. */
static void image_write(const image_t *image, unsigned char *to, uint64_t key, int rank,
                        const layout_t *layout, int count, ptrdiff_t start)
{
    layout_walk_t walk = {layout, (size_t) count, 0, 0};
    ptrdiff_t at;
    size_t length, k = 0;

    while (layout_walk_next(&walk, &at, &length)) {
        call_pattern(key, rank, k, to + image->origin + start + at, length);
        k += length;
    }
}

/* ---- places ---- */

static ptrdiff_t round_up(ptrdiff_t value, ptrdiff_t step)
{
    ptrdiff_t down = value / step * step;

    return down < value ? down + step : down;
}

/** Displacements without overlap: by rank and dense, or as dice say. */
static void place(exchange_t *x, dice_t *dice)
{
    int *order = tap_memory((size_t) x->size * sizeof(*order));
    ptrdiff_t cursor = 0, step = labs(x->recv->extent), low, high;

    for (int i = 0; i < x->size; i++) {
        order[i] = i;
    }
    if (NULL != dice) {
        dice_shuffle(dice, order, x->size);
        cursor = dice_between(dice, -200, 200);
    }
    for (int n = 0; n < x->size; n++) {
        int i = order[n];

        layout_span(x->recv, (size_t) x->count[i], &low, &high);
        x->displ[i] = 0 == step ? 0 : (int) (round_up(cursor - low, step) / x->recv->extent);
        cursor = x->displ[i] * x->recv->extent + high;
        if (NULL != dice && dice_once_in(dice, 3)) {
            cursor += dice_roll(dice, 100);
        }
    }
    free(order);
}

static ptrdiff_t start_of(const exchange_t *x, int rank)
{
    return (x->same ? (ptrdiff_t) rank * x->count[0] : (ptrdiff_t) x->displ[rank])
           * x->recv->extent;
}

/** Where all blocks together begin and end. */
static void bounds(const exchange_t *x, ptrdiff_t *from, ptrdiff_t *to)
{
    *from = PTRDIFF_MAX;
    *to = PTRDIFF_MIN;
    for (int i = 0; i < x->size; i++) {
        ptrdiff_t low, high, start = start_of(x, i);

        layout_span(x->recv, (size_t) x->count[i], &low, &high);
        if (low < high) {
            *from = start + low < *from ? start + low : *from;
            *to = start + high > *to ? start + high : *to;
        }
    }
    if (*from > *to) {
        *from = *to = 0;
    }
}

/** True if a byte of the receive memory would be written twice. */
static bool blocks_overlap(const exchange_t *x)
{
    unsigned char *taken = tap_memory(x->target.length);
    bool overlap = false;

    memset(taken, 0, x->target.length);
    for (int i = 0; i < x->size && !overlap; i++) {
        layout_walk_t walk = {x->recv, (size_t) x->count[i], 0, 0};
        ptrdiff_t at, start = start_of(x, i);
        size_t length;

        while (!overlap && layout_walk_next(&walk, &at, &length)) {
            unsigned char *run = taken + x->target.origin + start + at;

            overlap = 0 != run[0] || NULL != memchr(run, 1, length);
            memset(run, 1, length);
        }
    }
    free(taken);
    return overlap;
}

static void make_images(exchange_t *x)
{
    ptrdiff_t low, high;

    bounds(x, &low, &high);
    x->target = image_new(x->key ^ 1, low, high);
    for (int i = 0; i < x->size; i++) {
        image_write(&x->target, x->target.after, x->key, i, x->recv, x->count[i], start_of(x, i));
    }
    if (x->in_place) {
        image_write(&x->target, x->target.before, x->key, x->rank, x->recv, x->count[x->rank],
                    start_of(x, x->rank));
        return;
    }
    layout_span(x->send, (size_t) x->send_count, &low, &high);
    x->source = image_new(x->key ^ 2, low, high);
    image_write(&x->source, x->source.before, x->key, x->rank, x->send, x->send_count, 0);
    memcpy(x->source.after, x->source.before, x->source.length);
}

static void reset(call_t *call)
{
    exchange_t *x = (exchange_t *) call;

    image_reset(&x->target);
    image_reset(&x->source);
}

static void free_layouts(exchange_t *x)
{
    if (x->send != x->recv) {
        layout_free(x->send);
    }
    layout_free(x->recv);
}

static void free_absolute(exchange_t *x)
{
    for (int i = 0; i < 2; i++) {
        if (MPI_DATATYPE_NULL != x->absolute[i]) {
            MPI_Type_free(&x->absolute[i]);
        }
    }
}

static void release(call_t *call)
{
    exchange_t *x = (exchange_t *) call;

    image_free(&x->source);
    image_free(&x->target);
    free_absolute(x);
    if (x->owned) {
        free_layouts(x);
    }
    free(x->count);
    free(x->displ);
    free(x);
}

static void orphan(call_t *call)
{
    exchange_t *x = (exchange_t *) call;

    if (x->send != x->recv) {
        layout_spoil(x->send);
    }
    layout_spoil(x->recv);
    free_absolute(x);
}

static bool has_data(const call_t *call)
{
    const exchange_t *x = (const exchange_t *) call;
    bool any = false;

    for (int r = 0; r < x->size; r++) {
        any = any || 0 < x->count[r];
    }
    return any && 0 < x->recv->size;
}

/** The arguments of a call on the side of the sender. */
typedef struct contribution_t {
    const void *buffer;
    int count;
    MPI_Datatype type;
} contribution_t;

static contribution_t contribution(const exchange_t *x)
{
    const MPI_Datatype absolute = x->absolute[0];
    contribution_t mine = {MPI_IN_PLACE, x->count[x->rank], x->recv->type};

    if (x->in_place && x->bare) {
        mine.count = 0;
        mine.type = MPI_DATATYPE_NULL;
    } else if (!x->in_place) {
        mine.count = x->send_count;
        mine.type = MPI_DATATYPE_NULL != absolute ? absolute : x->send->type;
        mine.buffer = MPI_DATATYPE_NULL != absolute || (x->bare && 0 == x->send_count)
                          ? MPI_BOTTOM
                          : image_address(&x->source);
    }
    return mine;
}

static int issue(call_t *call, form_t form)
{
    exchange_t *x = (exchange_t *) call;
    const contribution_t mine = contribution(x);
    const MPI_Comm comm = call->comm;
    const bool absolute = MPI_DATATYPE_NULL != x->absolute[1];
    const MPI_Datatype type = absolute ? x->absolute[1] : x->recv->type;
    void *target = absolute || (x->bare && !has_data(call)) ? MPI_BOTTOM
                                                            : image_address(&x->target);

    return x->same ? CALL_IN(form, &call->request, Allgather, Iallgather, mine.buffer, mine.count,
                             mine.type, target, x->count[0], type, comm)
                   : CALL_IN(form, &call->request, Allgatherv, Iallgatherv, mine.buffer,
                             mine.count, mine.type, target, x->count, x->displ, type, comm);
}

/* ---- judgement ---- */

/** The rank whose block holds the byte at `place`, or NOBODY, and which byte of it that is. */
static int owner_of(const exchange_t *x, ptrdiff_t place, size_t *k)
{
    for (int i = 0; i < x->size; i++) {
        layout_walk_t walk = {x->recv, (size_t) x->count[i], 0, 0};
        ptrdiff_t at, start = start_of(x, i);
        size_t length;

        *k = 0;
        while (layout_walk_next(&walk, &at, &length)) {
            if (start + at <= place && place < start + at + (ptrdiff_t) length) {
                *k += (size_t) (place - start - at);
                return i;
            }
            *k += length;
        }
    }
    return NOBODY;
}

static bool right(call_t *call)
{
    exchange_t *x = (exchange_t *) call;
    ptrdiff_t place;
    size_t k;
    int owner;

    if (!x->in_place && !image_right(&x->source, &place)) {
        snprintf(call->fault, sizeof(call->fault), "byte %td of the send buffer was written", place);
        return false;
    }
    if (image_right(&x->target, &place)) {
        return true;
    }
    owner = owner_of(x, place, &k);
    if (NOBODY == owner) {
        snprintf(call->fault, sizeof(call->fault), "byte %td of the receive buffer, no data of"
                 " %.250s, was written", place, x->recv->text);
    } else {
        snprintf(call->fault, sizeof(call->fault), "byte %td of the receive buffer, byte %zu of %zu"
                 " of rank %d's as %d of %.200s, is wrong", place, k,
                 (size_t) x->count[owner] * x->recv->size, owner, x->count[owner], x->recv->text);
    }
    return false;
}

/* ---- exchanges ---- */

static void set_drawn(exchange_t *x)
{
    drawn_t *drawn = &x->call.drawn;
    int most = x->count[0];

    for (int i = 0; i < x->size; i++) {
        most = x->count[i] > most ? x->count[i] : most;
    }
    drawn->of[DRAWN_CALL] = DRAWN(x->same ? DRAWN_ALLGATHER : DRAWN_ALLGATHERV);
    drawn->of[DRAWN_OP] = DRAWN(DRAWN_NO_OP);
    drawn->of[DRAWN_TYPE] = layout_classes(x->recv, (size_t) most);
    if (!x->in_place && x->send != x->recv) {
        drawn->of[DRAWN_TYPE] |= layout_classes(x->send, (size_t) x->send_count)
                                 | DRAWN(DRAWN_UNLIKE);
    }
    if (MPI_DATATYPE_NULL != x->absolute[1]) {
        drawn->of[DRAWN_TYPE] |= DRAWN(DRAWN_ABSOLUTE);
    }
}

call_t *exchange_new(const exchange_spec_t *spec)
{
    static const call_class_t class = {issue, reset, right, has_data, orphan, release};
    exchange_t *x = tap_memory(sizeof(*x));

    *x = (exchange_t){.call = {.class = &class, .request = MPI_REQUEST_NULL, .comm = spec->comm},
                      .absolute = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL},
                      .key = dice_mix(spec->key) & ~UINT64_C(3),
                      .same = spec->same,
                      .in_place = spec->in_place,
                      .bare = spec->bare,
                      .send_count = spec->send_count,
                      .send = spec->send,
                      .recv = spec->recv};
    MPI_Comm_rank(spec->comm, &x->rank);
    MPI_Comm_size(spec->comm, &x->size);
    x->count = tap_memory((size_t) x->size * sizeof(int));
    x->displ = tap_memory((size_t) x->size * sizeof(int));
    memcpy(x->count, spec->count, (size_t) x->size * sizeof(int));
    if (NULL != spec->displ) {
        memcpy(x->displ, spec->displ, (size_t) x->size * sizeof(int));
    } else {
        place(x, spec->dice);
    }
    make_images(x);
    if (blocks_overlap(x)
        || (!x->in_place && layout_overlaps(x->send, (size_t) x->send_count))) {
        release(&x->call);
        return NULL;
    }
    if (!x->in_place
        && (size_t) x->send_count * x->send->size != (size_t) x->count[x->rank] * x->recv->size) {
        tap_bail("the test is wrong: sends %d of %s, receives %d of %s", x->send_count,
                 x->send->text, x->count[x->rank], x->recv->text);
    }
    x->owned = spec->owned;
    if (spec->absolute) {
        x->absolute[0] = x->in_place ? MPI_DATATYPE_NULL
                                     : image_absolute(&x->source, x->send->type);
        x->absolute[1] = image_absolute(&x->target, x->recv->type);
    }
    set_drawn(x);
    reset(&x->call);
    return &x->call;
}

call_t *exchange_simple(MPI_Comm comm, uint64_t key, bool same, layout_t *layout,
                        int (*count_of)(int rank))
{
    exchange_spec_t spec = {.comm = comm, .key = key, .same = same, .owned = true};
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    int *count = tap_memory((size_t) size * sizeof(int));
    for (int i = 0; i < size; i++) {
        count[i] = count_of(i);
    }
    spec.count = count;
    spec.send_count = count[rank];
    spec.send = spec.recv = layout;
    call_t *call = exchange_new(&spec);
    free(count);
    if (NULL == call) {
        tap_bail("the test is wrong: blocks of %s overlap", layout->text);
    }
    return call;
}
