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
 * Ranks of one process that run calls by coll/pipering's own pipelines (see posing.h), one step
 * of one rank at a time, in random order: buffers of all kinds of datatypes, channels through
 * memory, and what each byte of a buffer must be in the end.
 */

#ifndef PIPERING_TEST_RANKS_H
#define PIPERING_TEST_RANKS_H

#include "coll_pipering_engine.h"

#define RANKS_PIPES 12
#define RANKS_RINGS 3
#define RANKS_INS POSING_RANKS
#define RANKS_OUTS (6 * POSING_RANKS)

typedef enum {
    RANKS_GATHER, /* every rank gets the contributions of all */
    RANKS_BCAST,  /* that of the root */
    RANKS_REDUCE, /* the root gets the combination of all, in the order of ranks */
    RANKS_SCAN,   /* each rank that of the ranks up to it, or before it */
    RANKS_EXSCAN,
    RANKS_ALLREDUCE,
    RANKS_REDUCE_SCATTER /* each rank its part of that */
} ranks_operation_t;

/** Calls that are alike but for their data; equal on all ranks. */
typedef struct ranks_problem_t {
    ranks_operation_t operation;
    int p, root;
    int node_of[POSING_RANKS];  /* the lowest rank on each rank's node */
    size_t bytes[POSING_RANKS]; /* of contributions, by place in the ring; in units */
    size_t starts[POSING_RANKS]; /* of parts of a scattered vector, in units */
    bool scattered;
    bool commutes;
    mca_coll_pipering_ring_t ring, other[RANKS_RINGS]; /* where pipelines have other ones */
    size_t block_size;
    unsigned window;
    size_t ring_buffer_size;
    int pipes;
    mca_coll_pipering_route_t *route[RANKS_PIPES]; /* [p] */
    void *memory;
    int calls; /* one after the other */
    uint64_t *moments; /* how long they take, where messages take time (posing_now), else NULL */
} ranks_problem_t;

/** Opens a problem for p ranks on up to so many nodes; the rest of it is to be filled in. */
void ranks_open(ranks_problem_t *problem, ranks_operation_t operation, int p, int nodes);

/** Random window, ring buffers, and the like. */
void ranks_roll(ranks_problem_t *problem);

/** Routes of all ranks for one more pipeline, without links; its number. */
int ranks_add_pipe(ranks_problem_t *problem);

void ranks_close(ranks_problem_t *problem);

/**
 * Runs the calls; NULL, or what is wrong. With `fails` the send of this number fails on whatever
 * rank it is: then nobody may wait for blocks of a rank whose call has failed, and who ends
 * without an error has the right data.
 */
const char *ranks_run(const ranks_problem_t *problem, unsigned long fails);

/** For messages. */
const char *ranks_show(const ranks_problem_t *problem);

#endif
