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
 * Drafts: plans on their way, and the functions that make them, which rows of
 * coll_pipering_registry.c name.
 */

#ifndef MCA_COLL_PIPERING_DRAFT_H
#define MCA_COLL_PIPERING_DRAFT_H

#include "coll_pipering_choice.h"

#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_model.h"

/** A plan on its way. */
typedef struct mca_coll_pipering_draft_t {
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_situation_t at;
    double combine; /**< seconds a byte */
    mca_coll_pipering_cost_t cost; /**< of the machine, at the rate of links that is looked at */
    size_t fixed_block;            /**< bytes of a block, chosen at another rate; 0: none is */
    int fixed_groups;              /**< likewise, of a gather in rounds; or lanes of leaders */
    mca_coll_pipering_problem_t problem; /**< of a gather */
    uint64_t *blocks;                    /**< [p] */
    size_t *sizes;                       /**< [p] bytes of contributions or of parts of a vector */
    void *order_scratch;
    bool no_memory; /**< for the plan of a part of the call: there is none of the call */
    mca_coll_pipering_plan_t *(*plan_part)(const mca_coll_pipering_key_t *key,
                                           const mca_coll_pipering_situation_t *at);
                            /**< makes the plan of a part of the call: mca_coll_pipering_plan_new */
} mca_coll_pipering_draft_t;

/** Bytes of a block where ranks share nothing but memory: what a cache holds many of. */
#define MCA_COLL_PIPERING_LOCAL_BLOCK ((size_t) 32 * 1024)

/* ---- parts of plans (coll_pipering_draft.c) ---- */

/** A block size that was found by search, within bounds. */
size_t mca_coll_pipering_bound_block(const mca_coll_pipering_draft_t *draft, size_t bytes);

/**
 * Gives a plan a ring of all ranks, with a chunk of the vector for each; it is to be
 * ordered. Returns the bytes of the largest chunk. O(p).
 */
size_t mca_coll_pipering_place_chunks(mca_coll_pipering_plan_t *plan, int ranks);

/**
 * What each rank contributes, or gets of the result: as the call says, or all to or from the root;
 * of an allreduce, a chunk that it makes. O(p).
 */
void mca_coll_pipering_place_parts(mca_coll_pipering_plan_t *plan, int ranks);

/**
 * Cuts into blocks of the bytes that a search found, or that the user wants, but of whole units;
 * their bytes.
 */
size_t mca_coll_pipering_set_blocks(mca_coll_pipering_draft_t *draft, size_t bytes);

/** Whether values may be combined in any order. */
bool mca_coll_pipering_can_reorder(const mca_coll_pipering_draft_t *draft);

/** The bytes of a block that the user wants, or that are chosen already; 0: the model chooses. */
size_t mca_coll_pipering_given_block(const mca_coll_pipering_draft_t *draft);

/** Fills in what a plan that is made moves in and out of this rank. O(p). */
void mca_coll_pipering_count_volumes(mca_coll_pipering_draft_t *draft);

/** Whether the call is a reduction, or a scan. */
static inline bool mca_coll_pipering_draft_combines(const mca_coll_pipering_draft_t *draft)
{
    return mca_coll_pipering_combines(draft->plan->key.collective);
}

/** Whether its result goes to all ranks. */
static inline bool mca_coll_pipering_draft_spreads(const mca_coll_pipering_draft_t *draft)
{
    return MCA_COLL_PIPERING_ALLREDUCE == draft->plan->key.collective;
}

/* ---- plans of algorithms ---- */

/** A gather, or a reduce-scatter, along the ring (coll_pipering_decide_ring.c). */
void mca_coll_pipering_decide_ring(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_route_ring(mca_coll_pipering_draft_t *draft);
double mca_coll_pipering_least_ring(mca_coll_pipering_draft_t *draft, double enough);

/** A call in log2 p rounds (coll_pipering_decide_rounds.c). */
void mca_coll_pipering_decide_rounds(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_count_rounds(mca_coll_pipering_draft_t *draft);
bool mca_coll_pipering_can_round(const mca_coll_pipering_draft_t *draft);

/** Gives a plan the grid of its nodes, in bytes or units, whose shares go whole. O(p). */
void mca_coll_pipering_group_nodes(mca_coll_pipering_draft_t *draft, bool in_units);

/** A gather, or a reduction, inside a node, by pulls (coll_pipering_decide_pulls.c). */
void mca_coll_pipering_decide_pulls(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_count_pulls(mca_coll_pipering_draft_t *draft);
bool mca_coll_pipering_can_pull(const mca_coll_pipering_draft_t *draft);

/** The same between nodes, whose leaders exchange it in rounds (the same file). */
void mca_coll_pipering_decide_leaders(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_route_leaders(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_count_leaders(mca_coll_pipering_draft_t *draft);
bool mca_coll_pipering_can_lead(const mca_coll_pipering_draft_t *draft);

/** A scan in rounds (coll_pipering_decide_scan.c). */
void mca_coll_pipering_decide_scan(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_count_scan(mca_coll_pipering_draft_t *draft);
bool mca_coll_pipering_can_scan(const mca_coll_pipering_draft_t *draft);

/** Along a chain, or there and back along it (coll_pipering_decide_chain.c). */
void mca_coll_pipering_decide_chain(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_route_chain(mca_coll_pipering_draft_t *draft);

/** A reduce-scatter along the line of ranks, from both ends (coll_pipering_decide_chain.c). */
void mca_coll_pipering_decide_line(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_route_line_both(mca_coll_pipering_draft_t *draft);

/** A vector that is scattered and gathered along a ring (coll_pipering_decide_chain.c). */
void mca_coll_pipering_decide_scatter(mca_coll_pipering_draft_t *draft);
void mca_coll_pipering_route_around(mca_coll_pipering_draft_t *draft);
bool mca_coll_pipering_can_scatter(const mca_coll_pipering_draft_t *draft);

/* ---- parts of plans of a vector (coll_pipering_decide_chain.c) ---- */

/** Gives a plan a ring of the root alone, which has the whole vector. */
void mca_coll_pipering_place_alone(mca_coll_pipering_plan_t *plan);

/* ---- the choice (coll_pipering_choice.c) ---- */

/** Makes the plan of a draft that has its key, sizes, nodes and costs, and judges it. */
void mca_coll_pipering_choose(mca_coll_pipering_draft_t *draft);

#endif
