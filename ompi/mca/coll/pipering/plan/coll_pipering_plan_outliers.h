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
 * Outliers: contributions far larger than nearly all others (plan_outliers).
 */

#ifndef MCA_COLL_PIPERING_PLAN_OUTLIERS_H
#define MCA_COLL_PIPERING_PLAN_OUTLIERS_H

#include <stddef.h>
#include <stdint.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/**
 * The k-th of `count` values in ascending order, 0 <= k < count. Permutes `values`.
 * *comparisons becomes the number of comparisons (NULL: not wanted).
 */
size_t mca_coll_pipering_select(size_t *values, size_t count, size_t k, uint64_t *comparisons);

/**
 * The largest contribution over the largest of the bulk, where at most `fraction` of the
 * processes (0 to 1) are outliers: infinite if the bulk has no data, 1 if no process has.
 * `scratch` [p]. O(p).
 */
double mca_coll_pipering_outlier_ratio(const size_t *bytes, int p, double fraction,
                                       size_t *scratch);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
