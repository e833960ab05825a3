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
 * Making plans: the costs of links that they rest on, and their memory; and which small calls have
 * one.
 */

#include "coll_pipering_draft.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_fifo.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_circulant.h"

#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t) 15;
}

/* Routes of any algorithm of a collective: how many, and how many links they have. */
static void count_routes(mca_coll_pipering_collective_t collective,
                         const mca_coll_pipering_ways_t *ways, int *pipes, int *links)
{
    const mca_coll_pipering_row_t *row = NULL;

    *pipes = *links = 0;
    while (NULL != (row = mca_coll_pipering_next_row(collective, row))) {
        int its_pipes = row->pipes, its_links = row->links;
        if (row->along_mesh && NULL != ways) {
            mca_coll_pipering_mesh_room(ways, &its_pipes, &its_links);
        }
        *pipes = its_pipes > *pipes ? its_pipes : *pipes;
        *links = its_links > *links ? its_links : *links;
    }
}

/*
 * Memory of a plan: routes; an order of ranks, and what each of them contributes or gets, of a scan
 * only the root; of a call in rounds the ranks in the order of nodes, the bytes before each, and
 * its slots; counts of its own.
 */
static bool take_memory(mca_coll_pipering_plan_t *plan, int p,
                        const mca_coll_pipering_ways_t *ways, const mca_coll_pipering_key_t *key)
{
    const bool rounds = !mca_coll_pipering_scans(key->collective);
    const int placed = rounds ? p : 1;
    const size_t places = aligned(mca_coll_pipering_ring_size(placed)
                                  + 2 * (size_t) placed * sizeof(size_t));
    const size_t by_node = rounds ? aligned(mca_coll_pipering_ring_size(p)) : 0;
    const size_t pieces = 2 * (size_t) p * sizeof(mca_coll_pipering_piece_t);
    const size_t turns = 2 * (size_t) p * (size_t) mca_coll_pipering_circulant_rounds(p);
    const size_t slots = rounds ? aligned(pieces + ((size_t) p + 1) * sizeof(size_t)
                                          + ((size_t) p + 1) * sizeof(int) + turns)
                                : 0;
    const size_t counts = mca_common_colltools_array_bytes(key->sizes.counts, (size_t) p);

    int pipes, links;

    count_routes(key->collective, ways, &pipes, &links);
    const size_t routes = aligned(mca_coll_pipering_routes_size(pipes, links, links));
    plan->size = routes + places + by_node + slots + counts;
    plan->memory = malloc(plan->size);
    if (NULL == plan->memory) {
        return false;
    }
    plan->route = mca_coll_pipering_routes_bind(plan->memory, pipes, links, links);
    char *memory = (char *) plan->memory + routes;
    plan->bytes = (size_t *) memory;
    plan->starts = plan->bytes + placed;
    mca_coll_pipering_ring_bind(&plan->own, placed, plan->starts + placed);
    memory += places;
    if (0 < by_node) {
        mca_coll_pipering_ring_bind(&plan->by_node, p, memory);
        memory += by_node;
        plan->slots.piece = (mca_coll_pipering_piece_t *) memory;
        plan->before = (size_t *) (plan->slots.piece + 2 * (size_t) p);
        plan->slots.first = (int *) (plan->before + p + 1);
        plan->slots.turn = (signed char *) (plan->slots.first + p + 1);
        memory += slots;
    }
    plan->key = *key;
    if (0 < counts) {
        plan->key.sizes.counts.at = memcpy(memory, key->sizes.counts.at, counts);
    }
    return true;
}

/* The one pass over counts that a plan needs; those of all ranks go where the ring finds them. */
static void add_up(mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_sizes_t *sizes = &plan->key.sizes;
    const bool parts = 1 < sizes->parts;
    size_t units = 0;

    for (int i = 0; i < sizes->parts; ++i) {
        const size_t size = mca_coll_pipering_size_of(sizes, i);
        if (0 == units && 0 < size) {
            plan->contributor = i;
        }
        if (parts) {
            plan->bytes[i] = size;
            plan->starts[i] = units;
        }
        units += size;
        plan->largest = size > plan->largest ? size : plan->largest;
    }
    plan->total = units * sizes->unit;
}

/* ---- making ---- */

/* The scratch memory that making a plan takes; it begins with the blocks. */
static bool take_scratch(mca_coll_pipering_draft_t *draft)
{
    const size_t blocks = aligned((size_t) draft->at.ranks * sizeof(uint64_t));
    const size_t sizes = aligned((size_t) draft->at.ranks * sizeof(size_t));
    const size_t ring = mca_coll_pipering_model_scratch(draft->at.ranks);
    const size_t below = mca_coll_pipering_below_scratch(draft->at.ranks);
    const size_t model = aligned(ring < below ? below : ring);
    char *scratch = malloc(blocks + sizes + model
                           + mca_coll_pipering_order_scratch(draft->at.ranks));

    draft->blocks = (uint64_t *) scratch;
    if (NULL != scratch) {
        draft->sizes = (size_t *) (scratch + blocks);
        draft->problem.scratch = scratch + blocks + sizes;
        draft->order_scratch = scratch + blocks + sizes + model;
    }
    return NULL != scratch;
}

static mca_coll_pipering_draft_t draft_of(mca_coll_pipering_plan_t *plan,
                                          const mca_coll_pipering_situation_t *at)
{
    return (mca_coll_pipering_draft_t){
        .plan = plan,
        .at = *at,
        .plan_part = mca_coll_pipering_plan_new,
        .combine = mca_coll_pipering_machine_combine(at->machine, at->load)};
}

bool mca_coll_pipering_plan_route(mca_coll_pipering_plan_t *plan,
                                  const mca_coll_pipering_situation_t *at)
{
    mca_coll_pipering_draft_t draft = draft_of(plan, at);

    if (NULL != plan->row->route) {
        plan->row->route(&draft);
    }
    mca_coll_pipering_count_volumes(&draft);
    return !draft.no_memory;
}

/* Fills a plan that has its memory and its key. */
static bool fill(mca_coll_pipering_plan_t *plan, const mca_coll_pipering_situation_t *at)
{
    const mca_coll_pipering_key_t *key = &plan->key;
    mca_coll_pipering_draft_t draft = draft_of(plan, at);

    add_up(plan);
    if (!take_scratch(&draft)) {
        return false;
    }
    mca_coll_pipering_choose(&draft);
    plan->ring.leaf_of = plan->by_node.leaf_of = NULL; /* what they point at is the caller's */
    const bool routed = MCA_COLL_PIPERING_TAKEN != plan->reason
                        || mca_coll_pipering_plan_route(plan, at);
    plan->shared = at->nodes < at->ranks && !mca_coll_pipering_in_rounds(plan->row)
                   && mca_coll_pipering_fifo_carries(key->params.ring_buffer_size,
                                                     plan->block_size * key->sizes.unit);
    free(draft.blocks);
    plan->size += NULL == plan->across ? 0 : plan->across->size;
    return routed && !draft.no_memory;
}

mca_coll_pipering_plan_t *mca_coll_pipering_plan_new(const mca_coll_pipering_key_t *key,
                                                     const mca_coll_pipering_situation_t *at)
{
    mca_coll_pipering_plan_t *plan = calloc(1, sizeof(*plan));

    if (NULL == plan || !take_memory(plan, at->ranks, at->ways, key)) {
        free(plan);
        return NULL;
    }
    plan->users = 1;
    if (!fill(plan, at)) {
        mca_coll_pipering_plan_release(plan);
        return NULL;
    }
    return plan;
}

/* ---- small calls ---- */

/* Whether a call is served, by its plan, which is not kept; *memory is false where none is. */
static bool is_served(const mca_coll_pipering_key_t *key, const mca_coll_pipering_situation_t *at,
                      bool *memory)
{
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(key, at);

    if (NULL == plan) {
        *memory = false;
        return false;
    }
    const bool served = MCA_COLL_PIPERING_TAKEN == plan->reason;
    mca_coll_pipering_plan_release(plan);
    return served;
}

/* Bytes of a scan below which it is a message a rank, in a row; and of other calls. */
#define CLASS_LEAST_SCAN 2
#define CLASS_LEAST 4

bool mca_coll_pipering_small_is_below(const mca_coll_pipering_key_t *key,
                                      const mca_coll_pipering_situation_t *at, int class,
                                      bool *memory)
{
    const bool gathers = mca_coll_pipering_collective_row(key->collective)->gathers;
    const bool scans = mca_coll_pipering_scans(key->collective);
    const size_t total = (size_t) 1 << class;
    mca_coll_pipering_key_t small
        = {.collective = key->collective,
           .params = key->params,
           .sizes = {.scale = 1, .unit = 1, .parts = gathers ? at->ranks : 1}};

    *memory = true;
    if (key->order_matters || class < (scans ? CLASS_LEAST_SCAN : CLASS_LEAST)
        || (mca_coll_pipering_combines(key->collective) && !scans)
        || (gathers && 2 > at->nodes)) {
        return true;
    }
    if (MCA_COLL_PIPERING_ALLGATHERV == key->collective) {
        int *counts = calloc((size_t) at->ranks, sizeof(int));
        *memory = NULL != counts;
        if (*memory) {
            counts[0] = (int) total;
            small.sizes.counts.at = counts;
        }
        const bool served = *memory && is_served(&small, at, memory);
        small.sizes.counts.at = NULL;
        free(counts);
        if (served || !*memory) {
            return false;
        }
    }
    const size_t p = (size_t) small.sizes.parts;
    small.sizes.count = total < p ? 1 : total / p;
    return !is_served(&small, at, memory) && *memory;
}

bool mca_coll_pipering_is_below(const mca_coll_pipering_key_t *key,
                                const mca_coll_pipering_situation_t *at, size_t total)
{
    bool memory;

    return MCA_COLL_PIPERING_AUTO == key->params.algorithm && MCA_COLL_PIPERING_SMALL > total
           && 0 < total
           && mca_coll_pipering_small_is_below(key, at, mca_coll_pipering_small_class(total),
                                               &memory);
}
