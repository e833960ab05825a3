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
 * The engine of coll_pipering_engine.h: completions drive it, FIFO by FIFO.
 *
 * Requests of one link complete in order as far as this code looks, so that a
 * turn costs one look at the head of each queue. Flow control: every half window
 * and at the end a block is sent synchronously, and its request stays at the
 * head of the queue until the receiver has matched it; so no rank is more than
 * a window ahead of the next one, in a call and over calls.
 *
 * Order of work: what has come in goes out, then new receives are posted, then
 * at most one piece is packed and one delivered, and then the links are looked
 * at again, so that copies never keep a link waiting for long.
 */

#include "coll_pipering_engine_steps.h"

#include "ompi/mca/pml/pml.h"

/* ---- what comes in ---- */

static ompi_datatype_t *wire_type(const mca_coll_pipering_pipe_t *pipe)
{
    return NULL == pipe->unit.type ? MPI_BYTE : pipe->unit.type;
}

/* The sender of a block has given up and said so, without bytes. */
static bool is_refusal(const ompi_request_t *request, size_t expected)
{
    return 0 < expected && MPI_SUCCESS == request->req_status.MPI_ERROR
           && 0 == request->req_status._ucount;
}

static int take_arrivals(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    int steps = 0;

    while (source->arrived < source->posted && OMPI_SUCCESS == pipe->error) {
        const uint64_t head = source->arrived % pipe->window;
        if (!mca_common_colltools_is_over(source->requests[head])) {
            break;
        }
        if (is_refusal(source->requests[head], source->expected[head])) {
            source->expected[head] = MCA_COMMON_COLLTOOLS_ANY_LENGTH;
            mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
        }
        mca_coll_pipering_retire(pipe, &source->requests[head], source->expected[head]);
        ++source->arrived;
        ++pipe->traffic.blocks_in;
        ++steps;
    }
    return steps;
}

static int post_receives(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    mca_coll_pipering_block_t block;
    int steps = 0;

    while (OMPI_SUCCESS == pipe->error && source->posted < source->total
           && source->posted - source->arrived < pipe->window
           && mca_coll_pipering_has_slot(pipe, source, source->posted)
           && mca_coll_pipering_walk_next(&source->coming, &block)) {
        const uint64_t next = source->posted % pipe->window;
        const int rc = MCA_PML_CALL(
            irecv(mca_coll_pipering_block_place(pipe, source, source->posted, &block), block.length,
                  wire_type(pipe), source->peer, source->tag, pipe->comm,
                  &source->requests[next]));
        if (OMPI_SUCCESS != rc) {
            mca_coll_pipering_fail(pipe, rc);
            break;
        }
        source->expected[next] = block.length * pipe->unit.size;
        ++source->posted;
        pipe->traffic.bytes_in += source->expected[next];
        ++steps;
    }
    return steps;
}

/* ---- what goes out ---- */

static int take_completions(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    int steps = 0;

    while (sink->completed < sink->sent) {
        ompi_request_t **head = &sink->requests[sink->completed % pipe->window];
        if (!mca_common_colltools_is_over(*head)) {
            break;
        }
        mca_coll_pipering_retire(pipe, head, MCA_COMMON_COLLTOOLS_ANY_LENGTH);
        ++sink->completed;
        ++steps;
    }
    return steps;
}

static int send_blocks(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    const unsigned half = pipe->window / 2;
    mca_coll_pipering_block_t block;
    int steps = 0;

    while (OMPI_SUCCESS == pipe->error && sink->sent < sink->total
           && sink->sent - sink->completed < pipe->window) {
        char *place = mca_coll_pipering_next_to_send(pipe, sink, &block);
        if (NULL == place) {
            break;
        }
        const bool mark = 0 == (sink->sent + 1) % half || sink->sent + 1 == sink->total;
        const int rc = MCA_PML_CALL(isend(place, block.length, wire_type(pipe), sink->peer,
                                          sink->tag,
                                          mark ? MCA_PML_BASE_SEND_SYNCHRONOUS
                                               : MCA_PML_BASE_SEND_STANDARD,
                                          pipe->comm, &sink->requests[sink->sent % pipe->window]));
        if (OMPI_SUCCESS != rc) {
            mca_coll_pipering_fail(pipe, rc);
            break;
        }
        ++sink->sent;
        ++pipe->traffic.blocks_out;
        pipe->traffic.bytes_out += block.length * pipe->unit.size;
        ++steps;
    }
    return steps;
}

/* ---- a turn ---- */

static int move_links(mca_coll_pipering_pipe_t *pipe)
{
    const int ins = pipe->ins, outs = pipe->outs;
    int steps = 0 < pipe->agreeing ? mca_coll_pipering_channels_agree(pipe) : 0;

    for (int i = 0; i < ins; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        steps += mca_coll_pipering_channel_is_shared(&source->channel)
                     ? mca_coll_pipering_take_in(pipe, source)
                     : take_arrivals(pipe, source);
    }
    for (int i = 0; i < outs; ++i) {
        mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (mca_coll_pipering_channel_is_shared(&sink->channel)) {
            steps += mca_coll_pipering_put_out(pipe, sink);
        } else {
            steps += take_completions(pipe, sink);
            steps += send_blocks(pipe, sink);
        }
    }
    for (int i = 0; i < ins; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (!mca_coll_pipering_channel_is_shared(&source->channel)) {
            steps += post_receives(pipe, source);
        }
    }
    return steps;
}

/* Delivers a piece: of the links in turn, and of own blocks when these have nothing to deliver. */
static int deliver_next(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < pipe->ins; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[pipe->next_delivery];
        pipe->next_delivery = pipe->next_delivery + 1 < pipe->ins ? pipe->next_delivery + 1 : 0;
        if (0 < mca_coll_pipering_deliver(pipe, source)) {
            return 1;
        }
    }
    return mca_coll_pipering_deliver(pipe, pipe->own);
}

static int move_copies(mca_coll_pipering_pipe_t *pipe)
{
    int steps = NULL == pipe->combine.args ? 0 : mca_coll_pipering_combine(pipe);

    if (NULL != pipe->own->slots) {
        steps += mca_coll_pipering_pack_own(pipe);
    }
    return 0 < steps ? steps : deliver_next(pipe);
}

/* Own blocks are the last of the results that the pipeline before makes. */
static void look_at_gate(mca_coll_pipering_pipe_t *pipe)
{
    const mca_coll_pipering_combine_t *made = &pipe->gate->combine;
    mca_coll_pipering_source_t *own = pipe->own;
    const uint64_t others = made->total - own->total;

    own->arrived = made->done > others ? made->done - others : 0;
}

int mca_coll_pipering_pipe_progress(mca_coll_pipering_pipe_t *pipe)
{
    int steps = 0, moved;

    if (OMPI_SUCCESS != pipe->error) {
        return 0;
    }
    if (NULL != pipe->gate && 0 < pipe->own->total) {
        look_at_gate(pipe);
    }
    do {
        moved = move_links(pipe);
        steps += moved;
    } while (0 < moved && OMPI_SUCCESS == pipe->error);

    if (OMPI_SUCCESS == pipe->error) {
        steps += move_copies(pipe);
        if (0 < pipe->channels) {
            mca_coll_pipering_channels_release(pipe);
        }
    }
    return steps;
}

/* ---- giving up ---- */

/* No block is empty, so that an empty one says that there are no more. */
static void refuse(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_sink_t *sink)
{
    ompi_request_t *request = MPI_REQUEST_NULL;
    const int rc = MCA_PML_CALL(isend(NULL, 0, wire_type(pipe), sink->peer, sink->tag,
                                      MCA_PML_BASE_SEND_STANDARD, pipe->comm, &request));

    if (OMPI_SUCCESS == rc) {
        ompi_request_free(&request);
    }
}

static bool refuses(const mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_sink_t *sink)
{
    return !sink->refused && sink->sent < sink->total
           && MCA_COLL_PIPERING_CHANNEL_NONE == sink->channel.state
           && !mca_common_colltools_is_failure(pipe->error);
}

bool mca_coll_pipering_pipe_give_up(mca_coll_pipering_pipe_t *pipe, int error)
{
    bool awaits = false;

    mca_coll_pipering_fail(pipe, error);
    (void) mca_coll_pipering_channels_agree(pipe);
    mca_coll_pipering_channels_break(pipe);
    for (int i = 0; i < pipe->outs; ++i) {
        mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (refuses(pipe, sink)) {
            refuse(pipe, sink);
            sink->refused = true;
        }
        awaits |= MCA_COLL_PIPERING_CHANNEL_AWAITED == sink->channel.state;
    }
    return !awaits;
}

bool mca_coll_pipering_pipe_done(const mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i <= pipe->ins; ++i) {
        const mca_coll_pipering_source_t *source = &pipe->source[i];
        if (source->arrived < source->total
            || (mca_coll_pipering_wants_delivery(source) && source->delivered < source->total)) {
            return false;
        }
    }
    for (int i = 0; i < pipe->outs; ++i) {
        if (pipe->sink[i].completed < pipe->sink[i].total) {
            return false;
        }
    }
    return pipe->combine.done == pipe->combine.total
           && (0 == pipe->channels || mca_coll_pipering_channels_over(pipe));
}
