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
 * A task within a rank: combining two vectors of doubles, on all ranks at the same time, as in a
 * collective call, so that the ranks of a node share its memory.
 */

#include "kernel.h"

#include <math.h>
#include <stdlib.h>

#define WORK_BYTES 4194304.0 /* of a repetition, so that it takes longer than a clock's tick */
#define TIMES_MOST 4096

typedef struct {
    int times; /* operations of a repetition */
    int count; /* of doubles */
    double *values, *sums;
} local_t;

static void destroy(kernel_work_t *work)
{
    local_t *local = work->data;

    free(local->values);
    free(local->sums);
    free(local);
}

static bool create(kernel_work_t *work, char *error)
{
    const size_t count = work->problem.bytes / sizeof(double);
    local_t *local;

    if (0 == count) {
        snprintf(error, KERNEL_NOTE, "bytes=%zu: expected 8 at least", work->problem.bytes);
        return false;
    }
    local = work->data = kernel_alloc(1, sizeof(*local));
    local->count = (int) count;
    local->times = (int) fmin(TIMES_MOST, fmax(1.0, WORK_BYTES / (double) work->problem.bytes));
    local->values = kernel_alloc(count, sizeof(double));
    local->sums = kernel_alloc(count, sizeof(double));
    for (size_t i = 0; i < count; ++i) {
        local->values[i] = local->sums[i] = 1.0;
    }
    return true;
}

static void run(kernel_work_t *work, MPI_Comm comm, double *seconds)
{
    const local_t *local = work->data;
    const double start = MPI_Wtime();

    (void) comm;
    for (int i = 0; i < local->times; ++i) {
        MPI_Reduce_local(local->values, local->sums, local->count, MPI_DOUBLE, MPI_SUM);
    }
    *seconds = (MPI_Wtime() - start) / local->times;
}

const kernel_kind_t kernel_local[] = {{"combine", 0, create, destroy, NULL, run, NULL},
                                      {NULL, 0, NULL, NULL, NULL, NULL, NULL}};
