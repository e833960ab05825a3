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

static void exchange_construct(mca_coll_pipering_exchange_t *exchange)
{
    exchange->memory = NULL;
    exchange->own_in.bytes = exchange->own_out.bytes = 0;
}

static void exchange_destruct(mca_coll_pipering_exchange_t *exchange)
{
    free(exchange->memory);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_exchange_t, mca_coll_pipering_task_t, exchange_construct,
                   exchange_destruct);

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

static bool is_own(const draft_t *draft, const mca_coll_pipering_side_t *side, size_t i)
{
    return draft->plan->copies_own && draft->me == peer_of(side, i);
}

/* Bytes of messages, 0 where there is no peer or nothing to send to it. */
static void measure(const draft_t *draft, const mca_coll_pipering_side_t *side)
{
    for (size_t i = 0; i < side->count; ++i) {
        const bool none = MPI_PROC_NULL == peer_of(side, i) || is_own(draft, side, i)
                          || 0 == side->counts[i];
        draft->bytes[i] = none ? 0 : message_of(side, i).bytes;
    }
}

/* Those that are neither to be sent nor left out. */
static size_t not_there(const draft_t *draft, const mca_coll_pipering_side_t *side)
{
    size_t count = 0;

    for (size_t i = 0; i < side->count; ++i) {
        count += MPI_PROC_NULL == peer_of(side, i) || is_own(draft, side, i);
    }
    return count;
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

static void order_sends(draft_t *draft)
{
    const mca_coll_pipering_exchange_params_t *params = &draft->plan->params;
    const bool bins = MCA_COLL_PIPERING_EXCHANGE_AUTO == params->algorithm
                      || MCA_COLL_PIPERING_EXCHANGE_BINS == params->algorithm;
    const mca_coll_pipering_bins_plan_t plan = {.sequence = sequence_of(draft),
                                                .ranks = draft->ranks,
                                                .me = draft->me,
                                                .count = draft->send->count,
                                                .peer = draft->send->peer,
                                                .bytes = draft->bytes,
                                                .small = bins ? params->small : 0};

    measure(draft, draft->send);
    draft->bins = mca_coll_pipering_bins(&plan, draft->scratch, draft->out);
    draft->bins.zero -= not_there(draft, draft->send);
    draft->outs = draft->bins.small + draft->bins.large;
}

/* Receives of one peer must be posted in the order in which it sends. */
static void order_receives(draft_t *draft)
{
    const mca_coll_pipering_side_t *side = &draft->plan->recv;

    measure(draft, side);
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
    *draft = (draft_t){.plan = plan,
                       .ranks = ompi_comm_size(comm),
                       .me = ompi_comm_rank(comm),
                       .way = way_of(plan)};
    draft->send = MCA_COLL_PIPERING_PAIRS == draft->way ? &plan->recv : &plan->send;

    const size_t sent = draft->send->count, received = plan->recv.count;
    const size_t most = sent < received ? received : sent;
    const size_t words = mca_coll_pipering_bins_scratch(most);

    draft->memory = malloc(words * sizeof(uint64_t) + 3 * (most + 1) * sizeof(size_t));
    if (NULL == draft->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    draft->scratch = draft->memory;
    draft->bytes = (size_t *) (draft->scratch + words);
    draft->in = draft->bytes + most;
    draft->out = draft->in + most;
    return OMPI_SUCCESS;
}

/* Bytes of the pool, that must hold the largest message. */
static size_t copies_of(const draft_t *draft)
{
    const size_t limit = draft->plan->params.in_place;
    size_t total = 0, largest = 0;

    for (size_t i = 0; MCA_COLL_PIPERING_PAIRS == draft->way && i < draft->outs; ++i) {
        const size_t bytes = draft->bytes[draft->out[i]];
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
        return 2 * draft->outs;
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

    char *memory = malloc(messages * sizeof(mca_coll_pipering_message_t)
                          + requests * sizeof(ompi_request_t *) + draft->outs * sizeof(size_t)
                          + copies);
    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    exchange->memory = memory;
    exchange->in = (mca_coll_pipering_message_t *) memory;
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
    }
    if (draft->plan->copies_own && MCA_COLL_PIPERING_PAIRS != draft->way) {
        exchange->own_in = message_of(recv, (size_t) draft->me);
        exchange->own_out = message_of(draft->send, (size_t) draft->me);
    }
}

static int fill(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    const size_t window = draft->plan->params.window;

    exchange->way = draft->way;
    exchange->name = draft->plan->name;
    exchange->algorithm = draft->plan->params.algorithm;
    exchange->bins = draft->bins;
    exchange->ins = draft->ins;
    exchange->outs = draft->outs;
    exchange->window = 0 == window || draft->outs < window ? draft->outs : window;
    exchange->queue = queue_of(draft, exchange->window);
    exchange->pool = (mca_coll_pipering_pool_t){.size = copies_of(draft)};

    const int rc = take_memory(exchange, draft);
    if (OMPI_SUCCESS == rc) {
        fill_messages(exchange, draft);
    }
    return rc;
}

int mca_coll_pipering_exchange_new(const mca_coll_pipering_exchange_plan_t *plan,
                                   ompi_communicator_t *comm, int tag,
                                   mca_coll_pipering_exchange_t **made)
{
    draft_t draft;

    int rc = draft_init(&draft, plan, comm);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    order(&draft);

    mca_coll_pipering_exchange_t *exchange = OBJ_NEW(mca_coll_pipering_exchange_t);
    rc = NULL == exchange ? OMPI_ERR_OUT_OF_RESOURCE : fill(exchange, &draft);
    free(draft.memory);
    if (OMPI_SUCCESS != rc) {
        if (NULL != exchange) {
            OBJ_RELEASE(exchange);
        }
        return rc;
    }
    mca_coll_pipering_task_init(&exchange->super, &mca_coll_pipering_exchange_kind, comm,
                                plan->persistent);
    exchange->super.nonblocking = plan->nonblocking;
    exchange->tag = tag;
    *made = exchange;
    return OMPI_SUCCESS;
}
