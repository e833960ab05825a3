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
 * How both ends of a link inside a node agree on a channel's ring buffer, and on what is sent:
 *
 *     receiver                                   sender
 *     leases a buffer    -- grant -->            compares, attaches
 *     (first time)       <-- answer --           says whether it could
 *                        <== blocks ==           through the buffer, or as messages
 *
 * The receiver alone knows what is free in its arena, so nobody else has to be asked, in
 * whatever order calls begin on different ranks. Once it knows that a process has its arena,
 * grants are not answered. A sender whose plan is another one than the receiver's fails the
 * call, there and here.
 */

#include "coll_pipering_engine_steps.h"

#include <stddef.h>

#include "ompi/mca/pml/pml.h"
#include "ompi/mca/common/colltools/common_colltools_help.h"

/* The two messages of a handshake. */
enum { GRANT, ANSWER };

/* ---- setting up ---- */

static mca_coll_pipering_terms_t terms_of(const mca_coll_pipering_pipe_args_t *args,
                                          mca_coll_pipering_volume_t volume)
{
    return (mca_coll_pipering_terms_t){.collective = args->collective,
                                       .block_size = args->block_size * args->unit.size,
                                       .bytes = volume.bytes * args->unit.size,
                                       .blocks = volume.blocks};
}

static void open_channel(mca_coll_pipering_channel_t *channel, mca_coll_pipering_fifo_t *fifo)
{
    channel->fifo = fifo;
    channel->state = MCA_COLL_PIPERING_CHANNEL_OPEN;
    mca_coll_pipering_fifo_start(&channel->run, channel->size, channel->terms.block_size);
}

/* The end that receives. */
static void lease(mca_coll_pipering_channel_t *channel)
{
    mca_coll_pipering_fifo_t *fifo = NULL;

    if (NULL != channel->neighbour
        && MCA_COLL_PIPERING_UNABLE != channel->neighbour->has_mine) {
        fifo = mca_coll_pipering_arena_lease(channel->terms.block_size, &channel->size);
    }
    if (NULL != fifo) {
        channel->asks = MCA_COLL_PIPERING_UNASKED == channel->neighbour->has_mine;
        open_channel(channel, fifo);
    }
}

static void init_channel(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_channel_t *channel,
                         int peer, mca_coll_pipering_terms_t terms)
{
    ++pipe->channels;
    channel->wanted = true;
    channel->terms = terms;
    channel->neighbour = mca_coll_pipering_arena_neighbour(pipe->comm, peer);
    channel->request[GRANT] = channel->request[ANSWER] = MPI_REQUEST_NULL;
}

void mca_coll_pipering_channels_init(mca_coll_pipering_pipe_t *pipe,
                                     const mca_coll_pipering_pipe_args_t *args)
{
    /* links inside the node, as far as anything passes them */
    for (int i = 0; i < pipe->ins; ++i) {
        mca_coll_pipering_channel_t *channel = &pipe->source[i].channel;
        const mca_coll_pipering_in_t *in = &args->route->in[i];
        if (in->local && 0 < in->volume.blocks) {
            init_channel(pipe, channel, in->peer, terms_of(args, in->volume));
            channel->size = args->ring_buffer_size;
            lease(channel);
        }
    }
    for (int i = 0; i < pipe->outs; ++i) {
        mca_coll_pipering_channel_t *channel = &pipe->sink[i].channel;
        const mca_coll_pipering_out_t *out = &args->route->out[i];
        if (out->local && 0 < out->volume.blocks) {
            init_channel(pipe, channel, out->peer, terms_of(args, out->volume));
            channel->state = MCA_COLL_PIPERING_CHANNEL_AWAITED;
        }
    }
}

/* ---- messages ---- */

/* Begins to send a message of a handshake, or to receive it. */
static void begin_message(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_channel_t *channel,
                          int message, bool sends, void *what, size_t size, int peer, int tag)
{
    ompi_request_t **request = &channel->request[message];
    const int rc = sends ? MCA_PML_CALL(isend(what, size, MPI_BYTE, peer, tag,
                                              MCA_PML_BASE_SEND_STANDARD, pipe->comm, request))
                         : MCA_PML_CALL(irecv(what, size, MPI_BYTE, peer, tag, pipe->comm,
                                              request));
    if (OMPI_SUCCESS == rc) {
        ++pipe->agreeing;
    } else {
        *request = MPI_REQUEST_NULL;
        mca_coll_pipering_fail(pipe, rc);
    }
}

void mca_coll_pipering_pipe_await(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < pipe->outs; ++i) {
        mca_coll_pipering_channel_t *channel = &pipe->sink[i].channel;
        if (!channel->wanted) {
            continue;
        }
        begin_message(pipe, channel, GRANT, false, &channel->grant, sizeof(channel->grant),
                      pipe->sink[i].peer, pipe->sink[i].tag);
        if (OMPI_SUCCESS != pipe->error) {
            channel->state = MCA_COLL_PIPERING_CHANNEL_NONE;
        }
    }
}

static void send_grant(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    mca_coll_pipering_channel_t *channel = &source->channel;
    mca_coll_pipering_grant_t *grant = &channel->grant;
    size_t size = offsetof(mca_coll_pipering_grant_t, arena);

    *grant = (mca_coll_pipering_grant_t){.terms = channel->terms, .asks = channel->asks};
    if (mca_coll_pipering_channel_is_shared(channel)) {
        grant->size = channel->size;
        grant->place = mca_coll_pipering_arena_place(channel->fifo);
    }
    if (channel->asks) {
        grant->arena = *mca_coll_pipering_arena_segment();
        size = sizeof(*grant);
    }
    channel->granted = true;
    begin_message(pipe, channel, GRANT, true, grant, size, source->peer, source->tag);
    if (channel->asks) {
        channel->answer = 0; /* unless one comes */
        begin_message(pipe, channel, ANSWER, false, &channel->answer, sizeof(channel->answer),
                      source->peer, source->tag);
    }
}

void mca_coll_pipering_pipe_grant(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < pipe->ins; ++i) {
        if (pipe->source[i].channel.wanted) {
            send_grant(pipe, &pipe->source[i]);
        }
    }
}

/* ---- both plans ---- */

/* Tells the user which of the terms differ first, and fails the call if any do. */
static void compare(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_terms_t *here,
                    const mca_coll_pipering_terms_t *there, int peer)
{
    const struct {
        const char *what;
        uint64_t here, there;
    } parts[] = {{"the collective (by its number)", here->collective, there->collective},
                 {"the number of bytes", here->bytes, there->bytes},
                 {"the size of blocks in bytes", here->block_size, there->block_size},
                 {"the number of blocks", here->blocks, there->blocks}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (parts[i].here != parts[i].there) {
            mca_common_colltools_show_help("help-coll-pipering.txt", "plans-differ",
                                           pipe->caller->name, pipe->comm->c_name,
                                           ompi_comm_rank(pipe->comm), peer, parts[i].what,
                                           (unsigned long long) parts[i].here,
                                           (unsigned long long) parts[i].there);
            mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
            return;
        }
    }
}

/* ---- on the way ---- */

static void take_grant(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_channel_t *channel = &sink->channel;
    const mca_coll_pipering_grant_t *grant = &channel->grant;
    mca_coll_pipering_fifo_t *fifo = NULL;

    compare(pipe, &channel->terms, &grant->terms, sink->peer);
    channel->size = (size_t) grant->size;
    if (0 < channel->size && NULL != channel->neighbour) {
        fifo = mca_coll_pipering_arena_attach(channel->neighbour,
                                              grant->asks ? &grant->arena : NULL,
                                              (size_t) grant->place);
    }
    if (NULL == fifo) {
        channel->state = MCA_COLL_PIPERING_CHANNEL_NONE;
    } else {
        open_channel(channel, fifo);
    }
    if (grant->asks) {
        channel->answer = NULL != fifo;
        begin_message(pipe, channel, ANSWER, true, &channel->answer, sizeof(channel->answer),
                      sink->peer, sink->tag);
    }
}

static void take_answer(mca_coll_pipering_channel_t *channel)
{
    channel->asks = false;
    mca_coll_pipering_arena_note(channel->neighbour, 0 != channel->answer);
    if (0 == channel->answer) {
        mca_coll_pipering_arena_release(channel->fifo);
        channel->state = MCA_COLL_PIPERING_CHANNEL_NONE;
    }
}

/*
 * True if a message has come (`in`) or gone just now; *bytes: how many came, -1: there is an error.
 * No message of a handshake is empty: who has given up says so by an empty one, in its place.
 */
static bool ends(mca_coll_pipering_pipe_t *pipe, ompi_request_t **request, bool in, long *bytes)
{
    if (MPI_REQUEST_NULL == *request || !mca_common_colltools_is_over(*request)) {
        return false;
    }
    *bytes = MPI_SUCCESS == (*request)->req_status.MPI_ERROR ? (long) (*request)->req_status._ucount
                                                             : -1;
    mca_coll_pipering_retire(pipe, request, MCA_COMMON_COLLTOOLS_ANY_LENGTH);
    *request = MPI_REQUEST_NULL;
    --pipe->agreeing;
    if (in && 0 == *bytes) {
        mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
    }
    return true;
}

static int agree_in(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_channel_t *channel)
{
    long bytes;
    int steps = ends(pipe, &channel->request[GRANT], false, &bytes);

    if (ends(pipe, &channel->request[ANSWER], true, &bytes)) {
        ++steps;
        if (0 <= bytes) {
            take_answer(channel);
        }
    }
    return steps;
}

static int agree_out(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_channel_t *channel = &sink->channel;
    long bytes;
    int steps = ends(pipe, &channel->request[ANSWER], false, &bytes);

    if (ends(pipe, &channel->request[GRANT], true, &bytes)) {
        ++steps;
        if (0 < bytes) {
            take_grant(pipe, sink);
        } else {
            channel->state = MCA_COLL_PIPERING_CHANNEL_NONE;
        }
    }
    return steps;
}

int mca_coll_pipering_channels_agree(mca_coll_pipering_pipe_t *pipe)
{
    int steps = 0;

    for (int i = 0; i < pipe->ins && 0 < pipe->agreeing; ++i) {
        if (pipe->source[i].channel.wanted) {
            steps += agree_in(pipe, &pipe->source[i].channel);
        }
    }
    for (int i = 0; i < pipe->outs && 0 < pipe->agreeing; ++i) {
        if (pipe->sink[i].channel.wanted) {
            steps += agree_out(pipe, &pipe->sink[i]);
        }
    }
    return steps;
}

/* ---- the end ---- */

/* An answer comes in where the grant has left. */
static bool abandon(mca_coll_pipering_channel_t *channel, bool in)
{
    const bool grant = mca_common_colltools_abandon(&channel->request[GRANT], 0, 1, 1, !in);
    const bool answer = mca_common_colltools_abandon(&channel->request[ANSWER], 0, 1, 1, in);

    return grant || answer;
}

bool mca_coll_pipering_channels_fini(mca_coll_pipering_pipe_t *pipe)
{
    bool pending = false;

    for (int i = 0; i < pipe->ins; ++i) {
        mca_coll_pipering_channel_t *channel = &pipe->source[i].channel;
        if (MCA_COLL_PIPERING_CHANNEL_OPEN == channel->state && !channel->granted) {
            mca_coll_pipering_arena_release(channel->fifo);
        }
        pending |= channel->wanted && abandon(channel, true);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        mca_coll_pipering_channel_t *channel = &pipe->sink[i].channel;
        if (NULL != channel->fifo) {
            mca_coll_pipering_arena_detach(channel->neighbour);
        }
        pending |= channel->wanted && abandon(channel, false);
    }
    return pending;
}
