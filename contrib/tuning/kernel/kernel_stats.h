/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file When samples are enough, and in which order arms take turns. Pure C. */

#ifndef KERNEL_STATS_H
#define KERNEL_STATS_H

#include <stdint.h>

/**
 * Width of the 95% confidence interval of the median, as a part of the median: between two
 * order statistics, whatever the distribution of the samples is. HUGE_VAL for fewer than 6
 * samples, which have no such interval, and for a median of 0. `scratch` has room for `count`.
 */
double kernel_median_width(const double *samples, int count, double *scratch);

/** The median; 0 without samples. `scratch` as above. */
double kernel_median(const double *samples, int count, double *scratch);

/** Shuffles 0..count-1 into `order`; `state` is the generator's and goes on. */
void kernel_shuffle(int *order, int count, uint64_t *state);

#endif
