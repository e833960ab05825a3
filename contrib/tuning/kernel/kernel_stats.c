/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Order statistics, and the order of turns. */

#include "kernel_stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SAMPLES 6 /* 2 * 0.5^6 is the first of these below 1 - 0.95 */

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

static void sort(const double *samples, int count, double *sorted)
{
    memcpy(sorted, samples, (size_t) count * sizeof(*sorted));
    qsort(sorted, (size_t) count, sizeof(*sorted), compare);
}

static double middle(const double *sorted, int count)
{
    return 0 == count ? 0.0 : 0.5 * (sorted[(count - 1) / 2] + sorted[count / 2]);
}

/*
 * How many samples to leave out on either side: the most so that the median lies outside with
 * a probability of 5% at most, 2 P(X < k) for X of the binomial distribution B(count, 1/2).
 */
static int left_out(int count)
{
    double term = pow(0.5, count), below = term;
    int k = 0;

    while (2.0 * below <= 0.05) {
        ++k;
        term *= (double) (count - k + 1) / k;
        below += term;
    }
    return k - 1;
}

/* For many samples the normal distribution stands for the binomial one. */
static int left_out_of_many(int count)
{
    return (int) floor(0.5 * count - 0.98 * sqrt((double) count)) - 1;
}

double kernel_median(const double *samples, int count, double *scratch)
{
    sort(samples, count, scratch);
    return middle(scratch, count);
}

double kernel_median_width(const double *samples, int count, double *scratch)
{
    int out;

    sort(samples, count, scratch);
    if (LEAST_SAMPLES > count || !(0.0 < middle(scratch, count))) {
        return HUGE_VAL;
    }
    out = 500 < count ? left_out_of_many(count) : left_out(count);
    return (scratch[count - 1 - out] - scratch[out]) / middle(scratch, count);
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9e3779b97f4a7c15));

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

void kernel_shuffle(int *order, int count, uint64_t *state)
{
    for (int i = 0; i < count; ++i) {
        const int j = (int) (draw(state) % (uint64_t) (i + 1));

        order[i] = order[j];
        order[j] = i;
    }
}
