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

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/pml/pml.h"

/* Of slots, for whatever elements an operation works on. */
#define ALIGNMENT 64

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
    return mca_common_irregular_on_device(mca_coll_pipering_contribution(layout, rank)
                                          + layout->true_lb);
}

/* ---- setting up ---- */

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

/* Where blocks of a link come in: in the user's buffer where they can, else in slots (NULL). */
static const mca_coll_pipering_layout_t *
link_place(const mca_coll_pipering_pipe_plan_t *plan, int link)
{
    const mca_coll_pipering_combine_plan_t *combine = plan->combine;

    if (NULL != combine && link == combine->upper) {
        return combine->scratch;
    }
    if (NULL != combine && link == combine->lower) {
        return combine->exclusive && !combine->in_place ? combine->result : NULL;
    }
    return plan->recv->dense ? plan->recv : NULL;
}

static void init_own(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan)
{
    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];

    own->peer = -1;
    own->place = NULL == plan->send ? plan->recv : plan->send;
    own->to = NULL == plan->send || NULL != plan->combine ? NULL : plan->recv;
    init_source(own, plan, plan->route->own);
}

static void init_sink(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan,
                      int link)
{
    const mca_coll_pipering_out_t *out = &plan->route->out[link];
    const mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];
    mca_coll_pipering_sink_t *sink = &pipe->sink[link];

    sink->peer = out->peer;
    sink->tag = plan->tag[link];
    sink->source = NULL == plan->combine ? out->source : MCA_COLL_PIPERING_RESULTS;
    sink->own = out->own ? own->total : 0;
    sink->total = sink->own
                  + mca_coll_pipering_stream_volume(plan->ring, plan->bytes, plan->cut,
                                                    out->forward)
                        .blocks;
    sink->own_walk = own->coming;
    mca_coll_pipering_walk_init(&sink->forward_walk, plan->ring, plan->bytes, plan->cut,
                                out->forward);
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
static void init_hops(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan)
{
    mca_coll_pipering_hops_init(pipe, plan);
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        source->stays = mca_coll_pipering_hop_is_shared(&source->hop) && !source->hop.asks
                        && 1 == plan->ring->size && source_wants_slots(source);
    }
}

static void init_links(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan)
{
    init_own(pipe, plan);
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];

        source->peer = plan->route->in[i].peer;
        source->tag = plan->tag[i];
        source->clock = plan->clock[i];
        init_source(source, plan, plan->route->in[i].stream);
        if (0 < source->total) {
            source->place = link_place(plan, i);
            source->to = NULL == plan->combine ? plan->recv : NULL;
        }
        init_sink(pipe, plan, i);
    }
    init_hops(pipe, plan);
    if (NULL != plan->combine) {
        const int any = 0 <= plan->combine->upper ? plan->combine->upper : plan->combine->lower;
        pipe->combine.plan = plan->combine;
        pipe->combine.total = pipe->source[any].total;
        pipe->combine.walk = pipe->source[any].coming;
    }
}

static bool results_want_slots(const mca_coll_pipering_combine_t *combine)
{
    return NULL != combine->plan && 0 > combine->plan->upper
           && (NULL == combine->plan->result || combine->plan->exclusive);
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
    return mca_coll_pipering_at_most(source->total, own + 2 * (uint64_t) pipe->window);
}

/* A slot takes the largest block, in the places that its elements have in memory. */
static size_t measure_slot(mca_coll_pipering_pipe_t *pipe,
                           const mca_coll_pipering_pipe_plan_t *plan)
{
    size_t largest = (size_t) mca_coll_pipering_at_most(plan->largest, plan->cut.block_size);

    if (NULL != pipe->unit.type) {
        ptrdiff_t gap = 0;
        largest = (size_t) opal_datatype_span(&pipe->unit.type->super, (int64_t) largest, &gap);
        pipe->slot_shift = -gap;
    }
    return (largest + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* How many slots there are to be, and the bytes of all. */
static size_t count_slots(mca_coll_pipering_pipe_t *pipe, size_t slot_size)
{
    mca_coll_pipering_combine_t *combine = &pipe->combine;
    uint64_t slots = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (source_wants_slots(source)) {
            source->slot_size = slot_size;
            source->slot_count = slots_wanted(pipe, source);
            slots += source->slot_count;
        }
    }
    if (results_want_slots(combine)) {
        combine->slot_size = slot_size;
        combine->slot_count = mca_coll_pipering_at_most(combine->total,
                                                        2 * (uint64_t) pipe->window);
        slots += combine->slot_count;
    }
    return slots * slot_size;
}

/*
 * Messages about ring buffers, requests of a window for each link in and out, lengths of what
 * comes in, then the slots.
 */
static int take_memory(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan)
{
    const size_t window_size = pipe->window * sizeof(ompi_request_t *);
    const size_t lengths = pipe->window * sizeof(size_t);
    const size_t requests = MCA_COLL_PIPERING_LINKS * (2 * window_size + lengths);
    const size_t hops = mca_coll_pipering_hops_size(pipe);
    const size_t size = count_slots(pipe, measure_slot(pipe, plan));

    char *memory = pipe->memory = malloc(hops + requests + ALIGNMENT + size);
    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_coll_pipering_hops_bind(pipe, memory);
    memory += hops;
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i, memory += 2 * window_size + lengths) {
        pipe->source[i].requests = (ompi_request_t **) memory;
        pipe->sink[i].requests = (ompi_request_t **) (memory + window_size);
        pipe->source[i].expected = (size_t *) (memory + 2 * window_size);
    }
    memory += ALIGNMENT - (uintptr_t) memory % ALIGNMENT;
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        mca_coll_pipering_source_t *source = &pipe->source[i];
        if (0 < source->slot_count) {
            source->slots = memory;
            memory += source->slot_count * source->slot_size;
        }
    }
    if (0 < pipe->combine.slot_count) {
        pipe->combine.slots = memory;
    }
    return OMPI_SUCCESS;
}

int mca_coll_pipering_pipe_init(mca_coll_pipering_pipe_t *pipe, ompi_communicator_t *comm,
                                const mca_coll_pipering_pipe_plan_t *plan)
{
    memset(pipe, 0, sizeof(*pipe));
    pipe->comm = comm;
    pipe->caller = plan->caller;
    pipe->window = plan->window;
    pipe->overlap = plan->overlap;
    pipe->on_device = (NULL != plan->send && mca_coll_pipering_is_on_device(plan->send, plan->some))
                      || (NULL != plan->recv
                          && mca_coll_pipering_is_on_device(plan->recv, plan->some));
    pipe->unit = plan->unit;
    pipe->gate = plan->gate;
    pipe->ahead = plan->ahead;
    pipe->error = OMPI_SUCCESS;
    init_links(pipe, plan);

    const int rc = take_memory(pipe, plan);
    if (OMPI_SUCCESS != rc) {
        (void) mca_coll_pipering_pipe_fini(pipe);
        return rc;
    }

    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];
    if (NULL == own->slots && NULL == pipe->gate) {
        own->arrived = own->total;
    }
    return OMPI_SUCCESS;
}

/* ---- what comes in ---- */

static ompi_datatype_t *wire_type(const mca_coll_pipering_pipe_t *pipe)
{
    return NULL == pipe->unit.type ? MPI_BYTE : pipe->unit.type;
}

void mca_coll_pipering_retire(mca_coll_pipering_pipe_t *pipe, ompi_request_t **request,
                              size_t expected)
{
    const int rc = mca_common_irregular_judge(pipe->caller, &(*request)->req_status, expected);

    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_fail(pipe, rc);
    }
    ompi_request_free(request);
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
        if (!mca_common_irregular_is_over(source->requests[head])) {
            break;
        }
        if (is_refusal(source->requests[head], source->expected[head])) {
            source->expected[head] = MCA_COMMON_IRREGULAR_ANY_LENGTH;
            mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
        }
        mca_coll_pipering_retire(pipe, &source->requests[head], source->expected[head]);
        ++source->arrived;
        ++pipe->traffic.blocks_in;
        ++steps;
    }
    if (0 < steps && NULL != source->clock) {
        mca_coll_pipering_clock_note(source->clock, source->arrived, source->total);
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
           && mca_coll_pipering_has_slot(pipe, index, source->posted)
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
        if (!mca_common_irregular_is_over(*head)) {
            break;
        }
        mca_coll_pipering_retire(pipe, head, MCA_COMMON_IRREGULAR_ANY_LENGTH);
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
    int steps = 0 < pipe->agreeing ? mca_coll_pipering_hops_agree(pipe) : 0;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (mca_coll_pipering_hop_is_shared(&pipe->source[i].hop)) {
            steps += mca_coll_pipering_take_in(pipe, i);
        } else if (0 <= pipe->source[i].peer) {
            steps += take_arrivals(pipe, &pipe->source[i]);
        }
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (mca_coll_pipering_hop_is_shared(&pipe->sink[i].hop)) {
            steps += mca_coll_pipering_put_out(pipe, &pipe->sink[i]);
        } else if (0 <= pipe->sink[i].peer) {
            steps += take_completions(pipe, &pipe->sink[i]);
            steps += send_blocks(pipe, &pipe->sink[i]);
        }
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (0 <= pipe->source[i].peer && !mca_coll_pipering_hop_is_shared(&pipe->source[i].hop)) {
            steps += post_receives(pipe, i);
        }
    }
    return steps;
}

static int move_copies(mca_coll_pipering_pipe_t *pipe)
{
    int steps = mca_coll_pipering_combine(pipe) + mca_coll_pipering_pack_own(pipe);

    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES && 0 == steps; ++i) {
        steps += mca_coll_pipering_deliver(pipe, &pipe->source[i]);
    }
    return steps;
}

/* Own blocks are the last of the results that the pipeline before makes. */
static void look_at_gate(mca_coll_pipering_pipe_t *pipe)
{
    const mca_coll_pipering_combine_t *made = &pipe->gate->combine;
    mca_coll_pipering_source_t *own = &pipe->source[MCA_COLL_PIPERING_OWN];
    const uint64_t others = made->total - own->total;

    own->arrived = made->done > others ? made->done - others : 0;
}

int mca_coll_pipering_pipe_progress(mca_coll_pipering_pipe_t *pipe)
{
    int steps = 0, moved;

    if (OMPI_SUCCESS != pipe->error) {
        return 0;
    }
    if (NULL != pipe->gate && 0 < pipe->source[MCA_COLL_PIPERING_OWN].total) {
        look_at_gate(pipe);
    }
    do {
        moved = move_links(pipe);
        steps += moved;
    } while (0 < moved && OMPI_SUCCESS == pipe->error);

    if (OMPI_SUCCESS == pipe->error) {
        steps += move_copies(pipe);
        mca_coll_pipering_hops_release(pipe);
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
    return 0 <= sink->peer && !sink->refused && sink->sent < sink->total
           && MCA_COLL_PIPERING_HOP_NONE == sink->hop.state
           && !mca_common_irregular_is_failure(pipe->error);
}

bool mca_coll_pipering_pipe_give_up(mca_coll_pipering_pipe_t *pipe, int error)
{
    bool awaits = false;

    mca_coll_pipering_fail(pipe, error);
    (void) mca_coll_pipering_hops_agree(pipe);
    mca_coll_pipering_hops_break(pipe);
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (refuses(pipe, sink)) {
            refuse(pipe, sink);
            sink->refused = true;
        }
        awaits |= MCA_COLL_PIPERING_HOP_AWAITED == sink->hop.state;
    }
    return !awaits;
}

bool mca_coll_pipering_pipe_done(const mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        const mca_coll_pipering_source_t *source = &pipe->source[i];
        if (source->arrived < source->total
            || (mca_coll_pipering_wants_delivery(source) && source->delivered < source->total)) {
            return false;
        }
    }
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        if (0 <= sink->peer && sink->completed < sink->total) {
            return false;
        }
    }
    return pipe->combine.done == pipe->combine.total && mca_coll_pipering_hops_over(pipe);
}

bool mca_coll_pipering_pipe_fini(mca_coll_pipering_pipe_t *pipe)
{
    bool pending = mca_coll_pipering_hops_fini(pipe);

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS && NULL != pipe->memory; ++i) {
        const mca_coll_pipering_source_t *source = &pipe->source[i];
        const mca_coll_pipering_sink_t *sink = &pipe->sink[i];
        pending |= mca_common_irregular_abandon(source->requests, source->arrived, source->posted,
                                                pipe->window, true);
        pending |= mca_common_irregular_abandon(sink->requests, sink->completed, sink->sent,
                                                pipe->window, false);
    }
    for (int i = 0; i < MCA_COLL_PIPERING_SOURCES; ++i) {
        OBJ_DESTRUCT(&pipe->source[i].unpacker);
        OBJ_DESTRUCT(&pipe->source[i].packer);
    }
    if (!pending) {
        free(pipe->memory);
    }
    pipe->memory = NULL;
    return pending;
}
