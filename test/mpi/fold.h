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
 * A fold: one random call of MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan or
 * MPI_Allreduce, blocking or not, and what it must give, which every rank works out
 * for itself from what all ranks contribute.
 */

#ifndef TEST_MPI_FOLD_H
#define TEST_MPI_FOLD_H

#include "dice.h"
#include "foldcall.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct fold_t fold_t;

/** What is not left to the dice; equal on all ranks. */
typedef struct fold_spec_t {
    MPI_Comm comm;
    fold_call_t call; /**< FOLD_ANY: drawn */
    bool rooted;      /**< `root` is given, else it is drawn */
    int root;
    size_t most;   /**< bytes of the vector */
    bool forced;   /**< the component serves it, so Open MPI's own algorithms may fail on it */
    bool mismatch; /**< if forced, ranks describe a broadcast by types of their own */
} fold_spec_t;

/** A call drawn from `shared`, equal on all ranks; what a rank is free in from `own`. */
fold_t *fold_new(const fold_spec_t *spec, dice_t *shared, dice_t *own);
void fold_free(fold_t *fold);

/** The blocking call; the start of the nonblocking one. MPI's code. */
int fold_run(fold_t *fold);
int fold_start(fold_t *fold, MPI_Request *request);

/** A persistent one, made and started. */
int fold_start_persistent(fold_t *fold, MPI_Request *request);

/** MPI_Wait for a call that may fail: Open MPI frees its request then, a persistent one too. */
int fold_wait(fold_t *fold, MPI_Request *request);

/** Judges all memory of this rank after the call; fold_fault says what is wrong. */
bool fold_right(fold_t *fold);

/**
 * The same, and a persistent call is started again and judged once more: on all ranks,
 * whatever they think of the first time.
 */
bool fold_right_again(fold_t *fold);

/** Whether the call is about any bytes. */
bool fold_has_data(const fold_t *fold);

const char *fold_fault(const fold_t *fold);
const char *fold_name(const fold_t *fold);

#endif
