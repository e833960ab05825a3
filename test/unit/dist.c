/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "dist.h"

#include <math.h>

const char *const dist_names[DIST_COUNT] = {"regular",    "broadcast", "spike",
                                            "half full",  "decreasing", "geometric",
                                            "one outlier", "zipf",      "sparse"};

static double harmonic(int p)
{
    double sum = 0;

    for (int i = 1; i <= p; i++) {
        sum += 1.0 / i;
    }
    return sum;
}

/* The largest power of two that is at most i + 1: the level of rank i. */
static int level(int i)
{
    int power = 1;

    while (2 * power <= i + 1) {
        power *= 2;
    }
    return power;
}

static double share(dist_t dist, int i, int p)
{
    switch (dist) {
    case DIST_BROADCAST:
        return 0 == i ? 1 : 0;
    case DIST_SPIKE:
        return 0 == i ? 0.5 : 0.5 / (p - 1);
    case DIST_HALF_FULL:
        return 0 == i % 2 ? 2 : 0;
    case DIST_DECREASING:
        return p < 2 ? 1 : 2.0 * (p - 1 - i) / (p - 1);
    case DIST_GEOMETRIC:
        return p < 2 ? 1 : p / (level(i) * log2(p));
    case DIST_OUTLIER:
        return p / 2 == i ? p : 1;
    case DIST_ZIPF:
        return p / (i + 1.0);
    case DIST_SPARSE:
        return 0 == i % 10 ? 10 : 0;
    default:
        return 1;
    }
}

void dist_fill(dist_t dist, size_t c, int p, size_t *bytes)
{
    double scale = DIST_ZIPF == dist ? 1 / harmonic(p) : 1;

    for (int i = 0; i < p; i++) {
        bytes[i] = (size_t) ((double) c * share(dist, i, p) * scale + 0.5);
    }
}
