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
 * Simulation: rings against the recurrence of their links, and ports; the modelled times of all
 * algorithms in blocks against it, for random calls and meshes.
 */

#include <math.h>
#include <string.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_ways.h"
#include "sim.h"
#include "tap.h"

#define MOST 4096       /* ranks */
#define MESSAGES 100000 /* of a case, about */

/* ---- random calls ---- */

/* A number of ranks whose octaves are equally frequent. */
static int random_ranks(int least, int most)
{
    const double octaves = log2((double) most / least) * (double) tap_below(1001) / 1000;

    return (int) fmin(most, round(least * exp2(octaves)));
}

/* Contributions of full blocks or of any bytes, none of them empty or many. */
static void fill_bytes(size_t *bytes, int p, size_t block_size, bool full)
{
    const uint64_t most = 1 + MESSAGES / ((uint64_t) p * (uint64_t) p), empties = tap_below(10);

    for (int r = 0; r < p; r++) {
        const size_t blocks = 1 + tap_below(most < 12 ? most : 12);

        bytes[r] = tap_below(10) < empties || (1 == most && 0 < r % (1 + p / 32)) ? 0
                   : full ? blocks * block_size
                          : 1 + tap_below(blocks * block_size);
    }
    bytes[tap_below((uint64_t) p)] = block_size * (1 + tap_below(4));
}

static mca_coll_pipering_cost_t random_cost(void)
{
    const double beta = 1e-11 * exp2((double) tap_below(14));
    const mca_coll_pipering_link_cost_t net = {.alpha = 1e-6 * (double) (1 + tap_below(50)),
                                               .beta = beta,
                                               .latency = 1e-6 * (double) tap_below(30),
                                               .envelope = (double) tap_below(2) * 32,
                                               .overlap = tap_once_in(2)};

    return (mca_coll_pipering_cost_t){
        .net = net,
        .local = {.alpha = 0.5e-6, .beta = beta / 20, .latency = 0.3e-6, .overlap = true}};
}

/* ---- rings ---- */

typedef struct ring_case_t {
    int p;
    size_t *bytes;
    uint64_t *blocks;
    size_t block_size;
    mca_coll_pipering_cost_t cost;
    sim_plan_t plan;
} ring_case_t;

/*
 * When the last block is there: contribution after contribution by the distance that it has come,
 * as links carry them. ready [p][b'] is when a block can leave a position.
 */
static double recur(const ring_case_t *in)
{
    const mca_coll_pipering_link_cost_t *link = &in->cost.net;
    const int p = in->p, *rank = in->plan.ring.rank;
    uint64_t *first = calloc((size_t) p + 1, sizeof(*first));
    double *free_at = calloc((size_t) p, sizeof(*free_at)), last = 0;

    for (int x = 0; x < p; x++) {
        first[x + 1] = first[x] + in->blocks[rank[x]];
    }
    const uint64_t all = first[p];
    double *ready = calloc((size_t) p * all, sizeof(*ready));
    for (int distance = 0; distance < p - 1; distance++) {
        for (int x = 0; x < p; x++) {
            const int from = (x - distance + p) % p, to = (x + 1) % p;
            const size_t m = in->bytes[rank[from]], b = in->blocks[rank[from]];

            for (uint64_t k = 0; k < b; k++) {
                const double length = (double) (m / b + (k < m % b));

                free_at[x] = fmax(free_at[x], ready[(uint64_t) x * all + first[from] + k])
                             + mca_coll_pipering_stream_time(link, 1, length);
                ready[(uint64_t) to * all + first[from] + k] = free_at[x] + link->latency;
                last = fmax(last, free_at[x] + link->latency);
            }
        }
    }
    free(first);
    free(free_at);
    free(ready);
    return last;
}

static bool is_near(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance * b;
}

/* Rings of ranks with a node each. */
static void test_rings(void)
{
    tap_tally_t links = {0, 0}, exact = {0, 0}, model = {0, 0};

    for (int i = 0; i < 1600; i++) {
        const bool full = 0 == i % 2;
        ring_case_t in = {.p = random_ranks(2, tap_once_in(50) ? MOST : 96),
                          .block_size = 1 + tap_below(100000), .cost = random_cost()};
        in.bytes = tap_memory((size_t) in.p * sizeof(*in.bytes));
        in.blocks = tap_memory((size_t) in.p * sizeof(*in.blocks));
        fill_bytes(in.bytes, in.p, in.block_size, full);
        for (int r = 0; r < in.p; r++) {
            in.blocks[r] = mca_coll_pipering_blocks(in.bytes[r], in.block_size);
        }
        sim_plan(&in.plan, in.p, NULL, in.blocks,
                 tap_once_in(2) ? MCA_COLL_PIPERING_ORDER_EMPTIES : 0);
        void *scratch = tap_memory(mca_coll_pipering_model_scratch(in.p));
        const mca_coll_pipering_problem_t problem = {.ring = &in.plan.ring,
                                                     .bytes = in.bytes,
                                                     .cost = in.cost,
                                                     .scratch = scratch};
        const double modelled = mca_coll_pipering_time(&problem, in.block_size);
        const double simulated = sim_gather(&in.plan, in.bytes, in.block_size, in.cost, 0);

        tap_try(&links, is_near(simulated, recur(&in), 1e-9), "p %d, B %zu: %g, not %g %s", in.p,
                in.block_size, simulated, recur(&in), sim_error);
        tap_try(full ? &exact : &model, is_near(modelled, simulated, full ? 1e-9 : 0.25),
                "p %d, B %zu: model %g, simulated %g", in.p, in.block_size, modelled, simulated);
        free(scratch);
        sim_plan_free(&in.plan);
        free(in.bytes);
        free(in.blocks);
    }
    tally_ok(&links, 1600, "rings: the time is that of the recurrence of links");
    tally_ok(&exact, 800, "rings of full blocks: the modelled time");
    tally_ok(&model, 800, "rings of any blocks: the modelled time within 25%%");
}

/* ---- all algorithms in blocks, by plans of the component ---- */

#define LEAST_BLOCK 1024 /* bytes */

typedef struct call_t {
    mca_coll_pipering_machine_t machine;
    mca_coll_pipering_situation_t at;
    mca_coll_pipering_key_t key;
    int *node_of, *counts;
    mca_coll_pipering_ways_t *ways;
    mca_coll_pipering_plan_t *plan;
} call_t;

/* Links as those of random_cost, and any combining. */
static mca_coll_pipering_machine_t random_machine(void)
{
    const mca_coll_pipering_cost_t cost = random_cost();

    return (mca_coll_pipering_machine_t){
        .value = {[MCA_COLL_PIPERING_NET_ALPHA] = 1e6 * cost.net.alpha,
                  [MCA_COLL_PIPERING_NET_BETA] = 1e9 * cost.net.beta,
                  [MCA_COLL_PIPERING_NET_BETA_MOST] = 1e9 * cost.net.beta,
                  [MCA_COLL_PIPERING_NET_LATENCY] = 1e6 * cost.net.latency,
                  [MCA_COLL_PIPERING_NET_ENVELOPE] = cost.net.envelope,
                  [MCA_COLL_PIPERING_NET_OVERLAP] = cost.net.overlap,
                  [MCA_COLL_PIPERING_LOCAL_ALPHA] = 1e6 * cost.local.alpha,
                  [MCA_COLL_PIPERING_LOCAL_BETA] = 1e9 * cost.local.beta,
                  [MCA_COLL_PIPERING_LOCAL_LATENCY] = 1e6 * cost.local.latency,
                  [MCA_COLL_PIPERING_LOCAL_OVERLAP] = cost.local.overlap,
                  [MCA_COLL_PIPERING_COMBINE] = 1e-3 * (double) tap_below(100),
                  [MCA_COLL_PIPERING_LOAD] = 1}};
}

/* A call of so many bytes; `extents` NULL: there is no mesh, else a vertex is a node. */
static void open_call(call_t *call, const mca_coll_pipering_row_t *row, int p, int per_node,
                      size_t total, const mca_coll_pipering_extents_t *extents)
{
    const bool gathers = mca_coll_pipering_collective_row(row->collective)->gathers;
    const bool moves = !mca_coll_pipering_combines(row->collective);
    const bool parts = gathers || mca_coll_pipering_scatters_result(row->collective);

    *call = (call_t){.machine = random_machine(),
                     .node_of = tap_memory((size_t) p * sizeof(int)),
                     .counts = tap_memory((size_t) p * sizeof(int))};
    for (int r = 0; r < p; r++) {
        call->node_of[r] = r / per_node * per_node;
        call->counts[r] = (int) (total / 8 / (size_t) p);
    }
    if (NULL != extents) { /* links of which the data alone counts, nearly */
        int *at = tap_memory((size_t) p * sizeof(*at));
        for (int r = 0; r < p; r++) {
            at[r] = r / per_node;
        }
        call->machine.value[MCA_COLL_PIPERING_NET_ALPHA] = 0.1;
        call->machine.value[MCA_COLL_PIPERING_NET_BETA] = 6.5;
        call->machine.value[MCA_COLL_PIPERING_NET_BETA_MOST] = 6.5;
        call->machine.value[MCA_COLL_PIPERING_LOCAL_BETA] = 0.3;
        call->ways = mca_coll_pipering_ways_new(p, extents, at);
        (void) mca_coll_pipering_ways_wind(call->ways);
        free(at);
    }
    call->at = (mca_coll_pipering_situation_t){.ranks = p,
                                              .nodes = (p + per_node - 1) / per_node,
                                              .ppn = per_node,
                                              .node_of = call->node_of,
                                              .load = 1,
                                              .below = MCA_COLL_PIPERING_BELOW_TUNED,
                                              .machine = &call->machine,
                                              .ways = call->ways};
    call->key = (mca_coll_pipering_key_t){
        .collective = row->collective,
        .params = {.algorithm = (int) row->algorithm,
                   .block_size = LEAST_BLOCK << tap_below(5),
                   .ring_buffer_size = mca_coll_pipering_params_preset().ring_buffer_size},
        .root = MCA_COLL_PIPERING_BCAST == row->collective
                        || MCA_COLL_PIPERING_REDUCE == row->collective
                    ? (int) tap_below((uint64_t) p)
                    : 0,
        .sizes = {.counts = {.at = parts ? call->counts : NULL},
                  .count = parts ? 0 : total / 8,
                  .scale = moves ? 8 : 1,
                  .unit = moves ? 1 : 8,
                  .parts = parts ? p : 1}};
    call->plan = mca_coll_pipering_plan_new(&call->key, &call->at);
    if (NULL == call->plan) {
        tap_bail("no plan");
    }
}

static void close_call(call_t *call)
{
    mca_coll_pipering_plan_release(call->plan);
    mca_coll_pipering_ways_free(call->ways);
    free(call->node_of);
    free(call->counts);
}

/* Routes of all ranks, pipe by pipe. */
static mca_coll_pipering_route_t *route_all(call_t *call)
{
    mca_coll_pipering_plan_t *plan = call->plan;
    const int p = call->at.ranks;
    int pipes, links = plan->row->links;

    if (plan->row->along_mesh) {
        mca_coll_pipering_mesh_room(call->ways, &pipes, &links);
    }
    void *memory = tap_memory(mca_coll_pipering_routes_size(plan->pipes * p, links, links));
    mca_coll_pipering_route_t *routes
        = mca_coll_pipering_routes_bind(memory, plan->pipes * p, links, links);
    for (call->at.me = 0; call->at.me < p; call->at.me++) {
        mca_coll_pipering_plan_route(plan, &call->at);
        for (int i = 0; i < plan->pipes; i++) {
            mca_coll_pipering_route_t *to = &routes[i * p + call->at.me], bound = *to;
            const mca_coll_pipering_route_t *from = &plan->route[i];

            memcpy(to->in, from->in, (size_t) from->ins * sizeof(*from->in));
            memcpy(to->out, from->out, (size_t) from->outs * sizeof(*from->out));
            *to = *from;
            to->in = bound.in;
            to->out = bound.out;
        }
    }
    return routes;
}

/* A mesh has wires. */
static double simulate(call_t *call)
{
    const mca_coll_pipering_plan_t *plan = call->plan;
    const mca_coll_pipering_machine_t *machine = &call->machine;
    mca_coll_pipering_route_t *routes = route_all(call);
    const double time = sim_run(&(sim_call_t){
        .ranks = call->at.ranks,
        .pipes = plan->pipes,
        .routes = routes,
        .bytes = plan->bytes,
        .block_size = plan->block_size,
        .unit = plan->key.sizes.unit,
        .node_of = call->node_of,
        .cost = mca_coll_pipering_machine_cost(machine, machine->value[MCA_COLL_PIPERING_NET_BETA], 1),
        .combine = mca_coll_pipering_machine_combine(machine, 1),
        .ports = NULL == call->ways});

    free(routes);
    return time;
}

#define CALLS 120

/*
 * The modelled time of random calls over the simulated one: bounds of all, half of them near 1.
 * Bounds that are far apart are those of a rough model: one call may be outside of them.
 */
typedef struct ratios_t {
    const mca_coll_pipering_row_t *row;
    double least, most;
    int outside;
    tap_tally_t tally;
    double of[CALLS];
} ratios_t;

static void try_call(ratios_t *ratios, call_t *call)
{
    const mca_coll_pipering_plan_t *plan = call->plan;
    const double simulated = simulate(call), ratio = plan->time / simulated;
    const bool rough = 1.25 * ratios->least < ratios->most;

    ratios->of[ratios->tally.tried] = ratio;
    ratios->outside += ratio < ratios->least || ratios->most < ratio;
    tap_try(&ratios->tally,
            ratios->row == plan->row
                && ((ratios->least <= ratio && ratio <= ratios->most)
                    || (1 == ratios->outside && rough && ratios->least / 2 <= ratio
                        && ratio <= 2 * ratios->most)),
            "p %d on %d nodes, %llu units, B %zu units, root %d: model %g, simulated %g %s",
            call->at.ranks, call->at.nodes, (unsigned long long) plan->total,
            plan->block_size, call->key.root, plan->time, simulated, sim_error);
    close_call(call);
}

static void judge(ratios_t *ratios, const char *where)
{
    const unsigned long count = ratios->tally.tried;

    tap_sort(ratios->of, count);
    const double median = ratios->of[count / 2];
    tap_try(&ratios->tally, 0.95 <= median && median <= 1.1, "the median is %g", median);
    tally_ok(&ratios->tally, 20, "%s, %s, %s: model over simulation %.3f to %.3f, median %.3f",
             mca_coll_pipering_collective_row(ratios->row->collective)
                 ->name[MCA_COLL_PIPERING_BLOCKING],
             ratios->row->value, where, ratios->of[0], ratios->of[count - 1], median);
}

/*
 * Words of a vector for p ranks. Of chunks that are just larger than some blocks, few have a block
 * more than the others: each third vector of a row that scatters has such chunks.
 */
static size_t random_words(int p, const mca_coll_pipering_row_t *row)
{
    const size_t ranks = (size_t) p;
    const size_t share = MESSAGES / ranks / (row->scatters ? ranks : 1);

    if (row->scatters && tap_once_in(3)) {
        return ranks * LEAST_BLOCK / 8 * (1 + tap_below(4)) + tap_below(ranks);
    }
    return ranks + tap_below(1024 * (1 + (share < 400 ? share : 400)));
}

/* How far the model may be off: where a rank is a node, and where nodes have several. Short vectors
 * on unequal nodes are modelled roughly. */
static const struct {
    mca_coll_pipering_algorithm_t algorithm;
    double least, most, least_nodes, most_nodes;
} bounds[] = {{MCA_COLL_PIPERING_PIPELINE, 0.99, 1.02, 0.80, 2.2},
              {MCA_COLL_PIPERING_MERGED, 0.95, 1.8, 0.75, 2.4},
              {MCA_COLL_PIPERING_RING, 0.75, 1.02, 0.75, 1.25},
              {MCA_COLL_PIPERING_MESH_TREES, 0.95, 1.15, 0, 0},
              {MCA_COLL_PIPERING_MESH_PATH, 0.95, 1.05, 0, 0},
              {MCA_COLL_PIPERING_MESH_CYCLES, 0.75, 1.05, 0, 0}};

static void test_row(const mca_coll_pipering_row_t *row, bool nodes, double least, double most)
{
    ratios_t ratios = {.row = row, .least = least, .most = most};

    for (int i = 0; i < CALLS; i++) {
        const int p = random_ranks(2, 0 == i % 30 && !row->scatters ? MOST : 64);
        call_t call;

        open_call(&call, row, p, nodes ? tap_between(1, p / 2) : 1, 8 * random_words(p, row), NULL);
        try_call(&ratios, &call);
    }
    judge(&ratios, nodes ? "several ranks a node" : "a rank a node");
}

/* Long calls along meshes that have what an algorithm goes along. */
static void test_mesh(const mca_coll_pipering_row_t *row, double least, double most)
{
    ratios_t ratios = {.row = row, .least = least, .most = most};

    for (int i = 0; i < 60; i++) {
        mca_coll_pipering_extents_t extents = {.dims = tap_between(1, 3)};
        const int per_node = tap_once_in(3) ? 2 : 1;
        call_t call;

        for (int dim = 0; dim < extents.dims; dim++) {
            extents.extent[dim] = tap_between(2, 4);
            extents.closed[dim] = tap_once_in(2);
        }
        const int p = per_node * mca_coll_pipering_extents_product(&extents);
        open_call(&call, row, p, per_node, 8 * (size_t) p * (size_t) tap_between(8000, 16000),
                  &extents);
        if (row == call.plan->row) {
            try_call(&ratios, &call);
        } else {
            close_call(&call);
        }
    }
    judge(&ratios, "a mesh");
}

static void test_rows(void)
{
    for (int i = 0; i < MCA_COLL_PIPERING_COLLECTIVES; i++) {
        const mca_coll_pipering_collective_t collective = (mca_coll_pipering_collective_t) i;
        const bool gathers = mca_coll_pipering_collective_row(collective)->gathers;

        for (size_t k = 0; k < sizeof(bounds) / sizeof(bounds[0]); k++) {
            const mca_coll_pipering_row_t *row
                = mca_coll_pipering_find_row(collective, (int) bounds[k].algorithm);
            if (NULL != row && row->along_mesh) {
                test_mesh(row, bounds[k].least, bounds[k].most);
            } else if (NULL != row && MCA_COLL_PIPERING_PIPELINE == row->algorithm
                       && mca_coll_pipering_scatters_result(collective)) {
                /* the way of a block is added to what a node takes in, though they overlap: no more
                 * than twice the larger one; it serves where nothing else can */
                test_row(row, false, 0.80, 2);
                test_row(row, true, 0.40, 1.6);
            } else if (NULL != row && !gathers) { /* rings of gathers have tests of their own */
                test_row(row, false, bounds[k].least, bounds[k].most);
                test_row(row, true, bounds[k].least_nodes, bounds[k].most_nodes);
            }
        }
    }
}

/* ---- ports ---- */

#define STAR 4
#define BLOCKS 30

/* Blocks of a second each from rank 0 down a tree of nodes, or up to it, in so many pipes. */
static double run_tree(const int *up, int pipes, bool collects, bool ports)
{
    static const int node_of[STAR] = {0, 1, 2, 3};
    void *memory = tap_memory(mca_coll_pipering_routes_size(2 * STAR, STAR, STAR));
    mca_coll_pipering_route_t *routes = mca_coll_pipering_routes_bind(memory, 2 * STAR, STAR, STAR);
    const uint64_t blocks = BLOCKS;
    const size_t bytes = BLOCKS;
    sim_plan_t root;

    sim_plan(&root, 1, node_of, &blocks, 0);
    for (int i = 0; i < pipes * STAR; i++) {
        int down[STAR], downs = 0;

        for (int r = 0; r < STAR; r++) {
            if (up[r] == i % STAR) {
                down[downs++] = r;
            }
        }
        if (collects) {
            mca_coll_pipering_route_collect(&routes[i], &root.ring, up[i % STAR], down, downs, 0);
        } else {
            mca_coll_pipering_route_spread(&routes[i], &root.ring, up[i % STAR], down, downs);
        }
        mca_coll_pipering_route_part(&routes[i], i / STAR, pipes);
    }
    const double time = sim_run(&(sim_call_t){.ranks = STAR, .pipes = pipes, .routes = routes,
                                              .bytes = &bytes, .block_size = 1, .unit = 1,
                                              .node_of = node_of, .cost = sim_rounds_cost,
                                              .ports = ports});
    sim_plan_free(&root);
    free(memory);
    return time;
}

static void test_ports(void)
{
    static const int star[STAR] = {-1, 0, 0, 0}, line[STAR] = {-1, 0, 1, 2};
    static const struct {
        const char *name;
        const int *up;
        int pipes;
        bool collects;
        double wires, ports;
    } cases[] = {{"a star", star, 1, false, BLOCKS, 3 * BLOCKS},
                 {"a line", line, 1, false, BLOCKS + 2, BLOCKS + 2},
                 {"a line twice", line, 2, false, BLOCKS + 2, BLOCKS + 2},
                 {"a star upwards", star, 1, true, BLOCKS, 3 * BLOCKS}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        is(run_tree(cases[i].up, cases[i].pipes, cases[i].collects, false), cases[i].wires,
           "%s of %d blocks, wires", cases[i].name, BLOCKS);
        is(run_tree(cases[i].up, cases[i].pipes, cases[i].collects, true), cases[i].ports,
           "%s of %d blocks, ports", cases[i].name, BLOCKS);
    }
}

int main(void)
{
    tap_start();
    test_rings();
    test_rows();
    test_ports();
    return tap_end();
}
