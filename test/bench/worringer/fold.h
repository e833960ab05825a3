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
 * fold: times MPI_Bcast, MPI_Reduce, MPI_Scan, MPI_Exscan, MPI_Allreduce and
 * MPI_Allgather as agv times MPI_Allgatherv, whose parts it uses (agv.h): several arms
 * beside each other in one job, every result checked.
 *
 *   fold_options.c  the command line
 *   fold_data.c     operations, buffers, what they must hold, the call
 *   fold_arms.c     the arms of each collective
 *   fold_counts.c   what calls did besides taking time
 *   fold.c          the loop over rows, repetitions and arms; the TSV lines
 */

#ifndef FOLD_H
#define FOLD_H

#include "agv.h"

typedef enum {
    FOLD_BCAST,
    FOLD_REDUCE,
    FOLD_SCAN,
    FOLD_EXSCAN,
    FOLD_ALLREDUCE,
    FOLD_ALLGATHER,
    FOLD_COLLS
} fold_coll_t;

typedef struct fold_options_t {
    const char *colls;  /**< comma separated */
    const char *totals; /**< as agv's */
    const char *arms;   /**< comma separated */
    const char *batches; /**< calls back to back, as totals */
    const char *op;
    const char *root;
    const char *tsv; /**< file for the TSV lines, NULL: stdout */
    fold_coll_t coll[FOLD_COLLS];
    int coll_count;
    bool matrix;
    double reps;
    double warmup;
    double idle; /**< milliseconds */
    double rate; /**< bytes a second, 0: not shaped */
    bool progress;
    bool help;
} fold_options_t;

/** One row: a collective and the bytes that each rank contributes, in batches of calls. */
typedef struct fold_problem_t {
    fold_coll_t coll;
    size_t total;
    int batch;    /**< calls in each timed sample */
    bool matrix;  /**< the operation: product of matrices, else sum */
    int root;
    double limit; /**< seconds that the wire needs at least, 0: unknown */
} fold_problem_t;

typedef struct fold_data_t {
    fold_problem_t problem;
    MPI_Datatype type;
    MPI_Op op;
    bool owned;    /**< type and op want freeing */
    size_t unit;   /**< bytes of an element */
    size_t length; /**< elements */
    int rank;
    int size;
    uint64_t call;     /**< makes the values of each sample different */
    uint64_t turn;     /**< of this call in its batch */
    uint64_t *weights; /**< [size] of the ranks' contributions to the sum */
    unsigned char *send;
    size_t recv_size;
    unsigned char *recv; /**< with a guard behind it */
} fold_data_t;

/* fold_options.c */
bool fold_options_parse(fold_options_t *options, int argc, char **argv, char *error,
                        size_t length);
void fold_options_help(FILE *out);
const char *fold_coll_name(fold_coll_t coll);
bool fold_coll_has_op(fold_coll_t coll);
/** The rank that --root means among `size`, -1: none. */
int fold_options_root(const fold_options_t *options, int size);

/* fold_data.c */
size_t fold_unit(fold_coll_t coll, bool matrix); /**< bytes of an element */
bool fold_data_create(fold_data_t *data, const fold_problem_t *problem, const agv_world_t *world);
void fold_data_free(fold_data_t *data);
/** New values for the sample of this number. */
void fold_data_fill(fold_data_t *data, uint64_t call);
/** The collective itself; MPI's code. */
int fold_data_call(const fold_data_t *data, MPI_Comm comm);
/** Between two calls of a batch: true if the first element of each contribution is this
 *  call's; the next call sends another. */
bool fold_data_next(fold_data_t *data);
/** True if all is as it must be; else a sentence in `error`. */
bool fold_data_verify(const fold_data_t *data, char *error, size_t length);

/* fold_arms.c */
/** The arms of one collective, connected; their number or -1. */
int fold_arms_create(agv_arm_t *arms, const char *list, fold_coll_t coll,
                     const agv_world_t *world, char *error, size_t length);

/* fold_counts.c */
/** Messages between nodes and inside them, bytes read from shared memory, all of them
 *  coll/mleader's; changes of process. */
enum { FOLD_COUNTS = 4 };
typedef struct fold_counts_t {
    double of[FOLD_COUNTS];
} fold_counts_t;

/** Of this process, since some time before. */
fold_counts_t fold_counts_now(void);
/** Adds what was counted since `before`, `calls` at a time, as counts of one call. */
void fold_counts_add(fold_counts_t *sum, const fold_counts_t *before, int calls);
/** Adds up the ranks'. */
void fold_counts_combine(fold_counts_t *sum, MPI_Comm control);
void fold_counts_print(const fold_counts_t *sum, int reps, FILE *out);

#endif
