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
 * Plans a call by each algorithm, with the functions of the component.
 */

#define _POSIX_C_SOURCE 200809L

#include "predict.h"

#include <math.h>
#include <time.h>

static double now(void)
{
    struct timespec time;

    (void) clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

static bool gathers(const predict_call_t *call)
{
    return mca_coll_pipering_collective_row(call->collective)->gathers;
}

/* As coll_pipering_serve.c makes it. */
static mca_coll_pipering_key_t key_of(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;
    const bool vector = !gathers(call), moves = !vector
                                                || MCA_COLL_PIPERING_BCAST == call->collective;

    return (mca_coll_pipering_key_t){
        .collective = call->collective,
        .params = predict->params,
        .ordered = call->ordered,
        .order_matters = !moves && !call->exact,
        .root = MCA_COLL_PIPERING_BCAST == call->collective
                        || MCA_COLL_PIPERING_REDUCE == call->collective
                    ? call->root
                    : 0,
        .sizes = {.counts = call->counts,
                  .count = vector ? call->total / call->element : 0,
                  .scale = moves ? call->element : 1,
                  .unit = moves ? 1 : call->element,
                  .parts = vector ? 1 : call->ranks}};
}

static mca_coll_pipering_plan_t *make(const mca_coll_pipering_key_t *key,
                                      const mca_coll_pipering_facts_t *facts)
{
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(facts->ranks, facts->ways, key);

    if (NULL != plan && !mca_coll_pipering_plan_make(plan, facts)) {
        mca_coll_pipering_plan_release(plan);
        plan = NULL;
    }
    return plan;
}

/* The plan by one algorithm; NULL: there is no memory, or another one stands in for it. */
static mca_coll_pipering_plan_t *make_by(mca_coll_pipering_key_t key,
                                         const mca_coll_pipering_facts_t *facts,
                                         const mca_coll_pipering_row_t *row)
{
    key.params.algorithm = (int) row->algorithm;
    mca_coll_pipering_plan_t *plan = make(&key, facts);

    if (NULL != plan && plan->row != row) {
        mca_coll_pipering_plan_release(plan);
        plan = NULL;
    }
    return plan;
}

/* ---- all algorithms ---- */

static void add(predict_outcomes_t *outcomes, mca_coll_pipering_plan_t *plan)
{
    predict_outcome_t *outcome = &outcomes->of[outcomes->count++];

    *outcome = (predict_outcome_t){.row = plan->row, .plan = plan};
    outcome->block = mca_coll_pipering_in_rounds(plan->row) ? 0
                                                            : plan->block_size
                                                                  * plan->key.sizes.unit;
}

static void add_all(const mca_coll_pipering_key_t *key, const mca_coll_pipering_facts_t *facts,
                    predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_row_t *row = NULL;

    while (NULL != (row = mca_coll_pipering_next_row(key->collective, row))
           && PREDICT_OUTCOMES > outcomes->count) {
        mca_coll_pipering_plan_t *plan = make_by(*key, facts, row);
        if (NULL != plan) {
            add(outcomes, plan);
        }
    }
}

/* ---- what is chosen ---- */

static mca_coll_pipering_reason_t judge_early(const predict_t *predict)
{
    const mca_coll_pipering_params_t *params = &predict->params;
    const predict_call_t *call = &predict->call;

    if (MCA_COLL_PIPERING_OFF == params->algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    if (mca_coll_pipering_is_below(params->algorithm, params->min_total, call->total)) {
        return MCA_COLL_PIPERING_FALLBACK_SMALL;
    }
    return mca_coll_pipering_is_local(call->collective, params->algorithm, call->nodes)
               ? MCA_COLL_PIPERING_FALLBACK_LOCAL
               : MCA_COLL_PIPERING_TAKEN;
}

/* The component's own choice takes the place of its algorithm's plan, which is the same. */
static bool find_chosen(const predict_t *predict, const mca_coll_pipering_key_t *key,
                        const mca_coll_pipering_facts_t *facts, predict_outcomes_t *outcomes)
{
    mca_coll_pipering_key_t free_key = *key;

    if (MCA_COLL_PIPERING_OFF == free_key.params.algorithm) {
        free_key.params.algorithm = MCA_COLL_PIPERING_AUTO;
    }
    mca_coll_pipering_plan_t *plan = make(&free_key, facts);
    if (NULL == plan) {
        return predict_refuse("there is no memory for a plan of %d ranks", facts->ranks);
    }
    const mca_coll_pipering_reason_t early = judge_early(predict);
    outcomes->reason = MCA_COLL_PIPERING_TAKEN == early ? plan->reason : early;
    for (int i = 0; i < outcomes->count; ++i) {
        if (plan->row == outcomes->of[i].row) {
            outcomes->chosen = i;
        }
    }
    mca_coll_pipering_plan_release(plan);
    return true;
}

/* ---- the limit ---- */

/* The least that a node contributes, in bytes. */
static double least_of_nodes(const predict_call_t *call)
{
    double least = HUGE_VAL;

    for (int node = 0; node < call->ranks; ++node) {
        double sum = 0;
        if (node == call->node_of[node]) {
            const int step = call->by_node ? call->nodes : 1;
            for (int r = node, i = 0; r < call->ranks && i < call->ppn; r += step, ++i) {
                sum += (double) call->counts[r] * (double) call->element;
            }
            least = fmin(least, sum);
        }
    }
    return least;
}

/* Seconds in which the data can enter, or leave, the node that has most to move. */
static double limit_of(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;
    const double total = (double) call->total, n = call->nodes;
    const double beta = predict_cost(predict).net.beta;

    if (2 > call->nodes) {
        return 0;
    }
    if (gathers(call)) {
        return (total - least_of_nodes(call)) * beta;
    }
    return total * beta
           * (MCA_COLL_PIPERING_ALLREDUCE == call->collective ? 2 * (n - 1) / n : 1);
}

bool predict_run(const predict_t *predict, predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_facts_t facts = predict_facts(predict);
    const mca_coll_pipering_key_t key = key_of(predict);
    const double begun = now();

    *outcomes = (predict_outcomes_t){.chosen = -1};
    outcomes->limit = limit_of(predict) / predict_corner_links(&predict->call);
    add_all(&key, &facts, outcomes);
    if (!find_chosen(predict, &key, &facts, outcomes)) {
        return false;
    }
    outcomes->seconds = now() - begun;
    for (int i = 0; i < outcomes->count; ++i) {
        const double started = now();
        if (!predict_execute(predict, &outcomes->of[i])) {
            return false;
        }
        outcomes->of[i].seconds = now() - started;
    }
    return true;
}

void predict_free(predict_outcomes_t *outcomes)
{
    for (int i = 0; i < outcomes->count; ++i) {
        mca_coll_pipering_plan_release(outcomes->of[i].plan);
        executor_free(&outcomes->of[i].result);
    }
}

/* ---- where the time goes ---- */

/* What the modelled time of an outcome rests on, while costs are taken away. */
typedef struct {
    mca_coll_pipering_machine_t machine;
    mca_coll_pipering_params_t params;
} rest_t;

/* The modelled time of the same blocks at other costs. */
static double time_at(const predict_outcome_t *outcome, mca_coll_pipering_facts_t facts,
                      const rest_t *rest)
{
    mca_coll_pipering_key_t key = outcome->plan->key;

    facts.machine = &rest->machine;
    key.params = rest->params;
    key.params.block_size = outcome->block;
    mca_coll_pipering_plan_t *plan = make_by(key, &facts, outcome->row);
    const double time = NULL == plan ? outcome->plan->time : plan->time;
    if (NULL != plan) {
        mca_coll_pipering_plan_release(plan);
    }
    return time;
}

static void take_away(rest_t *rest, int first, int last)
{
    for (int i = first; i <= last; ++i) {
        rest->machine.value[i] = 0;
    }
}

static void free_of_local(rest_t *rest)
{
    take_away(rest, MCA_COLL_PIPERING_LOCAL_ALPHA, MCA_COLL_PIPERING_LOCAL_GAP);
}

static void free_of_combining(rest_t *rest)
{
    take_away(rest, MCA_COLL_PIPERING_COMBINE, MCA_COLL_PIPERING_COMBINE);
}

static void free_of_handshakes(rest_t *rest)
{
    take_away(rest, MCA_COLL_PIPERING_NET_EAGER, MCA_COLL_PIPERING_NET_HANDSHAKE);
}

static void free_of_latency(rest_t *rest)
{
    take_away(rest, MCA_COLL_PIPERING_NET_LATENCY, MCA_COLL_PIPERING_NET_LATENCY);
    take_away(rest, MCA_COLL_PIPERING_LOCAL_LATENCY, MCA_COLL_PIPERING_LOCAL_LATENCY);
}

static void free_of_handling(rest_t *rest)
{
    take_away(rest, MCA_COLL_PIPERING_NET_ALPHA, MCA_COLL_PIPERING_NET_ALPHA);
    take_away(rest, MCA_COLL_PIPERING_NET_GAP, MCA_COLL_PIPERING_NET_GAP);
    take_away(rest, MCA_COLL_PIPERING_NET_COPY, MCA_COLL_PIPERING_NET_COPY);
    take_away(rest, MCA_COLL_PIPERING_LOCAL_ALPHA, MCA_COLL_PIPERING_LOCAL_ALPHA);
    take_away(rest, MCA_COLL_PIPERING_LOCAL_GAP, MCA_COLL_PIPERING_LOCAL_GAP);
}

static void free_of_headers(rest_t *rest)
{
    take_away(rest, MCA_COLL_PIPERING_NET_ENVELOPE, MCA_COLL_PIPERING_NET_FRAME);
}

static const struct {
    const char *name, *meaning;
    void (*take)(rest_t *rest);
} costs[] = {
    {"node link", "links inside nodes", free_of_local},
    {"combining", "operations of a reduction", free_of_combining},
    {"handshakes", "blocks above the eager bound", free_of_handshakes},
    {"latency", "blocks on their way", free_of_latency},
    {"handling", "what a block costs besides its bytes", free_of_handling},
    {"headers", "bytes around the data", free_of_headers},
};

/*
 * Each cost is taken away in turn, and the modelled time falls by its part. Bytes of data are left:
 * what the busiest link must carry, and links that are idle while the pipeline fills. On one node
 * its links are all there are, so they stay.
 */
int predict_split(const predict_t *predict, const predict_outcomes_t *outcomes,
                  const predict_outcome_t *outcome, predict_part_t *parts)
{
    const mca_coll_pipering_facts_t facts = predict_facts(predict);
    rest_t left = {.machine = predict->machine.of, .params = outcome->plan->key.params};
    double time = outcome->plan->time;
    int count = 0;

    for (size_t i = 0; i < sizeof(costs) / sizeof(costs[0]); ++i) {
        if (free_of_local == costs[i].take && 2 > facts.nodes) {
            continue;
        }
        costs[i].take(&left);
        const double rest = fmin(time, time_at(outcome, facts, &left));
        parts[count++] = (predict_part_t){costs[i].name, costs[i].meaning, time - rest};
        time = rest;
    }
    const double transfer = fmin(time, outcomes->limit);
    if (1 < facts.nodes) {
        parts[count++] = (predict_part_t){"fill", "idle links while the pipeline fills, or bytes "
                                                  "sent twice", time - transfer};
    }
    parts[count++] = (predict_part_t){"transfer", "bytes that the busiest link must carry",
                                      1 < facts.nodes ? transfer : time};
    return count;
}
