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
 * Chains: pipelines with two ends, for one-to-all, all-to-one and prefix operations.
 *
 *     node of the root        next node            next node
 *     root ------------------> head -------------> head          upper links
 *      |                        |                   |
 *      v                        v                   v            lower links
 *      . -> .                   . -> . -> .         .
 *
 * A broadcast goes along the arrows, a reduction against them. Every byte passes each link
 * between nodes once. The longest way has a link for each node, and one for each rank of a
 * node. An operation that does not commute is combined along two chains of ranks,
 *
 *     p-1 -> .. -> root+1 --upper--> root <--lower-- 0 <- 1 <- .. <- root-1
 *
 * and the result is lower op own op upper. (The paper rotates the ranks instead, which is wrong
 * for such an operation.) A root with ranks on both sides receives all bytes twice. A scan is
 * one chain in the order of ranks.
 *
 * Cost: n = ceil(m / B) blocks, of which each takes c(B) on a link between nodes, c'(B) on one
 * inside a node, and g B to be combined:
 *
 *     T(B) = across (c(B) + latency + g B) + inside (c'(B) + latency' + g B)
 *          + (n - 1) max(load c(B), load' c'(B), children g B)
 *
 * The first line is the way of the first block, over `across` links between nodes and `inside`
 * links inside one; the second the others, at the pace of the slowest link (plan_stages). `load`
 * counts how often all bytes enter the busiest node, `children` the ranks that bring values to one
 * rank: two where a node has both a next node and ranks of its own. An allreduce along the chain
 * and back at the same time (section 4.4) enters every inner node twice; the links of its two ends
 * carry one direction each. Limits: one chain, so trees are faster with few blocks and many nodes.
 *
 * Paper: Worringer, "Pipelining and Overlapping for MPI Collective Operations",
 * sections 4.2 to 4.4.
 */

#include <math.h>

#include "coll_pipering_plan_chain.h"

/* ---- who is next to whom ---- */

/* The rank that data enters a node by. */
static int head_of(int node, const int *node_of, int root)
{
    return node == node_of[root] ? root : node;
}

/* The node after (step 1) or before (step -1) one, in the order of their lowest ranks. */
static int next_node(int node, const int *node_of, int p, int step)
{
    do {
        node = (node + step + p) % p;
    } while (node_of[node] != node);
    return node;
}

/* The next rank of a node's own chain above or below `rank`, the head left out; -1: none. */
static int next_inside(int rank, int node, int head, const int *node_of, int p, int step)
{
    for (int r = rank + step; 0 <= r && r < p; r += step) {
        if (node_of[r] == node && r != head) {
            return r;
        }
    }
    return -1;
}

void mca_coll_pipering_chain(mca_coll_pipering_chain_t *chain, const int *node_of, int p, int root,
                             int me)
{
    const int node = node_of[me], first = node_of[root], head = head_of(node, node_of, root);
    const int next = next_node(node, node_of, p, 1);

    if (me != head) {
        const int before = next_inside(me, node, head, node_of, p, -1);
        chain->up = 0 > before ? head : before;
        chain->upper = -1;
        chain->lower = next_inside(me, node, head, node_of, p, 1);
        return;
    }
    chain->up = me == root ? -1 : head_of(next_node(node, node_of, p, -1), node_of, root);
    chain->upper = next == first ? -1 : head_of(next, node_of, root);
    chain->lower = next_inside(-1, node, head, node_of, p, 1);
}

mca_coll_pipering_shape_t mca_coll_pipering_chain_shape(const int *node_of, int p, int *scratch)
{
    mca_coll_pipering_shape_t shape = {.across = -1, .inside = 0, .load = 1};

    for (int r = 0; r < p; ++r) {
        scratch[r] = 0;
    }
    for (int r = 0; r < p; ++r) {
        const int others = scratch[node_of[r]]++;
        shape.across += 0 == others;
        shape.inside = others > shape.inside ? others : shape.inside;
    }
    shape.children = 0 < shape.across && 0 < shape.inside ? 2 : 1;
    return shape;
}

void mca_coll_pipering_chain_ordered(mca_coll_pipering_chain_t *chain, int p, int root, int me)
{
    if (me == root) {
        chain->up = -1;
        chain->upper = me + 1 < p ? me + 1 : -1;
        chain->lower = 0 < me ? 0 : -1;
    } else {
        const int end = me < root ? root : p;
        chain->up = me == 0 ? root : me - 1;
        chain->upper = me + 1 < end ? me + 1 : -1;
        chain->lower = -1;
    }
}

void mca_coll_pipering_chain_scan(mca_coll_pipering_chain_t *chain, int p, int me)
{
    chain->up = me + 1 < p ? me + 1 : -1;
    chain->upper = -1;
    chain->lower = me - 1;
}

/* Adds the links of the chain from rank `from` to rank `to`, one from each rank to the next. */
static void count_links(mca_coll_pipering_shape_t *shape, const int *node_of, int from, int to)
{
    const int step = from < to ? 1 : -1;

    for (int r = from; r != to; r += step) {
        const bool same = node_of[r] == node_of[r + step];
        shape->inside += same;
        shape->across += !same;
    }
}

/* The most times that links between neighbouring ranks enter one node; count [p] has others. */
static int count_load(const int *node_of, int p, int root, int step, int *count)
{
    int most = 1;

    for (int r = 0; r < p; ++r) {
        const int from = r - step;
        if (0 <= from && from < p && from != root && node_of[r] != node_of[from]) {
            ++count[node_of[r]];
        }
    }
    for (int r = 0; r < p; ++r) {
        most = count[r] > most ? count[r] : most;
    }
    return most;
}

/* Links between nodes count first. */
static bool is_longer(const mca_coll_pipering_shape_t *a, const mca_coll_pipering_shape_t *b)
{
    return a->across > b->across || (a->across == b->across && a->inside > b->inside);
}

mca_coll_pipering_shape_t mca_coll_pipering_chain_ordered_shape(const int *node_of, int p, int root,
                                                                int *scratch)
{
    mca_coll_pipering_shape_t above = {0, 0, 1, 1}, below = {0, 0, 1, 1};

    count_links(&above, node_of, p - 1, root);
    for (int r = 0; r < p; ++r) {
        scratch[r] = 0;
    }
    if (0 < root) {
        const bool same = node_of[0] == node_of[root];
        count_links(&below, node_of, root - 1, 0);
        below.inside += same;
        below.across += !same;
        scratch[node_of[root]] += !same;
    }
    mca_coll_pipering_shape_t shape = is_longer(&above, &below) ? above : below;
    shape.load = count_load(node_of, p, root, -1, scratch);
    if (0 == shape.across && 0 < root && root < p - 1) {
        shape.load = 2; /* on one node it is the root that takes all in twice */
    }
    shape.children = 0 < root && root < p - 1 ? 2 : 1;
    return shape;
}

mca_coll_pipering_shape_t mca_coll_pipering_chain_scan_shape(const int *node_of, int p,
                                                             int *scratch)
{
    mca_coll_pipering_shape_t shape = {0, 0, 1, 1};

    count_links(&shape, node_of, 0, p - 1);
    for (int r = 0; r < p; ++r) {
        scratch[r] = 0;
    }
    shape.load = count_load(node_of, p, -1, 1, scratch);
    return shape;
}

/* ---- routes ---- */

/* Lists those of two ranks that are there (not -1); how many. */
static int list_ranks(int *list, int first, int second)
{
    int count = 0;

    if (0 <= first) {
        list[count++] = first;
    }
    if (0 <= second) {
        list[count++] = second;
    }
    return count;
}

/* The next node comes first, since the longest way goes through it. */
void mca_coll_pipering_chain_spread(mca_coll_pipering_route_t *route,
                                    const mca_coll_pipering_ring_t *root,
                                    const mca_coll_pipering_chain_t *chain)
{
    int down[MCA_COLL_PIPERING_ROUTE_LINKS];

    mca_coll_pipering_route_spread(route, root, chain->up, down,
                                   list_ranks(down, chain->upper, chain->lower));
}

void mca_coll_pipering_chain_collect(mca_coll_pipering_route_t *route,
                                     const mca_coll_pipering_ring_t *root,
                                     const mca_coll_pipering_chain_t *chain)
{
    int down[MCA_COLL_PIPERING_ROUTE_LINKS];

    mca_coll_pipering_route_collect(route, root, chain->up, down,
                                    list_ranks(down, chain->lower, chain->upper),
                                    0 <= chain->lower);
}

/* ---- model ---- */

double mca_coll_pipering_chain_time(const void *problem, size_t block_size)
{
    const mca_coll_pipering_chain_problem_t *chain = problem;
    const mca_coll_pipering_link_cost_t *net = &chain->cost.net, *local = &chain->cost.local;
    const uint64_t blocks = mca_coll_pipering_blocks(chain->bytes, block_size);

    if (0 == blocks) {
        return 0;
    }
    const double size = (double) chain->bytes / (double) blocks, combine = size * chain->combine;
    const double combines = fmax(1, chain->shape.children) * combine;
    const double far = mca_coll_pipering_stream_time(net, 1, size);
    const double near = mca_coll_pipering_stream_time(local, 1, size);
    const int back = chain->passes - 1;
    const int far_loads = chain->shape.load + (1 < chain->shape.across ? back : 0);
    const int near_loads = (0 < chain->shape.across ? 1 : chain->shape.load)
                           + (1 < chain->shape.inside ? back : 0);
    const mca_coll_pipering_stage_t stages[] = {
        {.count = chain->passes * chain->shape.across,
         .pass = far + net->latency + combine,
         .hold = fmax(far_loads * far, combines)},
        {.count = chain->passes * chain->shape.inside,
         .pass = near + local->latency + combine,
         .hold = fmax(near_loads * near, combines)}};

    const int links = chain->shape.across + chain->shape.inside;
    const double bytes = (double) chain->bytes;
    const double work = mca_coll_pipering_links_work(
        &chain->cost, chain->passes * chain->shape.across, chain->passes * chain->shape.inside,
        (double) blocks, bytes, links * bytes * chain->combine);

    return mca_coll_pipering_crowded_time(&chain->cost,
                                          mca_coll_pipering_stages_time(stages, 2, blocks), work,
                                          1 + links);
}

size_t mca_coll_pipering_chain_search(const mca_coll_pipering_chain_problem_t *chain)
{
    const mca_coll_pipering_link_cost_t *link = 0 < chain->shape.across ? &chain->cost.net
                                                                        : &chain->cost.local;
    const int hops = chain->shape.across + chain->shape.inside;

    return mca_coll_pipering_search_size(
        mca_coll_pipering_chain_time, chain, link, chain->cost.local.eager, chain->bytes,
        sqrt((double) chain->bytes * link->alpha / link->beta / (1 < hops ? hops : 1)));
}

/* Chunks, cut into blocks. */
typedef struct {
    double blocks, bytes;
} chunks_t;

/* So many chunks, at most `larger` of them large. */
static chunks_t take_chunks(const mca_coll_pipering_ring_allreduce_problem_t *ring, int count,
                            int larger, size_t block_size)
{
    const size_t bytes = ring->bytes, less = bytes - ring->unit;

    larger = count < larger ? count : larger;
    const int smaller = count - larger;

    return (chunks_t){.blocks = larger * (double) mca_coll_pipering_blocks(bytes, block_size)
                                + smaller * (double) mca_coll_pipering_blocks(less, block_size),
                      .bytes = larger * (double) bytes + smaller * (double) less};
}

/* The largest block of any chunk. */
static chunks_t largest_block(const mca_coll_pipering_ring_allreduce_problem_t *ring,
                              size_t block_size)
{
    const size_t less = ring->bytes - ring->unit;
    const double many = (double) mca_coll_pipering_blocks(ring->bytes, block_size);
    const double few = (double) mca_coll_pipering_blocks(less, block_size);
    const bool both = ring->larger < ring->ranks && 0 < few;

    return (chunks_t){1, fmax((double) ring->bytes / many, both ? (double) less / few : 0)};
}

static double send_time(const mca_coll_pipering_link_cost_t *link, chunks_t chunks)
{
    return mca_coll_pipering_stream_time(link, chunks.blocks, chunks.bytes);
}

/* A way around the ring: the links that a chunk takes, and the chunks that the busiest carries. */
typedef struct {
    int across, inside;
    int far, near, larger;
} way_t;

/* Seconds in which a block goes all the way; ranks have other chunks to send meanwhile. */
static double pass_time(const mca_coll_pipering_cost_t *cost, way_t way, chunks_t block,
                        double combine)
{
    return way.across * (send_time(&cost->net, block) + cost->net.latency)
           + way.inside * (send_time(&cost->local, block) + cost->local.latency)
           + (way.across + way.inside) * block.bytes * combine;
}

/* Seconds in which the links carry all chunks, and the last block arrives if the call waits. */
static double carry_time(const mca_coll_pipering_ring_allreduce_problem_t *ring, way_t way,
                         size_t block_size, bool waits)
{
    const mca_coll_pipering_link_cost_t *net = &ring->cost.net, *local = &ring->cost.local;
    const double far = send_time(net, take_chunks(ring, way.far, way.larger, block_size));
    const double near = send_time(local, take_chunks(ring, way.near, way.larger, block_size));

    return fmax(0 < way.across ? far + (waits ? net->latency : 0) : 0,
                0 < way.inside ? near + (waits ? local->latency : 0) : 0);
}

/* Seconds of the processors of all ranks: each chunk goes around twice. */
static double ring_work(const mca_coll_pipering_ring_allreduce_problem_t *ring, chunks_t all)
{
    const double p = ring->ranks, links = p - 1;
    const double away = 2 > ring->nodes ? 0 : ring->nodes / p;

    return mca_coll_pipering_links_work(&ring->cost, 2 * links * away, 2 * links * (1 - away),
                                        all.blocks, all.bytes, links * all.bytes * ring->combine);
}

/*
 * On the first way a chunk passes p - 1 links. On the second one it stops at the node before its
 * own. Each way takes what its busiest link carries, or a block's time all the way. Ranks that
 * take longer to combine than to send send the chunk that they combine last meanwhile.
 */
double mca_coll_pipering_ring_allreduce_time(const void *problem, size_t block_size)
{
    const mca_coll_pipering_ring_allreduce_problem_t *ring = problem;
    const int p = ring->ranks, links = p - 1;
    const bool alone = 2 > ring->nodes;

    if (0 == ring->bytes) {
        return 0;
    }
    const int there = alone ? 0 : ring->nodes < p ? ring->nodes : links;
    const int back = alone ? 0 : ring->nodes - 1;
    /* a link does not carry all chunks but one, and leaves out another one on its way back */
    const int larger = ring->larger, again = 1 == p - larger ? larger - 1 : larger;
    const way_t scatter = {there, links - there, links, links, larger};
    const way_t gather = {back, links - back, p - ring->least, links, again};
    const way_t rest = {back, links - back, p - ring->least - 1, links - 1, again};
    const chunks_t block = largest_block(ring, block_size);

    const double passed = pass_time(&ring->cost, gather, block, 0);
    const double scattered = fmax(carry_time(ring, scatter, block_size, false),
                                  pass_time(&ring->cost, scatter, block, ring->combine));
    const way_t link = {.across = 0 < there, .inside = 0 == there};
    const double combined = pass_time(&ring->cost, link, block, 0)
                            + take_chunks(ring, links, larger, block_size).bytes * ring->combine;
    const double sending = scattered + fmax(carry_time(ring, gather, block_size, true), passed);
    const double combining = combined + fmax(carry_time(ring, rest, block_size, true), passed);

    const double work = ring_work(ring, take_chunks(ring, p, larger, block_size));

    return mca_coll_pipering_crowded_time(&ring->cost, fmax(sending, combining), work, p);
}

size_t
mca_coll_pipering_ring_allreduce_search(const mca_coll_pipering_ring_allreduce_problem_t *ring)
{
    const mca_coll_pipering_link_cost_t *link = 1 < ring->nodes ? &ring->cost.net
                                                                : &ring->cost.local;

    return mca_coll_pipering_search_size(mca_coll_pipering_ring_allreduce_time, ring, link,
                                         ring->cost.local.eager, ring->bytes,
                                         sqrt((double) ring->bytes * link->alpha / link->beta));
}
