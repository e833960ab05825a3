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
 * Gathers in rounds of coll_pipering_gather_rounds.h: memory, lists of messages, deliveries.
 */

#include "coll_pipering_gather_rounds.h"
#include "coll_pipering_engine_steps.h"

#include <stdlib.h>
#include <string.h>

/* A gather in rounds that is under way; its lists follow in the same memory. */
typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    int me;
    bool on_device; /* one of the user's buffers is memory of a device */
    char *area;     /* packed contributions, then large ones that no user's buffer can hold */
    int delivery;         /* the slot that is being delivered, -1: none */
    size_t delivery_done; /* bytes of this slot that have been delivered */
    opal_convertor_t unpacker;
} rounds_t;

static size_t bytes_at(const rounds_t *rounds, int slot)
{
    return rounds->args.bytes[rounds->args.slots->rank[slot]];
}

static bool is_large(const rounds_t *rounds, int slot)
{
    return bytes_at(rounds, slot) > rounds->args.packed;
}

static char *in_buffer(const mca_coll_pipering_layout_t *layout, int rank)
{
    return mca_coll_pipering_contribution(layout, rank) + layout->true_lb;
}

/* Where the contribution of a slot is sent from, and received. */
static char *place_of(const rounds_t *rounds, int slot)
{
    const mca_coll_pipering_rounds_args_t *args = &rounds->args;
    const mca_coll_pipering_slots_t *slots = args->slots;

    if (!is_large(rounds, slot)) {
        return rounds->area + slots->offset[slot];
    }
    if (slot == slots->own && NULL != args->send && args->send->dense) {
        return in_buffer(args->send, rounds->me);
    }
    return args->recv->dense ? in_buffer(args->recv, slots->rank[slot])
                             : rounds->area + slots->packed + slots->offset[slot];
}

/* ---- setting up ---- */

/* A gather with its lists. */
static rounds_t *rounds_alloc(const mca_coll_pipering_rounds_args_t *args)
{
    const mca_common_colltools_needs_t most
        = {.receives = (uint32_t) args->in,
           .sends = (uint32_t) args->out,
           .steps = (uint32_t) mca_coll_pipering_grid_rounds(&args->grid) + 1};
    rounds_t *rounds = malloc(sizeof(*rounds) + mca_common_colltools_schedule_size(most));

    if (NULL != rounds) {
        memset(rounds, 0, sizeof(*rounds));
        (void) mca_common_colltools_schedule_bind(&rounds->super.schedule, most, rounds + 1);
    }
    return rounds;
}

static int take_area(rounds_t *rounds)
{
    const mca_coll_pipering_slots_t *slots = rounds->args.slots;
    const size_t size = slots->packed + (rounds->args.recv->dense ? 0 : slots->large);

    rounds->area = 0 == size ? NULL : malloc(size);
    return 0 < size && NULL == rounds->area ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* Copies this rank's contribution to the place that it is sent from. */
static int put_own(rounds_t *rounds)
{
    const mca_coll_pipering_layout_t *from = NULL == rounds->args.send ? rounds->args.recv
                                                                     : rounds->args.send;
    const int own = rounds->args.slots->own;
    const size_t bytes = bytes_at(rounds, own);
    char *to = place_of(rounds, own);
    size_t done = 0;

    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    if (from->dense) {
        return to == in_buffer(from, rounds->me)
                   ? OMPI_SUCCESS
                   : mca_common_colltools_copy(to, in_buffer(from, rounds->me), bytes,
                                               rounds->on_device);
    }

    opal_convertor_t packer;
    OBJ_CONSTRUCT(&packer, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &from->type->super,
                                             mca_coll_pipering_contribution_count(from, rounds->me),
                                             mca_coll_pipering_contribution(from, rounds->me), 0,
                                             &packer);
    for (size_t packed = 1; 0 < packed && done < bytes; done += packed) {
        packed = mca_common_colltools_pack(&packer, to + done, bytes - done, rounds->on_device);
    }
    OBJ_DESTRUCT(&packer);
    return done == bytes ? OMPI_SUCCESS : OMPI_ERROR;
}

/* ---- delivery to the user's buffer ---- */

/* Whether the contribution of a slot must be copied to the user's buffer. */
static bool wants_delivery(const rounds_t *rounds, int slot)
{
    const mca_coll_pipering_layout_t *recv = rounds->args.recv;

    return 0 < bytes_at(rounds, slot)
           && (!recv->dense
               || place_of(rounds, slot) != in_buffer(recv, rounds->args.slots->rank[slot]));
}

/* Delivers up to `length` bytes of a slot's contribution; the bytes delivered, 0: an error. */
static size_t copy_piece(rounds_t *rounds, int slot, size_t length)
{
    const mca_coll_pipering_layout_t *recv = rounds->args.recv;
    const int rank = rounds->args.slots->rank[slot];
    const char *from = place_of(rounds, slot) + rounds->delivery_done;

    if (recv->dense) {
        const int rc = mca_common_colltools_copy(in_buffer(recv, rank) + rounds->delivery_done,
                                                 from, length, rounds->on_device);
        return OMPI_SUCCESS == rc ? length : 0;
    }
    if (0 == rounds->delivery_done) {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &recv->type->super,
                                                 mca_coll_pipering_contribution_count(recv, rank),
                                                 mca_coll_pipering_contribution(recv, rank), 0,
                                                 &rounds->unpacker);
    }
    return mca_common_colltools_unpack(&rounds->unpacker, from, length, rounds->on_device);
}

/* Delivers up to *room bytes of a slot, and subtracts them from *room; true: the slot is done. */
static bool deliver_piece(rounds_t *rounds, int slot, size_t *room, int *rc)
{
    const size_t left = bytes_at(rounds, slot) - rounds->delivery_done;

    if (!wants_delivery(rounds, slot)) {
        return true;
    }
    const size_t done = copy_piece(rounds, slot, left < *room ? left : *room);
    if (0 == done) {
        *rc = OMPI_ERROR;
    }
    *room -= done;
    rounds->delivery_done += done;
    if (done < left) {
        return false;
    }
    if (!rounds->args.recv->dense) {
        opal_convertor_cleanup(&rounds->unpacker);
    }
    rounds->delivery_done = 0;
    return true;
}

/* A step of the schedule: delivers `count` slots from `first` on, at most a piece in a call. */
static int deliver(void *context, int first, int count)
{
    rounds_t *rounds = context;
    size_t room = MCA_COLL_PIPERING_PIECE;
    int rc = OMPI_SUCCESS;

    if (0 > rounds->delivery) {
        rounds->delivery = first;
    }
    while (OMPI_SUCCESS == rc && rounds->delivery < first + count) {
        if (0 == room) {
            return OMPI_ERR_WOULD_BLOCK;
        }
        rounds->delivery += deliver_piece(rounds, rounds->delivery, &room, &rc) ? 1 : 0;
    }
    rounds->delivery = -1;
    return rc;
}

/* ---- listing ---- */

/* Lists the messages of a span: the packed one, then large contributions; returns their bytes. */
static size_t list_messages(const rounds_t *rounds, mca_common_colltools_messages_t *list,
                            mca_coll_pipering_span_t span, int peer,
                            mca_common_colltools_needs_t needs)
{
    char *packed = NULL;
    size_t bytes = 0;

    for (int slot = span.first; slot < span.first + span.count; ++slot) {
        if (!is_large(rounds, slot)) {
            packed = 0 == bytes ? place_of(rounds, slot) : packed;
            bytes += bytes_at(rounds, slot);
        }
    }
    if (0 < bytes) {
        mca_common_colltools_schedule_bytes(list, packed, bytes, peer, needs);
    }
    for (int slot = span.first; slot < span.first + span.count; ++slot) {
        if (is_large(rounds, slot)) {
            mca_common_colltools_schedule_bytes(list, place_of(rounds, slot),
                                                bytes_at(rounds, slot), peer, needs);
            bytes += bytes_at(rounds, slot);
        }
    }
    return bytes;
}

/*
 * Messages of a round wait for those of the rounds before, even where their bytes are there: others
 * pass these on, so they should have the link alone. All receives are there from the beginning.
 */
static void list_rounds(rounds_t *rounds)
{
    const int count = mca_coll_pipering_grid_rounds(&rounds->args.grid);
    mca_common_colltools_schedule_t *schedule = &rounds->super.schedule;
    mca_coll_pipering_traffic_t *traffic = &rounds->super.traffic;
    mca_common_colltools_needs_t none = {0, 0, 0}, come = none;

    mca_common_colltools_schedule_step(schedule, deliver, rounds->args.slots->own,
                                       NULL == rounds->args.send ? 0 : 1, none);
    for (int k = 0; k < count; ++k) {
        const mca_coll_pipering_grid_round_t round
            = mca_coll_pipering_grid_round(&rounds->args.grid, rounds->me, k);
        traffic->bytes_out += list_messages(rounds, &schedule->sends, round.send, round.to, come);
        traffic->bytes_in += list_messages(rounds, &schedule->receives, round.recv, round.from,
                                           none);
        come.receives = schedule->receives.count;
        come.sends = schedule->sends.count;
        mca_common_colltools_schedule_step(schedule, deliver, round.recv.first, round.recv.count,
                                           come);
    }
    traffic->blocks_in = schedule->receives.window = schedule->receives.count;
    traffic->blocks_out = schedule->sends.window = schedule->sends.count;
}

/* ---- the life of a gather ---- */

static bool rounds_free(mca_coll_pipering_scheduled_t *scheduled)
{
    rounds_t *rounds = (rounds_t *) scheduled;
    const bool pending = mca_common_colltools_schedule_fini(&scheduled->schedule);

    OBJ_DESTRUCT(&rounds->unpacker);
    if (!pending) {
        free(rounds->area);
        free(rounds);
    }
    return pending;
}

static void fill(rounds_t *rounds, const mca_coll_pipering_rounds_args_t *args)
{
    mca_common_colltools_schedule_t *schedule = &rounds->super.schedule;

    rounds->super.free = rounds_free;
    rounds->args = *args;
    rounds->me = ompi_comm_rank(args->caller->comm);
    rounds->on_device = mca_coll_pipering_is_on_device(args->recv, args->some)
                        || (NULL != args->send
                            && mca_coll_pipering_is_on_device(args->send, args->some));
    rounds->delivery = -1;
    schedule->caller = args->caller;
    schedule->tag = args->tag;
    schedule->synchronous = args->synchronous;
    schedule->context = rounds;
    OBJ_CONSTRUCT(&rounds->unpacker, opal_convertor_t);
}

int mca_coll_pipering_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                 mca_coll_pipering_scheduled_t **made)
{
    rounds_t *rounds = rounds_alloc(args);

    if (NULL == rounds) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    fill(rounds, args);
    int rc = take_area(rounds);
    if (OMPI_SUCCESS == rc) {
        rc = put_own(rounds);
    }
    if (OMPI_SUCCESS != rc) {
        (void) rounds_free(&rounds->super);
        return rc;
    }
    list_rounds(rounds);
    *made = &rounds->super;
    return OMPI_SUCCESS;
}
