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
 * What the collective modules of Open MPI itself ("the module below") do with a call: which
 * algorithm, how many messages, and how long it takes.
 */

#ifndef MCA_COLL_PIPERING_PLAN_BELOW_H
#define MCA_COLL_PIPERING_PLAN_BELOW_H

#include "coll_pipering_plan_collective.h"
#include "coll_pipering_plan_cost.h"

/** The modules below. */
typedef enum {
    MCA_COLL_PIPERING_BELOW_ANY,   /**< any others: the least that an algorithm needs */
    MCA_COLL_PIPERING_BELOW_TUNED, /**< 5.0: coll/tuned's fixed decisions, coll/basic's scans */
    MCA_COLL_PIPERING_BELOW_HAN,   /**< 5.0: coll/han above these, as it comes */
    MCA_COLL_PIPERING_BELOW_TUNED_6, /**< the same of 6.0 */
    MCA_COLL_PIPERING_BELOW_HAN_6,
    MCA_COLL_PIPERING_BELOW_LEADERS /**< coll/mleader, which stands above: an allgather between
                                         nodes, some of which have several ranks */
} mca_coll_pipering_below_t;

/** A call of 2 ranks or more with 1 byte or more. All pointers are borrowed. */
typedef struct mca_coll_pipering_below_call_t {
    mca_coll_pipering_below_t modules;
    mca_coll_pipering_collective_t collective;
    bool ordered; /**< of a reduction: the operation does not commute */
    int ranks, nodes;
    int ppn;    /**< most ranks on a node */
    bool equal; /**< all nodes have as many */
    int root;
    size_t total; /**< bytes of the vector, or of all contributions */
    size_t unit;  /**< bytes of an element of a vector, at least 1 */
    const size_t *bytes; /**< [ranks] contributions of a gather, or parts of a result in units;
                              NULL: equal ones, or a vector */
    const int *node_of;  /**< [ranks] lowest rank on the node of each rank */
    const int *leaf_of;  /**< [ranks] lowest rank on the leaf switch of each; NULL: not known */
    const mca_coll_pipering_cost_t *cost;
    double combine; /**< seconds a byte */
    void *scratch;  /**< mca_coll_pipering_below_scratch(ranks) bytes, aligned for a double */
} mca_coll_pipering_below_call_t;

/** What it takes below. */
typedef struct mca_coll_pipering_below_time_t {
    double time;           /**< modelled seconds */
    double messages;       /**< sent by all ranks together */
    double bytes;          /**< likewise */
    double work;           /**< seconds of all processors together */
    const char *algorithm; /**< "tuned: ring", "han", "basic: linear", "any"; static */
} mca_coll_pipering_below_time_t;

/** Bytes of scratch memory for so many ranks. */
size_t mca_coll_pipering_below_scratch(int ranks);

/**
 * Modelled time of a call below. Uses + - * / ceil and floor only, so it is equal on all
 * processors. O(p log p); allocates nothing.
 */
mca_coll_pipering_below_time_t
mca_coll_pipering_below_time(const mca_coll_pipering_below_call_t *call);

#endif
