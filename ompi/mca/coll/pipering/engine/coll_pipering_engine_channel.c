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
 * Channels, links through ring buffers in shared memory: a block is copied in by the sender
 * and, unless it stays there until it is combined or unpacked, out by the receiver, one block
 * a turn of the engine, so that the links are looked at in between.
 */

#include "coll_pipering_engine_steps.h"

/* Blocks can pass; of a communicator with a failure none do. */
static bool is_open(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_channel_t *channel)
{
    const int failure = mca_common_colltools_failure(pipe->comm);

    if (OMPI_SUCCESS != failure) {
        mca_coll_pipering_fail(pipe, failure);
        return false;
    }
    return MCA_COLL_PIPERING_CHANNEL_OPEN == channel->state;
}

/* No block can pass yet, or none ever will. */
static void look_at_break(mca_coll_pipering_pipe_t *pipe,
                          const mca_coll_pipering_channel_t *channel)
{
    if (mca_coll_pipering_fifo_is_broken(&channel->run)) {
        mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
    }
}

static void give_back(mca_coll_pipering_channel_t *channel, uint64_t blocks)
{
    if (blocks > channel->released) {
        mca_coll_pipering_fifo_give_back(channel->fifo, blocks);
        channel->released = blocks;
    }
}

int mca_coll_pipering_take_in(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    mca_coll_pipering_channel_t *channel = &source->channel;
    mca_coll_pipering_block_t block;
    const uint64_t k = source->arrived;

    if (!is_open(pipe, channel) || k == source->total
        || !mca_coll_pipering_has_slot(pipe, source, k)
        || !mca_coll_pipering_fifo_is_there(channel->fifo, &channel->run, k)) {
        look_at_break(pipe, channel);
        return 0;
    }
    (void) mca_coll_pipering_walk_next(&source->coming, &block);
    const size_t size = block.length * pipe->unit.size;
    if (!source->stays) {
        mca_coll_pipering_copy_block(pipe, mca_coll_pipering_block_place(pipe, source, k, &block),
                                     mca_coll_pipering_fifo_place(channel->fifo, &channel->run, k),
                                     size);
        give_back(channel, k + 1);
    }
    if (OMPI_SUCCESS != pipe->error) {
        return 0;
    }
    source->posted = ++source->arrived;
    ++pipe->traffic.blocks_in;
    pipe->traffic.bytes_in += size;
    pipe->traffic.bytes_shared += size;
    return 1;
}

int mca_coll_pipering_put_out(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_channel_t *channel = &sink->channel;
    mca_coll_pipering_block_t block;
    const uint64_t k = sink->sent;

    if (!is_open(pipe, channel) || k == sink->total
        || !mca_coll_pipering_fifo_has_room(channel->fifo, &channel->run, k)) {
        look_at_break(pipe, channel);
        return 0;
    }
    const char *place = mca_coll_pipering_next_to_send(pipe, sink, &block);
    if (NULL == place) {
        return 0;
    }
    const size_t size = block.length * pipe->unit.size;
    mca_coll_pipering_copy_block(pipe,
                                 mca_coll_pipering_fifo_place(channel->fifo, &channel->run, k),
                                 place, size);
    if (OMPI_SUCCESS != pipe->error) {
        return 0; /* the block cannot be copied, or its sender has given up: nobody may see it */
    }
    mca_coll_pipering_fifo_show(channel->fifo, k + 1);
    sink->completed = ++sink->sent;
    ++pipe->traffic.blocks_out;
    pipe->traffic.bytes_out += size;
    if (sink->sent == sink->total) {
        channel->state = MCA_COLL_PIPERING_CHANNEL_OVER;
    }
    return 1;
}

/* ---- the end ---- */

/* What stays in the buffer is done with when its slot would be. */
static void release(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    mca_coll_pipering_channel_t *channel = &source->channel;
    const uint64_t done = source->stays ? mca_coll_pipering_reusable(pipe, source)
                                        : source->arrived;

    if (done == source->total) {
        channel->state = MCA_COLL_PIPERING_CHANNEL_OVER;
        mca_coll_pipering_arena_release(channel->fifo);
    } else {
        give_back(channel, done);
    }
}

void mca_coll_pipering_channels_release(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < pipe->ins; ++i) {
        if (MCA_COLL_PIPERING_CHANNEL_OPEN == pipe->source[i].channel.state) {
            release(pipe, &pipe->source[i]);
        }
    }
}

static bool is_over(const mca_coll_pipering_channel_t *channel)
{
    return MCA_COLL_PIPERING_CHANNEL_NONE == channel->state
           || MCA_COLL_PIPERING_CHANNEL_OVER == channel->state;
}

bool mca_coll_pipering_channels_over(const mca_coll_pipering_pipe_t *pipe)
{
    bool over = 0 == pipe->agreeing;

    for (int i = 0; i < pipe->ins; ++i) {
        over = over && is_over(&pipe->source[i].channel);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        over = over && is_over(&pipe->sink[i].channel);
    }
    return over;
}

/*
 * A buffer whose sender has not given up may be written to as long as the process lives, so
 * that it is never leased again. Of the failure of a process others hear by themselves, and
 * are to return that error, not one of ours.
 */
static void break_channel(mca_coll_pipering_channel_t *channel, bool tells, bool sends)
{
    if (MCA_COLL_PIPERING_CHANNEL_OPEN != channel->state) {
        return;
    }
    channel->state = MCA_COLL_PIPERING_CHANNEL_OVER;
    if (!sends && mca_coll_pipering_fifo_is_broken(&channel->run)) {
        mca_coll_pipering_arena_release(channel->fifo);
    } else if (tells) {
        mca_coll_pipering_fifo_break(channel->fifo, sends);
    }
}

void mca_coll_pipering_channels_break(mca_coll_pipering_pipe_t *pipe)
{
    const bool tells = !mca_common_colltools_is_failure(pipe->error);

    for (int i = 0; i < pipe->ins; ++i) {
        break_channel(&pipe->source[i].channel, tells, false);
    }
    for (int i = 0; i < pipe->outs; ++i) {
        break_channel(&pipe->sink[i].channel, tells, true);
    }
}
