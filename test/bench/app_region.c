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

void app_region_pack(const app_region_t *region, const double *from, double *packed)
{
    if (NULL != region->index) {
        for (size_t i = 0; i < region->count; ++i) {
            packed[i] = from[region->index[i]];
        }
        return;
    }
    for (int z = 0; z < region->size[2]; ++z) {
        const double *row = from + region->start + (size_t) z * region->stride[1];

        for (int y = 0; y < region->size[1]; ++y) {
            copy_row(packed, row, region->size[0]);
            packed += region->size[0];
            row += region->stride[0];
        }
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
    for (int z = 0; z < region->size[2]; ++z) {
        double *row = to + region->start + (size_t) z * region->stride[1];

        for (int y = 0; y < region->size[1]; ++y) {
            copy_row(row, packed, region->size[0]);
            packed += region->size[0];
            row += region->stride[0];
        }
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
