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

#include "coll_pipering.h"
#include "coll_pipering_lessons.h"
#include "coll_pipering_nodes.h"

#include <stdlib.h>
#include <string.h>

/*
 * Bytes that may be under way on a link: enough for the latency of a node that
 * is not scheduled at once, too few to fill buffers on the way.
 */
#define WINDOW_BYTES ((size_t) 256 * 1024)
#define WINDOW_LEAST 4
#define WINDOW_MOST 64

/* What slots and the time to fill them should not be without end. */
#define BLOCK_MOST ((size_t) 1024 * 1024)

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

static bool serves(const mca_coll_pipering_plan_t *plan, const mca_coll_pipering_key_t *key)
{
    const mca_coll_pipering_key_t *mine = &plan->key;

    /* a nonblocking call's plan may be there on one rank already and not on another */
    return mine->collective == key->collective && mine->must_take == key->must_take
           && mine->wanted == key->wanted && mine->varied == key->varied
           && mine->lessons == key->lessons
           && mine->ordered == key->ordered && mine->reproducible == key->reproducible
           && mine->root == key->root && mine->unit == key->unit
           && same_params(&mine->params, &key->params)
           && 0 == memcmp(mine->sizes, key->sizes, (size_t) key->parts * sizeof(size_t));
}

/* Plans of a communicator are kept as long as they are no more bytes than this, but for one. */
#define PLANS_BYTES ((size_t) 64 * 1024)

/* Pipelines that a call consists of at most, an allreduce. */
#define PIPES 2

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t) 15;
}

static bool is_gather(const mca_coll_pipering_key_t *key)
{
    return MCA_COLL_PIPERING_ALLGATHER >= key->collective;
}

/*
 * Memory of a plan: routes, what each rank contributes, for a gather or a scattered vector, or only
 * the root. Contributions to a gather are its sizes.
 */
static int take_memory(mca_coll_pipering_plan_t *plan, int p, const mca_coll_pipering_key_t *key)
{
    const bool gathers = is_gather(key);
    const int places = gathers || MCA_COLL_PIPERING_ALLREDUCE == key->collective ? p : 1;
    const size_t array = (size_t) places * sizeof(size_t);
    const size_t ring_size = aligned(mca_coll_pipering_ring_size(places));
    const size_t sizes = (size_t) key->parts * sizeof(size_t);
    const int links = MCA_COLL_PIPERING_ROUTE_LINKS;
    const size_t routes_size = aligned(mca_coll_pipering_routes_size(PIPES, links, links));

    plan->size = routes_size + sizes + (gathers ? 1 : 2) * array
                 + (gathers ? 2 : 1) * ring_size;
    plan->memory = malloc(plan->size);
    if (NULL == plan->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    plan->key = *key;
    plan->route = mca_coll_pipering_routes_bind(plan->memory, PIPES, links, links);
    plan->key.sizes = (size_t *) ((char *) plan->memory + routes_size);
    memcpy(plan->key.sizes, key->sizes, sizes);
    plan->bytes = gathers ? plan->key.sizes : plan->key.sizes + key->parts;
    plan->starts = plan->key.sizes + key->parts + (gathers ? 0 : places);
    char *rings = (char *) (plan->starts + places);
    mca_coll_pipering_ring_bind(&plan->ring, places, rings);
    mca_coll_pipering_ring_bind(&plan->by_node, gathers ? p : 1,
                                gathers ? rings + ring_size : rings);
    return OMPI_SUCCESS;
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
    plan->total = 0;
    for (int i = 0; i < key->parts; ++i) {
        plan->total += key->sizes[i] * key->unit;
    }
    return plan;
}

static void order_ring(mca_coll_pipering_draft_t *draft, size_t block_size)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->key.params;
    unsigned flags = 0;

    if (MCA_COLL_PIPERING_LINEAR_RING != params->algorithm) {
        flags = (params->reorder_nodes ? MCA_COLL_PIPERING_ORDER_NODES : 0)
                | (params->reorder_empties ? MCA_COLL_PIPERING_ORDER_EMPTIES : 0);
    }
    for (int r = 0; r < plan->ring.size; ++r) {
        draft->blocks[r] = mca_coll_pipering_blocks(plan->bytes[r], block_size);
    }
    mca_coll_pipering_order(&plan->ring, draft->node_of, draft->blocks, flags,
                            draft->order_scratch);
}

static size_t largest_of(const mca_coll_pipering_plan_t *plan)
{
    size_t largest = 1;

    for (int r = 0; r < plan->ring.size; ++r) {
        largest = plan->bytes[r] > largest ? plan->bytes[r] : largest;
    }
    return largest;
}

/*
 * The order depends on the blocks and their best size on the order: so a first
 * order comes from equation (2), and the last one from the size that is chosen.
 */
static size_t choose_block_size(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->key.params;

    plan->equation2 = mca_coll_pipering_equation2(&draft->problem, false);
    if (MCA_COLL_PIPERING_LINEAR_RING == params->algorithm) {
        return largest_of(plan);
    }
    if (0 < params->block_size) {
        return params->block_size;
    }
    if (MCA_COLL_PIPERING_MODEL_EQUATION2 == params->block_model) {
        return plan->equation2;
    }
    if (MCA_COLL_PIPERING_MODEL_EQUATION2_PRINTED == params->block_model) {
        return mca_coll_pipering_equation2(&draft->problem, true);
    }
    order_ring(draft, plan->equation2);
    return mca_coll_pipering_bound_block(draft, mca_coll_pipering_search(&draft->problem));
}

bool mca_coll_pipering_can_share(const mca_coll_pipering_params_t *params, size_t block_bytes)
{
    return mca_coll_pipering_fifo_carries(params->ring_buffer_size, block_bytes);
}

size_t mca_coll_pipering_bound_block(const mca_coll_pipering_draft_t *draft, size_t bytes)
{
    const size_t most = 2 > draft->nodes && 0 < draft->plan->key.params.ring_buffer_size
                            ? MCA_COLL_PIPERING_LOCAL_BLOCK
                            : BLOCK_MOST;
    return bytes < most ? bytes : most;
}

unsigned mca_coll_pipering_choose_window(const mca_coll_pipering_params_t *params,
                                         size_t block_bytes)
{
    size_t window = (WINDOW_BYTES + block_bytes - 1) / block_bytes;

    if (0 < params->window) {
        return params->window < 2 ? 2 : (unsigned) params->window;
    }
    window = window < WINDOW_LEAST ? WINDOW_LEAST : window;
    return (unsigned) (window > WINDOW_MOST ? WINDOW_MOST : window);
}

static void add_volume(mca_coll_pipering_volume_t *sum, mca_coll_pipering_volume_t more)
{
    sum->blocks += more.blocks;
    sum->bytes += more.bytes;
}

double mca_coll_pipering_plan_length(const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_stream_t all = {.position = 0, .origins = plan->ring.size};
    const mca_coll_pipering_volume_t volume
        = mca_coll_pipering_stream_volume(&plan->ring, plan->bytes, plan->cut, all);

    return (double) plan->total / (double) volume.blocks;
}

mca_coll_pipering_forecast_t mca_coll_pipering_plan_forecast(const mca_coll_pipering_plan_t *plan)
{
    return (mca_coll_pipering_forecast_t){
        .bytes = (double) plan->total,
        .block_size = (double) (plan->cut.block_size * plan->key.unit),
        .time = plan->time,
        .rival_time = plan->rival_time};
}

/* What passes the links of a route. */
static void count_route(mca_coll_pipering_draft_t *draft, mca_coll_pipering_route_t *route)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_route_measure(route, plan->bytes, plan->cut, draft->node_of, draft->me);
    for (int i = 0; i < route->ins; ++i) {
        const mca_coll_pipering_in_t *in = &route->in[i];
        add_volume(&plan->in, in->volume);
        plan->in_from_network += in->local ? 0 : in->volume.bytes * plan->key.unit;
    }
    for (int i = 0; i < route->outs; ++i) {
        add_volume(&plan->out, route->out[i].volume);
    }
}

static void count_rounds(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t packed = plan->key.params.rounds_packed;

    for (int k = 0; k < mca_coll_pipering_grid_rounds(&plan->grid); ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&plan->grid,
                                                                                  draft->me, k);
        const mca_coll_pipering_volume_t in = mca_coll_pipering_grid_volume(
            &plan->grid, draft->me, plan->bytes, packed, round.recv);
        add_volume(&plan->in, in);
        add_volume(&plan->out, mca_coll_pipering_grid_volume(&plan->grid, draft->me, plan->bytes,
                                                             packed, round.send));
        if (draft->node_of[round.from] != draft->node_of[draft->me]) {
            plan->in_from_network += in.bytes;
        }
    }
}

static void count_volumes(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->in = plan->out = (mca_coll_pipering_volume_t){0, 0};
    plan->in_from_network = 0;
    if (mca_coll_pipering_plan_swaps(plan)) {
        count_rounds(draft);
        return;
    }
    for (int i = 0; i < plan->pipes; ++i) {
        count_route(draft, &plan->route[i]);
    }
    plan->in.bytes *= plan->key.unit;
    plan->out.bytes *= plan->key.unit;
}

static inline bool is_forced(const mca_coll_pipering_key_t *key)
{
    return key->must_take || key->wanted || MCA_COLL_PIPERING_AUTO != key->params.algorithm;
}

mca_coll_pipering_reason_t mca_coll_pipering_judge(const mca_coll_pipering_draft_t *draft,
                                                   bool pays_on_one_node)
{
    const mca_coll_pipering_plan_t *plan = draft->plan;

    if (is_forced(&plan->key)) {
        return MCA_COLL_PIPERING_TAKEN;
    }
    if (2 > draft->nodes) {
        return pays_on_one_node ? MCA_COLL_PIPERING_TAKEN : MCA_COLL_PIPERING_FALLBACK_LOCAL;
    }
    /* rounds are chosen only where they pay, and factors are those of pipelines */
    const mca_coll_pipering_forecast_t forecast = mca_coll_pipering_plan_forecast(plan);
    return mca_coll_pipering_plan_swaps(plan)
                   || mca_coll_pipering_factors_pay(draft->cost.net.factors, &forecast,
                                                    MCA_COLL_PIPERING_RIVAL_SLACK)
               ? MCA_COLL_PIPERING_TAKEN
               : MCA_COLL_PIPERING_FALLBACK_MODEL;
}

/* Two ranks send each other one message below, which blocks of it cannot beat. */
static bool is_swap_of_two(const mca_coll_pipering_draft_t *draft)
{
    return 2 == draft->ranks && 2 == draft->nodes && !is_forced(&draft->plan->key);
}

static void decide_ring(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->algorithm = MCA_COLL_PIPERING_LINEAR_RING == plan->key.params.algorithm
                          ? MCA_COLL_PIPERING_LINEAR_RING
                          : MCA_COLL_PIPERING_RING;
    draft->problem.ring = &plan->ring;
    draft->problem.bytes = plan->bytes;
    draft->problem.cost = draft->cost;
    order_ring(draft, largest_of(plan));
    plan->cut.block_size = choose_block_size(draft);
    order_ring(draft, plan->cut.block_size);
    mca_coll_pipering_route(&plan->route[0], &plan->ring, draft->me);
    plan->window = mca_coll_pipering_choose_window(&plan->key.params, plan->cut.block_size);
    plan->rounds = mca_coll_pipering_model_rounds(&draft->problem, plan->cut.block_size);
    plan->time = mca_coll_pipering_time(&draft->problem, plan->cut.block_size);
    plan->rival_time = mca_coll_pipering_rival_time(&draft->problem);
    mca_coll_pipering_decide_rounds(draft);
    /* on one node what is copied in and out at every hop gains nothing over what is copied once */
    plan->reason = mca_coll_pipering_judge(draft, false);
    if (is_swap_of_two(draft)) {
        plan->reason = MCA_COLL_PIPERING_FALLBACK_MODEL;
    }
}

/* What is known where the key was made, which is nothing before the setup is settled. */
static mca_coll_pipering_cost_t cost_of(const mca_coll_pipering_module_t *module,
                                        const mca_coll_pipering_key_t *key, size_t total)
{
    const mca_coll_pipering_rates_t none = {.of = {{0, 0, 0}}};
    const bool knows = 0 < key->lessons;
    mca_coll_pipering_cost_t cost
        = mca_coll_pipering_setup_cost(module->setup,
                                       knows ? mca_coll_pipering_lessons_rates(module) : &none,
                                       &key->params);

    if (knows) {
        cost.net.factors = mca_coll_pipering_lessons_factors(module, key, total);
    }
    return cost;
}

static int make_plan(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                     const mca_coll_pipering_key_t *key, mca_coll_pipering_plan_t **made)
{
    mca_coll_pipering_draft_t draft
        = {.ranks = ompi_comm_size(comm),
           .nodes = mca_coll_pipering_setup_nodes(module->setup),
           .me = ompi_comm_rank(comm),
           .load = mca_coll_pipering_setup_load(module->setup),
           .combine = mca_coll_pipering_setup_combine(module->setup)};
    mca_coll_pipering_plan_t *plan = new_plan(draft.ranks, key, &draft);

    if (NULL == plan) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    draft.plan = plan;
    draft.cost = cost_of(module, key, plan->total);
    mca_coll_pipering_nodes_fill(comm, draft.node_of);
    plan->cut.split = (mca_coll_pipering_split_t) key->params.block_split;
    plan->pipes = 1;
    plan->equation2 = 0;
    if (is_gather(key)) {
        decide_ring(&draft);
    } else {
        mca_coll_pipering_decide_chain(&draft);
    }
    count_volumes(&draft);
    plan->shared = draft.nodes < draft.ranks && !mca_coll_pipering_plan_swaps(plan)
                   && mca_coll_pipering_can_share(&key->params, plan->cut.block_size * key->unit);
    free(draft.blocks);
    mca_common_irregular_count(&mca_coll_pipering_component.counters.plans, 1);
    *made = plan;
    return OMPI_SUCCESS;
}

/* The oldest plans go until there is room for so many bytes more. */
static void make_room(mca_coll_pipering_module_t *module, size_t size)
{
    size_t held = size;

    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        held += NULL == module->plan[i] ? 0 : module->plan[i]->size;
    }
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS && PLANS_BYTES < held; ++i) {
        mca_coll_pipering_plan_t **plan
            = &module->plan[(module->oldest + i) % MCA_COLL_PIPERING_PLANS];
        if (NULL != *plan) {
            held -= (*plan)->size;
            OBJ_RELEASE(*plan);
            *plan = NULL;
        }
    }
}

/* Looks a plan up, or makes it in place of the oldest. */
static int find_plan(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                     const mca_coll_pipering_key_t *key, mca_coll_pipering_plan_t **plan)
{
    mca_coll_pipering_plan_t **place = &module->plan[module->oldest];

    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        if (NULL != module->plan[i] && serves(module->plan[i], key)) {
            *plan = module->plan[i];
            return OMPI_SUCCESS;
        }
    }

    const int rc = make_plan(module, comm, key, plan);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    make_room(module, (*plan)->size);
    if (NULL != *place) {
        OBJ_RELEASE(*place);
    }
    *place = *plan;
    module->oldest = (module->oldest + 1) % MCA_COLL_PIPERING_PLANS;
    return OMPI_SUCCESS;
}

int mca_coll_pipering_plan_get(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                               const mca_coll_pipering_key_t *key,
                               mca_coll_pipering_plan_t **plan)
{
    OPAL_THREAD_LOCK(&module->lock);
    const int rc = find_plan(module, comm, key, plan);
    if (OMPI_SUCCESS == rc) {
        OBJ_RETAIN(*plan);
    }
    OPAL_THREAD_UNLOCK(&module->lock);
    return rc;
}
