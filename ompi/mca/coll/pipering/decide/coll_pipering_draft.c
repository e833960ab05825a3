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
 * What plans of all algorithms share: bounds of blocks, windows, and what a rank moves.
 */

#include "coll_pipering_draft.h"

#include <stdlib.h>

/*
 * Bytes that may be under way on a link: enough for the latency of a node that
 * is not scheduled at once, too few to fill buffers on the way.
 */
#define WINDOW_BYTES ((size_t) 256 * 1024)
#define WINDOW_LEAST 4
#define WINDOW_MOST 64

/* What slots and the time to fill them should not be without end. */
#define BLOCK_MOST ((size_t) 1024 * 1024)

size_t mca_coll_pipering_place_chunks(mca_coll_pipering_plan_t *plan, int ranks)
{
    const size_t p = (size_t) ranks, units = plan->largest;

    plan->ring = plan->own;
    for (size_t r = 0; r < p; ++r) {
        plan->bytes[r] = units / p + (r < units % p);
        plan->starts[r] = r * (units / p) + (r < units % p ? r : units % p);
    }
    return plan->bytes[0] * plan->key.sizes.unit;
}

size_t mca_coll_pipering_bound_block(const mca_coll_pipering_draft_t *draft, size_t bytes)
{
    const size_t most = 2 > draft->at.nodes && 0 < draft->plan->key.params.ring_buffer_size
                            ? MCA_COLL_PIPERING_LOCAL_BLOCK
                            : BLOCK_MOST;
    return bytes < most ? bytes : most;
}

/* Blocks ahead, for blocks of so many bytes. */
static unsigned choose_window(const mca_coll_pipering_params_t *params, size_t block_bytes)
{
    size_t window = (WINDOW_BYTES + block_bytes - 1) / block_bytes;

    if (0 < params->window) {
        return params->window < 2 ? 2 : (unsigned) params->window;
    }
    window = window < WINDOW_LEAST ? WINDOW_LEAST : window;
    return (unsigned) (window > WINDOW_MOST ? WINDOW_MOST : window);
}

size_t mca_coll_pipering_given_block(const mca_coll_pipering_draft_t *draft)
{
    return 0 < draft->fixed_block ? draft->fixed_block : draft->plan->key.params.block_size;
}

void mca_coll_pipering_place_parts(mca_coll_pipering_plan_t *plan, int ranks)
{
    if (MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective) {
        (void) mca_coll_pipering_place_chunks(plan, ranks);
        return;
    }
    for (int r = 0; 2 > plan->key.sizes.parts && r < ranks; ++r) {
        plan->bytes[r] = r == plan->key.root ? plan->largest : 0;
        plan->starts[r] = 0;
    }
}

size_t mca_coll_pipering_set_blocks(mca_coll_pipering_draft_t *draft, size_t bytes)
{
    mca_coll_pipering_plan_t *plan = draft->plan;
    const size_t given = mca_coll_pipering_given_block(draft), unit = plan->key.sizes.unit;
    const size_t wanted = 0 < given ? given : mca_coll_pipering_bound_block(draft, bytes);

    plan->block_size = wanted < unit ? 1 : wanted / unit;
    const size_t block = plan->block_size * unit;
    plan->window = choose_window(&plan->key.params, block);
    return block;
}

bool mca_coll_pipering_can_reorder(const mca_coll_pipering_draft_t *draft)
{
    return !draft->plan->key.ordered;
}

/* What passes the links of a route. */
static void count_route(mca_coll_pipering_draft_t *draft, mca_coll_pipering_route_t *route)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    mca_coll_pipering_route_measure(route, plan->bytes, plan->block_size, draft->at.node_of,
                                    draft->at.me);
    for (int i = 0; i < route->ins; ++i) {
        const mca_coll_pipering_in_t *in = &route->in[i];
        plan->in += in->volume.blocks;
        plan->in_from_network += in->local ? 0 : in->volume.bytes * plan->key.sizes.unit;
    }
    for (int i = 0; i < route->outs; ++i) {
        plan->out += route->out[i].volume.blocks;
    }
}

void mca_coll_pipering_count_volumes(mca_coll_pipering_draft_t *draft)
{
    mca_coll_pipering_plan_t *plan = draft->plan;

    plan->in = plan->out = 0;
    plan->in_from_network = 0;
    if (NULL != plan->row->volumes) {
        plan->row->volumes(draft);
        return;
    }
    for (int i = 0; i < plan->pipes; ++i) {
        count_route(draft, &plan->route[i]);
    }
}

/* ---- who holds a plan ---- */

void mca_coll_pipering_plan_retain(mca_coll_pipering_plan_t *plan)
{
    (void) __atomic_add_fetch(&plan->users, 1, __ATOMIC_RELAXED);
}

void mca_coll_pipering_plan_release(mca_coll_pipering_plan_t *plan)
{
    if (0 == __atomic_sub_fetch(&plan->users, 1, __ATOMIC_ACQ_REL)) {
        if (NULL != plan->across) {
            mca_coll_pipering_plan_release(plan->across);
        }
        free(plan->memory);
        free(plan);
    }
}
