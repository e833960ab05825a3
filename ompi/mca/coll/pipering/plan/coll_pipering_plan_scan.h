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
 * Scans in few rounds: partners, and modelled time (plan_scan).
 */

#ifndef MCA_COLL_PIPERING_PLAN_SCAN_H
#define MCA_COLL_PIPERING_PLAN_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "coll_pipering_plan_cost.h"

/** A scan of so many ranks, or one that leaves out the own value. */
typedef struct mca_coll_pipering_scan_t {
    int ranks;
    bool exclusive;
} mca_coll_pipering_scan_t;

/** No rank. */
#define MCA_COLL_PIPERING_SCAN_NONE (-1)

int mca_coll_pipering_scan_rounds(const mca_coll_pipering_scan_t *scan);

/** The rank to which, or from which, rank `me` sends in round k; MCA_COLL_PIPERING_SCAN_NONE. */
int mca_coll_pipering_scan_to(const mca_coll_pipering_scan_t *scan, int me, int k);
int mca_coll_pipering_scan_from(const mca_coll_pipering_scan_t *scan, int me, int k);

/** A scan in rounds, for the model. All pointers are borrowed. */
typedef struct mca_coll_pipering_scan_problem_t {
    mca_coll_pipering_scan_t scan;
    const int *node_of; /**< [ranks] the lowest rank on the node of each rank */
    size_t bytes;       /**< of the vector */
    double combine;     /**< seconds a byte */
    mca_coll_pipering_cost_t cost;
    size_t *scratch; /**< [ranks] */
} mca_coll_pipering_scan_problem_t;

/** Modelled seconds, the sum over rounds. O(p log p). */
double mca_coll_pipering_scan_time(const mca_coll_pipering_scan_problem_t *problem);

#endif
