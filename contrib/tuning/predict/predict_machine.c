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
 * The machine of a call, as the component's plans and model want it.
 */

#include "predict.h"

/* Most ranks of a node. */
static int most_of_node(const predict_call_t *call)
{
    return call->ranks < call->ppn ? call->ranks : call->ppn;
}

mca_coll_pipering_situation_t predict_situation(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;
    const predict_machine_t *machine = &predict->machine;
    const int ppn = most_of_node(call);
    /* in single precision, as ranks tell each other */
    const double load = 0 < machine->processors
                            ? (float) (ppn / (double) (float) machine->processors)
                            : machine->of.value[MCA_COLL_PIPERING_LOAD];

    return (mca_coll_pipering_situation_t){.ranks = call->ranks,
                                       .nodes = call->nodes,
                                       .ppn = ppn,
                                       .node_of = call->node_of,
                                       .load = load,
                                       .pulls = true,
                                       .below = (mca_coll_pipering_below_t) machine->below,
                                       .machine = &machine->of,
                                       .ways = call->ways};
}

mca_coll_pipering_cost_t predict_cost(const predict_t *predict)
{
    const mca_coll_pipering_machine_t *machine = &predict->machine.of;

    return mca_coll_pipering_machine_cost(machine, machine->value[MCA_COLL_PIPERING_NET_BETA],
                                          predict_situation(predict).load);
}
