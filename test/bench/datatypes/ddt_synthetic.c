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

/* `size` bytes in blocks of 1 to 3 doubles, with gaps of 1 to 3. */
static bool make_indexed(ddt_layout_t *layout, size_t size)
{
    uint32_t state = 1;
    size_t blocks = 0;
    int at = 0;

    layout->displs = malloc(size / 8 * sizeof(int));
    layout->lengths = malloc(size / 8 * sizeof(int));
    if (8 > size || NULL == layout->displs || NULL == layout->lengths) {
        return false;
    }
    for (size_t doubles = size / 8; 0 < doubles; ++blocks) {
        int length = 1 + (int) (ddt_random(&state) % 3);
        length = (size_t) length > doubles ? (int) doubles : length;
        layout->displs[blocks] = at;
        layout->lengths[blocks] = length;
        doubles -= (size_t) length;
        at += length + 1 + (int) (ddt_random(&state) % 3);
    }
    MPI_Type_indexed((int) blocks, layout->lengths, layout->displs, MPI_DOUBLE, &layout->type);
    ddt_add_list(layout, 0, sizeof(double), layout->displs, layout->lengths, 0, blocks);
    layout->span = (size_t) at * sizeof(double);
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

const ddt_kind_t ddt_synthetic[] = {{"transpose", make_transpose, "N", 0},
                                    {"indexed", make_indexed, "BYTES", 0},
                                    {"contiguous", make_contiguous, "BYTES", 0},
                                    {NULL, NULL, NULL, 0}};
