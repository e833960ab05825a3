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

#include "coll_pipering_engine.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/pml/pml.h"

/* Bytes delivered before the links are looked at again. */
#define DELIVERY_PIECE ((size_t) 128 * 1024)

void mca_coll_pipering_layout_init(mca_coll_pipering_layout_t *layout, int size)
{
    ptrdiff_t true_extent;
    size_t most = layout->count;

    ompi_datatype_type_extent(layout->type, &layout->extent);
    ompi_datatype_get_true_extent(layout->type, &layout->true_lb, &true_extent);
    if (NULL != layout->counts) {
        most = 0;
        for (int i = 0; i < size; ++i) {
            most = (size_t) layout->counts[i] > most ? (size_t) layout->counts[i] : most;
        }
    }
    layout->dense = opal_datatype_is_contiguous_memory_layout(&layout->type->super,
                                                              most > 1 ? 2 : 1);
}

static char *contribution(const mca_coll_pipering_layout_t *layout, int rank)
{
    const ptrdiff_t first = layout->single           ? 0
                            : NULL == layout->displs ? rank * (ptrdiff_t) layout->count
                                                     : (ptrdiff_t) layout->displs[rank];
    return layout->buffer + first * layout->extent;
}

static size_t contribution_count(const mca_coll_pipering_layout_t *layout, int rank)
{
    return NULL == layout->counts ? layout->count : (size_t) layout->counts[rank];
}

/* Where a block lies: in its slot, or in the buffer it comes from or goes to. */
static char *block_place(const mca_coll_pipering_source_t *source, uint64_t k,
                         const mca_coll_pipering_block_t *block)
{
    if (NULL != source->slots) {
        return source->slots + (k % source->slot_count) * source->slot_size;
    }

    const mca_coll_pipering_layout_t *layout = NULL != source->from ? source->from : source->to;
    return contribution(layout, block->rank) + layout->true_lb + block->offset;
}

/* ---- setting up ---- */

static bool source_wants_delivery(const mca_coll_pipering_source_t *source)
{
    return NULL != source->to && (NULL != source->slots || NULL != source->from);
}

static void init_source(mca_coll_pipering_source_t *source,
                        const mca_coll_pipering_pipe_plan_t *plan,
                        mca_coll_pipering_stream_t stream)
{
    source->total = mca_coll_pipering_stream_volume(plan->ring, plan->bytes, plan->cut, stream)
                        .blocks;
    mca_coll_pipering_walk_init(&source->coming, plan->ring, plan->bytes, plan->cut, stream);
    source->delivering = source->coming;
    source->unpacking = -1;
    OBJ_CONSTRUCT(&source->unpacker, opal_convertor_t);
    OBJ_CONSTRUCT(&source->packer, opal_convertor_t);
}

static void init_links(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan)
{
    const mca_coll_pipering_route_t *route = plan->route;
    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];

    own->peer = -1;
    own->from = NULL == plan->send ? plan->recv : plan->send;
    own->to = NULL == plan->send ? NULL : plan->recv;
    init_source(own, plan, route->own);

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        const mca_coll_pipering_out_t *out = &route->out[i];

        source->peer = route->in[i].peer;
        source->tag = sink->tag = plan->tag[i];
        source->to = plan->recv;
        init_source(source, plan, route->in[i].stream);

        sink->peer = out->peer;
        sink->source = out->source;
        sink->own = out->own ? own->total : 0;
        sink->total = sink->own
                      + mca_coll_pipering_stream_volume(plan->ring, plan->bytes, plan->cut,
                                                        out->forward)
                            .blocks;
        sink->own_walk = own->coming;
        mca_coll_pipering_walk_init(&sink->forward_walk, plan->ring, plan->bytes, plan->cut,
                                    out->forward);
    }
}

static bool source_wants_slots(const mca_coll_pipering_source_t *source)
{
    const mca_coll_pipering_layout_t *layout = NULL != source->from ? source->from : source->to;
    return 0 < source->total && !layout->dense;
}

static uint64_t at_most(uint64_t value, uint64_t limit)
{
    return value < limit ? value : limit;
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
    const uint64_t own = 0 <= source->peer ? pipe->source[MCA_COLL_PIPERING_OWN].total : 0;
    return at_most(source->total, own + 2 * (uint64_t) pipe->window);
}

/* Requests of a window for each link in and out, then the slots. */
static int take_memory(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan)
{
    const size_t window_size = pipe->window * sizeof(ompi_request_t *);
    const size_t requests = 2 * MCA_COLL_PIPERING_LINKS * window_size;
    size_t largest = 0, size = requests;

    for (int r = 0; r < plan->ring->size; ++r) {
        largest = plan->bytes[r] > largest ? plan->bytes[r] : largest;
    }
    largest = (size_t) at_most(largest, plan->cut.block_size);
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (source_wants_slots(source)) {
            source->slot_size = largest;
            source->slot_count = slots_wanted(pipe, source);
            size += source->slot_count * source->slot_size;
        }
    }

    char *memory = pipe->memory = malloc(size);
    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i, memory += 2 * window_size) {
        pipe->source[i].requests = (ompi_request_t **) memory;
        pipe->sink[i].requests = (ompi_request_t **) (memory + window_size);
    }
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (0 < source->slot_count) {
            source->slots = memory;
            memory += source->slot_count * source->slot_size;
        }
    }
    return OMPI_SUCCESS;
}

int mca_coll_pipering_pipe_init(mca_coll_pipering_pipe_t *pipe, ompi_communicator_t *comm,
                                const mca_coll_pipering_pipe_plan_t *plan)
{
    memset(pipe, 0, sizeof(*pipe));
    pipe->comm = comm;
    pipe->window = plan->window;
    pipe->error = OMPI_SUCCESS;
    init_links(pipe, plan);

    const int rc = take_memory(pipe, plan);
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_pipe_fini(pipe);
        return rc;
    }

    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];
    if (NULL == own->slots) {
        own->arrived = own->total;
    }
    return OMPI_SUCCESS;
}

/* ---- what comes in ---- */

/* Own blocks of a sink that it is done with, or blocks of `source` if that is what it forwards. */
static uint64_t sink_settled(const mca_coll_pipering_sink_t *sink, int source)
{
    const uint64_t own = at_most(sink->completed, sink->own);

    if (MCA_COLL_PIPERING_OWN == source) {
        return 0 == sink->own || own == sink->own ? UINT64_MAX : own;
    }
    if (sink->source != source || sink->completed == sink->total || sink->total == sink->own) {
        return UINT64_MAX;
    }
    return sink->completed - own;
}

/* Blocks whose slots are free again. */
static uint64_t settled(const mca_coll_pipering_pipe_t *pipe, int index)
{
    const mca_coll_pipering_source_t *source = &pipe->source[index];
    uint64_t blocks = source_wants_delivery(source) ? source->delivered : source->arrived;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->sink[i].peer) {
            blocks = at_most(blocks, sink_settled(&pipe->sink[i], index));
        }
    }
    return blocks;
}

static bool has_slot(const mca_coll_pipering_pipe_t *pipe, int index, uint64_t k)
{
    const mca_coll_pipering_source_t *source = &pipe->source[index];
    return NULL == source->slots || k - settled(pipe, index) < source->slot_count;
}

static void fail(mca_coll_pipering_pipe_t *pipe, int error)
{
    if (OMPI_SUCCESS == pipe->error) {
        pipe->error = error;
    }
}

/* Takes a completed request from the head of a queue. */
static void retire(mca_coll_pipering_pipe_t *pipe, ompi_request_t **request)
{
    if (MPI_SUCCESS != (*request)->req_status.MPI_ERROR) {
        fail(pipe, (*request)->req_status.MPI_ERROR);
    }
    ompi_request_free(request);
}

static int take_arrivals(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    int steps = 0;

    while (source->arrived < source->posted) {
        ompi_request_t **head = &source->requests[source->arrived % pipe->window];
        if (!REQUEST_COMPLETE(*head)) {
            break;
        }
        retire(pipe, head);
        ++source->arrived;
        ++pipe->traffic.blocks_in;
        ++steps;
    }
    return steps;
}

static int post_receives(mca_coll_pipering_pipe_t *pipe, int index)
{
    mca_coll_pipering_source_t *source = &pipe->source[index];
    mca_coll_pipering_block_t block;
    int steps = 0;

    while (OMPI_SUCCESS == pipe->error && source->posted < source->total
           && source->posted - source->arrived < pipe->window
           && has_slot(pipe, index, source->posted)
           && mca_coll_pipering_walk_next(&source->coming, &block)) {
        const int rc = MCA_PML_CALL(irecv(block_place(source, source->posted, &block), block.length,
                                          MPI_BYTE, source->peer, source->tag, pipe->comm,
                                          &source->requests[source->posted % pipe->window]));
        if (OMPI_SUCCESS != rc) {
            fail(pipe, rc);
            break;
        }
        ++source->posted;
        pipe->traffic.bytes_in += block.length;
        ++steps;
    }
    return steps;
}

/* ---- own blocks that are not dense ---- */

/* Asks the packer for up to `room` bytes; it gives whole elements only. */
static size_t pack_some(mca_coll_pipering_source_t *own, char *to, size_t room)
{
    struct iovec iov = {.iov_base = to, .iov_len = room};
    uint32_t count = 1;
    size_t packed = room;

    (void) opal_convertor_pack(&own->packer, &iov, &count, &packed);
    return packed;
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

static int pack_own(mca_coll_pipering_pipe_t *pipe)
{
    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];
    mca_coll_pipering_block_t block;

    if (own->arrived == own->total || !has_slot(pipe, MCA_COLL_PIPERING_OWN, own->arrived)
        || !mca_coll_pipering_walk_next(&own->coming, &block)) {
        return 0;
    }
    if (!own->packing) {
        own->packing = true;
        opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &own->from->type->super,
                                                 contribution_count(own->from, block.rank),
                                                 contribution(own->from, block.rank), 0,
                                                 &own->packer);
    }
    if (!pack_exactly(own, block_place(own, own->arrived, &block), block.length)) {
        fail(pipe, OMPI_ERROR);
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
                                             contribution_count(source->to, rank),
                                             contribution(source->to, rank), 0, &source->unpacker);
}

/* Delivers a piece of the next block that is there. */
static int deliver(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_source_t *source)
{
    mca_coll_pipering_block_t *block = &source->delivery;

    if (!source_wants_delivery(source) || source->delivered == source->arrived) {
        return 0;
    }
    if (0 == source->delivery_done) {
        (void) mca_coll_pipering_walk_next(&source->delivering, block);
        aim_unpacker(source, block->rank);
    }

    const size_t left = block->length - source->delivery_done;
    struct iovec iov = {.iov_base = block_place(source, source->delivered, block)
                                    + source->delivery_done,
                        .iov_len = left < DELIVERY_PIECE ? left : DELIVERY_PIECE};
    uint32_t count = 1;
    size_t unpacked = iov.iov_len;

    (void) opal_convertor_unpack(&source->unpacker, &iov, &count, &unpacked);
    if (0 == unpacked) {
        fail(pipe, OMPI_ERROR);
        return 0;
    }
    source->delivery_done += unpacked;
    if (source->delivery_done == block->length) {
        source->delivery_done = 0;
        ++source->delivered;
    }
    return 1;
}

/* ---- what goes out ---- */

static int take_completions(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    int steps = 0;

    while (sink->completed < sink->sent) {
        ompi_request_t **head = &sink->requests[sink->completed % pipe->window];
        if (!REQUEST_COMPLETE(*head)) {
            break;
        }
        retire(pipe, head);
        ++sink->completed;
        ++steps;
    }
    return steps;
}

/* The place of the next block to send, NULL if it is not there yet. */
static char *next_to_send(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink,
                          mca_coll_pipering_block_t *block)
{
    const bool own = sink->sent < sink->own;
    const uint64_t k = own ? sink->sent : sink->sent - sink->own;
    mca_coll_pipering_source_t *source
        = &pipe->source[own ? (int) MCA_COLL_PIPERING_OWN : sink->source];

    if (k >= source->arrived) {
        return NULL;
    }
    (void) mca_coll_pipering_walk_next(own ? &sink->own_walk : &sink->forward_walk, block);
    return block_place(source, k, block);
}

static int send_blocks(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    const unsigned half = pipe->window / 2;
    mca_coll_pipering_block_t block;
    int steps = 0;

    while (OMPI_SUCCESS == pipe->error && sink->sent < sink->total
           && sink->sent - sink->completed < pipe->window) {
        char *place = next_to_send(pipe, sink, &block);
        if (NULL == place) {
            break;
        }
        const bool mark = 0 == (sink->sent + 1) % half || sink->sent + 1 == sink->total;
        const int rc = MCA_PML_CALL(isend(place, block.length, MPI_BYTE, sink->peer, sink->tag,
                                          mark ? MCA_PML_BASE_SEND_SYNCHRONOUS
                                               : MCA_PML_BASE_SEND_STANDARD,
                                          pipe->comm, &sink->requests[sink->sent % pipe->window]));
        if (OMPI_SUCCESS != rc) {
            fail(pipe, rc);
            break;
        }
        ++sink->sent;
        ++pipe->traffic.blocks_out;
        pipe->traffic.bytes_out += block.length;
        ++steps;
    }
    return steps;
}

/* ---- a turn ---- */

static int move_links(mca_coll_pipering_pipe_t *pipe)
{
    int steps = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->source[i].peer) {
            steps += take_arrivals(pipe, &pipe->source[i]);
        }
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->sink[i].peer) {
            steps += take_completions(pipe, &pipe->sink[i]);
            steps += send_blocks(pipe, &pipe->sink[i]);
        }
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->source[i].peer) {
            steps += post_receives(pipe, i);
        }
    }
    return steps;
}

static int move_copies(mca_coll_pipering_pipe_t *pipe)
{
    int steps = pack_own(pipe);

    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES && 0 == steps; ++i) {
        steps += deliver(pipe, &pipe->source[i]);
    }
    return steps;
}

int mca_coll_pipering_pipe_progress(mca_coll_pipering_pipe_t *pipe)
{
    int steps = 0, moved;

    do {
        moved = move_links(pipe);
        steps += moved;
    } while (0 < moved && OMPI_SUCCESS == pipe->error);

    if (OMPI_SUCCESS == pipe->error) {
        steps += move_copies(pipe);
    }
    return steps;
}

bool mca_coll_pipering_pipe_done(const mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        const mca_coll_pipering_source_t *source = &pipe->source[i];
        if (source->arrived < source->total
            || (source_wants_delivery(source) && source->delivered < source->total)) {
            return false;
        }
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (0 <= sink->peer && sink->completed < sink->total) {
            return false;
        }
    }
    return true;
}

/* Lets go of what a failed pipeline has pending; true if a message may still touch our memory. */
static bool abandon(ompi_request_t **requests, uint64_t from, uint64_t to, unsigned window,
                    bool cancel)
{
    bool pending = false;

    for (uint64_t k = from; k < to; ++k) {
        ompi_request_t **request = &requests[k % window];
        if (cancel && !REQUEST_COMPLETE(*request)) {
            (void) ompi_request_cancel(*request);
        }
        pending |= !REQUEST_COMPLETE(*request);
        ompi_request_free(request);
    }
    return pending;
}

void mca_coll_pipering_pipe_fini(mca_coll_pipering_pipe_t *pipe)
{
    bool pending = false;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS && NULL != pipe->memory; ++i) {
        const mca_coll_pipering_source_t *source = &pipe->source[i];
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        pending |= abandon(source->requests, source->arrived, source->posted, pipe->window, true);
        pending |= abandon(sink->requests, sink->completed, sink->sent, pipe->window, false);
    }
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        OBJ_DESTRUCT(&pipe->source[i].unpacker);
        OBJ_DESTRUCT(&pipe->source[i].packer);
    }
    if (!pending) {
        free(pipe->memory);
    }
    pipe->memory = NULL;
}

/* A ring that consists of this rank alone: nothing but a delivery is left to do. */
int mca_coll_pipering_copy_own(ompi_communicator_t *comm, int rank, size_t bytes,
                               const mca_coll_pipering_layout_t *from,
                               const mca_coll_pipering_layout_t *to)
{
    int zero[2] = {0, 0};
    mca_coll_pipering_layout_t target = *to;
    const mca_coll_pipering_ring_t ring = {.size = 1, .nodes = 1, .rank = zero, .position = zero,
                                           .node = zero, .first = zero};
    const mca_coll_pipering_pipe_plan_t plan = {.ring = &ring,
                                                .bytes = &bytes,
                                                .cut = {.block_size = DELIVERY_PIECE},
                                                .route = &(mca_coll_pipering_route_t){
                                                    .own = {.position = 0, .origins = 1},
                                                    .in = {{.peer = -1}, {.peer = -1}},
                                                    .out = {{.peer = -1}, {.peer = -1}}},
                                                .window = 2,
                                                .send = from,
                                                .recv = &target};
    mca_coll_pipering_pipe_t pipe;

    target.buffer = contribution(to, rank);
    target.count = contribution_count(to, rank);
    target.counts = target.displs = NULL;
    target.single = true;
    int rc = mca_coll_pipering_pipe_init(&pipe, comm, &plan);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    while (OMPI_SUCCESS == pipe.error && !mca_coll_pipering_pipe_done(&pipe)) {
        (void) mca_coll_pipering_pipe_progress(&pipe);
    }
    rc = pipe.error;
    mca_coll_pipering_pipe_fini(&pipe);
    return rc;
}
