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
 * The pipelines of a request, one for each route of its plan.
 *
 * Links between ranks of one node may go through ring buffers if buffers of the size that is wanted
 * can carry the blocks and these are plain bytes. Both ends of a link come to the same answer:
 * blocks, nodes and variables are equal on all ranks, and so is, in a reduction, the type map.
 * Whether there is room for a buffer they agree on in each call (coll_pipering_engine_grants.c).
 */

#include "coll_pipering_request.h"

/* ---- ring buffers ---- */

/* Whether copying the bytes of elements, which have no gaps, copies the elements. */
static bool is_plain(const mca_coll_pipering_unit_t *unit)
{
    return NULL == unit->type || mca_common_colltools_is_dense(unit->type);
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

static void share(mca_coll_pipering_request_t *request, mca_coll_pipering_pipe_args_t *args)
{
    const mca_coll_pipering_plan_t *call = request->plan;

    if (!call->shared || !is_plain(&request->unit)) {
        return;
    }
    args->ring_buffer_size = call->key.params.ring_buffer_size;
    join(request->call.context);
}

/* ---- pipelines ---- */

static const mca_coll_pipering_pipe_t *find_pipe(const mca_coll_pipering_request_t *request, int i)
{
    const mca_coll_pipering_pipe_t *pipe = 0 > i ? NULL : request->first;

    for (; 0 < i; --i) {
        pipe = pipe->next;
    }
    return pipe;
}

int mca_coll_pipering_request_add(mca_coll_pipering_request_t *request,
                                  mca_coll_pipering_pipe_args_t args)
{
    const mca_coll_pipering_plan_t *call = request->plan;
    mca_coll_pipering_pipe_t *pipe;

    args.caller = &request->caller;
    args.bytes = call->bytes;
    args.largest = call->largest;
    args.contributor = call->contributor;
    args.block_size = call->block_size;
    args.route = &call->route[request->pipes];
    args.gate = find_pipe(request, args.route->gate);
    args.window = call->window;
    args.collective = (int) call->key.collective;
    args.tag = request->tag;
    share(request, &args);
    const int rc = mca_coll_pipering_pipe_new(request->super.comm, &args, &pipe);
    if (OMPI_SUCCESS == rc) {
        *(NULL == request->first ? &request->first : &request->last->next) = pipe;
        request->last = pipe;
        ++request->pipes;
    }
    return rc;
}
