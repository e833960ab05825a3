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
 * Outliers: whether a few contributions are far larger than the bulk of them.
 *
 *     contributions in order of size
 *     . . . . . . . . . . . . . . . : | |      ratio = the largest / the largest of
 *     '------ N (1 - fraction) ----'  ^              the bulk
 *                                     at most N * fraction outliers
 *
 * The k-th value is found by Floyd and Rivest's selection: a sample shows about where it
 * lies, so that two partitions leave only a few values. Cost: n + min(k, n - k) + o(n)
 * comparisons. The sample is pseudo-random, and the same at every call, so that no order
 * of the values is a bad one.
 *
 * Balaji et al. 4.2.1, equation (1). There the denominator is k_select(V, N * FRACT),
 * which contradicts the paper's definition of FRACT; N * (1 - FRACT) agrees with it.
 */

#include "coll_pipering_plan_outliers.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Below so many values a sample costs more than it saves. */
#define SAMPLED_FROM 600

/* A selection: the values, and the comparisons and random numbers so far. */
typedef struct {
    size_t *value;
    uint64_t comparisons;
    uint64_t draws;
} selection_t;

static void swap(size_t *a, size_t *b)
{
    const size_t old = *a;

    *a = *b;
    *b = old;
}

static bool is_less(selection_t *selection, size_t a, size_t b)
{
    ++selection->comparisons;
    return a < b;
}

/* splitmix64 of a counter */
static size_t draw(selection_t *selection, size_t below)
{
    uint64_t x = ++selection->draws * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (size_t) ((x ^ (x >> 31)) % below);
}

/*
 * Moves lesser values before the value at `at` and greater ones behind it; returns its new
 * index. Equal values go to both sides, so that many of them do no harm.
 */
static size_t partition(selection_t *selection, size_t left, size_t right, size_t at)
{
    size_t *value = selection->value;
    size_t i = left + 1, j = right;

    swap(&value[left], &value[at]);
    const size_t pivot = value[left];
    for (;; ++i, --j) {
        while (i <= j && is_less(selection, value[i], pivot)) {
            ++i;
        }
        while (i <= j && is_less(selection, pivot, value[j])) {
            --j;
        }
        if (i >= j) {
            break;
        }
        swap(&value[i], &value[j]);
    }
    swap(&value[left], &value[j]);
    return j;
}

/* A sample of left .. right, [part.left, part.right], that is likely to hold the k-th value. */
typedef struct {
    size_t left, right;
} part_t;

/* The root of the next cube, so that size is about n^(2/3) / 2; the same on all processors. */
static double cube_root(size_t n)
{
    size_t root = 1;

    while (root * root * root < n) {
        ++root;
    }
    return (double) root;
}

/* The natural logarithm, about. */
static double logarithm(size_t n)
{
    int halvings = 0;

    while (n >> halvings > 1) {
        ++halvings;
    }
    return 0.7 * halvings;
}

static part_t draw_sample(selection_t *selection, size_t left, size_t right, size_t k)
{
    const size_t count = right - left + 1;
    const double n = (double) count, below = (double) (k - left), root = cube_root(count);
    const double size = 0.5 * root * root;
    const double spread = 0.5 * sqrt(logarithm(count) * size * (n - size) / n)
                          * (below < n / 2 ? -1 : 1);
    const double first = (double) k - below * size / n + spread, last = first + size;
    const part_t part = {.left = first > (double) left ? (size_t) first : left,
                         .right = last < (double) right ? (size_t) last : right};

    for (size_t i = part.left; i <= part.right; ++i) {
        swap(&selection->value[i], &selection->value[left + draw(selection, right - left + 1)]);
    }
    return part;
}

/* Brings the k-th value to index k, with no greater value before and no lesser one behind it. */
static void select_in(selection_t *selection, size_t left, size_t right, size_t k)
{
    while (left < right) {
        if (right - left >= SAMPLED_FROM) {
            const part_t part = draw_sample(selection, left, right, k);
            select_in(selection, part.left, part.right, k);
        }
        const size_t at = partition(selection, left, right, k);
        if (at == k) {
            return;
        }
        if (at < k) {
            left = at + 1;
        } else {
            right = at - 1;
        }
    }
}

size_t mca_coll_pipering_select(size_t *values, size_t count, size_t k, uint64_t *comparisons)
{
    selection_t selection = {.value = values};

    select_in(&selection, 0, count - 1, k);
    if (NULL != comparisons) {
        *comparisons = selection.comparisons;
    }
    return values[k];
}

double mca_coll_pipering_outlier_ratio(const size_t *bytes, int p, double fraction,
                                       size_t *scratch)
{
    const double bulk = floor(p * (1 - fraction) + 1e-9);
    size_t largest = 0;

    for (int r = 0; r < p; ++r) {
        largest = bytes[r] > largest ? bytes[r] : largest;
    }
    if (0 == largest || bulk >= p) {
        return 1;
    }
    memcpy(scratch, bytes, (size_t) p * sizeof(size_t));
    const size_t usual = mca_coll_pipering_select(scratch, (size_t) p,
                                                  1 < bulk ? (size_t) bulk - 1 : 0, NULL);
    return 0 == usual ? HUGE_VAL : (double) largest / (double) usual;
}
