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
 * agv: times MPI_Allgatherv with unequal counts, with the harness of bench.h.
 *
 *   agv_main.c   the command line, rows
 *   agv_dist.c   who contributes how much (no MPI)
 *   agv_data.c   buffers, their pattern and its check
 *   agv_call.c   ways of running the call
 *   agv_trace.c  bytes through the network device over time
 */

#ifndef AGV_H
#define AGV_H

#include "agv_dist.h"
#include "bench.h"

/** How an element lies in memory. */
typedef enum { AGV_TYPE_AUTO, AGV_TYPE_BYTE, AGV_TYPE_LIST, AGV_TYPES } agv_type_t;

typedef enum { AGV_BLOCKING, AGV_MPICH, AGV_LINEAR } agv_way_t;

/** One row: a distribution and a total. */
typedef struct agv_problem_t {
    const char *dist;
    size_t total;
    size_t unit;   /**< bytes of data in an element */
    size_t *bytes; /**< [size] contributions */
    int *counts;   /**< [size] elements */
    int *displs;   /**< [size] elements */
} agv_problem_t;

/** Elements in memory: `unit` bytes of data at gaps[] in every `extent` bytes. */
typedef struct agv_layout_t {
    MPI_Datatype type;
    size_t unit;
    size_t extent;
    size_t gaps[4];
    bool dense;
    bool owned; /**< the type is to be freed */
} agv_layout_t;

typedef struct agv_data_t {
    agv_layout_t layout;
    unsigned char *send;
    unsigned char *recv;
    size_t send_size;
    size_t recv_size; /**< without the guard behind it */
} agv_data_t;

/* agv_data.c */
/** Who contributes how much of `total` bytes; of ranks on these nodes. False: there is no such
 *  distribution, or no memory; nothing is to be freed then. */
bool agv_problem_create(agv_problem_t *problem, const char *dist, size_t total,
                        agv_type_t element, const bench_world_t *world);
void agv_problem_free(agv_problem_t *problem);
bool agv_data_create(agv_data_t *data, const agv_problem_t *problem, agv_type_t element, int rank);
void agv_data_free(agv_data_t *data);
void agv_data_fill(agv_data_t *data, const agv_problem_t *problem, int rank, uint64_t call);
/** True if every byte is right; else a sentence in `error`. */
bool agv_data_verify(const agv_data_t *data, const agv_problem_t *problem, int ranks,
                     uint64_t call, char *error);

/* agv_call.c */
int agv_call(agv_way_t way, const agv_problem_t *problem, const agv_data_t *data, MPI_Comm comm);

/* agv_trace.c */
bool agv_trace_start(const char *file, int rank);
void agv_trace_call(const char *dist, size_t total, const char *arm, double start, double end);
void agv_trace_stop(void);

#endif
