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

#include "layout.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEP 12 /* units of messages with one type are multiples of it */

/** Messages of a rank in one direction. */
typedef struct side_t {
    int messages;
    int *peer; /**< MPI_PROC_NULL: nobody */
    int *tag;  /**< of the message between the two */
    int *count;
    layout_t **layout; /**< NULL: a type without bytes */
    int *displ;
    MPI_Aint *byte_displ;
    MPI_Datatype *type;
    MPI_Datatype *absolute; /**< of each message from MPI_BOTTOM; NULL: it has an address */
    image_t image;
} side_t;

typedef struct swap_t {
    call_t call;
    MPI_Comm comm, quiet;
    swap_kind_t kind;
    bool in_place;
    side_t send, recv;
    MPI_Datatype empty; /**< a type without bytes */
} swap_t;

/* ---- who sends what to whom ---- */

static void side_init(side_t *side, int messages)
{
    const size_t n = (size_t) messages + 1;

    *side = (side_t){.messages = messages,
                          .peer = tap_memory(n * sizeof(int)),
                          .tag = tap_memory(n * sizeof(int)),
                          .count = tap_memory(n * sizeof(int)),
                          .layout = tap_memory(n * sizeof(layout_t *)),
                          .displ = tap_memory(n * sizeof(int)),
                          .byte_displ = tap_memory(n * sizeof(MPI_Aint)),
                          .type = tap_memory(n * sizeof(MPI_Datatype))};
}

/** Message k of those between two ranks is tagged k. */
static void tag_by_turn(side_t *side)
{
    for (int i = 0; i < side->messages; i++) {
        side->tag[i] = 0;
        for (int k = 0; k < i; k++) {
            side->tag[i] += side->peer[k] == side->peer[i];
        }
    }
}

static void all_peers(side_t *side, MPI_Comm comm)
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

static void graph_peers(side_t *side, MPI_Comm comm)
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

    if (SWAP_NEIGHBORS == swap->kind) {
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

static bool has_common_type(swap_kind_t kind)
{
    return SWAP_EQUAL == kind || SWAP_V == kind;
}

typedef struct message_t {
    int unit, units;
} message_t;

static message_t message_of(const swap_spec_t *spec, uint64_t key, int from, int to, int tag)
{
    const bool alike = spec->in_place && to < from; /* in place both directions are alike */
    dice_t dice = dice_from(key, (uint64_t) (alike ? to : from) * 4099
                                     + (uint64_t) (alike ? from : to), (uint64_t) tag);
    dice_t all = dice_from(key, 17, 17);
    dice_t *sizes = SWAP_EQUAL == spec->kind ? &all : &dice;
    message_t message = {.unit = dice_roll(has_common_type(spec->kind) ? &all : &dice,
                                           LAYOUT_UNITS)};
    const int most = (int) (spec->most / layout_unit_size(message.unit)) + 1;
    const bool none = spec->without_0 && (0 == from || 0 == to);

    if (dice_roll(sizes, 100) >= spec->zeros && !none) {
        message.units = dice_once_in(sizes, 4) ? most : dice_between(sizes, 1, 1 + most / 30);
    }
    if (has_common_type(spec->kind)) {
        message.units = (message.units + STEP - 1) / STEP * STEP;
    }
    return message;
}

static message_t message_at(const swap_spec_t *spec, uint64_t key, const side_t *side, int i,
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
        layout_t *layout = layout_random(own, unit, units, count);

        if (0 != layout->extent && (sends || !layout_overlaps(layout, (size_t) count))) {
            return layout;
        }
        layout_free(layout);
    }
    return layout_contiguous(units, layout_unit(unit, 0));
}

/** A type of its own for a message. */
static void choose_type(const swap_spec_t *spec, MPI_Datatype empty, side_t *side, int i,
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
static void choose_common_type(const swap_spec_t *spec, side_t *side, uint64_t key,
                               dice_t *own, bool sends)
{
    const bool nothing = 0 == key % 29;
    const int units = dice_divisor(own, STEP);
    int most = 0;

    for (int i = 0; i < side->messages; i++) {
        side->count[i] = message_at(spec, key, side, i, sends).units / units;
        most = side->count[i] > most ? side->count[i] : most;
    }
    const int unit = message_of(spec, key, 0, 0, 0).unit;
    /* messages of equal numbers of elements are elements of one array */
    layout_t *layout = nothing ? layout_resized(-4, 64, layout_contiguous(0, layout_unit(unit, 0)))
                               : fitting_layout(spec, own, unit, units,
                                                SWAP_EQUAL == spec->kind ? most * side->messages
                                                                         : most,
                                                sends);
    for (int i = 0; i < side->messages; i++) {
        side->layout[i] = layout;
        side->type[i] = layout->type;
    }
}

/* ---- places ---- */

/** One after the other in a random order, or what is sent all at the same place. */
static void place_messages(side_t *side, dice_t *own, bool pile)
{
    int *order = tap_memory((size_t) (side->messages + 1) * sizeof(int));
    ptrdiff_t at = 0, end = 0;

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
    const ptrdiff_t base = dice_roll(own, (int) end + 1);
    for (int i = 0; i < side->messages; i++) {
        side->byte_displ[i] -= base;
        side->displ[i] = (int) side->byte_displ[i];
    }
    side->image = image_new(dice_word(own), -base, end - base);
    free(order);
}

/** The same where displacements are in extents of the one type. */
static void place_in_extents(side_t *side, dice_t *own, bool pile)
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
    side->image = image_new(dice_word(own), least + low, most + high);
    free(order);
}

/** As MPI_Alltoall has them. */
static void place_equal(side_t *side, dice_t *own)
{
    const layout_t *layout = side->layout[0];
    ptrdiff_t low, high;

    for (int i = 0; i < side->messages; i++) {
        side->byte_displ[i] = (ptrdiff_t) i * side->count[0] * layout->extent;
    }
    layout_span(layout, (size_t) side->count[0] * (size_t) side->messages, &low, &high);
    side->image = image_new(dice_word(own), low, high);
}

static void furnish(swap_t *swap, const swap_spec_t *spec, side_t *side, uint64_t key,
                    dice_t *own, bool sends)
{
    const bool pile = sends && dice_once_in(own, 4);

    if (has_common_type(spec->kind)) {
        choose_common_type(spec, side, key, own, sends);
        if (SWAP_V == spec->kind) {
            place_in_extents(side, own, pile);
        } else {
            place_equal(side, own);
        }
    } else {
        for (int i = 0; i < side->messages; i++) {
            choose_type(spec, swap->empty, side, i, message_at(spec, key, side, i, sends), own,
                        sends);
        }
        place_messages(side, own, pile);
    }
}

/* ---- the reference ---- */

/** A message to or from memory. */
static size_t copy_message(const side_t *side, int i, unsigned char *memory,
                           unsigned char *bytes, bool pack)
{
    layout_walk_t walk = {side->layout[i], (size_t) side->count[i], 0, 0};
    size_t done = 0, length;
    ptrdiff_t at;

    while (NULL != side->layout[i] && layout_walk_next(&walk, &at, &length)) {
        unsigned char *place = memory + side->image.origin + side->byte_displ[i] + at;
        if (pack) {
            memcpy(bytes + done, place, length);
        } else {
            memcpy(place, bytes + done, length);
        }
        done += length;
    }
    return done;
}

static size_t size_of(const side_t *side, int i)
{
    return NULL == side->layout[i] ? 0 : (size_t) side->count[i] * side->layout[i]->size;
}

static void transfer(swap_t *swap)
{
    const side_t *send = swap->in_place ? &swap->recv : &swap->send, *recv = &swap->recv;
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
        copy_message(send, i, send->image.before, bytes[k], true);
        MPI_Isend(bytes[k], (int) size_of(send, i), MPI_BYTE, send->peer[i], send->tag[i],
                  swap->quiet, &request[k]);
    }
    MPI_Waitall(all, request, MPI_STATUSES_IGNORE);
    for (int i = 0; i < recv->messages; i++) {
        copy_message(recv, i, recv->image.after, bytes[i], false);
    }
    for (int i = 0; i < all; i++) {
        free(bytes[i]);
    }
    free(bytes);
    free(request);
}

/* ---- the calls ---- */

/* The types that MPI is given, and the address. */
static const MPI_Datatype *types_of(const side_t *side)
{
    return NULL == side->absolute ? side->type : side->absolute;
}

static void *address_of(const side_t *side)
{
    return NULL == side->absolute ? image_address(&side->image) : MPI_BOTTOM;
}

static void set_absolute(side_t *side, bool common)
{
    if (tap_memory != image_memory.take || 0 == side->messages) {
        return;
    }
    side->absolute = tap_memory((size_t) side->messages * sizeof(MPI_Datatype));
    for (int i = 0; i < side->messages; i++) {
        side->absolute[i] = common && 0 < i ? side->absolute[0]
                                            : image_absolute(&side->image, side->type[i]);
    }
}

static void free_absolute(side_t *side, bool common)
{
    for (int i = 0; NULL != side->absolute && i < (common ? 1 : side->messages); i++) {
        if (MPI_DATATYPE_NULL != side->absolute[i]) {
            MPI_Type_free(&side->absolute[i]);
        }
    }
}

static int issue(call_t *call, form_t form)
{
    swap_t *swap = (swap_t *) call;
    const side_t *s = &swap->send, *r = &swap->recv;
    const bool in_place = swap->in_place;
    const void *from = in_place ? MPI_IN_PLACE : address_of(s);
    const MPI_Datatype *stypes = types_of(s), *rtypes = types_of(r);
    void *to = address_of(r);

    switch (swap->kind) {
    case SWAP_EQUAL:
        return CALL_IN(form, &call->request, Alltoall, Ialltoall, from, s->count[0],
                       in_place ? MPI_DATATYPE_NULL : stypes[0], to, r->count[0], rtypes[0],
                       swap->comm);
    case SWAP_V:
        return CALL_IN(form, &call->request, Alltoallv, Ialltoallv, from, s->count, s->displ,
                       in_place ? MPI_DATATYPE_NULL : stypes[0], to, r->count, r->displ,
                       rtypes[0], swap->comm);
    case SWAP_W:
        return CALL_IN(form, &call->request, Alltoallw, Ialltoallw, from, s->count, s->displ,
                       in_place ? NULL : stypes, to, r->count, r->displ, rtypes, swap->comm);
    default:
        return CALL_IN(form, &call->request, Neighbor_alltoallw, Ineighbor_alltoallw, from,
                       s->count, s->byte_displ, stypes, to, r->count, r->byte_displ, rtypes,
                       swap->comm);
    }
}

static void reset(call_t *call)
{
    image_reset(&((swap_t *) call)->send.image);
    image_reset(&((swap_t *) call)->recv.image);
}

static bool right(call_t *call)
{
    static const char *const names[SWAP_KINDS] = {"alltoall", "alltoallv", "alltoallw",
                                                   "neighbors"};
    const swap_t *swap = (const swap_t *) call;
    ptrdiff_t place;

    if (image_right(&swap->recv.image, &place)
        && (swap->in_place || image_right(&swap->send.image, &place))) {
        return true;
    }
    snprintf(call->fault, sizeof(call->fault), "%s%s, %s: byte %td is wrong", names[swap->kind],
             swap->in_place ? " in place" : "", form_name(call->form), place);
    return false;
}

swap_volume_t swap_volume(const call_t *call)
{
    const swap_t *swap = (const swap_t *) call;
    const side_t *side = swap->in_place ? &swap->recv : &swap->send;
    swap_volume_t volume = {0, 0, 0};
    int me;

    MPI_Comm_rank(swap->comm, &me);
    for (int i = 0; i < side->messages; i++) {
        const bool copied = SWAP_NEIGHBORS != swap->kind && me == side->peer[i];
        if (copied || MPI_PROC_NULL == side->peer[i]) {
            continue;
        }
        volume.messages += 0 != size_of(side, i);
        volume.zeros += 0 == size_of(side, i);
        volume.bytes += size_of(side, i);
    }
    return volume;
}

static bool has_data(const call_t *call)
{
    return 0 < swap_volume(call).bytes;
}

/** All types, which are one and the same if it is a common one. */
static void for_layouts(side_t *side, bool common, void (*act)(layout_t *layout))
{
    for (int i = 0; i < (common && 0 < side->messages ? 1 : side->messages); i++) {
        if (NULL != side->layout[i]) {
            act(side->layout[i]);
        }
    }
}

static void orphan(call_t *call)
{
    swap_t *swap = (swap_t *) call;

    for_layouts(&swap->send, has_common_type(swap->kind), layout_spoil);
    for_layouts(&swap->recv, has_common_type(swap->kind), layout_spoil);
    free_absolute(&swap->send, has_common_type(swap->kind));
    free_absolute(&swap->recv, has_common_type(swap->kind));
}

static void side_free(side_t *side, bool common)
{
    for_layouts(side, common, layout_free);
    free_absolute(side, common);
    free(side->absolute);
    free(side->peer);
    free(side->tag);
    free(side->count);
    free(side->layout);
    free(side->displ);
    free(side->byte_displ);
    free(side->type);
    image_free(&side->image);
}

static void release(call_t *call)
{
    swap_t *swap = (swap_t *) call;

    side_free(&swap->send, has_common_type(swap->kind));
    side_free(&swap->recv, has_common_type(swap->kind));
    MPI_Type_free(&swap->empty);
    free(swap);
}

static uint32_t classes_of(const side_t *side)
{
    uint32_t classes = NULL == side->absolute ? 0 : DRAWN(DRAWN_ABSOLUTE);

    for (int i = 0; i < side->messages; i++) {
        classes |= NULL == side->layout[i]
                       ? DRAWN(DRAWN_NOTHING)
                       : layout_classes(side->layout[i], (size_t) side->count[i]);
    }
    return classes;
}

static void set_drawn(swap_t *swap)
{
    drawn_t *drawn = &swap->call.drawn;

    drawn->of[DRAWN_CALL] = DRAWN(DRAWN_ALLTOALL + (int) swap->kind);
    drawn->of[DRAWN_OP] = DRAWN(DRAWN_NO_OP);
    drawn->of[DRAWN_TYPE] = classes_of(&swap->recv) | DRAWN(DRAWN_UNLIKE)
                            | (swap->in_place ? 0 : classes_of(&swap->send));
}

call_t *swap_new(const swap_spec_t *spec, uint64_t key, dice_t *own)
{
    static const call_class_t class = {issue, reset, right, has_data, orphan, release};
    swap_t *swap = tap_memory(sizeof(*swap));

    *swap = (swap_t){.call = {.class = &class, .request = MPI_REQUEST_NULL, .comm = spec->comm},
                     .comm = spec->comm,
                     .quiet = spec->quiet,
                     .kind = spec->kind,
                     .in_place = spec->in_place};
    MPI_Type_contiguous(0, MPI_INT, &swap->empty);
    MPI_Type_commit(&swap->empty);
    find_peers(swap);
    furnish(swap, spec, &swap->recv, key, own, false);
    furnish(swap, spec, &swap->send, key, own, true);
    transfer(swap);
    if (dice_once_in(own, 8)) {
        set_absolute(&swap->send, has_common_type(spec->kind));
        set_absolute(&swap->recv, has_common_type(spec->kind));
    }
    set_drawn(swap);
    reset(&swap->call);
    return &swap->call;
}
