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
 * Makes an exchange in packets. Packets are sent and received in the order of
 * coll_pipering_plan_permuted.c.
 *
 *     message of one packet         is sent and received with its own type
 *     of several, contiguous        [ packet | packet | pa]    parts of the buffer
 *     of several, with gaps         a step packs it into a copy before its first packet is sent,
 *                                   or unpacks the copy when its last packet has been received
 *
 * Sender and receiver may use different types, but both know the bytes of the signature, and so
 * cut the message into the same packets.
 *
 * Cost: one copy more, on either side, of a message that has gaps there and is longer than a
 * packet. Limits: memory for these copies, all at the same time.
 *
 * Almasi et al., section 3.1, MPI_Alltoall and MPI_Alltoallv; they have no such copies.
 */

#include "coll_pipering_alltoall_make.h"

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_permuted.h"

/* Packets to one rank before those to the next. */
#define VISIT 2

/*
 * Most sends under way if the variable alltoall_window is 0: with two packets a visit these go to 8
 * ranks, few enough for short queues in the network, and so many that hardly a link is without any.
 */
#define DEFAULT_WINDOW 16

typedef mca_common_colltools_needs_t needs_t;
typedef mca_coll_pipering_exchange_draft_t draft_t;

static mca_coll_pipering_permuted_plan_t plan_of(const draft_t *draft, bool receives)
{
    return (mca_coll_pipering_permuted_plan_t){.permutation = draft->plan->permutation,
                                               .ranks = draft->ranks,
                                               .me = draft->me,
                                               .receives = receives,
                                               .bytes = receives ? draft->in : draft->bytes,
                                               .packet = draft->plan->params.packet,
                                               .visit = VISIT};
}

/* Whether a message needs a copy: it has several packets, and gaps. */
static bool is_copied(const draft_t *draft, const mca_coll_pipering_side_t *side, size_t i,
                      size_t bytes)
{
    return draft->plan->params.packet < bytes
           && !opal_datatype_is_contiguous_memory_layout(
               &mca_coll_pipering_side_type(side, i)->super,
               (int32_t) mca_coll_pipering_side_count(side, i));
}

static void count_copies(draft_t *draft, const mca_coll_pipering_side_t *side, const size_t *bytes)
{
    for (size_t i = 0; i < side->count; ++i) {
        if (is_copied(draft, side, i, bytes[i])) {
            ++draft->steps;
            draft->copies += bytes[i];
        }
    }
}

/* For the counters: a message is large if it has several packets. */
static void count_bins(draft_t *draft)
{
    for (size_t i = 0; i < draft->send->count; ++i) {
        const size_t bytes = draft->bytes[i];
        ++*(0 == bytes                             ? &draft->bins.zero
            : bytes <= draft->plan->params.packet ? &draft->bins.small
                                                  : &draft->bins.large);
    }
}

/*
 * Receives: the packets of two rounds of visits, so that one slow sender does not hold up the
 * others.
 *
 * The window of sends counts packets that have not arrived. A transport may say that a short
 * message is sent when it has only taken it; then all packets would be in the network's queues at
 * once, and those that go far behind those that do not. A rank all of whose messages are single
 * packets has so few bytes under way that the answers would cost more than they bring.
 */
static void set_windows(draft_t *draft)
{
    const size_t packets = 2 * (size_t) draft->ranks * VISIT, window = draft->plan->params.window;

    draft->in_window = packets < draft->ins ? packets : draft->ins;
    draft->out_window = 0 < window ? window : DEFAULT_WINDOW;
    draft->synchronous = 0 < draft->bins.large;
}

void mca_coll_pipering_permuted_order(draft_t *draft)
{
    const size_t absent = mca_coll_pipering_side_measure(draft->plan, draft->me, draft->send,
                                                         draft->bytes);
    const mca_coll_pipering_permuted_plan_t out = plan_of(draft, false), in = plan_of(draft, true);

    (void) mca_coll_pipering_side_measure(draft->plan, draft->me, &draft->plan->recv,
                                          draft->in);
    count_bins(draft);
    draft->bins.zero -= absent;
    draft->outs = mca_coll_pipering_packets(&out);
    draft->ins = mca_coll_pipering_packets(&in);
    count_copies(draft, draft->send, draft->bytes);
    count_copies(draft, &draft->plan->recv, draft->in);
    set_windows(draft);
}

/* ---- the schedule ---- */

/* The bytes of a message of several packets: its copy, or its place in the user's buffer. */
static char *bytes_at(const draft_t *draft, const mca_coll_pipering_exchange_t *exchange,
                      const mca_coll_pipering_side_t *side, size_t i, size_t bytes)
{
    ptrdiff_t lower, extent;

    if (is_copied(draft, side, i, bytes)) {
        return exchange->copies + draft->out[i];
    }
    ompi_datatype_get_true_extent(mca_coll_pipering_side_type(side, i), &lower, &extent);
    return mca_coll_pipering_side_buffer(side, i) + lower;
}

static void list_packet(const draft_t *draft, const mca_coll_pipering_exchange_t *exchange,
                        mca_common_colltools_messages_t *list,
                        const mca_coll_pipering_side_t *side, size_t bytes,
                        const mca_coll_pipering_packet_t *packet, needs_t needs)
{
    const size_t i = (size_t) packet->peer;

    if (packet->bytes == bytes) {
        mca_coll_pipering_side_list(list, side, i)->needs = needs;
    } else {
        char *at = bytes_at(draft, exchange, side, i, bytes);
        mca_common_colltools_schedule_bytes(list, at + packet->offset, packet->bytes, packet->peer,
                                            needs);
    }
}

/* Adds a step that packs a message into its copy, or unpacks it from there. */
static void list_copy(const draft_t *draft, mca_coll_pipering_exchange_t *exchange,
                      const mca_coll_pipering_side_t *side, size_t i, size_t bytes, bool packs,
                      needs_t needs)
{
    mca_common_colltools_schedule_t *schedule = &exchange->schedule;
    mca_coll_pipering_move_t *move = &exchange->move[schedule->steps];
    const mca_coll_pipering_place_t place = mca_coll_pipering_side_place(side, i);
    const mca_coll_pipering_place_t copy = {exchange->copies + draft->out[i], bytes, MPI_PACKED};

    move->from = packs ? place : copy;
    move->to = packs ? copy : place;
    mca_common_colltools_schedule_step(schedule, mca_coll_pipering_exchange_copy,
                                       (int) schedule->steps, 0, needs);
}

/*
 * Lists the packets to be sent, in the order of visits, and for each message with a copy a step
 * that packs it. These steps run one after the other while messages move; a packet needs those
 * listed before it. Returns the bytes of copies so far.
 */
static size_t list_sends(mca_coll_pipering_exchange_t *exchange, draft_t *draft, size_t copies)
{
    mca_common_colltools_schedule_t *schedule = &exchange->schedule;
    const mca_coll_pipering_permuted_plan_t plan = plan_of(draft, false);
    mca_coll_pipering_visits_t visits;
    mca_coll_pipering_packet_t packet;

    mca_coll_pipering_visits_begin(&visits, &plan, (int *) draft->scratch);
    while (mca_coll_pipering_visits_next(&visits, &packet)) {
        const size_t i = (size_t) packet.peer, bytes = draft->bytes[i];
        if (0 == packet.offset && is_copied(draft, draft->send, i, bytes)) {
            draft->out[i] = copies;
            copies += bytes;
            list_copy(draft, exchange, draft->send, i, bytes, true, (needs_t){0, 0, 0});
        }
        list_packet(draft, exchange, &schedule->sends, draft->send, bytes, &packet,
                    (needs_t){.steps = schedule->steps});
    }
    return copies;
}

/* Lists the packets to be received, and steps that unpack messages behind their last packets. */
static void list_receives(mca_coll_pipering_exchange_t *exchange, draft_t *draft, size_t copies)
{
    mca_common_colltools_schedule_t *schedule = &exchange->schedule;
    const mca_coll_pipering_side_t *side = &draft->plan->recv;
    const mca_coll_pipering_permuted_plan_t plan = plan_of(draft, true);
    mca_coll_pipering_visits_t visits;
    mca_coll_pipering_packet_t packet;

    mca_coll_pipering_visits_begin(&visits, &plan, (int *) draft->scratch);
    while (mca_coll_pipering_visits_next(&visits, &packet)) {
        const size_t i = (size_t) packet.peer, bytes = draft->in[i];
        const bool copied = is_copied(draft, side, i, bytes);
        if (0 == packet.offset && copied) {
            draft->out[i] = copies;
            copies += bytes;
        }
        list_packet(draft, exchange, &schedule->receives, side, bytes, &packet,
                    (needs_t){0, 0, 0});
        if (packet.last && copied) {
            list_copy(draft, exchange, side, i, bytes, false,
                      (needs_t){.receives = schedule->receives.count});
        }
    }
}

void mca_coll_pipering_permuted_list(mca_coll_pipering_exchange_t *exchange, draft_t *draft)
{
    const size_t copies = list_sends(exchange, draft, 0);

    mca_coll_pipering_side_list_own(exchange, draft->plan, draft->send, (size_t) draft->me);
    list_receives(exchange, draft, copies);
}
