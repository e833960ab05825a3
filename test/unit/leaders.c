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
 * random ones of more, against what the header says of them.
 */

#include <string.h>

#include "coll_mleader_plan.h"
#include "ref.h"
#include "tap.h"

#define SMALL 7
#define MOST 60

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

/* Every rank stands at one position, and every position is in one group. */
static bool is_division(const instance_t *in)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    const int p = in->layout.ranks;
    bool seen[MOST] = {false};

    for (int x = 0; x < p; x++) {
        const int rank = groups->rank[x], g = groups->group[x];

        if (0 > rank || p <= rank || seen[rank] || x != groups->position[rank] || 0 > g
            || groups->groups <= g || x < groups->first[g] || x >= groups->first[g + 1]) {
            return false;
        }
        seen[rank] = true;
    }
    return p == groups->ranks && 0 == groups->first[0] && p == groups->first[groups->groups]
           && groups->groups <= p;
}

/* Groups are on one node, nodes are numbered by their lowest rank. */
static bool keeps_nodes(const instance_t *in)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    int number[MOST], nodes = 0;

    for (int r = 0; r < in->layout.ranks; r++) {
        number[r] = in->node_of[r] == r ? nodes++ : number[in->node_of[r]];
    }
    for (int r = 0; r < in->layout.ranks; r++) {
        if (number[r] != groups->node[groups->group[groups->position[r]]]) {
            return false;
        }
    }
    return nodes == groups->nodes;
}

/* The lists of groups by node, and their numbers there. */
static bool keeps_lanes(const instance_t *in)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    int most = 0;

    for (int node = 0; node < groups->nodes; node++) {
        const int first = groups->node_first[node];
        const int here = mca_coll_mleader_node_groups(groups, node);

        for (int lane = 0; lane < here; lane++) {
            const int g = groups->of_node[first + lane];

            if (0 > g || groups->groups <= g || node != groups->node[g]
                || lane != groups->lane[g]) {
                return false;
            }
        }
        if (1 > here) {
            return false;
        }
        most = here > most ? here : most;
    }
    return most == groups->lanes && 0 == groups->node_first[0]
           && groups->groups == groups->node_first[groups->nodes];
}

/* Somebody of the node exchanges in each lane: who has that number, if anybody has. */
static bool fills_lanes(const instance_t *in)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;

    for (int node = 0; node < groups->nodes; node++) {
        for (int lane = 0; lane < groups->lanes; lane++) {
            const int g = mca_coll_mleader_group_at(groups, node, lane);

            if (0 > g || groups->groups <= g || node != groups->node[g]
                || (lane < mca_coll_mleader_node_groups(groups, node) && lane != groups->lane[g])
                || groups->rank[groups->first[g]] != mca_coll_mleader_leader(groups, g)) {
                return false;
            }
        }
    }
    return true;
}

/* By lane and then node, or by node and then lane. */
static bool is_in_order(const instance_t *in)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;

    for (int g = 1; g < groups->groups; g++) {
        const int lane = groups->lane[g] - groups->lane[g - 1];
        const int node = groups->node[g] - groups->node[g - 1];

        if (0 > lane || (0 == lane && 0 >= node)) {
            return false;
        }
    }
    return true;
}

/* Sizes of a node's groups, whose ranks are sorted[begin .. end): parts, or about equal. */
static bool has_sizes(const instance_t *in, int node, int begin, int end)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    const int here = mca_coll_mleader_node_groups(groups, node);
    const int ranks = end - begin, wanted = in->layout.count < ranks ? in->layout.count : ranks;
    int at = begin;

    for (int lane = 0; lane < here; lane++) {
        const int g = groups->of_node[groups->node_first[node] + lane];
        const int size = groups->first[g + 1] - groups->first[g];
        const int part = part_of(in, in->sorted[at]);

        if (MCA_COLL_MLEADER_BY_COUNT == in->layout.division) {
            if (wanted != here || size < ranks / here || size > (ranks + here - 1) / here) {
                return false;
            }
        } else if (part != part_of(in, in->sorted[at + size - 1])
                   || (at + size < end && part == part_of(in, in->sorted[at + size]))) {
            return false;
        }
        at += size;
    }
    return end == at;
}

/* A node's ranks one after the other. */
static bool has_ranks(const instance_t *in, int node, int begin)
{
    const mca_coll_mleader_groups_t *groups = &in->groups;
    const int here = mca_coll_mleader_node_groups(groups, node);
    int at = begin;

    for (int lane = 0; lane < here; lane++) {
        const int g = groups->of_node[groups->node_first[node] + lane];

        for (int x = groups->first[g]; x < groups->first[g + 1]; x++) {
            if (groups->rank[x] != in->sorted[at++]) {
                return false;
            }
        }
    }
    return true;
}

static bool divides_nodes(const instance_t *in)
{
    int node = 0;

    for (int begin = 0, end; begin < in->layout.ranks; begin = end, node++) {
        end = begin + 1;
        while (end < in->layout.ranks
               && in->node_of[in->sorted[end]] == in->node_of[in->sorted[begin]]) {
            end++;
        }
        if (!has_sizes(in, node, begin, end) || !has_ranks(in, node, begin)) {
            return false;
        }
    }
    return true;
}

typedef struct findings_t {
    tap_tally_t division, nodes, lanes, filled, order, divided;
} findings_t;

static void report(const findings_t *found, unsigned long least, const char *name)
{
    tally_ok(&found->division, least, "%s: every rank once, in one group", name);
    tally_ok(&found->nodes, least, "%s: groups are on one node", name);
    tally_ok(&found->lanes, least, "%s: groups of nodes", name);
    tally_ok(&found->filled, least, "%s: a leader for every lane on every node", name);
    tally_ok(&found->order, least, "%s: order of groups", name);
    tally_ok(&found->divided, least, "%s: sizes, ranks and leaders of groups", name);
}

static bool judge(tap_tally_t *tally, bool pass, const instance_t *in)
{
    return tap_try(tally, pass, "%s", pass ? "" : show(in));
}

/* Memory that holds anything may not matter. */
static void try_layout(findings_t *found, instance_t *in)
{
    memset(in->memory, tap_between(0, 255), mca_coll_mleader_groups_size(in->layout.ranks));
    mca_coll_mleader_groups(&in->groups, &in->layout);
    sort_ranks(in);
    if (judge(&found->division, is_division(in), in)) {
        judge(&found->nodes, keeps_nodes(in), in);
        judge(&found->lanes, keeps_lanes(in), in);
        judge(&found->filled, fills_lanes(in), in);
        judge(&found->order, is_in_order(in), in);
        judge(&found->divided, divides_nodes(in), in);
    }
}

static void try_division(findings_t *found, instance_t *in, mca_coll_mleader_division_t division)
{
    in->layout.division = division;
    try_layout(found, in);
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
    findings_t counts = {0}, lists = {0};
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
    report(&counts, 7500, "so many groups a node");
    report(&lists, 7500, "lists");
}

/* Up to 5 ranks: whatever ranks see of each other, and even of other nodes. */
static void test_every_domain_map(void)
{
    findings_t found = {0};
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
    report(&found, 7500, "domains as ranks see them");
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
    findings_t found = {0};
    instance_t in;

    for (int i = 0; i < 2000; i++) {
        open_instance(&in, tap_between(SMALL + 1, MOST));
        random_instance(&in);
        try_division(&found, &in, MCA_COLL_MLEADER_BY_COUNT);
        try_division(&found, &in, MCA_COLL_MLEADER_BY_DOMAIN);
        try_division(&found, &in, MCA_COLL_MLEADER_BY_LIST);
        free(in.memory);
    }
    report(&found, 6000, "random layouts");
}

int main(void)
{
    tap_start();
    test_every_node_map();
    test_every_domain_map();
    test_random_layouts();
    return tap_end();
}
