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
 * Distributions of the contributions: the paper's six (section 3) and three
 * more. `c` is the paper's base count in bytes.
 */

#ifndef PIPERING_TEST_DIST_H
#define PIPERING_TEST_DIST_H

#include <stddef.h>

typedef enum {
    DIST_REGULAR,    /**< m_i = c */
    DIST_BROADCAST,  /**< m_0 = c, the others nothing */
    DIST_SPIKE,      /**< m_0 = c / 2, the others c / (2 (p - 1)) */
    DIST_HALF_FULL,  /**< 2 c and nothing in turns */
    DIST_DECREASING, /**< 2 c (p - 1 - i) / (p - 1) */
    DIST_GEOMETRIC,  /**< c p / (i log p) for ranks i - 1 .. 2 i - 2, i = 1, 2, 4 ... */
    DIST_OUTLIER,    /**< m_i = c, but c p in the middle */
    DIST_ZIPF,       /**< proportional to 1 / (i + 1), c p in all */
    DIST_SPARSE,     /**< one in ten has 10 c, the others nothing */
    DIST_COUNT
} dist_t;

extern const char *const dist_names[DIST_COUNT];

/** Fills bytes [p]. */
void dist_fill(dist_t dist, size_t c, int p, size_t *bytes);

#endif
