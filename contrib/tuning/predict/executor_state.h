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
 * The state of an execution, for the files of the executor.
 *
 * A flow is a pipe at a rank. It has a queue of the blocks that came over each link in, and one
 * of results; links out of it read them. A link is an entry of the receiver's route.
 */

#ifndef PIPERING_EXECUTOR_STATE_H
#define PIPERING_EXECUTOR_STATE_H

#include "executor.h"

/** Blocks that wait to be passed on, by the order in which they came; `room` is a power of 2. */
typedef struct executor_queue_t {
    struct {
        double time;
        mca_coll_pipering_block_t block;
    } * entry;
    uint64_t first, count, room;
} executor_queue_t;

/** A stream whose next block can be looked at. */
typedef struct executor_stream_t {
    mca_coll_pipering_walk_t walk;
    mca_coll_pipering_block_t next;
    bool more;
} executor_stream_t;

typedef struct executor_link_t {
    int pipe, from, to;
    int link;   /**< of the receiver's route */
    int source; /**< queue of the sender's flow that it reads */
    enum { EXECUTOR_WAITS, EXECUTOR_LISTED, EXECUTOR_OVER } state;
    bool local;
    bool stalls;      /**< it waits for a slot */
    double begins, ready; /**< keys in the list: when the next message can begin, and since when it
                               waits for nothing but ports, so that links take turns at these */
    double least;     /**< no message begins before */
    double free;      /**< end of the last message */
    size_t length;    /**< of a message, in units, whose time is known */
    double time;
    uint64_t own, read; /**< blocks sent of each kind */
    int wire;         /**< with EXECUTOR_WIRES */
    executor_stream_t owns, forwards, expects;
} executor_link_t;

typedef struct executor_flow_t {
    const mca_coll_pipering_route_t *route;
    executor_queue_t *queue; /**< [ins + 1] */
    int in;                  /**< first of its links in */
    int *out;                /**< [outs] */
    uint64_t combined, results; /**< results that are there, and that there will be */
    uint64_t others;         /**< results of the pipe of its gate that are not its own blocks */
} executor_flow_t;

typedef struct executor_t {
    const executor_problem_t *problem;
    executor_result_t *result;
    executor_flow_t *flow; /**< [pipes * ranks] */
    executor_link_t *link;
    int links;
    int *heap; /**< links that can send, the one that begins first on top */
    int listed;
    double *in_port, *out_port, *local_port, *processor; /**< [ranks] when they are free */
    double *carried;                                     /**< [ranks] seconds by out ports */
    double *wire;                                        /**< [links] when they are free */
    executor_queue_t *queues;
    int *outs;
} executor_t;

/** Opens all links; false: a plan is wrong, or there is no memory. */
bool executor_open(executor_t *run);
void executor_close(executor_t *run);

/** Adds a block to a queue; false: there is no memory. */
bool executor_put(executor_queue_t *queue, double time, const mca_coll_pipering_block_t *block);

/** Adds a link to the heap; moves the top down whose keys have grown; takes the top out. */
void executor_heap_add(executor_t *run, int link);
void executor_heap_sink(executor_t *run);
void executor_heap_take(executor_t *run);

/** Looks at the next block. */
void executor_step(executor_stream_t *stream);

/** Notes the first error; false. */
bool executor_fail(executor_result_t *result, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
