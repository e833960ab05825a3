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
 * Dice: a small generator (splitmix64) whose whole state is one word, so that
 * equal seeds give equal decisions on every rank and any case can be replayed.
 */

#ifndef TEST_MPI_DICE_H
#define TEST_MPI_DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct dice_t {
    uint64_t state;
} dice_t;

static inline uint64_t dice_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline dice_t dice_from(uint64_t a, uint64_t b, uint64_t c)
{
    dice_t dice = {dice_mix(dice_mix(dice_mix(a) ^ b) ^ c)};
    return dice;
}

static inline uint64_t dice_word(dice_t *dice)
{
    dice->state += UINT64_C(0x9e3779b97f4a7c15);
    return dice_mix(dice->state);
}

/** One of 0 .. sides - 1. */
static inline int dice_roll(dice_t *dice, int sides)
{
    return (int) (dice_word(dice) % (uint64_t) sides);
}

/** True once in `sides` rolls. */
static inline bool dice_once_in(dice_t *dice, int sides)
{
    return 0 == dice_roll(dice, sides);
}

/** One of low .. high. */
static inline int dice_between(dice_t *dice, int low, int high)
{
    return low + dice_roll(dice, high - low + 1);
}

/** A random order of 0 .. n - 1. */
static inline void dice_shuffle(dice_t *dice, int *order, int n)
{
    for (int i = 0; i < n; i++) {
        int j = dice_roll(dice, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
}

/** A divisor of n, n itself and 1 included. */
static inline int dice_divisor(dice_t *dice, int n)
{
    int divisor[64], found = 0;

    for (int d = 1; d <= n && found < 64; d++) {
        if (0 == n % d) {
            divisor[found++] = d;
        }
    }
    return divisor[dice_roll(dice, found)];
}

#endif
