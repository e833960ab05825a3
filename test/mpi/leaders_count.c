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
 * What coll/mleader sends, by its counters: messages and bytes of each rank between
 * nodes and inside them against the plans, and in lanes bytes into each node against
 * m - M_J. For groups by number (OMPI_MCA_coll_mleader_groups), ranks not bound.
 */

#include "coll_mleader_plan.h"
#include "common_colltools_exchange.h"
#include "exchange.h"
#include "knob.h"
#include "leading.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64
#define UNITS 500 /* bytes of a contribution */

/** Messages and bytes sent, by whether they leave the node. */
typedef struct volume_t {
    uint64_t messages[2], bytes[2];
} volume_t;

enum { WITHIN, BETWEEN };

static int node_of[MOST]; /* the lowest rank on the node of each */
static mca_coll_mleader_groups_t groups;

static void find_groups(void)
{
    const char *count = getenv("OMPI_MCA_coll_mleader_groups");
    const mca_coll_mleader_layout_t layout
        = {.ranks = tap_size,
           .node_of = node_of,
           .domain_of = node_of, /* of ranks that are not bound */
           .division = MCA_COLL_MLEADER_BY_COUNT,
           .count = NULL == count ? 1 : atoi(count)};

    mca_coll_mleader_groups(&groups, &layout);
}

/* ---- what the plans say ---- */

static int group_of(int rank)
{
    return groups.group[groups.position[rank]];
}

/** The member of an exchange: of all groups, or of the nodes in a lane. */
static int leader_of(int lane, int member)
{
    return mca_coll_mleader_leader(&groups, 0 > lane ? member
                                                     : mca_coll_mleader_group_at(&groups, member,
                                                                                 lane));
}

/** Where the members of a lane begin, those without a group of that number having nothing. */
static void find_first(int lane, int *first)
{
    int at = 0;

    while (groups.lane[group_of(groups.rank[at])] < lane) {
        at++;
    }
    for (int node = 0; node < groups.nodes; node++) {
        first[node] = at;
        for (int g = 0; g < groups.groups; g++) {
            at += node == groups.node[g] && lane == groups.lane[g]
                      ? groups.first[g + 1] - groups.first[g]
                      : 0;
        }
    }
    first[groups.nodes] = at;
}

/** Adds what a member of an exchange sends, and to which node. */
static void add_member(const mca_common_colltools_exchange_t *plan, int lane, int member,
                       volume_t *volume, uint64_t *into)
{
    const int from = groups.node[group_of(leader_of(lane, member))];

    for (int k = 0; k < mca_common_colltools_exchange_rounds(plan); k++) {
        const mca_common_colltools_round_t round
            = mca_common_colltools_exchange_round(plan, member, k);
        const int to = groups.node[group_of(leader_of(lane, round.to))];

        for (int i = 0; i < MCA_COMMON_COLLTOOLS_PIECES; i++) {
            const int bytes = UNITS * (round.send[i].to - round.send[i].from);

            volume->messages[from != to] += 0 < bytes;
            volume->bytes[from != to] += (uint64_t) bytes;
            into[to] += from != to ? (uint64_t) bytes : 0;
        }
    }
}

/** What this rank sends, and what comes into each node. */
static volume_t expect(leading_variant_t variant, uint64_t *into)
{
    volume_t mine = {{0}, {0}};
    int first[MOST + 1];

    memset(into, 0, MOST * sizeof(*into));
    for (int lane = variant.scope ? 0 : -1; lane < (variant.scope ? groups.lanes : 0); lane++) {
        mca_common_colltools_exchange_t plan
            = {.count = 0 > lane ? groups.groups : groups.nodes,
               .first = 0 > lane ? groups.first : first,
               .algorithm = (mca_common_colltools_algorithm_t) variant.exchange};

        if (0 <= lane) {
            find_first(lane, first);
        }
        for (int member = 0; member < plan.count; member++) {
            volume_t other = {{0}, {0}};
            const bool me = tap_rank == leader_of(lane, member);

            add_member(&plan, lane, member, me ? &mine : &other, into);
        }
    }
    return mine;
}

/* ---- tests ---- */

static volume_t counted(void)
{
    return (volume_t){{knob_counter("coll_mleader_messages_within"),
                       knob_counter("coll_mleader_messages_between")},
                      {knob_counter("coll_mleader_bytes_within"),
                       knob_counter("coll_mleader_bytes_between")}};
}

static int units(int rank)
{
    (void) rank;
    return UNITS;
}

/** In slices there are as many messages a slice, but no more bytes. */
static void try_variant(MPI_Comm comm, leading_variant_t variant, bool sliced, const char *name)
{
    uint64_t into[MOST];
    const volume_t want = expect(variant, into), before = counted();
    call_t *call = exchange_simple(comm, 3, true, layout_unit(0, 0), units);
    char fault[200] = "wrong data";
    bool right;

    leading_use(variant);
    call_run(call, BLOCKING);
    right = call_right(call);
    for (int i = WITHIN; i <= BETWEEN; i++) {
        const volume_t now = counted();
        const uint64_t messages = now.messages[i] - before.messages[i];
        const uint64_t bytes = now.bytes[i] - before.bytes[i];

        if (right && (bytes != want.bytes[i] || (!sliced && messages != want.messages[i]))) {
            right = false;
            snprintf(fault, sizeof(fault), "%d: %llu messages of %llu bytes, wanted %llu of %llu",
                     i, (unsigned long long) messages, (unsigned long long) bytes,
                     (unsigned long long) want.messages[i], (unsigned long long) want.bytes[i]);
        }
    }
    tap_check(right, fault, "%s: %s", name, leading_text(variant));
    call_free(call);
}

/** Lanes: every byte of the others comes into a node once, by the plan; all: by each group. */
static void try_volume(leading_variant_t variant, const char *name)
{
    uint64_t into[MOST];
    bool right = true;

    expect(variant, into);
    for (int node = 0; node < groups.nodes; node++) {
        uint64_t others = 0;

        for (int r = 0; r < tap_size; r++) {
            others += node == groups.node[group_of(r)] ? 0 : UNITS;
        }
        right &= variant.scope ? others == into[node]
                               : others <= into[node]
                                     && others * (uint64_t) groups.groups >= into[node];
    }
    tap_check(right, "other volume", "%s: bytes into nodes: %s", name, leading_text(variant));
}

static void try_setup(size_t segment_size, const char *name)
{
    MPI_Comm comm;

    leading_setup(segment_size);
    find_groups();
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    leading_use(leading_variant(0));
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, node_of, 1, MPI_INT, comm); /* sets it up */
    for (int exchange = 0; exchange < 3; exchange++) {
        for (int scope = 0; scope < 2; scope++) {
            const leading_variant_t variant = {
                .aggregation = 0, .exchange = exchange, .scope = scope};

            try_variant(comm, variant, segment_size < 2 << 20, name);
            try_volume(variant, name);
        }
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (MOST < tap_size) {
        tap_bail("more than %d ranks", MOST);
    }
    void *memory = tap_memory(mca_coll_mleader_groups_size(tap_size));

    mca_coll_mleader_groups_bind(&groups, tap_size, memory);
    tap_nodes(MPI_COMM_WORLD, node_of);
    try_setup(2 << 20, "one slice");
    try_setup(8192, "slices");
    free(memory);
    return leading_end();
}
