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
 * Gathers in few rounds: a plan of the schedule engine (rounds: coll_pipering_plan_grid.c).
 *
 *     own ---> pieces for other lanes of the group
 *      '-----> slots ---> sends of round 0, 1, 2 ...
 *                ^  |
 *     receives --'  '---> steps: to the user's buffer
 *
 * Pieces of up to `grid->packed` bytes are adjacent in an area, and each round sends those of
 * its slots as one message. Each larger piece, or block of it, is a message of its own, from and to
 * the user's buffer where this is dense, else from and to a place in the area. Where contributions
 * adjoin in messages (`grid->adjoin`) and in the receive buffer, no piece has a place in the area,
 * and nothing but the rank's own contribution is copied. Ranks agree on messages, since these
 * follow from the sizes; the place of the data may differ from rank to rank.
 *
 * Before the rounds a rank sends a message to each lane of its group in whose share a part of its
 * contribution falls. The messages of a round are posted when all rounds before are over.
 * Received pieces are delivered to the user's buffer while the next round is under way, a
 * part at a time.
 *
 * Cost: the area, of the size of the packed pieces and, without a dense buffer, of the
 * others.
 */

#include "coll_pipering_scheduled.h"
#include "coll_pipering_copy.h"
#include "coll_pipering_engine_steps.h"

#include <stdlib.h>

/* A gather in rounds that is under way; its lists follow in the same memory. */
typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    int me;
    bool on_device; /* one of the user's buffers is memory of a device */
    bool direct;    /* the receive buffer holds adjoining contributions as messages do */
    char *area;     /* super.memory: packed pieces, large ones that no user's buffer can hold, and
                       the rank's own contribution if no user's buffer has it dense */
    char *own;      /* the rank's contribution */
    int delivery;         /* the piece that is being delivered, -1: none */
    size_t delivery_done; /* bytes of this piece that have been delivered */
    mca_common_colltools_needs_t *so_far; /* [rounds + 1] messages listed before each round */
} rounds_t;

static const mca_coll_pipering_piece_t *piece_at(const rounds_t *rounds, int i)
{
    return &rounds->args.slots->piece[i];
}

/* The first of the pieces of slots, and what is behind the last. */
static int first_of(const rounds_t *rounds, mca_coll_pipering_span_t span)
{
    return rounds->args.slots->first[span.first];
}

static int behind(const rounds_t *rounds, mca_coll_pipering_span_t span)
{
    return rounds->args.slots->first[span.first + span.count];
}

/* Whether the rank has a piece at first, in its own share. */
static bool is_own(const rounds_t *rounds, int i)
{
    const mca_coll_pipering_span_t own = rounds->args.slots->own;

    return rounds->me == piece_at(rounds, i)->rank && first_of(rounds, own) <= i
           && i < behind(rounds, own);
}

/* Where a piece is sent from, and received. */
static char *place_of(const rounds_t *rounds, int i)
{
    const mca_coll_pipering_rounds_args_t *args = &rounds->args;
    const mca_coll_pipering_piece_t *piece = piece_at(rounds, i);

    if (!piece->large && !rounds->direct) {
        return rounds->area + piece->offset;
    }
    if (is_own(rounds, i)) {
        return rounds->own + piece->from;
    }
    return args->recv->dense ? mca_coll_pipering_dense_place(args->recv, piece->rank) + piece->from
                             : rounds->area + args->slots->packed + piece->offset;
}

/* ---- setting up ---- */

/*
 * Whether contributions that adjoin in messages adjoin in the receive buffer. Each rank has an
 * answer of its own; messages are the same.
 */
static bool is_direct(const rounds_t *rounds)
{
    const mca_coll_pipering_rounds_args_t *args = &rounds->args;
    const int pieces = args->slots->first[args->grid->lanes * args->grid->groups];
    bool direct = args->grid->adjoin && args->recv->dense;

    for (int i = 1; direct && i < pieces; ++i) {
        const mca_coll_pipering_piece_t *piece = piece_at(rounds, i), *last = piece - 1;
        direct = last->rank > piece->rank
                 || mca_coll_pipering_dense_place(args->recv, last->rank) + last->bytes
                        == mca_coll_pipering_dense_place(args->recv, piece->rank);
    }
    return direct;
}

static int take_area(rounds_t *rounds)
{
    const mca_coll_pipering_slots_t *slots = rounds->args.slots;
    const mca_coll_pipering_layout_t *from = mca_coll_pipering_rounds_source(&rounds->args);
    const size_t pieces = (rounds->direct ? 0 : slots->packed)
                          + (rounds->args.recv->dense ? 0 : slots->large);
    const size_t size = pieces + (from->dense ? 0 : rounds->args.bytes[rounds->me]);

    rounds->area = rounds->super.memory = 0 == size ? NULL : malloc(size);
    rounds->super.unpacker = rounds->args.recv->dense ? NULL : OBJ_NEW(opal_convertor_t);
    if ((0 < size && NULL == rounds->area)
        || (!rounds->args.recv->dense && NULL == rounds->super.unpacker)) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    rounds->own = from->dense ? mca_coll_pipering_dense_place(from, rounds->me)
                              : rounds->area + pieces;
    return OMPI_SUCCESS;
}

/* Copies what the rank has of its own share to the places that it is sent from. */
static int put_own(rounds_t *rounds)
{
    const mca_coll_pipering_span_t own = rounds->args.slots->own;
    int rc = OMPI_SUCCESS;

    for (int i = first_of(rounds, own); i < behind(rounds, own); ++i) {
        const mca_coll_pipering_piece_t *piece = piece_at(rounds, i);
        if (OMPI_SUCCESS == rc && is_own(rounds, i) && !piece->large && !rounds->direct) {
            rc = mca_common_colltools_copy(place_of(rounds, i), rounds->own + piece->from,
                                           piece->bytes, rounds->on_device);
            rounds->super.traffic.bytes_copied += piece->bytes;
        }
    }
    return rc;
}

/* ---- delivery to the user's buffer ---- */

/* Whether a piece must be copied to the user's buffer. */
static bool wants_delivery(const rounds_t *rounds, int i)
{
    const mca_coll_pipering_rounds_args_t *args = &rounds->args;
    const mca_coll_pipering_piece_t *piece = piece_at(rounds, i);

    if (args->in_place && rounds->me == piece->rank) {
        return false;
    }
    return !args->recv->dense
           || place_of(rounds, i)
                  != mca_coll_pipering_dense_place(args->recv, piece->rank) + piece->from;
}

/*
 * Delivers up to *budget bytes of a piece, and subtracts them from *budget; true: the piece is
 * done.
 */
static bool deliver_part(rounds_t *rounds, int i, size_t *budget, int *rc)
{
    const mca_coll_pipering_piece_t *piece = piece_at(rounds, i);
    const size_t left = piece->bytes - rounds->delivery_done;

    if (!wants_delivery(rounds, i)) {
        return true;
    }
    const size_t done = mca_coll_pipering_scheduled_deliver(
        &rounds->super, rounds->args.recv, piece->rank, place_of(rounds, i) + rounds->delivery_done,
        piece->from + rounds->delivery_done, left < *budget ? left : *budget, rounds->on_device);
    *rc = 0 == done ? OMPI_ERROR : *rc;
    *budget -= done;
    rounds->delivery_done = done < left ? rounds->delivery_done + done : 0;
    return done == left;
}

/* A step of the schedule: delivers pieces [first, last), at most so much in a call. */
static int deliver(void *context, int first, int last)
{
    rounds_t *rounds = context;
    size_t budget = MCA_COLL_PIPERING_PIECE;
    int rc = OMPI_SUCCESS;

    if (0 > rounds->delivery) {
        rounds->delivery = first;
    }
    while (OMPI_SUCCESS == rc && rounds->delivery < last) {
        if (0 == budget) {
            return OMPI_ERR_WOULD_BLOCK;
        }
        rounds->delivery += deliver_part(rounds, rounds->delivery, &budget, &rc) ? 1 : 0;
    }
    rounds->delivery = -1;
    return rc;
}

/* ---- listing ---- */

static int piece_of(const rounds_t *rounds, const mca_coll_pipering_parts_t *parts)
{
    return (int) (parts->piece - rounds->args.slots->piece);
}

/* Pieces in a row that are a message: none yet, or the first of them, and all their bytes. */
typedef struct {
    int first, pieces;
    size_t bytes;
} run_t;

/*
 * Lists a message of pieces in a row. A contribution of the rank alone goes from where it is, so
 * that no message that is longer than expected comes in behind it; along with others it goes from
 * the user's buffer after the first step, which brings it there.
 */
static void list_run(const rounds_t *rounds, mca_common_colltools_messages_t *list, run_t *run,
                     int peer, mca_common_colltools_needs_t needs)
{
    const mca_coll_pipering_piece_t *piece = piece_at(rounds, run->first);
    const bool together = rounds->direct && 1 < run->pieces;

    if (0 == run->pieces) {
        return;
    }
    char *place = together ? mca_coll_pipering_dense_place(rounds->args.recv, piece->rank)
                           : place_of(rounds, run->first);
    if (1 == run->pieces && is_own(rounds, run->first)) {
        place = rounds->own + piece->from;
    }
    needs.steps = together ? 1 : needs.steps;
    mca_common_colltools_schedule_bytes(list, place, run->bytes, peer, needs);
    *run = (run_t){0};
}

/*
 * Lists the messages of a round: the packed one, or one for each run of contributions that adjoin,
 * then large parts.
 */
static void list_messages(const rounds_t *rounds, mca_common_colltools_messages_t *list,
                          const mca_coll_pipering_parts_t *all, int peer,
                          mca_common_colltools_needs_t needs)
{
    mca_coll_pipering_parts_t parts = *all;
    run_t run = {0};

    while (mca_coll_pipering_parts_next(&parts)) {
        if (!parts.piece->large) {
            if (parts.begins) {
                list_run(rounds, list, &run, peer, needs);
            }
            run.first = 0 == run.pieces++ ? piece_of(rounds, &parts) : run.first;
            run.bytes += parts.bytes;
        }
    }
    list_run(rounds, list, &run, peer, needs);
    for (parts = *all; mca_coll_pipering_parts_next(&parts);) {
        if (parts.piece->large) {
            mca_common_colltools_schedule_bytes(
                list, place_of(rounds, piece_of(rounds, &parts)) + parts.from, parts.bytes, peer,
                needs);
        }
    }
}

/* Rounds after which a rank has all that it sends in a round. */
static int last_since(const mca_coll_pipering_parts_t *all)
{
    mca_coll_pipering_parts_t parts = *all;
    int since = 0;

    while (mca_coll_pipering_parts_next(&parts)) {
        since = parts.since > since ? parts.since : since;
    }
    return since;
}

static mca_common_colltools_needs_t messages_so_far(const rounds_t *rounds)
{
    return (mca_common_colltools_needs_t){.receives = rounds->super.schedule.receives.count,
                                          .sends = rounds->super.schedule.sends.count};
}

/* What comes of its own share, and what it gives to other lanes of its group. */
static void list_evening(rounds_t *rounds)
{
    const mca_coll_pipering_slots_t *slots = rounds->args.slots;
    const mca_common_colltools_needs_t none = {0, 0, 0};
    mca_common_colltools_schedule_t *schedule = &rounds->super.schedule;
    const mca_coll_pipering_span_t own = slots->own;

    for (int i = first_of(rounds, own); i < behind(rounds, own); ++i) {
        const mca_coll_pipering_piece_t *piece = piece_at(rounds, i);
        if (rounds->me != piece->rank) {
            mca_common_colltools_schedule_bytes(&schedule->receives, place_of(rounds, i),
                                                piece->bytes, piece->rank, none);
        }
    }
    for (int lane = 0; lane < rounds->args.grid->lanes; ++lane) {
        const mca_coll_pipering_piece_t *piece = mca_coll_pipering_grid_given(rounds->args.grid,
                                                                              slots, rounds->me,
                                                                              lane);
        if (NULL != piece) {
            mca_common_colltools_schedule_bytes(
                &schedule->sends, rounds->own + piece->from, piece->bytes,
                mca_coll_pipering_grid_member(rounds->args.grid, rounds->me, lane), none);
        }
    }
    mca_common_colltools_schedule_step(schedule, deliver, first_of(rounds, own),
                                       behind(rounds, own), messages_so_far(rounds));
}

/*
 * Messages of a round, in and out, wait for those of the rounds before, even where their bytes are
 * there: others pass these on, so they should have the link alone. Of blocks a few rounds are under
 * way, and each goes when its bytes are there.
 */
static void list_rounds(rounds_t *rounds)
{
    const mca_coll_pipering_rounds_args_t *args = &rounds->args;
    const int count = mca_coll_pipering_grid_rounds(args->grid);
    const int ahead = 1 < args->grid->blocks ? MCA_COLL_PIPERING_ROUNDS_AHEAD : 1;
    mca_common_colltools_schedule_t *schedule = &rounds->super.schedule;

    list_evening(rounds);
    rounds->so_far[0] = messages_so_far(rounds);
    for (int k = 0; k < count; ++k) {
        const mca_coll_pipering_grid_round_t round
            = mca_coll_pipering_grid_round(args->grid, rounds->me, k);
        const mca_coll_pipering_parts_t out
            = mca_coll_pipering_grid_parts(args->grid, args->slots, rounds->me, k, true);
        const mca_coll_pipering_parts_t in
            = mca_coll_pipering_grid_parts(args->grid, args->slots, rounds->me, k, false);
        const mca_common_colltools_needs_t come = rounds->so_far[k < ahead ? 0 : k + 1 - ahead];
        mca_common_colltools_needs_t go = come;
        go.receives = rounds->so_far[last_since(&out)].receives;
        list_messages(rounds, &schedule->sends, &out, round.to, go);
        list_messages(rounds, &schedule->receives, &in, round.from, come);
        rounds->so_far[k + 1] = messages_so_far(rounds);
        if (0 < round.full.count) {
            mca_common_colltools_schedule_step(schedule, deliver, first_of(rounds, round.full),
                                               behind(rounds, round.full), messages_so_far(rounds));
        }
    }
    mca_coll_pipering_scheduled_listed(&rounds->super);
}

int mca_coll_pipering_gather_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                        mca_coll_pipering_scheduled_t **made)
{
    const size_t count = (size_t) mca_coll_pipering_grid_rounds(args->grid) + 1;
    const mca_common_colltools_needs_t most = {.receives = (uint32_t) args->in,
                                               .sends = (uint32_t) args->out,
                                               .steps = (uint32_t) count};
    void *behind;
    rounds_t *rounds = mca_coll_pipering_scheduled_new(args->caller, args->tag, sizeof(*rounds),
                                                       most, count * sizeof(*rounds->so_far),
                                                       &behind);

    if (NULL == rounds) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *made = &rounds->super;
    rounds->super.schedule.synchronous = args->synchronous;
    rounds->args = *args;
    rounds->so_far = behind;
    rounds->me = args->me;
    rounds->on_device = mca_coll_pipering_rounds_on_device(args);
    rounds->direct = is_direct(rounds);
    rounds->delivery = -1;
    const mca_coll_pipering_layout_t *from = mca_coll_pipering_rounds_source(args);
    int rc = take_area(rounds);
    if (OMPI_SUCCESS == rc && !from->dense) {
        rc = mca_coll_pipering_scheduled_pack(&rounds->super, from, rounds->me, rounds->own,
                                              args->bytes[rounds->me]);
    }
    if (OMPI_SUCCESS == rc) {
        rc = put_own(rounds);
    }
    if (OMPI_SUCCESS == rc) {
        list_rounds(rounds);
    }
    return rc;
}
