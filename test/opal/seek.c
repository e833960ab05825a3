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
 * opal_convertor_set_position(): random datatypes, cut into fragments at random
 * bytes, packed and unpacked in random orders, in every mode, give what the type
 * map says; and how many entries of a description that costs.
 */

#include <pthread.h>
#include <string.h>

#include "opal/datatype/opal_convertor_lookahead.h"
#include "tap.h"
#include "types.h"

typedef struct setting_t {
    const char *name;
    int lookahead, checkpoints, stride, units;
} setting_t;

static const setting_t modes[] = {
    {"off", OPAL_DATATYPE_LOOKAHEAD_OFF, 8, 16, 0},
    {"research", OPAL_DATATYPE_LOOKAHEAD_RESEARCH, 8, 16, 0},
    {"dual", OPAL_DATATYPE_LOOKAHEAD_DUAL, 8, 16, 0},
    {"dual, one checkpoint", OPAL_DATATYPE_LOOKAHEAD_DUAL, 1, 0, 0},
    {"dual, checkpoints only", OPAL_DATATYPE_LOOKAHEAD_DUAL, 8, 0, 0},
    {"dual, index only", OPAL_DATATYPE_LOOKAHEAD_DUAL, 0, 16, 0},
    {"dual, index of every entry", OPAL_DATATYPE_LOOKAHEAD_DUAL, 0, 1, 0},
    {"dual, neither", OPAL_DATATYPE_LOOKAHEAD_DUAL, 0, 0, 0},
    {"dual, units", OPAL_DATATYPE_LOOKAHEAD_DUAL, 8, 16, 64},
    {"dual, units only", OPAL_DATATYPE_LOOKAHEAD_DUAL, 0, 0, 64},
};

#define MODES ((int) (sizeof(modes) / sizeof(modes[0])))

static void set_mode(const setting_t *mode)
{
    opal_datatype_lookahead = mode->lookahead;
    opal_datatype_seek_checkpoints = mode->checkpoints;
    opal_datatype_seek_index_stride = mode->stride;
    opal_datatype_units_per_entry = mode->units;
}

/** A message in fragments, and the order in which they arrive. */
typedef struct parts_t {
    size_t count, room;
    size_t *cut; /**< count + 1 */
    size_t *order;
} parts_t;

static void cut_into(parts_t *parts, size_t bytes, size_t count)
{
    *parts = (parts_t){.cut = tap_memory((bytes + 2) * sizeof(size_t)),
                       .order = tap_memory((bytes + 2) * sizeof(size_t))};
    for (size_t at = 0; at < bytes;) {
        const size_t length = 1 + tap_below(2 * bytes / count + 1);

        parts->cut[parts->count] = at;
        parts->order[parts->count] = parts->count;
        parts->count++;
        at = at + length < bytes ? at + length : bytes;
    }
    parts->cut[parts->count] = bytes;
}

static void drop_parts(parts_t *parts)
{
    free(parts->cut);
    free(parts->order);
}

enum { IN_ORDER, SWAPPED, TWO_RAILS, FOUR_RAILS, REVERSE, SHUFFLED, ORDERS };

static const char *const order_names[]
    = {"in order", "swapped", "two rails", "four rails", "reverse", "shuffled"};

static inline void swap(size_t *a, size_t *b)
{
    const size_t c = *a;

    *a = *b;
    *b = c;
}

/* Fragment i goes by rail i % rails; rails are in order, but not among each other. */
static void order_by_rails(parts_t *parts, size_t rails)
{
    size_t next[4] = {0, 1, 2, 3}, rail;

    for (size_t i = 0; i < parts->count; ++i) {
        do {
            rail = tap_below(rails);
        } while (next[rail] >= parts->count);
        parts->order[i] = next[rail];
        next[rail] += rails;
    }
}

static void set_order(parts_t *parts, int order)
{
    const size_t count = parts->count;

    for (size_t i = 0; i < count; ++i) {
        parts->order[i] = REVERSE == order ? count - 1 - i : i;
    }
    for (size_t i = 1; SWAPPED == order && i + 1 < count; i += 2) {
        swap(&parts->order[i], &parts->order[i + 1]);
    }
    for (size_t i = count; SHUFFLED == order && 1 < i; --i) {
        swap(&parts->order[i - 1], &parts->order[tap_below(i)]);
    }
    if (TWO_RAILS == order || FOUR_RAILS == order) {
        order_by_rails(parts, TWO_RAILS == order ? 2 : 4);
    }
}

static void unpack_part(opal_convertor_t *convertor, const unsigned char *packed, size_t from,
                        size_t to)
{
    struct iovec iov = {.iov_base = (void *) (packed + from), .iov_len = to - from};
    uint32_t count = 1;
    size_t bytes = to - from, position = from;

    opal_convertor_set_position(convertor, &position);
    opal_convertor_unpack(convertor, &iov, &count, &bytes);
}

/* All parts in their order; true if memory is as the type map says. */
static bool receive_by(opal_convertor_t *convertor, const layout_t *layout,
                       const parts_t *parts, const unsigned char *packed)
{
    bool right = true;

    memset(layout->memory, 0xa5, layout->size);
    for (size_t i = 0; i < parts->count; ++i) {
        const size_t part = parts->order[i];

        unpack_part(convertor, packed, parts->cut[part], parts->cut[part + 1]);
    }
    for (size_t i = 0; i < layout->bytes; ++i) {
        right &= packed[i] == layout->base[layout->offset[i]];
        layout->base[layout->offset[i]] = 0xa5;
    }
    for (size_t i = 0; i < layout->size; ++i) {
        right &= 0xa5 == layout->memory[i];
    }
    return right;
}

static bool receive(const layout_t *layout, const parts_t *parts, const unsigned char *packed)
{
    opal_convertor_t *convertor = layout_convertor(layout, CONVERTOR_RECV);
    const bool right = receive_by(convertor, layout, parts, packed);

    OBJ_RELEASE(convertor);
    return right;
}

#define BEHIND 100

/* Open MPI 6.0 joins elements of unlike types, and stops at the beginnings of what they become. */
static bool may_stop(const opal_convertor_t *convertor, const layout_t *layout, size_t position)
{
    return 0 != layout->start[position]
           || (6 <= OMPI_MAJOR_VERSION
               && 0 != (convertor->pDesc->flags & OPAL_DATATYPE_OPTIMIZED_RESTRICTED));
}

/* Packs a part; the position may be rounded down, and the end too, to an element. */
static bool send_part(opal_convertor_t *convertor, const layout_t *layout,
                      const unsigned char *expected, size_t from, size_t to, unsigned char *room)
{
    size_t position = from, bytes;
    struct iovec iov = {.iov_base = room};
    uint32_t count = 1;

    opal_convertor_set_position(convertor, &position);
    if (position > from || position + 16 <= from) {
        return false;
    }
    /* behind the last one there is nothing */
    bytes = iov.iov_len = to - position + (to == layout->bytes ? BEHIND : 0);
    opal_convertor_pack(convertor, &iov, &count, &bytes);
    return bytes <= to - position
           && (position + bytes + 16 > to)
           && (position == from || may_stop(convertor, layout, position))
           && 0 == memcmp(room, expected + position, bytes);
}

static bool send_parts(const layout_t *layout, const parts_t *parts, const unsigned char *expected)
{
    opal_convertor_t *convertor = layout_convertor(layout, CONVERTOR_SEND);
    unsigned char *room = tap_memory(layout->bytes + BEHIND);
    bool right = true;

    for (size_t i = 0; i < parts->count; ++i) {
        const size_t part = parts->order[i];

        right &= send_part(convertor, layout, expected, parts->cut[part], parts->cut[part + 1],
                           room);
    }
    OBJ_RELEASE(convertor);
    free(room);
    return right;
}

static unsigned char *gather(const layout_t *layout)
{
    unsigned char *packed = tap_memory(layout->bytes);

    tap_garbage(layout->memory, layout->size);
    for (size_t i = 0; i < layout->bytes; ++i) {
        packed[i] = layout->base[layout->offset[i]];
    }
    return packed;
}

/* What the engine does with a type as a whole is not what is tested here. */
static bool packs_as_mapped(const layout_t *layout, const unsigned char *expected)
{
    parts_t whole = {.count = 1, .cut = (size_t[]){0, layout->bytes}, .order = (size_t[]){0}};

    return send_parts(layout, &whole, expected);
}

static tap_tally_t sending[MODES], receiving[MODES], mapped;

static void try_orders(const layout_t *layout, const setting_t *mode, const unsigned char *packed,
                       int type)
{
    const int m = (int) (mode - modes);
    parts_t parts;

    for (int order = 0; order < ORDERS; ++order) {
        cut_into(&parts, layout->bytes, 1 + tap_below(40));
        set_order(&parts, order);
        tap_try(&sending[m], send_parts(layout, &parts, packed), "type %d, %s", type,
                order_names[order]);
        drop_parts(&parts);
    }
}

static void try_receives(const layout_t *layout, const setting_t *mode, const unsigned char *packed,
                         int type)
{
    const int m = (int) (mode - modes);
    parts_t parts;

    for (int order = 0; order < ORDERS && !layout->overlaps; ++order) {
        cut_into(&parts, layout->bytes, 1 + tap_below(40));
        set_order(&parts, order);
        tap_try(&receiving[m], receive(layout, &parts, packed), "type %d, %s", type,
                order_names[order]);
        drop_parts(&parts);
    }
}

static void try_type(int number)
{
    types_t *type = types_random();
    layout_t layout;
    unsigned char *packed;

    layout_create(&layout, type, 1 + (tap_once_in(2) ? 0 : tap_below(5)));
    packed = gather(&layout);
    set_mode(&modes[0]);
    if (tap_try(&mapped, packs_as_mapped(&layout, packed), "type %d", number)) {
        for (int m = 0; m < MODES; ++m) {
            set_mode(&modes[m]);
            try_orders(&layout, &modes[m], packed, number);
        }
        for (int m = 0; m < MODES; ++m) {
            set_mode(&modes[m]);
            try_receives(&layout, &modes[m], packed, number);
        }
    }
    free(packed);
    layout_destroy(&layout);
    types_free(type);
}

static void test_random(int types)
{
    for (int i = 0; i < types; ++i) {
        try_type(i);
    }
    tally_ok(&mapped, (unsigned long) types, "random types pack as mapped");
    for (int m = 0; m < MODES; ++m) {
        tally_ok(&sending[m], 2000, "%s: packs from any position", modes[m].name);
        tally_ok(&receiving[m], 2000, "%s: unpacks in any order", modes[m].name);
    }
}

/* Entries that seeks of a message see, its fragments in this order. */
static size_t entries_seen(const types_t *type, size_t copies, size_t fragments, int order)
{
    layout_t layout;
    parts_t parts;
    unsigned char *packed;
    const size_t before = type->datatype->seek_seen;
    bool right;

    layout_create(&layout, type, copies);
    packed = gather(&layout);
    cut_into(&parts, layout.bytes, fragments);
    set_order(&parts, order);
    right = receive(&layout, &parts, packed);
    drop_parts(&parts);
    layout_destroy(&layout);
    free(packed);
    return right ? type->datatype->seek_seen - before : SIZE_MAX;
}

static types_t *make(int which)
{
    return 0 == which ? types_irregular(4000) : types_nested_irregular(500, 8);
}

static void test_linear(int which, int order, int copies)
{
    static const char *const names[] = {"irregular blocks", "loop of irregular blocks"};
    const size_t fragments = 600;
    size_t entries, seen;
    types_t *type = make(which);

    entries = type->datatype->opt_desc.used;
    seen = entries_seen(type, (size_t) copies, fragments, order);
    ok(seen <= 3 * entries + fragments * 64, "%s, %d copies, %s: %zu entries seen, of %zu",
       names[which], copies, order_names[order], seen, entries);
    seen = entries_seen(type, (size_t) copies, fragments, order);
    ok(seen <= 3 * entries * (size_t) copies + fragments * 64, "the same again: %zu", seen);
    types_free(type);
}

static void test_cost(void)
{
    set_mode(&modes[2]);
    for (int which = 0; which < 2; ++which) {
        for (int order = 0; order < ORDERS; ++order) {
            test_linear(which, order, 1);
            test_linear(which, order, 3);
        }
    }
}

/* Without an index, checkpoints keep what two rails need. */
static void test_checkpoints(void)
{
    types_t *type = types_irregular(4000);
    const size_t entries = type->datatype->opt_desc.used;
    size_t seen;

    set_mode(&modes[4]);
    seen = entries_seen(type, 1, 600, SWAPPED);
    ok(seen <= entries * 3 / 4, "checkpoints only, swapped: %zu entries seen, of %zu", seen,
       entries);
    seen = entries_seen(type, 1, 600, TWO_RAILS);
    ok(seen <= 20 * entries, "checkpoints only, two rails: %zu", seen);
    is(type->datatype->seek_index, 0, "no index was made");
    types_free(type);
}

/* The convertor moves from one byte to another. */
static size_t seen_between(opal_convertor_t *convertor, size_t from, size_t to)
{
    size_t before;

    opal_convertor_set_position(convertor, &from);
    before = convertor->pDesc->seek_seen;
    opal_convertor_set_position(convertor, &to);
    return convertor->pDesc->seek_seen - before;
}

/* What walks step over at once, and from where they start. */
static void test_walk(void)
{
    types_t *type = types_nested_irregular(100, 1000);
    opal_convertor_t *convertor = opal_convertor_create(opal_local_arch, 0);
    size_t loop = type->bytes / 1000 * 1000, seen;
    const size_t entries = type->datatype->opt_desc.used;

    set_mode(&modes[4]);
    opal_convertor_prepare_for_send(convertor, type->datatype, 1000, NULL);
    seen = seen_between(convertor, loop / 1000 + 24, loop - 24);
    ok(seen <= 2 * entries, "a thousand iterations are one step: %zu entries seen", seen);
    seen = seen_between(convertor, loop, 900 * type->bytes + loop);
    ok(seen <= 2, "900 copies are one step: %zu entries seen", seen);
    seen = seen_between(convertor, loop + 300, 2 * type->bytes + 24);
    ok(seen <= 4, "from the begin of a copy, if it is nearer: %zu entries seen", seen);
    OBJ_RELEASE(convertor);
    types_free(type);
}

static void test_off(void)
{
    types_t *type = types_irregular(4000);

    set_mode(&modes[0]);
    (void) entries_seen(type, 1, 600, REVERSE);
    is(type->datatype->seek_index, 0, "off: no index");
    is(type->datatype->seek_seen, 0, "off: no walk of ours");
    types_free(type);
}

/* ---- positions far behind 2 GiB, without memory there ---- */

static void try_far(tap_tally_t *tally, const layout_t *one, opal_convertor_t *convertor,
                    size_t copies)
{
    const types_t *type = one->type;
    const size_t copy = tap_below(copies), in_copy = tap_below(type->bytes);
    const ptrdiff_t extent = type->datatype->ub - type->datatype->lb;
    size_t position = copy * type->bytes + in_copy, length;
    struct iovec iov[4];
    uint32_t count = 4;
    ptrdiff_t expected;

    opal_convertor_set_position(convertor, &position);
    opal_convertor_raw(convertor, iov, &count, &length);
    expected = one->offset[position - position / type->bytes * type->bytes]
               + (ptrdiff_t) (position / type->bytes) * extent;
    tap_try(tally, 0 != count && (unsigned char *) iov[0].iov_base == one->base + expected,
            "byte %zu of copy %zu", in_copy, copy);
}

static void test_far(const setting_t *mode)
{
    tap_tally_t tally = {0};
    const size_t copies = (size_t) 9 << 30;
    opal_convertor_t *convertor;
    layout_t one;
    types_t *type;

    set_mode(mode);
    for (int i = 0; i < 8; ++i) {
        type = i % 2 ? types_nested_irregular(100, 3) : types_irregular(300);
        layout_create(&one, type, 1);
        convertor = opal_convertor_create(opal_local_arch, 0);
        opal_convertor_prepare_for_send(convertor, type->datatype, copies / type->bytes, one.base);
        for (int j = 0; j < 200; ++j) {
            try_far(&tally, &one, convertor, copies / type->bytes);
        }
        OBJ_RELEASE(convertor);
        layout_destroy(&one);
        types_free(type);
    }
    tally_ok(&tally, 1000, "%s: positions up to 9 GiB", mode->name);
}

/* ---- threads on one datatype ---- */

typedef struct thread_t {
    const types_t *type;
    const unsigned char *packed;
    pthread_barrier_t *barrier;
    layout_t layout;
    parts_t parts;
    bool right;
} thread_t;

static void *run_thread(void *argument)
{
    thread_t *thread = argument;

    pthread_barrier_wait(thread->barrier);
    thread->right = receive(&thread->layout, &thread->parts, thread->packed);
    return NULL;
}

static bool receive_by_threads(const types_t *type)
{
    enum { THREADS = 4 };
    thread_t threads[THREADS];
    pthread_t ids[THREADS];
    pthread_barrier_t barrier;
    unsigned char *packed = NULL;
    bool right = true;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; ++i) {
        layout_create(&threads[i].layout, type, 1);
        if (NULL == packed) {
            packed = gather(&threads[i].layout);
        }
        cut_into(&threads[i].parts, threads[i].layout.bytes, 50);
        set_order(&threads[i].parts, REVERSE);
        threads[i].packed = packed;
        threads[i].barrier = &barrier;
        pthread_create(&ids[i], NULL, run_thread, &threads[i]);
    }
    for (int i = 0; i < THREADS; ++i) {
        pthread_join(ids[i], NULL);
        right &= threads[i].right;
        drop_parts(&threads[i].parts);
        layout_destroy(&threads[i].layout);
    }
    pthread_barrier_destroy(&barrier);
    free(packed);
    return right && 0 != type->datatype->seek_index;
}

static void test_threads(void)
{
    tap_tally_t tally = {0};

    set_mode(&modes[5]);
    for (int i = 0; i < 50; ++i) {
        types_t *type = types_irregular(500);

        tap_try(&tally, receive_by_threads(type), "type %d", i);
        types_free(type);
    }
    tally_ok(&tally, 50, "threads make one index and seek in it");
}

/* Clones of a convertor that stands anywhere, also inside of an element. */
static bool clone_goes_on(const layout_t *layout, const unsigned char *packed, size_t at,
                          bool with_stack)
{
    opal_convertor_t *convertor = layout_convertor(layout, CONVERTOR_RECV), *clone;
    bool right = true;

    memset(layout->memory, 0xa5, layout->size);
    unpack_part(convertor, packed, at / 2, at);
    unpack_part(convertor, packed, 0, at / 2);
    unpack_part(convertor, packed, at / 2, at);
    clone = opal_convertor_create(opal_local_arch, 0);
    clone->partial_length = 3;
    opal_convertor_clone(convertor, clone, with_stack);
    OBJ_RELEASE(convertor);
    unpack_part(clone, packed, at, layout->bytes);
    OBJ_RELEASE(clone);
    for (size_t i = 0; i < layout->bytes; ++i) {
        right &= packed[i] == layout->base[layout->offset[i]];
    }
    return right;
}

static void test_clone(void)
{
    tap_tally_t tally = {0};
    types_t *type = types_irregular(300);
    unsigned char *packed;
    layout_t layout;

    set_mode(&modes[2]);
    layout_create(&layout, type, 1);
    packed = gather(&layout);
    for (size_t at = 2; at < layout.bytes; ++at) {
        tap_try(&tally, clone_goes_on(&layout, packed, at, true), "with stack, at %zu", at);
        tap_try(&tally, clone_goes_on(&layout, packed, at, false), "without, at %zu", at);
    }
    tally_ok(&tally, 1000, "clones of convertors go on by themselves");
    free(packed);
    layout_destroy(&layout);
    types_free(type);
}

static void prepare_again(opal_convertor_t *convertor, const layout_t *layout)
{
    opal_convertor_t *fresh = opal_convertor_create(opal_local_arch, 0);

    opal_convertor_copy_and_prepare_for_recv(fresh, layout->type->datatype, layout->count,
                                             layout->base, 0, convertor);
    OBJ_RELEASE(fresh);
}

/* What a persistent receive does: prepared for each message, cleaned up at the end. */
static void test_prepared_again(void)
{
    tap_tally_t tally = {0};
    types_t *types[2] = {types_irregular(300), types_nested_irregular(60, 4)};
    opal_convertor_t *convertor = opal_convertor_create(opal_local_arch, 0);
    const void *checkpoints = NULL;
    layout_t layouts[2];

    set_mode(&modes[4]);
    for (int i = 0; i < 2; ++i) {
        layout_create(&layouts[i], types[i], 1);
    }
    for (int i = 0; i < 200; ++i) {
        const layout_t *layout = &layouts[tap_below(2)];
        unsigned char *packed = gather(layout);
        parts_t parts;

        prepare_again(convertor, layout);
        cut_into(&parts, layout->bytes, 30);
        set_order(&parts, TWO_RAILS);
        tap_try(&tally, receive_by(convertor, layout, &parts, packed), "message %d", i);
        checkpoints = NULL == checkpoints ? convertor->checkpoints : checkpoints;
        tap_try(&tally, checkpoints == convertor->checkpoints, "memory of message %d", i);
        drop_parts(&parts);
        free(packed);
    }
    ok(NULL != checkpoints, "there are checkpoints");
    tally_ok(&tally, 400, "a convertor prepared again");
    OBJ_RELEASE(convertor);
    for (int i = 0; i < 2; ++i) {
        layout_destroy(&layouts[i]);
        types_free(types[i]);
    }
}

/* A clone has no index of its own yet, and outlives its original. */
static void test_datatype_clone(void)
{
    types_t *type = types_irregular(500), copy;

    set_mode(&modes[5]);
    (void) entries_seen(type, 1, 50, REVERSE);
    ok(0 != type->datatype->seek_index, "the original has an index");
    copy = *type;
    copy.datatype = opal_datatype_create((int32_t) type->datatype->desc.used);
    opal_datatype_clone(type->datatype, copy.datatype);
    is(copy.datatype->seek_index, 0, "its clone has none");
    opal_datatype_destroy(&type->datatype);
    ok(SIZE_MAX != entries_seen(&copy, 1, 50, REVERSE), "the clone unpacks without the original");
    type->datatype = copy.datatype;
    types_free(type);
}

int main(void)
{
    tap_start();
    types_start(tap_random());
    test_random(400);
    test_cost();
    test_checkpoints();
    test_walk();
    test_off();
    for (int m = 0; m < MODES; ++m) {
        test_far(&modes[m]);
    }
    test_threads();
    test_clone();
    test_prepared_again();
    test_datatype_clone();
    types_stop();
    return tap_end();
}
