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

void mca_coll_pipering_turn_take(mca_coll_pipering_turn_t *turn, mca_coll_pipering_hop_t *hop,
                                 size_t block_bytes, unsigned ahead)
{
    turn->hop = hop;
    if (NULL != hop) {
        turn->ticket = hop->issued++;
        mca_coll_pipering_fifo_start(&turn->run, 0, hop->size, block_bytes, ahead);
    }
}

/* True if the hop is ours now; where our run begins is known when the one before is over. */
static bool has_turn(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_turn_t *turn)
{
    const int failure = mca_common_irregular_failure(pipe->comm);
    mca_coll_pipering_hop_t *hop = turn->hop;

    if (OMPI_SUCCESS != failure || hop->broken) {
        mca_coll_pipering_fail(pipe, OMPI_SUCCESS != failure ? failure : OMPI_ERROR);
        return false;
    }
    if (turn->over || hop->serving != turn->ticket) {
        return false;
    }
    if (!turn->begun) {
        turn->begun = true;
        turn->run.from = hop->position;
    }
    return true;
}

static void end_turn(mca_coll_pipering_turn_t *turn, uint64_t blocks)
{
    turn->hop->position = mca_coll_pipering_fifo_behind(&turn->run, blocks);
    ++turn->hop->serving;
    turn->over = true;
}

static void give_back(mca_coll_pipering_turn_t *turn, uint64_t blocks)
{
    if (blocks > turn->released) {
        mca_coll_pipering_fifo_give_back(turn->hop->fifo, &turn->run, blocks);
        turn->released = blocks;
    }
}

int mca_coll_pipering_take_in(mca_coll_pipering_pipe_t *pipe, int index)
{
    mca_coll_pipering_source_t *source = &pipe->source[index];
    mca_coll_pipering_turn_t *turn = &source->turn;
    mca_coll_pipering_block_t block;
    const uint64_t k = source->arrived;

    if (!has_turn(pipe, turn) || k == source->total
        || !mca_coll_pipering_has_slot(pipe, index, k)
        || !mca_coll_pipering_fifo_is_there(turn->hop->fifo, &turn->run, k)) {
        return 0;
    }
    (void) mca_coll_pipering_walk_next(&source->coming, &block);
    const size_t size = block.length * pipe->unit.size;
    if (!source->stays) {
        mca_coll_pipering_copy_block(pipe, mca_coll_pipering_block_place(pipe, source, k, &block),
                                     mca_coll_pipering_fifo_place(turn->hop->fifo, &turn->run, k),
                                     size);
        give_back(turn, k + 1);
    }
    source->posted = ++source->arrived;
    ++pipe->traffic.blocks_in;
    pipe->traffic.bytes_in += size;
    pipe->traffic.bytes_shared += size;
    return 1;
}

int mca_coll_pipering_put_out(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_turn_t *turn = &sink->turn;
    mca_coll_pipering_block_t block;
    const uint64_t k = sink->sent;

    if (!has_turn(pipe, turn) || k == sink->total
        || !mca_coll_pipering_fifo_has_room(turn->hop->fifo, &turn->run, k)) {
        return 0;
    }
    const char *place = mca_coll_pipering_next_to_send(pipe, sink, &block);
    if (NULL == place) {
        return 0;
    }
    const size_t size = block.length * pipe->unit.size;
    mca_coll_pipering_copy_block(pipe,
                                 mca_coll_pipering_fifo_place(turn->hop->fifo, &turn->run, k),
                                 place, size);
    mca_coll_pipering_fifo_show(turn->hop->fifo, &turn->run, k + 1);
    sink->completed = ++sink->sent;
    ++pipe->traffic.blocks_out;
    pipe->traffic.bytes_out += size;
    return 1;
}

/* What stays in the buffer is done with when its slot would be. */
static void release(mca_coll_pipering_pipe_t *pipe, int index)
{
    mca_coll_pipering_source_t *source = &pipe->source[index];
    mca_coll_pipering_turn_t *turn = &source->turn;
    const uint64_t done = source->stays
                              ? mca_coll_pipering_at_most(mca_coll_pipering_settled(pipe, index),
                                                          source->arrived)
                              : source->arrived;

    give_back(turn, done);
    if (done == source->total) {
        end_turn(turn, done);
    }
}

void mca_coll_pipering_end_turns(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (NULL != pipe->source[i].turn.hop && !pipe->source[i].turn.over) {
            release(pipe, i);
        }
        if (NULL != sink->turn.hop && !sink->turn.over && sink->sent == sink->total) {
            end_turn(&sink->turn, sink->total);
        }
    }
}

static bool is_over(const mca_coll_pipering_turn_t *turn)
{
    return NULL == turn->hop || turn->over;
}

bool mca_coll_pipering_turns_over(const mca_coll_pipering_pipe_t *pipe)
{
    bool over = true;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        over = over && is_over(&pipe->source[i].turn) && is_over(&pipe->sink[i].turn);
    }
    return over;
}

void mca_coll_pipering_break_turns(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (!is_over(&pipe->source[i].turn)) {
            pipe->source[i].turn.hop->broken = true;
        }
        if (!is_over(&pipe->sink[i].turn)) {
            pipe->sink[i].turn.hop->broken = true;
        }
    }
}
