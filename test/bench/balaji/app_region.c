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
 * Regions of an array: packed and unpacked by loops, as fast as they come, and as derived
 * types.
 */

#include "app_exchange.h"

#include <string.h>

#define SHORT 8 /* doubles that a loop copies faster than memcpy */

app_region_t app_region_box(size_t start, const int size[3], const size_t stride[2])
{
    app_region_t region = {0, NULL, start, {size[0], size[1], size[2]}, {stride[0], stride[1]}};

    region.count = (size_t) size[0] * (size_t) size[1] * (size_t) size[2];
    return region;
}

static inline void copy_row(double *to, const double *from, int count)
{
    if (SHORT < count) {
        memcpy(to, from, (size_t) count * sizeof(*to));
        return;
    }
    for (int i = 0; i < count; ++i) {
        to[i] = from[i];
    }
}

/* A plane of rows; where these are single doubles without a loop for each. */
static void pack_plane(const app_region_t *region, const double *row, double *packed)
{
    const size_t rows = (size_t) region->size[1], stride = region->stride[0];

    if (1 == region->size[0]) {
        for (size_t y = 0; y < rows; ++y) {
            packed[y] = row[y * stride];
        }
        return;
    }
    for (size_t y = 0; y < rows; ++y) {
        copy_row(packed + y * (size_t) region->size[0], row + y * stride, region->size[0]);
    }
}

static void unpack_plane(const app_region_t *region, const double *packed, double *row)
{
    const size_t rows = (size_t) region->size[1], stride = region->stride[0];

    if (1 == region->size[0]) {
        for (size_t y = 0; y < rows; ++y) {
            row[y * stride] = packed[y];
        }
        return;
    }
    for (size_t y = 0; y < rows; ++y) {
        copy_row(row + y * stride, packed + y * (size_t) region->size[0], region->size[0]);
    }
}

static size_t in_plane(const app_region_t *region)
{
    return (size_t) region->size[0] * (size_t) region->size[1];
}

void app_region_pack(const app_region_t *region, const double *from, double *packed)
{
    if (NULL != region->index) {
        for (size_t i = 0; i < region->count; ++i) {
            packed[i] = from[region->index[i]];
        }
        return;
    }
    for (size_t z = 0; z < (size_t) region->size[2]; ++z) {
        pack_plane(region, from + region->start + z * region->stride[1],
                   packed + z * in_plane(region));
    }
}

void app_region_unpack(const app_region_t *region, const double *packed, double *to)
{
    if (NULL != region->index) {
        for (size_t i = 0; i < region->count; ++i) {
            to[region->index[i]] = packed[i];
        }
        return;
    }
    for (size_t z = 0; z < (size_t) region->size[2]; ++z) {
        unpack_plane(region, packed + z * in_plane(region),
                     to + region->start + z * region->stride[1]);
    }
}

void app_region_copy(const app_region_t *source, const double *from, const app_region_t *target,
                     double *to, double *packed)
{
    if (NULL == source->index || NULL == target->index) {
        app_region_pack(source, from, packed);
        app_region_unpack(target, packed, to);
        return;
    }
    for (size_t i = 0; i < source->count; ++i) {
        to[target->index[i]] = from[source->index[i]];
    }
}

MPI_Datatype app_region_type(const app_region_t *region)
{
    MPI_Datatype plane, type;

    if (NULL != region->index) {
        MPI_Type_create_indexed_block((int) region->count, 1, region->index, MPI_DOUBLE, &type);
    } else {
        MPI_Type_vector(region->size[1], region->size[0], (int) region->stride[0], MPI_DOUBLE,
                        &plane);
        MPI_Type_create_hvector(region->size[2], 1,
                                (MPI_Aint) (region->stride[1] * sizeof(double)), plane, &type);
        MPI_Type_free(&plane);
    }
    MPI_Type_commit(&type);
    return type;
}
