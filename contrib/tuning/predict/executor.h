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
 * Executor: what happens to every block of a call. It takes what the pipeline engine takes, the
 * routes of all ranks, and finds when each message begins and when its block has arrived:
 *
 *     begins  = max(the block is there, the link is free, the port out of the node is free)
 *     arrives = max(begins, the port into the other node is free) + time on the link + latency
 *
 * where a port with a token bucket is free, and has carried a message, earlier by what the bucket
 * holds.
 *
 * A port carries one message at a time, the one that waits longest; between two ports there
 * is room for what waits, as in a switch. Blocks that are combined
 * wait for each other and for their rank's processor. So where streams share ports it shows what
 * the closed forms of the model leave out, and where they do not it must agree with these.
 *
 * It believes no plan: it fails if two ends of a link do not match, if a rank sends a block that
 * it does not hold at this place of its stream, if a link brings another block than its receiver
 * expects, or if the flow stops too early.
 *
 * Cost: O(log links) a message; memory for the blocks that wait somewhere. Limits: the
 * room between ports is not bounded; a port has messages whole, one after the other, where packets
 * of several might take turns.
 */

#ifndef PIPERING_EXECUTOR_H
#define PIPERING_EXECUTOR_H

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan.h"

/** What messages between nodes share. */
typedef enum {
    EXECUTOR_SWITCH, /**< a node has one port, which carries a message in and one out */
    EXECUTOR_HALF,   /**< a node has one port, which carries one message, in or out, at the same
                          time as that of the other node */
    EXECUTOR_WIRES,  /**< two nodes have a wire each way between them, as neighbours in a mesh */
    EXECUTOR_FREE    /**< nothing: every stream has a link of its own, inside nodes too */
} executor_wiring_t;

/** The machine. Inside a node a rank receives one message at a time. */
typedef struct executor_machine_t {
    mca_coll_pipering_cost_t cost;
    const double *slower; /**< [ranks] times as long a message out of the node of a rank takes as
                               `cost.net` says; NULL: 1 */
    double combine; /**< seconds in which a rank combines a byte */
    double bucket;  /**< seconds of the rate that a port or wire between nodes saves up while it
                         rests, and then carries at once, as a token bucket does */
    double handling; /**< seconds of a rank's processor for a message, at either end, before and
                          after the time on the link */
    executor_wiring_t wiring;
} executor_machine_t;

/** A message that has been sent. */
typedef struct executor_message_t {
    int pipe, from, to;
    int link; /**< in, of the receiver's route */
    mca_coll_pipering_block_t block;
    double begins, ends; /**< leaving, and through the port of the receiver */
    double arrives;      /**< the receiver can pass it on */
} executor_message_t;

/** A call as pipelines. All is borrowed. */
typedef struct executor_problem_t {
    int ranks, pipes;
    const mca_coll_pipering_route_t *routes; /**< [pipes * ranks], pipe by pipe, by rank */
    const size_t *bytes; /**< of each contribution, by rank, in units */
    size_t block_size; /**< in units */
    size_t unit;                 /**< bytes */
    const int *node_of;          /**< [ranks] the lowest rank on the node of each rank */
    uint64_t slots; /**< a link waits while its receiver has so many blocks of it that it has yet
                         to pass on; 0: it never does */
    executor_machine_t machine;
    void (*seen)(void *context, const executor_message_t *message); /**< NULL: nobody looks */
    void *context;
} executor_problem_t;

typedef struct executor_result_t {
    char error[200];   /**< empty if all went well */
    double finish;     /**< seconds until the last rank has everything */
    uint64_t messages;
    double busiest;    /**< seconds in which the busiest port between nodes carried messages */
    double *done;      /**< [ranks] seconds until a rank has everything */
} executor_result_t;

/**
 * Runs a call. False if something is wrong, see error, or there is no memory. executor_free is
 * to be called either way.
 */
bool executor_run(const executor_problem_t *problem, executor_result_t *result);

/** An exchange in rounds (coll_pipering_plan_grid.c). All is borrowed. */
typedef struct executor_rounds_t {
    const mca_coll_pipering_grid_t *grid;
    const size_t *bytes; /**< [ranks] by rank */
    size_t packed;       /**< bytes above which a contribution is a message of its own */
    const int *node_of;
    executor_machine_t machine;
} executor_rounds_t;

/** The same for an exchange in rounds: a rank sends what it holds once it has all of it. */
bool executor_run_rounds(const executor_rounds_t *problem, executor_result_t *result);

void executor_free(executor_result_t *result);

#endif
