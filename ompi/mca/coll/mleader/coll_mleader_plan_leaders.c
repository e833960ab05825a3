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
 * The cost of a number of leaders a node.
 *
 *     one      |=m=|=m=|========= bytes =========|      m: the fixed cost of a message
 *     two      |=m=|   |=m=|   |==== bytes ====|
 *                  |=m=|   |=m=|==== bytes ====|
 *
 * Leaders in lanes share the bytes that the node receives, but each of them sends and
 * receives as many messages as a single leader would, through one network interface:
 *
 *     T(L) = ceil(log2 nodes) L m + bytes / K
 *
 * in bytes that a leader moves in this time. K is the number of processors that L leaders
 * have, at least 1: L, or their part of the processors if there are more ranks than
 * processors, since all ranks of a node are busy in the call. So one leader is best for
 * small messages and on crowded nodes. Kandalla et al. leave this choice as future work
 * (section 7).
 *
 * Limits: the exchange alone; aggregation and distribution cost the same for any L.
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
