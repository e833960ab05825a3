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
 * The modelled time of the leaders' exchange in lanes, for a number of leaders on each node.
 *
 *     1 leader     |=m=|=m=|========= bytes =========|      m: fixed cost of a message
 *     2 leaders    |=m=|   |=m=|   |==== bytes ====|
 *                      |=m=|   |=m=|==== bytes ====|
 *
 * L leaders in lanes share the bytes that the node receives. But each of them sends and receives as
 * many messages as a single leader would, and all of these pass the same network interface:
 *
 *     T(L) = ceil(log2 nodes) L m + bytes / K
 *
 * The unit of m and T is the time in which a leader moves one byte. K is the number of processors
 * on which the L leaders run, at least 1: min(L, L / ranks a processor), as all ranks of a node
 * are busy during the call. So one leader is best for small messages and on crowded nodes.
 *
 * Limits: the model has the exchange alone, as aggregation and distribution cost the same for any
 * L; it counts the rounds of recursive doubling for a ring, too.
 *
 * Kandalla et al., section 7, leave the choice of the number of leaders as future work.
 */

#include "coll_mleader_plan.h"

double mca_coll_mleader_leading_cost(const mca_coll_mleader_load_t *load, int leaders)
{
    const double busy = 1 < load->crowd ? leaders / load->crowd : leaders;
    const double at_once = 1 < busy ? busy : 1;
    int rounds = 0;

    while (1 << rounds < load->nodes) {
        ++rounds;
    }
    return (double) rounds * leaders * (double) load->message + (double) load->bytes / at_once;
}
