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
 * The choice: rows of the registry, weighed by one model, and whether the best of them is
 * worth it.
 *
 * Which algorithm serves a reduction, or none, sets the order in which values are combined, and
 * with it the bits of a sum of floating-point values. So for a reproducible call the model is
 * asked with nominal costs, and what is measured chooses the block size only.
 */

#include "coll_pipering_draft.h"

#include <math.h>

/*
 * Nominal costs: TCP over Ethernet of 1 Gbit/s. What counts is the bytes that pass in the
 * time of a block, 1250; faster networks have 10 times as many, slower ones half.
 */
static const mca_coll_pipering_cost_t nominal_cost
    = {.net = {.alpha = 10e-6, .beta = 8e-9, .latency = 10e-6, .overlap = true, .gap = 1e-6},
       .local = {.alpha = 1e-6, .beta = 1e-10, .latency = 1e-6, .overlap = true, .gap = 1e-6}};
#define NOMINAL_COMBINE 2e-10

/* Most ranks per processor for which a node has processors enough. */
#define LOCAL_LOAD 2

/* ---- whether it is worth it ---- */

static bool is_forced(const mca_coll_pipering_key_t *key)
{
    return key->must_take || key->wanted || MCA_COLL_PIPERING_AUTO != key->params.algorithm;
}

static bool pays_on_one_node(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_collective_row_t *row
        = mca_coll_pipering_collective_row(plan->key.collective);
    const size_t fill = (size_t) (draft->ranks - 1) * MCA_COLL_PIPERING_LOCAL_BLOCK;
    const size_t fills = (size_t) (LOCAL_LOAD < draft->load ? row->fills_loaded : row->fills);

    return 0 < fills && plan->total >= fills * fill
           && mca_coll_pipering_can_share(&plan->key.params,
                                          plan->cut.block_size * plan->key.sizes.unit);
}

/* Two ranks send each other one message below, which blocks of it cannot beat. */
static bool is_exchange_of_two(const mca_coll_pipering_draft_t *draft)
{
    return 2 == draft->ranks && 2 == draft->nodes
           && mca_coll_pipering_collective_row(draft->plan->key.collective)->gathers;
}

static mca_coll_pipering_reason_t judge(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;

    if (is_forced(&plan->key)) {
        return MCA_COLL_PIPERING_TAKEN;
    }
    if (2 > draft->nodes) {
        return pays_on_one_node(draft) ? MCA_COLL_PIPERING_TAKEN
                                       : MCA_COLL_PIPERING_FALLBACK_LOCAL;
    }
    if (is_exchange_of_two(draft)) {
        return MCA_COLL_PIPERING_FALLBACK_MODEL;
    }
    const mca_coll_pipering_factors_t *factors = draft->cost.net.factors;
    const mca_coll_pipering_forecast_t forecast = mca_coll_pipering_plan_forecast(plan);
    /* rounds that do not pay by the model have not beaten a pipeline */
    const double slack = mca_coll_pipering_in_rounds(plan->row) ? HUGE_VAL
                                                                : MCA_COLL_PIPERING_RIVAL_SLACK;
    const bool pays = MCA_COLL_PIPERING_BY_OTHER == mca_coll_pipering_server(plan->row)
                          ? mca_coll_pipering_factors_other_pays(factors, &forecast, slack)
                          : mca_coll_pipering_factors_pay(factors, &forecast, slack);
    return pays ? MCA_COLL_PIPERING_TAKEN : MCA_COLL_PIPERING_FALLBACK_MODEL;
}

/* ---- rows ---- */

static void plan_by(mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row)
{
    draft->plan->row = row;
    draft->plan->hops = draft->nodes - 1;
    row->plan(draft);
}

static bool can_serve(const mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row)
{
    return (NULL == row->room || NULL != draft->ways) && (NULL == row->can || row->can(draft));
}

/* The row that the user has forced, or what stands in for it; NULL: none. */
static const mca_coll_pipering_row_t *forced_row(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_key_t *key = &draft->plan->key;
    const mca_coll_pipering_row_t *row = mca_coll_pipering_find_row(key->collective,
                                                                    key->params.algorithm);

    while (NULL != row && !can_serve(draft, row)) {
        row = mca_coll_pipering_find_row(key->collective, row->instead);
    }
    return row;
}

static bool is_weighed(const mca_coll_pipering_draft_t *draft, const mca_coll_pipering_row_t *row)
{
    return !row->forced && can_serve(draft, row) && (NULL == row->suits || row->suits(draft));
}

/* The modelled times of a pipeline and of the other way. */
static mca_coll_pipering_forecast_t compare(const mca_coll_pipering_plan_t *pipeline,
                                            const mca_coll_pipering_plan_t *other)
{
    mca_coll_pipering_forecast_t forecast = mca_coll_pipering_plan_forecast(pipeline);

    forecast.other_time = other->time;
    return forecast;
}

/* Rows of one way by the model; of two as lessons want it, or by what they have measured. */
static bool beats(const mca_coll_pipering_draft_t *draft, const mca_coll_pipering_plan_t *best)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_factors_t *factors = draft->cost.net.factors;
    const mca_coll_pipering_server_t its = mca_coll_pipering_server(plan->row);
    const bool modelled = NULL == plan->row->beats ? plan->time < best->time
                                                   : plan->row->beats(draft, best);

    if (its == mca_coll_pipering_server(best->row)) {
        return modelled;
    }
    if (MCA_COLL_PIPERING_BY_ANY != plan->key.wanted) {
        return its == plan->key.wanted;
    }
    const bool other = MCA_COLL_PIPERING_BY_OTHER == its;
    const mca_coll_pipering_forecast_t forecast = other ? compare(best, plan)
                                                        : compare(plan, best);
    return other == mca_coll_pipering_factors_other_beats(factors, &forecast, other == modelled);
}

/* What lessons ask of the best of each way. */
static void note_modelled(mca_coll_pipering_plan_t *plan)
{
    if (MCA_COLL_PIPERING_BY_PIPELINE == mca_coll_pipering_server(plan->row)) {
        if (0 == plan->pipeline_time || plan->time < plan->pipeline_time) {
            plan->pipeline_time = plan->time;
            plan->pipeline_block = plan->cut.block_size;
        }
    } else if (0 == plan->other_time || plan->time < plan->other_time) {
        plan->other_time = plan->time;
    }
}

/*
 * The plan that was the best so far again, with what is noted of the one that lost, whose pipelines
 * may have taken its places.
 */
static void take_back(mca_coll_pipering_draft_t *draft, const mca_coll_pipering_plan_t *best)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    if (mca_coll_pipering_in_rounds(plan->row)) {
        const double other_time = plan->other_time;
        *plan = *best;
        plan->other_time = other_time;
    } else {
        plan_by(draft, best->row);
    }
}

static void plan_by_best(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_collective_t collective = plan->key.collective;
    const mca_coll_pipering_row_t *row = mca_coll_pipering_next_row(collective, NULL);

    plan_by(draft, row);
    note_modelled(plan);
    while (NULL != (row = mca_coll_pipering_next_row(collective, row))) {
        if (is_weighed(draft, row)) {
            const mca_coll_pipering_plan_t best = *plan;
            plan_by(draft, row);
            note_modelled(plan);
            if (!beats(draft, &best)) {
                take_back(draft, &best);
            }
        }
    }
}

static void choose(mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_row_t *row = forced_row(draft);

    if (NULL == row) {
        plan_by_best(draft);
    } else {
        plan_by(draft, row);
    }
    draft->plan->reason = judge(draft);
}

/*
 * Vectors that are short for a chain of so many nodes, or a tree of that depth. Where links are
 * slow a pipeline would gain there, but where they are fast it loses more, and what is measured has
 * no say.
 */
static bool is_short(const mca_coll_pipering_draft_t *draft)
{
    const mca_coll_pipering_key_t *key = &draft->plan->key;

    return !key->must_take && MCA_COLL_PIPERING_AUTO == key->params.algorithm && 1 < draft->nodes
           && draft->plan->total < (size_t) draft->plan->hops * key->params.min_total;
}

/*
 * The choice by nominal costs, cut into blocks by measured ones; but streams along a mesh combine
 * in orders of their own, and the size of a block says which elements go along which stream.
 */
static void choose_by_nominal(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_draft_t nominal = *draft;

    nominal.cost = nominal_cost;
    nominal.combine = NOMINAL_COMBINE;
    choose(&nominal);
    if (NULL != draft->plan->row->room) {
        draft->nominal_block = draft->plan->cut.block_size * draft->plan->key.sizes.unit;
    }
    plan_by(draft, draft->plan->row);
    if (MCA_COLL_PIPERING_TAKEN == draft->plan->reason && is_short(draft)) {
        draft->plan->reason = MCA_COLL_PIPERING_FALLBACK_SHORT;
    }
}

void mca_coll_pipering_choose(mca_coll_pipering_draft_t *draft)
{
    if (draft->plan->key.reproducible) {
        choose_by_nominal(draft);
    } else {
        choose(draft);
    }
}
