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
 * Decide: the plans of the calls of a communicator.
 *
 * All that goes in is equal on all ranks: sizes in bytes, root, whether the operation
 * commutes, nodes, costs, variables. A plan is kept on the communicator for calls of
 * the same sizes, so that a program that repeats itself plans once.
 */

#include "coll_pipering_decide.h"

#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "coll_pipering_setup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opal/util/output.h"

static bool same_counts(const mca_coll_pipering_sizes_t *a, const mca_coll_pipering_sizes_t *b)
{
    if (a->scale != b->scale || a->parts != b->parts) {
        return false;
    }
    if (NULL == a->counts.at || NULL == b->counts.at) {
        return a->counts.at == b->counts.at && a->count == b->count;
    }
    return mca_common_colltools_equal_entries(a->counts, b->counts, (size_t) a->parts);
}

/* As far as it does not depend on counts. */
static bool is_alike(const mca_coll_pipering_key_t *a, const mca_coll_pipering_key_t *b)
{
    return a->collective == b->collective && a->ordered == b->ordered
           && a->order_matters == b->order_matters && a->root == b->root
           && a->sizes.unit == b->sizes.unit
           && 0 == memcmp(&a->params, &b->params, sizeof(a->params));
}

/* Plans of a communicator are kept as long as they are no more bytes than this, but for one. */
#define PLANS_BYTES ((size_t) 1024 * 1024)

/*
 * What plans of calls like `key` rest on, with nodes in memory that the caller frees; NULL there:
 * no memory. Where results depend on the order of combining, this does not depend on switches.
 */
static mca_coll_pipering_facts_t facts_for(mca_coll_pipering_context_t *context,
                                           const mca_coll_pipering_key_t *key, int **node_of)
{
    const int p = ompi_comm_size(context->comm);
    const mca_coll_pipering_known_t *known = context->known;
    const bool wound = NULL == known->ways || mca_coll_pipering_ways_wind(known->ways);
    const bool far = known->far && !key->order_matters;

    *node_of = wound ? malloc((far ? 2 : 1) * (size_t) p * sizeof(int)) : NULL;
    int *leaf_of = NULL == *node_of || !far ? NULL : *node_of + p;
    if (NULL != *node_of) {
        mca_common_colltools_nodes_fill(context->comm, *node_of, leaf_of);
    }
    return (mca_coll_pipering_facts_t){.ranks = p,
                                       .nodes = known->nodes.count,
                                       .me = ompi_comm_rank(context->comm),
                                       .node_of = *node_of,
                                       .leaf_of = leaf_of,
                                       .ppn = known->nodes.ppn,
                                       .load = known->nodes.load,
                                       .below = known->below,
                                       .machine = &known->machine,
                                       .ways = known->ways};
}

static int make_plan(mca_coll_pipering_context_t *context, const mca_coll_pipering_key_t *key,
                     mca_coll_pipering_plan_t **made)
{
    int *node_of;
    const mca_coll_pipering_facts_t facts = facts_for(context, key, &node_of);

    *made = NULL == node_of ? NULL : mca_coll_pipering_plan_new(key, &facts);
    free(node_of);
    return NULL == *made ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* Judges a class of small calls. False: no memory. */
static bool judge_class(mca_coll_pipering_context_t *context, const mca_coll_pipering_key_t *key,
                        int class)
{
    bool memory;
    int *node_of;
    const mca_coll_pipering_facts_t facts = facts_for(context, key, &node_of);

    if (NULL == node_of) {
        return false;
    }
    const bool below = mca_coll_pipering_small_is_below(key, &facts, class, &memory);
    free(node_of);
    if (memory) {
        context->judged[key->collective] |= (uint16_t) (1 << class);
        context->small[key->collective] |= (uint16_t) (below << class);
    }
    return memory;
}

int mca_coll_pipering_judge_small(mca_coll_pipering_context_t *context,
                                  const mca_coll_pipering_key_t *key, size_t total, bool *below)
{
    const int class = mca_coll_pipering_small_class(total);
    bool memory = true;

    *below = true;
    if (key->order_matters) { /* what is known of its class is of others */
        return OMPI_SUCCESS;
    }
    OPAL_THREAD_LOCK(&context->lock);
    if (0 == (context->judged[key->collective] >> class & 1)) {
        memory = judge_class(context, key, class);
    }
    *below = 0 != (context->small[key->collective] >> class & 1);
    OPAL_THREAD_UNLOCK(&context->lock);
    return memory ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* ---- plans that are kept ---- */

static void set_last(mca_coll_pipering_context_t *context, mca_coll_pipering_plan_t *plan,
                     ptrdiff_t count)
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
    mca_coll_pipering_plan_release(*plan);
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

/* Tells users what the choice says of every row. */
static void report_plan(const mca_coll_pipering_context_t *context,
                        const mca_coll_pipering_plan_t *plan)
{
    char rows[512] = "";
    size_t length = 0;

    if (!mca_coll_pipering_is_verbose(context->process, context->comm)) {
        return;
    }
    for (int i = 0; i < plan->weighed_count && length < sizeof(rows); ++i) {
        const mca_coll_pipering_weighed_t *weighed = &plan->weighed[i];
        length += (size_t) snprintf(rows + length, sizeof(rows) - length,
                                    "%s B %zu %.6f to %.6f s, ", weighed->row->value,
                                    weighed->block, weighed->time.at[0], weighed->time.at[1]);
    }
    if (0 < plan->leaders.at[0] && length < sizeof(rows)) {
        (void) snprintf(rows + length, sizeof(rows) - length, "leaders %.6f to %.6f s, ",
                        plan->leaders.at[0], plan->leaders.at[1]);
    }
    opal_output(context->process->output,
                "coll/pipering: %s of %zu bytes on %s: %sbelow %.6f to %.6f s: %s",
                mca_coll_pipering_collective_row(plan->key.collective)
                    ->name[MCA_COLL_PIPERING_BLOCKING],
                plan->total, context->comm->c_name, rows, plan->below.at[0], plan->below.at[1],
                MCA_COLL_PIPERING_TAKEN == plan->reason ? plan->row->value : "below");
}

/* Makes a plan and keeps it in place of the oldest. */
static int add_plan(mca_coll_pipering_context_t *context, const mca_coll_pipering_key_t *key,
                    mca_coll_pipering_plan_t **plan)
{
    const int rc = make_plan(context, key, plan);

    if (OMPI_SUCCESS == rc) {
        mca_common_colltools_count(&context->process->counters.plans, 1);
        report_plan(context, *plan);
        make_room(context, (*plan)->size);
        forget(context, context->oldest);
        context->plan[context->oldest] = *plan;
        context->oldest = (context->oldest + 1) % MCA_COLL_PIPERING_PLANS;
    }
    return rc;
}

static void note_last(mca_coll_pipering_context_t *context, mca_coll_pipering_plan_t *plan)
{
    const mca_common_colltools_array_t counts = plan->key.sizes.counts;

    if (NULL != counts.at) {
        set_last(context, plan, mca_common_colltools_entry(counts, 0));
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
        mca_coll_pipering_plan_retain(plan);
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
        mca_coll_pipering_plan_retain(*plan);
    }
    OPAL_THREAD_UNLOCK(&context->lock);
    return rc;
}

void mca_coll_pipering_plans_drop(mca_coll_pipering_context_t *context)
{
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        forget(context, i);
    }
}
