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
 * Groups: divides the ranks of each node into groups with a leader each, and orders them.
 *
 *     node 0, ranks in sockets   {0 1 4}  {2 3 5}
 *     groups                     {0 1 4}  {2 3 5}    leaders 0 and 2, one on each socket
 *
 * 1. The ranks are sorted by node, then by domain, then by rank, and cut into groups.
 * 2. The groups are put into the order of their numbers on the node (lanes), then of nodes.
 *
 * Cost: linear in the number of ranks, and in that of lanes times nodes; BY_COUNT also in the
 * square of the groups on a node. Limits: a group is on one node.
 *
 * Kandalla et al., sections 4.1 and 4.2.
 */

#include "coll_mleader_plan.h"

#include <string.h>

#define ARRAYS 8
#define SCRATCH 3

size_t mca_coll_mleader_groups_size(int ranks)
{
    return (ARRAYS + SCRATCH) * ((size_t) ranks + 1) * sizeof(int);
}

void mca_coll_mleader_groups_bind(mca_coll_mleader_groups_t *groups, int ranks, void *memory)
{
    int **const arrays[ARRAYS + 1]
        = {&groups->rank, &groups->position, &groups->group,      &groups->first,  &groups->node,
           &groups->lane, &groups->of_node,  &groups->node_first, &groups->scratch};
    int *next = memory;

    for (int i = 0; i <= ARRAYS; ++i, next += ranks + 1) {
        *arrays[i] = next;
    }
    groups->ranks = ranks;
}

static int node_of(const mca_coll_mleader_layout_t *layout, int rank)
{
    return layout->node_of[layout->node_of[rank]];
}

/* The domain or list of a rank, as a sort key within its node, 0 to ranks. */
static int part_of(const mca_coll_mleader_layout_t *layout, int rank)
{
    if (MCA_COLL_MLEADER_BY_LIST == layout->division) {
        return 0 > layout->list_of[rank] ? layout->ranks : layout->list_of[rank];
    }
    const int domain = layout->domain_of[layout->domain_of[rank]];
    return node_of(layout, domain) == node_of(layout, rank) ? domain : rank;
}

typedef int key_fn_t(const mca_coll_mleader_layout_t *layout, int rank);

/* Sorts ranks by a key of 0 to ranks, stably: counting sort. */
static void sort_by(key_fn_t *key_of, const mca_coll_mleader_layout_t *layout, const int *from,
                    int *to, int *count)
{
    memset(count, 0, ((size_t) layout->ranks + 1) * sizeof(int));
    for (int i = 0; i < layout->ranks; ++i) {
        ++count[key_of(layout, from[i])];
    }
    for (int key = 0, start = 0; key <= layout->ranks; ++key) {
        const int size = count[key];
        count[key] = start;
        start += size;
    }
    for (int i = 0; i < layout->ranks; ++i) {
        to[count[key_of(layout, from[i])]++] = from[i];
    }
}

/* The end of the group that begins at `from`, on the node of [begin, end). */
static int find_end(const mca_coll_mleader_layout_t *layout, const int *order, int begin, int end,
                    int from)
{
    if (MCA_COLL_MLEADER_BY_COUNT == layout->division) {
        const int ranks = end - begin, parts = layout->count < ranks ? layout->count : ranks;
        int part = 0;
        while (begin + (int) ((long) ranks * part / parts) <= from) {
            ++part;
        }
        return begin + (int) ((long) ranks * part / parts);
    }
    int to = from + 1;
    while (to < end && part_of(layout, order[to]) == part_of(layout, order[from])) {
        ++to;
    }
    return to;
}

/* Cuts the sorted ranks into groups, in the order of nodes; start[g] is the start of group g. */
static void cut(mca_coll_mleader_groups_t *groups, const mca_coll_mleader_layout_t *layout,
                const int *order, int *start)
{
    groups->nodes = groups->groups = groups->lanes = 0;
    for (int begin = 0, end; begin < layout->ranks; begin = end) {
        end = begin + 1;
        const int node = node_of(layout, order[begin]);
        while (end < layout->ranks && node_of(layout, order[end]) == node) {
            ++end;
        }
        groups->node_first[groups->nodes] = groups->groups;
        for (int from = begin; from < end;) {
            groups->node[groups->groups] = groups->nodes;
            start[groups->groups++] = from;
            from = find_end(layout, order, begin, end, from);
        }
        const int here = groups->groups - groups->node_first[groups->nodes++];
        groups->lanes = here > groups->lanes ? here : groups->lanes;
    }
    groups->node_first[groups->nodes] = groups->groups;
    start[groups->groups] = layout->ranks;
}

/* Appends the group of a node and lane to the groups. */
static void lay_group(mca_coll_mleader_groups_t *groups, const int *order, const int *start,
                      int node, int lane, int *laid)
{
    const int g = groups->node_first[node] + lane, size = start[g + 1] - start[g];
    const int first = groups->first[*laid];

    memcpy(groups->rank + first, order + start[g], (size_t) size * sizeof(int));
    for (int i = 0; i < size; ++i) {
        groups->group[first + i] = *laid;
        groups->position[order[start[g] + i]] = first + i;
    }
    groups->of_node[g] = *laid;
    groups->node[*laid] = node;
    groups->lane[*laid] = lane;
    groups->first[++*laid] = first + size;
}

/* Appends all groups in the order of lanes. */
static void lay_out(mca_coll_mleader_groups_t *groups, const int *order, const int *start)
{
    int laid = 0;

    groups->first[0] = 0;
    for (int lane = 0; lane < groups->lanes; ++lane) {
        for (int node = 0; node < groups->nodes; ++node) {
            if (lane < mca_coll_mleader_node_groups(groups, node)) {
                lay_group(groups, order, start, node, lane, &laid);
            }
        }
    }
}

void mca_coll_mleader_groups(mca_coll_mleader_groups_t *groups,
                             const mca_coll_mleader_layout_t *layout)
{
    int *order = groups->scratch, *other = order + layout->ranks + 1,
        *start = other + layout->ranks + 1;

    for (int r = 0; r < layout->ranks; ++r) {
        order[r] = r;
    }
    sort_by(part_of, layout, order, other, start);
    sort_by(node_of, layout, other, order, start);
    cut(groups, layout, order, start);
    lay_out(groups, order, start);
}

void mca_coll_mleader_lanes(const mca_coll_mleader_groups_t *groups, int *first)
{
    int g = 0;

    for (int lane = 0; lane < groups->lanes; ++lane) {
        for (int node = 0; node < groups->nodes; ++node) {
            *first++ = groups->first[g];
            g += lane < mca_coll_mleader_node_groups(groups, node);
        }
        *first++ = groups->first[g];
    }
}
