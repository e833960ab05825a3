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
 * Pipelines that move data, as coll_pipering_engine.c has them: a window of receives and of sends
 * on each link, completions in their order, and every half window and at the end a synchronous
 * send, which tells that the receiver is there.
 *
 * In a reduce-scatter around the ring what comes in is added to the rank's own values, and passed
 * on from there.
 *
 * On a real link blocks go one after the other; SimGrid lets all that are under way share it, so
 * that each of them is late. So a block is sent when the link has carried the one before.
 */

#include "simulate.h"

#include <math.h>
#include <simgrid/actor.h>
#include <string.h>

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_route.h"

/* As in coll_pipering_engine_make.c: a rank that nothing comes in to stays half a window ahead. */
#define HALVED_LEAST 8

/* A link in, or, without a peer, own blocks. */
typedef struct {
    int peer, tag;
    uint64_t total, posted, arrived;
    mca_coll_pipering_walk_t coming, adding;
    MPI_Request *requests; /* [window] */
} source_t;

/* A link out. */
typedef struct {
    int peer, tag;
    uint64_t total, own, sent, completed;
    const source_t *from;
    mca_coll_pipering_walk_t own_walk, forward_walk;
    MPI_Request *requests; /* [window] */
    double beta;           /* seconds of the link a byte */
    double free_at;        /* when it has carried what was sent */
} sink_t;

typedef struct {
    const simulate_call_t *call;
    uint64_t window;
    int ins, outs;
    source_t *source; /* [ins] */
    source_t own;
    sink_t *sink; /* [outs] */
    bool reduces;
    char *values, *slots; /* then: the rank's values, and [window] blocks that come in */
} pipe_t;

/* ---- setting up ---- */

static mca_coll_pipering_walk_t walk_of(const simulate_call_t *call,
                                        const mca_coll_pipering_route_t *route,
                                        mca_coll_pipering_stream_t stream)
{
    mca_coll_pipering_walk_t walk;

    mca_coll_pipering_walk_init(&walk, route->ring, call->plan->bytes, call->plan->block_size,
                                stream);
    return walk;
}

static MPI_Request *take_requests(uint64_t count)
{
    return simulate_take((size_t) count * sizeof(MPI_Request), false);
}

/* Seconds that the link to a rank takes a byte. */
static double beta_to(const simulate_call_t *call, const mca_coll_pipering_ring_t *ring, int peer)
{
    const double *value = call->machine->value;
    const bool inside = 1 < ring->nodes
                        && ring->node[ring->position[call->rank]]
                               == ring->node[ring->position[peer]];

    return 1e-9 * value[inside ? MCA_COLL_PIPERING_LOCAL_BETA : MCA_COLL_PIPERING_NET_BETA];
}

static void open_pipe(pipe_t *pipe, const simulate_call_t *call,
                      const mca_coll_pipering_route_t *route)
{
    const uint64_t window = call->plan->window;

    *pipe = (pipe_t){.call = call,
                     .window = 0 == route->ins && HALVED_LEAST <= window ? window / 2 : window,
                     .ins = route->ins,
                     .outs = route->outs,
                     .source = simulate_take((size_t) route->ins * sizeof(source_t), false),
                     .own = {.total = route->own_volume.blocks,
                             .arrived = route->own_volume.blocks,
                             .coming = walk_of(call, route, route->own)},
                     .sink = simulate_take((size_t) route->outs * sizeof(sink_t), false),
                     .reduces = route->reduces};
    if (pipe->reduces) {
        pipe->values = simulate_take(call->total, call->shared);
        pipe->slots = simulate_take((size_t) window * call->plan->block_size * call->unit, false);
        memcpy(pipe->values, call->send, call->shared ? 0 : call->total);
    }
    for (int i = 0; i < route->ins; ++i) {
        const mca_coll_pipering_in_t *in = &route->in[i];
        pipe->source[i] = (source_t){.peer = in->peer,
                                     .tag = in->tag,
                                     .total = in->volume.blocks,
                                     .coming = walk_of(call, route, in->stream),
                                     .adding = walk_of(call, route, in->stream),
                                     .requests = take_requests(pipe->window)};
    }
    for (int i = 0; i < route->outs; ++i) {
        const mca_coll_pipering_out_t *out = &route->out[i];
        pipe->sink[i] = (sink_t){.peer = out->peer,
                                 .tag = out->tag,
                                 .total = out->volume.blocks,
                                 .own = out->own ? pipe->own.total : 0,
                                 .from = &pipe->source[out->source],
                                 .own_walk = pipe->own.coming,
                                 .forward_walk = walk_of(call, route, out->forward),
                                 .requests = take_requests(pipe->window),
                                 .beta = beta_to(call, route->ring, out->peer)};
    }
}

static void close_pipe(pipe_t *pipe)
{
    for (int i = 0; i < pipe->ins; ++i) {
        simulate_give(pipe->source[i].requests, false);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        simulate_give(pipe->sink[i].requests, false);
    }
    simulate_give(pipe->source, false);
    simulate_give(pipe->sink, false);
    if (pipe->reduces) {
        const size_t own = pipe->call->plan->bytes[pipe->call->rank] * pipe->call->unit;
        memcpy(pipe->call->recv, pipe->values + pipe->call->before[pipe->call->rank],
               pipe->call->shared ? 0 : own);
        simulate_give(pipe->values, pipe->call->shared);
        simulate_give(pipe->slots, false);
    }
}

/* ---- moving ---- */

/* Where the next block of a link comes in. */
static char *place_in(const pipe_t *pipe, const source_t *source,
                      const mca_coll_pipering_block_t *block)
{
    const simulate_call_t *call = pipe->call;

    return pipe->reduces ? pipe->slots
                               + source->posted % pipe->window * call->plan->block_size * call->unit
                         : call->recv + call->before[block->rank] + block->offset;
}

static const char *place_out(const pipe_t *pipe, bool own, const mca_coll_pipering_block_t *block)
{
    const simulate_call_t *call = pipe->call;

    return pipe->reduces ? pipe->values + call->before[block->rank] + block->offset * call->unit
           : own         ? call->send + block->offset
                         : call->recv + call->before[block->rank] + block->offset;
}

/* Adds the block that has just come in. */
static void add_in(const pipe_t *pipe, source_t *source)
{
    const simulate_call_t *call = pipe->call;
    mca_coll_pipering_block_t block;

    (void) mca_coll_pipering_walk_next(&source->adding, &block);
    simulate_add(call, pipe->values + call->before[block.rank] + block.offset * call->unit,
                 pipe->slots
                     + (source->arrived - 1) % pipe->window * call->plan->block_size * call->unit,
                 block.length * call->unit);
}

static void post_receives(const pipe_t *pipe, source_t *source)
{
    mca_coll_pipering_block_t block;

    while (source->posted < source->total && source->posted - source->arrived < pipe->window
           && mca_coll_pipering_walk_next(&source->coming, &block)) {
        MPI_Irecv(place_in(pipe, source, &block), (int) (block.length * pipe->call->unit),
                  MPI_BYTE, source->peer, source->tag, MPI_COMM_WORLD,
                  &source->requests[source->posted % pipe->window]);
        ++source->posted;
    }
}

/* Waits until the link is free when the block of so many bytes leaves the rank. */
static void wait_for_link(const simulate_call_t *call, sink_t *sink, size_t bytes)
{
    const double leaves = MPI_Wtime() + 1e-6 * call->machine->value[MCA_COLL_PIPERING_NET_GAP];

    if (leaves < sink->free_at) {
        sg_actor_sleep_for(sink->free_at - leaves);
    }
    sink->free_at = fmax(leaves, sink->free_at) + (double) bytes * sink->beta;
}

static void send_blocks(const pipe_t *pipe, sink_t *sink)
{
    const uint64_t half = pipe->window / 2;
    mca_coll_pipering_block_t block;

    while (sink->sent < sink->total && sink->sent - sink->completed < pipe->window) {
        const bool own = sink->sent < sink->own;
        const bool mark = 0 == (sink->sent + 1) % half || sink->sent + 1 == sink->total;
        if (!own && sink->sent - sink->own >= sink->from->arrived) {
            break;
        }
        (void) mca_coll_pipering_walk_next(own ? &sink->own_walk : &sink->forward_walk, &block);
        wait_for_link(pipe->call, sink, block.length * pipe->call->unit);
        (mark ? MPI_Issend : MPI_Isend)(place_out(pipe, own, &block),
                                        (int) (block.length * pipe->call->unit), MPI_BYTE,
                                        sink->peer, sink->tag, MPI_COMM_WORLD,
                                        &sink->requests[sink->sent % pipe->window]);
        ++sink->sent;
    }
}

static void move(pipe_t *pipe)
{
    for (int i = 0; i < pipe->ins; ++i) {
        post_receives(pipe, &pipe->source[i]);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        send_blocks(pipe, &pipe->sink[i]);
    }
}

/* ---- waiting ---- */

/* The first request under way of each link of a pipeline, and what counts those that are over. */
typedef struct {
    MPI_Request *request;
    uint64_t *over;
    pipe_t *pipe;
    source_t *source; /* of a receive */
} head_t;

static int find_heads(pipe_t *pipe, head_t *heads)
{
    int count = 0;

    for (int i = 0; i < pipe->ins; ++i) {
        source_t *source = &pipe->source[i];
        if (source->arrived < source->posted) {
            heads[count++] = (head_t){&source->requests[source->arrived % pipe->window],
                                      &source->arrived, pipe, source};
        }
    }
    for (int i = 0; i < pipe->outs; ++i) {
        sink_t *sink = &pipe->sink[i];
        if (sink->completed < sink->sent) {
            heads[count++] = (head_t){&sink->requests[sink->completed % pipe->window],
                                      &sink->completed, pipe, NULL};
        }
    }
    return count;
}

/* Waits for one of these, which is over then. */
static pipe_t *wait_for(const head_t *heads, int count, MPI_Request *requests)
{
    int which;

    for (int i = 0; i < count; ++i) {
        requests[i] = *heads[i].request;
    }
    MPI_Waitany(count, requests, &which, MPI_STATUS_IGNORE);
    ++*heads[which].over;
    if (NULL != heads[which].source && heads[which].pipe->reduces) {
        add_in(heads[which].pipe, heads[which].source);
    }
    return heads[which].pipe;
}

void simulate_pipes(const simulate_call_t *call)
{
    const mca_coll_pipering_plan_t *plan = call->plan;
    pipe_t *pipes = simulate_take((size_t) plan->pipes * sizeof(pipe_t), false);
    int links = 0;

    for (int i = 0; i < plan->pipes; ++i) {
        open_pipe(&pipes[i], call, &plan->route[i]);
        links += pipes[i].ins + pipes[i].outs;
    }
    head_t *heads = simulate_take((size_t) links * sizeof(head_t), false);
    MPI_Request *requests = take_requests((uint64_t) links);
    for (int i = 0; i < plan->pipes; ++i) {
        move(&pipes[i]);
    }
    for (int count = 1; 0 < count;) {
        count = 0;
        for (int i = 0; i < plan->pipes; ++i) {
            count += find_heads(&pipes[i], heads + count);
        }
        if (0 < count) {
            move(wait_for(heads, count, requests));
        }
    }
    for (int i = 0; i < plan->pipes; ++i) {
        close_pipe(&pipes[i]);
    }
    simulate_give(requests, false);
    simulate_give(heads, false);
    simulate_give(pipes, false);
}
