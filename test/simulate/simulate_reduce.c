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
 * A reduction in rounds, as coll_pipering_reduce_rounds.c has it: the rounds of a gather backwards,
 * a message each way and a sum in each; then parts to the ranks whose they are, or, of an allreduce,
 * the rounds forwards.
 */

#include "simulate.h"

#include <string.h>

typedef struct {
    const simulate_call_t *call;
    const mca_coll_pipering_slots_t *slots;
    char *area, *came;
} reduction_t;

typedef struct {
    char *place;
    size_t bytes;
} run_t;

void simulate_add(const simulate_call_t *call, char *to, const char *from, size_t bytes)
{
    for (size_t i = 0; !call->shared && i < bytes; i += sizeof(unsigned)) {
        unsigned a, b;
        memcpy(&a, to + i, sizeof(a));
        memcpy(&b, from + i, sizeof(b));
        a += b;
        memcpy(to + i, &a, sizeof(a));
    }
}

static void copy(const simulate_call_t *call, char *to, const char *from, size_t bytes)
{
    if (!call->shared) {
        memcpy(to, from, bytes);
    }
}

static run_t run_of(const reduction_t *reduction, mca_coll_pipering_span_t span)
{
    const mca_coll_pipering_slots_t *slots = reduction->slots;
    const size_t unit = reduction->call->unit;
    const int first = slots->first[span.first], last = slots->first[span.first + span.count];

    if (first == last) {
        return (run_t){NULL, 0};
    }
    const mca_coll_pipering_piece_t *end = &slots->piece[last - 1];
    const size_t begin = slots->piece[first].offset;
    return (run_t){reduction->area + begin * unit, (end->offset + end->bytes - begin) * unit};
}

/* Where a piece lies in the vector. */
static size_t place_of(const reduction_t *reduction, const mca_coll_pipering_piece_t *piece)
{
    return (reduction->call->plan->starts[piece->rank] + piece->from) * reduction->call->unit;
}

static void post(MPI_Request *request, bool send, char *place, size_t bytes, int peer)
{
    *request = MPI_REQUEST_NULL;
    if (0 < bytes && send) {
        MPI_Isend(place, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, request);
    } else if (0 < bytes) {
        MPI_Irecv(place, (int) bytes, MPI_BYTE, peer, 0, MPI_COMM_WORLD, request);
    }
}

static void exchange(run_t out, int to, run_t in, int from)
{
    MPI_Request request[2];

    post(&request[0], false, in.place, in.bytes, from);
    post(&request[1], true, out.place, out.bytes, to);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
}

/* The results of the own share to the ranks whose they are, and those of this rank. */
static void bring_parts(const reduction_t *reduction)
{
    const simulate_call_t *call = reduction->call;
    const mca_coll_pipering_grid_t *grid = &call->plan->grid;
    const mca_coll_pipering_slots_t *slots = reduction->slots;
    const mca_coll_pipering_span_t own = slots->own;
    MPI_Request *requests = simulate_take((size_t) (2 * grid->members + 1) * sizeof(*requests),
                                          false);
    int count = 0;

    for (int lane = 0; lane < grid->lanes; ++lane) {
        const mca_coll_pipering_piece_t *piece
            = mca_coll_pipering_grid_given(grid, slots, call->rank, lane);
        if (NULL != piece) {
            post(&requests[count++], false, call->recv + piece->from * call->unit,
                 piece->bytes * call->unit, mca_coll_pipering_grid_member(grid, call->rank, lane));
        }
    }
    for (int i = slots->first[own.first]; i < slots->first[own.first + own.count]; ++i) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        char *place = reduction->area + piece->offset * call->unit;
        if (call->rank != piece->rank) {
            post(&requests[count++], true, place, piece->bytes * call->unit, piece->rank);
        } else {
            copy(call, call->recv + piece->from * call->unit, place, piece->bytes * call->unit);
        }
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    simulate_give(requests, false);
}

void simulate_reduce(const simulate_call_t *call)
{
    const mca_coll_pipering_plan_t *plan = call->plan;
    const mca_coll_pipering_grid_t *grid = &plan->grid;
    const int rounds = mca_coll_pipering_grid_rounds(grid);
    const int pieces = plan->slots.first[grid->lanes * grid->groups];
    const bool spreads = MCA_COLL_PIPERING_ALLREDUCE == plan->key.collective;
    const reduction_t reduction = {.call = call,
                                   .slots = &plan->slots,
                                   .area = simulate_take(call->total, call->shared),
                                   .came = simulate_take(call->total, call->shared)};

    for (int i = 0; i < pieces; ++i) {
        const mca_coll_pipering_piece_t *piece = &plan->slots.piece[i];
        copy(call, reduction.area + piece->offset * call->unit,
             call->send + place_of(&reduction, piece), piece->bytes * call->unit);
    }
    for (int k = rounds - 1; 0 <= k; --k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(grid, call->rank,
                                                                                  k);
        const run_t in = run_of(&reduction, round.send);
        exchange(run_of(&reduction, round.recv), round.from, (run_t){reduction.came, in.bytes},
                 round.to);
        simulate_add(call, in.place, reduction.came, in.bytes);
    }
    for (int k = 0; spreads && k < rounds; ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(grid, call->rank,
                                                                                  k);
        exchange(run_of(&reduction, round.send), round.to, run_of(&reduction, round.recv),
                 round.from);
    }
    for (int i = 0; spreads && i < pieces; ++i) {
        const mca_coll_pipering_piece_t *piece = &plan->slots.piece[i];
        copy(call, call->recv + place_of(&reduction, piece),
             reduction.area + piece->offset * call->unit, piece->bytes * call->unit);
    }
    if (!spreads) {
        bring_parts(&reduction);
    }
    simulate_give(reduction.area, call->shared);
    simulate_give(reduction.came, call->shared);
}
