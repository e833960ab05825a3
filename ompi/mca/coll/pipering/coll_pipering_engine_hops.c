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
 * Links through ring buffers: a block is copied in by the sender and, unless it stays
 * there until it is combined or unpacked, out by the receiver, one block a turn of
 * the engine, so that the links are looked at in between.
 */

#include "coll_pipering_engine_steps.h"

/* Blocks can pass; of a communicator with a failure none do. */
static bool is_open(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_hop_t *hop)
{
    const int failure = mca_common_irregular_failure(pipe->comm);

    if (OMPI_SUCCESS != failure) {
        mca_coll_pipering_fail(pipe, failure);
        return false;
    }
    return MCA_COLL_PIPERING_HOP_OPEN == hop->state;
}

/* No block can pass yet, or none ever will. */
static void look_at_break(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_hop_t *hop)
{
    if (mca_coll_pipering_fifo_is_broken(&hop->run)) {
        mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
    }
}

static void give_back(mca_coll_pipering_hop_t *hop, uint64_t blocks)
{
    if (blocks > hop->released) {
        mca_coll_pipering_fifo_give_back(hop->fifo, blocks);
        hop->released = blocks;
    }
}

int mca_coll_pipering_take_in(mca_coll_pipering_pipe_t *pipe, int index)
{
    mca_coll_pipering_source_t *source = &pipe->source[index];
    mca_coll_pipering_hop_t *hop = &source->hop;
    mca_coll_pipering_block_t block;
    const uint64_t k = source->arrived;

    if (!is_open(pipe, hop) || k == source->total || !mca_coll_pipering_has_slot(pipe, index, k)
        || !mca_coll_pipering_fifo_is_there(hop->fifo, &hop->run, k)) {
        look_at_break(pipe, hop);
        return 0;
    }
    (void) mca_coll_pipering_walk_next(&source->coming, &block);
    const size_t size = block.length * pipe->unit.size;
    if (!source->stays) {
        mca_coll_pipering_copy_block(pipe, mca_coll_pipering_block_place(pipe, source, k, &block),
                                     mca_coll_pipering_fifo_place(hop->fifo, &hop->run, k), size);
        give_back(hop, k + 1);
    }
    source->posted = ++source->arrived;
    ++pipe->traffic.blocks_in;
    pipe->traffic.bytes_in += size;
    pipe->traffic.bytes_shared += size;
    return 1;
}

int mca_coll_pipering_put_out(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_hop_t *hop = &sink->hop;
    mca_coll_pipering_block_t block;
    const uint64_t k = sink->sent;

    if (!is_open(pipe, hop) || k == sink->total
        || !mca_coll_pipering_fifo_has_room(hop->fifo, &hop->run, k)) {
        look_at_break(pipe, hop);
        return 0;
    }
    const char *place = mca_coll_pipering_next_to_send(pipe, sink, &block);
    if (NULL == place) {
        return 0;
    }
    const size_t size = block.length * pipe->unit.size;
    mca_coll_pipering_copy_block(pipe, mca_coll_pipering_fifo_place(hop->fifo, &hop->run, k), place,
                                 size);
    mca_coll_pipering_fifo_show(hop->fifo, k + 1);
    sink->completed = ++sink->sent;
    ++pipe->traffic.blocks_out;
    pipe->traffic.bytes_out += size;
    if (sink->sent == sink->total) {
        hop->state = MCA_COLL_PIPERING_HOP_OVER;
    }
    return 1;
}

/* ---- the end ---- */

/* What stays in the buffer is done with when its slot would be. */
static void release(mca_coll_pipering_pipe_t *pipe, int index)
{
    mca_coll_pipering_source_t *source = &pipe->source[index];
    mca_coll_pipering_hop_t *hop = &source->hop;
    const uint64_t done = source->stays
                              ? mca_coll_pipering_at_most(mca_coll_pipering_settled(pipe, index),
                                                          source->arrived)
                              : source->arrived;

    if (done == source->total) {
        hop->state = MCA_COLL_PIPERING_HOP_OVER;
        mca_coll_pipering_arena_release(hop->fifo);
    } else {
        give_back(hop, done);
    }
}

void mca_coll_pipering_hops_release(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (MCA_COLL_PIPERING_HOP_OPEN == pipe->source[i].hop.state) {
            release(pipe, i);
        }
    }
}

static bool is_over(const mca_coll_pipering_hop_t *hop)
{
    return MCA_COLL_PIPERING_HOP_NONE == hop->state || MCA_COLL_PIPERING_HOP_OVER == hop->state;
}

bool mca_coll_pipering_hops_over(const mca_coll_pipering_pipe_t *pipe)
{
    bool over = 0 == pipe->agreeing;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        over = over && is_over(&pipe->source[i].hop) && is_over(&pipe->sink[i].hop);
    }
    return over;
}

/*
 * A buffer whose sender has not given up may be written to as long as the process lives, so
 * that it is never leased again. Of the failure of a process others hear by themselves, and
 * are to return that error, not one of ours.
 */
void mca_coll_pipering_hops_break(mca_coll_pipering_pipe_t *pipe)
{
    const bool tells = !mca_common_irregular_is_failure(pipe->error);

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_hop_t *in = &pipe->source[i].hop, *out = &pipe->sink[i].hop;
        if (MCA_COLL_PIPERING_HOP_OPEN == in->state) {
            in->state = MCA_COLL_PIPERING_HOP_OVER;
            if (mca_coll_pipering_fifo_is_broken(&in->run)) {
                mca_coll_pipering_arena_release(in->fifo);
            } else if (tells) {
                mca_coll_pipering_fifo_break(in->fifo, false);
            }
        }
        if (MCA_COLL_PIPERING_HOP_OPEN == out->state) {
            out->state = MCA_COLL_PIPERING_HOP_OVER;
            if (tells) {
                mca_coll_pipering_fifo_break(out->fifo, true);
            }
        }
    }
}
