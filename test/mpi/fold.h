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

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct fold_t fold_t;

/**
 * A call of at most `most` bytes drawn from `shared`, which must be equal on all
 * ranks of the communicator; calls that the component is `forced` to serve
 * may be such that Open MPI's own algorithms fail on them; with `mismatch` too, ranks
 * describe a broadcast by types of their own, from `own`.
 */
fold_t *fold_new(MPI_Comm comm, dice_t *shared, dice_t *own, size_t most, bool forced,
                 bool mismatch);
void fold_free(fold_t *fold);

/** The blocking call; the start of the nonblocking one. MPI's code. */
int fold_run(fold_t *fold);
int fold_start(fold_t *fold, MPI_Request *request);

/** A persistent one, made and started; fold_again starts it again and judges that too. */
int fold_start_persistent(fold_t *fold, MPI_Request *request);
bool fold_again(fold_t *fold);

/** Judges all memory of this rank after the call; fold_fault says what is wrong. */
bool fold_right(fold_t *fold);
const char *fold_fault(const fold_t *fold);
const char *fold_name(const fold_t *fold);

#endif
