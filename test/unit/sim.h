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
 * Simulation: what happens to every block of a call. It takes what the pipeline engine takes, the
 * routes of all ranks, and finds when each message begins and when its block has arrived:
 *
 *     begins  = max(the block is there, the link is free, the port out of the node is free)
 *     arrives = max(begins, the port into the other node is free) + time on the link + latency
 *
 * A port carries one message at a time, the one that waits longest; between two ports there is
 * room for what waits, as in a switch. Blocks that are combined wait for each other and for their
 * rank's processor. So where streams share ports it shows what the closed forms of the model leave
 * out, and where they do not it must agree with these.
 *
 * It believes no plan: it fails if two ends of a link do not match, if a link brings other blocks
 * than its receiver expects, if a rank passes on what it does not hold at this place of its
 * stream, or if the flow stops too early.
 */

#ifndef PIPERING_TEST_SIM_H
#define PIPERING_TEST_SIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coll_pipering_plan.h"

/** A call as pipelines. */
typedef struct sim_call_t {
    int ranks, pipes;
    const mca_coll_pipering_route_t *routes; /**< [pipes * ranks], pipe by pipe, by rank */
    const size_t *bytes;                     /**< [ranks] of each contribution, in units */
    size_t block_size;                       /**< in units */
    size_t unit;                             /**< bytes */
    const int *node_of;                      /**< [ranks] the number of a rank's node, below ranks */
    mca_coll_pipering_cost_t cost;
    double combine; /**< seconds in which a rank combines a byte */
    bool ports;     /**< a node has a port, which carries one message in and one out, and inside it
                         a rank receives one at a time; else two ranks of different nodes have a
                         wire each way, and links inside nodes are alone */
    uint64_t slots; /**< a link waits while its receiver has so many blocks of it that it has yet to
                         pass on; 0: it never does */
} sim_call_t;

/** Seconds until the last rank has everything; NAN: sim_error says what is wrong. */
double sim_run(const sim_call_t *call);
extern char sim_error[200];

/** The cost by which time counts rounds, where streams share nothing. */
extern const mca_coll_pipering_cost_t sim_rounds_cost;

/** A ring with memory of its own, its order and its routes. */
typedef struct sim_plan_t {
    mca_coll_pipering_ring_t ring;
    mca_coll_pipering_route_t *routes; /**< [p] by rank */
    void *memory;
} sim_plan_t;

/** Routes of p ranks with room for links of a ring or a chain, to be freed. */
mca_coll_pipering_route_t *sim_routes(int p);

void sim_plan(sim_plan_t *plan, int p, const int *node_of, const uint64_t *blocks, unsigned flags);
void sim_plan_free(sim_plan_t *plan);

/**
 * Runs a gather of `bytes` [p] over wires. It also fails if a block arrives twice
 * or at its origin, or if a rank lacks one.
 */
double sim_gather(const sim_plan_t *plan, const size_t *bytes, size_t block_size,
                  mca_coll_pipering_cost_t cost, uint64_t slots);

#endif
