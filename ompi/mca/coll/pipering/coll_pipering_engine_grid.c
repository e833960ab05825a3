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
 * The engine of coll_pipering_engine_grid.h: completions drive it, round by round.
 *
 * A round is sent when all rounds before it have come. What has come is brought to the
 * user while the next is under way, a piece a turn, so that the links are looked at
 * in between.
 */

#include "coll_pipering_engine_grid.h"
#include "coll_pipering_engine_steps.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/pml/pml.h"

typedef mca_coll_pipering_swap_t swap_t;
typedef mca_coll_pipering_parcels_t parcels_t;

static void fail(swap_t *swap, int error)
{
    if (OMPI_SUCCESS == swap->error) {
        swap->error = error;
    }
}

static size_t bytes_at(const swap_t *swap, int shelf)
{
    return swap->plan.bytes[swap->rank[shelf]];
}

static bool is_large(const swap_t *swap, int shelf)
{
    return bytes_at(swap, shelf) > swap->plan.packed;
}

/* ---- setting up ---- */

/* Shelves, and where the small contributions are in the area; the bytes of these. */
static size_t fill_shelves(swap_t *swap)
{
    const int p = swap->plan.grid.ring->size;
    size_t packed = 0;

    for (int s = 0; s < p; ++s) {
        swap->rank[s] = mca_coll_pipering_grid_rank(&swap->plan.grid, swap->me, s);
        swap->own = swap->rank[s] == swap->me ? s : swap->own;
        swap->offset[s] = packed;
        packed += is_large(swap, s) ? 0 : bytes_at(swap, s);
    }
    swap->offset[p] = packed;
    return packed;
}

static char *in_buffer(const mca_coll_pipering_layout_t *layout, int rank)
{
    return mca_coll_pipering_contribution(layout, rank) + layout->true_lb;
}

/* The own contribution is sent from where the user has it, if that can be. */
static bool stays(const swap_t *swap)
{
    return NULL != swap->plan.send && swap->plan.send->dense && is_large(swap, swap->own);
}

/* A large contribution needs room in the area. */
static bool wants_room(const swap_t *swap, int shelf)
{
    return is_large(swap, shelf) && !swap->plan.recv->dense && !(shelf == swap->own && stays(swap));
}

static size_t count_room(const swap_t *swap)
{
    size_t room = 0;

    for (int s = 0; s < swap->plan.grid.ring->size; ++s) {
        room += wants_room(swap, s) ? bytes_at(swap, s) : 0;
    }
    return room;
}

static void find_places(swap_t *swap, size_t packed)
{
    char *room = swap->area + packed;

    for (int s = 0; s < swap->plan.grid.ring->size; ++s) {
        if (!is_large(swap, s)) {
            swap->place[s] = swap->area + swap->offset[s];
        } else if (s == swap->own && stays(swap)) {
            swap->place[s] = in_buffer(swap->plan.send, swap->me);
        } else if (wants_room(swap, s)) {
            swap->place[s] = room;
            room += bytes_at(swap, s);
        } else {
            swap->place[s] = in_buffer(swap->plan.recv, swap->rank[s]);
        }
    }
}

/* Tables first, as much as a pointer is aligned; then the area. */
static int take_memory(swap_t *swap)
{
    const size_t p = (size_t) swap->plan.grid.ring->size, rounds = (size_t) swap->rounds;
    const size_t requests = (size_t) (swap->plan.in + swap->plan.out);
    size_t size = requests * sizeof(ompi_request_t *) + rounds * sizeof(uint64_t)
                  + p * sizeof(char *) + (p + 1 + (size_t) swap->plan.in) * sizeof(size_t)
                  + p * sizeof(int);

    swap->memory = malloc(size);
    if (NULL == swap->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    swap->in = swap->memory;
    swap->out = swap->in + swap->plan.in;
    swap->due = (uint64_t *) (swap->out + swap->plan.out);
    swap->place = (char **) (swap->due + rounds);
    swap->offset = (size_t *) (swap->place + p);
    swap->expected = swap->offset + p + 1;
    swap->rank = (int *) (swap->expected + swap->plan.in);

    const size_t packed = fill_shelves(swap);
    size = packed + count_room(swap);
    swap->area = 0 == size ? NULL : malloc(size);
    if (0 < size && NULL == swap->area) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    find_places(swap, packed);
    return OMPI_SUCCESS;
}

/* Brings the own contribution to where it is sent from. */
static int put_own(swap_t *swap)
{
    const mca_coll_pipering_layout_t *from = NULL == swap->plan.send ? swap->plan.recv
                                                                     : swap->plan.send;
    const size_t bytes = bytes_at(swap, swap->own);
    char *to = swap->place[swap->own];
    size_t done = 0;

    if (0 == bytes) {
        return OMPI_SUCCESS;
    }
    if (from->dense) {
        return to == in_buffer(from, swap->me)
                   ? OMPI_SUCCESS
                   : mca_common_irregular_copy(to, in_buffer(from, swap->me), bytes,
                                               swap->on_device);
    }

    opal_convertor_t packer;
    OBJ_CONSTRUCT(&packer, opal_convertor_t);
    opal_convertor_copy_and_prepare_for_send(ompi_mpi_local_convertor, &from->type->super,
                                             mca_coll_pipering_contribution_count(from, swap->me),
                                             mca_coll_pipering_contribution(from, swap->me), 0,
                                             &packer);
    for (size_t packed = 1; 0 < packed && done < bytes; done += packed) {
        packed = mca_common_irregular_pack(&packer, to + done, bytes - done, swap->on_device);
    }
    OBJ_DESTRUCT(&packer);
    return done == bytes ? OMPI_SUCCESS : OMPI_ERROR;
}

int mca_coll_pipering_swap_init(swap_t *swap, ompi_communicator_t *comm,
                                const mca_coll_pipering_swap_plan_t *plan)
{
    memset(swap, 0, sizeof(*swap));
    swap->comm = comm;
    swap->plan = *plan;
    swap->me = ompi_comm_rank(comm);
    swap->rounds = mca_coll_pipering_grid_rounds(&plan->grid);
    swap->error = OMPI_SUCCESS;
    swap->on_device = mca_coll_pipering_is_on_device(plan->recv, plan->some)
                      || (NULL != plan->send
                          && mca_coll_pipering_is_on_device(plan->send, plan->some));
    OBJ_CONSTRUCT(&swap->unpacker, opal_convertor_t);

    int rc = take_memory(swap);
    if (OMPI_SUCCESS == rc) {
        rc = put_own(swap);
    }
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_swap_fini(swap);
        return rc;
    }
    swap->delivered = -1;
    swap->delivery = (mca_coll_pipering_span_t){swap->own, NULL == plan->send ? 0 : 1};
    return OMPI_SUCCESS;
}

/* ---- messages ---- */

/* The next message of a span; false if there is none. Small contributions come first. */
static bool next_parcel(const swap_t *swap, parcels_t *parcels, char **place, size_t *bytes)
{
    mca_coll_pipering_span_t *rest = &parcels->rest;

    if (parcels->packed) {
        const size_t *from = &swap->offset[rest->first];
        parcels->packed = false;
        *place = swap->area + *from;
        *bytes = from[rest->count] - *from;
        if (0 < *bytes) {
            return true;
        }
    }
    for (; 0 < rest->count; ++rest->first, --rest->count) {
        if (is_large(swap, rest->first)) {
            *place = swap->place[rest->first];
            *bytes = bytes_at(swap, rest->first);
            ++rest->first;
            --rest->count;
            return true;
        }
    }
    return false;
}

/* Receives of all rounds. */
static int post_receives(swap_t *swap)
{
    char *place;
    size_t bytes;

    for (int k = 0; k < swap->rounds; ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&swap->plan.grid,
                                                                                  swap->me, k);
        parcels_t parcels = {.rest = round.recv, .packed = true};
        while (next_parcel(swap, &parcels, &place, &bytes)) {
            const int rc = MCA_PML_CALL(irecv(place, bytes, MPI_BYTE, round.from, swap->plan.tag,
                                              swap->comm, &swap->in[swap->posted]));
            if (OMPI_SUCCESS != rc) {
                fail(swap, rc);
                return 0;
            }
            swap->expected[swap->posted++] = bytes;
            swap->traffic.bytes_in += bytes;
        }
        swap->due[k] = swap->posted;
    }
    return (int) swap->posted;
}

/* `expected` is NULL for sends. */
static int take_completed(swap_t *swap, ompi_request_t **requests, const size_t *expected,
                          uint64_t *done, uint64_t begun)
{
    int steps = 0;

    for (; *done < begun && OMPI_SUCCESS == swap->error
           && mca_common_irregular_is_over(requests[*done]);
         ++*done, ++steps) {
        const int rc = mca_common_irregular_judge(swap->plan.caller, &requests[*done]->req_status,
                                                  NULL == expected ? MCA_COMMON_IRREGULAR_ANY_LENGTH
                                                                   : expected[*done]);
        if (OMPI_SUCCESS != rc) {
            fail(swap, rc);
        }
        ompi_request_free(&requests[*done]);
    }
    return steps;
}

/* All that came in the rounds before k is there. */
static bool has_come(const swap_t *swap, int k)
{
    return 0 == k || swap->arrived >= swap->due[k - 1];
}

static void send_round(swap_t *swap)
{
    const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(&swap->plan.grid,
                                                                              swap->me, swap->sent);
    parcels_t parcels = {.rest = round.send, .packed = true};
    char *place;
    size_t bytes;

    while (OMPI_SUCCESS == swap->error && next_parcel(swap, &parcels, &place, &bytes)) {
        const int rc = MCA_PML_CALL(isend(place, bytes, MPI_BYTE, round.to, swap->plan.tag,
                                          swap->plan.synchronous ? MCA_PML_BASE_SEND_SYNCHRONOUS
                                                                 : MCA_PML_BASE_SEND_STANDARD,
                                          swap->comm, &swap->out[swap->started]));
        if (OMPI_SUCCESS != rc) {
            fail(swap, rc);
            return;
        }
        ++swap->started;
        ++swap->traffic.blocks_out;
        swap->traffic.bytes_out += bytes;
    }
    ++swap->sent;
}

/* ---- delivery to the user's buffer ---- */

/* It is not where it belongs yet. */
static bool wants_delivery(const swap_t *swap, int shelf)
{
    const mca_coll_pipering_layout_t *recv = swap->plan.recv;

    return 0 < bytes_at(swap, shelf)
           && (!recv->dense || swap->place[shelf] != in_buffer(recv, swap->rank[shelf]));
}

static size_t copy_piece(swap_t *swap, int shelf, size_t length)
{
    const mca_coll_pipering_layout_t *recv = swap->plan.recv;
    const int rank = swap->rank[shelf];
    const char *from = swap->place[shelf] + swap->delivery_done;

    if (recv->dense) {
        const int rc = mca_common_irregular_copy(in_buffer(recv, rank) + swap->delivery_done,
                                                 from, length, swap->on_device);
        return OMPI_SUCCESS == rc ? length : 0;
    }
    if (0 == swap->delivery_done) {
        opal_convertor_copy_and_prepare_for_recv(ompi_mpi_local_convertor, &recv->type->super,
                                                 mca_coll_pipering_contribution_count(recv, rank),
                                                 mca_coll_pipering_contribution(recv, rank), 0,
                                                 &swap->unpacker);
    }
    return mca_common_irregular_unpack(&swap->unpacker, from, length, swap->on_device);
}

/* Delivers up to so many bytes of what is to be; how many. */
static size_t deliver_piece(swap_t *swap, size_t most)
{
    const int shelf = swap->delivery.first;
    const size_t left = bytes_at(swap, shelf) - swap->delivery_done;
    size_t done = 0;

    if (wants_delivery(swap, shelf)) {
        done = copy_piece(swap, shelf, left < most ? left : most);
        if (0 == done) {
            fail(swap, OMPI_ERROR);
        }
        swap->delivery_done += done;
        if (swap->delivery_done < bytes_at(swap, shelf)) {
            return done;
        }
        if (!swap->plan.recv->dense) {
            opal_convertor_cleanup(&swap->unpacker);
        }
    }
    swap->delivery_done = 0;
    ++swap->delivery.first;
    --swap->delivery.count;
    return done;
}

/* Finds what is to be delivered next; false if it is not there. */
static bool find_delivery(swap_t *swap)
{
    while (0 == swap->delivery.count) {
        if (++swap->delivered == swap->rounds) {
            return false;
        }
        swap->delivery = mca_coll_pipering_grid_round(&swap->plan.grid, swap->me, swap->delivered)
                             .recv;
    }
    return has_come(swap, swap->delivered + 1);
}

static int deliver(swap_t *swap)
{
    size_t done = 0;
    int steps = 0;

    while (OMPI_SUCCESS == swap->error && swap->delivered < swap->rounds
           && done < MCA_COLL_PIPERING_PIECE && find_delivery(swap)) {
        done += deliver_piece(swap, MCA_COLL_PIPERING_PIECE - done);
        ++steps;
    }
    return steps;
}

/* ---- a turn ---- */

int mca_coll_pipering_swap_progress(swap_t *swap)
{
    int steps = 0;

    if (!swap->begun) {
        swap->begun = true;
        steps += post_receives(swap);
    }
    const int arrived = take_completed(swap, swap->in, swap->expected, &swap->arrived,
                                       swap->posted);
    swap->traffic.blocks_in += (uint64_t) arrived;
    steps += arrived + take_completed(swap, swap->out, NULL, &swap->completed, swap->started);
    while (OMPI_SUCCESS == swap->error && swap->sent < swap->rounds && has_come(swap, swap->sent)) {
        send_round(swap);
        ++steps;
    }
    return steps + deliver(swap);
}

bool mca_coll_pipering_swap_done(const swap_t *swap)
{
    return swap->sent == swap->rounds && swap->delivered == swap->rounds
           && swap->arrived == swap->posted && swap->completed == swap->started;
}

void mca_coll_pipering_swap_fini(swap_t *swap)
{
    const bool in = mca_common_irregular_abandon(swap->in, swap->arrived, swap->posted,
                                                 (unsigned) swap->plan.in, true);
    const bool out = mca_common_irregular_abandon(swap->out, swap->completed, swap->started,
                                                  (unsigned) swap->plan.out, false);

    OBJ_DESTRUCT(&swap->unpacker);
    if (!in && !out) {
        free(swap->area);
        free(swap->memory);
    }
    swap->memory = swap->area = NULL;
}
