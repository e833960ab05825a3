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
 * Plans of coll/mleader: the groups of ranks, each with a leader, and the cost of a number of
 * leaders. common_colltools_exchange.h has the rounds of the leaders' exchange. Pure C, no Open
 * MPI, no hidden allocation. All ranks find the same groups, since all inputs are equal on them.
 *
 *     node 0                       node 1
 *     +-----------+-----------+    +-----------+-----------+
 *     | L 1 2 3   | L 5 6 7   |    | L 9 a b   | L d e f   |     groups: sockets
 *     +-----------+-----------+    +-----------+-----------+
 *       group 0     group 1          group 2     group 3
 *
 * Positions number the ranks in the order of their groups. So the ranks of a group, or of
 * consecutive groups, are a range of positions, and their contributions one piece of an area.
 */

#ifndef MCA_COLL_MLEADER_PLAN_H
#define MCA_COLL_MLEADER_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* ---- groups (coll_mleader_plan_groups.c) ---- */

/** How the ranks of a node are divided. */
typedef enum {
    MCA_COLL_MLEADER_BY_COUNT,  /**< into `count` parts of about the same size */
    MCA_COLL_MLEADER_BY_DOMAIN, /**< by the socket, NUMA node or cache that they share */
    MCA_COLL_MLEADER_BY_LIST    /**< by the lists that the user gives */
} mca_coll_mleader_division_t;

/** The inputs of mca_coll_mleader_groups. Arrays are borrowed. */
typedef struct mca_coll_mleader_layout_t {
    int ranks;
    const int *node_of;   /**< [ranks] the lowest rank on the node of each rank */
    const int *domain_of; /**< [ranks] the lowest rank of the same node and domain */
    const int *list_of;   /**< [ranks] BY_LIST: number of the rank's list, below ranks, -1: none */
    mca_coll_mleader_division_t division;
    int count; /**< BY_COUNT: parts of a node, at least 1 */
} mca_coll_mleader_layout_t;

/** Groups. The arrays are in memory of the caller (mca_coll_mleader_groups_bind). */
typedef struct mca_coll_mleader_groups_t {
    int ranks, nodes, groups;
    int lanes;       /**< most groups on a node */
    int *rank;       /**< [ranks] rank at a position; a group's leader is at its first position */
    int *position;   /**< [ranks] position of a rank */
    int *group;      /**< [ranks] group of a position */
    int *first;      /**< [groups + 1] first position of a group; first[groups] is ranks */
    int *node;       /**< [groups] node of a group; nodes are numbered by their lowest ranks */
    int *lane;       /**< [groups] number of a group on its node */
    int *of_node;    /**< [groups] groups in the order of nodes */
    int *node_first; /**< [nodes + 1] index in of_node of a node's first group */
    int *scratch;    /**< [3 (ranks + 1)] */
} mca_coll_mleader_groups_t;

/** Bytes of memory for the arrays of groups of so many ranks. */
size_t mca_coll_mleader_groups_size(int ranks);

/** Lays the arrays into `memory` of mca_coll_mleader_groups_size(ranks) bytes. */
void mca_coll_mleader_groups_bind(mca_coll_mleader_groups_t *groups, int ranks, void *memory);

/**
 * Fills in groups whose arrays are bound. Processes that are not bound to a domain may report a
 * domain_of that is neither symmetric nor transitive; the domain of rank r is
 * domain_of[domain_of[r]]. The ranks of a node that are in no list form a group.
 */
void mca_coll_mleader_groups(mca_coll_mleader_groups_t *groups,
                             const mca_coll_mleader_layout_t *layout);

/**
 * Lanes of groups whose layout has lanes: first[lane * (nodes + 1) + node] is the first
 * position of the node's group in the lane; the range is empty if the node has none.
 */
void mca_coll_mleader_lanes(const mca_coll_mleader_groups_t *groups, int *first);

/** Number of groups of a node. */
static inline int mca_coll_mleader_node_groups(const mca_coll_mleader_groups_t *groups, int node)
{
    return groups->node_first[node + 1] - groups->node_first[node];
}

/**
 * The group whose leader exchanges for a node in a lane: the node's group of this lane or, if it
 * has fewer groups, another one of them.
 */
static inline int mca_coll_mleader_group_at(const mca_coll_mleader_groups_t *groups, int node,
                                            int lane)
{
    return groups->of_node[groups->node_first[node]
                           + lane % mca_coll_mleader_node_groups(groups, node)];
}

/** The rank that leads a group. */
static inline int mca_coll_mleader_leader(const mca_coll_mleader_groups_t *groups, int group)
{
    return groups->rank[groups->first[group]];
}

/* ---- the number of leaders (coll_mleader_plan_leaders.c) ---- */

/** The work of all leaders of a node together in a call. */
typedef struct mca_coll_mleader_load_t {
    int nodes;
    double crowd;   /**< ranks a processor on the node */
    size_t bytes;   /**< that the node receives */
    size_t message; /**< fixed cost of a message, in bytes that a leader moves meanwhile */
} mca_coll_mleader_load_t;

/**
 * The time of an exchange in lanes with `leaders` leaders on each node, at least 1, as the number
 * of bytes that one leader moves in this time.
 */
double mca_coll_mleader_leading_cost(const mca_coll_mleader_load_t *load, int leaders);

#endif
