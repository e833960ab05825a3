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
        return mca_coll_pipering_fifo_place(source->hop.fifo, &source->hop.run, k);
    }
    if (NULL != source->slots) {
        return source->slots + (k % source->slot_count) * source->slot_size + pipe->slot_shift;
    }
    return in_layout(pipe, source->place, block);
}

char *mca_coll_pipering_result_place(const mca_coll_pipering_pipe_t *pipe, uint64_t k,
                                     const mca_coll_pipering_block_t *block)
{
    const mca_coll_pipering_combine_t *combine = &pipe->combine;

    if (0 <= combine->plan->upper) {
        return mca_coll_pipering_block_place(pipe, &pipe->source[combine->plan->upper], k, block);
    }
    if (NULL != combine->slots) {
        return combine->slots + (k % combine->slot_count) * combine->slot_size + pipe->slot_shift;
    }
    return in_layout(pipe, combine->plan->result, block);
}

char *mca_coll_pipering_next_to_send(mca_coll_pipering_pipe_t *pipe,
                                     mca_coll_pipering_sink_t *sink,
                                     mca_coll_pipering_block_t *block)
{
    const bool own = sink->sent < sink->own;
    const bool result = !own && MCA_COLL_PIPERING_RESULTS == sink->source;
    const uint64_t k = own ? sink->sent : sink->sent - sink->own;
    mca_coll_pipering_source_t *source
        = result ? NULL : &pipe->source[own ? (int) MCA_COLL_PIPERING_OWN : sink->source];

    if (k >= (result ? pipe->combine.done : source->arrived)) {
        return NULL;
    }
    (void) mca_coll_pipering_walk_next(own ? &sink->own_walk : &sink->forward_walk, block);
    return result ? mca_coll_pipering_result_place(pipe, k, block)
                  : mca_coll_pipering_block_place(pipe, source, k, block);
}

/* ---- slots ---- */

/* The source whose slots a sink sends from, -1: it sends results that lie elsewhere. */
static int source_of(const mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_sink_t *sink)
{
    return MCA_COLL_PIPERING_RESULTS == sink->source ? pipe->combine.plan->upper : sink->source;
}

/* Own blocks of a sink that it is done with, or blocks of `source` if it sends from its slots. */
static uint64_t sink_settled(const mca_coll_pipering_pipe_t *pipe,
                             const mca_coll_pipering_sink_t *sink, int source)
{
    const uint64_t own = mca_coll_pipering_at_most(sink->completed, sink->own);

    if (MCA_COLL_PIPERING_OWN == source) {
        return 0 == sink->own || own == sink->own ? UINT64_MAX : own;
    }
    if (source_of(pipe, sink) != source || sink->completed == sink->total
        || sink->total == sink->own) {
        return UINT64_MAX;
    }
    return sink->completed - own;
}

uint64_t mca_coll_pipering_settled(const mca_coll_pipering_pipe_t *pipe, int index)
{
    const mca_coll_pipering_source_t *source = &pipe->source[index];
    const mca_coll_pipering_combine_plan_t *combine = pipe->combine.plan;
    const bool combined = NULL != combine && (index == combine->lower || index == combine->upper);
    uint64_t blocks = combined                                   ? pipe->combine.done
                      : mca_coll_pipering_wants_delivery(source) ? source->delivered
                                                                 : source->arrived;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->sink[i].peer) {
            blocks = mca_coll_pipering_at_most(blocks, sink_settled(pipe, &pipe->sink[i], index));
        }
    }
    return blocks;
}

bool mca_coll_pipering_has_slot(const mca_coll_pipering_pipe_t *pipe, int index, uint64_t k)
{
    const mca_coll_pipering_source_t *source = &pipe->source[index];
    return NULL == source->slots || k - mca_coll_pipering_settled(pipe, index) < source->slot_count;
}

/* ---- own blocks that are not dense ---- */

/* Asks the packer for up to `room` bytes; it gives whole elements only. */
static size_t pack_some(mca_coll_pipering_source_t *own, char *to, size_t room)
{
    return mca_common_irregular_pack(&own->packer, to, room, false);
}

static size_t drain_carry(mca_coll_pipering_source_t *own, char *to, size_t room)
{
    const size_t left = own->carry_to - own->carry_from, size = left < room ? left : room;

    memcpy(to, own->carry + own->carry_from, size);
    own->carry_from += size;
    return size;
}

/* Fills `length` bytes exactly. */
static bool pack_exactly(mca_coll_pipering_source_t *own, char *to, size_t length)
{
    size_t done = drain_carry(own, to, length);

    while (done < length) {
        size_t packed = pack_some(own, to + done, length - done);
        if (0 == packed) {
            own->carry_from = 0;
            own->carry_to = pack_some(own, own->carry, sizeof(own->carry));
            packed = drain_carry(own, to + done, length - done);
        }
        if (0 == packed) {
            return false;
        }
        done += packed;
    }
    return true;
}

int mca_coll_pipering_pack_own(mca_coll_pipering_pipe_t *pipe)
{
    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];
    mca_coll_pipering_block_t block;

    if (NULL == own->slots || own->arrived == own->total
        || !mca_coll_pipering_has_slot(pipe, MCA_COLL_PIPERING_OWN, own->arrived)
        || !mca_coll_pipering_walk_next(&own->coming, &block)) {
        return 0;
    }
    if (!own->packing) {
        own->packing = true;
        opal_convertor_copy_and_prepare_for_send(
            ompi_mpi_local_convertor, &own->place->type->super,
            mca_coll_pipering_contribution_count(own->place, block.rank),
            mca_coll_pipering_contribution(own->place, block.rank), 0, &own->packer);
    }
    if (!pack_exactly(own, mca_coll_pipering_block_place(pipe, own, own->arrived, &block),
                      block.length)) {
        mca_coll_pipering_fail(pipe, OMPI_ERROR);
    }
    ++own->arrived;
    return 1;
}

/* ---- delivery to the user's buffer ---- */

static void aim_unpacker(mca_coll_pipering_source_t *source, int rank)
{
    if (source->unpacking == rank) {
        return;
    }
    if (0 <= source->unpacking) {
        opal_convertor_cleanup(&source->unpacker);
    }
    source->unpacking = rank;
    opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &source->to->type->super,
                                             mca_coll_pipering_contribution_count(source->to, rank),
                                             mca_coll_pipering_contribution(source->to, rank), 0,
                                             &source->unpacker);
}

/* Unpacks a piece of a block of bytes; the bytes done. */
static size_t unpack_piece(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    const mca_coll_pipering_block_t *block = &source->delivery;
    const size_t left = block->length - source->delivery_done;
    const char *place = mca_coll_pipering_block_place(pipe, source, source->delivered, block)
                        + source->delivery_done;
    const bool is_users = NULL == source->slots && !source->stays;

    aim_unpacker(source, block->rank);
    return mca_common_irregular_unpack(&source->unpacker, place,
                                       left < MCA_COLL_PIPERING_PIECE ? left
                                                                      : MCA_COLL_PIPERING_PIECE,
                                       is_users && pipe->on_device);
}

static void copy_elements(const mca_coll_pipering_pipe_t *pipe, size_t count, char *to,
                          const char *from)
{
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

static bool partners_are_there(const mca_coll_pipering_pipe_t *pipe)
{
    const mca_coll_pipering_combine_t *combine = &pipe->combine;
    const int lower = combine->plan->lower, upper = combine->plan->upper;

    return combine->done < combine->total
           && (0 > lower || pipe->source[lower].arrived > combine->done)
           && (0 > upper || pipe->source[upper].arrived > combine->done);
}

/* Room for the next result, where it does not take the place of what came from above. */
static bool has_result_slot(const mca_coll_pipering_pipe_t *pipe)
{
    const mca_coll_pipering_combine_t *combine = &pipe->combine;
    uint64_t settled = combine->done;

    if (NULL == combine->slots) {
        return true;
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->sink[i].peer) {
            settled = mca_coll_pipering_at_most(settled, pipe->sink[i].completed);
        }
    }
    return combine->done - settled < combine->slot_count;
}

/* All that is combined has left, where it leaves at all. */
static bool all_has_left(const mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (0 <= sink->peer
            && sink->completed < mca_coll_pipering_at_most(sink->own + pipe->combine.done,
                                                           sink->total)) {
            return false;
        }
    }
    return true;
}

/*
 * result = lower op own op upper. An operation works on its second argument, so own
 * is brought there first unless upper has come in there.
 */
static char *reduce_block(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_block_t *block)
{
    const mca_coll_pipering_combine_plan_t *plan = pipe->combine.plan;
    const uint64_t k = pipe->combine.done;
    char *own = in_layout(pipe, plan->own, block);
    char *result = mca_coll_pipering_result_place(pipe, k, block);

    if (0 <= plan->upper) {
        ompi_op_reduce(plan->op, own, result, block->length, pipe->unit.type);
    } else if (own != result) {
        copy_elements(pipe, block->length, result, own);
    }
    if (0 <= plan->lower) {
        ompi_op_reduce(plan->op,
                       mca_coll_pipering_block_place(pipe, &pipe->source[plan->lower], k, block),
                       result, block->length, pipe->unit.type);
    }
    return result;
}

static void keep_result(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_block_t *block,
                        const char *result)
{
    const mca_coll_pipering_combine_plan_t *plan = pipe->combine.plan;

    if (NULL == plan->result || plan->keep != block->rank) {
        return;
    }
    if (plan->exclusive) {
        result = mca_coll_pipering_block_place(pipe, &pipe->source[plan->lower],
                                               pipe->combine.done, block);
    }
    char *place = in_layout(pipe, plan->result, block);
    if (result != place) {
        copy_elements(pipe, block->length, place, result);
    }
}

int mca_coll_pipering_combine(mca_coll_pipering_pipe_t *pipe)
{
    mca_coll_pipering_combine_t *combine = &pipe->combine;
    mca_coll_pipering_block_t block;

    if (NULL == combine->plan || !partners_are_there(pipe) || !has_result_slot(pipe)
        || (!pipe->overlap && !all_has_left(pipe))
        || !mca_coll_pipering_walk_next(&combine->walk, &block)) {
        return 0;
    }
    keep_result(pipe, &block, reduce_block(pipe, &block));
    ++combine->done;
    return 1;
}
