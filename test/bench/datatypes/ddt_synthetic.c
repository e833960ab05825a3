/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Layouts that show one property each, or the paper's. */

#include "ddt.h"

#include <stdlib.h>

#define DOUBLE ((ptrdiff_t) sizeof(double))
#define DENSE_TOTAL (8u << 20)
#define DENSE_GAP 64 /* bytes */
#define REGION 4096  /* doubles of a region of the mixed layout */

/* The paper's transpose: a matrix whose elements are 3 doubles, column by column. */
static bool make_transpose(ddt_layout_t *layout, size_t size)
{
    const ptrdiff_t n = (ptrdiff_t) size, element = 3 * DOUBLE;
    MPI_Datatype column;

    if (2 > size || 4096 < size) {
        return false;
    }
    MPI_Type_vector((int) n, 3, 3 * (int) n, MPI_DOUBLE, &column);
    MPI_Type_create_hvector((int) n, 1, element, column, &layout->type);
    MPI_Type_free(&column);
    ddt_add_box(layout, 0, (size_t) element, (size_t[DDT_DIMS]){0, 0, size, size},
                (ptrdiff_t[DDT_DIMS]){0, 0, element, n * element});
    layout->span = layout->bytes;
    return true;
}

static bool make_lists(ddt_layout_t *layout, size_t blocks)
{
    layout->displs = malloc(blocks * sizeof(int));
    layout->lengths = malloc(blocks * sizeof(int));
    return NULL != layout->displs && NULL != layout->lengths;
}

/* Blocks of 1 to 3 doubles, with gaps of 1 to 3, as long as there is room for `doubles`
 * of data. Returns how many blocks; `at` goes on in memory. */
static size_t sprinkle(int *displs, int *lengths, size_t doubles, int *at, uint32_t *state)
{
    size_t blocks = 0;

    while (0 < doubles) {
        int length = 1 + (int) (ddt_random(state) % 3);
        length = (size_t) length > doubles ? (int) doubles : length;
        displs[blocks] = *at;
        lengths[blocks++] = length;
        doubles -= (size_t) length;
        *at += length + 1 + (int) (ddt_random(state) % 3);
    }
    return blocks;
}

static void finish_lists(ddt_layout_t *layout, size_t blocks, int end)
{
    MPI_Type_indexed((int) blocks, layout->lengths, layout->displs, MPI_DOUBLE, &layout->type);
    ddt_add_list(layout, 0, sizeof(double), layout->displs, layout->lengths, 0, blocks);
    layout->span = (size_t) end * sizeof(double);
}

static bool make_indexed(ddt_layout_t *layout, size_t size)
{
    uint32_t state = 1;
    size_t blocks;
    int at = 0;

    if (8 > size || !make_lists(layout, size / 8)) {
        return false;
    }
    blocks = sprinkle(layout->displs, layout->lengths, size / 8, &at, &state);
    finish_lists(layout, blocks, at);
    return true;
}

/* Dense regions, one block each, in turn with sparse ones of as much data. */
static bool make_mixed(ddt_layout_t *layout, size_t size)
{
    const size_t regions = size / (REGION * sizeof(double));
    uint32_t state = 1;
    size_t blocks = 0;
    int at = 0;

    if (0 == regions || !make_lists(layout, size / 8)) {
        return false;
    }
    for (size_t i = 0; i < regions; ++i) {
        if (0 == i % 2) {
            layout->displs[blocks] = at;
            layout->lengths[blocks++] = REGION;
            at += REGION + 1;
        } else {
            blocks += sprinkle(layout->displs + blocks, layout->lengths + blocks, REGION, &at,
                               &state);
        }
    }
    finish_lists(layout, blocks, at);
    return true;
}

/* Blocks of `size` bytes, 8 MiB of them, with small gaps. */
static bool make_dense(ddt_layout_t *layout, size_t size)
{
    const size_t blocks = 0 == size ? 0 : DENSE_TOTAL / size;

    if (0 != size % sizeof(double) || 2 > blocks) {
        return false;
    }
    MPI_Type_vector((int) blocks, (int) (size / sizeof(double)),
                    (int) ((size + DENSE_GAP) / sizeof(double)), MPI_DOUBLE, &layout->type);
    ddt_add_box(layout, 0, size, (size_t[DDT_DIMS]){0, 0, 0, blocks},
                (ptrdiff_t[DDT_DIMS]){0, 0, 0, (ptrdiff_t) size + DENSE_GAP});
    layout->span = blocks * (size + DENSE_GAP);
    return true;
}

static bool make_contiguous(ddt_layout_t *layout, size_t size)
{
    if (0 == size || 0 != size % sizeof(double)) {
        return false;
    }
    MPI_Type_contiguous((int) (size / sizeof(double)), MPI_DOUBLE, &layout->type);
    ddt_add_box(layout, 0, size, (size_t[DDT_DIMS]){0}, (ptrdiff_t[DDT_DIMS]){0});
    layout->span = size;
    return true;
}

const ddt_kind_t ddt_synthetic[] = {{"transpose", make_transpose, "N"},
                                    {"indexed", make_indexed, "BYTES"},
                                    {"mixed", make_mixed, "BYTES"},
                                    {"dense", make_dense, "BLOCK"},
                                    {"contiguous", make_contiguous, "BYTES"},
                                    {NULL, NULL, NULL}};
