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
    int fraction; /* bits behind the leading one */
    int special;  /* exponent of infinities and NaNs */
    int window;   /* bits */
} format_t;

static const format_t binary32 = {.fraction = 23, .special = 0xff, .window = 64};
static const format_t binary64 = {.fraction = 52, .special = 0x7ff, .window = 96};

static inline size_t size_of_addend(format_t format)
{
    return (size_t) (format.window + 32) / 8;
}

static inline bool is_small(format_t format)
{
    return binary32.fraction == format.fraction;
}

static inline size_t size_of_value(format_t format)
{
    return is_small(format) ? sizeof(uint32_t) : sizeof(uint64_t);
}

static inline size_t size_of_key(format_t format)
{
    return is_small(format) ? sizeof(uint8_t) : sizeof(uint16_t);
}

mca_coll_pipering_format_sizes_t mca_coll_pipering_format_sizes(mca_coll_pipering_format_t format)
{
    const format_t of = MCA_COLL_PIPERING_BINARY32 == format ? binary32 : binary64;

    return (mca_coll_pipering_format_sizes_t){.value = size_of_value(of),
                                              .key = size_of_key(of),
                                              .addend = size_of_addend(of)};
}

/* ---- memory ---- */

static inline uint64_t load_value(format_t format, const void *values, size_t i)
{
    uint32_t narrow;
    uint64_t wide;

    if (is_small(format)) {
        memcpy(&narrow, (const char *) values + i * sizeof(narrow), sizeof(narrow));
        return narrow;
    }
    memcpy(&wide, (const char *) values + i * sizeof(wide), sizeof(wide));
    return wide;
}

static inline void store_value(format_t format, void *values, size_t i, uint64_t bits)
{
    const uint32_t narrow = (uint32_t) bits;

    if (is_small(format)) {
        memcpy((char *) values + i * sizeof(narrow), &narrow, sizeof(narrow));
    } else {
        memcpy((char *) values + i * sizeof(bits), &bits, sizeof(bits));
    }
}

static inline int load_key(format_t format, const void *keys, size_t i)
{
    uint16_t key;

    if (is_small(format)) {
        return ((const uint8_t *) keys)[i];
    }
    memcpy(&key, (const char *) keys + i * sizeof(key), sizeof(key));
    return key;
}

static inline void store_key(format_t format, void *keys, size_t i, int key)
{
    const uint16_t wide = (uint16_t) key;

    if (is_small(format)) {
        ((uint8_t *) keys)[i] = (uint8_t) key;
    } else {
        memcpy((char *) keys + i * sizeof(wide), &wide, sizeof(wide));
    }
}

/* An integer of 128 bits, in two's complement where it has a sign. */
typedef struct {
    uint64_t low, high;
} wide_t;

static inline void store_addend(format_t format, void *addends, size_t i, wide_t wide)
{
    char *place = (char *) addends + i * size_of_addend(format);
    const uint32_t half = (uint32_t) wide.high;

    memcpy(place, &wide.low, sizeof(wide.low));
    if (is_small(format)) {
        memcpy(place + sizeof(wide.low), &half, sizeof(half));
    } else {
        memcpy(place + sizeof(wide.low), &wide.high, sizeof(wide.high));
    }
}

/* As bits: what is shorter than 128 has zeros in front, whatever its sign. */
static inline wide_t load_addend(format_t format, const void *addends, size_t i)
{
    const char *place = (const char *) addends + i * size_of_addend(format);
    uint32_t half;
    wide_t wide;

    memcpy(&wide.low, place, sizeof(wide.low));
    if (is_small(format)) {
        memcpy(&half, place + sizeof(wide.low), sizeof(half));
        wide.high = half;
    } else {
        memcpy(&wide.high, place + sizeof(wide.low), sizeof(wide.high));
    }
    return wide;
}

/* ---- keys ---- */

/* Keys of sums of zeros. A larger key is an exponent: ZERO + 1 stands for all small ones too. */
enum { MINUS_ZERO, ZERO };

static inline uint64_t sign_of(format_t format)
{
    return UINT64_C(1) << (8 * size_of_value(format) - 1);
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
    const uint64_t mask = 0 - (uint64_t) negative, low = (wide.low ^ mask) - mask;

    return (wide_t){.low = low, .high = (wide.high ^ mask) + (negative && 0 == low)};
}

/* A mantissa by so many bits to the left, or, rounded to nearest (ties away from 0), right. */
static inline wide_t shift_mantissa(format_t format, uint64_t mantissa, int left)
{
    if (0 < left) {
        return (wide_t){.low = mantissa << left, .high = mantissa >> (64 - left)};
    }
    if (0 == left) {
        return (wide_t){.low = mantissa, .high = 0};
    }
    if (-left > format.fraction + 1) {
        return (wide_t){0, 0};
    }
    return (wide_t){.low = (mantissa + (UINT64_C(1) << (-left - 1))) >> -left, .high = 0};
}

/* In sums with an infinity or NaN three pieces of 32 bits count these: +inf, -inf, NaN. */
static inline wide_t count_special(format_t format, uint64_t bits)
{
    const uint64_t infinity = (uint64_t) format.special << format.fraction;
    const uint64_t magnitude = bits & ~sign_of(format);

    if (magnitude < infinity) {
        return (wide_t){0, 0};
    }
    if (magnitude > infinity) {
        return (wide_t){.low = 0, .high = 1};
    }
    return (wide_t){.low = magnitude == bits ? 1 : UINT64_C(1) << 32, .high = 0};
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

static inline void add(format_t format, const void *in, void *inout, size_t i)
{
    const wide_t a = load_addend(format, in, i), b = load_addend(format, inout, i);
    const uint64_t low = a.low + b.low;

    store_addend(format, inout, i,
                 (wide_t){.low = low, .high = a.high + b.high + (low < a.low)});
}

/* ---- back ---- */

static inline wide_t shift_right(wide_t wide, int bits)
{
    if (64 <= bits) {
        return (wide_t){.low = wide.high >> (bits - 64), .high = 0};
    }
    return 0 == bits ? wide
                     : (wide_t){.low = wide.low >> bits | wide.high << (64 - bits),
                                .high = wide.high >> bits};
}

static inline bool has_bits_below(wide_t wide, int bit)
{
    const uint64_t high = 64 >= bit ? 0 : wide.high & ((UINT64_C(1) << (bit - 64)) - 1);
    const uint64_t low = 64 <= bit ? wide.low : wide.low & ((UINT64_C(1) << bit) - 1);

    return 0 != (high | low);
}

/* The place of the leading bit of a number that is not 0. */
static inline int leading_bit(wide_t wide)
{
    return 0 == wide.high ? 63 - __builtin_clzll(wide.low) : 127 - __builtin_clzll(wide.high);
}

/* Without so many bits, at least 1: rounded to nearest, ties to even. It fits 64 bits then. */
static inline uint64_t round_off(wide_t wide, int bits)
{
    const uint64_t kept = shift_right(wide, bits).low;
    const bool half = shift_right(wide, bits - 1).low & 1;

    return kept + (half && (has_bits_below(wide, bits - 1) || 0 != (kept & 1)));
}

static inline uint64_t special_value(format_t format, wide_t counts)
{
    const uint64_t infinity = (uint64_t) format.special << format.fraction;
    const bool plus = 0 != (uint32_t) counts.low, minus = 0 != counts.low >> 32;

    if (0 != counts.high || (plus && minus)) {
        return infinity | UINT64_C(1) << (format.fraction - 1);
    }
    return plus ? infinity : infinity | sign_of(format);
}

/* A sum without its sign. Bit 0 has the weight of exponent key - window + 1. */
static inline uint64_t magnitude_of(format_t format, wide_t wide, int key)
{
    const uint64_t infinity = (uint64_t) format.special << format.fraction;

    if (0 == (wide.high | wide.low)) {
        return 0;
    }
    const int leading = leading_bit(wide);
    int exponent = key - (format.window - 1) + leading, off = leading - format.fraction;
    if (1 > exponent) { /* subnormal: as if the leading bit had exponent 1 */
        off += 1 - exponent;
        exponent = 1;
    }
    const uint64_t mantissa = 0 < off ? round_off(wide, off) : wide.low << -off;
    /* the mantissa's leading bit adds 1 to the exponent, or 2 where rounding has carried */
    const uint64_t magnitude = ((uint64_t) (exponent - 1) << format.fraction) + mantissa;
    return magnitude < infinity ? magnitude : infinity;
}

static inline uint64_t value_of(format_t format, wide_t wide, int key)
{
    const int unused = 128 - (format.window + 32);
    const bool negative = wide.high >> (63 - unused) & 1;

    if (ZERO >= key) {
        return MINUS_ZERO == key ? sign_of(format) : 0;
    }
    if (format.special == key) {
        return special_value(format, wide);
    }
    if (negative && 0 < unused) {
        wide.high |= ~UINT64_C(0) << (64 - unused);
    }
    return magnitude_of(format, negate_if(negative, wide), key) | (negative ? sign_of(format) : 0);
}

/* ---- arrays ---- */

static inline void make_keys(format_t format, const void *values, size_t count, void *keys)
{
    for (size_t i = 0; i < count; ++i) {
        store_key(format, keys, i, key_of(format, load_value(format, values, i)));
    }
}

static inline void make_addends(format_t format, const void *values, const void *keys,
                                size_t count, void *addends)
{
    for (size_t i = 0; i < count; ++i) {
        store_addend(format, addends, i,
                     addend_of(format, load_value(format, values, i), load_key(format, keys, i)));
    }
}

static inline void add_all(format_t format, const void *in, void *inout, size_t count)
{
    for (size_t i = 0; i < count; ++i) {
        add(format, in, inout, i);
    }
}

static inline void make_values(format_t format, const void *addends, const void *keys,
                               size_t count, void *values)
{
    for (size_t i = 0; i < count; ++i) {
        store_value(format, values, i,
                    value_of(format, load_addend(format, addends, i), load_key(format, keys, i)));
    }
}

/* Each loop is compiled once for each format. */

void mca_coll_pipering_fixed_keys(mca_coll_pipering_format_t format, const void *values,
                                  size_t count, void *keys)
{
    if (MCA_COLL_PIPERING_BINARY32 == format) {
        make_keys(binary32, values, count, keys);
    } else {
        make_keys(binary64, values, count, keys);
    }
}

void mca_coll_pipering_fixed_addends(mca_coll_pipering_format_t format, const void *values,
                                     const void *keys, size_t count, void *addends)
{
    if (MCA_COLL_PIPERING_BINARY32 == format) {
        make_addends(binary32, values, keys, count, addends);
    } else {
        make_addends(binary64, values, keys, count, addends);
    }
}

void mca_coll_pipering_fixed_add(mca_coll_pipering_format_t format, const void *in, void *inout,
                                 size_t count)
{
    if (MCA_COLL_PIPERING_BINARY32 == format) {
        add_all(binary32, in, inout, count);
    } else {
        add_all(binary64, in, inout, count);
    }
}

void mca_coll_pipering_fixed_values(mca_coll_pipering_format_t format, const void *addends,
                                    const void *keys, size_t count, void *values)
{
    if (MCA_COLL_PIPERING_BINARY32 == format) {
        make_values(binary32, addends, keys, count, values);
    } else {
        make_values(binary64, addends, keys, count, values);
    }
}
