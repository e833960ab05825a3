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
 * Sums in fixed point: against exact sums in integers, against the processor's own
 * additions of two values, in any order, at the ends of the range, with special values, and with
 * as many addends as there may be.
 */

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "coll_pipering_plan_fixed_point.h"
#include "tap.h"

/* ---- formats, in the words of float.h ---- */

typedef struct kind_t {
    const char *name;
    mca_coll_pipering_format_t format;
    int digits, least, most; /* DBL_MANT_DIG, DBL_MIN_EXP, DBL_MAX_EXP */
    int window;              /* bits behind which values are rounded off, by the interface */
    int lossless;            /* difference of exponents up to which none is */
} kind_t;

static const kind_t kinds[] = {
    {"float", MCA_COLL_PIPERING_BINARY32, FLT_MANT_DIG, FLT_MIN_EXP, FLT_MAX_EXP, 64, 40},
    {"double", MCA_COLL_PIPERING_BINARY64, DBL_MANT_DIG, DBL_MIN_EXP, DBL_MAX_EXP, 96, 43}};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static void put(const kind_t *kind, void *values, int i, double value)
{
    if (MCA_COLL_PIPERING_BINARY32 == kind->format) {
        ((float *) values)[i] = (float) value;
    } else {
        ((double *) values)[i] = value;
    }
}

static double get(const kind_t *kind, const void *values, int i)
{
    return MCA_COLL_PIPERING_BINARY32 == kind->format ? ((const float *) values)[i]
                                                      : ((const double *) values)[i];
}

/* Values have the same bits; one NaN is as good as another. */
static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

/* ---- the sum under test ---- */

enum { MOST = 200 };

/* Adds values in the order given, in groups that dice make, as ranks of a tree would. */
static void add_in_order(const kind_t *kind, char *addends, const int *order, int count)
{
    const size_t size = mca_coll_pipering_format_sizes(kind->format).addend;
    int left[MOST];

    memcpy(left, order, (size_t) count * sizeof(int));
    while (1 < count) {
        const int i = tap_between(0, count - 2);
        mca_coll_pipering_fixed_add(kind->format, addends + (size_t) left[i + 1] * size,
                                    addends + (size_t) left[i] * size, 1);
        memmove(&left[i + 1], &left[i + 2], (size_t) (count - i - 2) * sizeof(int));
        count--;
    }
}

/* The sum of values that one rank has each, in an order by dice. */
static double fixed_sum(const kind_t *kind, const double *from, int count)
{
    const mca_coll_pipering_format_sizes_t sizes = mca_coll_pipering_format_sizes(kind->format);
    char addends[MOST * 16];
    double values[MOST], result;
    uint16_t keys[MOST];
    int order[MOST], largest = 0;
    const bool narrow = 1 == sizes.key;

    for (int i = 0; i < count; i++) {
        put(kind, values, i, from[i]);
    }
    mca_coll_pipering_fixed_keys(kind->format, values, (size_t) count, keys);
    for (int i = 0; i < count; i++) {
        const int key = narrow ? ((uint8_t *) keys)[i] : keys[i];
        largest = key > largest ? key : largest;
    }
    for (int i = 0; i < count; i++) {
        if (narrow) {
            ((uint8_t *) keys)[i] = (uint8_t) largest;
        } else {
            keys[i] = (uint16_t) largest;
        }
    }
    mca_coll_pipering_fixed_addends(kind->format, values, keys, (size_t) count, addends);
    tap_deal(order, count);
    add_in_order(kind, addends, order, count);
    mca_coll_pipering_fixed_values(kind->format, addends + (size_t) order[0] * sizes.addend, keys,
                                   1, &result);
    return get(kind, &result, 0);
}

/* ---- exact sums ---- */

typedef __int128 exact_t; /* in units of 2^unit */

/* The least exponent of a bit of these values, as ldexp takes it. */
static int last_bit(const double *values, int count)
{
    int least = INT_MAX, exponent;

    for (int i = 0; i < count; i++) {
        if (0 != values[i]) {
            (void) frexp(values[i], &exponent);
            least = exponent - DBL_MANT_DIG < least ? exponent - DBL_MANT_DIG : least;
        }
    }
    return INT_MAX == least ? 0 : least;
}

/* In whole units, towards 0. */
static exact_t exact_of(double value, int unit)
{
    int exponent;
    const exact_t mantissa = (exact_t) ldexp(frexp(value, &exponent), DBL_MANT_DIG);
    const int shift = exponent - DBL_MANT_DIG - unit;

    return 0 == mantissa ? 0
           : 0 <= shift  ? mantissa * ((exact_t) 1 << shift)
           : -DBL_MANT_DIG < shift ? mantissa / ((exact_t) 1 << -shift)
                                   : 0;
}

static exact_t exact_sum(const double *values, int count, int unit)
{
    exact_t sum = 0;

    for (int i = 0; i < count; i++) {
        sum += exact_of(values[i], unit);
    }
    return sum;
}

/* Rounded to nearest, ties to even, as the compiler converts integers. */
static double rounded(const kind_t *kind, exact_t sum, int unit)
{
    return MCA_COLL_PIPERING_BINARY32 == kind->format ? ldexpf((float) sum, unit)
                                                      : ldexp((double) sum, unit);
}

static double rounded_sum(const kind_t *kind, const double *values, int count)
{
    const int unit = last_bit(values, count);

    return rounded(kind, exact_sum(values, count, unit), unit);
}

/* ---- values by dice ---- */

/* Of an exponent as frexp says it, or what becomes of that near 0. */
static double dice_value(const kind_t *kind, int exponent)
{
    const uint64_t last = UINT64_C(1) << (kind->digits - 1);
    uint64_t mantissa = last | (tap_random() & (last - 1));

    if (tap_once_in(4)) {
        mantissa = tap_once_in(2) ? last : last | (last - 1);
    }
    const double value = ldexp((double) mantissa, exponent - kind->digits);
    return tap_once_in(2) ? value : -value;
}

static int dice_exponent(const kind_t *kind, int around, int spread)
{
    const int low = kind->least - kind->digits, exponent = tap_between(around - spread, around);

    return exponent < low ? low : exponent;
}

/* Values that differ by up to 2^spread; some cancel others. */
static int dice_values(const kind_t *kind, double *values, int most, int spread)
{
    const int count = tap_between(1, most);
    const int around = tap_between(kind->least - kind->digits, kind->most);

    for (int i = 0; i < count; i++) {
        if (0 < i && tap_once_in(3)) {
            values[i] = -values[tap_between(0, i - 1)];
        } else {
            values[i] = tap_once_in(8) ? 0 : dice_value(kind, dice_exponent(kind, around, spread));
        }
        if (MCA_COLL_PIPERING_BINARY32 == kind->format) {
            values[i] = (float) values[i]; /* a subnormal one */
        }
    }
    return count;
}

static double largest(const double *values, int count)
{
    double most = 0;

    for (int i = 0; i < count; i++) {
        most = fmax(most, fabs(values[i]));
    }
    return most;
}

/* ---- tests ---- */

static void test_exact(const kind_t *kind)
{
    tap_tally_t tally = {0, 0};
    double values[MOST];

    for (int i = 0; i < 50000; i++) {
        const int count = dice_values(kind, values, tap_once_in(10) ? MOST : 17, kind->lossless);
        const double found = fixed_sum(kind, values, count);
        const double expected = rounded_sum(kind, values, count);
        tap_try(&tally, found == expected, "%d values, the first %a: found %a, expected %a", count,
                values[0], found, expected);
    }
    tally_ok(&tally, 50000, "%s: the exact sum, rounded", kind->name);
}

/*
 * |found - sum| <= 2^ulp / 2 + (count - 1) 2^(most - 1 - window), in units that are so small that
 * what values lose in them does not count.
 */
static bool is_near(const kind_t *kind, double found, const double *values, int count)
{
    int most, ulp;

    (void) frexp(largest(values, count), &most);
    (void) frexp(found, &ulp);
    const int unit = most - kind->window - 20;
    const exact_t sum = exact_sum(values, count, unit);
    if (isinf(found)) {
        return found == rounded(kind, sum, unit);
    }
    ulp = (ulp < kind->least ? kind->least : ulp) - kind->digits;
    const int half = ulp - 1 - unit;
    const exact_t off = exact_of(found, unit) - sum;
    const exact_t room = (0 == found || 0 > half ? 1 : (exact_t) 1 << half)
                         + (exact_t) (count - 1) * (1 << (most - 1 - kind->window - unit))
                         + count + 1;
    return -room <= off && off <= room;
}

static void test_bound(const kind_t *kind)
{
    tap_tally_t bound = {0, 0}, order = {0, 0};
    double values[MOST];

    for (int i = 0; i < 50000; i++) {
        const int count = dice_values(kind, values, 17, tap_between(0, 300));
        const double found = fixed_sum(kind, values, count);
        tap_try(&order, same(found, fixed_sum(kind, values, count)), "%d values, the first %a",
                count, values[0]);
        tap_try(&bound, is_near(kind, found, values, count),
                "%d values, the first %a: found %a", count, values[0], found);
    }
    tally_ok(&bound, 50000, "%s: the error bound, whatever the range", kind->name);
    tally_ok(&order, 50000, "%s: another order, the same bits", kind->name);
}

static double add_by_processor(const kind_t *kind, double a, double b)
{
    return MCA_COLL_PIPERING_BINARY32 == kind->format ? (float) a + (float) b : a + b;
}

/* All pairs of exponents that lose nothing, with the leading and the last bits. */
static void test_pairs(const kind_t *kind)
{
    const double last = ldexp(1, 1 - kind->digits);
    const double mantissas[] = {1, 1 + last, 2 - last, -1, -1 - last, last - 2};
    enum { MANTISSAS = sizeof(mantissas) / sizeof(mantissas[0]) };
    tap_tally_t tally = {0, 0};

    for (int x = kind->least - kind->digits; x < kind->most; x++) {
        for (int y = x - kind->lossless; y <= x; y += 1 + (y % 7 == 0)) {
            for (int m = 0; m < MANTISSAS * MANTISSAS; m++) {
                double pair[2] = {ldexp(mantissas[m / MANTISSAS], x),
                                  ldexp(mantissas[m % MANTISSAS], y)};
                if (MCA_COLL_PIPERING_BINARY32 == kind->format) {
                    pair[0] = (float) pair[0];
                    pair[1] = (float) pair[1];
                }
                const double found = fixed_sum(kind, pair, 2);
                const double expected = add_by_processor(kind, pair[0], pair[1]);
                tap_try(&tally, same(found, expected), "%a + %a: found %a, expected %a", pair[0],
                        pair[1], found, expected);
            }
        }
    }
    tally_ok(&tally, 100000, "%s: what the processor adds two values to", kind->name);
}

static void test_special(const kind_t *kind)
{
    const double most = MCA_COLL_PIPERING_BINARY32 == kind->format ? FLT_MAX : DBL_MAX;
    const double tiny = ldexp(1, kind->least - kind->digits);
    const double odd[] = {NAN, -NAN, INFINITY, -INFINITY, 0.0, -0.0, 1, -1, most, -most, tiny};
    enum { ODD = sizeof(odd) / sizeof(odd[0]) };
    tap_tally_t pairs = {0, 0};

    for (int i = 0; i < ODD * ODD; i++) {
        const double pair[] = {odd[i / ODD], odd[i % ODD]};
        const double found = fixed_sum(kind, pair, 2);
        tap_try(&pairs, same(found, add_by_processor(kind, pair[0], pair[1])),
                "%a + %a: found %a", pair[0], pair[1], found);
    }
    tally_ok(&pairs, ODD * ODD, "%s: special values in pairs", kind->name);
    ok(same(-0.0, fixed_sum(kind, (double[]){-0.0, -0.0, -0.0}, 3)), "%s: -0 of -0s", kind->name);
    ok(same(0.0, fixed_sum(kind, (double[]){-0.0, 0.0, -0.0}, 3)), "%s: 0 of both", kind->name);
    ok(same(0.0, fixed_sum(kind, (double[]){-1, -0.0, 1}, 3)), "%s: 0 of what cancels",
       kind->name);
    ok(same(most, fixed_sum(kind, (double[]){most, most, -most, most, -most}, 5)),
       "%s: no infinity on the way to a number", kind->name);
    ok(same(INFINITY, fixed_sum(kind, (double[]){most, most, -1}, 3)),
       "%s: an infinity beyond the largest number", kind->name);
    ok(same(-INFINITY, fixed_sum(kind, (double[]){most, most, -INFINITY}, 3)),
       "%s: an infinity against large numbers", kind->name);
    ok(isnan(fixed_sum(kind, (double[]){1, INFINITY, 2, -INFINITY}, 4)), "%s: inf - inf",
       kind->name);
    ok(isnan(fixed_sum(kind, (double[]){INFINITY, NAN, INFINITY}, 3)), "%s: NaN beside infinity",
       kind->name);
}

/* 2^31 - 1 addends of one value: by doubling, x, 3 x, 7 x, ... */
static void test_headroom(const kind_t *kind)
{
    const mca_coll_pipering_format_sizes_t sizes = mca_coll_pipering_format_sizes(kind->format);
    const double one = 2 - ldexp(1, 1 - kind->digits);
    const double all[] = {one, -one, INFINITY, -INFINITY, NAN};
    tap_tally_t tally = {0, 0};

    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char sum[16], first[16], value[8];
        uint16_t key;
        put(kind, value, 0, all[i]);
        mca_coll_pipering_fixed_keys(kind->format, value, 1, &key);
        mca_coll_pipering_fixed_addends(kind->format, value, &key, 1, first);
        memcpy(sum, first, sizes.addend);
        for (int bit = 1; bit < 31; bit++) {
            char twice[16];
            memcpy(twice, sum, sizes.addend);
            mca_coll_pipering_fixed_add(kind->format, twice, sum, 1);
            mca_coll_pipering_fixed_add(kind->format, first, sum, 1);
        }
        mca_coll_pipering_fixed_values(kind->format, sum, &key, 1, value);
        const double parts[] = {ldexp(all[i], 31), -all[i]};
        const double expected = isfinite(all[i]) ? rounded_sum(kind, parts, 2) : all[i];
        tap_try(&tally, same(get(kind, value, 0), expected), "%a: found %a, expected %a", all[i],
                get(kind, value, 0), expected);
    }
    tally_ok(&tally, 5, "%s: as many addends as there may be", kind->name);
}

/* What bits end a window: half of the last one counts as one, less counts as nothing. */
static void test_window(const kind_t *kind)
{
    const double half = ldexp(1, -kind->window), third = ldexp(1.5, -kind->window - 1);
    const double rest = ldexp(1, 1 - kind->window);

    ok(rest == fixed_sum(kind, (double[]){1, half, -1}, 3), "%s: half of a window's last bit",
       kind->name);
    ok(same(0.0, fixed_sum(kind, (double[]){1, third, -1}, 3)), "%s: less than half of it",
       kind->name);
    ok(same(0.0, fixed_sum(kind, (double[]){1, ldexp(1, kind->least - 1), -1}, 3)),
       "%s: far below it", kind->name);
}

int main(void)
{
    tap_start();
    for (int i = 0; i < KINDS; i++) {
        test_exact(&kinds[i]);
        test_bound(&kinds[i]);
        test_pairs(&kinds[i]);
        test_special(&kinds[i]);
        test_headroom(&kinds[i]);
        test_window(&kinds[i]);
    }
    return tap_end();
}
