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
 * Makes an exchange: turns the sides of a call into a schedule of messages, in the order in which
 * they start, and allocates all memory. There are three ways:
 *
 *     together      posts all receives at once; starts sends in the order of the bins
 *                   (coll_pipering_plan_bins.c), with at most a window of them under way
 *     pairs         MPI_IN_PLACE: each send has an answer. One rank of a pair packs its message
 *                   (coll_pipering_alltoall_exchange.c), receives the other one, then sends the
 *                   packed one; the other rank sends from its buffer, then receives there
 *     permuted      sends and receives packets (coll_pipering_alltoall_permuted.c)
 *
 *     rank 2 of 4              sends to       receives from
 *     together, one bin        3, 0, 1        0, 1, 3 at once
 *
 * A message that fails, or whose length is not what its receiver expects, does not stop the other
 * messages, since their peers may wait for them. The first error is the error of the call.
 *
 * Cost: time linear in the number of messages; n log n for a list of n peers in any order. Memory
 * linear in it too, or, where few of many messages have elements, in the number of those. Limits:
 * all messages of an exchange have the same tag, so several messages with one peer are matched by
 * their order.
 *
 * Balaji et al., section 4.2.2.
 */

#include "coll_pipering_alltoall_make.h"

#include <stdlib.h>

typedef mca_common_colltools_message_t message_t;
typedef mca_common_colltools_messages_t messages_t;
typedef mca_common_colltools_schedule_t schedule_t;
typedef mca_coll_pipering_exchange_draft_t draft_t;

/*
 * Where fewer than one message in so many has elements, those alone are listed: an exchange with
 * few of many peers then writes no memory for the others.
 */
#define SPARSE 8

/* ---- orders ---- */

/*
 * In place all ranks must put their pairs into one order or they may wait for each other in a
 * circle, so there the threshold is a constant, no variable.
 */
static size_t small_of(const draft_t *draft)
{
    return MCA_COLL_PIPERING_WAY_PAIRS == draft->way ? MCA_COLL_PIPERING_EXCHANGE_SMALL
                                                     : draft->plan->params.small;
}

/* Lists the sends that have elements, and their bytes. Returns the number of absent messages. */
static size_t list_present(draft_t *draft)
{
    size_t absent = 0, listed = 0;

    for (size_t i = 0; i < draft->send->count; ++i) {
        if (mca_coll_pipering_side_is_absent(draft->plan, draft->me, draft->send, i)) {
            ++absent;
        } else if (0 != mca_coll_pipering_side_count(draft->send, i)) {
            draft->bytes[listed] = mca_coll_pipering_side_bytes(draft->send, i);
            draft->listed[listed++] = (int) i;
        }
    }
    return absent;
}

static void order_sends(draft_t *draft)
{
    const bool pairs = MCA_COLL_PIPERING_WAY_PAIRS == draft->way;
    const mca_coll_pipering_bins_plan_t plan = {.sequence = pairs ? MCA_COLL_PIPERING_BY_PAIR
                                                                  : MCA_COLL_PIPERING_BY_DISTANCE,
                                                .ranks = draft->ranks,
                                                .me = draft->me,
                                                .count = draft->sends,
                                                .peer = draft->sparse ? draft->listed
                                                                      : draft->send->peer,
                                                .bytes = draft->bytes,
                                                .small = small_of(draft)};

    const size_t absent = draft->sparse ? list_present(draft)
                                        : mca_coll_pipering_side_measure(draft->plan, draft->me,
                                                                         draft->send,
                                                                         draft->bytes);
    draft->bins = mca_coll_pipering_bins(&plan, draft->scratch, draft->out);
    draft->outs = draft->bins.small + draft->bins.large;
    draft->bins.zero = draft->send->count - absent - draft->outs;
    for (size_t i = 0; draft->sparse && i < draft->outs; ++i) {
        draft->out[i] = (size_t) draft->listed[draft->out[i]];
    }
}

/* Receives from one peer start in the order in which it starts its sends, which may be flipped. */
static void order_receives(draft_t *draft)
{
    const mca_coll_pipering_side_t *side = &draft->plan->recv;

    for (size_t i = 0; i < side->count; ++i) {
        const size_t k = side->flipped ? i ^ 1 : i;
        if (!mca_coll_pipering_side_is_absent(draft->plan, draft->me, side, k)
            && 0 != mca_coll_pipering_side_bytes(side, k)) {
            draft->in[draft->ins++] = k;
        }
    }
}

static bool is_packed(const draft_t *draft, size_t message)
{
    return mca_coll_pipering_begins_pair(draft->ranks, draft->me, (int) message);
}

/*
 * Counts the messages to be packed, and the bytes of the pool: room for all of them or, if that is
 * less, the limit, but always for the largest one.
 */
static void count_packed(draft_t *draft)
{
    const size_t limit = draft->plan->params.in_place;
    size_t total = 0, largest = 0;

    for (size_t i = 0; i < draft->outs; ++i) {
        if (is_packed(draft, draft->out[i])) {
            const size_t bytes = mca_coll_pipering_side_bytes(draft->send, draft->out[i]);
            ++draft->steps;
            total += bytes;
            largest = largest < bytes ? bytes : largest;
        }
    }
    draft->copies = 0 == limit || total <= limit ? total : largest < limit ? limit : largest;
}

/*
 * A rank with MANY sends starts no more than MANY_WINDOW of them at the same time: all at once
 * would flood the network.
 */
#define MANY 32
#define MANY_WINDOW 2

/* Most messages, or pairs, under way. */
static void set_windows(draft_t *draft)
{
    const size_t given = draft->plan->params.window;
    const size_t most = 0 < given ? given : MANY > draft->outs ? draft->outs : MANY_WINDOW;

    draft->in_window = draft->ins;
    draft->synchronous = false;
    draft->out_window = most < draft->outs ? most : draft->outs;
}

static void order(draft_t *draft)
{
    switch (draft->way) {
    case MCA_COLL_PIPERING_WAY_PAIRS:
        order_sends(draft);
        count_packed(draft);
        set_windows(draft);
        return;
    case MCA_COLL_PIPERING_WAY_PERMUTED:
        mca_coll_pipering_permuted_order(draft);
        break;
    default:
        order_sends(draft);
        order_receives(draft);
        set_windows(draft);
        break;
    }
    if (draft->plan->copies_own) {
        draft->steps += 0 != mca_coll_pipering_side_bytes(draft->send, (size_t) draft->me);
    }
}

/* ---- memory ---- */

static mca_coll_pipering_way_t way_of(const mca_coll_pipering_exchange_plan_t *plan)
{
    if (MPI_IN_PLACE == plan->send.buffer) {
        return MCA_COLL_PIPERING_WAY_PAIRS;
    }
    return MCA_COLL_PIPERING_EXCHANGE_PERMUTED == plan->params.algorithm
               ? MCA_COLL_PIPERING_WAY_PERMUTED
               : MCA_COLL_PIPERING_WAY_TOGETHER;
}

/* The number of messages of a side that have elements; counts no further than to `most`. */
static size_t count_present(const draft_t *draft, const mca_coll_pipering_side_t *side, size_t most)
{
    size_t present = 0;

    for (size_t i = 0; i < side->count && present < most; ++i) {
        present += !mca_coll_pipering_side_is_absent(draft->plan, draft->me, side, i)
                   && 0 != mca_coll_pipering_side_count(side, i);
    }
    return present;
}

/* Finds out whether sends are listed. Returns the number of messages that lists have room for. */
static size_t find_present(draft_t *draft)
{
    const mca_coll_pipering_side_t *send = draft->send, *recv = &draft->plan->recv;
    const bool whole = MCA_COLL_PIPERING_WAY_PERMUTED == draft->way;
    size_t sent = send->count, received = recv->count;
    const size_t many = (sent + SPARSE - 1) / SPARSE;
    const size_t present = whole || NULL != send->peer ? many : count_present(draft, send, many);

    draft->sparse = present < many;
    if (draft->sparse) {
        sent = present;
        received = count_present(draft, recv, received);
    }
    draft->sends = sent;
    return sent < received ? received : sent;
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
    draft->send = MCA_COLL_PIPERING_WAY_PAIRS == draft->way ? &plan->recv : &plan->send;

    const size_t most = find_present(draft);
    const size_t bytes = most * sizeof(uint64_t)
                         + most * (3 * sizeof(size_t) + (draft->sparse ? sizeof(int) : 0));

    draft->memory = sizeof(draft->few) < bytes ? malloc(bytes) : NULL;
    if (sizeof(draft->few) < bytes && NULL == draft->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    draft->scratch = NULL == draft->memory ? draft->few : draft->memory;
    draft->bytes = (size_t *) (draft->scratch + most);
    draft->in = draft->bytes + most;
    draft->out = draft->in + most;
    draft->listed = (int *) (draft->out + most);
    return OMPI_SUCCESS;
}

/* Lays the lists of the schedule, `move` or `packed`, and `copies` into one piece of memory. */
static int take_memory(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    const mca_common_colltools_needs_t most = {.receives = (uint32_t) draft->ins,
                                               .sends = (uint32_t) draft->outs,
                                               .steps = (uint32_t) draft->steps};
    const bool pairs = MCA_COLL_PIPERING_WAY_PAIRS == draft->way;
    const size_t each = pairs ? sizeof(message_t) : sizeof(mca_coll_pipering_move_t);
    const size_t bytes = mca_common_colltools_schedule_size(most) + draft->steps * each
                         + draft->copies;

    exchange->memory = sizeof(exchange->few) < bytes ? malloc(bytes) : NULL;
    if (sizeof(exchange->few) < bytes && NULL == exchange->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    void *behind = mca_common_colltools_schedule_bind(
        &exchange->schedule, most, NULL == exchange->memory ? exchange->few : exchange->memory);
    exchange->packed = pairs ? behind : NULL;
    exchange->move = pairs ? NULL : behind;
    exchange->copies = (char *) behind + draft->steps * each;
    return OMPI_SUCCESS;
}

/* ---- the schedule ---- */

static void list_together(schedule_t *schedule, const draft_t *draft)
{
    for (size_t i = 0; i < draft->ins; ++i) {
        (void) mca_coll_pipering_side_list(&schedule->receives, &draft->plan->recv, draft->in[i]);
    }
    for (size_t i = 0; i < draft->outs; ++i) {
        (void) mca_coll_pipering_side_list(&schedule->sends, draft->send, draft->out[i]);
    }
}

/*
 * Lists a pair whose send is packed. The step that packs waits until the pair is in the window:
 * messages packed earlier would only fill the pool.
 */
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
    mca_common_colltools_schedule_step(
        schedule, mca_coll_pipering_exchange_pack, (int) schedule->steps, (int) pair,
        (mca_common_colltools_needs_t){.sends = pair < window ? 0 : pair - window + 1});
    message->needs.steps = schedule->steps;
}

static void list_pairs(mca_coll_pipering_exchange_t *exchange, const draft_t *draft)
{
    exchange->schedule.answers = true;
    for (size_t i = 0; i < draft->outs; ++i) {
        message_t *message = mca_coll_pipering_side_list(&exchange->schedule.sends, draft->send,
                                                         draft->out[i]);
        message->answer = message;
        if (is_packed(draft, draft->out[i])) {
            list_packed(exchange, message, (uint32_t) i);
        }
    }
}

static void list_all(mca_coll_pipering_exchange_t *exchange, draft_t *draft)
{
    switch (draft->way) {
    case MCA_COLL_PIPERING_WAY_PAIRS:
        list_pairs(exchange, draft);
        break;
    case MCA_COLL_PIPERING_WAY_PERMUTED:
        mca_coll_pipering_permuted_list(exchange, draft);
        break;
    default:
        list_together(&exchange->schedule, draft);
        mca_coll_pipering_side_list_own(exchange, draft->plan, draft->send, (size_t) draft->me);
        break;
    }
}

static int fill(mca_coll_pipering_exchange_t *exchange, draft_t *draft,
                ompi_communicator_t *comm, int tag)
{
    exchange->caller = (mca_common_colltools_caller_t){.owner = "pipering",
                                                       .name = draft->plan->name,
                                                       .comm = comm};
    exchange->algorithm = draft->plan->params.algorithm;
    exchange->bins = draft->bins;
    exchange->in_place = MCA_COLL_PIPERING_WAY_PAIRS == draft->way;
    exchange->pool.size = draft->copies;
    exchange->schedule = (schedule_t){.caller = &exchange->caller,
                                      .tag = tag,
                                      .goes_on = true,
                                      .synchronous = draft->synchronous,
                                      .any_length = MCA_COMMON_COLLTOOLS_HETEROGENEOUS,
                                      .receives.window = (uint32_t) draft->in_window,
                                      .sends.window = (uint32_t) draft->out_window,
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
    /* lists count in 32 bits; for more messages they would need some hundred GiB */
    rc = UINT32_MAX >= draft.ins && UINT32_MAX >= draft.outs && UINT32_MAX >= draft.steps
             ? fill(exchange, &draft, comm, tag)
             : OMPI_ERR_OUT_OF_RESOURCE;
    free(draft.memory);
    return rc;
}

void mca_coll_pipering_exchange_fini(mca_coll_pipering_exchange_t *exchange)
{
    free(exchange->memory);
}
