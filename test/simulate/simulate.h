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
 * The player: plans of coll/pipering, as its choice makes them, on a simulated network. Blocks
 * move as the engines move them, by messages of SimGrid's SMPI, in one process with all ranks;
 * what all ranks have in common is there once.
 *
 *   simulate.c         options, calls, time, what is checked
 *   simulate_pipes.c   plays pipelines (coll_pipering_engine.c)
 *   simulate_rounds.c  plays a gather in rounds (coll_pipering_gather_rounds.c)
 *   simulate_reduce.c  plays a reduction in rounds (coll_pipering_reduce_rounds.c)
 *
 * Limits: contributions are dense, a rank's own is not copied at a cost, and nodes have no shared
 * memory: blocks inside a node are messages, too. Sums of ints take no time, as in SimGrid's
 * algorithms, and go around the ring or in rounds.
 */

#ifndef SIMULATE_H
#define SIMULATE_H

#include <mpi.h>
#include <stddef.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"

/** A call as one rank has it. */
typedef struct simulate_call_t {
    int rank;
    const mca_coll_pipering_plan_t *plan;
    const mca_coll_pipering_machine_t *machine;
    const char *send;     /**< what the rank contributes: its part, or a vector to be added up */
    char *recv;           /**< where all parts go, in the order of ranks; or its result */
    const size_t *before; /**< [p] bytes of the ranks before each one */
    size_t unit;          /**< bytes of an element of a sum, else 1 */
    size_t total;         /**< bytes of all parts */
    bool shared;          /**< memory is not real, so that its content is not looked at */
    double copy;          /**< seconds to pack or to unpack a byte */
} simulate_call_t;

/** Takes memory that is real, or is not, or ends the program. */
void *simulate_take(size_t bytes, bool shared);
void simulate_give(void *memory, bool shared);

/** Plays the pipelines of the call's plan. */
void simulate_pipes(const simulate_call_t *call);

/** Plays its exchange in rounds, or its reduction. */
void simulate_rounds(const simulate_call_t *call);
void simulate_reduce(const simulate_call_t *call);

/** Adds ints, if memory is real. */
void simulate_add(const simulate_call_t *call, char *to, const char *from, size_t bytes);

#endif
