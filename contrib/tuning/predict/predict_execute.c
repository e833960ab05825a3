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
 * Executes a plan: the routes of all ranks, by the executor.
 */

#include "predict.h"

#include <stdlib.h>

/* Most messages that are followed unasked. */
#define MESSAGES_MOST 2000000

/* Messages of all ranks, if all receive all blocks of each pipe, or its part of them. */
static double count_messages(const predict_t *predict, const predict_outcome_t *outcome)
{
    const mca_coll_pipering_plan_t *plan = outcome->plan;
    const double ranks = predict->call.ranks;
    double streams = 0;

    if (mca_coll_pipering_in_rounds(plan->row)) {
        return ranks * (double) plan->rounds;
    }
    for (int i = 0; i < plan->pipes; ++i) {
        const int parts = plan->route[i].own.parts;
        streams += 1.0 / (1 < parts ? parts : 1);
    }
    return ranks * (double) plan->total / mca_coll_pipering_plan_length(plan) * streams;
}

static executor_machine_t machine_of(const predict_t *predict)
{
    const mca_coll_pipering_cost_t cost = predict_cost(predict);

    const double *value = predict->machine.of.value;

    return (executor_machine_t){.cost = cost,
                                .combine = predict_combine(predict),
                                .bucket = value[MCA_COLL_PIPERING_NET_BUCKET] * cost.net.beta,
                                .handling = 1e-6 * value[MCA_COLL_PIPERING_HANDLING],
                                .wiring = NULL == predict->call.ways
                                              ? (executor_wiring_t) value[MCA_COLL_PIPERING_WIRING]
                                              : EXECUTOR_WIRES};
}

/* ---- pipelines ---- */

static void copy_route(mca_coll_pipering_route_t *to, const mca_coll_pipering_route_t *from)
{
    mca_coll_pipering_in_t *in = to->in;
    mca_coll_pipering_out_t *out = to->out;

    *to = *from;
    to->in = in;
    to->out = out;
    for (int i = 0; i < from->ins; ++i) {
        in[i] = from->in[i];
    }
    for (int i = 0; i < from->outs; ++i) {
        out[i] = from->out[i];
    }
}

/* Links in, or out, that a rank has in a pipe at most. */
static int most_links(const predict_t *predict, const mca_coll_pipering_row_t *row)
{
    int pipes, links = row->links;

    if (NULL != predict->call.ways && NULL != row->room) {
        row->room(predict->call.ways, &pipes, &links);
    }
    return links;
}

/* Routes of all ranks, pipe by pipe; NULL: there is no memory. */
static mca_coll_pipering_route_t *route_all(const predict_t *predict,
                                            const predict_outcome_t *outcome)
{
    mca_coll_pipering_plan_t *plan = outcome->plan;
    mca_coll_pipering_facts_t facts = predict_facts(predict);
    const int links = most_links(predict, outcome->row), count = plan->pipes * facts.ranks;
    void *memory = malloc(mca_coll_pipering_routes_size(count, links, links));

    if (NULL == memory) {
        return NULL;
    }
    mca_coll_pipering_route_t *routes = mca_coll_pipering_routes_bind(memory, count, links, links);
    for (facts.me = 0; facts.me < facts.ranks; ++facts.me) {
        mca_coll_pipering_plan_route(plan, &facts);
        for (int i = 0; i < plan->pipes; ++i) {
            copy_route(&routes[i * facts.ranks + facts.me], &plan->route[i]);
        }
    }
    return routes;
}

static bool execute_pipes(const predict_t *predict, predict_outcome_t *outcome)
{
    const mca_coll_pipering_plan_t *plan = outcome->plan;
    mca_coll_pipering_route_t *routes = route_all(predict, outcome);
    const executor_problem_t problem = {.ranks = predict->call.ranks,
                                        .pipes = plan->pipes,
                                        .routes = routes,
                                        .bytes = plan->bytes,
                                        .block_size = plan->block_size,
                                        .unit = plan->key.sizes.unit,
                                        .node_of = predict->call.node_of,
                                        .machine = machine_of(predict)};

    if (NULL == routes) {
        return predict_refuse("there is no memory for the routes of %d ranks", problem.ranks);
    }
    const bool good = executor_run(&problem, &outcome->result);
    free(routes);
    return good;
}

static bool execute_rounds(const predict_t *predict, predict_outcome_t *outcome)
{
    const mca_coll_pipering_plan_t *plan = outcome->plan;
    const executor_rounds_t problem = {.grid = &plan->grid,
                                       .bytes = plan->bytes,
                                       .packed = plan->key.params.rounds_packed,
                                       .node_of = predict->call.node_of,
                                       .machine = machine_of(predict)};

    return executor_run_rounds(&problem, &outcome->result);
}

bool predict_execute(const predict_t *predict, predict_outcome_t *outcome)
{
    if (0 == predict->execute
        || (NULL != predict->call.ways
            && (mca_coll_pipering_in_rounds(outcome->row) || !predict_goes_along_mesh(predict, outcome)))
        || (0 > predict->execute && MESSAGES_MOST < count_messages(predict, outcome))) {
        return true;
    }
    outcome->executed = mca_coll_pipering_in_rounds(outcome->plan->row) ? execute_rounds(predict, outcome)
                                                   : execute_pipes(predict, outcome);
    return outcome->executed
           || predict_refuse("%s cannot be executed: %s", outcome->row->text,
                             outcome->result.error);
}
