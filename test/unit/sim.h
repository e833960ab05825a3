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
 * Gathers that a set of routes describes, run by the executor (contrib/tuning/predict): every
 * link carries a block at a time. What the executor does not see is checked here: a block arrives
 * nowhere twice nor at its origin, and everybody has everything in the end.
 *
 * With alpha = 1 and nothing else the finish time is the number of rounds.
 */

#ifndef PIPERING_TEST_SIM_H
#define PIPERING_TEST_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_pipering_plan.h"
#include "executor.h"

typedef struct sim_problem_t {
    const mca_coll_pipering_ring_t *ring;
    const mca_coll_pipering_route_t *routes; /**< [p] by rank */
    const size_t *bytes;                     /**< [p] by rank */
    size_t block_size;
    mca_coll_pipering_cost_t cost;
    uint64_t slots; /**< if not 0: a link stalls while its receiver holds so many blocks
                         of it that it has yet to forward */
} sim_problem_t;

typedef struct sim_result_t {
    char error[200];                /**< empty if all went well */
    double finish;                  /**< when the last rank has everything */
    uint64_t arrived;               /**< blocks received by all ranks together */
    double *done;                   /**< [p] by rank: when it has everything */
    int links;                      /**< the most links into a rank */
    mca_coll_pipering_volume_t *in; /**< [p * links] what came in */
} sim_result_t;

/** The cost that makes the finish time count rounds. */
extern const mca_coll_pipering_cost_t sim_rounds_cost;

/** Runs; false if something is wrong, see error. The result is to be freed either way. */
bool sim_run(const sim_problem_t *problem, sim_result_t *result);

void sim_free(sim_result_t *result);

/** A ring with memory of its own, its order and its routes: what sim_run wants. */
typedef struct sim_plan_t {
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_route_t *routes;
    void *memory;
} sim_plan_t;

/** Routes of p ranks with room for links of a ring or a chain, to be freed. */
mca_coll_pipering_route_t *sim_routes(int p);

void sim_plan(sim_plan_t *plan, int p, const int *node_of, const uint64_t *blocks, unsigned flags);
void sim_plan_free(sim_plan_t *plan);

#endif
