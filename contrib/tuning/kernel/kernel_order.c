/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The order of turns. */

#include "kernel_order.h"

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
