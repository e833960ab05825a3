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
 * Counts and displacements of a call: arrays of int or, from MPI's functions for large counts, of
 * integers as wide as an address. Pure C.
 */

#ifndef MCA_COMMON_COLLTOOLS_ARRAY_H
#define MCA_COMMON_COLLTOOLS_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** FNV-1a: goes on with a hash, which begins with MCA_COMMON_COLLTOOLS_HASH. */
#define MCA_COMMON_COLLTOOLS_HASH UINT32_C(2166136261)

static inline uint32_t mca_common_colltools_hash(uint32_t hash, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; ++i) {
        hash = (hash ^ ((const unsigned char *) bytes)[i]) * UINT32_C(16777619);
    }
    return hash;
}

/** An array of counts or displacements; borrowed. */
typedef struct mca_common_colltools_array_t {
    const void *at; /**< NULL: there is none */
    bool wide;      /**< its entries are of ptrdiff_t, else of int */
} mca_common_colltools_array_t;

/** Entry i. */
static inline ptrdiff_t mca_common_colltools_entry(mca_common_colltools_array_t array, size_t i)
{
    return array.wide ? ((const ptrdiff_t *) array.at)[i] : ((const int *) array.at)[i];
}

/** Bytes of an array of so many entries; 0 if there is none. */
static inline size_t mca_common_colltools_array_bytes(mca_common_colltools_array_t array,
                                                      size_t entries)
{
    return NULL == array.at ? 0 : entries * (array.wide ? sizeof(ptrdiff_t) : sizeof(int));
}

/** Whether two arrays have equal entries. */
static inline bool mca_common_colltools_equal_entries(mca_common_colltools_array_t a,
                                                      mca_common_colltools_array_t b,
                                                      size_t entries)
{
    size_t i = 0;

    if (a.wide == b.wide) {
        return 0 == memcmp(a.at, b.at, mca_common_colltools_array_bytes(a, entries));
    }
    while (i < entries && mca_common_colltools_entry(a, i) == mca_common_colltools_entry(b, i)) {
        ++i;
    }
    return i == entries;
}

#endif
