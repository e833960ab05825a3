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
 * Making an exchange: from the sides of a call to a schedule of messages in the order in
 * which they start. All memory is taken here, so that nobody fails in the midst of an
 * exchange. Three ways:
 *
 *     together      every receive at once, sends in the order of the plan, at most a window
 *                   of them under way
 *     pairs         in place: sends with an answer. One of the two ranks packs what it sends
 *                   (coll_pipering_alltoall_exchange.c), receives, then sends it; the other
 *                   one sends from its buffer, then receives there
 *     round robin   to me + i and from me - i, zero bytes too, then the next i: the order
 *                   that the paper compares with
 *
 * A message that fails, or has another length than its receiver expects, does not stop the
 * others, on which ranks may wait; the first error is that of the call.
 *
 * Cost: linear in the messages. Limits: messages with one peer are told apart by their order
 * alone. Balaji et al. 4.2.2.
 */

#include "coll_pipering_alltoall.h"

#include <stdlib.h>

#define FEW 64 /* messages */

typedef mca_common_irregular_message_t message_t;
typedef mca_common_irregular_messages_t messages_t;
typedef mca_common_irregular_schedule_t schedule_t;

typedef enum { TOGETHER, PAIRS, ROUND_ROBIN } way_t;

/* What is known before there is memory for the exchange. */
typedef struct draft_t {
    const mca_coll_pipering_exchange_plan_t *plan;
    int ranks, me;
    way_t way;
    const mca_coll_pipering_side_t *send; /* in place: the receiving side */
    size_t *bytes;                        /* [most messages of a side] */
    uint64_t *scratch;
    size_t *in, *out; /* messages of the sides in the order in which they start */
    size_t ins, outs;
    mca_coll_pipering_bins_t bins;
    size_t steps;  /* in place: messages that are packed; else one or none */
    size_t copies; /* bytes of their pool */
    void *memory;
    uint64_t room[4 * FEW]; /* in place of memory, where messages are few */
} draft_t;

/* ---- a side's messages ---- */

static inline int peer_of(const mca_coll_pipering_side_t *side, size_t i)
{
    return NULL == side->peer ? (int) i : side->peer[i];
}

static inline ompi_datatype_t *type_of(const mca_coll_pipering_side_t *side, size_t i)
{
    return NULL == side->type ? side->types[i] : side->type;
}

static inline size_t bytes_of(const mca_coll_pipering_side_t *side, size_t i)
{
    size_t size;

    if (0 == side->counts[i]) {
        return 0;
    }
    ompi_datatype_type_size(type_of(side, i), &size);
    return (size_t) side->counts[i] * size;
}

static inline char *buffer_of(const mca_coll_pipering_side_t *side, size_t i)
{
    const ptrdiff_t displ = NULL == side->byte_displs ? side->displs[i] : side->byte_displs[i];
    ptrdiff_t extent = 1;

    if (NULL != side->type) {
        ompi_datatype_type_extent(side->type, &extent);
    }
    return side->buffer + displ * extent;
}

static mca_coll_pipering_place_t place_of(const mca_coll_pipering_side_t *side, size_t i)
{
    return (mca_coll_pipering_place_t){buffer_of(side, i), (size_t) side->counts[i],
                                       type_of(side, i)};
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
        draft->bytes[i] = none ? 0 : bytes_of(side, i);
        absent += none;
    }
    return absent;
}

/* ---- orders ---- */

static mca_coll_pipering_sequence_t sequence_of(const draft_t *draft)
{
    if (PAIRS == draft->way) {
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

    if (PAIRS == draft->way) {
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

static void order_round_robin(draft_t *draft)
{
    const int p = draft->ranks;

    for (int i = 1; i < p; ++i) {
        draft->in[i - 1] = (size_t) ((draft->me - i + p) % p);
        draft->out[i - 1] = (size_t) ((draft->me + i) % p);
    }
    draft->ins = draft->outs = draft->bins.large = (size_t) p - 1;
}

static bool is_packed(const draft_t *draft, size_t message)
{
    return mca_coll_pipering_begins_pair(draft->ranks, draft->me, (int) message);
}

/* Steps, and the bytes of the pool, that must hold the largest message. */
static void count_packed(draft_t *draft)
{
    const size_t limit = draft->plan->params.in_place;
    size_t total = 0, largest = 0;

    for (size_t i = 0; i < draft->outs; ++i) {
        if (is_packed(draft, draft->out[i])) {
            const size_t bytes = draft->bytes[draft->out[i]];
            ++draft->steps;
            total += bytes;
            largest = largest < bytes ? bytes : largest;
        }
    }
    draft->copies = 0 == limit || total <= limit ? total : largest < limit ? limit : largest;
}

static void order(draft_t *draft)
{
    switch (draft->way) {
    case PAIRS:
        order_sends(draft);
        count_packed(draft);
        return;
    case ROUND_ROBIN:
        order_round_robin(draft);
        break;
    default:
        order_sends(draft);
        order_receives(draft);
        break;
    }
    draft->steps = draft->plan->copies_own && 0 != bytes_of(draft->send, (size_t) draft->me);
}

/* ---- memory ---- */

static way_t way_of(const mca_coll_pipering_exchange_plan_t *plan)
{
    if (MPI_IN_PLACE == plan->send.buffer) {
        return PAIRS;
    }
    return MCA_COLL_PIPERING_EXCHANGE_ROUND_ROBIN == plan->params.algorithm ? ROUND_ROBIN
                                                                            : TOGETHER;
}

static int draft_init(draft_t *draft, const mca_coll_pipering_exchange_plan_t *plan,
                      ompi_communicator_t *comm)
{
    draft->plan = plan;
    draft->ranks = ompi_comm_size(comm);
    draft->me = ompi_comm_rank(comm);
    draft->way = way_of(plan);
    draft->ins = draft->outs = draft->steps = draft->copies = 0;
    draft->bins = (mca_coll_pipering_bins_t){0, 0, 0};
    draft->send = PAIRS == draft->way ? &plan->recv : &plan->send;

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

/* Lists with room for all entries. */
static int take_memory(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    const mca_common_irregular_needs_t most = {.receives = (uint32_t) draft->ins,
                                               .sends = (uint32_t) draft->outs,
                                               .steps = (uint32_t) draft->steps};
    const size_t packed = PAIRS == draft->way ? draft->steps : 0;
    const size_t bytes = mca_common_irregular_schedule_size(most) + packed * sizeof(message_t)
                         + draft->copies;

    exchange->memory = sizeof(exchange->room) < bytes ? malloc(bytes) : NULL;
    if (sizeof(exchange->room) < bytes && NULL == exchange->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    exchange->packed = mca_common_irregular_schedule_bind(
        &exchange->schedule, most, NULL == exchange->memory ? exchange->room : exchange->memory);
    exchange->copies = (char *) (exchange->packed + packed);
    return OMPI_SUCCESS;
}

/* ---- making ---- */

static inline message_t *list(messages_t *messages, const mca_coll_pipering_side_t *side, size_t i)
{
    message_t *message = &messages->message[messages->count++];

    message->buffer = buffer_of(side, i);
    message->type = type_of(side, i);
    message->count = (size_t) side->counts[i];
    message->bytes = bytes_of(side, i);
    message->peer = peer_of(side, i);
    message->receives_first = false;
    message->needs = (mca_common_irregular_needs_t){0, 0, 0};
    message->answer = NULL;
    return message;
}

static void list_own(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    if (0 < draft->steps) {
        exchange->own_from = place_of(draft->send, (size_t) draft->me);
        exchange->own_to = place_of(&draft->plan->recv, (size_t) draft->me);
        mca_common_irregular_schedule_step(&exchange->schedule,
                                           mca_coll_pipering_exchange_copy_own, 0, 0,
                                           (mca_common_irregular_needs_t){0, 0, 0});
    }
}

static void list_together(schedule_t *schedule, const draft_t *draft)
{
    for (size_t i = 0; i < draft->ins; ++i) {
        (void) list(&schedule->receives, &draft->plan->recv, draft->in[i]);
    }
    for (size_t i = 0; i < draft->outs; ++i) {
        (void) list(&schedule->sends, draft->send, draft->out[i]);
    }
}

static void list_round_robin(schedule_t *schedule, const draft_t *draft)
{
    for (size_t i = 0; i < draft->outs; ++i) {
        const mca_common_irregular_needs_t needs = {.receives = i, .sends = i};
        list(&schedule->receives, &draft->plan->recv, draft->in[i])->needs = needs;
        list(&schedule->sends, draft->send, draft->out[i])->needs = needs;
    }
}

/* Data is not packed before its pair is in the window, as data that waits would fill the pool. */
static void list_packed(mca_coll_pipering_exchange_t *exchange, message_t *message, uint32_t pair)
{
    schedule_t *schedule = &exchange->schedule;
    const uint32_t window = schedule->sends.window;
    message_t *packed = &exchange->packed[schedule->steps];

    *packed = *message;
    message->type = MPI_PACKED;
    message->count = message->bytes;
    message->receives_first = true;
    message->answer = packed;
    mca_common_irregular_schedule_step(
        schedule, mca_coll_pipering_exchange_pack, (int) schedule->steps, (int) pair,
        (mca_common_irregular_needs_t){.sends = pair < window ? 0 : pair - window + 1});
    message->needs.steps = schedule->steps;
}

static void list_pairs(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    exchange->schedule.answers = true;
    for (size_t i = 0; i < draft->outs; ++i) {
        message_t *message = list(&exchange->schedule.sends, draft->send, draft->out[i]);
        message->answer = message;
        if (is_packed(draft, draft->out[i])) {
            list_packed(exchange, message, (uint32_t) i);
        }
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

static void list_all(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    switch (draft->way) {
    case PAIRS:
        list_pairs(exchange, draft);
        break;
    case ROUND_ROBIN:
        list_round_robin(&exchange->schedule, draft);
        list_own(exchange, draft);
        break;
    default:
        list_together(&exchange->schedule, draft);
        list_own(exchange, draft);
        break;
    }
}

static int fill(mca_coll_pipering_exchange_t *exchange, const draft_t *draft,
                ompi_communicator_t *comm, int tag)
{
    exchange->caller = (mca_common_irregular_caller_t){.owner = "pipering",
                                                       .name = draft->plan->name,
                                                       .comm = comm};
    exchange->algorithm = draft->plan->params.algorithm;
    exchange->bins = draft->bins;
    exchange->in_place = PAIRS == draft->way;
    exchange->pool.size = draft->copies;
    exchange->schedule = (schedule_t){.caller = &exchange->caller,
                                      .tag = tag,
                                      .goes_on = true,
                                      .any_length = MCA_COMMON_IRREGULAR_HETEROGENEOUS,
                                      .receives.window = (uint32_t) draft->ins,
                                      .sends.window = (uint32_t) window_of(draft),
                                      .context = exchange};

    const int rc = take_memory(exchange, draft);
    if (OMPI_SUCCESS == rc) {
        list_all(exchange, draft);
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
    rc = fill(exchange, &draft, comm, tag);
    free(draft.memory);
    return rc;
}

void mca_coll_pipering_exchange_fini(mca_coll_pipering_exchange_t *exchange)
{
    free(exchange->memory);
}
