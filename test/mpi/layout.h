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
 * Layouts: an MPI datatype together with its own list of bytes in the order of
 * the signature. Tests fill and judge memory by these lists and never ask the
 * datatype engine where a byte belongs; of MPI only extents are taken.
 *
 * Types are built over a unit (one basic type, a pair type, a small struct).
 * Two layouts with equal units and equal numbers of them have equal
 * signatures, however different they look in memory.
 *
 * Constructors take the layouts that they are given (and free them).
 */

#ifndef TEST_MPI_LAYOUT_H
#define TEST_MPI_LAYOUT_H

#include "dice.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct layout_run_t {
    ptrdiff_t at; /**< from the address that MPI is given */
    size_t length;
} layout_run_t;

typedef struct layout_t {
    MPI_Datatype type; /**< committed */
    bool basic;        /**< the type is a predefined one, which is never freed */
    MPI_Aint lb;
    MPI_Aint extent;
    size_t size;  /**< bytes of the signature */
    size_t runs;
    size_t room;
    layout_run_t *run;
    char text[240]; /**< what it is, cut if long */
} layout_t;

/** Units: a signature each, and several layouts of it (`variant`, any number). */
enum { LAYOUT_UNITS = 12 };
layout_t *layout_unit(int unit, int variant);
size_t layout_unit_size(int unit);

/**
 * Strides and displacements of a unit must be multiples of this. MPI knows no
 * such rule, but Open MPI's engine (5.0.7) divides the stride of basic elements
 * by their size, and goes on at a wrong place where that leaves a rest and a
 * message ends among such elements (complex numbers: always). 1 for units of
 * unlike parts, which it treats as bytes, and for all where TEST_UNALIGNED is 1.
 */
int layout_unit_step(int unit);

/** MPI_INT, MPI_INT64_T, MPI_FLOAT, MPI_DOUBLE, MPI_2INT or MPI_DOUBLE_INT itself. */
layout_t *layout_basic(MPI_Datatype type);

layout_t *layout_contiguous(int count, layout_t *child);
layout_t *layout_vector(int count, int length, int stride, layout_t *child);
layout_t *layout_hvector(int count, int length, MPI_Aint stride, layout_t *child);
layout_t *layout_indexed(int count, const int *length, const int *displ, layout_t *child);
layout_t *layout_hindexed(int count, const int *length, const MPI_Aint *displ, layout_t *child);
layout_t *layout_indexed_block(int count, int length, const int *displ, layout_t *child);
layout_t *layout_struct(int count, const int *length, const MPI_Aint *displ, layout_t **child);
layout_t *layout_resized(MPI_Aint lb, MPI_Aint extent, layout_t *child);
layout_t *layout_subarray(int dimensions, const int *size, const int *part, const int *start,
                          int order, layout_t *child);
layout_t *layout_dup(layout_t *child);
void layout_free(layout_t *layout);

/** Its type is freed, if it can be, and another one comes in its place, maybe in memory, too. */
void layout_spoil(layout_t *layout);

/** Where `count` elements begin and end, first and last byte of data; 0, 0 without data. */
void layout_span(const layout_t *layout, size_t count, ptrdiff_t *low, ptrdiff_t *high);

/** True if a byte belongs to `count` elements twice. */
bool layout_overlaps(const layout_t *layout, size_t count);

/** What `count` elements are, but for DRAWN_UNLIKE and DRAWN_ABSOLUTE, as a set (drawn.h). */
uint32_t layout_classes(const layout_t *layout, size_t count);

/**
 * A random type of `units` units without overlap; so many elements of one may interleave, but may
 * overlap, too (layout_tree.c).
 */
layout_t *layout_random(dice_t *dice, int unit, int units, int count);

/** A column of at least `count` of a matrix that is stored by rows: elements interleave. */
layout_t *layout_column(dice_t *dice, int unit, int units, int count);

/** A run of the data of the elements of a layout, `at` from their address. */
typedef struct layout_walk_t {
    const layout_t *layout;
    size_t count;
    size_t element;
    size_t run;
} layout_walk_t;

bool layout_walk_next(layout_walk_t *walk, ptrdiff_t *at, size_t *length);

#endif
