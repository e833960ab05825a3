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
 * Decide: from the sizes of a call to its plan.
 *
 * All that goes in is equal on all ranks: sizes in bytes, root, whether the operation
 * commutes, nodes, costs, variables. A plan is kept on the communicator for calls of
 * the same sizes, so that a program that repeats itself plans once.
 */

#include "coll_pipering_draft.h"
#include "coll_pipering_lessons.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_nodes.h"
#include "coll_pipering_setup.h"

#include <stdlib.h>
#include <string.h>

static void plan_construct(mca_coll_pipering_plan_t *plan)
{
    plan->memory = NULL;
}

static void plan_destruct(mca_coll_pipering_plan_t *plan)
{
    free(plan->memory);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_plan_t, opal_object_t, plan_construct, plan_destruct);

static bool same_params(const mca_coll_pipering_params_t *a, const mca_coll_pipering_params_t *b)
{
    return a->algorithm == b->algorithm && a->block_model == b->block_model
           && a->block_split == b->block_split && a->window == b->window
           && a->block_size == b->block_size && a->min_total == b->min_total
           && a->alpha == b->alpha && a->beta == b->beta && a->local_alpha == b->local_alpha
           && a->local_beta == b->local_beta && a->reorder_nodes == b->reorder_nodes
           && a->reorder_empties == b->reorder_empties
           && a->ring_buffer_size == b->ring_buffer_size
           && a->ring_buffer_blocks == b->ring_buffer_blocks && a->overlap == b->overlap
           && a->reproducible == b->reproducible
           && a->outlier_fraction == b->outlier_fraction
           && a->outlier_threshold == b->outlier_threshold
           && a->outlier_min_total == b->outlier_min_total
           && a->rounds_min_total == b->rounds_min_total
           && a->rounds_max_total == b->rounds_max_total && a->rounds_packed == b->rounds_packed;
}

static bool same_counts(const mca_coll_pipering_sizes_t *a, const mca_coll_pipering_sizes_t *b)
{
    if (a->scale != b->scale || a->parts != b->parts) {
        return false;
    }
    if (NULL == a->counts || NULL == b->counts) {
        return a->counts == b->counts && a->count == b->count;
    }
    return 0 == memcmp(a->counts, b->counts, (size_t) a->parts * sizeof(int));
}

/* As far as it does not depend on counts. */
static bool is_alike(const mca_coll_pipering_key_t *a, const mca_coll_pipering_key_t *b)
{
    /* a nonblocking call's plan may be there on one rank already and not on another */
    return a->collective == b->collective && a->must_take == b->must_take
           && a->wanted == b->wanted && a->varied == b->varied && a->lessons == b->lessons
           && a->ordered == b->ordered && a->reproducible == b->reproducible
           && a->root == b->root && a->sizes.unit == b->sizes.unit
           && same_params(&a->params, &b->params);
}

/* Plans of a communicator are kept as long as they are no more bytes than this, but for one. */
#define PLANS_BYTES ((size_t) 64 * 1024)

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t) 15;
}

/* Routes of any algorithm of a collective: how many, and how many links they have. */
static void count_routes(mca_coll_pipering_collective_t collective, int *pipes, int *links)
{
    const mca_coll_pipering_row_t *row = NULL;

    *pipes = *links = 0;
    while (NULL != (row = mca_coll_pipering_next_row(collective, row))) {
        *pipes = row->pipes > *pipes ? row->pipes : *pipes;
        *links = row->links > *links ? row->links : *links;
    }
}

static size_t places_size(int p)
{
    return aligned(mca_coll_pipering_ring_size(p)) + 2 * (size_t) p * sizeof(size_t);
}

/* Binds places of so many ranks; what is behind them. */
static char *bind_places(mca_coll_pipering_places_t *places, int p, char *memory)
{
    places->bytes = (size_t *) memory;
    places->starts = places->bytes + p;
    mca_coll_pipering_ring_bind(&places->ring, p, places->starts + p);
    return memory + places_size(p);
}

/*
 * Memory of a plan: routes; what each rank contributes, for a gather or a vector that may be
 * scattered, or only the root; the ranks of a gather in the order of nodes too; counts of its own.
 */
static int take_memory(mca_coll_pipering_plan_t *plan, int p, const mca_coll_pipering_key_t *key)
{
    const mca_coll_pipering_collective_row_t *row
        = mca_coll_pipering_collective_row(key->collective);
    const size_t alone = row->gathers ? 0 : aligned(places_size(1));
    const size_t all = row->gathers || row->scatters ? aligned(places_size(p)) : 0;
    const size_t by_node = row->gathers ? aligned(mca_coll_pipering_ring_size(p)) : 0;
    const size_t counts = NULL == key->sizes.counts ? 0 : (size_t) p * sizeof(int);

    int pipes, links;

    count_routes(key->collective, &pipes, &links);
    const size_t routes = aligned(mca_coll_pipering_routes_size(pipes, links, links));
    plan->size = routes + alone + all + by_node + counts;
    plan->memory = malloc(plan->size);
    if (NULL == plan->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    plan->route = mca_coll_pipering_routes_bind(plan->memory, pipes, links, links);
    char *memory = (char *) plan->memory + routes;
    if (0 < alone) {
        memory = bind_places(&plan->alone, 1, memory);
    }
    if (0 < all) {
        memory = bind_places(&plan->all, p, memory);
    }
    if (0 < by_node) {
        mca_coll_pipering_ring_bind(&plan->by_node, p, memory);
        memory += by_node;
    }
    plan->key = *key;
    if (0 < counts) {
        plan->key.sizes.counts = memcpy(memory, key->sizes.counts, counts);
    }
    return OMPI_SUCCESS;
}

/* The one pass over counts that a plan needs; those of a gather go where the ring finds them. */
static void add_up(mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_sizes_t *sizes = &plan->key.sizes;
    const bool gathers = mca_coll_pipering_collective_row(plan->key.collective)->gathers;
    size_t units = 0;

    plan->largest = 0;
    plan->some = 0;
    for (int i = 0; i < sizes->parts; ++i) {
        const size_t size = mca_coll_pipering_size_of(sizes, i);
        if (0 == units && 0 < size) {
            plan->some = i;
        }
        if (gathers) {
            plan->all.bytes[i] = size;
        }
        units += size;
        plan->largest = size > plan->largest ? size : plan->largest;
    }
    plan->total = units * sizes->unit;
}

/* A plan with room for all it holds, and the scratch memory that making it takes. */
static mca_coll_pipering_plan_t *new_plan(int p, const mca_coll_pipering_key_t *key,
                                          mca_coll_pipering_draft_t *draft)
{
    const size_t model_size = aligned(mca_coll_pipering_model_scratch(p));
    const size_t order_size = aligned(mca_coll_pipering_order_scratch(p));
    mca_coll_pipering_plan_t *plan = OBJ_NEW(mca_coll_pipering_plan_t);
    char *scratch = malloc((size_t) p * (sizeof(uint64_t) + sizeof(int)) + model_size + order_size);

    if (NULL == plan || NULL == scratch || OMPI_SUCCESS != take_memory(plan, p, key)) {
        free(scratch);
        if (NULL != plan) {
            OBJ_RELEASE(plan);
        }
        return NULL;
    }
    draft->blocks = (uint64_t *) scratch;
    draft->problem.scratch = draft->blocks + p;
    draft->order_scratch = scratch + (size_t) p * sizeof(uint64_t) + model_size;
    draft->node_of = (int *) ((char *) draft->order_scratch + order_size);
    add_up(plan);
    return plan;
}

/* What is known where the key was made, which is nothing before a blocking call has set up. */
static mca_coll_pipering_cost_t cost_of(const mca_coll_pipering_context_t *context,
                                        const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_rates_t none = {.of = {{0, 0, 0}}};
    const bool knows = 0 < plan->key.lessons;
    mca_coll_pipering_cost_t cost
        = mca_coll_pipering_setup_cost(context->setup,
                                       knows ? mca_coll_pipering_lessons_rates(context) : &none,
                                       &plan->key.params);

    if (knows) {
        cost.net.factors = mca_coll_pipering_lessons_factors(context, plan);
    }
    return cost;
}

static int make_plan(mca_coll_pipering_context_t *context, const mca_coll_pipering_key_t *key,
                     mca_coll_pipering_plan_t **made)
{
    mca_coll_pipering_draft_t draft
        = {.ranks = ompi_comm_size(context->comm),
           .nodes = mca_coll_pipering_setup_nodes(context->setup),
           .me = ompi_comm_rank(context->comm),
           .load = mca_coll_pipering_setup_load(context->setup),
           .combine = mca_coll_pipering_setup_combine(context->setup)};
    mca_coll_pipering_plan_t *plan = new_plan(draft.ranks, key, &draft);

    if (NULL == plan) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    draft.plan = plan;
    draft.cost = cost_of(context, plan);
    mca_coll_pipering_nodes_fill(context->comm, draft.node_of);
    plan->cut.split = (mca_coll_pipering_split_t) key->params.block_split;
    plan->equation2 = 0;
    mca_coll_pipering_choose(&draft);
    mca_coll_pipering_count_volumes(&draft);
    plan->shared = draft.nodes < draft.ranks && !plan->row->rounds
                   && mca_coll_pipering_can_share(&key->params,
                                                  plan->cut.block_size * key->sizes.unit);
    free(draft.blocks);
    *made = plan;
    return OMPI_SUCCESS;
}

/* ---- plans that are kept ---- */

static void set_last(mca_coll_pipering_context_t *context, mca_coll_pipering_plan_t *plan,
                     int count)
{
    context->last = plan;
    __atomic_store_n(&context->last_count, count, __ATOMIC_RELAXED);
}

/* Nobody finds a plan any more. */
static void forget(mca_coll_pipering_context_t *context, int place)
{
    mca_coll_pipering_plan_t **plan = &context->plan[place];

    if (NULL == *plan) {
        return;
    }
    if (context->last == *plan) {
        set_last(context, NULL, -1);
    }
    OBJ_RELEASE(*plan);
    *plan = NULL;
}

/* The oldest plans go until there is room for so many bytes more. */
static void make_room(mca_coll_pipering_context_t *context, size_t size)
{
    size_t held = size;

    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        held += NULL == context->plan[i] ? 0 : context->plan[i]->size;
    }
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS && PLANS_BYTES < held; ++i) {
        const int place = (context->oldest + i) % MCA_COLL_PIPERING_PLANS;
        held -= NULL == context->plan[place] ? 0 : context->plan[place]->size;
        forget(context, place);
    }
}

static mca_coll_pipering_plan_t *find_plan(mca_coll_pipering_context_t *context,
                                           const mca_coll_pipering_key_t *key,
                                           const mca_coll_pipering_plan_t *recalled)
{
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        mca_coll_pipering_plan_t *plan = context->plan[i];
        if (NULL != plan && is_alike(&plan->key, key)
            && (plan == recalled || same_counts(&plan->key.sizes, &key->sizes))) {
            return plan;
        }
    }
    return NULL;
}

/* Makes a plan and keeps it in place of the oldest. */
static int add_plan(mca_coll_pipering_context_t *context, const mca_coll_pipering_key_t *key,
                    mca_coll_pipering_plan_t **plan)
{
    const int rc = make_plan(context, key, plan);

    if (OMPI_SUCCESS == rc) {
        mca_common_irregular_count(&context->process->counters.plans, 1);
        make_room(context, (*plan)->size);
        forget(context, context->oldest);
        context->plan[context->oldest] = *plan;
        context->oldest = (context->oldest + 1) % MCA_COLL_PIPERING_PLANS;
    }
    return rc;
}

static void note_last(mca_coll_pipering_context_t *context, mca_coll_pipering_plan_t *plan)
{
    const int *counts = plan->key.sizes.counts;

    if (NULL != counts) {
        set_last(context, plan, counts[0]);
    }
}

mca_coll_pipering_plan_t *mca_coll_pipering_plan_recall(mca_coll_pipering_context_t *context,
                                                        mca_coll_pipering_collective_t collective,
                                                        const mca_coll_pipering_sizes_t *sizes)
{
    mca_coll_pipering_plan_t *plan;

    OPAL_THREAD_LOCK(&context->lock);
    plan = context->last;
    if (NULL != plan && collective == plan->key.collective
        && same_counts(&plan->key.sizes, sizes)) {
        OBJ_RETAIN(plan);
    } else {
        plan = NULL;
    }
    OPAL_THREAD_UNLOCK(&context->lock);
    return plan;
}

int mca_coll_pipering_plan_get(mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_key_t *key,
                               mca_coll_pipering_plan_t *recalled, mca_coll_pipering_plan_t **plan)
{
    int rc = OMPI_SUCCESS;

    OPAL_THREAD_LOCK(&context->lock);
    *plan = find_plan(context, key, recalled);
    if (NULL == *plan) {
        rc = add_plan(context, key, plan);
    }
    if (OMPI_SUCCESS == rc) {
        note_last(context, *plan);
        OBJ_RETAIN(*plan);
    }
    OPAL_THREAD_UNLOCK(&context->lock);
    return rc;
}

int mca_coll_pipering_plan_try(mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_key_t *key, mca_coll_pipering_plan_t **plan)
{
    OPAL_THREAD_LOCK(&context->lock);
    const int rc = make_plan(context, key, plan);
    OPAL_THREAD_UNLOCK(&context->lock);
    return rc;
}

void mca_coll_pipering_plans_drop(mca_coll_pipering_context_t *context)
{
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        forget(context, i);
    }
}
