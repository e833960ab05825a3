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
 * swaps: times MPI_Alltoallw, MPI_Alltoallv and MPI_Alltoall, with the harness of bench.h.
 *
 *   swaps_main.c   the command line, rows
 *   swaps_data.c   patterns: who sends which numbers of which field to whom
 */

#ifndef SWAPS_H
#define SWAPS_H

#include "bench.h"

typedef enum { SWAPS_W, SWAPS_V, SWAPS_EQUAL, SWAPS_CALLS } swaps_call_t;

typedef enum {
    SWAPS_RING,  /**< a column of a matrix of doubles to both neighbours */
    SWAPS_DENSE, /**< as many bytes to everyone */
    SWAPS_MIXED, /**< a large message to a third of the ranks, a small one to the others */
    SWAPS_PATTERNS
} swaps_pattern_t;

/** Doubles to or from a rank. */
typedef struct swaps_message_t {
    int peer;
    int length;
    int *at; /**< [length] where they lie in the field, in the order of the type */
    MPI_Datatype type; /**< one element, from the beginning of the field */
} swaps_message_t;

typedef struct swaps_data_t {
    swaps_call_t call;
    swaps_pattern_t pattern;
    int rank, size, messages; /**< as many in as out, with the same peers */
    swaps_message_t *out, *in;
    double *from, *to; /**< fields */
    size_t from_length, to_length;
    int *out_counts, *in_counts, *displs; /**< as MPI wants them, [size] */
    int *out_displs, *in_displs;          /**< of SWAPS_V, in doubles */
    MPI_Datatype *out_types, *in_types;
} swaps_data_t;

/** A pattern; `bytes` is the size of a message. */
void swaps_data_create(swaps_data_t *data, swaps_call_t call, swaps_pattern_t pattern,
                       size_t bytes, const bench_world_t *world);
void swaps_data_free(swaps_data_t *data);
void swaps_data_fill(swaps_data_t *data, uint64_t call);
int swaps_data_call(const swaps_data_t *data, MPI_Comm comm);
bool swaps_data_right(const swaps_data_t *data, uint64_t call);

#endif
