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
 * The choice: from the sizes of a call, and what all ranks know alike of their nodes and links,
 * to its plan. Pure C, so that tools and tests plan as calls do.
 */

#ifndef MCA_COLL_PIPERING_CHOICE_H
#define MCA_COLL_PIPERING_CHOICE_H

#include "coll_pipering_registry.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_below.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_grid.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_machine.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_pulls.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_route.h"
#include "ompi/mca/common/colltools/common_colltools_array.h"

/** Sizes of contributions by the signature, which MPI makes equal on all ranks. */
typedef struct mca_coll_pipering_sizes_t {
    mca_common_colltools_array_t counts; /**< [parts] elements, or none: `count` each */
    size_t count;
    size_t scale; /**< units in an element */
    size_t unit;  /**< bytes that must not be cut; 1 where data only moves */
    int parts;    /**< p for a gather or a reduce-scatter, else 1 */
} mca_coll_pipering_sizes_t;

/** Units of contribution i. */
static inline size_t mca_coll_pipering_size_of(const mca_coll_pipering_sizes_t *sizes, int i)
{
    return sizes->scale
           * (NULL == sizes->counts.at
                  ? sizes->count
                  : (size_t) mca_common_colltools_entry(sizes->counts, (size_t) i));
}

/** What a call is, to those who decide; equal on all ranks. */
typedef struct mca_coll_pipering_key_t {
    mca_coll_pipering_collective_t collective;
    mca_coll_pipering_params_t params;
    bool ordered;   /**< of a reduction: the operation does not commute */
    bool gaps;      /**< likewise: elements do not lie one right after the other */
    bool order_matters; /**< likewise: to the bits of the result, as of floating-point values */
    int root;
    mca_coll_pipering_sizes_t sizes; /**< its counts are borrowed */
} mca_coll_pipering_key_t;

/** Modelled seconds at both ends of what is known of links, the faster one first. */
typedef struct mca_coll_pipering_times_t {
    double at[2];
} mca_coll_pipering_times_t;

/** Rows that the choice weighs for one call at most. */
#define MCA_COLL_PIPERING_WEIGHED 8

/** A row that was weighed. */
typedef struct mca_coll_pipering_weighed_t {
    const mca_coll_pipering_row_t *row;
    size_t block; /**< bytes; in rounds, the largest contribution */
    int groups;   /**< in rounds; lanes of leaders; else 0 */
    mca_coll_pipering_times_t time;
} mca_coll_pipering_weighed_t;

/** All that is decided for a call; kept while in use. */
typedef struct mca_coll_pipering_plan_t {
    int users; /**< whoever holds it; the last one frees it */
    unsigned number; /**< in verbose lines: of this process's plans, the first one is 1 */
    mca_coll_pipering_key_t key;       /**< with counts of its own */
    mca_coll_pipering_reason_t reason; /**< MCA_COLL_PIPERING_TAKEN: this component serves it */
    const mca_coll_pipering_row_t *row; /**< the algorithm that serves it */
    size_t total;                      /**< bytes */
    size_t largest;                    /**< contribution or part, in units */
    int contributor; /**< the first rank that has any of them */
    mca_coll_pipering_ring_t own;      /**< memory for an order of the ranks */
    mca_coll_pipering_ring_t ring;     /**< by which the algorithm goes: in that memory, or another
                                            one; of a vector that goes whole, of the root alone */
    size_t *bytes;  /**< [ring.size] by rank, contributions, or parts of a vector, in units */
    size_t *starts; /**< [ring.size] where they begin, of a scattered vector */
    mca_coll_pipering_route_t *route; /**< [pipes] */
    int pipes;
    size_t block_size; /**< in units */
    unsigned window;
    mca_coll_pipering_ring_t by_node; /**< ranks in the order of nodes, of a call in rounds */
    size_t *before;                   /**< likewise, units before each of them */
    mca_coll_pipering_grid_t grid;    /**< likewise ... */
    mca_coll_pipering_slots_t slots;  /**< ... and the slots of this rank */
    mca_coll_pipering_splits_t splits; /**< of a gather by pulls */
    int lanes; /**< of a call by leaders: those of each node */
    struct mca_coll_pipering_plan_t *across; /**< likewise, of this rank's lane; NULL: it is no
                                                  leader */
    bool shared;               /**< links inside a node go through ring buffers */
    size_t equation2;          /**< B of the corrected equation (2), of a gather */
    uint64_t rounds;           /**< of the ring of nodes, or stages of the chain */
    uint64_t in, out;          /**< messages of this rank, over all its links */
    size_t in_from_network;    /**< bytes */
    double time;               /**< modelled seconds */
    mca_coll_pipering_times_t below; /**< likewise, of the module below */
    double margin; /**< by which it must be slower than the row, 0: it was not asked for */
    mca_coll_pipering_weighed_t weighed[MCA_COLL_PIPERING_WEIGHED]; /**< none if one is forced */
    int weighed_count;
    mca_coll_pipering_times_t leaders; /**< of coll/mleader, 0: it serves no such call */
    bool leaders_pay; /**< beside whoever of this component and the module below would serve */
    void *memory;
    size_t size; /**< bytes of it */
} mca_coll_pipering_plan_t;

/**
 * Where a call stands: what a plan rests on besides the key; equal on all ranks but for `me` and
 * `reads`.
 */
typedef struct mca_coll_pipering_situation_t {
    int ranks, nodes, me;
    int ppn;            /**< most ranks on a node */
    const int *node_of; /**< [ranks] the lowest rank on the node of each rank; borrowed */
    const int *leaf_of; /**< [ranks] the lowest rank on the leaf switch of each; NULL: not known */
    double load;        /**< most ranks per processor */
    bool pulls;         /**< ranks can read memory of others on their node: on one node all can,
                             else each node has one that can */
    bool reads;         /**< all ranks of this node can */
    mca_coll_pipering_below_t below; /**< the modules that serve calls that this one leaves */
    const mca_coll_pipering_machine_t *machine; /**< by a file, or by adapters; borrowed */
    const struct mca_coll_pipering_ways_t *ways; /**< along a mesh, wound; NULL: there is none */
} mca_coll_pipering_situation_t;

/** Calls about fewer bytes than this are small: a plan of their own is not worth it for most. */
#define MCA_COLL_PIPERING_SMALL ((size_t) 8192)

/** The class of a small call: the place of the highest bit of its bytes, which are not 0. */
static inline int mca_coll_pipering_small_class(size_t total)
{
    return 31 - __builtin_clz((unsigned) total);
}

/**
 * Whether small calls of a class are left to the module below if no algorithm is forced: by the
 * model for as many bytes of one rank, or of each, and for broadcasts from rank 0. Small reductions
 * are, and scans whose order matters. *memory is false where there is none.
 */
bool mca_coll_pipering_small_is_below(const mca_coll_pipering_key_t *key,
                                      const mca_coll_pipering_situation_t *at, int class,
                                      bool *memory);

/** Whether a call about `total` bytes is left to the module below because it is small. */
bool mca_coll_pipering_is_below(const mca_coll_pipering_key_t *key,
                                const mca_coll_pipering_situation_t *at, size_t total);

/**
 * Whether a call is left to the module below, whatever its sizes: a gather on one node whose ranks
 * do not pull.
 */
static inline bool mca_coll_pipering_is_local(mca_coll_pipering_collective_t collective,
                                              int algorithm,
                                              const mca_coll_pipering_situation_t *at)
{
    return mca_coll_pipering_collective_row(collective)->gathers
           && MCA_COLL_PIPERING_AUTO == algorithm && 2 > at->nodes && !at->pulls;
}

/**
 * The plan of a call for rank `at->me`, with all memory that it will need and counts of its own.
 * It is the caller's. NULL: no memory.
 */
mca_coll_pipering_plan_t *mca_coll_pipering_plan_new(const mca_coll_pipering_key_t *key,
                                                     const mca_coll_pipering_situation_t *at);

/** Replaces the routes of a plan by those of rank `at->me`. O(p). False: no memory. */
bool mca_coll_pipering_plan_route(mca_coll_pipering_plan_t *plan,
                                  const mca_coll_pipering_situation_t *at);

/** Holds a plan, or lets go of it. */
void mca_coll_pipering_plan_retain(mca_coll_pipering_plan_t *plan);
void mca_coll_pipering_plan_release(mca_coll_pipering_plan_t *plan);

#endif
