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
 * types.h: random datatypes, by opal_datatype_add() as MPI's constructors use
 * it, and their type maps.
 */

#include "types.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define MANY 4096 /* entries of any random type */

/* opal/runtime/opal.h wants headers that are not installed. */
extern int opal_init(int *count, char ***arguments);
extern int opal_finalize(void);

static const opal_datatype_t *const leaves[]
    = {&opal_datatype_int1, &opal_datatype_int2, &opal_datatype_int4, &opal_datatype_int8,
       &opal_datatype_float8, &opal_datatype_double_complex};

/* With room for the whole description, as MPI's constructors make it. */
static types_t *new_type(size_t entries)
{
    types_t *type = tap_memory(sizeof(*type));

    *type = (types_t){.datatype = opal_datatype_create((int32_t) entries),
                      .low = PTRDIFF_MAX,
                      .high = PTRDIFF_MIN};
    return type;
}

void types_free(types_t *type)
{
    opal_datatype_destroy(&type->datatype);
    free(type->map);
    free(type);
}

static void map_element(types_t *type, ptrdiff_t disp, size_t size)
{
    if (type->elements == type->room) {
        type->room = 2 * type->room + 16;
        type->map = realloc(type->map, type->room * sizeof(type->map[0]));
    }
    type->map[type->elements++] = (types_element_t){.disp = disp, .size = size};
    type->bytes += size;
    type->low = disp < type->low ? disp : type->low;
    type->high = disp + (ptrdiff_t) size > type->high ? disp + (ptrdiff_t) size : type->high;
}

static void add_leaf(types_t *type, const opal_datatype_t *leaf, size_t count, ptrdiff_t disp,
                     ptrdiff_t extent)
{
    opal_datatype_add(type->datatype, leaf, count, disp, extent);
    for (size_t i = 0; i < count; ++i) {
        map_element(type, disp + (ptrdiff_t) i * extent, leaf->size);
    }
}

static void add(types_t *type, const types_t *inner, size_t count, ptrdiff_t disp,
                ptrdiff_t extent)
{
    opal_datatype_add(type->datatype, inner->datatype, count, disp, extent);
    for (size_t i = 0; i < count; ++i) {
        for (size_t j = 0; j < inner->elements; ++j) {
            map_element(type, disp + (ptrdiff_t) i * extent + inner->map[j].disp,
                        inner->map[j].size);
        }
    }
}

static inline ptrdiff_t span(const types_t *type)
{
    return type->high - type->low;
}

/* Something that is no special value of opal_datatype_add. */
static ptrdiff_t stride_for(ptrdiff_t least)
{
    ptrdiff_t stride = least + (tap_once_in(3) ? 0 : tap_between(0, 40));

    if (tap_once_in(3)) {
        stride = -stride;
    }
    if (tap_once_in(12)) {
        stride = tap_between(0, 9); /* copies overlap */
    }
    return -1 == stride ? -2 : stride;
}

static types_t *random_tree(int depth);

/* A vector, of blocks of a smaller type or of a leaf. */
static types_t *random_vector(int depth)
{
    types_t *type = new_type(MANY), *block = new_type(MANY);
    const size_t count = tap_once_in(8) ? 0 : (size_t) tap_between(1, 5);

    if (0 == depth || tap_once_in(2)) {
        const opal_datatype_t *leaf = leaves[tap_below(6)];

        add_leaf(block, leaf, 1 + tap_below(5), tap_between(-20, 20), (ptrdiff_t) leaf->size);
    } else {
        types_t *inner = random_tree(depth - 1);

        add(block, inner, 1 + tap_below(3), tap_between(-50, 50), stride_for(span(inner)));
        types_free(inner);
    }
    add(type, block, count, tap_between(-9, 9), stride_for(span(block)));
    if (0 == type->elements) {
        add(type, block, 1, 0, span(block) + 3);
    }
    types_free(block);
    return type;
}

/* Members one behind the other in memory, or one before the other, or anywhere. */
static types_t *random_struct(int depth)
{
    types_t *type = new_type(MANY), *inner;
    ptrdiff_t place = tap_between(-100, 100), size, disp;
    const int members = tap_between(1, 4), how = (int) tap_below(10);

    for (int i = 0; i < members; ++i) {
        inner = random_tree(depth - 1);
        size = span(inner) + tap_between(0, 30);
        place = 0 == how ? tap_between(-500, 500) : place;
        disp = (1 < how && 5 > how ? place -= size : place) - inner->low;
        add(type, inner, 1, disp, span(inner) + 2);
        place += 5 <= how ? size : 0;
        types_free(inner);
    }
    return type;
}

static void add_block(types_t *type, ptrdiff_t *place, size_t doubles, ptrdiff_t gap)
{
    add_leaf(type, &opal_datatype_float8, doubles, *place, 8);
    *place += (ptrdiff_t) (8 * doubles) + gap;
}

types_t *types_irregular(size_t blocks)
{
    types_t *type = new_type(2 * blocks + 100);
    ptrdiff_t place = 0;

    for (size_t i = 0; i < blocks; ++i) {
        add_block(type, &place, 1 + (i * i + i / 7) % 3, 8 * (ptrdiff_t) (1 + (i * 11) % 5));
    }
    opal_datatype_commit(type->datatype);
    return type;
}

types_t *types_blocks(size_t blocks, size_t least, size_t most, size_t gap)
{
    types_t *type = new_type(2 * blocks + 100);
    ptrdiff_t place = 0;

    for (size_t i = 0; i < blocks; ++i) {
        size_t size = least + tap_below(most - least + 1);

        add_leaf(type, &opal_datatype_int1, size, place, 1);
        place += (ptrdiff_t) (size + 1 + tap_below(gap));
    }
    opal_datatype_commit(type->datatype);
    return type;
}

types_t *types_nested_irregular(size_t blocks, int times)
{
    types_t *inner = types_irregular(blocks), *type = new_type(2 * blocks + 100);
    ptrdiff_t place;

    add(type, inner, (size_t) times, 16, span(inner) + 24);
    place = type->high + 32;
    for (int i = 0; i < 40; ++i) {
        add_block(type, &place, 1 + (size_t) (i * i % 3), 8 + 8 * (i % 4));
    }
    types_free(inner);
    opal_datatype_commit(type->datatype);
    return type;
}

static types_t *random_blocks(void)
{
    types_t *type = new_type(MANY);
    const int blocks = tap_once_in(2) ? tap_between(2, 12) : tap_between(20, 150);
    ptrdiff_t place = tap_between(-300, 300);
    const bool back = tap_once_in(4);

    for (int i = 0; i < blocks; ++i) {
        const opal_datatype_t *leaf = leaves[tap_once_in(2) ? 2 : tap_below(6)];
        const size_t count = tap_once_in(9) ? 0 : 1 + tap_below(3);
        const ptrdiff_t size = (ptrdiff_t) (count * leaf->size) + tap_between(0, 11);

        place -= back ? size : 0;
        add_leaf(type, leaf, count, place, (ptrdiff_t) leaf->size);
        place += back ? 0 : size;
    }
    if (0 == type->elements) {
        add_leaf(type, leaves[3], 2, 4, 8);
    }
    return type;
}

/* A smaller type with other bounds. */
static types_t *random_resized(int depth)
{
    types_t *type = new_type(MANY), *inner = random_tree(depth - 1);
    const ptrdiff_t lb = inner->low + tap_between(-9, 5);

    add(type, inner, 1, 0, span(inner) + 2);
    opal_datatype_resize(type->datatype, lb, span(inner) + tap_between(0, 20));
    types_free(inner);
    return type;
}

static types_t *random_tree(int depth)
{
    if (0 >= depth) {
        return tap_once_in(2) ? random_blocks() : random_vector(0);
    }
    switch (tap_below(7)) {
    case 0: return random_blocks();
    case 1: return random_resized(depth);
    case 2:
    case 3: return random_struct(depth);
    default: return random_vector(depth);
    }
}

/* One block, with a gap when there are several. */
static types_t *random_padded(void)
{
    types_t *type = new_type(MANY);
    const opal_datatype_t *leaf = leaves[tap_below(6)];
    const size_t count = 1 + tap_below(30);

    add_leaf(type, leaf, count, tap_between(-40, 40), (ptrdiff_t) leaf->size);
    opal_datatype_resize(type->datatype, type->low - tap_between(0, 9),
                         span(type) + 9 + tap_between(0, 20));
    opal_datatype_commit(type->datatype);
    return type;
}

/* Loops of loops, each with a tail so that they stay loops. */
static types_t *random_deep(void)
{
    types_t *inner = random_blocks(), *type;
    const int depth = tap_between(5, 8);

    for (int i = 0; i < depth; ++i) {
        type = new_type(MANY);
        add(type, inner, i < 4 ? 3 : 1 + tap_below(2), tap_between(-30, 30), span(inner) + 9);
        add_leaf(type, &opal_datatype_int4, 1, type->high + 5, 4);
        types_free(inner);
        inner = type;
    }
    opal_datatype_commit(inner->datatype);
    return inner;
}

types_t *types_random(void)
{
    types_t *type;

    if (tap_once_in(10)) {
        return random_padded();
    }
    if (tap_once_in(20)) {
        return random_deep();
    }
    type = random_tree(tap_between(0, tap_once_in(6) ? 9 : 4));

    while (12000 < type->bytes || 200000 < span(type)) {
        types_free(type);
        type = random_tree(tap_between(0, 4));
    }
    if (!tap_once_in(3)) {
        opal_datatype_resize(type->datatype, type->low, span(type) + tap_between(0, 20));
    }
    opal_datatype_commit(type->datatype);
    return type;
}

static void set_offsets(layout_t *layout)
{
    const types_t *type = layout->type;
    const ptrdiff_t extent = type->datatype->ub - type->datatype->lb;
    size_t at = 0;

    for (size_t copy = 0; copy < layout->count; ++copy) {
        for (size_t i = 0; i < type->elements; ++i) {
            for (size_t byte = 0; byte < type->map[i].size; ++byte, ++at) {
                layout->offset[at] = (ptrdiff_t) copy * extent + type->map[i].disp
                                     + (ptrdiff_t) byte;
                layout->start[at] = 0 == byte;
            }
        }
    }
}

static void find_overlaps(layout_t *layout)
{
    memset(layout->memory, 0, layout->size);
    layout->overlaps = false;
    for (size_t i = 0; i < layout->bytes; ++i) {
        layout->overlaps |= 0 != layout->base[layout->offset[i]];
        layout->base[layout->offset[i]] = 1;
    }
}

void layout_create(layout_t *layout, const types_t *type, size_t count)
{
    ptrdiff_t low = 0, high = 0;

    *layout = (layout_t){.type = type, .count = count, .bytes = count * type->bytes};
    layout->offset = tap_memory(layout->bytes * sizeof(layout->offset[0]));
    layout->start = tap_memory(layout->bytes);
    set_offsets(layout);
    for (size_t i = 0; i < layout->bytes; ++i) {
        low = layout->offset[i] < low ? layout->offset[i] : low;
        high = layout->offset[i] >= high ? layout->offset[i] + 1 : high;
    }
    /* aligned as the base would be */
    low -= 64 + (low % 16 + 16) % 16;
    layout->size = (size_t) (high - low) + 64;
    layout->memory = tap_memory(layout->size);
    layout->base = layout->memory - low;
    find_overlaps(layout);
}

void layout_destroy(layout_t *layout)
{
    free(layout->offset);
    free(layout->start);
    free(layout->memory);
}

opal_convertor_t *layout_convertor(const layout_t *layout, uint32_t direction)
{
    opal_convertor_t *convertor = opal_convertor_create(opal_local_arch, 0);

    if (CONVERTOR_SEND == direction) {
        opal_convertor_prepare_for_send(convertor, layout->type->datatype, layout->count,
                                        layout->base);
    } else {
        opal_convertor_prepare_for_recv(convertor, layout->type->datatype, layout->count,
                                        layout->base);
    }
    return convertor;
}

void types_start(uint64_t seed)
{
    tap_state = seed; /* this file has a generator of its own */
    if (0 > opal_init(NULL, NULL)) {
        printf("Bail out! opal_init failed\n");
        exit(EXIT_FAILURE);
    }
}

void types_stop(void)
{
    opal_finalize();
}
