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
 * Order: the ring is a ring, keeps nodes together, places the empties as well
 * as brute force over all orders does, and depends on its arguments only.
 */

#include <string.h>

#include "coll_pipering_plan.h"
#include "ref.h"
#include "sim.h"
#include "tap.h"

#define NODES MCA_COLL_PIPERING_ORDER_NODES
#define EMPTIES MCA_COLL_PIPERING_ORDER_EMPTIES
#define MOST 300

typedef struct instance_t {
    int p;
    int node_of[MOST];
    uint64_t blocks[MOST];
} instance_t;

/* How ranks are mapped to nodes. */
static void random_nodes(instance_t *in)
{
    const int nodes = tap_between(1, in->p), kind = tap_between(0, 3);
    const int per_node = (in->p + nodes - 1) / nodes, name = (int) tap_below((uint64_t) in->p);

    for (int r = 0; r < in->p; r++) {
        int node = 0 == kind ? r / per_node : 1 == kind ? r % nodes : tap_between(0, nodes - 1);

        in->node_of[r] = (node + name) % in->p; /* any integers in 0 .. p - 1 */
    }
    if (3 == kind && 10 <= in->p) { /* Figure 1: nodes of 1, 5, 2, 1, 1, 1 ... ranks */
        for (int r = 0; r < in->p; r++) {
            in->node_of[r] = 0 == r ? 0 : r < 6 ? 1 : r < 8 ? 2 : r - 5;
        }
    }
}

static void random_instance(instance_t *in, int least, int most, int most_blocks)
{
    const uint64_t empties = tap_below(6);

    in->p = tap_between(least, most);
    random_nodes(in);
    for (int r = 0; r < in->p; r++) {
        in->blocks[r] = tap_below(6) < empties ? 0 : 1 + tap_below((uint64_t) most_blocks);
        in->blocks[r] *= tap_once_in(12) ? 3 : 1;
    }
}

/* Empties crowd on some nodes, so that nodes get in the way of the placement. */
static void crowded_instance(instance_t *in, int least, int most)
{
    const int hidden = tap_between(0, 2);

    random_instance(in, least, most, tap_between(1, 9));
    for (int r = 0; r < in->p; r++) {
        in->blocks[r] = in->node_of[r] % 3 == hidden ? 0 : in->blocks[r];
    }
}

static int64_t ring_excess(const mca_coll_pipering_ring_t *ring, const uint64_t *blocks)
{
    uint64_t row[MOST];

    for (int x = 0; x < ring->size; x++) {
        row[x] = blocks[ring->rank[x]];
    }
    return ref_excess(row, ring->size);
}

/* ---- it is a ring ---- */

static bool is_ring(const mca_coll_pipering_ring_t *ring, int p)
{
    bool seen[MOST] = {false};

    if (p != ring->size || 1 > ring->nodes || 0 != ring->first[0]
        || p != ring->first[ring->nodes]) {
        return false;
    }
    for (int x = 0; x < p; x++) {
        const int rank = ring->rank[x], node = ring->node[x];

        if (0 > rank || rank >= p || seen[rank] || x != ring->position[rank] || 0 > node
            || node >= ring->nodes || x < ring->first[node] || x >= ring->first[node + 1]) {
            return false;
        }
        seen[rank] = true;
    }
    return true;
}

/* The ranks of a node, and no others, have one number in the ring. */
static bool keeps_nodes(const mca_coll_pipering_ring_t *ring, const int *node_of)
{
    for (int x = 0; x < ring->size; x++) {
        for (int y = 0; y < x; y++) {
            if ((ring->node[x] == ring->node[y])
                != (node_of[ring->rank[x]] == node_of[ring->rank[y]])) {
                return false;
            }
        }
    }
    return true;
}

/* Rank order of a node's lowest rank, then of ranks. */
static bool is_rank_order(const mca_coll_pipering_ring_t *ring)
{
    for (int x = 1; x < ring->size; x++) {
        if (ring->node[x] == ring->node[x - 1]) {
            if (ring->rank[x] < ring->rank[x - 1]) {
                return false;
            }
        } else if (ring->rank[x] < ring->rank[ring->first[ring->node[x] - 1]]) {
            return false;
        }
    }
    return 0 == ring->rank[0];
}

static void test_shape(void)
{
    tap_tally_t ring = {0, 0}, nodes = {0, 0}, plain = {0, 0};
    instance_t in;

    for (int i = 0; i < 4000; i++) {
        const unsigned flags = (unsigned) i % 4;
        sim_plan_t plan;

        random_instance(&in, 1, 0 == i % 50 ? MOST : 20, 6);
        sim_plan(&plan, in.p, in.node_of, in.blocks, flags);
        tap_try(&ring, is_ring(&plan.ring, in.p), "flags %u, nodes %s, %s", flags,
                ref_show_int(in.node_of, in.p), ref_show(in.blocks, in.p));
        if (0 != (flags & NODES)) {
            tap_try(&nodes, keeps_nodes(&plan.ring, in.node_of), "flags %u, nodes %s, %s", flags,
                    ref_show_int(in.node_of, in.p), ref_show(in.blocks, in.p));
        } else {
            tap_try(&nodes, in.p == plan.ring.nodes, "flags %u, nodes %s", flags,
                    ref_show_int(in.node_of, in.p));
        }
        if (0 == (flags & EMPTIES)) {
            tap_try(&plain, is_rank_order(&plan.ring), "flags %u, nodes %s: %s", flags,
                    ref_show_int(in.node_of, in.p), ref_show_int(plan.ring.rank, in.p));
        }
        sim_plan_free(&plan);
    }
    tally_ok(&ring, 4000, "rank, position, node and first agree");
    tally_ok(&nodes, 4000, "the ranks of a node stand together, or are nodes of their own");
    tally_ok(&plain, 2000, "rank order unless the empties are placed");
}

/* ---- it is as good as brute force ---- */

static void try_best(tap_tally_t *excess, tap_tally_t *lasts, tap_tally_t *all,
                     const instance_t *in, unsigned flags)
{
    int own[MOST], p = in->p;
    const int *node_of = 0 != (flags & NODES) ? in->node_of : own;
    int64_t m;
    ref_best_t best;
    sim_plan_t plan;
    int found;

    for (int r = 0; r < p; r++) {
        own[r] = r;
    }
    sim_plan(&plan, p, in->node_of, in->blocks, flags);
    best = ref_best(node_of, in->blocks, p);
    m = ring_excess(&plan.ring, in->blocks);
    found = ref_lasts(plan.ring.rank, node_of, in->blocks, p);
    tap_try(excess, m == best.excess, "flags %u, nodes %s, %s: M %" PRId64 ", best %" PRId64
            ", order %s", flags, ref_show_int(node_of, p), ref_show(in->blocks, p), m,
            best.excess, ref_show_int(plan.ring.rank, p));
    tap_try(lasts, found == best.lasts, "nodes %s, %s: last rank full on %d nodes, best %d of %d"
            ", order %s", ref_show_int(node_of, p), ref_show(in->blocks, p), found, best.lasts,
            best.senders, ref_show_int(plan.ring.rank, p));
    if (best.lasts == best.senders) {
        tap_try(all, found == best.senders, "nodes %s, %s: %d of %d", ref_show_int(node_of, p),
                ref_show(in->blocks, p), found, best.senders);
    }
    sim_plan_free(&plan);
}

/* All contributions of 0 .. most blocks on p ranks, in some order. */
static void test_empties_exhaustive(int p, uint64_t most)
{
    tap_tally_t excess = {0, 0}, lasts = {0, 0}, all = {0, 0}, least = {0, 0};
    instance_t in = {.p = p}, mixed;
    int i, rank[MOST];

    for (int r = 0; r < p; r++) {
        in.node_of[r] = r;
    }
    do {
        tap_deal(rank, p);
        mixed = in;
        for (int r = 0; r < p; r++) {
            mixed.blocks[rank[r]] = in.blocks[r];
        }
        try_best(&excess, &lasts, &all, &mixed, EMPTIES);
        tap_try(&least,
                ref_best(in.node_of, in.blocks, p).excess
                    == mca_coll_pipering_least_excess(in.blocks, p),
                "%s", ref_show(in.blocks, p));
        for (i = 0; i < p && most == in.blocks[i]; i++) {
        }
        if (i < p) { /* the next non-increasing row */
            in.blocks[i]++;
        }
        for (int r = 0; i < p && r < i; r++) {
            in.blocks[r] = in.blocks[i];
        }
    } while (i < p);
    tally_ok(&excess, 1, "every set of %d contributions of up to %" PRIu64 " blocks: least M", p,
             most);
    tally_ok(&least, 1, "least_excess of every such set");
}

static void test_nodes(void)
{
    tap_tally_t excess = {0, 0}, lasts = {0, 0}, all = {0, 0};
    instance_t in;

    for (int i = 0; i < 3000; i++) {
        if (0 == i % 2) {
            random_instance(&in, 2, 8, tap_between(1, 9));
        } else {
            crowded_instance(&in, 4, 8);
        }
        try_best(&excess, &lasts, &all, &in, EMPTIES | NODES);
    }
    tally_ok(&excess, 3000, "empties placed, nodes kept: the least M of all such orders");
    tally_ok(&lasts, 3000, "most nodes with a non-empty last rank that the least M allows");
    tally_ok(&all, 1000, "all nodes that send have one where brute force finds that");
}

/* One empty and one full rank a node is where last ranks and rounds want the same. */
static void test_pairs(void)
{
    tap_tally_t excess = {0, 0}, lasts = {0, 0}, all = {0, 0};
    instance_t in = {.p = 8};

    for (int i = 0; i < 81 * 16; i++) {
        for (int r = 0, sizes = i / 16; r < 8; r += 2, sizes /= 3) {
            const int full = r + (i >> r / 2 & 1);

            in.node_of[r] = in.node_of[r + 1] = r / 2;
            in.blocks[r] = in.blocks[r + 1] = 0;
            in.blocks[full] = (uint64_t) (1 + sizes % 3);
        }
        try_best(&excess, &lasts, &all, &in, EMPTIES | NODES);
    }
    tally_ok(&excess, 81 * 16, "pairs of an empty and a full rank: least M");
    tally_ok(&lasts, 81 * 16, "pairs: the full rank is last where that costs no round");
}

/* ---- beyond brute force ---- */

static void test_large(void)
{
    tap_tally_t least = {0, 0}, better = {0, 0};
    instance_t in;

    for (int i = 0; i < 400; i++) {
        int64_t m[4];

        random_instance(&in, 9, MOST, tap_between(1, 60));
        for (unsigned flags = 0; flags < 4; flags++) {
            sim_plan_t plan;

            sim_plan(&plan, in.p, in.node_of, in.blocks, flags);
            m[flags] = ring_excess(&plan.ring, in.blocks);
            sim_plan_free(&plan);
        }
        tap_try(&least, m[EMPTIES] == mca_coll_pipering_least_excess(in.blocks, in.p), "%s",
                ref_show(in.blocks, in.p));
        tap_try(&better, m[EMPTIES | NODES] <= m[NODES] && m[EMPTIES | NODES] >= m[EMPTIES],
                "nodes %s, %s: M %" PRId64 ", rank order %" PRId64,
                ref_show_int(in.node_of, in.p), ref_show(in.blocks, in.p), m[EMPTIES | NODES],
                m[NODES]);
    }
    tally_ok(&least, 400, "large rings: the least M of any order");
    tally_ok(&better, 400, "large rings of nodes: never worse than rank order");
}

/*
 * Rows of `gap` empties and a full rank that makes up for them, cut into nodes
 * so that keeping these together need not cost a round: a node has some rows, or
 * the empties of a row, or its full rank. The least M is `gap`.
 */
static void solvable_instance(instance_t *in, int gap)
{
    int rank[MOST], node = 0;

    in->p = tap_between(2, (MOST - 1) / (gap + 1)) * (gap + 1);
    tap_deal(rank, in->p);
    for (int x = 0; x < in->p; x++) {
        const bool full = gap == x % (gap + 1), first = 0 == x % (gap + 1);

        node += full ? node > 0 && tap_once_in(3) : first && 0 < x && tap_once_in(2);
        in->node_of[rank[x]] = node;
        in->blocks[rank[x]] = full ? (uint64_t) gap + 1 + tap_below(2) * tap_below(20) : 0;
        node += full && tap_once_in(2);
    }
}

/* A bounded search need not find all of them; blind ones find less than half. */
static void test_solvable(void)
{
    unsigned long solved = 0;
    instance_t in;

    for (int i = 0; i < 400; i++) {
        const int gap = tap_between(1, 7);
        sim_plan_t plan;

        solvable_instance(&in, gap);
        sim_plan(&plan, in.p, in.node_of, in.blocks, EMPTIES | NODES);
        solved += gap == ring_excess(&plan.ring, in.blocks);
        sim_plan_free(&plan);
    }
    ok(320 <= solved, "large rings of nodes that need not cost a round: %lu of 400 do not", solved);
}

/* ---- it depends on its arguments only ---- */

static bool same_ring(const mca_coll_pipering_ring_t *a, const mca_coll_pipering_ring_t *b)
{
    const size_t ints = (size_t) a->size * sizeof(int);

    return a->nodes == b->nodes && 0 == memcmp(a->rank, b->rank, ints)
           && 0 == memcmp(a->position, b->position, ints)
           && 0 == memcmp(a->node, b->node, ints)
           && 0 == memcmp(a->first, b->first, ((size_t) a->nodes + 1) * sizeof(int));
}

static void order_in_garbage(mca_coll_pipering_ring_t *ring, const instance_t *in, unsigned flags,
                             unsigned char fill)
{
    void *memory = tap_memory(mca_coll_pipering_ring_size(in->p));
    void *scratch = tap_memory(mca_coll_pipering_order_scratch(in->p));

    memset(memory, fill, mca_coll_pipering_ring_size(in->p));
    memset(scratch, fill, mca_coll_pipering_order_scratch(in->p));
    if (1 == fill) {
        tap_garbage(memory, mca_coll_pipering_ring_size(in->p));
        tap_garbage(scratch, mca_coll_pipering_order_scratch(in->p));
    }
    mca_coll_pipering_ring_bind(ring, in->p, memory);
    mca_coll_pipering_order(ring, in->node_of, in->blocks, flags, scratch);
    free(scratch);
}

static void test_deterministic(void)
{
    static const unsigned char fills[] = {0, 0xff, 0x7f, 1};
    tap_tally_t garbage = {0, 0}, names = {0, 0};
    instance_t in;

    for (int i = 0; i < 800; i++) {
        const unsigned flags = (unsigned) i % 4;
        mca_coll_pipering_ring_t rings[5];

        random_instance(&in, 1, 0 == i % 20 ? 100 : 16, 6);
        for (int f = 0; f < 4; f++) {
            order_in_garbage(&rings[f], &in, flags, fills[f]);
            tap_try(&garbage, same_ring(&rings[0], &rings[f]), "flags %u, nodes %s, %s", flags,
                    ref_show_int(in.node_of, in.p), ref_show(in.blocks, in.p));
        }
        for (int r = 0; r < in.p; r++) { /* nodes by other names */
            in.node_of[r] = in.p - 1 - in.node_of[r];
        }
        order_in_garbage(&rings[4], &in, flags, 0);
        tap_try(&names, same_ring(&rings[0], &rings[4]), "flags %u, nodes %s, %s", flags,
                ref_show_int(in.node_of, in.p), ref_show(in.blocks, in.p));
        for (int f = 0; f < 5; f++) {
            free(rings[f].rank);
        }
    }
    tally_ok(&garbage, 3000, "the ring does not depend on what is in its memory or scratch");
    tally_ok(&names, 800, "nor on the names of the nodes");
}

/* ---- leaf switches ---- */

/*
 * Ranks in the order of leaf switches, by hand: of each switch in turn, in the order of their
 * lowest ranks, the next `turn` nodes, or all, in the order of theirs.
 */
static void expect_leaves(const instance_t *in, const int *leaf_of, int turn, int *expected)
{
    bool placed[MOST] = {false};
    int count = 0;

    while (count < in->p) {
        bool visited[MOST] = {false};
        for (int r = 0; r < in->p; r++) {
            if (visited[leaf_of[r]]) {
                continue;
            }
            visited[leaf_of[r]] = true;
            int nodes = 0;
            for (int n = r; n < in->p && (0 == turn || nodes < turn); n++) {
                if (placed[n] || leaf_of[n] != leaf_of[r]) {
                    continue;
                }
                nodes++;
                for (int m = n; m < in->p; m++) {
                    if (in->node_of[m] == in->node_of[n]) {
                        placed[m] = true;
                        expected[count++] = m;
                    }
                }
            }
        }
    }
}

static void test_leaves(void)
{
    tap_tally_t tally = {0, 0};
    instance_t in;

    for (int i = 0; i < 3000; i++) {
        int leaf_of[MOST], expected[MOST];
        const int turn = tap_between(0, 4), leaves = tap_between(1, 5);
        mca_coll_pipering_ring_t ring;

        random_instance(&in, 1, 0 == i % 20 ? 100 : 16, 6);
        for (int r = 0; r < in.p; r++) {
            int first = 0;
            leaf_of[r] = tap_between(0, leaves - 1) % in.p;
            while (in.node_of[first] != in.node_of[r]) {
                first++;
            }
            leaf_of[r] = leaf_of[first];
        }
        void *memory = tap_memory(mca_coll_pipering_ring_size(in.p));
        void *scratch = tap_memory(mca_coll_pipering_order_scratch(in.p));
        tap_garbage(scratch, mca_coll_pipering_order_scratch(in.p));
        mca_coll_pipering_ring_bind(&ring, in.p, memory);
        ring.leaf_of = leaf_of;
        ring.turn = turn;
        mca_coll_pipering_order(&ring, in.node_of, in.blocks, NODES, scratch);
        expect_leaves(&in, leaf_of, turn, expected);
        tap_try(&tally,
                is_ring(&ring, in.p)
                    && 0 == memcmp(expected, ring.rank, (size_t) in.p * sizeof(int)),
                "turn %d, nodes %s, leaves %s: %s", turn, ref_show_int(in.node_of, in.p),
                ref_show_int(leaf_of, in.p), ref_show_int(ring.rank, in.p));
        free(scratch);
        free(memory);
    }
    tally_ok(&tally, 3000, "nodes of a leaf switch in a row, or some of each in turn");
}

static void test_huge(void)
{
    instance_t in = {.p = 12};
    sim_plan_t plan;

    for (int r = 0; r < in.p; r++) {
        in.node_of[r] = r % 3;
        in.blocks[r] = 7 == r ? 0 : (uint64_t) 1 << 40;
    }
    sim_plan(&plan, in.p, in.node_of, in.blocks, NODES | EMPTIES);
    ok(is_ring(&plan.ring, in.p) && 1 == ring_excess(&plan.ring, in.blocks), "2^40 blocks a rank");
    sim_plan_free(&plan);
}

int main(void)
{
    tap_start();
    test_shape();
    test_huge();
    for (int p = 2; p <= 7; p++) {
        test_empties_exhaustive(p, 6 >= p ? 5 : 4);
    }
    test_nodes();
    test_pairs();
    test_large();
    test_solvable();
    test_deterministic();
    test_leaves();
    return tap_end();
}
