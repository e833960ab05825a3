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
 * fold: times MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan, MPI_Allreduce, MPI_Reduce_scatter and
 * MPI_Allgather, with the harness of bench.h.
 *
 *   fold_main.c  the command line, rows
 *   fold_data.c  operations, buffers, what they must hold, the call
 */

#ifndef FOLD_H
#define FOLD_H

#include "bench.h"

typedef enum {
    FOLD_BCAST,
    FOLD_REDUCE,
    FOLD_SCAN,
    FOLD_EXSCAN,
    FOLD_ALLREDUCE,
    FOLD_REDUCE_SCATTER,
    FOLD_ALLGATHER,
    FOLD_COLLS
} fold_coll_t;

/** What is combined: sums of numbers, or products of matrices. */
typedef enum { FOLD_DOUBLE, FOLD_INT, FOLD_MATRIX } fold_value_t;

/** One row: a collective and the bytes that each rank contributes. */
typedef struct fold_problem_t {
    fold_coll_t coll;
    size_t total;
    fold_value_t value;
    int root;
    const char *dist; /**< of the parts of a reduce-scatter (agv_dist.h) */
} fold_problem_t;

typedef struct fold_data_t {
    fold_problem_t problem;
    MPI_Datatype type;
    MPI_Op op;
    bool owned;    /**< type and op are to be freed */
    size_t unit;   /**< bytes of an element */
    size_t length; /**< elements */
    int rank;
    int size;
    uint64_t call;     /**< makes the values of each sample different */
    uint64_t turn;     /**< of this call in its batch */
    uint64_t *weights; /**< [size] of the ranks' contributions to the sum */
    int *counts;       /**< [size] elements of the parts of a reduce-scatter */
    size_t first;      /**< element of the result with which this rank's part begins */
    unsigned char *send;
    size_t recv_size;
    unsigned char *recv; /**< with a guard behind it */
} fold_data_t;

bool fold_coll_has_op(fold_coll_t coll);
size_t fold_unit(fold_coll_t coll, fold_value_t value); /**< bytes of an element */
bool fold_data_create(fold_data_t *data, const fold_problem_t *problem,
                      const bench_world_t *world);
void fold_data_free(fold_data_t *data);
/** New values for the sample of this number. */
void fold_data_fill(fold_data_t *data, uint64_t call);
/**
 * Bytes that the busiest link between nodes carries one way: m, of an allreduce
 * 2 m (n - 1) / n, and where an operation that does not commute goes both ways 2 m; of an
 * allgather the most that a node lacks, and of a reduce-scatter the most that it gives to
 * others, or gets. Of an allreduce a slow link may carry less than its
 * share, down to half of what is assumed here. 0: there is one node.
 */
double fold_wire_bytes(const fold_data_t *data, const bench_world_t *world);
/** The collective itself; MPI's code. */
int fold_data_call(const fold_data_t *data, MPI_Comm comm);
/** An allreduce as the paper's pipelines one after the other: MPI_Reduce, then MPI_Bcast. */
int fold_data_serial(const fold_data_t *data, MPI_Comm comm);
/** The collective once all ranks are there; or once they agree that buffers are contiguous. */
int fold_data_met(const fold_data_t *data, bool agree, MPI_Comm comm);
/** Between two calls of a batch: true if the first element of each contribution is this
 *  call's; the next call sends another. */
bool fold_data_next(fold_data_t *data);
/** True if all is as it must be; else a sentence in `error`. */
bool fold_data_verify(const fold_data_t *data, char *error);

#endif
