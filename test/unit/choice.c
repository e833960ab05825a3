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
 * The choice between a chain and two trees for a broadcast, on random machines: two trees are
 * chosen where they take less time than the chain and the module below by more than their model
 * may be wrong, never on two nodes or on one, and never by calls that must show a link's rate.
 */

#include <string.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"
#include "tap.h"

#define MOST 256 /* ranks */

/** A machine; node_of in its facts is its own. */
typedef struct machine_t {
    int node_of[MOST];
    mca_coll_pipering_facts_t facts;
} machine_t;

static void open_machine(machine_t *machine, int nodes, int per_node,
                         mca_coll_pipering_link_cost_t net)
{
    const mca_coll_pipering_link_cost_t local = {
        .alpha = 1e-6, .beta = 3e-10, .latency = 1e-6, .gap = 1e-6, .overlap = true};

    for (int r = 0; r < nodes * per_node; r++) {
        machine->node_of[r] = r / per_node * per_node;
    }
    machine->facts = (mca_coll_pipering_facts_t){.ranks = nodes * per_node,
                                                 .nodes = nodes,
                                                 .node_of = machine->node_of,
                                                 .load = 1,
                                                 .cost = {.net = net, .local = local}};
}

static mca_coll_pipering_plan_t *plan_bcast(const machine_t *machine, size_t bytes, int algorithm,
                                            bool clocked)
{
    const mca_coll_pipering_key_t key = {
        .collective = MCA_COLL_PIPERING_BCAST,
        .params = {.algorithm = algorithm,
                   .ring_buffer_size = MCA_COLL_PIPERING_RING_BUFFER_SIZE,
                   .reorder_nodes = true},
        .clocked = clocked,
        .sizes = {.count = bytes, .scale = 1, .unit = 1, .parts = 1}};
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(machine->facts.ranks, NULL, &key);

    if (NULL == plan || !mca_coll_pipering_plan_make(plan, &machine->facts)) {
        printf("Bail out! no plan\n");
        exit(EXIT_FAILURE);
    }
    return plan;
}

static bool is_two_trees(const mca_coll_pipering_plan_t *plan)
{
    return MCA_COLL_PIPERING_TWO_TREES == plan->row->algorithm;
}

/* The plan of a chain, block by block. */
static bool is_chain(const mca_coll_pipering_plan_t *plan, const mca_coll_pipering_plan_t *chain)
{
    return MCA_COLL_PIPERING_PIPELINE == plan->row->algorithm && chain->pipes == plan->pipes
           && chain->cut.block_size == plan->cut.block_size && chain->time == plan->time
           && chain->out.blocks == plan->out.blocks && chain->in.blocks == plan->in.blocks;
}

typedef struct tallies_t {
    tap_tally_t trees, chain, clocked, few;
} tallies_t;

static void try_bcast(tallies_t *tallies, const machine_t *machine, size_t bytes)
{
    mca_coll_pipering_plan_t *chain = plan_bcast(machine, bytes, MCA_COLL_PIPERING_PIPELINE, false),
                             *trees = plan_bcast(machine, bytes, MCA_COLL_PIPERING_TWO_TREES, false),
                             *plan = plan_bcast(machine, bytes, MCA_COLL_PIPERING_AUTO, false),
                             *clocked = plan_bcast(machine, bytes, MCA_COLL_PIPERING_AUTO, true);
    const double rival = chain->time < chain->rival_time ? chain->time : chain->rival_time;
    const int nodes = machine->facts.nodes;

    if (3 > nodes) {
        tap_try(&tallies->few, is_chain(plan, chain), "%d nodes, %zu bytes", nodes, bytes);
    } else if (4 * trees->time < 3 * rival) {
        tap_try(&tallies->trees,
                is_two_trees(plan) && MCA_COLL_PIPERING_TAKEN == plan->reason
                    && trees->time == plan->time
                    && trees->cut.block_size == plan->cut.block_size,
                "%d nodes, %zu bytes: %g s, others %g s", nodes, bytes, trees->time, rival);
    } else {
        tap_try(&tallies->chain, is_chain(plan, chain), "%d nodes, %zu bytes: %g s, others %g s",
                nodes, bytes, trees->time, rival);
    }
    tap_try(&tallies->clocked, is_chain(clocked, chain), "%d nodes, %zu bytes", nodes, bytes);
    mca_coll_pipering_plan_release(chain);
    mca_coll_pipering_plan_release(trees);
    mca_coll_pipering_plan_release(plan);
    mca_coll_pipering_plan_release(clocked);
}

static void try_machines(void)
{
    tallies_t tallies = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};

    for (int i = 0; i < 3000; i++) {
        static machine_t machine;
        const int per_node = tap_between(1, 4);
        const int nodes = tap_once_in(8) ? tap_between(1, 2) : tap_between(3, MOST / per_node);
        const double alpha = 1e-6 * tap_between(1, 60);

        open_machine(&machine, nodes, per_node,
                     (mca_coll_pipering_link_cost_t){.alpha = alpha,
                                                     .latency = alpha,
                                                     .gap = alpha / 2,
                                                     .beta = 1e-11 * (double) (1 << tap_below(14)),
                                                     .overlap = tap_once_in(2)});
        try_bcast(&tallies, &machine, (size_t) tap_between(8192, 65536) << tap_below(8));
    }
    tally_ok(&tallies.trees, 300, "two trees are chosen where they win by a third");
    tally_ok(&tallies.chain, 300, "a chain is chosen elsewhere");
    tally_ok(&tallies.clocked, 3000, "a call that must show a link's rate goes along a chain");
    tally_ok(&tallies.few, 100, "so do calls on one node or on two");
}

/* As measured on 32 nodes of 20 Mbit/s (docs/results.md). */
static void try_measured(void)
{
    static machine_t machine;

    open_machine(&machine, 32, 1,
                 (mca_coll_pipering_link_cost_t){
                     .alpha = 60e-6, .beta = 4.17e-7, .latency = 60e-6, .overlap = true});
    for (size_t bytes = 8192; bytes <= 65536; bytes *= 2) {
        mca_coll_pipering_plan_t *plan = plan_bcast(&machine, bytes, MCA_COLL_PIPERING_AUTO, false);

        ok(is_two_trees(plan) == (8192 == bytes), "32 nodes of 20 Mbit/s, %zu bytes: %s", bytes,
           plan->row->text);
        mca_coll_pipering_plan_release(plan);
    }
}

int main(void)
{
    tap_start();
    try_machines();
    try_measured();
    return tap_end();
}
