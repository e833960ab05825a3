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
 * Distributions of m bytes over p ranks. Pure C: plan.c uses them without MPI.
 * The first six are those of the paper, section 3; all of them are scaled so
 * that the contributions make exactly the wanted total.
 */

#ifndef AGV_DIST_H
#define AGV_DIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Names and meanings, for help texts; ends with a NULL name. */
typedef struct agv_dist_name_t {
    const char *name;
    const char *meaning;
} agv_dist_name_t;

extern const agv_dist_name_t agv_dist_names[];

/**
 * Splits `units` elements of `unit` bytes over p ranks. `name` is a name of
 * agv_dist_names, NAME@K (turned by K ranks) or NAME~SEED (ranks shuffled).
 * `node` [p] is the node of each rank, or NULL: each has its own. Writes bytes.
 */
bool agv_dist_fill(const char *name, int p, const int *node, size_t units, size_t unit,
                   size_t *bytes);

/** Bytes of an element for a total: 4 (an int) if that leaves each rank one, else 1. */
size_t agv_dist_unit(size_t total, int p);

/** A permutation of 0..n-1 that depends on the seed only. */
void agv_dist_shuffle(int *order, int n, uint64_t seed);

#endif
