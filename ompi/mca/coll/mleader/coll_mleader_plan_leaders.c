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
 * How many leaders a node should have.
 *
 *     one      |=m=|=m=|========= bytes =========|      m: what a message costs besides
 *     two      |=m=|   |=m=|   |==== bytes ====|           its bytes
 *                  |=m=|   |=m=|==== bytes ====|
 *
 * Leaders in lanes share what comes into the node, but each of them sends and receives
 * as many messages as one would alone, and these go through one network interface:
 *
 *     T(L) = ceil(log2 nodes) L m + bytes / K
 *
 * in bytes that a leader moves meanwhile, K being the processors that L leaders have: L,
 * or their part of the processors where ranks outnumber them, since all ranks of a node
 * are busy in the call; at least 1. So one leader is best for small messages and on
 * crowded nodes. Kandalla et al. leave this choice as future work (section 7).
 *
 * Limits: of the exchange alone; aggregation and distribution are the same for any L.
 */

#include "coll_mleader_plan.h"

double mca_coll_mleader_leading_cost(const mca_coll_mleader_load_t *load, int leaders)
{
    const double part = (double) load->processors / load->ranks;
    const double busy = 1 > part ? leaders * part : leaders, at_once = 1 < busy ? busy : 1;
    int rounds = 0;

    while (1 << rounds < load->nodes) {
        ++rounds;
    }
    return (double) rounds * leaders * (double) load->message + (double) load->bytes / at_once;
}
