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
 * How both ends of a link inside a node agree on a ring buffer, and on what is sent:
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
#include <stdio.h>

#include "ompi/mca/pml/pml.h"
#include "opal/util/show_help.h"

enum { GRANT, ANSWER, MESSAGES };

static mca_coll_pipering_hop_t *in_hop(mca_coll_pipering_pipe_t *pipe, int link)
{
    return &pipe->source[link].hop;
}

static mca_coll_pipering_hop_t *out_hop(mca_coll_pipering_pipe_t *pipe, int link)
{
    return &pipe->sink[link].hop;
}

/* ---- setting up ---- */

static mca_coll_pipering_word_t new_word(const mca_coll_pipering_pipe_plan_t *plan)
{
    return (mca_coll_pipering_word_t){.collective = plan->collective,
                                      .split = (int32_t) plan->cut.split,
                                      .block_size = plan->cut.block_size * plan->unit.size};
}

static void add_stream(mca_coll_pipering_word_t *word, const mca_coll_pipering_pipe_plan_t *plan,
                       mca_coll_pipering_stream_t stream)
{
    const mca_coll_pipering_volume_t volume
        = mca_coll_pipering_stream_volume(plan->ring, plan->bytes, plan->cut, stream);

    word->blocks += volume.blocks;
    word->bytes += volume.bytes * plan->unit.size;
}

static void open_hop(const mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_hop_t *hop,
                     mca_coll_pipering_fifo_t *fifo)
{
    hop->fifo = fifo;
    hop->state = MCA_COLL_PIPERING_HOP_OPEN;
    mca_coll_pipering_fifo_start(&hop->run, hop->size, hop->word.block_size, pipe->ahead);
}

/* The end that receives. */
static void lease(const mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_hop_t *hop)
{
    mca_coll_pipering_fifo_t *fifo = NULL;

    if (NULL != hop->neighbour && MCA_COLL_PIPERING_UNABLE != hop->neighbour->has_mine) {
        fifo = mca_coll_pipering_arena_lease(hop->word.block_size, &hop->size);
    }
    if (NULL != fifo) {
        hop->asks = MCA_COLL_PIPERING_UNASKED == hop->neighbour->has_mine;
        open_hop(pipe, hop, fifo);
    }
}

static void init_hop(const mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_hop_t *hop, int peer)
{
    hop->inside = true;
    hop->neighbour = mca_coll_pipering_arena_neighbour(pipe->comm, peer);
}

static void init_in(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan,
                    int link)
{
    mca_coll_pipering_hop_t *hop = in_hop(pipe, link);

    init_hop(pipe, hop, pipe->source[link].peer);
    hop->word = new_word(plan);
    add_stream(&hop->word, plan, plan->route->in[link].stream);
    hop->size = plan->ring_buffer_size;
    lease(pipe, hop);
}

static void init_out(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_pipe_plan_t *plan,
                     int link)
{
    mca_coll_pipering_hop_t *hop = out_hop(pipe, link);

    init_hop(pipe, hop, pipe->sink[link].peer);
    hop->word = new_word(plan);
    if (plan->route->out[link].own) {
        add_stream(&hop->word, plan, plan->route->own);
    }
    add_stream(&hop->word, plan, plan->route->out[link].forward);
    hop->state = MCA_COLL_PIPERING_HOP_AWAITED;
}

void mca_coll_pipering_hops_init(mca_coll_pipering_pipe_t *pipe,
                                 const mca_coll_pipering_pipe_plan_t *plan)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        for (int message = 0; message < MESSAGES; ++message) {
            in_hop(pipe, i)->request[message] = MPI_REQUEST_NULL;
            out_hop(pipe, i)->request[message] = MPI_REQUEST_NULL;
        }
        if (plan->in_shared[i] && 0 < pipe->source[i].total) {
            init_in(pipe, plan, i);
        }
        if (plan->out_shared[i] && 0 < pipe->sink[i].total) {
            init_out(pipe, plan, i);
        }
    }
}

size_t mca_coll_pipering_hops_size(const mca_coll_pipering_pipe_t *pipe)
{
    size_t hops = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        hops += pipe->source[i].hop.inside + (size_t) pipe->sink[i].hop.inside;
    }
    return hops * sizeof(mca_coll_pipering_handshake_t);
}

void mca_coll_pipering_hops_bind(mca_coll_pipering_pipe_t *pipe, void *memory)
{
    mca_coll_pipering_handshake_t *next = memory;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (in_hop(pipe, i)->inside) {
            in_hop(pipe, i)->handshake = next++;
        }
        if (out_hop(pipe, i)->inside) {
            out_hop(pipe, i)->handshake = next++;
        }
    }
}

/* ---- messages ---- */

static void send_message(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_hop_t *hop,
                         int message, const void *what, size_t size, int peer, int tag)
{
    const int rc = MCA_PML_CALL(isend(what, size, MPI_BYTE, peer, tag, MCA_PML_BASE_SEND_STANDARD,
                                      pipe->comm, &hop->request[message]));
    if (OMPI_SUCCESS == rc) {
        ++pipe->agreeing;
    } else {
        hop->request[message] = MPI_REQUEST_NULL;
        mca_coll_pipering_fail(pipe, rc);
    }
}

static void await_message(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_hop_t *hop,
                          int message, void *what, size_t size, int peer, int tag)
{
    const int rc = MCA_PML_CALL(irecv(what, size, MPI_BYTE, peer, tag, pipe->comm,
                                      &hop->request[message]));
    if (OMPI_SUCCESS == rc) {
        ++pipe->agreeing;
    } else {
        hop->request[message] = MPI_REQUEST_NULL;
        mca_coll_pipering_fail(pipe, rc);
    }
}

void mca_coll_pipering_pipe_await(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_hop_t *hop = out_hop(pipe, i);
        if (!hop->inside) {
            continue;
        }
        await_message(pipe, hop, GRANT, &hop->handshake->grant, sizeof(hop->handshake->grant),
                      pipe->sink[i].peer, pipe->sink[i].tag);
        if (OMPI_SUCCESS != pipe->error) {
            hop->state = MCA_COLL_PIPERING_HOP_NONE;
        }
    }
}

static void send_grant(mca_coll_pipering_pipe_t *pipe, int link)
{
    const mca_coll_pipering_source_t *source = &pipe->source[link];
    mca_coll_pipering_hop_t *hop = in_hop(pipe, link);
    mca_coll_pipering_grant_t *grant = &hop->handshake->grant;
    size_t size = offsetof(mca_coll_pipering_grant_t, arena);

    *grant = (mca_coll_pipering_grant_t){.word = hop->word, .asks = hop->asks};
    if (mca_coll_pipering_hop_is_shared(hop)) {
        grant->size = hop->size;
        grant->place = mca_coll_pipering_arena_place(hop->fifo);
    }
    if (hop->asks) {
        grant->arena = *mca_coll_pipering_arena_segment();
        size = sizeof(*grant);
    }
    hop->granted = true;
    send_message(pipe, hop, GRANT, grant, size, source->peer, source->tag);
    if (hop->asks) {
        await_message(pipe, hop, ANSWER, &hop->handshake->answer, sizeof(hop->handshake->answer),
                      source->peer, source->tag);
    }
}

void mca_coll_pipering_pipe_grant(mca_coll_pipering_pipe_t *pipe)
{
    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        if (in_hop(pipe, i)->inside) {
            send_grant(pipe, i);
        }
    }
}

/* ---- both plans ---- */

/* What differs first, with its value here and there; NULL: nothing does. */
static const char *find_difference(const mca_coll_pipering_word_t *here,
                                   const mca_coll_pipering_word_t *there, uint64_t value[2])
{
    const struct {
        const char *what;
        uint64_t here, there;
    } parts[] = {{"the collective (by its number)", (uint64_t) here->collective,
                  (uint64_t) there->collective},
                 {"the number of bytes", here->bytes, there->bytes},
                 {"the size of blocks in bytes", here->block_size, there->block_size},
                 {"how a contribution is cut (0: even blocks, 1: full ones)",
                  (uint64_t) here->split, (uint64_t) there->split},
                 {"the number of blocks", here->blocks, there->blocks}};

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
        if (parts[i].here != parts[i].there) {
            value[0] = parts[i].here;
            value[1] = parts[i].there;
            return parts[i].what;
        }
    }
    return NULL;
}

static void compare(mca_coll_pipering_pipe_t *pipe, const mca_coll_pipering_hop_t *hop, int peer)
{
    uint64_t value[2];
    const char *what = find_difference(&hop->word, &hop->handshake->grant.word, value);

    if (NULL != what) {
        opal_show_help("help-coll-pipering.txt", "plans-differ", true, pipe->caller->name,
                       pipe->comm->c_name, ompi_comm_rank(pipe->comm), peer, what,
                       (unsigned long long) value[0], (unsigned long long) value[1]);
        mca_coll_pipering_fail(pipe, MPI_ERR_OTHER);
    }
}

/* ---- on the way ---- */

static void take_grant(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_hop_t *hop = &sink->hop;
    const mca_coll_pipering_grant_t *grant = &hop->handshake->grant;
    mca_coll_pipering_fifo_t *fifo = NULL;

    compare(pipe, hop, sink->peer);
    hop->size = (size_t) grant->size;
    if (0 < hop->size && NULL != hop->neighbour) {
        fifo = mca_coll_pipering_arena_attach(hop->neighbour, grant->asks ? &grant->arena : NULL,
                                              (size_t) grant->place);
    }
    if (NULL == fifo) {
        hop->state = MCA_COLL_PIPERING_HOP_NONE;
    } else {
        open_hop(pipe, hop, fifo);
    }
    if (grant->asks) {
        hop->handshake->answer = NULL != fifo;
        send_message(pipe, hop, ANSWER, &hop->handshake->answer, sizeof(hop->handshake->answer),
                     sink->peer, sink->tag);
    }
}

static void take_answer(mca_coll_pipering_hop_t *hop)
{
    hop->asks = false;
    mca_coll_pipering_arena_note(hop->neighbour, 0 != hop->handshake->answer);
    if (0 == hop->handshake->answer) {
        mca_coll_pipering_arena_release(hop->fifo);
        hop->state = MCA_COLL_PIPERING_HOP_NONE;
    }
}

/* True if a message has come or gone just now; *well: without an error. */
static bool ends(mca_coll_pipering_pipe_t *pipe, ompi_request_t **request, bool *well)
{
    if (MPI_REQUEST_NULL == *request || !mca_common_irregular_is_over(*request)) {
        return false;
    }
    *well = MPI_SUCCESS == (*request)->req_status.MPI_ERROR;
    mca_coll_pipering_retire(pipe, request, MCA_COMMON_IRREGULAR_ANY_LENGTH);
    *request = MPI_REQUEST_NULL;
    --pipe->agreeing;
    return true;
}

static int agree_in(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_hop_t *hop)
{
    bool well = false;
    int steps = ends(pipe, &hop->request[GRANT], &well);

    if (ends(pipe, &hop->request[ANSWER], &well)) {
        ++steps;
        if (well) {
            take_answer(hop);
        }
    }
    return steps;
}

static int agree_out(mca_coll_pipering_pipe_t *pipe, mca_coll_pipering_sink_t *sink)
{
    mca_coll_pipering_hop_t *hop = &sink->hop;
    bool well = false;
    int steps = ends(pipe, &hop->request[ANSWER], &well);

    if (ends(pipe, &hop->request[GRANT], &well)) {
        ++steps;
        if (well) {
            take_grant(pipe, sink);
        } else {
            hop->state = MCA_COLL_PIPERING_HOP_NONE;
        }
    }
    return steps;
}

int mca_coll_pipering_hops_agree(mca_coll_pipering_pipe_t *pipe)
{
    int steps = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS && 0 < pipe->agreeing; ++i) {
        steps += agree_in(pipe, in_hop(pipe, i)) + agree_out(pipe, &pipe->sink[i]);
    }
    return steps;
}

/* ---- the end ---- */

bool mca_coll_pipering_hops_fini(mca_coll_pipering_pipe_t *pipe)
{
    bool pending = false;

    for (int i = 0; i < MCA_COLL_PIPERING_LINKS; ++i) {
        mca_coll_pipering_hop_t *in = in_hop(pipe, i), *out = out_hop(pipe, i);
        if (MCA_COLL_PIPERING_HOP_OPEN == in->state && !in->granted) {
            mca_coll_pipering_arena_release(in->fifo);
        }
        for (int message = 0; message < MESSAGES; ++message) {
            const bool comes_in = ANSWER == message;
            pending |= mca_common_irregular_abandon(&in->request[message], 0, 1, 1, comes_in);
            pending |= mca_common_irregular_abandon(&out->request[message], 0, 1, 1, !comes_in);
        }
    }
    return pending;
}
