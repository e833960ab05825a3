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
 * Setting up pipelines of coll_pipering_engine.h: sources and sinks by the links of a route,
 * where blocks lie, and memory.
 *
 *     | pipeline | sources | sinks | requests | lengths |                   | slots |
 *       one piece of memory, sizes by the route and the window                another
 *
 * Slots are taken last, and only where blocks have no other place to lie in: whether a channel
 * keeps them is known when it has leased its ring buffer.
 */

#include "coll_pipering_engine_steps.h"

#include <stdlib.h>
#include <string.h>

/* Of slots, for whatever elements an operation works on. */
#define ALIGNMENT 64

/* A smaller window is all that hides the latency of a node, and is not halved. */
#define HALVED_LEAST 8

void mca_coll_pipering_layout_init(mca_coll_pipering_layout_t *layout, size_t most)
{
    ptrdiff_t true_extent;

    ompi_datatype_type_extent(layout->type, &layout->extent);
    ompi_datatype_get_true_extent(layout->type, &layout->true_lb, &true_extent);
    layout->dense = opal_datatype_is_contiguous_memory_layout(&layout->type->super,
                                                              most > 1 ? 2 : 1);
}

bool mca_coll_pipering_is_on_device(const mca_coll_pipering_layout_t *layout, int rank)
{
    return mca_common_colltools_on_device(layout->type,
                                          mca_coll_pipering_contribution(layout, rank));
}

/* ---- sources and sinks ---- */

static void init_walk(mca_coll_pipering_walk_t *walk, const mca_coll_pipering_pipe_args_t *args,
                      mca_coll_pipering_stream_t stream)
{
    mca_coll_pipering_walk_init(walk, args->route->ring, args->bytes, args->block_size, stream);
}

static void init_own(mca_coll_pipering_source_t *own, const mca_coll_pipering_pipe_args_t *args)
{
    own->peer = -1;
    own->unpacking = -1;
    own->place = NULL == args->send ? args->recv : args->send;
    own->to = NULL == args->send || NULL != args->combine ? NULL : args->recv;
    own->total = args->route->own_volume.blocks;
    init_walk(&own->coming, args, args->route->own);
    own->delivering = own->coming;
}

/* Where blocks of a link come in: in the user's buffer where they can, else in slots (NULL). */
static const mca_coll_pipering_layout_t *link_place(const mca_coll_pipering_pipe_t *pipe,
                                                    const mca_coll_pipering_pipe_args_t *args,
                                                    const mca_coll_pipering_source_t *source)
{
    const mca_coll_pipering_combine_args_t *combine = args->combine;

    if (NULL == combine) {
        return args->recv->dense ? args->recv : NULL;
    }
    if (source == pipe->combine.home) {
        return combine->scratch;
    }
    return combine->exclusive && !combine->in_place ? combine->result : NULL;
}

static void init_source(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_args_t *args,
                        int link)
{
    const mca_coll_pipering_in_t *in = &args->route->in[link];
    mca_coll_pipering_source_t *source = &pipe->source[link];

    source->peer = in->peer;
    source->tag = args->tag - in->tag;
    source->unpacking = -1;
    source->total = in->volume.blocks;
    if (0 < source->total) {
        source->place = link_place(pipe, args, source);
        source->to = NULL == args->combine ? args->recv : NULL;
    }
    init_walk(&source->coming, args, in->stream);
    source->delivering = source->coming;
}

static void init_sink(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_args_t *args,
                      int link)
{
    const mca_coll_pipering_out_t *out = &args->route->out[link];
    mca_coll_pipering_sink_t *sink = &pipe->sink[link];

    sink->peer = out->peer;
    sink->tag = args->tag - out->tag;
    sink->from = NULL == args->combine ? &pipe->source[out->source] : pipe->combine.home;
    sink->own = out->own ? pipe->own->total : 0;
    sink->total = out->volume.blocks;
    sink->own_walk = pipe->own->coming;
    init_walk(&sink->forward_walk, args, out->forward);
}

/* Values that are combined after own ones become the results where they are. */
static void init_combine(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_args_t *args)
{
    const int below = args->route->below;

    pipe->combine.args = args->combine;
    pipe->combine.below = args->combine->any_order && below == pipe->ins ? 0 : below;
    pipe->combine.home = pipe->combine.below < pipe->ins ? pipe->own - 1 : NULL;
    pipe->combine.total = args->route->in[0].volume.blocks;
    init_walk(&pipe->combine.walk, args, args->route->in[0].stream);
}

/* Own blocks that are packed first, and blocks of a link that cannot stay where they come in. */
static bool source_wants_slots(const mca_coll_pipering_source_t *source)
{
    return 0 < source->total && !source->stays
           && (NULL == source->place || !source->place->dense);
}

/*
 * A block that has no place of its own can stay in the ring buffer, unless the ring of ranks
 * is closed: then these would wait for each other around it. Nor where the sender may yet
 * have to send messages.
 */
static bool can_stay(const mca_coll_pipering_source_t *source,
                     const mca_coll_pipering_pipe_args_t *args)
{
    return mca_coll_pipering_channel_is_shared(&source->channel) && !source->channel.asks
           && 1 == args->route->ring->size && source_wants_slots(source);
}

static void init_links(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_args_t *args)
{
    init_own(pipe->own, args);
    if (NULL != args->combine) {
        init_combine(pipe, args);
    }
    for (int i = 0; i < pipe->ins; ++i) {
        init_source(pipe, args, i);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        init_sink(pipe, args, i);
    }
    if (0 < args->ring_buffer_size) {
        mca_coll_pipering_channels_init(pipe, args);
        for (int i = 0; i < pipe->ins; ++i) {
            pipe->source[i].stays = can_stay(&pipe->source[i], args);
        }
    }
}

/* ---- slots ---- */

static bool results_want_slots(const mca_coll_pipering_combine_t *combine)
{
    return NULL != combine->args && NULL == combine->home
           && (NULL == combine->args->result || combine->args->exclusive
               || combine->args->part);
}

/*
 * Slots of a source. For own blocks a window being sent and one being packed.
 * A link in wants room for as many more as this rank has blocks of its own: they
 * go out first, and were a rank to stop receiving meanwhile, all ranks would
 * wait for each other around the ring.
 */
static uint64_t slots_wanted(const mca_coll_pipering_pipe_t *pipe,
                             const mca_coll_pipering_source_t *source)
{
    const uint64_t own = 0 <= source->peer ? pipe->own->total : 0;
    return mca_coll_pipering_at_most(source->total, own + 2 * (uint64_t) pipe->window);
}

/* Counts the slots that sources and results are to have; of all together. */
static uint64_t count_slots(mca_coll_pipering_pipe_t *pipe)
{
    mca_coll_pipering_combine_t *combine = &pipe->combine;
    uint64_t slots = 0;

    for (int i = 0; i <= pipe->ins; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (source_wants_slots(source)) {
            source->slot_count = slots_wanted(pipe, source);
            slots += source->slot_count;
        }
    }
    if (results_want_slots(combine)) {
        combine->slot_count = mca_coll_pipering_at_most(combine->total,
                                                        2 * (uint64_t) pipe->window);
        slots += combine->slot_count;
    }
    return slots;
}

/* A slot takes the largest block, in the places that its elements have in memory. */
static size_t measure_slot(mca_coll_pipering_pipe_t *pipe,
                           const mca_coll_pipering_pipe_args_t *args)
{
    size_t largest = (size_t) mca_coll_pipering_at_most(args->largest, args->block_size);

    if (NULL != pipe->unit.type) {
        ptrdiff_t gap = 0;
        largest = mca_common_colltools_span(pipe->unit.type, largest, &gap);
        pipe->slot_shift = -gap;
    }
    return (largest + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static int take_slots(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_args_t *args)
{
    const uint64_t slots = count_slots(pipe);

    if (0 == slots) {
        return OMPI_SUCCESS;
    }
    const size_t size = measure_slot(pipe, args);
    pipe->slots = malloc((size_t) slots * size + ALIGNMENT);
    if (NULL == pipe->slots) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    char *next = pipe->slots + ALIGNMENT - (uintptr_t) pipe->slots % ALIGNMENT;
    for (int i = 0; i <= pipe->ins; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (0 < source->slot_count) {
            source->slots = next;
            source->slot_size = size;
            next += source->slot_count * size;
        }
    }
    if (0 < pipe->combine.slot_count) {
        pipe->combine.slots = next;
        pipe->combine.slot_size = size;
    }
    return OMPI_SUCCESS;
}

/* ---- life ---- */

/* Queues of a window for each link; `memory` is there for them. */
static void bind_queues(mca_coll_pipering_pipe_t *pipe, char *memory)
{
    const size_t requests = pipe->window * sizeof(ompi_request_t *);
    const size_t lengths = pipe->window * sizeof(size_t);

    for (int i = 0; i < pipe->ins; ++i, memory += requests + lengths) {
        pipe->source[i].requests = (ompi_request_t **) memory;
        pipe->source[i].expected = (size_t *) (memory + requests);
    }
    for (int i = 0; i < pipe->outs; ++i, memory += requests) {
        pipe->sink[i].requests = (ompi_request_t **) memory;
    }
}

/* A pipeline with its arrays, zeroed; `extra` bytes follow, which are not. */
static mca_coll_pipering_pipe_t *take_memory(const mca_coll_pipering_route_t *route, size_t extra,
                                             char **rest)
{
    const size_t size = sizeof(mca_coll_pipering_pipe_t)
                        + ((size_t) route->ins + 1) * sizeof(mca_coll_pipering_source_t)
                        + (size_t) route->outs * sizeof(mca_coll_pipering_sink_t);
    mca_coll_pipering_pipe_t *pipe = malloc(size + extra);

    if (NULL != pipe) {
        memset(pipe, 0, size);
        pipe->ins = route->ins;
        pipe->outs = route->outs;
        pipe->source = (mca_coll_pipering_source_t *) (pipe + 1);
        pipe->own = pipe->source + pipe->ins;
        pipe->sink = (mca_coll_pipering_sink_t *) (pipe->own + 1);
        *rest = (char *) pipe + size;
    }
    return pipe;
}

/*
 * Blocks ahead of a receiver. Blocks of other ranks come at the pace of a link; own ones fill all
 * buffers of the way out at once. Answers to what comes in over that link, for a stream in the
 * opposite direction, wait behind them, and their sender may be no more than a window ahead, too.
 * So a rank that nothing comes in to stays half a window ahead.
 */
static unsigned choose_window(const mca_coll_pipering_pipe_args_t *args)
{
    return 0 == args->route->ins && HALVED_LEAST <= args->window ? args->window / 2
                                                                  : args->window;
}

int mca_coll_pipering_pipe_new(ompi_communicator_t *comm, const mca_coll_pipering_pipe_args_t *args,
                               mca_coll_pipering_pipe_t **made)
{
    const mca_coll_pipering_route_t *route = args->route;
    const unsigned window = choose_window(args);
    const size_t queues = window
                          * ((size_t) (route->ins + route->outs) * sizeof(ompi_request_t *)
                             + (size_t) route->ins * sizeof(size_t));
    char *rest;
    mca_coll_pipering_pipe_t *pipe = take_memory(route, queues, &rest);

    *made = pipe;
    if (NULL == pipe) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    pipe->comm = comm;
    pipe->caller = args->caller;
    pipe->window = window;
    pipe->on_device = (NULL != args->send
                       && mca_coll_pipering_is_on_device(args->send, args->contributor))
                      || (NULL != args->recv
                          && mca_coll_pipering_is_on_device(args->recv, args->contributor));
    pipe->unit = args->unit;
    pipe->gate = args->gate;
    pipe->error = OMPI_SUCCESS;
    init_links(pipe, args);
    bind_queues(pipe, rest);

    const int rc = take_slots(pipe, args);
    if (OMPI_SUCCESS != rc) {
        (void) mca_coll_pipering_pipe_free(pipe);
        *made = NULL;
        return rc;
    }
    if (NULL == pipe->own->slots && NULL == pipe->gate) {
        pipe->own->arrived = pipe->own->total;
    }
    return OMPI_SUCCESS;
}

bool mca_coll_pipering_pipe_free(mca_coll_pipering_pipe_t *pipe)
{
    bool pending = mca_coll_pipering_channels_fini(pipe);

    for (int i = 0; i < pipe->ins; ++i) {
        const mca_coll_pipering_source_t *source = &pipe->source[i];
        pending |= mca_common_colltools_abandon(source->requests, source->arrived, source->posted,
                                                pipe->window, true);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        pending |= mca_common_colltools_abandon(sink->requests, sink->completed, sink->sent,
                                                pipe->window, false);
    }
    for (int i = 0; i <= pipe->ins; ++i) {
        if (0 <= pipe->source[i].unpacking) {
            OBJ_DESTRUCT(&pipe->source[i].unpacker);
        }
    }
    if (pipe->packing.begun) {
        OBJ_DESTRUCT(&pipe->packing.packer);
    }
    if (!pending) {
        free(pipe->slots);
        free(pipe);
    }
    return pending;
}
