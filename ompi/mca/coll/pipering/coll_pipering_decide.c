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
 * All that goes in is equal on all ranks: contributions in bytes, nodes, costs,
 * variables. A plan is kept on the communicator for calls of the same sizes, so
 * that a program that repeats itself plans once.
 */

#include "coll_pipering.h"

#include <stdlib.h>
#include <string.h>

/*
 * Bytes that may be under way on a link: enough for the latency of a node that
 * is not scheduled at once, too few to fill buffers on the way.
 */
#define WINDOW_BYTES ((size_t) 256 * 1024)
#define WINDOW_LEAST 4
#define WINDOW_MOST 64

/*
 * The ring is taken if it is not slower than this many times the modelled time of
 * its rivals, which leave out what unpipelined algorithms lose on the way.
 */
#define RIVAL_SLACK 1.10
/* Inside a node all ranks share the memory, and what passes it twice costs twice. */
#define LOCAL_SLACK 0.90

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
           && a->reorder_empties == b->reorder_empties;
}

static bool serves(const mca_coll_pipering_plan_t *plan, const mca_coll_pipering_params_t *params,
                   bool must_take, const size_t *bytes)
{
    /* a nonblocking call's plan may be there on one rank already and not on another */
    return same_params(&plan->params, params) && plan->must_take == must_take
           && 0 == memcmp(plan->bytes, bytes, (size_t) plan->size * sizeof(size_t));
}

/* A plan with room for all it holds, and the scratch memory that making it takes. */
static mca_coll_pipering_plan_t *new_plan(int p, uint64_t **blocks, void **order_scratch,
                                          void **model_scratch)
{
    const size_t bytes_size = (size_t) p * sizeof(size_t);
    const size_t blocks_size = (size_t) p * sizeof(uint64_t);
    const size_t order_size = mca_coll_pipering_order_scratch(p);
    mca_coll_pipering_plan_t *plan = OBJ_NEW(mca_coll_pipering_plan_t);
    char *scratch = malloc(blocks_size + order_size + mca_coll_pipering_model_scratch(p) + 16);
    char *memory = malloc(bytes_size + mca_coll_pipering_ring_size(p));

    if (NULL == plan || NULL == scratch || NULL == memory) {
        free(memory);
        free(scratch);
        if (NULL != plan) {
            OBJ_RELEASE(plan);
        }
        return NULL;
    }
    *blocks = (uint64_t *) scratch;
    *model_scratch = scratch + blocks_size;
    *order_scratch = scratch + blocks_size + ((mca_coll_pipering_model_scratch(p) + 15) & ~15ul);
    plan->memory = memory;
    plan->size = p;
    plan->bytes = (size_t *) memory;
    mca_coll_pipering_ring_bind(&plan->ring, p, memory + bytes_size);
    return plan;
}

/* What is being decided, and with what. */
typedef struct {
    mca_coll_pipering_plan_t *plan;
    const int *node_of;
    mca_coll_pipering_problem_t problem;
    uint64_t *blocks;
    void *order_scratch;
} draft_t;

static void order_ring(draft_t *draft, size_t block_size)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->params;
    unsigned flags = 0;

    if (MCA_COLL_PIPERING_LINEAR_RING != params->algorithm) {
        flags = (params->reorder_nodes ? MCA_COLL_PIPERING_ORDER_NODES : 0)
                | (params->reorder_empties ? MCA_COLL_PIPERING_ORDER_EMPTIES : 0);
    }
    for (int r = 0; r < plan->size; ++r) {
        draft->blocks[r] = mca_coll_pipering_blocks(plan->bytes[r], block_size);
    }
    mca_coll_pipering_order(&plan->ring, draft->node_of, draft->blocks, flags,
                            draft->order_scratch);
}

static size_t largest_of(const mca_coll_pipering_plan_t *plan)
{
    size_t largest = 1;

    for (int r = 0; r < plan->size; ++r) {
        largest = plan->bytes[r] > largest ? plan->bytes[r] : largest;
    }
    return largest;
}

/*
 * The order depends on the blocks and their best size on the order: so a first
 * order comes from equation (2), and the last one from the size that is chosen.
 */
static size_t choose_block_size(draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const mca_coll_pipering_params_t *params = &plan->params;

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
    return mca_coll_pipering_search(&draft->problem);
}

static unsigned choose_window(const mca_coll_pipering_plan_t *plan)
{
    const size_t block = plan->cut.block_size;
    size_t window = (WINDOW_BYTES + block - 1) / block;

    if (0 < plan->params.window) {
        return plan->params.window < 2 ? 2 : (unsigned) plan->params.window;
    }
    window = window < WINDOW_LEAST ? WINDOW_LEAST : window;
    return (unsigned) (window > WINDOW_MOST ? WINDOW_MOST : window);
}

static void add_volume(mca_coll_pipering_volume_t *sum, mca_coll_pipering_volume_t more)
{
    sum->blocks += more.blocks;
    sum->bytes += more.bytes;
}

static mca_coll_pipering_volume_t volume_of(const mca_coll_pipering_plan_t *plan,
                                            mca_coll_pipering_stream_t stream)
{
    return mca_coll_pipering_stream_volume(&plan->ring, plan->bytes, plan->cut, stream);
}

static void count_volumes(draft_t *draft, int me)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->in = plan->out = (mca_coll_pipering_volume_t){0, 0};
    plan->in_from_network = 0;
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        const mca_coll_pipering_in_t *in = &plan->route.in[i];
        const mca_coll_pipering_out_t *out = &plan->route.out[i];
        const mca_coll_pipering_volume_t arriving = volume_of(plan, in->stream);

        add_volume(&plan->in, arriving);
        add_volume(&plan->out, volume_of(plan, out->forward));
        if (out->own) {
            add_volume(&plan->out, volume_of(plan, plan->route.own));
        }
        if (0 <= in->peer && draft->node_of[in->peer] != draft->node_of[me]) {
            plan->in_from_network += arriving.bytes;
        }
    }
}

static mca_coll_pipering_reason_t judge(draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->time = mca_coll_pipering_time(&draft->problem, plan->cut.block_size);
    plan->rival_time = mca_coll_pipering_rival_time(&draft->problem);
    const double slack = 1 < plan->ring.nodes ? RIVAL_SLACK : LOCAL_SLACK;
    if (plan->must_take || MCA_COLL_PIPERING_AUTO != plan->params.algorithm
        || plan->time <= slack * plan->rival_time) {
        return MCA_COLL_PIPERING_TAKEN;
    }
    return MCA_COLL_PIPERING_FALLBACK_MODEL;
}

static void fill_plan(draft_t *draft, int me)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    order_ring(draft, largest_of(plan));
    plan->cut.block_size = choose_block_size(draft);
    plan->cut.split = (mca_coll_pipering_split_t) plan->params.block_split;
    order_ring(draft, plan->cut.block_size);
    mca_coll_pipering_route(&plan->route, &plan->ring, me);
    plan->window = choose_window(plan);
    plan->rounds = mca_coll_pipering_model_rounds(&draft->problem, plan->cut.block_size);
    plan->reason = judge(draft);
    count_volumes(draft, me);
}

static int make_plan(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                     const mca_coll_pipering_params_t *params, const size_t *bytes, bool must_take,
                     mca_coll_pipering_plan_t **made)
{
    const int p = ompi_comm_size(comm);
    draft_t draft = {.node_of = mca_coll_pipering_setup_node_of(module->setup)};

    draft.plan = new_plan(p, &draft.blocks, &draft.order_scratch, &draft.problem.scratch);
    if (NULL == draft.plan) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    draft.plan->params = *params;
    draft.plan->must_take = must_take;
    draft.plan->total = 0;
    memcpy(draft.plan->bytes, bytes, (size_t) p * sizeof(size_t));
    for (int r = 0; r < p; ++r) {
        draft.plan->total += bytes[r];
    }
    draft.problem.ring = &draft.plan->ring;
    draft.problem.bytes = draft.plan->bytes;
    draft.problem.cost = mca_coll_pipering_setup_cost(module->setup, params);

    fill_plan(&draft, ompi_comm_rank(comm));
    free(draft.blocks);
    mca_coll_pipering_count(&mca_coll_pipering_component.counters.plans, 1);
    *made = draft.plan;
    return OMPI_SUCCESS;
}

/* Looks a plan up, or makes it in place of the oldest. */
static int find_plan(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                     const mca_coll_pipering_params_t *params, const size_t *bytes, bool must_take,
                     mca_coll_pipering_plan_t **plan)
{
    mca_coll_pipering_plan_t **place = &module->plan[module->oldest];

    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        if (NULL != module->plan[i] && serves(module->plan[i], params, must_take, bytes)) {
            *plan = module->plan[i];
            return OMPI_SUCCESS;
        }
    }

    const int rc = make_plan(module, comm, params, bytes, must_take, plan);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (NULL != *place) {
        OBJ_RELEASE(*place);
    }
    *place = *plan;
    module->oldest = (module->oldest + 1) % MCA_COLL_PIPERING_PLANS;
    return OMPI_SUCCESS;
}

int mca_coll_pipering_plan_get(mca_coll_pipering_module_t *module, ompi_communicator_t *comm,
                               const mca_coll_pipering_params_t *params, const size_t *bytes,
                               bool must_take, mca_coll_pipering_plan_t **plan)
{
    OPAL_THREAD_LOCK(&module->lock);
    const int rc = find_plan(module, comm, params, bytes, must_take, plan);
    if (OMPI_SUCCESS == rc) {
        OBJ_RETAIN(*plan);
    }
    OPAL_THREAD_UNLOCK(&module->lock);
    return rc;
}
