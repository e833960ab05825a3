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
 * Random types. A tree is grown from the root: a node that stands for n units
 * chooses a constructor and hands a divisor of n (or parts of n) to its
 * children; leaves are units. Some are of a class that trees seldom are.
 */

#include "layout.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define BLOCKS_AT_MOST 6
#define DEPTH_AT_MOST 4

static layout_t *grow(dice_t *dice, int unit, int units, int depth);

/** `blocks` numbers, none negative, whose sum is `total`. */
static void share_out(dice_t *dice, int total, int blocks, int *share)
{
    for (int i = 0; i < blocks; i++) {
        share[i] = blocks - 1 == i ? total : dice_roll(dice, total + 1);
        total -= share[i];
    }
}

/**
 * Places blocks of length[i] children without overlap, in random order with
 * random gaps, at multiples of `step` bytes; the first may stand below zero.
 */
static void place(dice_t *dice, int blocks, const int *length, layout_t *const *child,
                  MPI_Aint step, MPI_Aint *displ)
{
    int order[BLOCKS_AT_MOST];
    ptrdiff_t cursor = dice_between(dice, -40, 40);

    step = labs(step);
    dice_shuffle(dice, order, blocks);
    for (int n = 0; n < blocks; n++) {
        int i = order[n];
        ptrdiff_t low, high;

        layout_span(child[i], (size_t) length[i], &low, &high);
        displ[i] = (cursor - low) / step * step;
        while (displ[i] + low < cursor) {
            displ[i] += step;
        }
        cursor = displ[i] + high + dice_roll(dice, 3) * dice_roll(dice, 20);
    }
}

static layout_t *grow_vector(dice_t *dice, int unit, int units, int depth)
{
    int k = dice_divisor(dice, units), length = dice_divisor(dice, k), count = k / length;
    int stride = length + dice_roll(dice, 4);
    layout_t *child = grow(dice, unit, units / k, depth + 1);
    int step = layout_unit_step(unit);
    ptrdiff_t low, high;

    if (dice_once_in(dice, 4)) {
        stride = -stride;
    }
    if (dice_once_in(dice, 2)) {
        return layout_vector(count, length, stride, child);
    }
    layout_span(child, (size_t) length, &low, &high);
    high += step - 1 + dice_roll(dice, 9);
    step *= stride < 0 ? -1 : 1;
    return layout_hvector(count, length, (high - low) / step * step, child);
}

static layout_t *grow_indexed(dice_t *dice, int unit, int units, int depth)
{
    int k = dice_divisor(dice, units), blocks = dice_between(dice, 1, BLOCKS_AT_MOST);
    int length[BLOCKS_AT_MOST], index[BLOCKS_AT_MOST];
    MPI_Aint displ[BLOCKS_AT_MOST];
    layout_t *child = grow(dice, unit, units / k, depth + 1), *all[BLOCKS_AT_MOST];
    bool even = 0 == k % blocks && dice_once_in(dice, 2);

    for (int i = 0; i < BLOCKS_AT_MOST; i++) {
        all[i] = child;
        length[i] = k / blocks;
    }
    if (!even) {
        share_out(dice, k, blocks, length);
    }
    if (0 == child->extent || dice_once_in(dice, 2)) {
        place(dice, blocks, length, all, layout_unit_step(unit), displ);
        return layout_hindexed(blocks, length, displ, child);
    }
    place(dice, blocks, length, all, child->extent, displ);
    for (int i = 0; i < blocks; i++) {
        index[i] = (int) (displ[i] / child->extent);
    }
    return even ? layout_indexed_block(blocks, length[0], index, child)
                : layout_indexed(blocks, length, index, child);
}

static layout_t *grow_struct(dice_t *dice, int unit, int units, int depth)
{
    int blocks = dice_between(dice, 1, 3), share[3], length[3], n = 0;
    MPI_Aint displ[3];
    layout_t *child[3];

    share_out(dice, units, blocks, share);
    for (int i = 0; i < blocks; i++) {
        if (0 < share[i]) {
            length[n] = dice_divisor(dice, share[i]);
            child[n] = grow(dice, unit, share[i] / length[n], depth + 1);
            n++;
        }
    }
    place(dice, n, length, child, layout_unit_step(unit), displ);
    return layout_struct(n, length, displ, child);
}

static layout_t *grow_resized(dice_t *dice, int unit, int units, int depth)
{
    layout_t *child = grow(dice, unit, units, depth + 1);
    int step = layout_unit_step(unit);
    ptrdiff_t low, high;
    MPI_Aint extent;

    layout_span(child, 1, &low, &high);
    high = low + (high - low + step - 1) / step * step;
    switch (dice_roll(dice, 4)) {
    case 0: /* gaps */
        extent = high - low + step * dice_between(dice, 1, 40);
        break;
    case 1: /* elements from high addresses to low ones */
        extent = low - high - step * dice_roll(dice, 9);
        break;
    case 2: /* elements that interleave, if luck has it */
        extent = (MPI_Aint) layout_unit_size(unit) * dice_between(dice, 1, 3);
        break;
    default:
        extent = high - low;
    }
    return layout_resized(dice_between(dice, -64, 64), extent, child);
}

static layout_t *grow_subarray(dice_t *dice, int unit, int units, int depth)
{
    int k = dice_divisor(dice, units), dimensions = dice_between(dice, 1, 3);
    int size[3], part[3], start[3];
    layout_t *child = grow(dice, unit, units / k, depth + 1);

    for (int d = 0; d < dimensions; d++) {
        part[d] = dimensions - 1 == d ? k : dice_divisor(dice, k);
        k /= part[d];
        size[d] = part[d] + dice_roll(dice, 3);
        start[d] = dice_roll(dice, size[d] - part[d] + 1);
    }
    return layout_subarray(dimensions, size, part, start,
                           dice_once_in(dice, 2) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, child);
}

static layout_t *grow_once(dice_t *dice, int unit, int units, int depth)
{
    int k;

    if (1 == units && (DEPTH_AT_MOST <= depth || dice_once_in(dice, 2))) {
        return layout_unit(unit, dice_roll(dice, 4));
    }
    if (DEPTH_AT_MOST <= depth) {
        return layout_contiguous(units, layout_unit(unit, dice_roll(dice, 4)));
    }
    switch (dice_roll(dice, 8)) {
    case 0:
        k = dice_divisor(dice, units);
        return layout_contiguous(k, grow(dice, unit, units / k, depth + 1));
    case 1:
        return grow_vector(dice, unit, units, depth);
    case 2:
    case 3:
        return grow_indexed(dice, unit, units, depth);
    case 4:
        return grow_struct(dice, unit, units, depth);
    case 5:
        return grow_resized(dice, unit, units, depth);
    case 6:
        return grow_subarray(dice, unit, units, depth);
    default:
        return layout_dup(grow(dice, unit, units, depth + 1));
    }
}

/**
 * A type without gaps whose bytes are not in the order of the signature:
 * Open MPI (5.0.7) takes it for a contiguous one and moves its bytes in memory
 * order, in every call. Nothing to be tested here.
 */
static bool dense_and_shuffled(const layout_t *layout)
{
    ptrdiff_t low, high;

    layout_span(layout, 1, &low, &high);
    return 1 < layout->runs && (ptrdiff_t) layout->size == high - low;
}

static layout_t *grow(dice_t *dice, int unit, int units, int depth)
{
    for (int attempt = 0; attempt < 10; attempt++) {
        layout_t *layout = grow_once(dice, unit, units, depth);

        if (!dense_and_shuffled(layout)) {
            return layout;
        }
        layout_free(layout);
    }
    return layout_contiguous(units, layout_unit(unit, 3));
}

/*
 * Open MPI's own pml/ucx (5.0.7) puts data at the wrong place where a type has it in one piece,
 * that piece not at 0, and a lower bound of 0.
 */
static bool is_misplaced(const layout_t *layout)
{
    const char *pml = getenv("OMPI_MCA_pml");

    if (NULL == pml || 0 != strcmp(pml, "ucx") || 0 == layout->runs || 0 != layout->lb) {
        return false;
    }
    for (size_t i = 1; i < layout->runs; i++) {
        if (layout->run[i].at != layout->run[i - 1].at + (ptrdiff_t) layout->run[i - 1].length) {
            return false;
        }
    }
    return 0 != layout->run[0].at;
}

/** Also from the last column to the first one. */
layout_t *layout_column(dice_t *dice, int unit, int units, int count)
{
    layout_t *cell = layout_unit(unit, dice_roll(dice, 4));
    const MPI_Aint step = cell->extent;
    const bool down = dice_once_in(dice, 3);
    const int columns = (0 < count ? count : 1) + dice_roll(dice, 3);

    return layout_resized(dice_once_in(dice, 3) ? dice_between(dice, -40, 40) : 0,
                          down ? -step : step, layout_hvector(units, 1, columns * step, cell));
}

/* A tree with other bounds, which are no smaller than it is. */
static layout_t *grow_bounds(dice_t *dice, int unit, int units)
{
    layout_t *tree = grow(dice, unit, units, 1);
    const int step = layout_unit_step(unit);
    ptrdiff_t low, high;

    layout_span(tree, 1, &low, &high);
    const MPI_Aint extent = (high - low + step - 1) / step * step + step * dice_roll(dice, 3);
    switch (dice_roll(dice, 3)) {
    case 0:
        return layout_resized(1 + dice_roll(dice, 64), extent, tree);
    case 1:
        return layout_resized(-1 - dice_roll(dice, 64), extent, tree);
    default:
        return layout_resized(0, -extent, tree);
    }
}

static layout_t *grow_any(dice_t *dice, int unit, int units, int count)
{
    switch (dice_roll(dice, 8)) {
    case 0:
        return layout_contiguous(units, layout_unit(unit, 0));
    case 1:
        return layout_column(dice, unit, units, count);
    case 2:
        return grow_bounds(dice, unit, units);
    default:
        return grow(dice, unit, units, 0);
    }
}

layout_t *layout_random(dice_t *dice, int unit, int units, int count)
{
    for (int attempt = 0; attempt < 20; attempt++) {
        layout_t *layout = grow_any(dice, unit, units, count);

        if (!layout_overlaps(layout, 1) && !is_misplaced(layout) && !dense_and_shuffled(layout)) {
            return layout;
        }
        layout_free(layout);
    }
    return layout_contiguous(units, layout_unit(unit, 2));
}
