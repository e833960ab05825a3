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
 * The choice among the algorithms of a broadcast, a reduction or a scan, on random machines:
 * without one forced, the plan is that of the algorithm whose forced plan takes the least modelled
 * time, but never of one that only users choose.
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

static mca_coll_pipering_plan_t *plan_call(const machine_t *machine,
                                           mca_coll_pipering_collective_t collective, size_t bytes,
                                           int algorithm)
{
    const mca_coll_pipering_key_t key = {
        .collective = collective,
        .params = {.algorithm = algorithm,
                   .ring_buffer_size = MCA_COLL_PIPERING_RING_BUFFER_SIZE,
                   .reorder_nodes = true},
        .sizes = {.count = bytes, .scale = 1, .unit = 1, .parts = 1}};
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(machine->facts.ranks, NULL, &key);

    if (NULL == plan || !mca_coll_pipering_plan_make(plan, &machine->facts)) {
        printf("Bail out! no plan\n");
        exit(EXIT_FAILURE);
    }
    return plan;
}

/* The algorithms that may be chosen, by the manual (docs/tuning.md), without a mesh. */
static const struct {
    mca_coll_pipering_collective_t collective;
    int algorithm[3]; /* 0: there are no more */
} chosen[] = {
    {MCA_COLL_PIPERING_BCAST, {MCA_COLL_PIPERING_PIPELINE}},
    {MCA_COLL_PIPERING_REDUCE, {MCA_COLL_PIPERING_PIPELINE}},
    {MCA_COLL_PIPERING_SCAN, {MCA_COLL_PIPERING_PIPELINE}},
    {MCA_COLL_PIPERING_EXSCAN, {MCA_COLL_PIPERING_PIPELINE}},
    {MCA_COLL_PIPERING_ALLREDUCE, {MCA_COLL_PIPERING_MERGED, MCA_COLL_PIPERING_RING}},
};
#define COLLECTIVES (sizeof(chosen) / sizeof(chosen[0]))

static bool is_same(const mca_coll_pipering_plan_t *a, const mca_coll_pipering_plan_t *b)
{
    return a->row == b->row && a->time == b->time && a->pipes == b->pipes
           && a->cut.block_size == b->cut.block_size && a->out.blocks == b->out.blocks
           && a->in.blocks == b->in.blocks;
}

/* Where two algorithms take the same time either may be chosen. */
static void try_call(tap_tally_t *best, int *wins, const machine_t *machine, size_t bytes, size_t c)
{
    mca_coll_pipering_plan_t *plan = plan_call(machine, chosen[c].collective, bytes,
                                               MCA_COLL_PIPERING_AUTO);
    bool found = false, beaten = false;

    for (int i = 0; i < 3 && 0 != chosen[c].algorithm[i]; i++) {
        mca_coll_pipering_plan_t *forced = plan_call(machine, chosen[c].collective, bytes,
                                                     chosen[c].algorithm[i]);
        found = found || is_same(plan, forced);
        beaten = beaten || forced->time < plan->time;
        mca_coll_pipering_plan_release(forced);
    }
    wins[plan->row->algorithm]++;
    tap_try(best, found && !beaten, "collective %d, %d ranks on %d nodes, %zu bytes: %s, %g s",
            (int) chosen[c].collective, machine->facts.ranks, machine->facts.nodes, bytes,
            plan->row->text, plan->time);
    mca_coll_pipering_plan_release(plan);
}

int main(void)
{
    int wins[MCA_COLL_PIPERING_MESH_LINES + 1] = {0};
    tap_tally_t best = {0, 0};

    tap_start();
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
        try_call(&best, wins, &machine, (size_t) tap_between(8192, 65536) << tap_below(8),
                 (size_t) i % COLLECTIVES);
    }
    tally_ok(&best, 3000, "the plan is that of the fastest algorithm");
    ok(0 < wins[MCA_COLL_PIPERING_MERGED] && 0 < wins[MCA_COLL_PIPERING_RING],
       "vectors are reduced to all in two ways: %d merged, %d by the ring",
       wins[MCA_COLL_PIPERING_MERGED], wins[MCA_COLL_PIPERING_RING]);
    return tap_end();
}
