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
 * time, but never of one that only users choose. Where lessons have measured both ways of an
 * allreduce, the measured times decide; a lesson gets the way that it wants.
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

static mca_coll_pipering_plan_t *plan_wanted(const machine_t *machine,
                                             mca_coll_pipering_collective_t collective,
                                             size_t bytes, int algorithm,
                                             mca_coll_pipering_server_t wanted)
{
    const mca_coll_pipering_key_t key = {
        .collective = collective,
        .params = {.algorithm = algorithm,
                   .ring_buffer_size = MCA_COLL_PIPERING_RING_BUFFER_SIZE,
                   .reorder_nodes = true},
        .wanted = wanted,
        .sizes = {.count = bytes, .scale = 1, .unit = 1, .parts = 1}};
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(machine->facts.ranks, NULL, &key);

    if (NULL == plan || !mca_coll_pipering_plan_make(plan, &machine->facts)) {
        printf("Bail out! no plan\n");
        exit(EXIT_FAILURE);
    }
    return plan;
}

static mca_coll_pipering_plan_t *plan_call(const machine_t *machine,
                                           mca_coll_pipering_collective_t collective, size_t bytes,
                                           int algorithm)
{
    return plan_wanted(machine, collective, bytes, algorithm, MCA_COLL_PIPERING_BY_ANY);
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

static int algorithm_of(const machine_t *machine, size_t bytes, mca_coll_pipering_server_t wanted)
{
    mca_coll_pipering_plan_t *plan = plan_wanted(machine, MCA_COLL_PIPERING_ALLREDUCE, bytes,
                                                 MCA_COLL_PIPERING_AUTO, wanted);
    const int algorithm = (int) plan->row->algorithm;

    mca_coll_pipering_plan_release(plan);
    return algorithm;
}

/*
 * An allreduce after lessons: merged pipelines, with any blocks, took `merged` seconds a byte, and
 * as the model says within noise, the ring `ring`.
 */
static void try_lessons(tap_tally_t *measured, tap_tally_t *wanted, machine_t *machine,
                        size_t bytes)
{
    const float merged = 1 + (float) tap_below(100), ring = 0.5f + (float) tap_below(100);
    mca_coll_pipering_factors_t factors = {.other = ring};

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; i++) {
        factors.of[i] = 1;
        factors.took[i] = merged;
        factors.times[i] = 2;
    }
    machine->facts.cost.net.factors = &factors;
    const int chosen = algorithm_of(machine, bytes, MCA_COLL_PIPERING_BY_ANY);
    const int best = ring < merged ? MCA_COLL_PIPERING_RING : MCA_COLL_PIPERING_MERGED;
    tap_try(measured, best == chosen, "%d ranks, %zu bytes: ring %g, merged %g, algorithm %d",
            machine->facts.ranks, bytes, (double) ring, (double) merged, chosen);
    tap_try(wanted,
            MCA_COLL_PIPERING_MERGED == algorithm_of(machine, bytes, MCA_COLL_PIPERING_BY_PIPELINE)
                && MCA_COLL_PIPERING_RING
                       == algorithm_of(machine, bytes, MCA_COLL_PIPERING_BY_OTHER),
            "%d ranks, %zu bytes", machine->facts.ranks, bytes);
    machine->facts.cost.net.factors = NULL;
}

int main(void)
{
    int wins[MCA_COLL_PIPERING_MESH_LINES + 1] = {0};
    tap_tally_t best = {0, 0}, measured = {0, 0}, wanted = {0, 0};

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
        if (1 < nodes) {
            try_lessons(&measured, &wanted, &machine, (size_t) tap_between(8192, 1 << 20));
        }
    }
    tally_ok(&best, 3000, "the plan is that of the fastest algorithm");
    tally_ok(&measured, 2000, "where both ways of an allreduce are measured, the faster serves");
    tally_ok(&wanted, 2000, "and in a lesson the wanted one");
    ok(0 < wins[MCA_COLL_PIPERING_MERGED] && 0 < wins[MCA_COLL_PIPERING_RING],
       "vectors are reduced to all in two ways: %d merged, %d by the ring",
       wins[MCA_COLL_PIPERING_MERGED], wins[MCA_COLL_PIPERING_RING]);
    return tap_end();
}
