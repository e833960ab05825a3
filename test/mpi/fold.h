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
 * A fold: a random call (call.h) of MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan, MPI_Allreduce,
 * MPI_Reduce_scatter or MPI_Reduce_scatter_block. What it must give every rank works out for
 * itself from what all ranks contribute.
 */

#ifndef TEST_MPI_FOLD_H
#define TEST_MPI_FOLD_H

#include "dice.h"
#include "foldcall.h"

/** What is not left to the dice; equal on all ranks. */
typedef struct fold_spec_t {
    MPI_Comm comm;
    fold_call_t call; /**< FOLD_ANY: drawn */
    bool rooted;      /**< `root` is given, else it is drawn */
    int root;
    size_t most;   /**< bytes of the vector */
    bool forced;   /**< the component serves it, so Open MPI's own algorithms may fail on it */
    bool close;    /**< types have no gaps, and no reduce-scatter is in place: coll/cuda (5.0.7)
                        loses both */
    bool mismatch; /**< if forced, ranks describe a broadcast by types of their own */
} fold_spec_t;

/** A call drawn from `shared`, equal on all ranks; what a rank is free in from `own`. */
call_t *fold_new(const fold_spec_t *spec, dice_t *shared, dice_t *own);

#endif
