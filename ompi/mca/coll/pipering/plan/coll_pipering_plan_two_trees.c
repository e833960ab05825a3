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
 * Two trees: a broadcast down two binary trees of nodes, each with half of the blocks.
 *
 *     tree 0      root          tree 1      root         7 nodes behind the root's
 *                   |                         |
 *                   4                         3
 *                 /   \                     /   \
 *                2     6                   1     5
 *               / \   / \                   \   / \
 *              1   3 5   7              7    2 4   6     (7: the left child of 1)
 *
 * A node that has children in one tree has none in the other. So each node receives all
 * blocks once and sends them at most once on average, as in a chain, and no link from one
 * node to another carries blocks of both trees; but the way to the last node is as long as a
 * tree is deep.
 *
 * Nodes are numbered 1 to n behind the node of the root. Tree 0 is the binary tree whose
 * in-order numbers these are; the nodes with children have even numbers. Tree 1 is the same
 * tree with other numbers: n + 1 - i where n is even, i + 1 (1 for n) where n is odd, so that
 * even and odd change places; node n alone is a leaf in both where n is odd. In a node data
 * goes along a chain of its ranks, from the rank that the trees end at.
 *
 * Cost: with k blocks in each tree, D = floor(log2 n) + 1 links between nodes on the longest way
 * and c(B) a block's time on a link
 *
 *     T(B) = D (2 c(B) + latency) + (k - 1) 2 c(B) 4/3 + inside (c'(B) + latency')
 *
 * where a chain has n links and 2k blocks. Every node sends to two others and receives from two
 * others, and nothing keeps these sends in step: a block whose receiver is busy with the other
 * tree holds up the blocks behind it. A switch of this kind carries 3/4 of what its links do;
 * so a chain is faster from about the size on where its way is no more than a third of its
 * time. (Sanders et al. colour the links, with which nodes send in step; that needs rounds.)
 * Limits: one rank of a node sends for it; blocks of a vector that fits into one block go down
 * one tree.
 *
 * P. Sanders, J. Speck, J. L. Träff, "Two-tree algorithms for full bandwidth broadcast,
 * reduction and scan", 2009, section 3. M. Karol, M. Hluchyj, S. Morgan, "Input versus output
 * queueing on a space-division packet switch", 1987, table I: 0.75 for two inputs and outputs.
 */

#include <math.h>

#include "coll_pipering_plan_blocks.h"
#include "coll_pipering_plan_chain.h"
#include "coll_pipering_plan_two_trees.h"

/* ---- a binary tree in order ---- */

/* The root of the subtree of numbers first to last; 0: it is empty. */
static int root_of(int first, int last)
{
    int above = 1;

    if (first > last) {
        return 0;
    }
    while (above <= (last - first + 1) / 2) {
        above *= 2;
    }
    return first - 1 + above;
}

/* The neighbours of number i among n: its parent (0: the root of the broadcast) and children. */
static void find_neighbours(int n, int i, int *parent, int child[2])
{
    int first = 1, last = n, at = root_of(1, n);

    *parent = 0;
    while (at != i) {
        *parent = at;
        if (i < at) {
            last = at - 1;
        } else {
            first = at + 1;
        }
        at = root_of(first, last);
    }
    child[0] = root_of(first, at - 1);
    child[1] = root_of(at + 1, last);
}

/* The number that node i of the broadcast has in a tree, and the node that has number i. */
static int number_of(int n, int which, int i)
{
    if (0 == which || 0 == i) {
        return i;
    }
    return 0 == n % 2 ? n + 1 - i : i % n + 1;
}

static int node_with(int n, int which, int i)
{
    if (0 == which || 0 == i) {
        return i;
    }
    return 0 == n % 2 ? n + 1 - i : (i + n - 2) % n + 1;
}

/* ---- ranks ---- */

/* Nodes behind the root's, in the order of their lowest ranks, around the end. */
static int count_behind(const int *node_of, int p)
{
    int nodes = 0;

    for (int r = 0; r < p; ++r) {
        nodes += node_of[r] == r;
    }
    return nodes - 1;
}

/* The place of a node behind the root's: 0 for the root's own. */
static int place_of(int node, const int *node_of, int p, int root)
{
    const int first = node_of[root];
    int place = 0;

    for (int r = first; r != node;) {
        r = (r + 1) % p;
        place += node_of[r] == r;
    }
    return place;
}

/* The rank that data enters the node at a place by. */
static int rank_at(int place, const int *node_of, int p, int root)
{
    int node = node_of[root];

    if (0 == place) {
        return root;
    }
    while (0 < place) {
        node = (node + 1) % p;
        place -= node_of[node] == node;
    }
    return node;
}

void mca_coll_pipering_two_trees(mca_coll_pipering_tree_t *tree, int which, const int *node_of,
                                 int p, int root, int me)
{
    const int n = count_behind(node_of, p);
    mca_coll_pipering_chain_t chain;
    int parent = 0, child[2] = {0, 0};

    mca_coll_pipering_chain(&chain, node_of, p, root, me);
    tree->up = chain.up;
    tree->downs = 0;
    if (me == root) {
        child[0] = root_of(1, n);
    } else if (me == node_of[me] && node_of[root] != node_of[me]) {
        const int place = place_of(node_of[me], node_of, p, root);
        find_neighbours(n, number_of(n, which, place), &parent, child);
        tree->up = rank_at(node_with(n, which, parent), node_of, p, root);
    }
    for (int i = 0; i < 2; ++i) {
        if (0 < child[i]) {
            tree->down[tree->downs++] = rank_at(node_with(n, which, child[i]), node_of, p, root);
        }
    }
    if (0 <= chain.lower) {
        tree->down[tree->downs++] = chain.lower;
    }
}

/* ---- model ---- */

static int depth_of(int nodes)
{
    int depth = 0;

    for (int n = nodes - 1; 0 < n; n /= 2) {
        ++depth;
    }
    return depth;
}

/* How much longer links take that wait for each other, which those of two nodes do not. */
#define CONTENTION (4.0 / 3)

double mca_coll_pipering_two_trees_time(const void *problem, size_t block_size)
{
    const mca_coll_pipering_two_trees_problem_t *trees = problem;
    const mca_coll_pipering_link_cost_t *net = &trees->cost.net, *local = &trees->cost.local;
    const uint64_t blocks = mca_coll_pipering_blocks(trees->bytes, block_size);

    if (0 == blocks) {
        return 0;
    }
    const double size = (double) trees->bytes / (double) blocks;
    const double far = mca_coll_pipering_stream_time(net, 2, 2 * size);
    const double near = mca_coll_pipering_stream_time(local, 1, size);
    const double longer = 2 < trees->nodes ? CONTENTION : 1;
    const mca_coll_pipering_stage_t stages[] = {
        {.count = depth_of(trees->nodes), .pass = far + net->latency, .hold = longer * far},
        {.count = trees->inside, .pass = near + local->latency, .hold = 2 * near}};

    return mca_coll_pipering_stages_time(stages, 2, (blocks + 1) / 2);
}

size_t mca_coll_pipering_two_trees_search(const mca_coll_pipering_two_trees_problem_t *trees)
{
    const mca_coll_pipering_link_cost_t *net = &trees->cost.net;
    const int links = depth_of(trees->nodes) + trees->inside;

    return mca_coll_pipering_search_size(
        mca_coll_pipering_two_trees_time, trees, net, trees->cost.local.eager, trees->bytes,
        sqrt((double) trees->bytes * net->alpha / net->beta / (1 < links ? 2 * links : 1)));
}
