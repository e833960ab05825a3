/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "layout.h"

#include "drawn.h"
#include "tap.h"

#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bytes ---- */

static void add_run(layout_t *layout, ptrdiff_t at, size_t length)
{
    layout_run_t *last = 0 == layout->runs ? NULL : &layout->run[layout->runs - 1];

    if (0 == length) {
        return;
    }
    layout->size += length;
    if (NULL != last && at == last->at + (ptrdiff_t) last->length) {
        last->length += length;
        return;
    }
    if (layout->runs == layout->room) {
        layout->room = 2 * layout->room + 4;
        layout->run = realloc(layout->run, layout->room * sizeof(*layout->run));
        if (NULL == layout->run) {
            tap_bail("no memory for a layout of %zu runs", layout->room);
        }
    }
    layout->run[layout->runs++] = (layout_run_t){at, length};
}

static void add_child(layout_t *layout, ptrdiff_t at, int count, const layout_t *child)
{
    for (int i = 0; i < count; i++) {
        for (size_t k = 0; k < child->runs; k++) {
            add_run(layout, at + i * child->extent + child->run[k].at, child->run[k].length);
        }
    }
}

static layout_t *begin(void)
{
    layout_t *layout = tap_memory(sizeof(*layout));

    memset(layout, 0, sizeof(*layout));
    layout->type = MPI_DATATYPE_NULL;
    return layout;
}

static layout_t *finish(layout_t *layout, const char *format, ...)
{
    int size;
    va_list values;

    TAP_MPI(MPI_Type_commit(&layout->type));
    (void) MPI_Type_c2f(layout->type); /* a number, by which fuzz.c finds out that it is gone */
    MPI_Type_get_extent(layout->type, &layout->lb, &layout->extent);
    MPI_Type_size(layout->type, &size);
    va_start(values, format);
    vsnprintf(layout->text, sizeof(layout->text), format, values);
    va_end(values);
    if ((size_t) size != layout->size) {
        tap_bail("%s has %zu bytes, MPI says %d", layout->text, layout->size, size);
    }
    return layout;
}

void layout_free(layout_t *layout)
{
    if (NULL != layout) {
        if (!layout->basic) {
            MPI_Type_free(&layout->type);
        }
        free(layout->run);
        free(layout);
    }
}

void layout_spoil(layout_t *layout)
{
    if (NULL != layout && !layout->basic) {
        MPI_Type_free(&layout->type);
        MPI_Type_vector(2, 1, 5, MPI_CHAR, &layout->type);
        MPI_Type_commit(&layout->type);
    }
}

void layout_span(const layout_t *layout, size_t count, ptrdiff_t *low, ptrdiff_t *high)
{
    ptrdiff_t last = 0 == count ? 0 : (ptrdiff_t) (count - 1) * layout->extent;

    *low = *high = 0;
    for (size_t k = 0; 0 != count && k < layout->runs; k++) {
        ptrdiff_t at = layout->run[k].at, end = at + (ptrdiff_t) layout->run[k].length;

        *low = 0 == k || at < *low ? at : *low;
        *high = 0 == k || end > *high ? end : *high;
    }
    *low += last < 0 ? last : 0;
    *high += last > 0 ? last : 0;
}

uint32_t layout_classes(const layout_t *layout, size_t count)
{
    ptrdiff_t low, high;
    uint32_t classes = 0;

    layout_span(layout, 1, &low, &high);
    if (0 == layout->size) {
        return DRAWN(DRAWN_NOTHING);
    }
    if (1 == layout->runs && 0 == low && 0 == layout->lb && layout->extent == high) {
        return DRAWN(DRAWN_CONTIGUOUS);
    }
    if ((ptrdiff_t) layout->size < high - low || labs(layout->extent) > high - low) {
        classes |= DRAWN(DRAWN_GAPS);
    }
    if (1 < count && labs(layout->extent) < high - low) {
        classes |= DRAWN(DRAWN_INTERLEAVED);
    }
    classes |= 0 < layout->lb ? DRAWN(DRAWN_BOUND) : 0;
    classes |= 0 > layout->lb ? DRAWN(DRAWN_NEGATIVE_BOUND) : 0;
    return classes | (0 > layout->extent ? DRAWN(DRAWN_NEGATIVE_EXTENT) : 0);
}

static int by_place(const void *a, const void *b)
{
    const layout_run_t *left = a, *right = b;

    return (left->at > right->at) - (left->at < right->at);
}

bool layout_overlaps(const layout_t *layout, size_t count)
{
    size_t runs = count * layout->runs, n = 0;
    ptrdiff_t low, high, at;
    size_t length;
    layout_walk_t walk = {layout, count, 0, 0};
    layout_run_t *run;
    bool overlaps = false;

    layout_span(layout, 1, &low, &high);
    if (1 == layout->runs && labs(layout->extent) >= high - low) {
        return false;
    }
    run = tap_memory(runs * sizeof(*run));
    while (layout_walk_next(&walk, &at, &length)) {
        run[n++] = (layout_run_t){at, length};
    }
    qsort(run, n, sizeof(*run), by_place);
    for (size_t k = 1; k < n; k++) {
        overlaps |= run[k].at < run[k - 1].at + (ptrdiff_t) run[k - 1].length;
    }
    free(run);
    return overlaps;
}

bool layout_walk_next(layout_walk_t *walk, ptrdiff_t *at, size_t *length)
{
    const layout_t *layout = walk->layout;

    if (0 == layout->runs || walk->element == walk->count) {
        return false;
    }
    *at = (ptrdiff_t) walk->element * layout->extent + layout->run[walk->run].at;
    *length = layout->run[walk->run].length;
    if (++walk->run == layout->runs) {
        walk->run = 0;
        walk->element++;
    }
    return true;
}

/* ---- units ---- */

#define PARTS_AT_MOST 3

static const struct {
    const char *name;
    int parts;
    struct {
        MPI_Datatype type;
        int size;
    } part[PARTS_AT_MOST];
    MPI_Datatype pair; /**< the pair type of this signature, if there is one */
} units[LAYOUT_UNITS] = {
    {"byte", 1, {{MPI_BYTE, 1}}, MPI_DATATYPE_NULL},
    {"char", 1, {{MPI_CHAR, 1}}, MPI_DATATYPE_NULL},
    {"short", 1, {{MPI_SHORT, 2}}, MPI_DATATYPE_NULL},
    {"int", 1, {{MPI_INT, 4}}, MPI_DATATYPE_NULL},
    {"double", 1, {{MPI_DOUBLE, 8}}, MPI_DATATYPE_NULL},
    {"complex", 1, {{MPI_C_DOUBLE_COMPLEX, 16}}, MPI_DATATYPE_NULL},
    {"long", 1, {{MPI_LONG, 8}}, MPI_DATATYPE_NULL},
    {"double, int", 2, {{MPI_DOUBLE, 8}, {MPI_INT, 4}}, MPI_DOUBLE_INT},
    {"short, int", 2, {{MPI_SHORT, 2}, {MPI_INT, 4}}, MPI_SHORT_INT},
    {"int, int", 2, {{MPI_INT, 4}, {MPI_INT, 4}}, MPI_2INT},
    {"char, double, int", 3, {{MPI_CHAR, 1}, {MPI_DOUBLE, 8}, {MPI_INT, 4}}, MPI_DATATYPE_NULL},
    {"short, char", 2, {{MPI_SHORT, 2}, {MPI_CHAR, 1}}, MPI_DATATYPE_NULL},
};

size_t layout_unit_size(int unit)
{
    size_t size = 0;

    for (int i = 0; i < units[unit].parts; i++) {
        size += (size_t) units[unit].part[i].size;
    }
    return size;
}

int layout_unit_step(int unit)
{
    int step = 0 != tap_number("TEST_UNALIGNED", 0) ? 1 : units[unit].part[0].size;

    for (int i = 1; i < units[unit].parts; i++) {
        step = step == units[unit].part[i].size ? step : 1;
    }
    return step;
}

/** Parts of natural alignment, in order (as the compiler and the pair types lay them). */
static layout_t *unit_natural(int unit, bool pair)
{
    layout_t *layout = begin();
    MPI_Datatype type[PARTS_AT_MOST];
    MPI_Aint displ[PARTS_AT_MOST], at = 0;
    int one[PARTS_AT_MOST] = {1, 1, 1};

    for (int i = 0; i < units[unit].parts; i++) {
        int size = units[unit].part[i].size;

        at = (at + size - 1) / size * size;
        displ[i] = at;
        type[i] = units[unit].part[i].type;
        add_run(layout, at, (size_t) size);
        at += size;
    }
    if (1 == units[unit].parts) {
        MPI_Type_dup(type[0], &layout->type);
    } else if (pair) {
        MPI_Type_dup(units[unit].pair, &layout->type);
    } else {
        MPI_Type_create_struct(units[unit].parts, one, displ, type, &layout->type);
    }
    return finish(layout, "%s%s", pair ? "pair " : "", units[unit].name);
}

/** Parts without padding, or one behind the other from the last to the first. */
static layout_t *unit_packed(int unit, bool reversed)
{
    layout_t *layout = begin();
    MPI_Datatype type[PARTS_AT_MOST];
    MPI_Aint displ[PARTS_AT_MOST], at = 0;
    int one[PARTS_AT_MOST] = {1, 1, 1};

    for (int n = 0; n < units[unit].parts; n++) {
        int i = reversed ? units[unit].parts - 1 - n : n;

        displ[i] = at;
        type[i] = units[unit].part[i].type;
        at += units[unit].part[i].size;
    }
    for (int i = 0; i < units[unit].parts; i++) {
        add_run(layout, displ[i], (size_t) units[unit].part[i].size);
    }
    MPI_Type_create_struct(units[unit].parts, one, displ, type, &layout->type);
    return finish(layout, "%s{%s}", reversed ? "reversed" : "packed", units[unit].name);
}

layout_t *layout_unit(int unit, int variant)
{
    if (1 == units[unit].parts) {
        return unit_natural(unit, false);
    }
    switch (variant % 4) {
    case 0:
        return unit_natural(unit, false);
    case 1:
        return unit_natural(unit, MPI_DATATYPE_NULL != units[unit].pair);
    default:
        return unit_packed(unit, 2 == variant % 4);
    }
}

layout_t *layout_basic(MPI_Datatype type)
{
    layout_t *layout = begin();
    int size, length;

    MPI_Type_size(type, &size);
    MPI_Type_get_name(type, layout->text, &length);
    layout->type = type;
    layout->basic = true;
    add_run(layout, 0, (size_t) size); /* what pads MPI_DOUBLE_INT is behind its parts */
    MPI_Type_get_extent(type, &layout->lb, &layout->extent);
    return layout;
}

/* ---- constructors ---- */

layout_t *layout_contiguous(int count, layout_t *child)
{
    layout_t *layout = begin();

    add_child(layout, 0, count, child);
    MPI_Type_contiguous(count, child->type, &layout->type);
    finish(layout, "contiguous(%d, %.180s)", count, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_vector(int count, int length, int stride, layout_t *child)
{
    layout_t *layout = begin();

    for (int i = 0; i < count; i++) {
        add_child(layout, (ptrdiff_t) i * stride * child->extent, length, child);
    }
    MPI_Type_vector(count, length, stride, child->type, &layout->type);
    finish(layout, "vector(%d, %d, %d, %.180s)", count, length, stride, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_hvector(int count, int length, MPI_Aint stride, layout_t *child)
{
    layout_t *layout = begin();

    for (int i = 0; i < count; i++) {
        add_child(layout, i * stride, length, child);
    }
    MPI_Type_create_hvector(count, length, stride, child->type, &layout->type);
    finish(layout, "hvector(%d, %d, %ld, %.180s)", count, length, (long) stride, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_indexed(int count, const int *length, const int *displ, layout_t *child)
{
    layout_t *layout = begin();

    for (int i = 0; i < count; i++) {
        add_child(layout, displ[i] * child->extent, length[i], child);
    }
    MPI_Type_indexed(count, length, displ, child->type, &layout->type);
    finish(layout, "indexed(%d, %.180s)", count, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_hindexed(int count, const int *length, const MPI_Aint *displ, layout_t *child)
{
    layout_t *layout = begin();

    for (int i = 0; i < count; i++) {
        add_child(layout, displ[i], length[i], child);
    }
    MPI_Type_create_hindexed(count, length, displ, child->type, &layout->type);
    finish(layout, "hindexed(%d, %.180s)", count, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_indexed_block(int count, int length, const int *displ, layout_t *child)
{
    layout_t *layout = begin();

    for (int i = 0; i < count; i++) {
        add_child(layout, displ[i] * child->extent, length, child);
    }
    MPI_Type_create_indexed_block(count, length, displ, child->type, &layout->type);
    finish(layout, "indexed_block(%d, %d, %.180s)", count, length, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_struct(int count, const int *length, const MPI_Aint *displ, layout_t **child)
{
    layout_t *layout = begin();
    MPI_Datatype *type = tap_memory((size_t) count * sizeof(*type));

    for (int i = 0; i < count; i++) {
        add_child(layout, displ[i], length[i], child[i]);
        type[i] = child[i]->type;
    }
    MPI_Type_create_struct(count, length, displ, type, &layout->type);
    finish(layout, "struct(%d, %.100s, %.100s)", count, 0 < count ? child[0]->text : "",
           1 < count ? child[1]->text : "");
    for (int i = 0; i < count; i++) {
        layout_free(child[i]);
    }
    free(type);
    return layout;
}

layout_t *layout_resized(MPI_Aint lb, MPI_Aint extent, layout_t *child)
{
    layout_t *layout = begin();

    add_child(layout, 0, 1, child);
    MPI_Type_create_resized(child->type, lb, extent, &layout->type);
    finish(layout, "resized(%ld, %ld, %.180s)", (long) lb, (long) extent, child->text);
    layout_free(child);
    return layout;
}

layout_t *layout_dup(layout_t *child)
{
    layout_t *layout = begin();

    add_child(layout, 0, 1, child);
    MPI_Type_dup(child->type, &layout->type);
    finish(layout, "dup(%.180s)", child->text);
    layout_free(child);
    return layout;
}

/** The next cell of a part of an array, the first index fastest (after `fastest` has put it so). */
static bool next_cell(int dimensions, const int *part, int *cell)
{
    for (int d = 0; d < dimensions; d++) {
        if (++cell[d] < part[d]) {
            return true;
        }
        cell[d] = 0;
    }
    return false;
}

layout_t *layout_subarray(int dimensions, const int *size, const int *part, const int *start,
                          int order, layout_t *child)
{
    layout_t *layout = begin();
    int fast_part[4], cell[4] = {0};

    for (int d = 0; d < dimensions; d++) {
        fast_part[d] = part[MPI_ORDER_C == order ? dimensions - 1 - d : d];
    }
    do {
        ptrdiff_t at = 0;

        for (int d = dimensions - 1; 0 <= d; d--) {
            int from = MPI_ORDER_C == order ? dimensions - 1 - d : d;

            at = at * size[from] + start[from] + cell[d];
        }
        add_child(layout, at * child->extent, 1, child);
    } while (next_cell(dimensions, fast_part, cell));
    MPI_Type_create_subarray(dimensions, size, part, start, order, child->type, &layout->type);
    finish(layout, "subarray(%d, %.180s)", dimensions, child->text);
    layout_free(child);
    return layout;
}
