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
 * Selection against sorting, in all orders that do harm to partitions, with its
 * comparisons counted; the outlier ratio against its definition.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "tap.h"

#define MOST 100000

/* ---- orders of values ---- */

enum {
    RANDOM, EQUAL, TWO, FEW, SORTED, REVERSED, PIPE, SAW, MEDIAN_OF_THREE, ONE_LARGE, ONE_SMALL,
    ORDERS
};

static const char *const order_name[ORDERS]
    = {"random", "equal", "of two values", "of a few values", "sorted", "reversed", "organ pipes",
       "saw teeth", "against medians of three", "one large", "one small"};

static size_t value_at(int order, size_t i, size_t n)
{
    switch (order) {
    case EQUAL:
        return 7;
    case TWO:
        return tap_below(2);
    case FEW:
        return tap_below(10);
    case SORTED:
        return i;
    case REVERSED:
        return n - i;
    case PIPE:
        return i < n / 2 ? i : n - i;
    case SAW:
        return i % 17;
    case MEDIAN_OF_THREE:
        return 0 == i % 2 ? i / 2 + 1 : n / 2 + 1 + i / 2;
    case ONE_LARGE:
        return n / 3 == i ? SIZE_MAX : 8;
    case ONE_SMALL:
        return n / 3 == i ? 0 : 8;
    default:
        return (size_t) tap_random();
    }
}

static int compare(const void *a, const void *b)
{
    const size_t x = *(const size_t *) a, y = *(const size_t *) b;
    return (x > y) - (x < y);
}

/* ---- selection ---- */

static size_t values[MOST], sorted[MOST], scratch[MOST];

static void fill(int order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        values[i] = sorted[i] = value_at(order, i, n);
    }
    qsort(sorted, n, sizeof(*sorted), compare);
}

/* The k-th is right, stands at k and parts the others, which are those that there were. */
static bool selects(size_t n, size_t k, uint64_t *comparisons)
{
    memcpy(scratch, values, n * sizeof(*values));
    if (sorted[k] != mca_coll_pipering_select(scratch, n, k, comparisons)
        || sorted[k] != scratch[k]) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (i < k ? scratch[i] > scratch[k] : scratch[i] < scratch[k]) {
            return false;
        }
    }
    qsort(scratch, n, sizeof(*scratch), compare);
    return 0 == memcmp(scratch, sorted, n * sizeof(*sorted));
}

static void test_small(void)
{
    tap_tally_t right = {0, 0};

    for (size_t n = 1; n <= 40; n++) {
        for (int order = 0; order < ORDERS; order++) {
            fill(order, n);
            for (size_t k = 0; k < n; k++) {
                tap_try(&right, selects(n, k, NULL), "%s, %zu of %zu", order_name[order], k, n);
            }
        }
    }
    tally_ok(&right, 9000, "every k of up to 40 values, as sorting has it");
}

static void test_large(void)
{
    static const size_t sizes[] = {599, 600, 601, 602, 1000, 5000, 30000, MOST};
    tap_tally_t right = {0, 0};

    for (int i = 0; i < 8; i++) {
        for (int order = 0; order < ORDERS; order++) {
            const size_t n = sizes[i], some[] = {0, 1, n / 10, n / 2, n - 2, n - 1, tap_below(n)};

            fill(order, n);
            for (int j = 0; j < 7; j++) {
                tap_try(&right, selects(n, some[j], NULL), "%s, %zu of %zu", order_name[order],
                        some[j], n);
            }
        }
    }
    tally_ok(&right, 600, "some k of up to %d values, as sorting has it", MOST);
}

/* Few values are equal. */
static bool is_distinct(int order)
{
    return RANDOM == order || SORTED == order || REVERSED == order || PIPE == order
           || MEDIAN_OF_THREE == order;
}

/* n + min(k, n - k), and a little; equal values halve with each partition: 3 n. */
static void test_comparisons(void)
{
    const size_t n = MOST;
    const double little = 7 * pow(n, 2.0 / 3) * sqrt(log(n));
    tap_tally_t few = {0, 0}, linear = {0, 0};

    for (int order = 0; order < ORDERS; order++) {
        fill(order, n);
        for (int tenth = 0; tenth <= 10; tenth++) {
            const size_t k = tenth * (n - 1) / 10, least = k < n - k ? k : n - k;
            const double most = is_distinct(order) ? (double) (n + least) + little : 3.0 * n;
            uint64_t comparisons = 0;

            (void) selects(n, k, &comparisons);
            tap_try(is_distinct(order) ? &few : &linear,
                    comparisons >= n - 1 && (double) comparisons <= most,
                    "%s, %zu of %zu: %" PRIu64, order_name[order], k, n, comparisons);
        }
    }
    tally_ok(&few, 55, "distinct values: n + min(k, n - k) + 7 n^(2/3) ln^(1/2) n comparisons");
    tally_ok(&linear, 66, "equal values: 3 n comparisons");
}

/* ---- ratio ---- */

/* By sorting. The bulk is the least number that leaves at most N * fraction outside. */
static double wanted_ratio(int p, double fraction)
{
    int bulk = p;

    while (1 < bulk && p - bulk + 1 <= ceil(p * fraction - 1e-6)) {
        bulk--;
    }
    if (0 == sorted[p - 1] || bulk == p) {
        return 1;
    }
    return 0 == sorted[bulk - 1] ? HUGE_VAL : (double) sorted[p - 1] / (double) sorted[bulk - 1];
}

static void test_ratio(void)
{
    static const double fractions[] = {0, 0.01, 0.1, 0.125, 0.25, 0.5, 0.9, 1};
    tap_tally_t right = {0, 0};

    for (int p = 1; p <= 200; p++) {
        for (int order = 0; order < ORDERS; order++) {
            fill(order, (size_t) p);
            for (int i = 0; i < 8; i++) {
                const double ratio = mca_coll_pipering_outlier_ratio(values, p, fractions[i],
                                                                     scratch);
                tap_try(&right, ratio == wanted_ratio(p, fractions[i]),
                        "%s, %d ranks, fraction %g: %g, not %g", order_name[order], p,
                        fractions[i], ratio, wanted_ratio(p, fractions[i]));
            }
        }
    }
    tally_ok(&right, 10000, "the largest over the largest of the bulk");
}

static void test_special(void)
{
    const size_t zeros[4] = {0, 0, 0, 0}, one[4] = {0, 0, 5, 0}, equal[4] = {3, 3, 3, 3};
    const size_t doubles[8] = {32768, 8, 8, 8, 8, 8, 8, 8};

    ok(1 == mca_coll_pipering_outlier_ratio(zeros, 4, 0.25, scratch), "all are empty: 1");
    ok(isinf(mca_coll_pipering_outlier_ratio(one, 4, 0.25, scratch)), "all but one are: infinite");
    ok(1 == mca_coll_pipering_outlier_ratio(one, 4, 0, scratch), "no outliers allowed: 1");
    ok(1 == mca_coll_pipering_outlier_ratio(equal, 4, 0.25, scratch), "all are equal: 1");
    ok(4096 == mca_coll_pipering_outlier_ratio(doubles, 8, 0.1, scratch),
       "a tenth of 8 ranks may be outliers: one may");
}

int main(void)
{
    tap_start();
    test_small();
    test_large();
    test_comparisons();
    test_ratio();
    test_special();
    return tap_end();
}
