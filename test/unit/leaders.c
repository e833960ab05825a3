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
 * Plans of coll/mleader: groups, all mappings of a few ranks to nodes and domains, and
 * random ones of more, against what the header says of them; and where several leaders pay,
 * against the inequality in whole numbers that the model comes to.
 */

#include <string.h>

#include "coll_mleader_plan.h"
#include "ref.h"
#include "tap.h"

#define SMALL 7
#define MOST 60
#define LOADS 200000

/* ---- layouts ---- */

typedef struct instance_t {
    mca_coll_mleader_layout_t layout;
    int node_of[MOST], domain_of[MOST], list_of[MOST];
    mca_coll_mleader_groups_t groups;
    void *memory;
    int sorted[MOST]; /* ranks by node, part and rank */
} instance_t;

static void open_instance(instance_t *in, int p)
{
    memset(in, 0, sizeof(*in));
    in->layout.ranks = p;
    in->layout.node_of = in->node_of;
    in->layout.domain_of = in->domain_of;
    in->layout.list_of = in->list_of;
    in->layout.count = 1;
    in->memory = tap_memory(mca_coll_mleader_groups_size(p));
    mca_coll_mleader_groups_bind(&in->groups, p, in->memory);
    for (int r = 0; r < p; r++) {
        in->domain_of[r] = in->node_of[r] = r;
        in->list_of[r] = -1;
    }
}

/* The next domains, where a rank may name any rank before it, or itself. */
static bool next_domains(int *domain_of, int p)
{
    for (int r = p - 1; 0 <= r; r--) {
        if (domain_of[r]++ < r) {
            return true;
        }
        domain_of[r] = 0;
    }
    return false;
}

static const char *show(const instance_t *in)
{
    static char text[1200];

    snprintf(text, sizeof(text), "division %d, count %d, nodes %.250s, ",
             (int) in->layout.division, in->layout.count,
             ref_show_int(in->node_of, in->layout.ranks));
    snprintf(text + strlen(text), 300, "domains %.280s, ",
             ref_show_int(in->domain_of, in->layout.ranks));
    snprintf(text + strlen(text), 300, "lists %.280s",
             ref_show_int(in->list_of, in->layout.ranks));
    return text;
}

/* ---- what the header says ---- */

static int part_of(const instance_t *in, int rank)
{
    if (MCA_COLL_MLEADER_BY_LIST == in->layout.division) {
        return 0 > in->list_of[rank] ? MOST : in->list_of[rank];
    }
    const int domain = in->domain_of[in->domain_of[rank]];
    return in->node_of[domain] == in->node_of[rank] ? domain : rank;
}

static bool comes_first(const instance_t *in, int a, int b)
{
    if (in->node_of[a] != in->node_of[b]) {
        return in->node_of[a] < in->node_of[b];
    }
    return part_of(in, a) != part_of(in, b) ? part_of(in, a) < part_of(in, b) : a < b;
}

static void sort_ranks(instance_t *in)
{
    for (int r = 0; r < in->layout.ranks; r++) {
        int at = r;

        for (; 0 < at && comes_first(in, r, in->sorted[at - 1]); at--) {
            in->sorted[at] = in->sorted[at - 1];
        }
        in->sorted[at] = r;
    }
}

/* Sorted ranks from `at` on that make the next group of a node, whose ranks are [begin, end). */
static int size_of(const instance_t *in, int begin, int at, int end, int size)
{
    const int ranks = end - begin, part = part_of(in, in->sorted[at]);
    const int wanted = in->layout.count < ranks ? in->layout.count : ranks;

    if (MCA_COLL_MLEADER_BY_COUNT == in->layout.division) { /* any about equal one will do */
        return size < ranks / wanted || size > (ranks + wanted - 1) / wanted ? end - at + 1 : size;
    }
    for (size = 1; at + size < end && part == part_of(in, in->sorted[at + size]); size++) {
    }
    return size;
}

/* Group g, of so many ranks from position x on, is this one of its node. */
static bool is_group(const instance_t *in, int g, int x, int size, int node, int lane,
                     const int *ranks)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    bool right = g < groups->groups && x == groups->first[g] && x + size == groups->first[g + 1]
                 && node == groups->node[g] && lane == groups->lane[g]
                 && g == groups->of_node[groups->node_first[node] + lane]
                 && g == mca_coll_mleader_group_at(groups, node, lane)
                 && ranks[0] == mca_coll_mleader_leader(groups, g);

    for (int k = 0; right && k < size; k++) {
        right = ranks[k] == groups->rank[x + k] && x + k == groups->position[ranks[k]]
                && g == groups->group[x + k];
    }
    return right;
}

/* First ranks of nodes among those that are sorted; how many nodes. */
static int find_nodes(const instance_t *in, int *begin)
{
    int nodes = 0;

    for (int i = 0; i < in->layout.ranks; i++) {
        if (0 == i || in->node_of[in->sorted[i]] != in->node_of[in->sorted[i - 1]]) {
            begin[nodes++] = i;
        }
    }
    begin[nodes] = in->layout.ranks;
    return nodes;
}

/* A node has as many groups as there are, and somebody of it exchanges in each lane. */
static bool fills_lanes(const instance_t *in, int node, int ranks, int here)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    const int wanted = in->layout.count < ranks ? in->layout.count : ranks;
    bool right = here == mca_coll_mleader_node_groups(groups, node)
                 && (MCA_COLL_MLEADER_BY_COUNT != in->layout.division || wanted == here);

    for (int lane = 0; right && lane < groups->lanes; lane++) {
        const int g = mca_coll_mleader_group_at(groups, node, lane);

        right = 0 <= g && groups->groups > g && node == groups->node[g];
    }
    return right;
}

/* Groups lane by lane, in each node by node, as they come from the sorted ranks. */
static bool is_right(instance_t *in)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    int begin[MOST + 1], at[MOST], here[MOST] = {0}, g = 0, x = 0, lane = 0;
    const int nodes = find_nodes(in, begin);
    bool right = in->layout.ranks == groups->ranks && nodes == groups->nodes
                 && 0 == groups->node_first[0] && groups->groups == groups->node_first[nodes];

    memcpy(at, begin, sizeof(at));
    for (; right && x < in->layout.ranks; lane++) {
        for (int node = 0; right && node < nodes; node++) {
            if (at[node] == begin[node + 1]) {
                continue;
            }
            const int size = size_of(in, begin[node], at[node], begin[node + 1],
                                     groups->first[g + 1] - x);
            right = at[node] + size <= begin[node + 1]
                    && is_group(in, g++, x, size, node, lane, &in->sorted[at[node]]);
            at[node] += size;
            x += size;
            here[node]++;
        }
    }
    for (int node = 0; right && node < nodes; node++) {
        right = fills_lanes(in, node, begin[node + 1] - begin[node], here[node]);
    }
    return right && g == groups->groups && lane == groups->lanes;
}

/* Memory that holds anything may not matter. */
static void try_division(tap_tally_t *tally, instance_t *in, mca_coll_mleader_division_t division)
{
    in->layout.division = division;
    tap_garbage(in->memory, mca_coll_mleader_groups_size(in->layout.ranks));
    mca_coll_mleader_groups(&in->groups, &in->layout);
    sort_ranks(in);
    const bool right = is_right(in);
    tap_try(tally, right, "%s", right ? "" : show(in));
}

/* ---- tests of groups ---- */

static void random_lists(instance_t *in, int parts)
{
    for (int r = 0; r < in->layout.ranks; r++) {
        in->list_of[r] = tap_between(-1, parts - 1);
    }
}

static void test_every_node_map(void)
{
    tap_tally_t counts = {0, 0}, lists = {0, 0};
    instance_t in;

    for (int p = 1; p <= SMALL; p++) {
        open_instance(&in, p);
        memset(in.node_of, 0, sizeof(in.node_of));
        do {
            for (in.layout.count = 1; in.layout.count <= p + 1; in.layout.count++) {
                try_division(&counts, &in, MCA_COLL_MLEADER_BY_COUNT);
                random_lists(&in, in.layout.count < p ? in.layout.count : p);
                try_division(&lists, &in, MCA_COLL_MLEADER_BY_LIST);
            }
        } while (ref_next_division(in.node_of, p));
        free(in.memory);
    }
    tally_ok(&counts, 7500, "so many groups a node, in lanes, with their leaders");
    tally_ok(&lists, 7500, "groups by lists");
}

/* Up to 5 ranks: whatever ranks see of each other, and even of other nodes. */
static void test_every_domain_map(void)
{
    tap_tally_t found = {0, 0};
    instance_t in;

    for (int p = 1; p < SMALL - 1; p++) {
        open_instance(&in, p);
        memset(in.node_of, 0, sizeof(in.node_of));
        do {
            memset(in.domain_of, 0, sizeof(in.domain_of));
            do {
                in.layout.count = tap_between(1, p);
                try_division(&found, &in, MCA_COLL_MLEADER_BY_DOMAIN);
                try_division(&found, &in, MCA_COLL_MLEADER_BY_COUNT);
            } while (next_domains(in.domain_of, p));
        } while (ref_next_division(in.node_of, p));
        free(in.memory);
    }
    tally_ok(&found, 7500, "groups by domains as ranks see them");
}

/* Nodes in blocks, dealt out in turn or at random; domains in order or at random. */
static void random_instance(instance_t *in)
{
    const int p = in->layout.ranks, nodes = tap_between(1, p), domains = tap_between(1, 4);
    const int kind = tap_between(0, 2), size = (p + nodes - 1) / nodes;
    int node[MOST], domain[MOST];

    for (int r = 0; r < p; r++) {
        node[r] = 0 == kind ? r / size : 1 == kind ? r % nodes : tap_between(0, nodes - 1);
        domain[r] = 0 == kind ? r % size * domains / size : tap_between(0, domains - 1);
        in->node_of[r] = in->domain_of[r] = r;
        for (int other = r - 1; 0 <= other; other--) {
            if (node[other] == node[r]) {
                in->node_of[r] = other;
                in->domain_of[r] = domain[other] == domain[r] ? other : in->domain_of[r];
            }
        }
    }
    random_lists(in, domains);
    in->layout.count = tap_between(1, 9);
}

static void test_random_layouts(void)
{
    tap_tally_t found = {0, 0};
    instance_t in;

    for (int i = 0; i < 2000; i++) {
        open_instance(&in, tap_between(SMALL + 1, MOST));
        random_instance(&in);
        try_division(&found, &in, MCA_COLL_MLEADER_BY_COUNT);
        try_division(&found, &in, MCA_COLL_MLEADER_BY_DOMAIN);
        try_division(&found, &in, MCA_COLL_MLEADER_BY_LIST);
        free(in.memory);
    }
    tally_ok(&found, 6000, "groups of random layouts");
}

/* ---- how many leaders a node should have ---- */

static mca_coll_mleader_load_t random_load(int ranks, int processors)
{
    return (mca_coll_mleader_load_t){.nodes = tap_between(2, 40),
                                     .crowd = (double) ranks / processors,
                                     .bytes = tap_below(tap_once_in(2) ? 1000 : 10000000),
                                     .message = tap_below(tap_once_in(4) ? 1 : 50000)};
}

static bool pays(const mca_coll_mleader_load_t *load, int leaders)
{
    return mca_coll_mleader_leading_cost(load, leaders) < mca_coll_mleader_leading_cost(load, 1);
}

/*
 * q (L - 1) m < bytes (1 - 1 / K): leaders with K of the processors, or with one where
 * they have less than that, which never pays.
 */
static bool should_pay(const mca_coll_mleader_load_t *load, int ranks, int processors, int leaders)
{
    const bool crowded = ranks > processors;
    const int64_t over = crowded ? ranks : 1;
    const int64_t has = leaders * (crowded ? processors : 1);
    int64_t rounds = 0;

    for (int reach = 1; reach < load->nodes; reach *= 2) {
        rounds++;
    }
    return has > over
           && rounds * (leaders - 1) * (int64_t) load->message * has
                  < (int64_t) load->bytes * (has - over);
}

/* Where both sides are equal, rounding decides. */
static bool is_close(const mca_coll_mleader_load_t *load, int leaders)
{
    const double one = mca_coll_mleader_leading_cost(load, 1);
    const double many = mca_coll_mleader_leading_cost(load, leaders);

    return one - many < 1e-9 * one && many - one < 1e-9 * one;
}

static void test_leading(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < LOADS; n++) {
        const int ranks = tap_between(1, 64), processors = tap_between(1, 64);
        const mca_coll_mleader_load_t load = random_load(ranks, processors);
        const int leaders = tap_between(2, 16);

        tap_try(&tally,
                is_close(&load, leaders)
                    || pays(&load, leaders) == should_pay(&load, ranks, processors, leaders),
                "%d nodes, %d ranks on %d processors, %zu bytes, message %zu: %d leaders",
                load.nodes, ranks, processors, load.bytes, load.message, leaders);
    }
    tally_ok(&tally, LOADS, "several leaders pay where the inequality says so");
}

int main(void)
{
    tap_start();
    test_every_node_map();
    test_every_domain_map();
    test_random_layouts();
    test_leading();
    return tap_end();
}
