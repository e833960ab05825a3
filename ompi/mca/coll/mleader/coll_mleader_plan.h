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
 * Plans of coll/mleader: groups of ranks with a leader each, and how many there should
 * be; what leaders exchange is in common_irregular_exchange.h. Pure C, no Open MPI, no
 * hidden allocation; equal on all ranks, since nothing goes in that is not.
 *
 *     node 0                       node 1
 *     +-----------+-----------+    +-----------+-----------+
 *     | L 1 2 3   | L 5 6 7   |    | L 9 a b   | L d e f   |     groups: sockets
 *     +-----------+-----------+    +-----------+-----------+
 *       group 0     group 1          group 2     group 3
 *
 * Positions are ranks in the order of their groups, so that a group is a range of
 * positions, and so is what some leaders hold together.
 */

#ifndef MCA_COLL_MLEADER_PLAN_H
#define MCA_COLL_MLEADER_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/* ---- groups (coll_mleader_plan_groups.c) ---- */

/** How the ranks of a node are divided. */
typedef enum {
    MCA_COLL_MLEADER_BY_COUNT, /**< into so many parts of about the same size */
    MCA_COLL_MLEADER_BY_DOMAIN, /**< by what they share: a socket, memory, a cache */
    MCA_COLL_MLEADER_BY_LIST   /**< as told */
} mca_coll_mleader_division_t;

/** Where leaders are. */
typedef enum {
    MCA_COLL_MLEADER_SPREAD, /**< each in its own part of the node */
    MCA_COLL_MLEADER_PACKED  /**< all in the first */
} mca_coll_mleader_placement_t;

/** What groups are made of. Arrays are borrowed. */
typedef struct mca_coll_mleader_layout_t {
    int ranks;
    const int *node_of;   /**< [ranks] the lowest rank on the node of each */
    const int *domain_of; /**< [ranks] the lowest rank of its node that it shares a domain with */
    const int *list_of;   /**< [ranks] number in a list of its group, below ranks, or -1; BY_LIST */
    mca_coll_mleader_division_t division;
    int count; /**< parts a node, with BY_COUNT; at least 1 */
    mca_coll_mleader_placement_t placement;
    bool lanes; /**< order groups by their number on the node first */
} mca_coll_mleader_layout_t;

/** Groups. All arrays belong to the caller (mca_coll_mleader_groups_bind). */
typedef struct mca_coll_mleader_groups_t {
    int ranks, nodes, groups;
    int lanes;       /**< most groups on a node */
    int *rank;       /**< [ranks] at a position; a group's leader is at its first one */
    int *position;   /**< [ranks] of a rank */
    int *group;      /**< [ranks] of a position */
    int *first;      /**< [ranks + 1] position of a group; first[groups] is ranks */
    int *node;       /**< [ranks] of a group, numbered by their lowest rank */
    int *lane;       /**< [ranks] number of a group on its node */
    int *of_node;    /**< [ranks] groups in the order of nodes ... */
    int *node_first; /**< [ranks + 1] ... where those of a node begin */
    int *scratch;    /**< [3 (ranks + 1)] */
} mca_coll_mleader_groups_t;

/** Bytes of memory that groups of so many ranks need. */
size_t mca_coll_mleader_groups_size(int ranks);

/** Lays the arrays into `memory` of mca_coll_mleader_groups_size(ranks) bytes. */
void mca_coll_mleader_groups_bind(mca_coll_mleader_groups_t *groups, int ranks, void *memory);

/**
 * Fills bound groups. Domains need not be symmetric or transitive, as unbound processes
 * see them: a rank belongs to the domain of the lowest rank that it names, and this to
 * its own. A rank that no list names is in a group with the others of its node that none
 * names. O(ranks log ranks).
 */
void mca_coll_mleader_groups(mca_coll_mleader_groups_t *groups,
                             const mca_coll_mleader_layout_t *layout);

/**
 * Lanes of groups whose layout has lanes: first[lane * (nodes + 1) + node] is where what a
 * node has in a lane begins, nothing where it has no leader of that number.
 */
void mca_coll_mleader_lanes(const mca_coll_mleader_groups_t *groups, int *first);

/** Groups of a node. */
static inline int mca_coll_mleader_node_groups(const mca_coll_mleader_groups_t *groups, int node)
{
    return groups->node_first[node + 1] - groups->node_first[node];
}

/** The group whose leader exchanges in a lane for a node, though it may have none of its own. */
static inline int mca_coll_mleader_group_at(const mca_coll_mleader_groups_t *groups, int node,
                                            int lane)
{
    return groups->of_node[groups->node_first[node]
                           + lane % mca_coll_mleader_node_groups(groups, node)];
}

static inline int mca_coll_mleader_leader(const mca_coll_mleader_groups_t *groups, int group)
{
    return groups->rank[groups->first[group]];
}

/* ---- how many leaders (coll_mleader_plan_leaders.c) ---- */

/** What the leaders of a node have to do in a call, all of them together. */
typedef struct mca_coll_mleader_load_t {
    int nodes;
    int ranks, processors; /**< of the node; at least 1 */
    size_t bytes;   /**< that come into the node */
    size_t message; /**< bytes that take as long as a message does besides its own */
} mca_coll_mleader_load_t;

/** What so many leaders a node, at least 1, need for their exchange in lanes; in bytes. */
double mca_coll_mleader_leading_cost(const mca_coll_mleader_load_t *load, int leaders);

#endif
