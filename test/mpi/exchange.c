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

#if OMPI_MAJOR_VERSION < 5 /* persistent collectives have names of their own there */
#    include <mpi-ext.h>
#    define MPI_Allgather_init MPIX_Allgather_init
#    define MPI_Allgatherv_init MPIX_Allgatherv_init
#endif

#define GUARD 192
#define NOBODY (-1)

/* ---- bytes ---- */

void exchange_pattern(uint64_t key, int rank, size_t k, unsigned char *to, size_t length)
{
    uint64_t base = dice_mix(key ^ dice_mix((uint64_t) (int64_t) rank));

    for (size_t i = 0; i < length;) {
        uint64_t word = dice_mix(base + (k + i) / 8);
        size_t skip = (k + i) % 8, part = 8 - skip < length - i ? 8 - skip : length - i;

        word >>= 8 * skip;
        memcpy(to + i, &word, part);
        i += part;
    }
}

static void image_make(exchange_image_t *image, uint64_t key, ptrdiff_t low, ptrdiff_t high)
{
    image->origin = GUARD - low;
    image->length = (size_t) (high - low) + 2 * GUARD;
    image->memory = tap_memory(image->length);
    image->before = tap_memory(image->length);
    image->after = tap_memory(image->length);
    exchange_pattern(key, NOBODY, 0, image->before, image->length);
    memcpy(image->after, image->before, image->length);
}

static void image_free(exchange_image_t *image)
{
    free(image->memory);
    free(image->before);
    free(image->after);
}

/** Writes the contribution of `rank` as `count` elements at `start` bytes from the origin. */
static void image_write(const exchange_image_t *image, unsigned char *to, uint64_t key, int rank,
                        const layout_t *layout, int count, ptrdiff_t start)
{
    layout_walk_t walk = {layout, (size_t) count, 0, 0};
    ptrdiff_t at;
    size_t length, k = 0;

    while (layout_walk_next(&walk, &at, &length)) {
        exchange_pattern(key, rank, k, to + image->origin + start + at, length);
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

/* ---- exchanges ---- */

static void make_images(exchange_t *x)
{
    ptrdiff_t low, high;

    bounds(x, &low, &high);
    image_make(&x->target, x->key ^ 1, low, high);
    for (int i = 0; i < x->size; i++) {
        image_write(&x->target, x->target.after, x->key, i, x->recv, x->count[i], start_of(x, i));
    }
    if (x->in_place) {
        image_write(&x->target, x->target.before, x->key, x->rank, x->recv, x->count[x->rank],
                    start_of(x, x->rank));
        return;
    }
    layout_span(x->send, (size_t) x->send_count, &low, &high);
    image_make(&x->source, x->key ^ 2, low, high);
    image_write(&x->source, x->source.before, x->key, x->rank, x->send, x->send_count, 0);
    memcpy(x->source.after, x->source.before, x->source.length);
}

exchange_t *exchange_new(const exchange_spec_t *spec)
{
    exchange_t *x = tap_memory(sizeof(*x));

    memset(x, 0, sizeof(*x));
    x->comm = spec->comm;
    MPI_Comm_rank(x->comm, &x->rank);
    MPI_Comm_size(x->comm, &x->size);
    x->key = dice_mix(spec->key) & ~UINT64_C(3);
    x->same = spec->same;
    x->in_place = spec->in_place;
    x->bare = spec->bare;
    x->send_count = spec->send_count;
    x->send = spec->send;
    x->recv = spec->recv;
    x->request = MPI_REQUEST_NULL;
    x->count = tap_memory((size_t) x->size * sizeof(int));
    x->displ = tap_memory((size_t) x->size * sizeof(int));
    memcpy(x->count, spec->count, (size_t) x->size * sizeof(int));
    if (NULL != spec->displ) {
        memcpy(x->displ, spec->displ, (size_t) x->size * sizeof(int));
    } else {
        place(x, spec->dice);
    }
    make_images(x);
    if (blocks_overlap(x)) {
        exchange_free(x);
        return NULL;
    }
    if (!x->in_place
        && (size_t) x->send_count * x->send->size != (size_t) x->count[x->rank] * x->recv->size) {
        tap_bail("the test is wrong: sends %d of %s, receives %d of %s", x->send_count,
                 x->send->text, x->count[x->rank], x->recv->text);
    }
    exchange_reset(x);
    return x;
}

void exchange_free(exchange_t *x)
{
    if (NULL != x) {
        image_free(&x->source);
        image_free(&x->target);
        free(x->count);
        free(x->displ);
        free(x);
    }
}

void exchange_reset(exchange_t *x)
{
    memcpy(x->target.memory, x->target.before, x->target.length);
    if (!x->in_place) {
        memcpy(x->source.memory, x->source.before, x->source.length);
    }
}

/** The arguments of a call on the side of the sender. */
typedef struct contribution_t {
    const void *buffer;
    int count;
    MPI_Datatype type;
} contribution_t;

static contribution_t contribution(const exchange_t *x)
{
    contribution_t mine = {MPI_IN_PLACE, x->count[x->rank], x->recv->type};

    if (x->in_place && x->bare) {
        mine.count = 0;
        mine.type = MPI_DATATYPE_NULL;
    } else if (!x->in_place) {
        mine.buffer = x->source.memory + x->source.origin;
        mine.count = x->send_count;
        mine.type = x->send->type;
    }
    return mine;
}

int exchange_run(exchange_t *x)
{
    contribution_t mine = contribution(x);
    void *target = x->target.memory + x->target.origin;

    if (x->same) {
        return MPI_Allgather(mine.buffer, mine.count, mine.type, target, x->count[0], x->recv->type,
                             x->comm);
    }
    return MPI_Allgatherv(mine.buffer, mine.count, mine.type, target, x->count, x->displ,
                          x->recv->type, x->comm);
}

int exchange_start(exchange_t *x)
{
    contribution_t mine = contribution(x);
    void *target = x->target.memory + x->target.origin;

    if (x->same) {
        return MPI_Iallgather(mine.buffer, mine.count, mine.type, target, x->count[0],
                              x->recv->type, x->comm, &x->request);
    }
    return MPI_Iallgatherv(mine.buffer, mine.count, mine.type, target, x->count, x->displ,
                           x->recv->type, x->comm, &x->request);
}

int exchange_init(exchange_t *x)
{
    contribution_t mine = contribution(x);
    void *target = x->target.memory + x->target.origin;

    if (x->same) {
        return MPI_Allgather_init(mine.buffer, mine.count, mine.type, target, x->count[0],
                                  x->recv->type, x->comm, MPI_INFO_NULL, &x->request);
    }
    return MPI_Allgatherv_init(mine.buffer, mine.count, mine.type, target, x->count, x->displ,
                               x->recv->type, x->comm, MPI_INFO_NULL, &x->request);
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

static bool image_right(const exchange_image_t *image, ptrdiff_t *place)
{
    size_t i = 0;

    if (0 == memcmp(image->memory, image->after, image->length)) {
        return true;
    }
    while (image->memory[i] == image->after[i]) {
        i++;
    }
    *place = (ptrdiff_t) i - image->origin;
    return false;
}

bool exchange_has_data(const exchange_t *x)
{
    bool any = false;

    for (int r = 0; r < x->size; r++) {
        any = any || 0 < x->count[r];
    }
    return any && 0 < x->recv->size;
}

bool exchange_right(exchange_t *x)
{
    ptrdiff_t place;
    size_t k;
    int owner;

    x->fault[0] = '\0';
    if (!x->in_place && !image_right(&x->source, &place)) {
        snprintf(x->fault, sizeof(x->fault), "byte %td of the send buffer was written", place);
        return false;
    }
    if (image_right(&x->target, &place)) {
        return true;
    }
    owner = owner_of(x, place, &k);
    if (NOBODY == owner) {
        snprintf(x->fault, sizeof(x->fault), "byte %td of the receive buffer, no data of %.250s,"
                 " was written", place, x->recv->text);
    } else {
        snprintf(x->fault, sizeof(x->fault), "byte %td of the receive buffer, byte %zu of %zu of"
                 " rank %d's as %d of %.200s, is wrong", place, k,
                 (size_t) x->count[owner] * x->recv->size, owner, x->count[owner], x->recv->text);
    }
    return false;
}
