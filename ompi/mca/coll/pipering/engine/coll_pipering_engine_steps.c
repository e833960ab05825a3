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
 * The steps of coll_pipering_engine_steps.h: one piece of work a turn each, so that
 * the links are looked at in between.
 */

#include "coll_pipering_engine_steps.h"

#include <string.h>

#include "ompi/op/op.h"

void mca_coll_pipering_retire(mca_coll_pipering_pipe_t *pipe, ompi_request_t **request,
                              size_t expected)
{
    const int rc = mca_common_colltools_judge(pipe->caller, &(*request)->req_status, expected);

    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_fail(pipe, rc);
    }
    ompi_request_free(request);
}

/* ---- where blocks lie ---- */

static char *in_layout(const mca_coll_pipering_pipe_t *pipe,
                       const mca_coll_pipering_layout_t *layout,
                       const mca_coll_pipering_block_t *block)
{
    const ptrdiff_t shift = NULL == pipe->unit.type ? layout->true_lb : 0;

    return mca_coll_pipering_contribution(layout, block->rank) + shift
           + (ptrdiff_t) block->offset * pipe->unit.extent;
}

char *mca_coll_pipering_block_place(const mca_coll_pipering_pipe_t *pipe,
                                    const mca_coll_pipering_source_t *source, uint64_t k,
                                    const mca_coll_pipering_block_t *block)
{
    if (source->stays) {
        return mca_coll_pipering_fifo_place(source->channel.fifo, &source->channel.run, k);
    }
    if (NULL != source->slots) {
        return source->slots + (k % source->slot_count) * source->slot_size + pipe->slot_shift;
    }
    return in_layout(pipe, source->place, block);
}

/* Where result k lies. */
static char *result_place(const mca_coll_pipering_pipe_t *pipe, uint64_t k,
                          const mca_coll_pipering_block_t *block)
{
    const mca_coll_pipering_combine_t *combine = &pipe->combine;

    if (NULL != combine->home) {
        return mca_coll_pipering_block_place(pipe, combine->home, k, block);
    }
    if (NULL != combine->slots) {
        return combine->slots + (k % combine->slot_count) * combine->slot_size + pipe->slot_shift;
    }
    return in_layout(pipe, combine->args->result, block);
}

static char *next_result(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink,
                         mca_coll_pipering_block_t *block)
{
    const uint64_t k = sink->sent - sink->own;

    if (k >= pipe->combine.done) {
        return NULL;
    }
    (void) mca_coll_pipering_walk_next(&sink->forward_walk, block);
    return result_place(pipe, k, block);
}

char *mca_coll_pipering_next_to_send(mca_coll_pipering_pipe_t *pipe,
                                     mca_coll_pipering_sink_t *sink,
                                     mca_coll_pipering_block_t *block)
{
    const bool own = sink->sent < sink->own;
    const mca_coll_pipering_source_t *source = own ? pipe->own : sink->from;
    const uint64_t k = own ? sink->sent : sink->sent - sink->own;

    if (!own && NULL != pipe->combine.args) {
        return next_result(pipe, sink, block);
    }
    if (k >= source->arrived) {
        return NULL;
    }
    (void) mca_coll_pipering_walk_next(own ? &sink->own_walk : &sink->forward_walk, block);
    return mca_coll_pipering_block_place(pipe, source, k, block);
}

/* ---- slots ---- */

/* Blocks of a source, from the first on, that a sink is done with; it may send none of them. */
static uint64_t sink_is_done_with(const mca_coll_pipering_pipe_t *pipe,
                                  const mca_coll_pipering_sink_t *sink,
                                  const mca_coll_pipering_source_t *source)
{
    const uint64_t own = mca_coll_pipering_at_most(sink->completed, sink->own);

    if (source == pipe->own) {
        return own == sink->own ? UINT64_MAX : own;
    }
    if (source != sink->from || sink->completed == sink->total || sink->total == sink->own) {
        return UINT64_MAX;
    }
    return sink->completed - own;
}

uint64_t mca_coll_pipering_reusable(const mca_coll_pipering_pipe_t *pipe,
                                    const mca_coll_pipering_source_t *source)
{
    const bool combined = NULL != pipe->combine.args && 0 <= source->peer;
    uint64_t blocks = combined                                   ? pipe->combine.done
                      : mca_coll_pipering_wants_delivery(source) ? source->delivered
                                                                 : source->arrived;

    for (int i = 0; i < pipe->outs; ++i) {
        blocks = mca_coll_pipering_at_most(blocks,
                                           sink_is_done_with(pipe, &pipe->sink[i], source));
    }
    return blocks;
}

/* ---- own blocks that are not dense ---- */

static size_t drain_carry(mca_coll_pipering_packing_t *packing, char *to, size_t room)
{
    const size_t left = packing->carry_to - packing->carry_from, size = left < room ? left : room;

    memcpy(to, packing->carry + packing->carry_from, size);
    packing->carry_from += size;
    return size;
}

/* Fills `length` bytes exactly. */
static bool pack_exactly(mca_coll_pipering_packing_t *packing, char *to, size_t length)
{
    size_t done = drain_carry(packing, to, length);

    while (done < length) {
        size_t packed = mca_common_colltools_pack(&packing->packer, to + done, length - done);
        if (0 == packed) {
            packing->carry_from = 0;
            packing->carry_to = mca_common_colltools_pack(&packing->packer, packing->carry,
                                                          sizeof(packing->carry));
            packed = drain_carry(packing, to + done, length - done);
        }
        if (0 == packed) {
            return false;
        }
        done += packed;
    }
    return true;
}

/*
 * The first own block is the first of a contribution or, where pipelines share these, of a part
 * of one. A packer cannot begin within an element: it is set back to where that begins.
 */
static bool begin_packing(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_block_t *first)
{
    const mca_coll_pipering_layout_t *from = pipe->own->place;
    mca_coll_pipering_packing_t *packing = &pipe->packing;
    size_t begin = first->offset;

    packing->begun = true;
    OBJ_CONSTRUCT(&packing->packer, opal_convertor_t);
    mca_common_colltools_packer(&packing->packer, from->type,
                                mca_coll_pipering_contribution_count(from, first->rank),
                                mca_coll_pipering_contribution(from, first->rank));
    if (0 == begin) {
        return true;
    }
    opal_convertor_set_position(&packing->packer, &begin);
    if (begin < first->offset) {
        packing->carry_from = first->offset - begin;
        packing->carry_to = mca_common_colltools_pack(&packing->packer, packing->carry,
                                                          sizeof(packing->carry));
    }
    return packing->carry_from <= packing->carry_to;
}

int mca_coll_pipering_pack_own(mca_coll_pipering_pipe_t *pipe)
{
    mca_coll_pipering_source_t *own = pipe->own;
    mca_coll_pipering_block_t block;

    if (own->arrived == own->total || !mca_coll_pipering_has_slot(pipe, own, own->arrived)
        || !mca_coll_pipering_walk_next(&own->coming, &block)) {
        return 0;
    }
    if ((!pipe->packing.begun && !begin_packing(pipe, &block))
        || !pack_exactly(&pipe->packing,
                         mca_coll_pipering_block_place(pipe, own, own->arrived, &block),
                         block.length)) {
        mca_coll_pipering_fail(pipe, OMPI_ERROR);
    }
    pipe->traffic.bytes_copied += block.length;
    ++own->arrived;
    return 1;
}

/* ---- delivery to the user's buffer ---- */

/* Makes the unpacker one of the contribution of a block, from where this block begins. */
static void aim_unpacker(mca_coll_pipering_source_t *source, const mca_coll_pipering_block_t *block)
{
    const mca_coll_pipering_layout_t *to = source->to;
    size_t begin = block->offset;

    if (source->unpacking == block->rank) {
        return;
    }
    if (0 <= source->unpacking) {
        opal_convertor_cleanup(&source->unpacker);
    } else {
        OBJ_CONSTRUCT(&source->unpacker, opal_convertor_t);
    }
    source->unpacking = block->rank;
    mca_common_colltools_unpacker(&source->unpacker, to->type,
                                  mca_coll_pipering_contribution_count(to, block->rank),
                                  mca_coll_pipering_contribution(to, block->rank));
    if (0 < begin) {
        opal_convertor_set_position(&source->unpacker, &begin);
    }
}

/* Unpacks a piece of a block of bytes; the bytes done. */
static size_t unpack_piece(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    const mca_coll_pipering_block_t *block = &source->delivery;
    const size_t left = block->length - source->delivery_done;
    const char *place = mca_coll_pipering_block_place(pipe, source, source->delivered, block)
                        + source->delivery_done;
    const bool is_users = NULL == source->slots && !source->stays;

    aim_unpacker(source, block);
    const size_t done = mca_common_colltools_unpack(&source->unpacker, place,
                                                    left < MCA_COLL_PIPERING_PIECE
                                                        ? left
                                                        : MCA_COLL_PIPERING_PIECE,
                                                    is_users && pipe->on_device);
    pipe->traffic.bytes_copied += done;
    return done;
}

static void copy_elements(mca_coll_pipering_pipe_t *pipe, size_t count, char *to,
                          const char *from)
{
    pipe->traffic.bytes_copied += count * pipe->unit.size;
    (void) ompi_datatype_copy_content_same_ddt(pipe->unit.type, count, to, (char *) from);
}

static size_t copy_block(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    const mca_coll_pipering_block_t *block = &source->delivery;

    copy_elements(pipe, block->length, in_layout(pipe, source->to, block),
                  mca_coll_pipering_block_place(pipe, source, source->delivered, block));
    return block->length;
}

int mca_coll_pipering_deliver(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    if (!mca_coll_pipering_wants_delivery(source) || source->delivered == source->arrived) {
        return 0;
    }
    if (0 == source->delivery_done) {
        (void) mca_coll_pipering_walk_next(&source->delivering, &source->delivery);
    }

    const size_t done = NULL == pipe->unit.type ? unpack_piece(pipe, source)
                                                : copy_block(pipe, source);
    if (0 == done) {
        mca_coll_pipering_fail(pipe, OMPI_ERROR);
        return 0;
    }
    source->delivery_done += done;
    if (source->delivery_done == source->delivery.length) {
        source->delivery_done = 0;
        ++source->delivered;
    }
    return 1;
}

/* ---- combining ---- */

/* Own blocks, the last of all, are what the pipeline before has made of own values. */
static bool is_made_before(const mca_coll_pipering_pipe_t *pipe)
{
    return NULL != pipe->gate && pipe->combine.done >= pipe->combine.total - pipe->own->total;
}

/* The next block of all links in, and of the pipeline before. */
static bool partners_are_there(const mca_coll_pipering_pipe_t *pipe)
{
    const uint64_t k = pipe->combine.done;

    if (k == pipe->combine.total
        || (is_made_before(pipe)
            && pipe->own->arrived <= k - (pipe->combine.total - pipe->own->total))) {
        return false;
    }
    for (int i = 0; i < pipe->ins; ++i) {
        if (k >= pipe->source[i].arrived) {
            return false;
        }
    }
    return true;
}

/* Room for the next result, where it does not take the place of what has come in. */
static bool has_result_slot(const mca_coll_pipering_pipe_t *pipe)
{
    const mca_coll_pipering_combine_t *combine = &pipe->combine;
    uint64_t reusable = combine->done;

    if (NULL == combine->slots) {
        return true;
    }
    for (int i = 0; i < pipe->outs; ++i) {
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        reusable = sink->completed == sink->total
                       ? reusable
                       : mca_coll_pipering_at_most(reusable, sink->completed);
    }
    return combine->done - reusable < combine->slot_count;
}

/* result = block k of link `from`, .., of link `to` - 1, and result, in this order. */
static void reduce_links(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_block_t *block,
                         int from, int to, char *result)
{
    for (int i = to - 1; from <= i; --i) {
        ompi_op_reduce(pipe->combine.args->op,
                       mca_coll_pipering_block_place(pipe, &pipe->source[i], pipe->combine.done,
                                                     block),
                       result, block->length, pipe->unit.type);
    }
}

/*
 * result = links below op own op links above, from the right to the left. An operation works on
 * its second argument, which is the block of the last link or, if none is above, a copy of own.
 */
static char *reduce_block(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_block_t *block)
{
    const mca_coll_pipering_combine_args_t *args = pipe->combine.args;
    char *own = in_layout(pipe, is_made_before(pipe) ? args->result : args->own, block);
    char *result = result_place(pipe, pipe->combine.done, block);

    if (NULL != pipe->combine.home) {
        reduce_links(pipe, block, pipe->combine.below, pipe->ins - 1, result);
        ompi_op_reduce(args->op, own, result, block->length, pipe->unit.type);
    } else if (own != result) {
        copy_elements(pipe, block->length, result, own);
    }
    reduce_links(pipe, block, 0, pipe->combine.below, result);
    return result;
}

static void keep_result(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_block_t *block,
                        const char *result)
{
    const mca_coll_pipering_combine_args_t *args = pipe->combine.args;

    if (NULL == args->result || args->keep != block->rank) {
        return;
    }
    if (args->exclusive) {
        result = mca_coll_pipering_block_place(pipe, &pipe->source[0], pipe->combine.done, block);
    }
    char *place = in_layout(pipe, args->result, block);
    if (result != place) {
        copy_elements(pipe, block->length, place, result);
    }
}

int mca_coll_pipering_combine(mca_coll_pipering_pipe_t *pipe)
{
    mca_coll_pipering_combine_t *combine = &pipe->combine;
    mca_coll_pipering_block_t block;

    if (!partners_are_there(pipe) || !has_result_slot(pipe)
        || !mca_coll_pipering_walk_next(&combine->walk, &block)) {
        return 0;
    }
    keep_result(pipe, &block, reduce_block(pipe, &block));
    ++combine->done;
    return 1;
}
