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
 * commutes, nodes, costs, variables. A plan is kept, with what is known of the communicator, for
 * calls of the same sizes, so that a program that repeats itself plans once, on new communicators
 * too.
 */

#include "coll_pipering_decide.h"

#include "coll_pipering_setup.h"

#include <stdio.h>
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
           && a->gaps == b->gaps
           && a->order_matters == b->order_matters && a->root == b->root
           && a->sizes.unit == b->sizes.unit
           && 0 == memcmp(&a->params, &b->params, sizeof(a->params));
}

/* Plans that are kept together are no more bytes than this, but for one. */
#define PLANS_BYTES ((size_t) 1024 * 1024)

/* Where results depend on the order of combining, plans do not depend on switches. */
static mca_coll_pipering_situation_t situation_of(const mca_coll_pipering_setup_t *setup,
                                                  const mca_coll_pipering_key_t *key)
{
    mca_coll_pipering_situation_t at = setup->at;

    at.leaf_of = key->order_matters ? NULL : at.leaf_of;
    return at;
}

/* False: no memory for the cycles of its mesh. */
static bool is_wound(const mca_coll_pipering_setup_t *setup)
{
    return NULL == setup->ways || mca_coll_pipering_ways_wind(setup->ways);
}

static int make_plan(const mca_coll_pipering_setup_t *setup, const mca_coll_pipering_key_t *key,
                     mca_coll_pipering_plan_t **made)
{
    const mca_coll_pipering_situation_t at = situation_of(setup, key);

    *made = is_wound(setup) ? mca_coll_pipering_plan_new(key, &at) : NULL;
    return NULL == *made ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* Judges a class of small calls. False: no memory. */
static bool judge_class(mca_coll_pipering_setup_t *setup, const mca_coll_pipering_key_t *key,
                        int class)
{
    const mca_coll_pipering_situation_t at = situation_of(setup, key);
    bool memory;

    if (!is_wound(setup)) {
        return false;
    }
    const bool below = mca_coll_pipering_small_is_below(key, &at, class, &memory);
    if (memory) {
        setup->judged[key->collective] |= (uint16_t) (1 << class);
        setup->small[key->collective] |= (uint16_t) (below << class);
    }
    return memory;
}

int mca_coll_pipering_judge_small(mca_coll_pipering_context_t *context,
                                  const mca_coll_pipering_key_t *key, size_t total, bool *below)
{
    mca_coll_pipering_setup_t *setup = context->setup;
    const int class = mca_coll_pipering_small_class(total);
    bool memory = true;

    *below = true;
    if (key->order_matters) { /* what is known of its class is of others */
        return OMPI_SUCCESS;
    }
    OPAL_THREAD_LOCK(&setup->lock);
    if (0 == (setup->judged[key->collective] >> class & 1)) {
        memory = judge_class(setup, key, class);
    }
    *below = 0 != (setup->small[key->collective] >> class & 1);
    OPAL_THREAD_UNLOCK(&setup->lock);
    return memory ? OMPI_SUCCESS : OMPI_ERR_OUT_OF_RESOURCE;
}

/* ---- plans that are kept ---- */

/* Nobody finds a plan any more. */
static void forget(mca_coll_pipering_setup_t *setup, int place)
{
    if (NULL != setup->plan[place]) {
        mca_coll_pipering_plan_release(setup->plan[place]);
        setup->plan[place] = NULL;
    }
}

/* The oldest plans go until there is room for so many bytes more. */
static void make_room(mca_coll_pipering_setup_t *setup, size_t size)
{
    size_t held = size;

    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        held += NULL == setup->plan[i] ? 0 : setup->plan[i]->size;
    }
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS && PLANS_BYTES < held; ++i) {
        const int place = (setup->oldest + i) % MCA_COLL_PIPERING_PLANS;
        held -= NULL == setup->plan[place] ? 0 : setup->plan[place]->size;
        forget(setup, place);
    }
}

static mca_coll_pipering_plan_t *find_plan(const mca_coll_pipering_setup_t *setup,
                                           const mca_coll_pipering_key_t *key,
                                           const mca_coll_pipering_plan_t *recalled)
{
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        mca_coll_pipering_plan_t *plan = setup->plan[i];
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
        (void) snprintf(rows + length, sizeof(rows) - length, "mleader %.6f to %.6f s, ",
                        plan->leaders.at[0], plan->leaders.at[1]);
    }
    opal_output(context->process->output,
                "coll/pipering: %s of %zu bytes on %s: %sbelow %.6f to %.6f s: %s; plan %u, "
                "margin %g",
                mca_coll_pipering_collective_row(plan->key.collective)
                    ->name[MCA_COLL_PIPERING_BLOCKING],
                plan->total, context->comm->c_name, rows, plan->below.at[0], plan->below.at[1],
                MCA_COLL_PIPERING_TAKEN == plan->reason ? plan->row->value : "below", plan->number,
                plan->margin);
}

/* Makes a plan and keeps it in place of the oldest. */
static int add_plan(const mca_coll_pipering_context_t *context, const mca_coll_pipering_key_t *key,
                    mca_coll_pipering_plan_t **plan)
{
    mca_coll_pipering_setup_t *setup = context->setup;
    const int rc = make_plan(setup, key, plan);

    if (OMPI_SUCCESS == rc) {
        (*plan)->number = (unsigned) opal_atomic_add_fetch_64(&context->process->counters.plans, 1);
        report_plan(context, *plan);
        make_room(setup, (*plan)->size);
        forget(setup, setup->oldest);
        setup->plan[setup->oldest] = *plan;
        setup->oldest = (setup->oldest + 1) % MCA_COLL_PIPERING_PLANS;
    }
    return rc;
}

/* Holds the plan that a communicator used last; NULL: none. */
static void set_last(mca_coll_pipering_context_t *context, mca_coll_pipering_plan_t *plan)
{
    mca_coll_pipering_plan_t *before = context->last;

    if (NULL != plan) {
        mca_coll_pipering_plan_retain(plan);
    }
    context->last = plan;
    __atomic_store_n(&context->last_count,
                     NULL == plan ? -1 : mca_common_colltools_entry(plan->key.sizes.counts, 0),
                     __ATOMIC_RELAXED);
    if (NULL != before) {
        mca_coll_pipering_plan_release(before);
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
    mca_coll_pipering_setup_t *setup = context->setup;
    int rc = OMPI_SUCCESS;

    OPAL_THREAD_LOCK(&setup->lock);
    *plan = find_plan(setup, key, recalled);
    if (NULL == *plan) {
        rc = add_plan(context, key, plan);
    }
    if (OMPI_SUCCESS == rc) {
        mca_coll_pipering_plan_retain(*plan);
    }
    OPAL_THREAD_UNLOCK(&setup->lock);
    if (OMPI_SUCCESS == rc && NULL != key->sizes.counts.at) {
        OPAL_THREAD_LOCK(&context->lock);
        if (*plan != context->last) {
            set_last(context, *plan);
        }
        OPAL_THREAD_UNLOCK(&context->lock);
    }
    return rc;
}

void mca_coll_pipering_last_drop(mca_coll_pipering_context_t *context)
{
    set_last(context, NULL);
}

void mca_coll_pipering_plans_drop(mca_coll_pipering_setup_t *setup)
{
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        forget(setup, i);
    }
}
