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
 * The vector scatter of Balaji et al., "Nonuniformly Communicating Noncontiguous Data: A
 * Case Study with PETSc and MPI", section 5.4: two 1-D grids of doubles, as many on each
 * rank of both; each element of the first goes to a place of its own in the second. The
 * paper does not say to which, so there are several patterns:
 *
 *     stride    element g to place (g * s + 1) mod N: all ranks with all, equal parts
 *     shuffle   a random permutation of all: all ranks with all, unequal parts
 *     next      those of a rank, shuffled, to the next rank: nothing for all the others
 *     halves    every second one stays, shuffled with the like; the others to ranks half
 *               of all apart: two parts, nothing for the others
 */

#ifndef APP_SCATTER_H
#define APP_SCATTER_H

#include "app_exchange.h"

typedef enum {
    APP_STRIDE,
    APP_SHUFFLE,
    APP_NEXT,
    APP_HALVES,
    APP_PATTERNS
} app_pattern_t;

typedef struct app_scatter_t {
    app_exchange_t exchange;
    size_t length;    /**< elements on each rank */
    size_t first;     /**< place of this rank's first in the grids */
    uint64_t call;
    uint64_t turn;    /**< of the scatters since app_scatter_fill */
    uint32_t *source; /**< [length] where what comes to a place is from */
    double *x;
    double *y;
} app_scatter_t;

const char *app_scatter_name(app_pattern_t pattern);
/** Where each of `size` * `length` elements goes; NULL: no memory. Free it. */
uint32_t *app_scatter_map(app_pattern_t pattern, int size, size_t length, uint64_t seed);
/** Collective; false: no memory. */
bool app_scatter_create(app_scatter_t *scatter, MPI_Comm comm, app_pattern_t pattern,
                        size_t length, uint64_t seed);
void app_scatter_free(app_scatter_t *scatter);
/** The element of the first grid at this place. */
double app_scatter_value(uint64_t call, uint64_t turn, size_t length, size_t place);
void app_scatter_fill(app_scatter_t *scatter, uint64_t call);
/** One scatter; each after the first has another first element on each rank. */
int app_scatter_run(app_scatter_t *scatter, app_way_t way, MPI_Comm comm);
/** True if each element is there. */
bool app_scatter_verify(const app_scatter_t *scatter);

#endif
