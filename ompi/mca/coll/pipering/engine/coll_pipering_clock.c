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
 * The clock, and the cost of combining, of coll_pipering_clock.h.
 */

#include "ompi_config.h"

#include "coll_pipering_clock.h"

#include <math.h>
#include <time.h>

#include "mpi.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/op/op.h"

/* Doubles that are combined to see what that takes, and how often. */
#define COMBINED 2048
#define COMBINE_TIMES 5

/* A cost is never nothing. */
#define LEAST_COMBINE 1e-12

double mca_coll_pipering_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* The least of several, since all else is other work. */
static double measure_combining(void)
{
    double vectors[2 * COMBINED] = {0}, least = 1;

    for (int i = 0; i < COMBINE_TIMES; ++i) {
        const double start = mca_coll_pipering_now();
        ompi_op_reduce(MPI_SUM, vectors, vectors + COMBINED, COMBINED, MPI_DOUBLE);
        least = fmin(least, mca_coll_pipering_now() - start);
    }
    return fmax(least / (COMBINED * sizeof(double)), LEAST_COMBINE);
}

double mca_coll_pipering_combine_cost(void)
{
    static double cost;

    if (0 == cost) {
        cost = measure_combining();
    }
    return cost;
}
