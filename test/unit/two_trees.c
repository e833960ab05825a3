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
 * Two trees: for all numbers of nodes, roots and several ranks a node, both span all ranks,
 * agree at both ends of each link, are binary between nodes, disjoint there, and as shallow as
 * the model says.
 */

#include <string.h>

#include "coll_pipering_plan.h"
#include "tap.h"

#define MOST 160

typedef struct instance_t {
    int p, root;
    int node_of[MOST];
    mca_coll_pipering_tree_t tree[2][MOST];
} instance_t;

/* Ranks dealt out to nodes: by blocks, or in turn. */
static void open_instance(instance_t *in, int nodes, int per_node, bool in_turn, int root)
{
    in->p = nodes * per_node;
    in->root = root;
    for (int r = 0; r < in->p; r++) {
        in->node_of[r] = in_turn ? r % nodes : r / per_node * per_node;
    }
    for (int which = 0; which < 2; which++) {
        for (int r = 0; r < in->p; r++) {
            mca_coll_pipering_two_trees(&in->tree[which][r], which, in->node_of, in->p, root, r);
        }
    }
}

/* Each child has the rank as its parent; each rank but the root is somebody's child once. */
static bool is_consistent(const instance_t *in, int which)
{
    int children[MOST] = {0};

    for (int r = 0; r < in->p; r++) {
        const mca_coll_pipering_tree_t *tree = &in->tree[which][r];
        for (int i = 0; i < tree->downs; i++) {
            if (in->tree[which][tree->down[i]].up != r) {
                return false;
            }
            children[tree->down[i]]++;
        }
    }
    for (int r = 0; r < in->p; r++) {
        if (children[r] != (r == in->root ? 0 : 1)) {
            return false;
        }
    }
    return -1 == in->tree[which][in->root].up;
}

/* Hops between nodes from the root, -1: it is not above this rank. */
static int depth_of(const instance_t *in, int which, int rank)
{
    int depth = 0, steps = 0;

    for (; rank != in->root && steps <= in->p; steps++) {
        const int up = in->tree[which][rank].up;
        depth += in->node_of[up] != in->node_of[rank];
        rank = up;
    }
    return steps <= in->p ? depth : -1;
}

static bool is_shallow(const instance_t *in, int which, int nodes)
{
    int most = 0;

    while (1 << most < nodes) {
        most++;
    }
    for (int r = 0; r < in->p; r++) {
        const int depth = depth_of(in, which, r);
        if (0 > depth || depth > most) {
            return false;
        }
    }
    return true;
}

/* Children of a rank on other nodes. */
static int count_far(const instance_t *in, int which, int rank)
{
    int far = 0;

    for (int i = 0; i < in->tree[which][rank].downs; i++) {
        far += in->node_of[in->tree[which][rank].down[i]] != in->node_of[rank];
    }
    return far;
}

/* Nobody but the root has children on other nodes in both trees, and nobody more than two. */
static bool is_disjoint(const instance_t *in)
{
    for (int r = 0; r < in->p; r++) {
        const int far[2] = {count_far(in, 0, r), count_far(in, 1, r)};
        if (r == in->root ? 1 < far[0] || 1 < far[1]
                          : 2 < far[0] || 2 < far[1] || (0 < far[0] && 0 < far[1])) {
            return false;
        }
    }
    return true;
}

static void try_trees(void)
{
    tap_tally_t consistent = {0, 0}, shallow = {0, 0}, disjoint = {0, 0};
    static instance_t in;

    for (int nodes = 1; nodes <= 40; nodes++) {
        for (int per_node = 1; per_node <= 4; per_node++) {
            for (int root = 0; root < nodes * per_node; root++) {
                for (int in_turn = 0; in_turn < 2; in_turn++) {
                    open_instance(&in, nodes, per_node, in_turn, root);
                    for (int which = 0; which < 2; which++) {
                        tap_try(&consistent, is_consistent(&in, which), "%d x %d, root %d, %d, %d",
                                nodes, per_node, root, in_turn, which);
                        tap_try(&shallow, is_shallow(&in, which, nodes), "%d x %d, root %d, %d, %d",
                                nodes, per_node, root, in_turn, which);
                    }
                    tap_try(&disjoint, is_disjoint(&in), "%d x %d, root %d, %d", nodes, per_node,
                            root, in_turn);
                }
            }
        }
    }
    tally_ok(&consistent, 10000, "both trees span all ranks, and links have two ends");
    tally_ok(&shallow, 10000, "no rank is deeper than log2 of the nodes");
    tally_ok(&disjoint, 10000, "no rank has children on other nodes in both trees");
}

/* The trees of 8 nodes as they are drawn in the plan. */
static void try_picture(void)
{
    static const int up[2][8] = {{-1, 2, 4, 2, 0, 6, 4, 6}, {-1, 3, 1, 0, 5, 3, 5, 1}};
    static instance_t in;

    open_instance(&in, 8, 1, false, 0);
    for (int which = 0; which < 2; which++) {
        bool same = true;
        for (int r = 0; r < 8; r++) {
            same &= up[which][r] == in.tree[which][r].up;
        }
        ok(same, "tree %d of 8 nodes is the one of the picture", which);
    }
}

/* Between a chain, whose way is long, and a tree of whole vectors. */
static void try_model(void)
{
    const mca_coll_pipering_link_cost_t link = {.alpha = 20e-6,
                                                .beta = 8e-9,
                                                .latency = 20e-6,
                                                .gap = 20e-6};
    const mca_coll_pipering_cost_t cost = {.net = link, .local = link};
    tap_tally_t bound = {0, 0};
    int wins = 0;

    for (size_t bytes = 1024; bytes <= (size_t) 1 << 24; bytes *= 2) {
        const mca_coll_pipering_two_trees_problem_t trees = {.nodes = 32,
                                                             .bytes = bytes,
                                                             .cost = cost};
        const mca_coll_pipering_chain_problem_t chain = {
            .shape = {.across = 31, .load = 1}, .bytes = bytes, .passes = 1, .cost = cost};
        const double time
            = mca_coll_pipering_two_trees_time(&trees, mca_coll_pipering_two_trees_search(&trees));
        const double rival =
            mca_coll_pipering_chain_time(&chain, mca_coll_pipering_chain_search(&chain));
        tap_try(&bound, time >= (double) bytes * link.beta, "%zu bytes: %g s", bytes, time);
        wins += time < rival;
    }
    tally_ok(&bound, 15, "no time is less than that of the bytes on a link");
    ok(0 < wins, "the model prefers two trees to a chain of 32 nodes for %d sizes of 15", wins);
}

/* ---- contention ---- */

#define MOST_BLOCKS 256

/* Blocks that a rank has to send, in the order in which they have come. */
typedef struct queue_t {
    int to[2 * MOST_BLOCKS], which[2 * MOST_BLOCKS];
    int first, last;
} queue_t;

static void forward(const instance_t *in, queue_t *queue, int which, int rank)
{
    for (int i = 0; i < in->tree[which][rank].downs; i++) {
        queue[rank].to[queue[rank].last] = in->tree[which][rank].down[i];
        queue[rank].which[queue[rank].last++] = which;
    }
}

/*
 * Rounds until all ranks have all blocks, if a rank sends and receives at most one block in a
 * round, each as soon as its receiver is free; one rank a node. In each round another rank, at
 * random, is the first to send.
 */
static int count_rounds(const instance_t *in, int blocks)
{
    static queue_t queue[MOST];
    int left = (in->p - 1) * blocks, rounds = 0;

    memset(queue, 0, sizeof(queue));
    for (int k = 0; k < blocks; k++) {
        forward(in, queue, k % 2, in->root);
    }
    for (; 0 < left; rounds++) {
        int got[MOST];

        memset(got, -1, sizeof(got));
        const int start = tap_between(0, in->p - 1), step = tap_once_in(2) ? 1 : in->p - 1;
        for (int i = 0; i < in->p; i++) {
            const int r = (start + i * step) % in->p;
            if (queue[r].first < queue[r].last && 0 > got[queue[r].to[queue[r].first]]) {
                got[queue[r].to[queue[r].first]] = queue[r].which[queue[r].first];
                queue[r].first++;
                left--;
            }
        }
        for (int r = 0; r < in->p; r++) {
            if (0 <= got[r]) {
                forward(in, queue, got[r], r);
            }
        }
    }
    return rounds;
}

/* Executions differ by the order of sends; the model is in their midst. */
static void try_contention(void)
{
    const mca_coll_pipering_link_cost_t link = {.beta = 1};
    tap_tally_t near = {0, 0};
    static instance_t in;

    for (int nodes = 2; nodes <= 64; nodes++) {
        open_instance(&in, nodes, 1, false, nodes / 3);
        for (int blocks = 2; blocks <= MOST_BLOCKS; blocks *= 2) {
            const mca_coll_pipering_two_trees_problem_t trees = {
                .nodes = nodes, .bytes = (size_t) blocks, .cost = {.net = link, .local = link}};
            const double time = mca_coll_pipering_two_trees_time(&trees, 1);
            const int rounds = count_rounds(&in, blocks);
            tap_try(&near, 4 * time >= 2.99 * rounds && 3 * time <= 4.01 * rounds,
                    "%d nodes, %d blocks: %g, %d rounds", nodes, blocks, time, rounds);
        }
    }
    tally_ok(&near, 500, "the modelled time is that of an execution, up to a third");
    int rounds = 0;

    open_instance(&in, 32, 1, false, 0);
    for (int i = 0; i < 20; i++) {
        rounds += count_rounds(&in, MOST_BLOCKS);
    }
    ok(rounds > 20 * 1.1 * MOST_BLOCKS,
       "32 nodes need %d rounds on average for %d blocks: sends wait for each other", rounds / 20,
       MOST_BLOCKS);
}

/*
 * On 32 nodes of 20 Mbit/s two trees cannot win from 64 KiB on, since their way is shorter but
 * their links carry less. Below that the model has them win, which no measurement has shown
 * (docs/results.md).
 */
static void try_crossing(void)
{
    const mca_coll_pipering_link_cost_t link = {
        .alpha = 60e-6, .beta = 4.17e-7, .latency = 60e-6, .overlap = true};
    const mca_coll_pipering_cost_t cost = {.net = link, .local = link};
    tap_tally_t tally = {0, 0};

    for (size_t bytes = 8192; bytes <= 524288; bytes *= 2) {
        const mca_coll_pipering_two_trees_problem_t trees = {
            .nodes = 32, .bytes = bytes, .cost = cost};
        const mca_coll_pipering_chain_problem_t chain = {
            .shape = {.across = 31, .load = 1}, .bytes = bytes, .passes = 1, .cost = cost};
        const double time =
            mca_coll_pipering_two_trees_time(&trees, mca_coll_pipering_two_trees_search(&trees));
        const double rival =
            mca_coll_pipering_chain_time(&chain, mca_coll_pipering_chain_search(&chain));
        tap_try(&tally, (time < rival) == (bytes < 65536), "%zu bytes: %g s, along a chain %g s",
                bytes, time, rival);
    }
    tally_ok(&tally, 7, "32 nodes: two trees win below 64 KiB, a chain from there on");
}

int main(void)
{
    tap_start();
    try_trees();
    try_picture();
    try_model();
    try_contention();
    try_crossing();
    return tap_end();
}
