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

#include "predict.h"

#include <math.h>

/* As coll_pipering_serve.c makes it. */
static mca_coll_pipering_key_t key_of(const predict_t *predict)
{
    const predict_call_t *call = &predict->call;
    const bool vector = !predict_has_parts(call);
    const bool moves = !mca_coll_pipering_combines(call->collective);

    return (mca_coll_pipering_key_t){
        .collective = call->collective,
        .params = predict->params,
        .ordered = call->ordered,
        .order_matters = !moves && !call->exact,
        .root = MCA_COLL_PIPERING_BCAST == call->collective
                        || MCA_COLL_PIPERING_REDUCE == call->collective
                    ? call->root
                    : 0,
        .sizes = {.counts = {.at = call->counts},
                  .count = vector ? call->total / call->element : 0,
                  .scale = moves ? call->element : 1,
                  .unit = moves ? 1 : call->element,
                  .parts = vector ? 1 : call->ranks}};
}

/* The plan by one algorithm; NULL: there is no memory, or another one stands in for it. */
static mca_coll_pipering_plan_t *make_by(mca_coll_pipering_key_t key,
                                         const mca_coll_pipering_situation_t *at,
                                         const mca_coll_pipering_row_t *row)
{
    key.params.algorithm = (int) row->algorithm;
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(&key, at);

    if (NULL != plan && plan->row != row) {
        mca_coll_pipering_plan_release(plan);
        plan = NULL;
    }
    return plan;
}

/* ---- all algorithms ---- */

static void add(predict_outcomes_t *outcomes, mca_coll_pipering_plan_t *plan)
{
    outcomes->of[outcomes->count++]
        = (predict_outcome_t){.algorithm = plan->row->value,
                              .plan = plan,
                              .block = mca_coll_pipering_in_rounds(plan->row)
                                           ? 0
                                           : plan->block_size * plan->key.sizes.unit,
                              .rounds = plan->rounds,
                              .seconds = plan->time};
}

static void add_all(const mca_coll_pipering_key_t *key, const mca_coll_pipering_situation_t *at,
                    predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_row_t *row = NULL;

    while (NULL != (row = mca_coll_pipering_next_row(key->collective, row))
           && PREDICT_OUTCOMES > outcomes->count) {
        mca_coll_pipering_plan_t *plan = make_by(*key, at, row);
        if (NULL != plan) {
            add(outcomes, plan);
        }
    }
}

/* ---- what is chosen ---- */

static mca_coll_pipering_reason_t judge_early(const predict_t *predict,
                                              const mca_coll_pipering_key_t *key,
                                              const mca_coll_pipering_situation_t *at)
{
    const mca_coll_pipering_params_t *params = &predict->params;
    const predict_call_t *call = &predict->call;

    if (MCA_COLL_PIPERING_OFF == params->algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    if (mca_coll_pipering_is_below(key, at, call->total)) {
        return MCA_COLL_PIPERING_FALLBACK_SMALL;
    }
    return mca_coll_pipering_is_local(call->collective, params->algorithm, at)
               ? MCA_COLL_PIPERING_FALLBACK_LOCAL
               : MCA_COLL_PIPERING_TAKEN;
}

/* The component's own choice takes the place of its algorithm's plan, which is the same. */
static bool find_chosen(const predict_t *predict, const mca_coll_pipering_key_t *key,
                        const mca_coll_pipering_situation_t *at, predict_outcomes_t *outcomes)
{
    mca_coll_pipering_key_t free_key = *key;

    if (MCA_COLL_PIPERING_OFF == free_key.params.algorithm) {
        free_key.params.algorithm = MCA_COLL_PIPERING_AUTO;
    }
    mca_coll_pipering_plan_t *plan = mca_coll_pipering_plan_new(&free_key, at);
    if (NULL == plan) {
        return predict_refuse("there is no memory for a plan of %d ranks", at->ranks);
    }
    const mca_coll_pipering_reason_t early = judge_early(predict, key, at);
    const mca_coll_pipering_reason_t reason = MCA_COLL_PIPERING_TAKEN == early ? plan->reason
                                                                               : early;
    outcomes->served = MCA_COLL_PIPERING_TAKEN == reason;
    outcomes->reason = mca_coll_pipering_reasons[reason].text;
    for (int i = 0; i < outcomes->count; ++i) {
        if (plan->row == outcomes->of[i].plan->row) {
            outcomes->chosen = i;
        }
    }
    mca_coll_pipering_plan_release(plan);
    return true;
}

/* ---- the limit ---- */

/* The least that a node contributes, or gets of a result, in bytes; and the most. */
static double least_of_nodes(const predict_call_t *call, double *most)
{
    double least = HUGE_VAL;

    *most = 0;
    for (int node = 0; node < call->ranks; ++node) {
        double sum = 0;
        if (node == call->node_of[node]) {
            const int step = call->by_node ? call->nodes : 1;
            for (int r = node, i = 0; r < call->ranks && i < call->ppn; r += step, ++i) {
                sum += (double) call->counts[r] * (double) call->element;
            }
            least = fmin(least, sum);
            *most = fmax(*most, sum);
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
    double most;

    if (2 > call->nodes) {
        return 0;
    }
    if (predict_has_parts(call)) {
        const double least = least_of_nodes(call, &most);
        return beta * (mca_coll_pipering_combines(call->collective) ? fmax(total - least, most)
                                                                    : total - least);
    }
    return total * beta
           * (MCA_COLL_PIPERING_ALLREDUCE == call->collective ? 2 * (n - 1) / n : 1);
}

bool predict_run(const predict_t *predict, predict_outcomes_t *outcomes)
{
    const mca_coll_pipering_situation_t at = predict_situation(predict);
    const mca_coll_pipering_key_t key = key_of(predict);

    outcomes->limit = limit_of(predict) / predict_corner_links(&predict->call);
    add_all(&key, &at, outcomes);
    return find_chosen(predict, &key, &at, outcomes);
}

void predict_free(predict_outcomes_t *outcomes)
{
    for (int i = 0; i < outcomes->count; ++i) {
        if (NULL != outcomes->of[i].plan) {
            mca_coll_pipering_plan_release(outcomes->of[i].plan);
        }
    }
}

/* ---- where the time goes ---- */

/* The modelled time of the same blocks at other costs. */
static double time_at(const predict_outcome_t *outcome, mca_coll_pipering_situation_t at,
                      const mca_coll_pipering_machine_t *machine)
{
    mca_coll_pipering_key_t key = outcome->plan->key;

    at.machine = machine;
    key.params.block_size = outcome->block;
    mca_coll_pipering_plan_t *plan = make_by(key, &at, outcome->plan->row);
    const double time = NULL == plan ? outcome->seconds : plan->time;
    if (NULL != plan) {
        mca_coll_pipering_plan_release(plan);
    }
    return time;
}

#define BIT(value) (1u << MCA_COLL_PIPERING_##value)

/* Values of the machine by what they cost. */
static const struct {
    const char *name, *meaning;
    unsigned values;
} costs[] = {
    {"node link", "links inside nodes",
     BIT(LOCAL_ALPHA) | BIT(LOCAL_BETA) | BIT(LOCAL_LATENCY) | BIT(LOCAL_GAP)},
    {"combining", "operations of a reduction", BIT(COMBINE)},
    {"handshakes", "blocks above the eager bound", BIT(NET_EAGER) | BIT(NET_HANDSHAKE)},
    {"latency", "blocks on their way", BIT(NET_LATENCY) | BIT(LOCAL_LATENCY)},
    {"handling", "what a block costs besides its bytes",
     BIT(NET_ALPHA) | BIT(NET_GAP) | BIT(NET_COPY) | BIT(LOCAL_ALPHA) | BIT(LOCAL_GAP)},
    {"headers", "bytes around the data", BIT(NET_ENVELOPE) | BIT(NET_PACKET) | BIT(NET_FRAME)},
};

static void add_part(predict_outcome_t *outcome, const char *name, const char *meaning,
                     double seconds)
{
    outcome->part[outcome->parts++] = (predict_part_t){name, meaning, seconds};
}

/*
 * Each cost is taken away in turn, and the modelled time falls by its part. Bytes of data are left:
 * what the busiest link must carry, and links that are idle while the pipeline fills. On one node
 * its links are all there are, so they stay.
 */
void predict_split(const predict_t *predict, double limit, predict_outcome_t *outcome)
{
    const mca_coll_pipering_situation_t at = predict_situation(predict);
    mca_coll_pipering_machine_t left = predict->machine.of;
    double time = outcome->seconds;

    for (size_t i = 2 > at.nodes; i < sizeof(costs) / sizeof(costs[0]); ++i) {
        for (int value = 0; MCA_COLL_PIPERING_MACHINE_VALUES > value; ++value) {
            left.value[value] *= 0 == (costs[i].values & 1u << value);
        }
        const double rest = fmin(time, time_at(outcome, at, &left));
        add_part(outcome, costs[i].name, costs[i].meaning, time - rest);
        time = rest;
    }
    const double transfer = 1 < at.nodes ? fmin(time, limit) : time;
    if (1 < at.nodes) {
        add_part(outcome, "fill", "idle links while the pipeline fills, or bytes sent twice",
                 time - transfer);
    }
    add_part(outcome, "transfer", "bytes that the busiest link must carry", transfer);
}
