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
 * Sums of floating-point values in fixed point, whose bits do not depend on the order
 * (coll_pipering_plan_fixed_point.c).
 *
 * Keys, addends and values are arrays in memory of any alignment, which do not overlap unless a
 * function says so.
 */

#ifndef MCA_COLL_PIPERING_PLAN_FIXED_POINT_H
#define MCA_COLL_PIPERING_PLAN_FIXED_POINT_H

#include <stddef.h>

/** Formats of values. */
typedef enum {
    MCA_COLL_PIPERING_BINARY32, /**< float */
    MCA_COLL_PIPERING_BINARY64, /**< double */
    MCA_COLL_PIPERING_FORMATS
} mca_coll_pipering_format_t;

/** Bytes of a value, of its key (an unsigned integer), and of an addend (uint32_t's). */
typedef struct mca_coll_pipering_format_sizes_t {
    size_t value, key, addend;
} mca_coll_pipering_format_sizes_t;

mca_coll_pipering_format_sizes_t
mca_coll_pipering_format_sizes(mca_coll_pipering_format_t format);

/** The keys of `count` values; the largest one of all ranks is the key of their sum. */
void mca_coll_pipering_fixed_keys(mca_coll_pipering_format_t format, const void *values,
                                  size_t count, void *keys);

/** The values as addends, by the keys of the sums that they go into. */
void mca_coll_pipering_fixed_addends(mca_coll_pipering_format_t format, const void *values,
                                     const void *keys, size_t count, void *addends);

/** inout[i] += in[i]; up to 2^31 - 1 addends of the same key may become one. */
void mca_coll_pipering_fixed_add(mca_coll_pipering_format_t format, const void *in, void *inout,
                                 size_t count);

/** The sums of addends as values. */
void mca_coll_pipering_fixed_values(mca_coll_pipering_format_t format, const void *addends,
                                    const void *keys, size_t count, void *values);

#endif
