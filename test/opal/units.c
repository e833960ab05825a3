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
 * Lists of units: they say what the type map says, who has one, and convertors
 * that go by them are, wherever they stop, as those that do not. That these pack
 * and unpack right in any order is tested with the other ways, in seek.c.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "opal/datatype/opal_convertor_units.h"
#include "tap.h"
#include "types.h"

static const opal_datatype_units_t *use_twice(const opal_datatype_t *datatype, size_t most)
{
    (void) opal_datatype_units_use(datatype, most);
    return opal_datatype_units_use(datatype, most);
}

/* True if each packed byte is where the unit that has it says. */
static bool lists_map(const opal_datatype_units_t *units, const layout_t *layout)
{
    bool right = units->count * units->size == layout->bytes;

    for (size_t i = 0; right && i < layout->bytes; ++i) {
        right = units->disp[i / units->size] + (ptrdiff_t) (i % units->size) == layout->offset[i];
    }
    return right;
}

static void test_lists(int types)
{
    tap_tally_t tally = {0};
    const opal_datatype_units_t *units;

    for (int i = 0; i < types; ++i) {
        types_t *type = types_random();
        layout_t layout;

        layout_create(&layout, type, 1);
        units = use_twice(type->datatype, 64);
        if (NULL != units) {
            tap_try(&tally, lists_map(units, &layout), "type %d, units of %u bytes", i,
                    units->size);
        }
        layout_destroy(&layout);
        types_free(type);
    }
    tally_ok(&tally, (unsigned long) types / 20, "lists are as the type map");
}

/* `blocks` blocks of some elements, at increasing distances. */
static opal_datatype_t *blocks_of(const opal_datatype_t *element, size_t blocks, size_t length,
                                  ptrdiff_t distance)
{
    opal_datatype_t *type = opal_datatype_create((int32_t) (2 * blocks + 100));
    ptrdiff_t disp = 0;

    for (size_t i = 0; i < blocks; ++i) {
        opal_datatype_add(type, element, length, disp, (ptrdiff_t) element->size);
        disp += distance + (ptrdiff_t) (i * i % 7 * element->size);
    }
    opal_datatype_commit(type);
    return type;
}

static void is_unit(opal_datatype_t *type, size_t most, uint32_t expected, const char *name)
{
    const opal_datatype_units_t *units = use_twice(type, most);

    is(NULL == units ? 0 : units->size, expected, "%s", name);
    is(NULL == opal_datatype_units_get(type), 0 == expected, "%s, asked later", name);
    opal_datatype_destroy(&type);
}

static void test_sizes(void)
{
    is_unit(blocks_of(&opal_datatype_int1, 50, 1, 8), 64, 1, "bytes");
    is_unit(blocks_of(&opal_datatype_int1, 50, 6, 8), 64, 2, "6 bytes");
    is_unit(blocks_of(&opal_datatype_int4, 50, 3, 16), 64, 4, "3 times 4 bytes");
    is_unit(blocks_of(&opal_datatype_float8, 50, 1, 16), 64, 8, "doubles");
    is_unit(blocks_of(&opal_datatype_float8, 50, 2, 32), 64, 16, "pairs of doubles");
    is_unit(blocks_of(&opal_datatype_float8, 50, 32, 512), 64, 16, "256 bytes");
    is_unit(blocks_of(&opal_datatype_long_double_complex, 50, 1, 64), 64, 16,
            "elements larger than a unit");
}

static void test_none(void)
{
    is_unit(blocks_of(&opal_datatype_float8, 50, 1, 16), 1, 0, "more units than one for an entry");
    is_unit(blocks_of(&opal_datatype_float8, 50, 1, 16), 3, 8, "no more than three for an entry");
    is_unit(blocks_of(&opal_datatype_float8, 50, 200, 4000), 64, 0, "long blocks");
    is_unit(blocks_of(&opal_datatype_float8, 1, 5, 0), 64, 0, "one block");
    is_unit(blocks_of(&opal_datatype_float8, 50, 1, (ptrdiff_t) 1 << 30), 64, 0, "50 GiB");
    is_unit(blocks_of(&opal_datatype_float8, 50, 1, -((ptrdiff_t) 1 << 30)), 64, 0, "-50 GiB");
}

/* ---- convertors ---- */

/* What a convertor goes by that has no list. */
static convertor_advance_fct_t engine_of(const layout_t *layout, uint32_t direction)
{
    const int before = opal_datatype_lookahead;
    convertor_advance_fct_t engine;
    opal_convertor_t *convertor;

    opal_datatype_lookahead = OPAL_DATATYPE_LOOKAHEAD_OFF;
    convertor = layout_convertor(layout, direction);
    engine = convertor->fAdvance;
    OBJ_RELEASE(convertor);
    opal_datatype_lookahead = before;
    return engine;
}

static void is_prepared(const layout_t *layout, uint32_t direction, bool expected,
                        const char *name)
{
    opal_convertor_t *convertor = layout_convertor(layout, direction);

    is(engine_of(layout, direction) != convertor->fAdvance, expected, "%s", name);
    OBJ_RELEASE(convertor);
}

static void test_prepared(void)
{
    types_t *type = types_irregular(300);
    layout_t layout;

    layout_create(&layout, type, 1);
    is_prepared(&layout, CONVERTOR_SEND, false, "not at the first use");
    is_prepared(&layout, CONVERTOR_RECV, true, "a receiver is the second use");
    is_prepared(&layout, CONVERTOR_SEND, true, "a sender the third");
    opal_datatype_lookahead = OPAL_DATATYPE_LOOKAHEAD_OFF;
    is_prepared(&layout, CONVERTOR_SEND, false, "not if all is off");
    opal_datatype_lookahead = OPAL_DATATYPE_LOOKAHEAD_DUAL;
    opal_datatype_units_per_entry = 0;
    is_prepared(&layout, CONVERTOR_SEND, false, "not if no units are wanted");
    opal_datatype_units_per_entry = 64;
    is_prepared(&layout, CONVERTOR_SEND, true, "and again");
    layout_destroy(&layout);
    types_free(type);
}

static void fill(const layout_t *layout)
{
    for (size_t i = 0; i < layout->bytes; ++i) {
        layout->base[layout->offset[i]] = (unsigned char) (i % 251);
    }
}

/* A call with several fragments; true if it packed, or unpacked, what the type map says. */
static bool advance(opal_convertor_t *convertor, const layout_t *layout, unsigned char *packed)
{
    struct iovec iov[4];
    const uint32_t given = 1 + (uint32_t) tap_below(4);
    uint32_t count = given;
    size_t at = convertor->bConverted, bytes = 0, sum = 0, room;
    bool right = true;

    room = (layout->bytes - at) / (1 + tap_below(3)) + 9;
    for (uint32_t i = 0; i < given; ++i) {
        iov[i].iov_len = 1 + tap_below(room);
        iov[i].iov_base = tap_memory(iov[i].iov_len);
        for (size_t j = 0; j < iov[i].iov_len; ++j) {
            ((unsigned char *) iov[i].iov_base)[j]
                = 0 != (convertor->flags & CONVERTOR_RECV) ? (at + sum + j) % 251 : 0xff;
        }
        sum += iov[i].iov_len;
    }
    (void) (0 != (convertor->flags & CONVERTOR_RECV)
                ? opal_convertor_unpack(convertor, iov, &count, &bytes)
                : opal_convertor_pack(convertor, iov, &count, &bytes));
    sum = 0;
    for (uint32_t i = 0; i < given; ++i) {
        for (size_t j = 0; i < count && j < iov[i].iov_len; ++j, ++sum) {
            packed[at + sum] = ((unsigned char *) iov[i].iov_base)[j];
        }
        free(iov[i].iov_base);
    }
    right = sum == bytes && at + bytes == convertor->bConverted && given >= count;
    right &= (at + bytes == layout->bytes) == (0 != (convertor->flags & CONVERTOR_COMPLETED));
    return right;
}

static bool is_counted(const unsigned char *packed, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i) {
        if (i % 251 != packed[i]) {
            return false;
        }
    }
    return true;
}

/* The rest, segment by segment; opal_convertor_raw() reads the stack that was left. */
static bool goes_on_raw(opal_convertor_t *convertor, const layout_t *layout)
{
    size_t at = convertor->bConverted, bytes;
    struct iovec iov[3];
    uint32_t count;

    while (at < layout->bytes) {
        count = 3;
        bytes = 0;
        opal_convertor_raw(convertor, iov, &count, &bytes);
        for (uint32_t i = 0; i < count; ++i) {
            for (size_t j = 0; j < iov[i].iov_len; ++j, ++at) {
                if (at >= layout->bytes
                    || (unsigned char *) iov[i].iov_base + j != layout->base + layout->offset[at]) {
                    return false;
                }
            }
        }
        if (0 == bytes) {
            return false;
        }
    }
    return true;
}

/* By units up to somewhere, and from there by any other way. */
static bool goes_on(const layout_t *layout, uint32_t direction)
{
    opal_convertor_t *convertor = layout_convertor(layout, direction);
    unsigned char *packed = tap_memory(layout->bytes);
    const int calls = tap_between(1, 4);
    const convertor_advance_fct_t engine = engine_of(layout, direction);
    bool right = engine != convertor->fAdvance;

    fill(layout);
    if (CONVERTOR_RECV == direction) {
        memset(layout->memory, 0xa5, layout->size);
    }
    for (int i = 0; i < calls && 0 == (convertor->flags & CONVERTOR_COMPLETED); ++i) {
        right &= advance(convertor, layout, packed);
    }
    if (CONVERTOR_SEND == direction && tap_once_in(2)) {
        right &= is_counted(packed, convertor->bConverted) && goes_on_raw(convertor, layout);
        goto out;
    }
    convertor->fAdvance = engine;
    while (right && 0 == (convertor->flags & CONVERTOR_COMPLETED)) {
        right = advance(convertor, layout, packed);
    }
    right &= is_counted(packed, layout->bytes);
    for (size_t i = 0; CONVERTOR_RECV == direction && i < layout->bytes; ++i) {
        right &= i % 251 == layout->base[layout->offset[i]];
    }
out:
    OBJ_RELEASE(convertor);
    free(packed);
    return right;
}

static void test_goes_on(int types)
{
    tap_tally_t sends = {0}, receives = {0};

    for (int i = 0; i < types; ++i) {
        types_t *type = types_random();
        layout_t layout;

        layout_create(&layout, type, 1 + tap_below(4));
        if (!layout.overlaps && NULL != use_twice(type->datatype, 64)) {
            for (int j = 0; j < 20; ++j) {
                tap_try(&sends, goes_on(&layout, CONVERTOR_SEND), "type %d", i);
                tap_try(&receives, goes_on(&layout, CONVERTOR_RECV), "type %d", i);
            }
        }
        layout_destroy(&layout);
        types_free(type);
    }
    tally_ok(&sends, (unsigned long) types, "sent by units, then by other ways");
    tally_ok(&receives, (unsigned long) types, "received by units, then without");
}

/* ---- threads ---- */

typedef struct thread_t {
    const opal_datatype_t *datatype;
    pthread_barrier_t *barrier;
    const opal_datatype_units_t *found;
} thread_t;

static void *run_thread(void *argument)
{
    thread_t *thread = argument;

    pthread_barrier_wait(thread->barrier);
    do {
        thread->found = opal_datatype_units_use(thread->datatype, 64);
    } while (NULL == thread->found);
    return NULL;
}

static bool threads_find_one(const opal_datatype_t *datatype)
{
    enum { THREADS = 4 };
    thread_t threads[THREADS];
    pthread_t ids[THREADS];
    pthread_barrier_t barrier;
    bool right = true;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        threads[i] = (thread_t){.datatype = datatype, .barrier = &barrier};
        pthread_create(&ids[i], NULL, run_thread, &threads[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        right &= threads[i].found == opal_datatype_units_get(datatype);
    }
    pthread_barrier_destroy(&barrier);
    return right;
}

static void test_threads(void)
{
    tap_tally_t tally = {0};

    for (int i = 0; i < 200; ++i) {
        types_t *type = types_irregular(200);

        tap_try(&tally, threads_find_one(type->datatype), "type %d", i);
        types_free(type);
    }
    tally_ok(&tally, 200, "threads make one list");
}

/* A clone has none of its own yet, and outlives its original. */
static void test_clone(void)
{
    types_t *type = types_irregular(100);
    opal_datatype_t *copy = opal_datatype_create((int32_t) type->datatype->desc.used);
    const opal_datatype_units_t *units = use_twice(type->datatype, 64);

    opal_datatype_clone(type->datatype, copy);
    ok(NULL == opal_datatype_units_get(copy), "a clone has no list");
    ok(NULL != use_twice(copy, 64) && units != opal_datatype_units_get(copy), "it makes its own");
    types_free(type);
    is(opal_datatype_units_get(copy)->size, 8, "which lives longer");
    opal_datatype_destroy(&copy);
}

int main(void)
{
    tap_start();
    types_start(tap_random());
    opal_datatype_units_per_entry = 64;
    test_lists(2000);
    test_sizes();
    test_none();
    test_prepared();
    test_goes_on(1000);
    test_threads();
    test_clone();
    types_stop();
    return tap_end();
}
