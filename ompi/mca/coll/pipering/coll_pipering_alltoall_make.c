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
 * Making an exchange: from the sides of a call to messages in the order in which they
 * start. All memory is taken here, so that nobody fails in the midst of an exchange.
 */

#include "coll_pipering_alltoall.h"

#include <stdlib.h>

#define FEW 64 /* messages */

/* What is known before there is memory for the exchange. */
typedef struct draft_t {
    const mca_coll_pipering_exchange_plan_t *plan;
    int ranks, me;
    mca_coll_pipering_way_t way;
    const mca_coll_pipering_side_t *send; /**< in place: the receiving side */
    size_t *bytes;                        /**< [most messages of a side] */
    uint64_t *scratch;
    size_t *in, *out; /**< messages of the sides in the order in which they start */
    size_t ins, outs;
    mca_coll_pipering_bins_t bins;
    void *memory;
    uint64_t room[4 * FEW]; /* in place of memory, where messages are few */
} draft_t;

/* ---- a side's messages ---- */

static int peer_of(const mca_coll_pipering_side_t *side, size_t i)
{
    return NULL == side->peer ? (int) i : side->peer[i];
}

static mca_coll_pipering_message_t message_of(const mca_coll_pipering_side_t *side, size_t i)
{
    ompi_datatype_t *type = NULL == side->type ? side->types[i] : side->type;
    ptrdiff_t displ = NULL == side->byte_displs ? side->displs[i] : side->byte_displs[i];
    ptrdiff_t extent = 1;
    size_t size;

    if (NULL != side->type) {
        ompi_datatype_type_extent(type, &extent);
    }
    ompi_datatype_type_size(type, &size);
    return (mca_coll_pipering_message_t){.buffer = side->buffer + displ * extent,
                                         .type = type,
                                         .count = (size_t) side->counts[i],
                                         .bytes = (size_t) side->counts[i] * size,
                                         .peer = peer_of(side, i)};
}

/*
 * Bytes of messages, 0 where there are none to send. Returns how many there can be none of:
 * without a peer, or with this rank itself.
 */
static size_t measure(const draft_t *draft, const mca_coll_pipering_side_t *side)
{
    const int own = draft->plan->copies_own ? draft->me : MPI_PROC_NULL;
    size_t absent = 0;

    for (size_t i = 0; i < side->count; ++i) {
        const int peer = peer_of(side, i);
        const bool none = MPI_PROC_NULL == peer || own == peer;
        draft->bytes[i] = none || 0 == side->counts[i] ? 0 : message_of(side, i).bytes;
        absent += none;
    }
    return absent;
}

/* ---- orders ---- */

static mca_coll_pipering_sequence_t sequence_of(const draft_t *draft)
{
    if (MCA_COLL_PIPERING_PAIRS == draft->way) {
        return MCA_COLL_PIPERING_BY_PAIR;
    }
    return MCA_COLL_PIPERING_EXCHANGE_ORDERED == draft->plan->params.algorithm
               ? MCA_COLL_PIPERING_BY_RANK
               : MCA_COLL_PIPERING_BY_DISTANCE;
}

/* In place all ranks must order their pairs alike, whatever their variables say. */
static size_t small_of(const draft_t *draft)
{
    const mca_coll_pipering_exchange_params_t *params = &draft->plan->params;
    const bool bins = MCA_COLL_PIPERING_EXCHANGE_AUTO == params->algorithm
                      || MCA_COLL_PIPERING_EXCHANGE_BINS == params->algorithm;

    if (MCA_COLL_PIPERING_PAIRS == draft->way) {
        return MCA_COLL_PIPERING_EXCHANGE_SMALL;
    }
    return bins ? params->small : 0;
}

static void order_sends(draft_t *draft)
{
    const mca_coll_pipering_bins_plan_t plan = {.sequence = sequence_of(draft),
                                                .ranks = draft->ranks,
                                                .me = draft->me,
                                                .count = draft->send->count,
                                                .peer = draft->send->peer,
                                                .bytes = draft->bytes,
                                                .small = small_of(draft)};

    const size_t absent = measure(draft, draft->send);
    draft->bins = mca_coll_pipering_bins(&plan, draft->scratch, draft->out);
    draft->bins.zero -= absent;
    draft->outs = draft->bins.small + draft->bins.large;
}

/* Receives of one peer must be posted in the order in which it sends. */
static void order_receives(draft_t *draft)
{
    const mca_coll_pipering_side_t *side = &draft->plan->recv;

    (void) measure(draft, side);
    for (size_t i = 0; i < side->count; ++i) {
        const size_t k = side->flipped ? i ^ 1 : i;
        if (0 != draft->bytes[k]) {
            draft->in[draft->ins++] = k;
        }
    }
}

static void order_steps(draft_t *draft)
{
    const int p = draft->ranks;

    for (int i = 1; i < p; ++i) {
        draft->in[i - 1] = (size_t) ((draft->me - i + p) % p);
        draft->out[i - 1] = (size_t) ((draft->me + i) % p);
    }
    draft->ins = draft->outs = draft->bins.large = (size_t) p - 1;
}

static void order(draft_t *draft)
{
    if (MCA_COLL_PIPERING_STEPS == draft->way) {
        order_steps(draft);
        return;
    }
    order_sends(draft);
    if (MCA_COLL_PIPERING_TOGETHER == draft->way) {
        order_receives(draft);
    }
}

/* ---- memory ---- */

static mca_coll_pipering_way_t way_of(const mca_coll_pipering_exchange_plan_t *plan)
{
    if (MPI_IN_PLACE == plan->send.buffer) {
        return MCA_COLL_PIPERING_PAIRS;
    }
    return MCA_COLL_PIPERING_EXCHANGE_ROUND_ROBIN == plan->params.algorithm
               ? MCA_COLL_PIPERING_STEPS
               : MCA_COLL_PIPERING_TOGETHER;
}

static int draft_init(draft_t *draft, const mca_coll_pipering_exchange_plan_t *plan,
                      ompi_communicator_t *comm)
{
    draft->plan = plan;
    draft->ranks = ompi_comm_size(comm);
    draft->me = ompi_comm_rank(comm);
    draft->way = way_of(plan);
    draft->ins = draft->outs = 0;
    draft->bins = (mca_coll_pipering_bins_t){0, 0, 0};
    draft->send = MCA_COLL_PIPERING_PAIRS == draft->way ? &plan->recv : &plan->send;

    const size_t sent = draft->send->count, received = plan->recv.count;
    const size_t most = sent < received ? received : sent;
    const size_t words = mca_coll_pipering_bins_scratch(most);
    const size_t bytes = words * sizeof(uint64_t) + 3 * most * sizeof(size_t);

    draft->memory = sizeof(draft->room) < bytes ? malloc(bytes) : NULL;
    if (sizeof(draft->room) < bytes && NULL == draft->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    draft->scratch = NULL == draft->memory ? draft->room : draft->memory;
    draft->bytes = (size_t *) (draft->scratch + words);
    draft->in = draft->bytes + most;
    draft->out = draft->in + most;
    return OMPI_SUCCESS;
}

static bool is_copied(const draft_t *draft, size_t message)
{
    return MCA_COLL_PIPERING_PAIRS == draft->way
           && mca_coll_pipering_begins_pair(draft->ranks, draft->me, (int) message);
}

/* Bytes of the pool, that must hold the largest message. */
static size_t copies_of(const draft_t *draft)
{
    const size_t limit = draft->plan->params.in_place;
    size_t total = 0, largest = 0;

    for (size_t i = 0; MCA_COLL_PIPERING_PAIRS == draft->way && i < draft->outs; ++i) {
        const size_t bytes = is_copied(draft, draft->out[i]) ? draft->bytes[draft->out[i]] : 0;
        total += bytes;
        largest = largest < bytes ? bytes : largest;
    }
    if (0 == limit || total <= limit) {
        return total;
    }
    return largest < limit ? limit : largest;
}

static size_t queue_of(const draft_t *draft, size_t window)
{
    switch (draft->way) {
    case MCA_COLL_PIPERING_PAIRS:
        return draft->outs;
    case MCA_COLL_PIPERING_STEPS:
        return 2;
    default:
        return draft->ins + window;
    }
}

static int take_memory(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    const size_t messages = draft->ins + draft->outs;
    const size_t requests = exchange->queue, copies = exchange->pool.size;
    const size_t bytes = messages * sizeof(mca_coll_pipering_message_t)
                         + requests * sizeof(ompi_request_t *) + draft->outs * sizeof(size_t)
                         + copies;

    exchange->memory = sizeof(exchange->room) < bytes ? malloc(bytes) : NULL;
    if (sizeof(exchange->room) < bytes && NULL == exchange->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    exchange->in = NULL == exchange->memory ? exchange->room : exchange->memory;
    exchange->out = exchange->in + draft->ins;
    exchange->requests = (ompi_request_t **) (exchange->out + draft->outs);
    exchange->copy = (size_t *) (exchange->requests + requests);
    exchange->copies = (char *) (exchange->copy + draft->outs);
    return OMPI_SUCCESS;
}

/* ---- making ---- */

static void fill_messages(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    const mca_coll_pipering_side_t *recv = &draft->plan->recv;

    for (size_t i = 0; i < draft->ins; ++i) {
        exchange->in[i] = message_of(recv, draft->in[i]);
    }
    for (size_t i = 0; i < draft->outs; ++i) {
        exchange->out[i] = message_of(draft->send, draft->out[i]);
        exchange->out[i].copied = is_copied(draft, draft->out[i]);
    }
    if (draft->plan->copies_own && MCA_COLL_PIPERING_PAIRS != draft->way) {
        exchange->own_in = message_of(recv, (size_t) draft->me);
        exchange->own_out = message_of(draft->send, (size_t) draft->me);
    }
}

/* Messages or pairs under way. */
static size_t window_of(const draft_t *draft)
{
    const mca_coll_pipering_exchange_params_t *params = &draft->plan->params;
    const bool many = 0 < params->many && params->many <= draft->outs;
    size_t window = draft->outs;

    if (0 < params->window && params->window < window) {
        window = params->window;
    }
    if (many && 0 < params->many_window && params->many_window < window) {
        window = params->many_window;
    }
    return window;
}

static int fill(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    exchange->way = draft->way;
    exchange->own_in.bytes = exchange->own_out.bytes = 0;
    exchange->caller = (mca_common_irregular_caller_t){.owner = "pipering",
                                                       .name = draft->plan->name,
                                                       .comm = exchange->comm};
    exchange->algorithm = draft->plan->params.algorithm;
    exchange->bins = draft->bins;
    exchange->ins = draft->ins;
    exchange->outs = draft->outs;
    exchange->window = window_of(draft);
    exchange->queue = queue_of(draft, exchange->window);
    exchange->pool = (mca_coll_pipering_pool_t){.size = copies_of(draft)};

    const int rc = take_memory(exchange, draft);
    if (OMPI_SUCCESS == rc) {
        fill_messages(exchange, draft);
    }
    return rc;
}

int mca_coll_pipering_exchange_init(mca_coll_pipering_exchange_t *exchange,
                                    const mca_coll_pipering_exchange_plan_t *plan,
                                    ompi_communicator_t *comm, int tag)
{
    draft_t draft;

    int rc = draft_init(&draft, plan, comm);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    order(&draft);
    exchange->comm = comm;
    exchange->tag = tag;
    rc = fill(exchange, &draft);
    free(draft.memory);
    return rc;
}

void mca_coll_pipering_exchange_fini(mca_coll_pipering_exchange_t *exchange)
{
    free(exchange->memory);
}
