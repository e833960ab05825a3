/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "sim.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const mca_coll_pipering_cost_t sim_rounds_cost = {.net = {.alpha = 1}, .local = {.alpha = 1}};

/* Which blocks each rank has. */
typedef struct sim_t {
    const sim_problem_t *problem;
    sim_result_t *result;
    int p;
    uint64_t *base;   /* [p + 1] number of the first block of a rank */
    uint64_t *blocks; /* [p] that a rank has received */
    bool *has;        /* [p * b'] */
} sim_t;

static void take_memory(sim_t *sim)
{
    const size_t p = (size_t) sim->p;

    for (int r = 0; r < sim->p; r++) {
        const int ins = sim->problem->routes[r].ins;

        sim->result->links = ins > sim->result->links ? ins : sim->result->links;
    }
    sim->result->in = calloc(p * (size_t) sim->result->links + 1, sizeof(*sim->result->in));
    sim->base = calloc(p + 1, sizeof(*sim->base));
    sim->blocks = calloc(p, sizeof(*sim->blocks));
    assert(sim->result->in && sim->base && sim->blocks);
    for (int r = 0; r < sim->p; r++) {
        const size_t bytes = sim->problem->bytes[r], size = sim->problem->block_size;

        sim->base[r + 1] = sim->base[r] + bytes / size + (0 != bytes % size);
    }
    sim->has = calloc(p * sim->base[p] + 1, sizeof(*sim->has));
    assert(sim->has);
    for (int r = 0; r < sim->p; r++) {
        memset(&sim->has[(uint64_t) r * sim->base[p] + sim->base[r]], true,
               sim->base[r + 1] - sim->base[r]);
    }
}

/* However a contribution is cut, block k begins behind k - 1 sizes, and not behind k of them. */
static uint64_t number_of(const sim_t *sim, const mca_coll_pipering_block_t *block)
{
    const size_t size = sim->problem->block_size;

    return sim->base[block->rank] + block->offset / size + (0 != block->offset % size);
}

static void note(void *context, const executor_message_t *message)
{
    sim_t *sim = context;
    mca_coll_pipering_volume_t *volume
        = &sim->result->in[message->to * sim->result->links + message->link];
    bool *has = &sim->has[(uint64_t) message->to * sim->base[sim->p]
                          + number_of(sim, &message->block)];

    if (*has && '\0' == sim->result->error[0]) {
        snprintf(sim->result->error, sizeof(sim->result->error),
                 "rank %d gets bytes %zu.. of rank %d again", message->to, message->block.offset,
                 message->block.rank);
    }
    *has = true;
    volume->blocks++;
    volume->bytes += message->block.length;
    sim->blocks[message->to]++;
    sim->result->arrived++;
}

/* Everybody has everything. */
static bool check_end(sim_t *sim)
{
    for (int r = 0; r < sim->p; r++) {
        const uint64_t lacks = sim->base[sim->p] - (sim->base[r + 1] - sim->base[r]);

        if (sim->blocks[r] != lacks && '\0' == sim->result->error[0]) {
            snprintf(sim->result->error, sizeof(sim->result->error),
                     "rank %d got %llu blocks of %llu", r, (unsigned long long) sim->blocks[r],
                     (unsigned long long) lacks);
        }
    }
    return '\0' == sim->result->error[0];
}

static bool run(sim_t *sim, const int *node_of)
{
    const sim_problem_t *problem = sim->problem;
    const executor_problem_t call = {.ranks = sim->p,
                                     .pipes = 1,
                                     .routes = problem->routes,
                                     .bytes = problem->bytes,
                                     .block_size = problem->block_size,
                                     .unit = 1,
                                     .node_of = node_of,
                                     .slots = problem->slots,
                                     .machine = {.cost = problem->cost, .wiring = EXECUTOR_FREE},
                                     .seen = note,
                                     .context = sim};
    executor_result_t executed;
    const bool good = executor_run(&call, &executed);

    if ('\0' == sim->result->error[0]) {
        memcpy(sim->result->error, executed.error, sizeof(executed.error));
    }
    sim->result->finish = executed.finish;
    sim->result->done = executed.done;
    return good && check_end(sim);
}

bool sim_run(const sim_problem_t *problem, sim_result_t *result)
{
    const mca_coll_pipering_ring_t *ring = problem->ring;
    sim_t sim = {.problem = problem, .result = result, .p = ring->size};
    int *node_of = malloc((size_t) ring->size * sizeof(*node_of));
    bool good;

    assert(node_of);
    memset(result, 0, sizeof(*result));
    take_memory(&sim);
    for (int x = 0; x < ring->size; x++) {
        node_of[ring->rank[x]] = ring->rank[ring->first[ring->node[x]]];
    }
    good = run(&sim, node_of);
    free(node_of);
    free(sim.base);
    free(sim.blocks);
    free(sim.has);
    return good;
}

void sim_free(sim_result_t *result)
{
    free(result->done);
    free(result->in);
    memset(result, 0, sizeof(*result));
}

/* ---- plans ---- */

mca_coll_pipering_route_t *sim_routes(int p)
{
    const int links = MCA_COLL_PIPERING_ROUTE_LINKS;
    void *memory = malloc(mca_coll_pipering_routes_size(p, links, links));

    assert(memory);
    return mca_coll_pipering_routes_bind(memory, p, links, links);
}

void sim_plan(sim_plan_t *plan, int p, const int *node_of, const uint64_t *blocks, unsigned flags)
{
    void *scratch = malloc(mca_coll_pipering_order_scratch(p));

    plan->memory = malloc(mca_coll_pipering_ring_size(p));
    plan->routes = sim_routes(p);
    assert(scratch && plan->memory);
    mca_coll_pipering_ring_bind(&plan->ring, p, plan->memory);
    mca_coll_pipering_order(&plan->ring, node_of, blocks, flags, scratch);
    for (int r = 0; r < p; r++) {
        mca_coll_pipering_route(&plan->routes[r], &plan->ring, r);
    }
    free(scratch);
}

void sim_plan_free(sim_plan_t *plan)
{
    free(plan->routes);
    free(plan->memory);
}
