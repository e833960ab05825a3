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
 * Executor: rings against the recurrence of their links; the closed forms of the model, of
 * rounds and times, against what it executes, for random calls of all collectives; ports, wires,
 * handling and slow links; plans with a fault are seen.
 */

#include <math.h>
#include <string.h>

#include "executor.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_choice.h"
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

/* A ring of ranks, a node each, and what is known of its time. */
typedef struct ring_case_t {
    int p;
    size_t *bytes;
    uint64_t *blocks;
    size_t block_size;
    mca_coll_pipering_cost_t cost;
    sim_plan_t plan;
    double executed;
} ring_case_t;

static void open_ring(ring_case_t *in, size_t block_size, bool full)
{
    sim_result_t result;

    in->p = random_ranks(2, tap_once_in(50) ? MOST : 96);
    in->bytes = tap_memory((size_t) in->p * sizeof(*in->bytes));
    in->blocks = tap_memory((size_t) in->p * sizeof(*in->blocks));
    in->block_size = block_size;
    fill_bytes(in->bytes, in->p, block_size, full);
    for (int r = 0; r < in->p; r++) {
        in->blocks[r] = mca_coll_pipering_blocks(in->bytes[r], block_size);
    }
    sim_plan(&in->plan, in->p, NULL, in->blocks,
             tap_once_in(2) ? MCA_COLL_PIPERING_ORDER_EMPTIES : 0);
    in->executed = sim_run(&(sim_problem_t){&in->plan.ring, in->plan.routes, in->bytes,
                                            in->block_size, in->cost, 0},
                           &result)
                       ? result.finish
                       : NAN;
    sim_free(&result);
}

static void close_ring(ring_case_t *in)
{
    sim_plan_free(&in->plan);
    free(in->bytes);
    free(in->blocks);
}

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

static void test_rings(void)
{
    tap_tally_t rounds = {0, 0}, links = {0, 0}, exact = {0, 0}, model = {0, 0};

    for (int i = 0; i < 2400; i++) {
        const size_t size = 1 + tap_below(100000);
        const bool full = 0 == i % 3, counts = 1 == i % 3;
        ring_case_t in = {.cost = counts ? sim_rounds_cost : random_cost()};

        open_ring(&in, size, full);
        void *scratch = tap_memory(mca_coll_pipering_model_scratch(in.p));
        const mca_coll_pipering_problem_t problem = {&in.plan.ring, in.bytes, in.cost, scratch};
        const double modelled = mca_coll_pipering_time(&problem, size);

        if (counts) {
            const uint64_t wanted = mca_coll_pipering_model_rounds(&problem, size);
            tap_try(&rounds, (double) wanted == in.executed, "p %d, B %zu: %g rounds, not %llu",
                    in.p, size, in.executed, (unsigned long long) wanted);
        } else {
            tap_try(&links, is_near(in.executed, recur(&in), 1e-9), "p %d, B %zu: %g, not %g", in.p,
                    size, in.executed, recur(&in));
            tap_try(full ? &exact : &model, is_near(modelled, in.executed, full ? 1e-9 : 0.25),
                    "p %d, B %zu: model %g, executed %g", in.p, size, modelled, in.executed);
        }
        free(scratch);
        close_ring(&in);
    }
    tally_ok(&links, 1600, "rings: the time is that of the recurrence of links");
    tally_ok(&rounds, 800, "rings: as many rounds as the closed form has");
    tally_ok(&exact, 800, "rings of full blocks: the modelled time");
    tally_ok(&model, 800, "rings of any blocks: the modelled time within 25%%");
}

/* ---- all collectives, by plans of the component ---- */

#define LEAST_BLOCK 1024 /* bytes */

typedef struct call_t {
    mca_coll_pipering_machine_t machine;
    mca_coll_pipering_facts_t facts;
    mca_coll_pipering_key_t key;
    int *node_of;
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

static void open_call(call_t *call, const mca_coll_pipering_row_t *row, int p, int per_node,
                      size_t total)
{
    const bool moves = MCA_COLL_PIPERING_BCAST == row->collective;

    *call = (call_t){.machine = random_machine(),
                     .node_of = tap_memory((size_t) p * sizeof(int))};
    for (int r = 0; r < p; r++) {
        call->node_of[r] = r / per_node * per_node;
    }
    call->facts = (mca_coll_pipering_facts_t){.ranks = p,
                                              .nodes = (p + per_node - 1) / per_node,
                                              .ppn = per_node,
                                              .node_of = call->node_of,
                                              .load = 1,
                                              .below = MCA_COLL_PIPERING_BELOW_TUNED,
                                              .machine = &call->machine};
    call->key = (mca_coll_pipering_key_t){
        .collective = row->collective,
        .params = {.algorithm = (int) row->algorithm,
                   .block_size = LEAST_BLOCK << tap_below(5),
                   .ring_buffer_size = mca_coll_pipering_params_preset().ring_buffer_size},
        .root = MCA_COLL_PIPERING_BCAST == row->collective
                        || MCA_COLL_PIPERING_REDUCE == row->collective
                    ? (int) tap_below((uint64_t) p)
                    : 0,
        .sizes = {.count = total / 8, .scale = moves ? 8 : 1, .unit = moves ? 1 : 8, .parts = 1}};
    call->plan = mca_coll_pipering_plan_new(p, NULL, &call->key);
    if (NULL == call->plan || !mca_coll_pipering_plan_make(call->plan, &call->facts)) {
        printf("Bail out! no plan\n");
        exit(EXIT_FAILURE);
    }
}

static void close_call(call_t *call)
{
    mca_coll_pipering_plan_release(call->plan);
    free(call->node_of);
}

/* Routes of all ranks, pipe by pipe. */
static mca_coll_pipering_route_t *route_all(call_t *call)
{
    mca_coll_pipering_plan_t *plan = call->plan;
    const int links = plan->row->links, p = call->facts.ranks;
    void *memory = tap_memory(mca_coll_pipering_routes_size(plan->pipes * p, links, links));
    mca_coll_pipering_route_t *routes
        = mca_coll_pipering_routes_bind(memory, plan->pipes * p, links, links);

    for (call->facts.me = 0; call->facts.me < p; call->facts.me++) {
        mca_coll_pipering_plan_route(plan, &call->facts);
        for (int i = 0; i < plan->pipes; i++) {
            mca_coll_pipering_route_t *to = &routes[i * p + call->facts.me], bound = *to;
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

static executor_problem_t problem_of(const call_t *call, const mca_coll_pipering_route_t *routes)
{
    const mca_coll_pipering_plan_t *plan = call->plan;
    const mca_coll_pipering_machine_t *machine = &call->machine;
    const mca_coll_pipering_cost_t cost = mca_coll_pipering_cost_of(
        machine, machine->value[MCA_COLL_PIPERING_NET_BETA], 1);

    return (executor_problem_t){.ranks = call->facts.ranks,
                                .pipes = plan->pipes,
                                .routes = routes,
                                .bytes = plan->bytes,
                                .block_size = plan->block_size,
                                .unit = plan->key.sizes.unit,
                                .node_of = call->node_of,
                                .machine = {.cost = cost,
                                            .combine =
                                                mca_coll_pipering_machine_combine(machine, 1)}};
}

/* Executed time; NAN: something is wrong. */
static double execute(call_t *call, executor_wiring_t wiring, char *error)
{
    mca_coll_pipering_route_t *routes = route_all(call);
    executor_problem_t problem = problem_of(call, routes);
    executor_result_t result;

    problem.machine.wiring = wiring;
    const double time = executor_run(&problem, &result) ? result.finish : NAN;
    memcpy(error, result.error, sizeof(result.error));
    executor_free(&result);
    free(routes);
    return time;
}

#define CALLS 120

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

/*
 * Model over executed time of random calls of a row: all within these bounds, since short vectors
 * on unequal nodes are modelled roughly, and half of them near 1.
 */
static void test_row(const mca_coll_pipering_row_t *row, bool nodes, double least, double most)
{
    tap_tally_t tally = {0, 0};
    double ratios[CALLS];
    char error[200];

    for (int i = 0; i < CALLS; i++) {
        const int p = random_ranks(2, 0 == i % 30 && !row->scatters ? MOST : 64);
        const size_t total = 8 * random_words(p, row);
        call_t call;

        open_call(&call, row, p, nodes ? tap_between(1, p / 2) : 1, total);
        const double executed = execute(&call, EXECUTOR_SWITCH, error);
        const double ratio = call.plan->time / executed;
        tap_try(&tally, row == call.plan->row && least <= ratio && ratio <= most,
                "p %d on %d nodes, %zu bytes, B %zu units, root %d: model %g, executed %g %s", p,
                call.facts.nodes, total, call.plan->block_size, call.key.root, call.plan->time,
                executed, error);
        ratios[i] = ratio;
        close_call(&call);
    }
    tap_sort(ratios, CALLS);
    const double median = ratios[CALLS / 2];
    tap_try(&tally, 0.95 <= median && median <= 1.05, "the median is %g", median);
    tally_ok(&tally, CALLS, "%s, %s%s: model over executed %.3f to %.3f, median %.3f",
             mca_coll_pipering_collective_row(row->collective)->name[MCA_COLL_PIPERING_BLOCKING],
             row->value, nodes ? ", several ranks a node" : "", ratios[0], ratios[CALLS - 1],
             median);
}

/* How far the model may be off: where a rank is a node, and where nodes have several. */
static const struct {
    mca_coll_pipering_algorithm_t algorithm;
    double least, most, least_nodes, most_nodes;
} bounds[] = {{MCA_COLL_PIPERING_PIPELINE, 0.99, 1.02, 0.80, 2.2},
              {MCA_COLL_PIPERING_MERGED, 0.95, 1.8, 0.75, 2.4},
              {MCA_COLL_PIPERING_RING, 0.50, 1.1, 0.50, 1.6}};

static void test_rows(void)
{
    for (int i = 0; i < MCA_COLL_PIPERING_COLLECTIVES; i++) {
        const mca_coll_pipering_collective_t collective = (mca_coll_pipering_collective_t) i;

        for (size_t k = 0; k < sizeof(bounds) / sizeof(bounds[0]); k++) {
            const mca_coll_pipering_row_t *row
                = mca_coll_pipering_find_row(collective, (int) bounds[k].algorithm);
            if (NULL != row && !mca_coll_pipering_collective_row(collective)->gathers) {
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
static double run_tree(const int *up, int pipes, bool collects, const executor_machine_t *machine)
{
    static const int node_of[STAR] = {0, 1, 2, 3};
    void *memory = tap_memory(mca_coll_pipering_routes_size(2 * STAR, STAR, STAR));
    void *ring_memory = tap_memory(mca_coll_pipering_ring_size(1));
    void *scratch = tap_memory(mca_coll_pipering_order_scratch(1));
    const uint64_t blocks = BLOCKS;
    const size_t bytes = BLOCKS;
    mca_coll_pipering_route_t *routes = mca_coll_pipering_routes_bind(memory, 2 * STAR, STAR, STAR);
    mca_coll_pipering_ring_t ring;
    executor_result_t result;

    mca_coll_pipering_ring_bind(&ring, 1, ring_memory);
    mca_coll_pipering_order(&ring, node_of, &blocks, 0, scratch);
    for (int i = 0; i < pipes * STAR; i++) {
        int down[STAR], downs = 0;

        for (int r = 0; r < STAR; r++) {
            if (up[r] == i % STAR) {
                down[downs++] = r;
            }
        }
        if (collects) {
            mca_coll_pipering_route_collect(&routes[i], &ring, up[i % STAR], down, downs, 0);
        } else {
            mca_coll_pipering_route_spread(&routes[i], &ring, up[i % STAR], down, downs);
        }
        mca_coll_pipering_route_part(&routes[i], i / STAR, pipes);
    }
    const executor_problem_t problem = {.ranks = STAR, .pipes = pipes, .routes = routes,
                                        .bytes = &bytes, .block_size = 1,
                                        .unit = 1, .node_of = node_of, .machine = *machine};
    const double time = executor_run(&problem, &result) ? result.finish : NAN;
    executor_free(&result);
    free(memory);
    free(ring_memory);
    free(scratch);
    return time;
}

static void test_ports(void)
{
    static const int star[STAR] = {-1, 0, 0, 0}, line[STAR] = {-1, 0, 1, 2};
    static const double slower[STAR] = {1, 3, 1, 1};
    const executor_machine_t machine[] = {[EXECUTOR_SWITCH] = {.wiring = EXECUTOR_SWITCH},
                                          [EXECUTOR_HALF] = {.wiring = EXECUTOR_HALF},
                                          [EXECUTOR_WIRES] = {.wiring = EXECUTOR_WIRES},
                                          [EXECUTOR_FREE] = {.wiring = EXECUTOR_FREE}};
    static const struct {
        const char *name;
        const int *up;
        int pipes;
        bool collects;
        double time[4]; /* switch, half (up to 2 more, as links take turns), wires, free */
    } cases[] = {{"a star", star, 1, false, {3 * BLOCKS, 3 * BLOCKS, BLOCKS, BLOCKS}},
                 {"a line", line, 1, false, {BLOCKS + 2, 2 * BLOCKS + 1, BLOCKS + 2, BLOCKS + 2}},
                 {"a line twice", line, 2, false,
                  {BLOCKS + 2, 2 * BLOCKS + 1, BLOCKS + 2, BLOCKS / 2 + 2}},
                 {"a star upwards", star, 1, true, {3 * BLOCKS, 3 * BLOCKS, BLOCKS, BLOCKS}}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int w = 0; w < 4; w++) {
            executor_machine_t tried = machine[w];
            tried.cost = sim_rounds_cost;
            const double time = run_tree(cases[i].up, cases[i].pipes, cases[i].collects, &tried);
            ok(cases[i].time[w] <= time && time <= cases[i].time[w] + (1 == w ? 2 : 0),
               "%s of %d blocks, wiring %d: %g", cases[i].name, BLOCKS, w, time);
        }
    }
    executor_machine_t slow = {.cost = sim_rounds_cost, .slower = slower};
    is(run_tree(line, 1, false, &slow), 3 * BLOCKS + 2,
       "a link of a third of the speed sets the pace");
    executor_machine_t handling = {.cost = sim_rounds_cost, .handling = 2};
    is(run_tree(star, 1, false, &handling), 3 * BLOCKS * 3 + 2,
       "a processor handles each block at both ends, those of a star one after the other");
}

/* Blocks of a byte, a second a byte: a bucket saves its seconds on each hop, up to a block's. */
static void test_buckets(void)
{
    static const int star[STAR] = {-1, 0, 0, 0}, line[STAR] = {-1, 0, 1, 2};
    static const struct {
        const char *name;
        const int *up;
        executor_wiring_t wiring;
        double bucket, time;
    } cases[] = {{"a line, half a block", line, EXECUTOR_SWITCH, 0.5, BLOCKS + 2 - 3 * 0.5},
                 {"a line of wires, half a block", line, EXECUTOR_WIRES, 0.5, BLOCKS + 2 - 3 * 0.5},
                 {"a line, 2.5 blocks", line, EXECUTOR_SWITCH, 2.5, BLOCKS - 2.5},
                 {"a star, 2.5 blocks", star, EXECUTOR_SWITCH, 2.5, 3 * BLOCKS - 2.5},
                 {"a star of wires, 2.5 blocks", star, EXECUTOR_WIRES, 2.5, BLOCKS - 2.5},
                 {"a line that shares nothing", line, EXECUTOR_FREE, 2.5, BLOCKS + 2}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const executor_machine_t machine = {.cost = {.net = {.beta = 1}},
                                            .wiring = cases[i].wiring,
                                            .bucket = cases[i].bucket};
        const double time = run_tree(cases[i].up, 1, false, &machine);
        ok(is_near(time, cases[i].time, 1e-9), "a token bucket, %s: %g, not %g", cases[i].name,
           time, cases[i].time);
    }
}

/* ---- faults ---- */

enum { PEER, TAG, SOURCE, EXPECTS, ORDER, FORWARDS, OWN, FAULTS };

static void break_route(mca_coll_pipering_route_t *route, int fault, int p)
{
    switch (fault) {
    case PEER:
        route->in[0].peer = (route->in[0].peer + 1) % p;
        break;
    case TAG:
        ++route->in[0].tag;
        break;
    case SOURCE:
        route->out[0].source = 1;
        break;
    case EXPECTS:
        --route->in[0].stream.origins;
        break;
    case ORDER:
        route->in[0].stream.position = (route->in[0].stream.position + p - 1) % p;
        break;
    case FORWARDS:
        --route->out[0].forward.origins;
        break;
    default:
        route->out[0].own = false;
    }
}

static void test_faults(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 700; i++) {
        size_t bytes[24];
        uint64_t blocks[24];
        sim_plan_t plan;
        sim_result_t result;
        const int p = tap_between(3, 24), fault = i % FAULTS;

        for (int r = 0; r < p; r++) {
            blocks[r] = bytes[r] = 1 + tap_below(5);
        }
        sim_plan(&plan, p, NULL, blocks, 0);
        break_route(&plan.routes[tap_below((uint64_t) p)], fault, p);
        const bool good = sim_run(&(sim_problem_t){&plan.ring, plan.routes, bytes,
                                                   1,
                                                   sim_rounds_cost, 0}, &result);
        tap_try(&tally, !good && '\0' != result.error[0], "fault %d of %d ranks is not seen", fault,
                p);
        sim_free(&result);
        sim_plan_free(&plan);
    }
    tally_ok(&tally, 700, "a route with a fault is seen");
}

int main(void)
{
    tap_start();
    test_rings();
    test_rows();
    test_ports();
    test_buckets();
    test_faults();
    return tap_end();
}
