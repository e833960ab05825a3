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
 * Distributions as weights. Weights become elements by rounding their running
 * sum, so nothing is lost, a weight of zero gives an empty contribution, and
 * equal weights differ by one element at most.
 */

#include "agv_dist.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const agv_dist_name_t agv_dist_names[] = {
    {"regular", "all contribute the same"},
    {"broadcast", "rank 0 contributes everything"},
    {"spike", "rank 0 contributes one half, the others share the rest"},
    {"half", "even ranks contribute the same, odd ranks nothing"},
    {"decreasing", "falls linearly to nothing at the last rank"},
    {"geometric", "1, 2, 4, ... ranks share the same amount"},
    {"outlier", "rank p/2 contributes all but 8 bytes of each other rank"},
    {"zipf", "rank i contributes in proportion to 1/(i+1)"},
    {"empty90", "nine of ten ranks (drawn) contribute nothing"},
    {"nodeskew", "each node half of what the node before it contributes, 8 steps"},
    {"petsc", "rows of a partitioned mesh: the same, give or take one half (drawn)"},
    {"random:C:F", "C ranks contribute, the first the part F (0 to 1), the others drawn parts"},
    {NULL, NULL}};

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
    uint64_t x = (*state += 0x9e3779b97f4a7c15u);

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void agv_dist_shuffle(int *order, int n, uint64_t seed)
{
    uint64_t state = seed;

    for (int i = 0; i < n; ++i) {
        order[i] = i;
    }
    for (int i = n - 1; i > 0; --i) {
        int j = (int) (draw(&state) % (uint64_t) (i + 1));
        int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
}

size_t agv_dist_unit(size_t total, int p)
{
    return (0 == total % 4 && total / 4 >= (size_t) p) ? 4 : 1;
}

static void weigh_constant(double *weight, int p, double value)
{
    for (int i = 0; i < p; ++i) {
        weight[i] = value;
    }
}

/* Level l = 1, 2, 4, ... takes the ranks l - 1 .. 2l - 2 and shares one unit
 * among them; of p = 2^L ranks the last belongs to no level. */
static void weigh_geometric(double *weight, int p)
{
    for (int i = 0; i < p; ++i) {
        int level = 1;
        while (2 * level <= i + 1) {
            level *= 2;
        }
        weight[i] = (level == p && p > 1) ? 0.0 : 1.0 / level;
    }
}

static void weigh_empty90(double *weight, int p, int *order)
{
    int full = (p + 9) / 10;

    agv_dist_shuffle(order, p, 90);
    for (int i = 0; i < full; ++i) {
        weight[order[i]] = 1.0;
    }
}

static void weigh_petsc(double *weight, int p)
{
    uint64_t state = 318;

    for (int i = 0; i < p; ++i) {
        weight[i] = 0.5 + (double) (draw(&state) % 1024) / 1024.0;
    }
}

/* "C:F" behind "random:"; ~SEED behind it says which ranks contribute. */
static bool weigh_random(const char *parts, double *weight, int p)
{
    uint64_t state = 2010;
    double largest, sum = 0.0;
    int contributors, end = 0;

    if (2 != sscanf(parts, "%d:%lf%n", &contributors, &largest, &end) || '\0' != parts[end]
        || 1 > contributors || p < contributors || !(0.0 < largest && 1.0 >= largest)) {
        return false;
    }
    for (int i = 1; i < contributors; ++i) {
        weight[i] = 0.5 + (double) (draw(&state) % 1024) / 1024.0;
        sum += weight[i];
    }
    for (int i = 1; i < contributors; ++i) {
        weight[i] *= (1.0 - largest) / sum;
    }
    weight[0] = largest;
    return true;
}

/* False if the name is unknown. weight[] comes in as zeros. */
static bool weigh(const char *name, int p, const int *node, double *weight, int *order)
{
    if (0 == strcmp(name, "regular")) {
        weigh_constant(weight, p, 1.0);
    } else if (0 == strcmp(name, "broadcast")) {
        weight[0] = 1.0;
    } else if (0 == strcmp(name, "spike")) {
        weigh_constant(weight, p, 1.0);
        weight[0] = (1 == p) ? 1.0 : p - 1;
    } else if (0 == strcmp(name, "half")) {
        for (int i = 0; i < p; i += 2) {
            weight[i] = 1.0;
        }
    } else if (0 == strcmp(name, "decreasing")) {
        for (int i = 0; i < p; ++i) {
            weight[i] = (1 == p) ? 1.0 : p - 1 - i;
        }
    } else if (0 == strcmp(name, "geometric")) {
        weigh_geometric(weight, p);
    } else if (0 == strcmp(name, "zipf")) {
        for (int i = 0; i < p; ++i) {
            weight[i] = 1.0 / (i + 1);
        }
    } else if (0 == strcmp(name, "empty90")) {
        weigh_empty90(weight, p, order);
    } else if (0 == strcmp(name, "nodeskew")) {
        for (int i = 0; i < p; ++i) {
            weight[i] = 1.0 / (1 << ((NULL == node ? i : node[i]) % 8));
        }
    } else if (0 == strcmp(name, "petsc")) {
        weigh_petsc(weight, p);
    } else if (0 == strncmp(name, "random:", 7)) {
        return weigh_random(name + 7, weight, p);
    } else {
        return false;
    }
    return true;
}

static void share(const double *weight, int p, size_t units, size_t unit, size_t *bytes)
{
    double sum = 0.0, running = 0.0;
    size_t given = 0;
    int last = 0;

    for (int i = 0; i < p; ++i) {
        sum += weight[i];
        last = (0.0 < weight[i]) ? i : last;
    }
    for (int i = 0; i < p; ++i) {
        running += weight[i];
        size_t upto = (i >= last) ? units : (size_t) (running / sum * (double) units + 1e-6);
        bytes[i] = (upto - given) * unit;
        given = upto;
    }
}

static void outlier(int p, size_t units, size_t unit, size_t *bytes)
{
    size_t small = 8 / unit;

    if (units < 2 * small * (size_t) p) {
        small = (units >= 2 * (size_t) p) ? 1 : 0;
    }
    for (int i = 0; i < p; ++i) {
        bytes[i] = small * unit;
    }
    bytes[p / 2] = (units - small * (size_t) (p - 1)) * unit;
}

/* Rank order[i] gets what rank i had, or rank (i + turn) mod p. */
static void rearrange(char how, const char *argument, int p, size_t *bytes, size_t *copy,
                      int *order)
{
    long number = strtol(argument, NULL, 10);

    if ('~' == how) {
        agv_dist_shuffle(order, p, (uint64_t) number);
    } else {
        for (int i = 0; i < p; ++i) {
            order[i] = (int) (((i + number) % p + p) % p);
        }
    }
    memcpy(copy, bytes, (size_t) p * sizeof(*copy));
    for (int i = 0; i < p; ++i) {
        bytes[order[i]] = copy[i];
    }
}

bool agv_dist_fill(const char *name, int p, const int *node, size_t units, size_t unit,
                   size_t *bytes)
{
    char plain[32];
    size_t length = strcspn(name, "@~");
    double *weight = calloc((size_t) p, sizeof(*weight));
    size_t *copy = malloc((size_t) p * sizeof(*copy));
    int *order = malloc((size_t) p * sizeof(*order));
    bool known = false;

    if (NULL != weight && NULL != copy && NULL != order && length < sizeof(plain)) {
        memcpy(plain, name, length);
        plain[length] = '\0';
        if (0 == strcmp(plain, "outlier")) {
            outlier(p, units, unit, bytes);
            known = true;
        } else {
            known = weigh(plain, p, node, weight, order);
            if (known) {
                share(weight, p, units, unit, bytes);
            }
        }
        if (known && '\0' != name[length]) {
            rearrange(name[length], name + length + 1, p, bytes, copy, order);
        }
    }
    free(weight);
    free(copy);
    free(order);
    return known;
}
