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
 * Sums in fixed point: sums of floating-point values whose bits do not depend on the order.
 *
 * Ranks first agree on the largest exponent among the values of a sum, by the maximum of their
 * keys. It says where a window of bits begins, in which each value is an integer, its addend:
 *
 *     bits of an addend   127    96 95                                      0
 *                        +---------+-----------------------------------------+
 *     of a double        |sign, sum|  the largest value's leading bit is 95  |
 *                        +---------+-----------------------------------------+
 *     the largest value             1mmmmmmmmmm
 *     another one                         1mmmmmmmmmm
 *     a very small one                                              1mmmmmmmmmm
 *                                                                     rounded off
 *
 * Addends are added as integers, which is exact and so the same in any order; at the end the sum
 * becomes a floating-point value again, rounded once. What it depends on is the values alone: not
 * the number of ranks that have them beside others with zeros, nor order, nodes or algorithm.
 *
 * Error of a sum of p values, besides this one rounding to nearest (ties to even):
 *
 *     at most (p - 1) 2^-W times the largest magnitude; W = 96 for double, 64 for float
 *
 * since each value but the largest may be rounded to the window's last bit. Values that differ in
 * magnitude by less than a factor of 2^43 (float: 2^40) lose nothing there: their sum is the exact
 * one, rounded. Any order of floating-point additions has an error bound of (p - 1) 2^-53 (float:
 * 2^-24) times the sum of magnitudes.
 *
 * Special values: NaN and +inf - inf give the NaN with the fraction's first bit alone; zeros give
 * -0 if all are -0, else +0, and so does what cancels; sums beyond the largest number give an
 * infinity, but none within it does, whatever its parts. No sum of subnormal numbers is rounded.
 *
 * Cost: keys of 2 bytes and addends of 16 for a double (float: 1 and 12) are reduced in place of 8
 * (4). Limits: at most 2^31 - 1 values a sum; binary32 and binary64 of IEEE 754.
 *
 * G. Almasi et al., "Optimization of MPI collective communication on BlueGene/L systems", section
 * 5.2: largest exponents, then sums in fixed point, on a network that adds integers only.
 */

#include "coll_pipering_plan_fixed_point.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- formats ---- */

/* A format; the sums of its values have 32 bits more than the window, one of them for the sign. */
typedef struct {
    int fraction;      /* bits behind the leading one */
    int special;       /* exponent of infinities and NaNs */
    int window;        /* bits */
    size_t value, key; /* bytes */
} format_t;

static const format_t binary32
    = {.fraction = 23, .special = 0xff, .window = 64, .value = 4, .key = 1};
static const format_t binary64
    = {.fraction = 52, .special = 0x7ff, .window = 96, .value = 8, .key = 2};

static inline size_t size_of_addend(format_t format)
{
    return (size_t) (format.window + 32) / 8;
}

mca_coll_pipering_format_sizes_t mca_coll_pipering_format_sizes(mca_coll_pipering_format_t format)
{
    const format_t of = MCA_COLL_PIPERING_BINARY32 == format ? binary32 : binary64;

    return (mca_coll_pipering_format_sizes_t){.value = of.value,
                                              .key = of.key,
                                              .addend = size_of_addend(of)};
}

/* ---- memory ---- */

/* An unsigned integer of 1, 2, 4 or 8 bytes. */
static inline uint64_t load(const char *from, size_t size)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;

    switch (size) {
    case 1:
        return (uint8_t) *from;
    case 2:
        memcpy(&two, from, size);
        return two;
    case 4:
        memcpy(&four, from, size);
        return four;
    default:
        memcpy(&eight, from, size);
        return eight;
    }
}

static inline void store(char *to, size_t size, uint64_t bits)
{
    const uint8_t one = (uint8_t) bits;
    const uint16_t two = (uint16_t) bits;
    const uint32_t four = (uint32_t) bits;

    memcpy(to, 1 == size ? (const void *) &one
               : 2 == size ? (const void *) &two
               : 4 == size ? (const void *) &four
                           : (const void *) &bits, size);
}

/* An integer of 128 bits, in two's complement where it has a sign. */
__extension__ typedef unsigned __int128 wide_t;
__extension__ typedef __int128 signed_wide_t;

static inline void store_addend(format_t format, void *addends, size_t i, wide_t wide)
{
    char *to = (char *) addends + i * size_of_addend(format);

    store(to, 8, (uint64_t) wide);
    store(to + 8, size_of_addend(format) - 8, (uint64_t) (wide >> 64));
}

/* As bits: what is shorter than 128 has zeros in front, whatever its sign. */
static inline wide_t load_addend(format_t format, const void *addends, size_t i)
{
    const char *from = (const char *) addends + i * size_of_addend(format);

    return load(from, 8) | (wide_t) load(from + 8, size_of_addend(format) - 8) << 64;
}

/* ---- keys ---- */

/* Keys of sums of zeros. A larger key is an exponent: ZERO + 1 stands for all small ones too. */
enum { MINUS_ZERO, ZERO };

static inline uint64_t sign_of(format_t format)
{
    return UINT64_C(1) << (8 * format.value - 1);
}

static inline uint64_t infinity_of(format_t format)
{
    return (uint64_t) format.special << format.fraction;
}

static inline int key_of(format_t format, uint64_t bits)
{
    const uint64_t magnitude = bits & ~sign_of(format);
    const int exponent = (int) (magnitude >> format.fraction);

    if (0 == magnitude) {
        return magnitude == bits ? ZERO : MINUS_ZERO;
    }
    return ZERO < exponent ? exponent : ZERO + 1;
}

/* ---- addends ---- */

/* Without a branch, since signs follow no pattern. */
static inline wide_t negate_if(bool negative, wide_t wide)
{
    const wide_t mask = 0 - (wide_t) negative;

    return (wide ^ mask) - mask;
}

/* A mantissa by so many bits to the left, or, rounded to nearest (ties away from 0), right. */
static inline wide_t shift_mantissa(format_t format, uint64_t mantissa, int left)
{
    if (0 <= left) {
        return (wide_t) mantissa << left;
    }
    return -left > format.fraction + 1 ? 0 : (mantissa + (UINT64_C(1) << (-left - 1))) >> -left;
}

/* In sums with an infinity or NaN three pieces of 32 bits count these: +inf, -inf, NaN. */
static inline wide_t count_special(format_t format, uint64_t bits)
{
    const uint64_t magnitude = bits & ~sign_of(format);

    if (magnitude < infinity_of(format)) {
        return 0;
    }
    if (magnitude > infinity_of(format)) {
        return (wide_t) 1 << 64;
    }
    return magnitude == bits ? 1 : UINT64_C(1) << 32;
}

static inline wide_t addend_of(format_t format, uint64_t bits, int key)
{
    const uint64_t magnitude = bits & ~sign_of(format), one = UINT64_C(1) << format.fraction;
    const int stored = (int) (magnitude >> format.fraction);
    const int exponent = 0 == stored ? 1 : stored;
    const uint64_t mantissa = 0 == stored ? magnitude : (magnitude & (one - 1)) | one;

    if (format.special == key) {
        return count_special(format, bits);
    }
    const int left = format.window - 1 - format.fraction - (key - exponent);
    return negate_if(magnitude != bits, shift_mantissa(format, mantissa, left));
}

/* ---- back ---- */

/* The place of the leading bit of a number that is not 0. */
static inline int leading_bit(wide_t wide)
{
    const uint64_t high = (uint64_t) (wide >> 64);

    return 0 == high ? 63 - __builtin_clzll((uint64_t) wide) : 127 - __builtin_clzll(high);
}

/* Without so many bits, at least 1: rounded to nearest, ties to even. It fits 64 bits then. */
static inline uint64_t round_off(wide_t wide, int bits)
{
    const uint64_t kept = (uint64_t) (wide >> bits);
    const wide_t half = (wide_t) 1 << (bits - 1), rest = wide & (2 * half - 1);

    return kept + (rest > half || (rest == half && 0 != (kept & 1)));
}

static inline uint64_t special_value(format_t format, wide_t counts)
{
    const bool plus = 0 != (uint32_t) counts, minus = 0 != (uint32_t) (counts >> 32);

    if (0 != counts >> 64 || (plus && minus)) {
        return infinity_of(format) | UINT64_C(1) << (format.fraction - 1);
    }
    return infinity_of(format) | (plus ? 0 : sign_of(format));
}

/* A sum without its sign. Bit 0 has the weight of exponent key - window + 1. */
static inline uint64_t magnitude_of(format_t format, wide_t wide, int key)
{
    if (0 == wide) {
        return 0;
    }
    const int leading = leading_bit(wide);
    int exponent = key - (format.window - 1) + leading, off = leading - format.fraction;
    if (1 > exponent) { /* subnormal: as if the leading bit had exponent 1 */
        off += 1 - exponent;
        exponent = 1;
    }
    const uint64_t mantissa = 0 < off ? round_off(wide, off) : (uint64_t) wide << -off;
    /* the mantissa's leading bit adds 1 to the exponent, or 2 where rounding has carried */
    const uint64_t magnitude = ((uint64_t) (exponent - 1) << format.fraction) + mantissa;
    return magnitude < infinity_of(format) ? magnitude : infinity_of(format);
}

static inline uint64_t value_of(format_t format, wide_t wide, int key)
{
    const int unused = 128 - (format.window + 32);

    if (ZERO >= key) {
        return MINUS_ZERO == key ? sign_of(format) : 0;
    }
    if (format.special == key) {
        return special_value(format, wide);
    }
    const signed_wide_t sum = (signed_wide_t) (wide << unused) >> unused;
    return magnitude_of(format, negate_if(0 > sum, (wide_t) sum), key)
           | (0 > sum ? sign_of(format) : 0);
}

/* ---- arrays ---- */

/* Something for each i, in a loop of its own for each format. */
#define FOR_EACH(format, count, statement)                 \
    do {                                                   \
        if (MCA_COLL_PIPERING_BINARY32 == (format)) {      \
            const format_t of = binary32;                  \
            for (size_t i = 0; i < (count); ++i) {         \
                statement;                                 \
            }                                              \
        } else {                                           \
            const format_t of = binary64;                  \
            for (size_t i = 0; i < (count); ++i) {         \
                statement;                                 \
            }                                              \
        }                                                  \
    } while (0)

static inline uint64_t value_at(format_t format, const void *values, size_t i)
{
    return load((const char *) values + i * format.value, format.value);
}

static inline int key_at(format_t format, const void *keys, size_t i)
{
    return (int) load((const char *) keys + i * format.key, format.key);
}

void mca_coll_pipering_fixed_keys(mca_coll_pipering_format_t format, const void *values,
                                  size_t count, void *keys)
{
    FOR_EACH(format, count,
             store((char *) keys + i * of.key, of.key,
                   (uint64_t) key_of(of, value_at(of, values, i))));
}

void mca_coll_pipering_fixed_addends(mca_coll_pipering_format_t format, const void *values,
                                     const void *keys, size_t count, void *addends)
{
    FOR_EACH(format, count,
             store_addend(of, addends, i,
                          addend_of(of, value_at(of, values, i), key_at(of, keys, i))));
}

void mca_coll_pipering_fixed_add(mca_coll_pipering_format_t format, const void *in, void *inout,
                                 size_t count)
{
    FOR_EACH(format, count,
             store_addend(of, inout, i, load_addend(of, in, i) + load_addend(of, inout, i)));
}

void mca_coll_pipering_fixed_values(mca_coll_pipering_format_t format, const void *addends,
                                    const void *keys, size_t count, void *values)
{
    FOR_EACH(format, count,
             store((char *) values + i * of.value, of.value,
                   value_of(of, load_addend(of, addends, i), key_at(of, keys, i))));
}
