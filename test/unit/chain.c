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
 * Chains: every rank is reached once and both ends of a link agree, reductions keep
 * the order of ranks, shapes are counted again along the chains, a reduce-scatter is
 * followed around its ring, and modelled times are held against a simulation.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "sim.h"
#include "tap.h"

#define WAYS 2 /* down: lower and upper */
#define MOST 40

enum { BLOCKWISE, CYCLIC, RANDOM, ONE_NODE, ALL_NODES, LAYOUTS };
enum { NODES, ORDERED, LINE }; /* kinds of chains */

typedef struct instance_t {
    int kind, p, root;
    int node_of[MOST];
    mca_coll_pipering_chain_t chain[MOST];
    mca_coll_pipering_shape_t shape;
    mca_coll_pipering_route_t *route; /* [MOST] */
    mca_coll_pipering_ring_t ring;    /* of the root; only its address is looked at */
} instance_t;

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* Nodes, named by their lowest ranks. */
static void fill_nodes(int *node_of, int p, int layout)
{
    const int nodes = tap_between(1, p), per_node = (p + nodes - 1) / nodes;
    int lowest[MOST];

    memset(lowest, -1, sizeof(lowest));
    for (int r = 0; r < p; r++) {
        const int labels[LAYOUTS] = {r / per_node, r % nodes, tap_between(0, nodes - 1), 0, r};
        const int node = labels[layout];
        lowest[node] = 0 > lowest[node] ? r : lowest[node];
        node_of[r] = lowest[node];
    }
}

/* Chain and shape; what the plans leave as it was is garbage. */
static void make_chain(instance_t *in)
{
    const int p = in->p, *node_of = in->node_of;
    int scratch[MOST];

    tap_garbage(scratch, sizeof(scratch));
    tap_garbage(in->chain, sizeof(in->chain));
    for (int r = 0; r < p; r++) {
        if (NODES == in->kind) {
            mca_coll_pipering_chain(&in->chain[r], node_of, p, in->root, r);
        } else if (ORDERED == in->kind) {
            mca_coll_pipering_chain_ordered(&in->chain[r], p, in->root, r);
        } else {
            mca_coll_pipering_chain_scan(&in->chain[r], p, r);
        }
    }
    in->shape = NODES == in->kind ? mca_coll_pipering_chain_shape(node_of, p, scratch)
                : ORDERED == in->kind
                    ? mca_coll_pipering_chain_ordered_shape(node_of, p, in->root, scratch)
                    : mca_coll_pipering_chain_scan_shape(node_of, p, scratch);
}

static bool try_in(tap_tally_t *tally, bool pass, const instance_t *in, const char *what)
{
    return tap_try(tally, pass, "%s: p %d, root %d, shape %d + %d, load %d, nodes %s", what, in->p,
                   in->root, in->shape.across, in->shape.inside, in->shape.load,
                   ref_show_int(in->node_of, in->p));
}

/* ---- chains ---- */

/* The ways down lead to all ranks, each of which names who leads there. */
static bool is_tree(const instance_t *in)
{
    int reached[MOST + WAYS] = {in->root}, count = 1;

    for (int i = 0; i < count && count <= in->p; i++) {
        const mca_coll_pipering_chain_t *at = &in->chain[reached[i]];
        const int ways[WAYS] = {at->lower, at->upper};

        for (int way = 0; way < WAYS; way++) {
            const int down = ways[way];
            if (-1 > down || down >= in->p
                || (0 <= down && reached[i] != in->chain[down].up)) {
                return false;
            }
            reached[count] = down;
            count += 0 <= down;
        }
    }
    return in->p == count && -1 == in->chain[in->root].up;
}

/* Hops between a rank and the root of a tree. */
static mca_coll_pipering_shape_t hops_of(const instance_t *in, int rank)
{
    mca_coll_pipering_shape_t hops = {0, 0, 0, 0};

    for (int up = in->chain[rank].up; 0 <= up; rank = up, up = in->chain[rank].up) {
        hops.across += in->node_of[rank] != in->node_of[up];
        hops.inside += in->node_of[rank] == in->node_of[up];
    }
    return hops;
}

/*
 * The longest way, hops between nodes first, has the hops of the shape. With nodes one behind
 * the other, and in each its ranks, there is such a way if the last node is a largest one; else
 * they are a bound.
 */
static bool has_shape(const instance_t *in)
{
    int ranks[MOST] = {0}, nodes = 0, largest = 0, across = 0, inside = 0, longest = 0, last = 0;
    bool found = false;

    for (int r = 0; r < in->p; r++) {
        const mca_coll_pipering_shape_t hops = hops_of(in, r);
        nodes += 0 == ranks[in->node_of[r]]++;
        largest = larger(largest, ranks[in->node_of[r]]);
        last = hops.across >= across ? in->node_of[r] : last;
        across = larger(across, hops.across);
        inside = larger(inside, hops.inside);
        longest = larger(longest, MOST * hops.across + hops.inside);
        found = found || (hops.across == in->shape.across && hops.inside == in->shape.inside);
    }
    if (NODES == in->kind
        && (nodes - 1 != in->shape.across || across != in->shape.across
            || largest - 1 != in->shape.inside || inside != in->shape.inside)) {
        return false;
    }
    return (found && longest == MOST * in->shape.across + in->shape.inside)
           || (NODES == in->kind && ranks[last] < largest);
}

/* Most ranks that bring values to one: exactly, or a bound where only the last node has several. */
static bool has_children(const instance_t *in)
{
    int most = 1;

    for (int r = 0; r < in->p; r++) {
        most = larger(most, (0 <= in->chain[r].lower) + (0 <= in->chain[r].upper));
    }
    return most == in->shape.children
           || (NODES == in->kind && 2 == in->shape.children && 0 < in->shape.inside
               && 0 < in->shape.across);
}

/*
 * Links that enter a node from another one; of a broadcast one each, but none at the root's. On
 * one node those that enter the root.
 */
static bool has_load(const instance_t *in)
{
    int entering[MOST] = {0}, most = 1, all = 0;

    for (int r = 0; r < in->p; r++) {
        const int up = in->chain[r].up;
        if (0 <= up && in->node_of[r] != in->node_of[up]) {
            most = larger(most, ++entering[in->node_of[NODES == in->kind ? r : up]]);
            all++;
        }
    }
    if (0 == all && NODES != in->kind) {
        most = (0 <= in->chain[in->root].upper) + (0 <= in->chain[in->root].lower);
    }
    return most == in->shape.load && (NODES != in->kind || all == in->shape.across);
}

/* ---- routes ---- */

/* Garbage but for the memory of its links. */
static void garbage_route(mca_coll_pipering_route_t *route)
{
    mca_coll_pipering_in_t *in = route->in;
    mca_coll_pipering_out_t *out = route->out;

    tap_garbage(route, sizeof(*route));
    route->in = in;
    route->out = out;
}

static bool is_all(mca_coll_pipering_stream_t stream, bool all)
{
    return 0 == stream.position && all == stream.origins && 1 >= stream.parts;
}

/*
 * A route has a link to each neighbour in the chain, those down in the order that is wanted, and
 * none else. All there is passes each once: own where data begins, else what comes in there.
 */
static bool rank_agrees(const instance_t *in, int r, bool collect)
{
    const mca_coll_pipering_route_t *route = &in->route[r];
    const mca_coll_pipering_chain_t *at = &in->chain[r];
    const int down[WAYS] = {collect ? at->lower : at->upper, collect ? at->upper : at->lower};
    const int downs = (0 <= down[0]) + (0 <= down[1]), ups = 0 <= at->up;
    const bool begins = collect ? 0 == downs : 0 == ups;

    if ((collect ? downs : ups) != route->ins || (collect ? ups : downs) != route->outs
        || (collect && route->below != (0 <= at->lower)) || &in->ring != route->ring
        || !is_all(route->own, begins)) {
        return false;
    }
    for (int link = 0; link < route->ins; link++) {
        const int peer = collect ? down[0 <= down[0] ? link : 1] : at->up;
        if (peer != route->in[link].peer || !is_all(route->in[link].stream, true)) {
            return false;
        }
    }
    for (int link = 0; link < route->outs; link++) {
        const mca_coll_pipering_out_t *out = &route->out[link];
        const int peer = collect ? at->up : down[0 <= down[0] ? link : 1];
        if (peer != out->peer || begins != out->own || !is_all(out->forward, !begins)
            || 0 != out->source) {
            return false;
        }
    }
    return true;
}

static bool routes_agree(instance_t *in, bool collect)
{
    bool agree = true;

    for (int r = 0; r < in->p; r++) {
        garbage_route(&in->route[r]);
        (collect ? mca_coll_pipering_chain_collect
                 : mca_coll_pipering_chain_spread)(&in->route[r], &in->ring, &in->chain[r]);
    }
    for (int r = 0; r < in->p; r++) {
        agree = agree && rank_agrees(in, r, collect);
    }
    return agree;
}

/* What a rank of a tree makes, lower op own op upper, is of ranks low .. high, all adjacent. */
static bool fold(const instance_t *in, int rank, int *low, int *high)
{
    const mca_coll_pipering_route_t *route = &in->route[rank];
    const int lower = 0 < route->below ? route->in[0].peer : -1;
    const int upper = route->below < route->ins ? route->in[route->below].peer : -1;
    int below = rank - 1, above = rank + 1;

    *low = *high = rank;
    return (0 > lower || fold(in, lower, low, &below)) && below == rank - 1
           && (0 > upper || fold(in, upper, &above, high)) && above == rank + 1;
}

/* Everything at the root, and at every rank of a line a prefix. */
static bool keeps_order(const instance_t *in)
{
    for (int r = 0; r < in->p; r++) {
        const bool line = LINE == in->kind;
        int low, high;
        if (!fold(in, r, &low, &high)
            || ((line || r == in->root) && (0 != low || (line ? r : in->p - 1) != high))) {
            return false;
        }
    }
    return true;
}

static void try_chain(tap_tally_t *tree, tap_tally_t *shape, tap_tally_t *routes,
                      tap_tally_t *order, instance_t *in)
{
    make_chain(in);
    if (!try_in(tree, is_tree(in), in, "no tree")) {
        return;
    }
    try_in(shape, has_shape(in), in, "hops");
    try_in(shape, has_load(in), in, "load");
    try_in(shape, has_children(in), in, "children");
    try_in(routes, routes_agree(in, false), in, "spread");
    if (try_in(routes, routes_agree(in, true), in, "collect") && NODES != in->kind) {
        try_in(order, keeps_order(in), in, "order");
    }
}

static void test_chains(int kind, const char *name)
{
    tap_tally_t tree = {0, 0}, shape = {0, 0}, routes = {0, 0}, order = {0, 0};
    instance_t in = {.kind = kind, .route = sim_routes(MOST)};

    for (in.p = 2; in.p <= MOST; in.p++) {
        for (int i = 0; i < (LINE == kind ? 20 : 2) * LAYOUTS; i++) {
            fill_nodes(in.node_of, in.p, i % LAYOUTS);
            for (in.root = LINE == kind ? in.p - 1 : 0; in.root < in.p; in.root++) {
                try_chain(&tree, &shape, &routes, &order, &in);
            }
        }
    }
    tally_ok(&tree, 3000, "%s: reaches every rank once", name);
    tally_ok(&shape, 3000, "%s: hops of the longest way, links into a node, who combines", name);
    tally_ok(&routes, 3000, "%s: both ends of a link agree, away from the root and to it", name);
    if (NODES != kind) {
        tally_ok(&order, 3000, "%s: ranks are combined in their order", name);
    }
    free(in.route);
}

/* ---- reduce-scatter ---- */

/*
 * What leaves position x, own first, is what comes in at the next one, y: from the contribution
 * of the position before x backwards to that of y. So all but one's own, which stays, leave a
 * position, and each contribution passes p - 1 links from behind its owner to it.
 */
static bool follow_link(const sim_plan_t *plan, int x)
{
    const int p = plan->ring.size, y = (x + 1) % p;
    const mca_coll_pipering_route_t *from = &plan->routes[plan->ring.rank[x]];
    const mca_coll_pipering_out_t *out = &from->out[0];
    const mca_coll_pipering_in_t *in = &plan->routes[plan->ring.rank[y]].in[0];

    for (int i = 0; i < p - 1; i++) {
        const int wanted = (x + p - 1 - i) % p;
        const int leaves = 0 == i ? from->own.position : (out->forward.position + p + 1 - i) % p;
        if (wanted != leaves || wanted != (in->stream.position + p - i) % p) {
            return false;
        }
    }
    return plan->ring.rank[y] == out->peer && plan->ring.rank[x] == in->peer && out->own
           && 1 == from->outs && 1 == from->ins && 0 == from->below && 1 == from->own.origins
           && 0 == out->source && p - 1 == in->stream.origins && p - 2 == out->forward.origins
           && from->in[0].stream.position == out->forward.position;
}

static void test_scatter(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 2000; i++) {
        const int p = 2 + i % (MOST - 1);
        uint64_t blocks[MOST];
        int node_of[MOST];
        bool pass = true;
        sim_plan_t plan;

        fill_nodes(node_of, p, (int) tap_below(LAYOUTS));
        for (int r = 0; r < p; r++) {
            blocks[r] = tap_below(4);
        }
        sim_plan(&plan, p, node_of, blocks, (unsigned) tap_below(4));
        for (int r = 0; r < p; r++) {
            garbage_route(&plan.routes[r]);
            mca_coll_pipering_route_scatter(&plan.routes[r], &plan.ring, r);
        }
        for (int x = 0; x < p; x++) {
            pass = follow_link(&plan, x) && pass;
        }
        tap_try(&tally, pass, "order %s", ref_show_int(plan.ring.rank, p));
        sim_plan_free(&plan);
    }
    tally_ok(&tally, 2000, "reduce-scatter: over p - 1 links to its owner, both ends agree");
}

/* ---- model ---- */

#define BLOCKS 150 /* at most, that are simulated */
#define ALL (2 * MOST)
#define NEARLY 1e-9

/* Links inside a node keep up with those between nodes, which the model takes for granted. */
static const mca_coll_pipering_cost_t costs[] = {
    {.net = {1.5e-6, 1e-10, 8e-6}, .local = {0.4e-6, 1e-10, 0.2e-6}},
    {.net = {25e-6, 8e-9, 5e-6, 32, 1448, 66}, .local = {0.5e-6, 2e-10, 0.3e-6}},
    {.net = {2e-6, 1e-10, 3e-6, .handshake = 5e-6, .eager = 65536, .overlap = true},
     .local = {3e-7, 5e-11, 2e-7, .handshake = 5e-7, .eager = 4096, .overlap = true}}};

/* A line; with so many ranks it is what a block passes on a ring. */
static mca_coll_pipering_chain_problem_t random_line(int ranks)
{
    const int net = !tap_once_in(3), hops = 2 * (ranks - 1);
    mca_coll_pipering_chain_problem_t line = {
        .shape = {net * tap_between(1, MOST), tap_between(!net, MOST), 1},
        .bytes = 1 + tap_below(UINT64_C(1) << tap_below(27)),
        .passes = 1,
        .combine = tap_once_in(2) ? 0 : 2.5e-10,
        .cost = costs[tap_below(3)]};

    if (0 < ranks) {
        line.shape = (mca_coll_pipering_shape_t){net * hops, !net * hops, 1, 1};
    }
    return line;
}

static mca_coll_pipering_ring_allreduce_problem_t ring_allreduce_of(
    const mca_coll_pipering_chain_problem_t *line)
{
    const int ranks = 1 + (line->shape.across + line->shape.inside) / 2;

    return (mca_coll_pipering_ring_allreduce_problem_t){.ranks = ranks,
                                                        .nodes = 0 < line->shape.across ? ranks : 1,
                                                        .least = 1,
                                                        .bytes = line->bytes,
                                                        .larger = ranks,
                                                        .combine = line->combine,
                                                        .cost = line->cost};
}

/*
 * Equal blocks pass all hops; a link takes one at a time, and so does each of the first
 * `combining` ranks. On a ring all do the same at once: one link and rank stand for all.
 */
static double simulate(const mca_coll_pipering_chain_problem_t *line, size_t block_size,
                       int combining, bool ring)
{
    const size_t blocks = (line->bytes + block_size - 1) / block_size;
    const double size = (double) line->bytes / (double) blocks;
    double ready[BLOCKS] = {0}, link_free = 0, rank_free = 0;

    for (int h = 0; h < line->shape.across + line->shape.inside; h++) {
        const mca_coll_pipering_link_cost_t *link = h < line->shape.across ? &line->cost.net
                                                                           : &line->cost.local;
        const double sent = mca_coll_pipering_stream_time(link, 1, size);
        link_free = ring ? link_free : 0;
        rank_free = ring ? rank_free : 0;
        for (size_t k = 0; k < blocks; k++) {
            link_free = fmax(ready[k], link_free) + sent;
            rank_free = fmax(link_free + link->latency, rank_free)
                        + (h < combining ? size * line->combine : 0);
            ready[k] = rank_free;
        }
    }
    return rank_free;
}

static bool try_line(tap_tally_t *tally, bool pass, const mca_coll_pipering_chain_problem_t *line,
                     size_t size, double time)
{
    return tap_try(tally, pass, "%d + %d hops, load %d, %d passes, %zu bytes, B %zu: model %g",
                   line->shape.across, line->shape.inside, line->shape.load, line->passes,
                   line->bytes, size, time);
}

/* Exact for a line whose links are its own, from above for one that has a single link. */
static void test_line_time(void)
{
    tap_tally_t once = {0, 0}, loaded = {0, 0};

    for (int i = 0; i < 3000; i++) {
        mca_coll_pipering_chain_problem_t line = random_line(0);
        const size_t size = mca_coll_pipering_blocks(line.bytes, 1 + tap_below(BLOCKS));
        const double time = mca_coll_pipering_chain_time(&line, size);
        const double real = simulate(&line, size, ALL, false);
        try_line(&once, fabs(time - real) <= NEARLY * real, &line, size, time);
        if (0 < line.shape.across) {
            line.combine = line.shape.inside = 0;
            line.shape.load = line.shape.across;
            const double loads = mca_coll_pipering_chain_time(&line, size);
            line.passes = 2;
            const double twice = mca_coll_pipering_chain_time(&line, size);
            try_line(&loaded,
                     loads >= (1 - NEARLY) * simulate(&line, size, 0, true)
                         && loads <= (1 + NEARLY) * line.shape.load * real
                         && twice >= loads && twice <= (1 + NEARLY) * 2 * loads,
                     &line, size, loads);
        }
    }
    tally_ok(&once, 3000, "line: modelled time is that of the simulation");
    tally_ok(&loaded, 1500, "line: blocks that pass a link again take its time again; there and back at most twice");
}

/* Rough while the ring fills, and ranks may combine what they only pass on. */
static void test_ring_allreduce_time(void)
{
    tap_tally_t tally = {0, 0};

    for (int i = 0; i < 3000; i++) {
        const mca_coll_pipering_chain_problem_t line = random_line(tap_between(8, MOST));
        const mca_coll_pipering_ring_allreduce_problem_t ring = ring_allreduce_of(&line);
        const size_t size = mca_coll_pipering_blocks(line.bytes, 1 + tap_below(BLOCKS));
        const double time = mca_coll_pipering_ring_allreduce_time(&ring, size);
        try_line(&tally,
                 time >= 0.95 * simulate(&line, size, ring.ranks - 1, true)
                     && time <= 1.05 * simulate(&line, size, ALL, true),
                 &line, size, time);
    }
    tally_ok(&tally, 3000, "ring allreduce: modelled time within 5%% of the simulation");
}

/* Within 5 % of the best of many sizes. */
static bool is_best(mca_coll_pipering_time_fn_t *time_of, const void *problem, size_t bytes,
                    size_t size)
{
    double best = HUGE_VAL;

    for (size_t k = 1; k <= 300; k++) {
        best = fmin(best, time_of(problem, mca_coll_pipering_blocks(bytes, k)));
        best = fmin(best, time_of(problem, k < bytes ? k : bytes));
    }
    for (double b = (double) bytes; 1 <= b; b /= 1.02) {
        best = fmin(best, time_of(problem, (size_t) b));
    }
    return 1 <= size && size <= bytes && time_of(problem, size) <= 1.05 * best;
}

static void test_search(void)
{
    tap_tally_t lines = {0, 0}, rings = {0, 0};

    for (int i = 0; i < 1500; i++) {
        const mca_coll_pipering_chain_problem_t way = random_line(2 + i % (MOST - 1));
        mca_coll_pipering_chain_problem_t line = random_line(0);
        const mca_coll_pipering_ring_allreduce_problem_t ring = ring_allreduce_of(&way);
        size_t size = mca_coll_pipering_ring_allreduce_search(&ring);
        try_line(&rings,
                 is_best(mca_coll_pipering_ring_allreduce_time, &ring, way.bytes, size), &way,
                 size, mca_coll_pipering_ring_allreduce_time(&ring, size));
        line.passes = tap_between(1, 2);
        line.shape.load = tap_between(1, 9);
        size = mca_coll_pipering_chain_search(&line);
        try_line(&lines, is_best(mca_coll_pipering_chain_time, &line, line.bytes, size), &line,
                 size, mca_coll_pipering_chain_time(&line, size));
    }
    tally_ok(&lines, 1500, "line: within 5%% of the best block size in the model");
    tally_ok(&rings, 1500, "ring allreduce: within 5%% of the best block size in the model");
}

int main(void)
{
    tap_start();
    test_chains(NODES, "chain of nodes");
    test_chains(ORDERED, "chain in order");
    test_chains(LINE, "line");
    test_scatter();
    test_line_time();
    test_ring_allreduce_time();
    test_search();
    return tap_end();
}
