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
 * The model of a call along the ring (plan_model).
 */

#ifndef MCA_COLL_PIPERING_PLAN_MODEL_H
#define MCA_COLL_PIPERING_PLAN_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_pipering_plan_blocks.h"
#include "coll_pipering_plan_cost.h"

/** How B is chosen (paper 2.4). */
typedef enum {
    MCA_COLL_PIPERING_MODEL_SEARCH,   /**< least modelled time over candidate sizes */
    MCA_COLL_PIPERING_MODEL_EQUATION2 /**< equation (2), corrected */
} mca_coll_pipering_block_model_t;

/**
 * A call along the ring, for the model: a gather or a reduce-scatter. The members of the modelled
 * ring are the nodes, or the ranks if there is only one node, or in a reduce-scatter. All pointers
 * are borrowed.
 */
typedef struct mca_coll_pipering_problem_t {
    const mca_coll_pipering_ring_t *ring;
    const size_t *bytes; /**< [p] by rank, of contributions or of parts of the result */
    mca_coll_pipering_cost_t cost;
    void *scratch; /**< mca_coll_pipering_model_scratch(p) bytes */
    bool reduces;   /**< a reduce-scatter */
    double combine; /**< of one: seconds a byte */
} mca_coll_pipering_problem_t;

/** Bytes of scratch memory for the functions below. */
size_t mca_coll_pipering_model_scratch(int p);

/** Modelled seconds of the pipelined ring with blocks of at most B bytes. O(p). */
double mca_coll_pipering_time(const void *problem, size_t block_size);

/**
 * Modelled seconds that it takes at least, whatever its blocks; if they are seen to be more than
 * `enough`, fewer. O(p).
 */
double mca_coll_pipering_least_time(const mca_coll_pipering_problem_t *problem, double enough);

/** Number of rounds of the ring of members, exact for the order of the ring. O(p). */
uint64_t mca_coll_pipering_model_rounds(const mca_coll_pipering_problem_t *problem,
                                        size_t block_size);

/**
 * B in bytes by equation (2), corrected; at least 1, at most the largest contribution, which is
 * the result for a regular problem.
 */
size_t mca_coll_pipering_equation2(const mca_coll_pipering_problem_t *problem);

/** The block size of least modelled time for a call along the ring, in bytes. */
size_t mca_coll_pipering_search(const mca_coll_pipering_problem_t *problem);

#endif
