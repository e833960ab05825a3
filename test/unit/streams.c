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
 * The engine of coll/pipering with any number of streams, links and pipelines a call, run as it
 * is (ranks.h): trees of all shapes away from a root and towards it, with the order of ranks kept,
 * each stream forwarded to up to five ranks; one pipeline with a stream of each rank; and the
 * shapes that calls have, rings with nodes, chains, lines. Every byte of every buffer is compared
 * with a reference that knows of no route and no block.
 */

#include <string.h>

#include "coll_pipering_plan_chain.h"
#include "ranks.h"
#include "ref.h"
#include "tap.h"

#define PATIENCE 300 /* seconds */
#define FAN_OUT 5

static void fill_bytes(ranks_problem_t *problem, int places, size_t unit, size_t most)
{
    const uint64_t empties = tap_below(4);

    for (int i = 0; i < places; i++) {
        problem->bytes[i] = tap_below(6) < empties ? 0 : unit * tap_below(most / unit + 1);
    }
}

/* ---- rings ---- */

static void order_ring(ranks_problem_t *problem, mca_coll_pipering_ring_t *ring, bool flat)
{
    uint64_t blocks[POSING_RANKS];
    void *scratch = tap_memory(mca_coll_pipering_order_scratch(problem->p));

    for (int r = 0; r < problem->p; r++) {
        blocks[r] = mca_coll_pipering_blocks(problem->bytes[r], problem->block_size);
    }
    mca_coll_pipering_order(ring, problem->node_of, blocks,
                            (flat ? 0 : MCA_COLL_PIPERING_ORDER_NODES)
                                | (tap_once_in(2) ? MCA_COLL_PIPERING_ORDER_EMPTIES : 0),
                            scratch);
    free(scratch);
}

/* The ring that a problem is opened with, of all ranks. */
static void order_all(ranks_problem_t *problem, bool flat)
{
    mca_coll_pipering_ring_bind(&problem->ring, problem->p, problem->memory);
    order_ring(problem, &problem->ring, flat);
}

static void make_ring(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    ranks_open(problem, operation, p, tap_between(1, p));
    ranks_roll(problem);
    fill_bytes(problem, p, 12, 300);
    order_all(problem, tap_once_in(4));
    const int pipe = ranks_add_pipe(problem);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route(&problem->route[pipe][r], &problem->ring, r);
    }
}

/* Around the ring twice: a reduce-scatter and a gather. */
static void make_ring_allreduce(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    ranks_open(problem, operation, p, tap_between(1, p));
    ranks_roll(problem);
    problem->scattered = problem->commutes = true;
    const size_t length = (size_t) p + tap_below(200);
    for (size_t r = 0; r < (size_t) p; r++) {
        problem->bytes[r] = length / (size_t) p + (r < length % (size_t) p);
        problem->starts[r] = 0 == r ? 0 : problem->starts[r - 1] + problem->bytes[r - 1];
    }
    order_all(problem, tap_once_in(4));
    const int scatter = ranks_add_pipe(problem);
    const int gather = ranks_add_pipe(problem);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_t *first = &problem->route[scatter][r];
        mca_coll_pipering_route_t *second = &problem->route[gather][r];

        mca_coll_pipering_route_scatter(first, &problem->ring, r);
        mca_coll_pipering_route(second, &problem->ring, r);
        mca_coll_pipering_route_shift_tags(second, first->tags);
        second->gate = scatter;
    }
}

static void reverse(mca_coll_pipering_ring_t *ring)
{
    for (int x = 0, y = ring->size - 1; x < y; x++, y--) {
        const int rank = ring->rank[x];

        ring->rank[x] = ring->rank[y];
        ring->rank[y] = rank;
    }
    for (int x = 0; x < ring->size; x++) {
        ring->position[ring->rank[x]] = x;
    }
}

/* Parts of any sizes, of a vector. */
static void open_parts(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    ranks_open(problem, operation, p, tap_between(1, p));
    ranks_roll(problem);
    fill_bytes(problem, p, 1, tap_once_in(4) ? 200 : 30);
    problem->scattered = true;
    for (size_t r = 1; r < (size_t) p; r++) {
        problem->starts[r] = problem->starts[r - 1] + problem->bytes[r - 1];
    }
}

static void make_ring_scatter(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    open_parts(problem, operation, p);
    problem->commutes = true;
    order_all(problem, tap_once_in(4));
    const int pipe = ranks_add_pipe(problem);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_scatter(&problem->route[pipe][r], &problem->ring, r);
    }
}

/* From both ends of the line of ranks, in their order. */
static void make_line_scatter(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    open_parts(problem, operation, p);
    problem->commutes = tap_once_in(3);
    mca_coll_pipering_ring_bind(&problem->ring, p, problem->memory);
    for (int r = 0; r < p; r++) {
        problem->ring.rank[r] = problem->ring.position[r] = r;
        problem->other[0].rank[r] = problem->other[0].position[r] = p - 1 - r;
    }
    const int upwards = ranks_add_pipe(problem), downwards = ranks_add_pipe(problem);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route_line(&problem->route[upwards][r], &problem->ring, r, -1);
        mca_coll_pipering_route_line(&problem->route[downwards][r], &problem->other[0], r,
                                     upwards);
    }
}

/* Along several rings, in one direction or the other, each with a part of all contributions. */
static void make_cycles(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    const int cycles = tap_between(2, RANKS_RINGS);
    int tags = 0;

    ranks_open(problem, operation, p, tap_between(1, p));
    ranks_roll(problem);
    fill_bytes(problem, p, 12, 300);
    for (int i = 0; i < cycles; i++) {
        const int pipe = ranks_add_pipe(problem);
        const bool flat = tap_once_in(2);

        order_ring(problem, &problem->other[i], flat);
        if (flat) {
            reverse(&problem->other[i]);
        }
        for (int r = 0; r < p; r++) {
            mca_coll_pipering_route_t *route = &problem->route[pipe][r];

            mca_coll_pipering_route(route, &problem->other[i], r);
            mca_coll_pipering_route_part(route, i, cycles);
            mca_coll_pipering_route_shift_tags(route, tags);
        }
        tags = problem->route[pipe][0].tags;
    }
}

/* ---- chains ---- */

static void open_vector(ranks_problem_t *problem, ranks_operation_t operation, int p, int root)
{
    ranks_open(problem, operation, p, tap_between(1, p));
    ranks_roll(problem);
    fill_bytes(problem, 1, 12, RANKS_BCAST == operation ? 1200 : 300);
    problem->root = root;
}

static void add_chain(ranks_problem_t *problem, bool collect, bool ordered, int gate)
{
    const int pipe = ranks_add_pipe(problem), p = problem->p;
    const bool line = RANKS_SCAN == problem->operation || RANKS_EXSCAN == problem->operation;

    for (int r = 0; r < p; r++) {
        mca_coll_pipering_chain_t chain;

        if (line) {
            mca_coll_pipering_chain_scan(&chain, p, r);
        } else if (ordered) {
            mca_coll_pipering_chain_ordered(&chain, p, problem->root, r);
        } else {
            mca_coll_pipering_chain(&chain, problem->node_of, p, problem->root, r);
        }
        (collect ? mca_coll_pipering_chain_collect
                 : mca_coll_pipering_chain_spread)(&problem->route[pipe][r], &problem->ring,
                                                   &chain);
        problem->route[pipe][r].gate = gate;
    }
}

static void make_chain(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    const bool ordered = tap_once_in(2);

    open_vector(problem, operation, p,
                RANKS_ALLREDUCE == operation ? 0 : tap_between(0, p - 1));
    problem->commutes = !ordered;
    if (RANKS_BCAST == operation) {
        add_chain(problem, false, false, -1);
        return;
    }
    add_chain(problem, true, ordered, -1);
    if (RANKS_ALLREDUCE == operation) {
        add_chain(problem, false, false, 0);
    }
}

/* ---- trees ---- */

typedef struct tree_t {
    int up[POSING_RANKS];
    int down[POSING_RANKS][FAN_OUT], downs[POSING_RANKS];
    int below[POSING_RANKS]; /* children of lower ranks */
} tree_t;

static void add_child(tree_t *tree, int parent, int child)
{
    tree->down[parent][tree->downs[parent]++] = child;
    tree->up[child] = parent;
}

/* A tree of any shape. */
static void roll_tree(tree_t *tree, int p, int root)
{
    int row[POSING_RANKS];

    memset(tree, 0, sizeof(*tree));
    tree->up[root] = -1;
    row[0] = root;
    for (int i = 1, r = 0; i < p; i++, r++) {
        const int at = tap_between(1, i);

        r += root == r;
        row[i] = row[at];
        row[at] = r;
    }
    for (int i = 1; i < p; i++) {
        int parent = row[tap_between(tap_once_in(2) ? i / 2 : 0, i - 1)];

        while (FAN_OUT == tree->downs[parent]) {
            parent = row[tap_between(0, i - 1)];
        }
        add_child(tree, parent, row[i]);
    }
}

/* Ranks [from, to) below a parent, which gets at most `most` children; ranks of a subtree follow
 * each other. */
static void roll_ordered(tree_t *tree, int parent, int from, int to, int most)
{
    while (from < to) {
        const int end = tree->downs[parent] + 1 < most ? tap_between(from + 1, to) : to;
        const int child = tap_between(from, end - 1);

        add_child(tree, parent, child);
        roll_ordered(tree, child, from, child, FAN_OUT - 1);
        tree->below[child] = tree->downs[child];
        roll_ordered(tree, child, child + 1, end, FAN_OUT);
        from = end;
    }
}

static void roll_ordered_tree(tree_t *tree, int p, int root)
{
    memset(tree, 0, sizeof(*tree));
    tree->up[root] = -1;
    roll_ordered(tree, root, 0, root, FAN_OUT - 1);
    tree->below[root] = tree->downs[root];
    roll_ordered(tree, root, root + 1, p, FAN_OUT);
}

/* A pipeline along a tree, for a part of the data. */
static int add_tree(ranks_problem_t *problem, const tree_t *tree, bool collect, int gate, int part,
                    int parts, int tag)
{
    const int pipe = ranks_add_pipe(problem);

    for (int r = 0; r < problem->p; r++) {
        mca_coll_pipering_route_t *route = &problem->route[pipe][r];

        if (collect) {
            mca_coll_pipering_route_collect(route, &problem->ring, tree->up[r], tree->down[r],
                                            tree->downs[r], tree->below[r]);
        } else {
            mca_coll_pipering_route_spread(route, &problem->ring, tree->up[r], tree->down[r],
                                           tree->downs[r]);
        }
        mca_coll_pipering_route_part(route, part, parts);
        mca_coll_pipering_route_shift_tags(route, tag);
        route->gate = gate;
    }
    return pipe;
}

/* A broadcast, or a reduction, that several trees have parts of. */
static void make_trees(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    const int root = tap_between(0, p - 1);
    const int trees = tap_between(1, RANKS_BCAST == operation ? 8 : RANKS_PIPES / 2);
    tree_t tree;

    open_vector(problem, operation, p, root);
    problem->commutes = tap_once_in(3);
    for (int i = 0; i < trees; i++) {
        int gate = -1, tag = i;

        if (RANKS_BCAST != operation) {
            problem->commutes ? roll_tree(&tree, p, root) : roll_ordered_tree(&tree, p, root);
            gate = add_tree(problem, &tree, true, -1, i, trees, i);
            tag += trees;
        }
        if (RANKS_REDUCE != operation) {
            roll_tree(&tree, p, root);
            add_tree(problem, &tree, false, gate, i, trees, tag);
        }
    }
}

/* ---- one pipeline with a stream of each rank ---- */

/* The links of a rank in the tree of an origin; the tag is the origin's. */
static void add_origin(mca_coll_pipering_route_t *route, const tree_t *tree, int origin, int me)
{
    const mca_coll_pipering_stream_t stream = {.position = origin, .origins = 1};
    const int source = route->ins;

    if (origin != me) {
        route->in[route->ins++] = (mca_coll_pipering_in_t){.peer = tree->up[me],
                                                           .tag = origin,
                                                           .stream = stream};
    }
    for (int i = 0; i < tree->downs[me]; i++) {
        mca_coll_pipering_out_t *out = &route->out[route->outs++];

        *out = (mca_coll_pipering_out_t){.peer = tree->down[me][i], .tag = origin};
        if (origin == me) {
            out->own = true;
        } else {
            out->source = source;
            out->forward = stream;
        }
    }
}

static void make_gather(ranks_problem_t *problem, ranks_operation_t operation, int p)
{
    tree_t tree;

    ranks_open(problem, operation, p, tap_between(1, p));
    ranks_roll(problem);
    fill_bytes(problem, p, 12, 300);
    mca_coll_pipering_ring_bind(&problem->ring, p, problem->memory);
    for (int r = 0; r < p; r++) {
        problem->ring.rank[r] = problem->ring.position[r] = r;
    }
    const int pipe = ranks_add_pipe(problem);
    for (int r = 0; r < p; r++) {
        problem->route[pipe][r].ring = &problem->ring;
        problem->route[pipe][r].own = (mca_coll_pipering_stream_t){.position = r, .origins = 1};
        problem->route[pipe][r].tags = p;
        problem->route[pipe][r].gate = -1;
    }
    for (int origin = 0; origin < p; origin++) {
        roll_tree(&tree, p, origin);
        for (int r = 0; r < p; r++) {
            add_origin(&problem->route[pipe][r], &tree, origin, r);
        }
    }
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    void (*make)(ranks_problem_t *problem, ranks_operation_t operation, int p);
    ranks_operation_t operation;
    int most; /* ranks */
} shapes[] = {{"broadcast along up to eight trees", make_trees, RANKS_BCAST, 14},
              {"reduce along up to six trees, in the order of ranks", make_trees, RANKS_REDUCE, 14},
              {"allreduce along up to six trees, there and back", make_trees, RANKS_ALLREDUCE, 10},
              {"one pipeline with a stream of each rank, along a tree each", make_gather,
               RANKS_GATHER, 12},
              {"gather along a ring of nodes", make_ring, RANKS_GATHER, 10},
              {"gather along several rings, each with a part", make_cycles, RANKS_GATHER, 9},
              {"allreduce around a ring", make_ring_allreduce, RANKS_ALLREDUCE, 9},
              {"reduce-scatter around a ring", make_ring_scatter, RANKS_REDUCE_SCATTER, 9},
              {"reduce-scatter along a line, in the order of ranks", make_line_scatter,
               RANKS_REDUCE_SCATTER, 9},
              {"broadcast along a chain", make_chain, RANKS_BCAST, 9},
              {"reduce along a chain", make_chain, RANKS_REDUCE, 9},
              {"scan along a chain", make_chain, RANKS_SCAN, 9},
              {"exscan along a chain", make_chain, RANKS_EXSCAN, 9},
              {"allreduce, there and back along a chain", make_chain, RANKS_ALLREDUCE, 9}};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void try_problem(tap_tally_t *tally, ranks_problem_t *problem, unsigned long fails)
{
    const char *fault = ranks_run(problem, fails);

    tap_try(tally, NULL == fault, "%s: %s", NULL == fault ? "" : fault, ranks_show(problem));
    ranks_close(problem);
}

static void test_shapes(void)
{
    ranks_problem_t problem;

    for (int shape = 0; shape < SHAPES; shape++) {
        tap_tally_t tally = {0, 0};

        for (int i = 0; i < 110; i++) {
            shapes[shape].make(&problem, shapes[shape].operation,
                               tap_between(2, shapes[shape].most));
            try_problem(&tally, &problem, 0);
        }
        tally_ok(&tally, 110, "%s", shapes[shape].name);
    }
}

/*
 * A send fails: nobody waits for who knows of it, and who does not know of it has all data. The
 * block that fails is the last one, often enough.
 */
static void test_failures(void)
{
    tap_tally_t tally = {0, 0};
    ranks_problem_t problem;

    for (int i = 0; i < 300; i++) {
        const int shape = i % SHAPES;
        const bool last = tap_once_in(5);

        shapes[shape].make(&problem, shapes[shape].operation, tap_between(3, 8));
        problem.calls = 1;
        if (last) {
            problem.block_size = 1 + problem.bytes[0] / (size_t) tap_between(1, 2);
        }
        try_problem(&tally, &problem, 1 + tap_below(last ? 5 : 100));
    }
    tally_ok(&tally, 300, "a send fails: nobody waits for blocks of a rank that has failed");
}

int main(void)
{
    tap_start();
    alarm(PATIENCE);
    test_shapes();
    test_failures();
    return tap_end();
}
