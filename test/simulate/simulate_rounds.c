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
 * A gather in rounds, as coll_pipering_gather_rounds.c has it: the messages of a round, a packed
 * one and one for each large piece, wait for those of the rounds before; packed pieces are
 * delivered while the next round is under way.
 */

#include "simulate.h"

#include <simgrid/actor.h>
#include <string.h>

typedef struct {
    MPI_Request *request;
    int count, done;
} list_t;

typedef struct {
    const simulate_call_t *call;
    const mca_coll_pipering_slots_t *slots;
    char *area; /* packed pieces */
    list_t receives, sends;
} rounds_t;

static const mca_coll_pipering_piece_t *piece_at(const rounds_t *rounds, int i)
{
    return &rounds->slots->piece[i];
}

static bool is_large(const rounds_t *rounds, int i)
{
    return piece_at(rounds, i)->large;
}

static bool is_own(const rounds_t *rounds, int i)
{
    const mca_coll_pipering_span_t own = rounds->slots->own;

    return rounds->call->rank == piece_at(rounds, i)->rank && rounds->slots->first[own.first] <= i
           && i < rounds->slots->first[own.first + own.count];
}

static char *in_buffer(const rounds_t *rounds, int i)
{
    const mca_coll_pipering_piece_t *piece = piece_at(rounds, i);

    return rounds->call->recv + rounds->call->before[piece->rank] + piece->from;
}

/* Where a piece is sent from, and received. */
static char *place_of(const rounds_t *rounds, int i)
{
    if (!is_large(rounds, i) && !rounds->call->plan->grid.adjoin) {
        return rounds->area + piece_at(rounds, i)->offset;
    }
    return is_own(rounds, i) ? (char *) rounds->call->send + piece_at(rounds, i)->from
                             : in_buffer(rounds, i);
}

/* Copies bytes, which takes its time. */
static void copy(const rounds_t *rounds, char *to, const char *from, size_t bytes)
{
    if (!rounds->call->shared) {
        memcpy(to, from, bytes);
    }
    if (0 < rounds->call->copy) {
        sg_actor_sleep_for((double) bytes * rounds->call->copy);
    }
}

static void put_own(const rounds_t *rounds)
{
    const mca_coll_pipering_span_t own = rounds->slots->own;

    for (int i = rounds->slots->first[own.first];
         i < rounds->slots->first[own.first + own.count]; ++i) {
        if (is_own(rounds, i) && !is_large(rounds, i) && !rounds->call->plan->grid.adjoin) {
            copy(rounds, place_of(rounds, i), rounds->call->send + piece_at(rounds, i)->from,
                 piece_at(rounds, i)->bytes);
        }
    }
}

/* Copies pieces to where the caller wants them, unless they have come in there. */
static void deliver(const rounds_t *rounds, mca_coll_pipering_span_t span)
{
    for (int i = rounds->slots->first[span.first];
         i < rounds->slots->first[span.first + span.count]; ++i) {
        if (place_of(rounds, i) != in_buffer(rounds, i)) {
            copy(rounds, in_buffer(rounds, i), place_of(rounds, i), piece_at(rounds, i)->bytes);
        }
    }
}

/* ---- messages ---- */

static void post(list_t *list, bool send, char *place, size_t bytes, int peer)
{
    if (send) {
        MPI_Isend(place, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                  &list->request[list->count++]);
    } else {
        MPI_Irecv(place, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD,
                  &list->request[list->count++]);
    }
}

/* The messages of round k with a rank: the packed one, or runs that adjoin, then large parts. */
static void post_round(rounds_t *rounds, int k, bool send, int peer)
{
    const mca_coll_pipering_parts_t all = mca_coll_pipering_grid_parts(
        &rounds->call->plan->grid, rounds->slots, rounds->call->rank, k, send);
    list_t *list = send ? &rounds->sends : &rounds->receives;
    const bool adjoin = rounds->call->plan->grid.adjoin;
    mca_coll_pipering_parts_t parts = all;
    char *packed = NULL;
    size_t bytes = 0;
    int pieces = 0, first = 0;

    while (mca_coll_pipering_parts_next(&parts)) {
        if (!parts.piece->large) {
            if (parts.begins && 0 < bytes) {
                post(list, send, packed, bytes, peer);
                bytes = 0;
                pieces = 0;
            }
            first = 0 == pieces++ ? (int) (parts.piece - rounds->slots->piece) : first;
            packed = adjoin && 1 < pieces ? in_buffer(rounds, first) : place_of(rounds, first);
            bytes += parts.bytes;
        }
    }
    if (0 < bytes) {
        post(list, send, packed, bytes, peer);
    }
    for (parts = all; mca_coll_pipering_parts_next(&parts);) {
        if (parts.piece->large) {
            post(list, send,
                 place_of(rounds, (int) (parts.piece - rounds->slots->piece)) + parts.from,
                 parts.bytes, peer);
        }
    }
}

static void wait_for(list_t *list, int count)
{
    MPI_Waitall(count - list->done, list->request + list->done, MPI_STATUSES_IGNORE);
    list->done = count;
}

/* What comes of the rank's own share; how many messages. */
static int post_evening_receives(rounds_t *rounds)
{
    const mca_coll_pipering_span_t own = rounds->slots->own;

    for (int i = rounds->slots->first[own.first];
         i < rounds->slots->first[own.first + own.count]; ++i) {
        if (rounds->call->rank != piece_at(rounds, i)->rank) {
            post(&rounds->receives, false, place_of(rounds, i), piece_at(rounds, i)->bytes,
                 piece_at(rounds, i)->rank);
        }
    }
    return rounds->receives.count;
}

/* What it gives to other lanes of its group. */
static void post_evening_sends(rounds_t *rounds)
{
    const mca_coll_pipering_grid_t *grid = &rounds->call->plan->grid;

    for (int lane = 0; lane < grid->lanes; ++lane) {
        const mca_coll_pipering_piece_t *piece
            = mca_coll_pipering_grid_given(grid, rounds->slots, rounds->call->rank, lane);
        if (NULL != piece) {
            post(&rounds->sends, true, (char *) rounds->call->send + piece->from, piece->bytes,
                 mca_coll_pipering_grid_member(grid, rounds->call->rank, lane));
        }
    }
}

static void play(rounds_t *rounds, int *come)
{
    const mca_coll_pipering_grid_t *grid = &rounds->call->plan->grid;
    const int me = rounds->call->rank, count = mca_coll_pipering_grid_rounds(grid);
    mca_coll_pipering_span_t there = rounds->slots->own;

    come[0] = post_evening_receives(rounds);
    post_evening_sends(rounds);
    for (int k = 0; k < count; ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(grid, me, k);
        wait_for(&rounds->receives, come[k]);
        wait_for(&rounds->sends, rounds->sends.count);
        post_round(rounds, k, false, round.from);
        come[k + 1] = rounds->receives.count;
        post_round(rounds, k, true, round.to);
        deliver(rounds, there);
        there = round.full;
    }
    wait_for(&rounds->receives, come[count]);
    deliver(rounds, there);
    wait_for(&rounds->sends, rounds->sends.count);
}

void simulate_rounds(const simulate_call_t *call)
{
    const mca_coll_pipering_plan_t *plan = call->plan;
    const int count = mca_coll_pipering_grid_rounds(&plan->grid);
    rounds_t rounds = {.call = call,
                       .slots = &plan->slots,
                       .area = simulate_take(plan->slots.packed, call->shared),
                       .receives = {simulate_take(plan->in * sizeof(MPI_Request), false)},
                       .sends = {simulate_take(plan->out * sizeof(MPI_Request), false)}};
    int *come = simulate_take(((size_t) count + 1) * sizeof(int), false);

    put_own(&rounds);
    play(&rounds, come);
    simulate_give(come, false);
    simulate_give(rounds.receives.request, false);
    simulate_give(rounds.sends.request, false);
    simulate_give(rounds.area, call->shared);
}
