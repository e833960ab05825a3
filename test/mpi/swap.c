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
 * Swaps of swap.h.
 */

#include "swap.h"

#include "tap.h"

#include <stdlib.h>
#include <string.h>

#if OMPI_MAJOR_VERSION < 5 /* persistent collectives have names of their own there */
#    include <mpi-ext.h>
#    define MPI_Alltoallv_init MPIX_Alltoallv_init
#    define MPI_Alltoallw_init MPIX_Alltoallw_init
#    define MPI_Neighbor_alltoallw_init MPIX_Neighbor_alltoallw_init
#endif

#define STEP 12   /* units of messages with one type are multiples of it */
#define GUARD 64  /* bytes around everything */

/* ---- who sends what to whom ---- */

static void side_init(swap_side_t *side, int messages)
{
    const size_t n = (size_t) messages + 1;

    *side = (swap_side_t){.messages = messages,
                          .peer = tap_memory(n * sizeof(int)),
                          .tag = tap_memory(n * sizeof(int)),
                          .count = tap_memory(n * sizeof(int)),
                          .layout = tap_memory(n * sizeof(layout_t *)),
                          .displ = tap_memory(n * sizeof(int)),
                          .byte_displ = tap_memory(n * sizeof(MPI_Aint)),
                          .type = tap_memory(n * sizeof(MPI_Datatype))};
}

/** Message k of those between two ranks is tagged k. */
static void tag_by_turn(swap_side_t *side)
{
    for (int i = 0; i < side->messages; i++) {
        side->tag[i] = 0;
        for (int k = 0; k < i; k++) {
            side->tag[i] += side->peer[k] == side->peer[i];
        }
    }
}

static void all_peers(swap_side_t *side, MPI_Comm comm)
{
    int p;

    MPI_Comm_size(comm, &p);
    side_init(side, p);
    for (int i = 0; i < p; i++) {
        side->peer[i] = i;
    }
    tag_by_turn(side);
}

/** What goes down along a dimension arrives from above. */
static void cart_peers(swap_t *swap)
{
    int dimensions;

    MPI_Cartdim_get(swap->comm, &dimensions);
    side_init(&swap->send, 2 * dimensions);
    side_init(&swap->recv, 2 * dimensions);
    for (int d = 0; d < dimensions; d++) {
        int below, above;
        MPI_Cart_shift(swap->comm, d, 1, &below, &above);
        for (int i = 0; i < 2; i++) {
            swap->send.peer[2 * d + i] = swap->recv.peer[2 * d + i] = 0 == i ? below : above;
            swap->send.tag[2 * d + i] = 2 * d + i;
            swap->recv.tag[2 * d + i] = 2 * d + 1 - i;
        }
    }
}

static void graph_peers(swap_side_t *side, MPI_Comm comm)
{
    int me, degree;

    MPI_Comm_rank(comm, &me);
    MPI_Graph_neighbors_count(comm, me, &degree);
    side_init(side, degree);
    MPI_Graph_neighbors(comm, me, degree, side->peer);
    tag_by_turn(side);
}

static void dist_graph_peers(swap_t *swap)
{
    int ins, outs, weighted;

    MPI_Dist_graph_neighbors_count(swap->comm, &ins, &outs, &weighted);
    side_init(&swap->send, outs);
    side_init(&swap->recv, ins);
    int *weight = tap_memory((size_t) (ins + outs) * sizeof(int));
    MPI_Dist_graph_neighbors(swap->comm, ins, swap->recv.peer, weight, outs, swap->send.peer,
                             weight + ins);
    free(weight);
    tag_by_turn(&swap->send);
    tag_by_turn(&swap->recv);
}

static void find_peers(swap_t *swap)
{
    int topology = MPI_UNDEFINED;

    if (SWAP_NEIGHBORS == swap->call) {
        MPI_Topo_test(swap->comm, &topology);
    }
    switch (topology) {
    case MPI_CART:
        cart_peers(swap);
        break;
    case MPI_GRAPH:
        graph_peers(&swap->send, swap->comm);
        graph_peers(&swap->recv, swap->comm);
        break;
    case MPI_DIST_GRAPH:
        dist_graph_peers(swap);
        break;
    default:
        all_peers(&swap->send, swap->comm);
        all_peers(&swap->recv, swap->comm);
    }
}

/* ---- sizes: known to both ends of a message ---- */

typedef struct message_t {
    int unit, units;
} message_t;

static message_t message_of(const swap_spec_t *spec, uint64_t key, int from, int to, int tag)
{
    const bool alike = spec->in_place && to < from; /* in place both directions are alike */
    dice_t dice = dice_from(key, (uint64_t) (alike ? to : from) * 4099
                                     + (uint64_t) (alike ? from : to), (uint64_t) tag);
    dice_t all = dice_from(key, 17, 17);
    message_t message = {.unit = dice_roll(SWAP_V == spec->call ? &all : &dice, LAYOUT_UNITS)};
    const int most = (int) (spec->most / layout_unit_size(message.unit)) + 1;
    const bool none = spec->without_0 && (0 == from || 0 == to);

    if (dice_roll(&dice, 100) >= spec->zeros && !none) {
        message.units = dice_once_in(&dice, 4) ? most : dice_between(&dice, 1, 1 + most / 30);
    }
    if (SWAP_V == spec->call) {
        message.units = (message.units + STEP - 1) / STEP * STEP;
    }
    return message;
}

static message_t message_at(const swap_spec_t *spec, uint64_t key, const swap_side_t *side, int i,
                            bool sends)
{
    int me;

    MPI_Comm_rank(spec->comm, &me);
    if (MPI_PROC_NULL == side->peer[i]) {
        return (message_t){0, 0};
    }
    return message_of(spec, key, sends ? me : side->peer[i], sends ? side->peer[i] : me,
                      side->tag[i]);
}

/* ---- types ---- */

/** A type that may be had `count` times side by side; what is sent may overlap. */
static layout_t *fitting_layout(const swap_spec_t *spec, dice_t *own, int unit, int units,
                                int count, bool sends)
{
    for (int attempt = spec->plain ? 8 : 0; attempt < 8; attempt++) {
        layout_t *layout = layout_random(own, unit, units);

        if (0 != layout->extent && (sends || !layout_overlaps(layout, (size_t) count))) {
            return layout;
        }
        layout_free(layout);
    }
    return layout_contiguous(units, layout_unit(unit, 0));
}

/** A type of its own for a message. */
static void choose_type(const swap_spec_t *spec, MPI_Datatype empty, swap_side_t *side, int i,
                        message_t message, dice_t *own, bool sends)
{
    int units = 1;

    side->layout[i] = NULL;
    side->type[i] = MPI_INT;
    side->count[i] = 0;
    if (0 == message.units) { /* no elements, or elements of nothing */
        if (dice_once_in(own, 2)) {
            side->type[i] = empty;
            side->count[i] = dice_roll(own, 5);
        }
        return;
    }
    units = dice_divisor(own, message.units);
    units = 200 < units ? 1 : units;
    side->count[i] = message.units / units;
    side->layout[i] = fitting_layout(spec, own, message.unit, units, side->count[i],
                                     sends);
    side->type[i] = side->layout[i]->type;
}

/** One type for all messages. */
static void choose_common_type(const swap_spec_t *spec, swap_side_t *side, uint64_t key,
                               dice_t *own, bool sends)
{
    const int units = dice_divisor(own, STEP);
    int most = 0;

    for (int i = 0; i < side->messages; i++) {
        side->count[i] = message_at(spec, key, side, i, sends).units / units;
        most = side->count[i] > most ? side->count[i] : most;
    }
    const int unit = message_of(spec, key, 0, 0, 0).unit;
    layout_t *layout = fitting_layout(spec, own, unit, units, most, sends);
    for (int i = 0; i < side->messages; i++) {
        side->layout[i] = layout;
        side->type[i] = layout->type;
    }
}

/* ---- places ---- */

/** One after the other in a random order, or what is sent all at the same place. */
static void place_messages(swap_side_t *side, dice_t *own, bool pile)
{
    int *order = tap_memory((size_t) (side->messages + 1) * sizeof(int));
    ptrdiff_t at = GUARD, end = GUARD;

    dice_shuffle(own, order, side->messages);
    for (int k = 0; k < side->messages; k++) {
        const int i = order[k];
        ptrdiff_t low = 0, high = 0;
        if (NULL != side->layout[i]) {
            layout_span(side->layout[i], (size_t) side->count[i], &low, &high);
        }
        side->byte_displ[i] = at - low;
        end = at + high - low > end ? at + high - low : end;
        at = pile ? at : end + dice_roll(own, 3) * 8;
    }
    side->bytes = (size_t) end + GUARD;
    side->base = dice_roll(own, (int) side->bytes);
    for (int i = 0; i < side->messages; i++) {
        side->byte_displ[i] -= side->base;
        side->displ[i] = (int) side->byte_displ[i];
    }
    free(order);
}

/** The same where displacements are in extents of the one type. */
static void place_in_extents(swap_side_t *side, dice_t *own, bool pile)
{
    const layout_t *layout = side->layout[0];
    int *order = tap_memory((size_t) (side->messages + 1) * sizeof(int));
    ptrdiff_t low, high, least = 0, most = 0;
    int count = 0;

    for (int i = 0; i < side->messages; i++) {
        count = side->count[i] > count ? side->count[i] : count;
    }
    layout_span(layout, (size_t) count, &low, &high);
    const int apart = (int) ((high - low) / labs(layout->extent)) + 1;
    const int shift = dice_roll(own, apart * side->messages + 1);

    dice_shuffle(own, order, side->messages);
    for (int i = 0; i < side->messages; i++) {
        side->displ[i] = (pile ? 0 : order[i] * apart) - shift;
        side->byte_displ[i] = side->displ[i] * layout->extent;
        least = 0 == i || side->byte_displ[i] < least ? side->byte_displ[i] : least;
        most = 0 == i || side->byte_displ[i] > most ? side->byte_displ[i] : most;
    }
    side->base = GUARD - least - low;
    side->bytes = (size_t) (most - least + high - low) + 2 * GUARD;
    free(order);
}

static void fill(unsigned char *memory, size_t bytes, dice_t *own)
{
    for (size_t i = 0; i < bytes; i++) {
        memory[i] = (unsigned char) dice_word(own);
    }
}

static void furnish(swap_t *swap, const swap_spec_t *spec, swap_side_t *side, uint64_t key,
                    dice_t *own, bool sends)
{
    const bool pile = sends && dice_once_in(own, 4);

    if (SWAP_V == spec->call) {
        choose_common_type(spec, side, key, own, sends);
        place_in_extents(side, own, pile);
    } else {
        for (int i = 0; i < side->messages; i++) {
            choose_type(spec, swap->empty, side, i, message_at(spec, key, side, i, sends), own,
                        sends);
        }
        place_messages(side, own, pile);
    }
    side->arena = tap_memory(side->bytes);
    fill(side->arena, side->bytes, own);
}

/* ---- the reference ---- */

/** A message to or from an arena. */
static size_t copy_message(const swap_side_t *side, int i, unsigned char *arena,
                           unsigned char *bytes, bool pack)
{
    layout_walk_t walk = {side->layout[i], (size_t) side->count[i], 0, 0};
    size_t done = 0, length;
    ptrdiff_t at;

    while (NULL != side->layout[i] && layout_walk_next(&walk, &at, &length)) {
        unsigned char *place = arena + side->base + side->byte_displ[i] + at;
        if (pack) {
            memcpy(bytes + done, place, length);
        } else {
            memcpy(place, bytes + done, length);
        }
        done += length;
    }
    return done;
}

static size_t size_of(const swap_side_t *side, int i)
{
    return NULL == side->layout[i] ? 0 : (size_t) side->count[i] * side->layout[i]->size;
}

static void transfer(swap_t *swap)
{
    const swap_side_t *send = swap->in_place ? &swap->recv : &swap->send, *recv = &swap->recv;
    const int all = send->messages + recv->messages;
    unsigned char **bytes = tap_memory((size_t) (all + 1) * sizeof(*bytes));
    MPI_Request *request = tap_memory((size_t) (all + 1) * sizeof(*request));

    for (int i = 0; i < recv->messages; i++) {
        bytes[i] = tap_memory(size_of(recv, i));
        MPI_Irecv(bytes[i], (int) size_of(recv, i), MPI_BYTE, recv->peer[i], recv->tag[i],
                  swap->quiet, &request[i]);
    }
    for (int i = 0, k = recv->messages; i < send->messages; i++, k++) {
        bytes[k] = tap_memory(size_of(send, i));
        copy_message(send, i, send->arena, bytes[k], true);
        MPI_Isend(bytes[k], (int) size_of(send, i), MPI_BYTE, send->peer[i], send->tag[i],
                  swap->quiet, &request[k]);
    }
    MPI_Waitall(all, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < recv->messages; i++) {
        copy_message(recv, i, swap->after, bytes[i], false);
    }
    for (int i = 0; i < all; i++) {
        free(bytes[i]);
    }
    free(bytes);
    free(request);
}

/* ---- swaps ---- */

swap_t *swap_new(const swap_spec_t *spec, uint64_t key, dice_t *own)
{
    swap_t *swap = tap_memory(sizeof(*swap));

    *swap = (swap_t){.comm = spec->comm,
                     .quiet = spec->quiet,
                     .call = spec->call,
                     .in_place = spec->in_place,
                     .request = MPI_REQUEST_NULL};
    MPI_Type_contiguous(0, MPI_INT, &swap->empty);
    MPI_Type_commit(&swap->empty);
    find_peers(swap);
    furnish(swap, spec, &swap->recv, key, own, false);
    furnish(swap, spec, &swap->send, key, own, true);
    swap->before = tap_memory(swap->recv.bytes);
    swap->after = tap_memory(swap->recv.bytes);
    memcpy(swap->before, swap->recv.arena, swap->recv.bytes);
    memcpy(swap->after, swap->recv.arena, swap->recv.bytes);
    transfer(swap);
    return swap;
}

static int start_v(swap_t *swap, swap_form_t form, const void *from, void *to)
{
    const swap_side_t *s = &swap->send, *r = &swap->recv;
    const MPI_Datatype type = swap->in_place ? MPI_DATATYPE_NULL : s->type[0];

    switch (form) {
    case SWAP_BLOCKING:
        return MPI_Alltoallv(from, s->count, s->displ, type, to, r->count, r->displ, r->type[0],
                             swap->comm);
    case SWAP_NONBLOCKING:
        return MPI_Ialltoallv(from, s->count, s->displ, type, to, r->count, r->displ,
                              r->type[0], swap->comm, &swap->request);
    default:
        return MPI_Alltoallv_init(from, s->count, s->displ, type, to, r->count, r->displ,
                                  r->type[0], swap->comm, MPI_INFO_NULL, &swap->request);
    }
}

static int start_w(swap_t *swap, swap_form_t form, const void *from, void *to)
{
    const swap_side_t *s = &swap->send, *r = &swap->recv;
    const MPI_Datatype *types = swap->in_place ? NULL : s->type;

    switch (form) {
    case SWAP_BLOCKING:
        return MPI_Alltoallw(from, s->count, s->displ, types, to, r->count, r->displ, r->type,
                             swap->comm);
    case SWAP_NONBLOCKING:
        return MPI_Ialltoallw(from, s->count, s->displ, types, to, r->count, r->displ, r->type,
                              swap->comm, &swap->request);
    default:
        return MPI_Alltoallw_init(from, s->count, s->displ, types, to, r->count, r->displ,
                                  r->type, swap->comm, MPI_INFO_NULL, &swap->request);
    }
}

static int start_neighbors(swap_t *swap, swap_form_t form, const void *from, void *to)
{
    const swap_side_t *s = &swap->send, *r = &swap->recv;

    switch (form) {
    case SWAP_BLOCKING:
        return MPI_Neighbor_alltoallw(from, s->count, s->byte_displ, s->type, to, r->count,
                                      r->byte_displ, r->type, swap->comm);
    case SWAP_NONBLOCKING:
        return MPI_Ineighbor_alltoallw(from, s->count, s->byte_displ, s->type, to, r->count,
                                       r->byte_displ, r->type, swap->comm, &swap->request);
    default:
        return MPI_Neighbor_alltoallw_init(from, s->count, s->byte_displ, s->type, to, r->count,
                                           r->byte_displ, r->type, swap->comm, MPI_INFO_NULL,
                                           &swap->request);
    }
}

int swap_start(swap_t *swap, swap_form_t form)
{
    const void *from = swap->in_place ? MPI_IN_PLACE : swap->send.arena + swap->send.base;
    void *to = swap->recv.arena + swap->recv.base;
    int code;

    switch (swap->call) {
    case SWAP_V:
        code = start_v(swap, form, from, to);
        break;
    case SWAP_W:
        code = start_w(swap, form, from, to);
        break;
    default:
        code = start_neighbors(swap, form, from, to);
    }
    return MPI_SUCCESS == code && SWAP_PERSISTENT == form ? MPI_Start(&swap->request) : code;
}

bool swap_right(swap_t *swap)
{
    const bool right = 0 == memcmp(swap->recv.arena, swap->after, swap->recv.bytes);

    memcpy(swap->recv.arena, swap->before, swap->recv.bytes);
    return right;
}

swap_volume_t swap_volume(const swap_t *swap)
{
    const swap_side_t *side = swap->in_place ? &swap->recv : &swap->send;
    swap_volume_t volume = {0, 0, 0};
    int me;

    MPI_Comm_rank(swap->comm, &me);
    for (int i = 0; i < side->messages; i++) {
        const bool copied = SWAP_NEIGHBORS != swap->call && me == side->peer[i];
        if (copied || MPI_PROC_NULL == side->peer[i]) {
            continue;
        }
        volume.messages += 0 != size_of(side, i);
        volume.zeros += 0 == size_of(side, i);
        volume.bytes += size_of(side, i);
    }
    return volume;
}

static void side_free(swap_side_t *side, bool common)
{
    for (int i = 0; i < (common && 0 < side->messages ? 1 : side->messages); i++) {
        if (NULL != side->layout[i]) {
            layout_free(side->layout[i]);
        }
    }
    free(side->peer);
    free(side->tag);
    free(side->count);
    free(side->layout);
    free(side->displ);
    free(side->byte_displ);
    free(side->type);
    free(side->arena);
}

void swap_free(swap_t *swap)
{
    side_free(&swap->send, SWAP_V == swap->call);
    side_free(&swap->recv, SWAP_V == swap->call);
    MPI_Type_free(&swap->empty);
    free(swap->before);
    free(swap->after);
    free(swap);
}
