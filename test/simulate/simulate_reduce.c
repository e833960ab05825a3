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
 * a message each way and a sum in each; then parts to the ranks whose they are, or, of an
 * allreduce, the rounds forwards.
 */

#include "simulate.h"

#include <string.h>

typedef struct {
    const simulate_call_t *call;
    const mca_coll_pipering_slots_t *slots;
    char *area, *came;
} reduction_t;

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

static mca_coll_pipering_parts_t parts_of(const reduction_t *reduction, int k, bool sends)
{
    return mca_coll_pipering_grid_parts(&reduction->call->plan->grid, reduction->slots,
                                        reduction->call->rank, k, sends);
}

/* Posts the messages of round k of the plan, to or from their places in `memory`, those of the slots
 * or one after the other; how many. */
static int post_runs(const reduction_t *reduction, int k, bool forwards, bool send, char *memory,
                     bool in_slots, int peer, MPI_Request *request)
{
    mca_coll_pipering_parts_t parts = parts_of(reduction, k, forwards);
    const size_t unit = reduction->call->unit;
    mca_coll_pipering_run_t run;
    size_t done = 0;
    int count = 0;

    while (mca_coll_pipering_parts_run(&parts, &run)) {
        post(&request[count++], send, memory + (in_slots ? run.begin : done) * unit,
             run.count * unit, peer);
        done += run.count;
    }
    return count;
}

/* A round, forwards or backwards; where others' values go. */
static void exchange(const reduction_t *reduction, int k, bool forwards, char *memory)
{
    const mca_coll_pipering_plan_t *plan = reduction->call->plan;
    const mca_coll_pipering_grid_round_t round
        = mca_coll_pipering_grid_round(&plan->grid, reduction->call->rank, k);
    MPI_Request *request = simulate_take((plan->in + plan->out) * sizeof(*request),
                                         false);

    int count = post_runs(reduction, k, !forwards, false, memory, forwards,
                          forwards ? round.from : round.to, request);
    count += post_runs(reduction, k, forwards, true, reduction->area, true,
                       forwards ? round.to : round.from, request + count);
    MPI_Waitall(count, request, MPI_STATUSES_IGNORE);
    simulate_give(request, false);
}

/* Adds what has come in a round backwards to its places. */
static void add_up(const reduction_t *reduction, int k)
{
    mca_coll_pipering_parts_t parts = parts_of(reduction, k, true);
    const size_t unit = reduction->call->unit;
    mca_coll_pipering_run_t run;
    size_t done = 0;

    while (mca_coll_pipering_parts_run(&parts, &run)) {
        simulate_add(reduction->call, reduction->area + run.begin * unit,
                     reduction->came + done * unit, run.count * unit);
        done += run.count;
    }
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
        exchange(&reduction, k, false, reduction.came);
        add_up(&reduction, k);
    }
    for (int k = 0; spreads && k < rounds; ++k) {
        exchange(&reduction, k, true, reduction.area);
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
