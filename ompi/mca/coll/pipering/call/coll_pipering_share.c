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
 * Whether links of a request may go through ring buffers, those between ranks of one node:
 * if buffers of the size that is wanted can carry its blocks and these are plain bytes.
 *
 * Both ends of a link come to the same answer: blocks, nodes and variables are
 * equal on all ranks, and so is, in a reduction, the type map. Whether there is room for a
 * buffer they agree on in each call (coll_pipering_engine_grants.c).
 */

#include "coll_pipering_request.h"


/* Whether copying the bytes of elements, which have no gaps, copies the elements. */
static bool is_plain(const mca_coll_pipering_unit_t *unit)
{
    ptrdiff_t true_lb, true_extent;

    if (NULL == unit->type) {
        return true;
    }
    ompi_datatype_get_true_extent(unit->type, &true_lb, &true_extent);
    return 0 == true_lb && (ptrdiff_t) unit->size == unit->extent
           && opal_datatype_is_contiguous_memory_layout(&unit->type->super, 2);
}

/* Keeps the memory of ring buffers until the communicator is freed. */
static void join(mca_coll_pipering_context_t *context)
{
    OPAL_THREAD_LOCK(&context->lock);
    if (!context->joined) {
        context->joined = true;
        mca_coll_pipering_arena_join();
    }
    OPAL_THREAD_UNLOCK(&context->lock);
}

void mca_coll_pipering_request_share(mca_coll_pipering_request_t *request,
                                     mca_coll_pipering_pipe_args_t *args)
{
    const mca_coll_pipering_plan_t *call = request->plan;

    if (!call->shared || !is_plain(&request->unit)) {
        return;
    }
    args->ring_buffer_size = call->key.params.ring_buffer_size;
    join(request->call.context);
}
