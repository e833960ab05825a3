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
 * Messages between two ranks, of data in blocks: bytes, kilobytes, or now these and
 * now those. N rows of messages from SEED, each row in flight at the same time, in
 * both directions; the sender's layout is not the receiver's.
 */

#include "dice.h"
#include "layout.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW 4
#define MOST_BLOCKS 3000
#define UNITS_MOST 300000
#define GUARD 64

/** Memory of a layout, with bytes before and behind. */
typedef struct field_t {
    layout_t *layout;
    unsigned char *memory, *base;
    size_t size;
} field_t;

typedef struct message_t {
    field_t out, in;
    uint64_t key;
    int how;
    MPI_Request sent, received;
} message_t;

enum { SEND, ISEND, SSEND, BSEND, AGAIN, WAYS };

static uint64_t seed;

/* Lengths of blocks with so many units in all. */
static int cut(dice_t *dice, int units, int *length)
{
    static const int sizes[] = {1, 3, 20, 600, 1500, 5000};
    int kind = dice_roll(dice, 6), blocks = 0, least;
    const bool mixed = dice_once_in(dice, 2);

    while (0 < units) {
        kind = mixed && dice_once_in(dice, 30) ? dice_roll(dice, 6) : kind;
        least = units / (MOST_BLOCKS - blocks) + 1;
        length[blocks] = 1 + dice_roll(dice, 2 * sizes[kind]);
        length[blocks] = length[blocks] < least ? least : length[blocks];
        length[blocks] = length[blocks] > units ? units : length[blocks];
        units -= length[blocks++];
    }
    return blocks;
}

/* Blocks up or down in memory, so far from each other. */
static layout_t *new_layout(dice_t *dice, int unit, int units)
{
    int *length = tap_memory(MOST_BLOCKS * sizeof(int)), blocks = cut(dice, units, length);
    MPI_Aint *displ = tap_memory(MOST_BLOCKS * sizeof(MPI_Aint)), place = 0;
    const MPI_Aint size = (MPI_Aint) layout_unit_size(unit), step = layout_unit_step(unit);
    const bool down = dice_once_in(dice, 4);
    layout_t *layout;

    for (int i = 0; i < blocks; i++) {
        const MPI_Aint gap = step * dice_roll(dice, 20);

        place -= down ? length[i] * size + gap : 0;
        displ[i] = place;
        place += down ? 0 : length[i] * size + gap;
    }
    layout = layout_hindexed(blocks, length, displ, layout_unit(unit, 0));
    free(length);
    free(displ);
    return layout;
}

static void make_field(field_t *field, layout_t *layout)
{
    ptrdiff_t low, high;

    layout_span(layout, 1, &low, &high);
    low -= GUARD + ((low % 16) + 16) % 16;
    field->layout = layout;
    field->size = (size_t) (high - low) + GUARD;
    field->memory = tap_memory(field->size);
    field->base = field->memory - low;
    memset(field->memory, 0xa5, field->size);
}

static void drop_field(field_t *field)
{
    layout_free(field->layout);
    free(field->memory);
}

static unsigned char content(uint64_t key, size_t byte)
{
    return (unsigned char) (key + byte * 31 + byte / 251);
}

static void fill(const field_t *field, uint64_t key)
{
    layout_walk_t walk = {.layout = field->layout, .count = 1};
    ptrdiff_t at;
    size_t length, byte = 0;

    while (layout_walk_next(&walk, &at, &length)) {
        for (size_t i = 0; i < length; i++) {
            field->base[at + (ptrdiff_t) i] = content(key, byte++);
        }
    }
}

static bool is_filled(const field_t *field, uint64_t key)
{
    field_t wanted;
    bool right;

    wanted = *field;
    wanted.memory = tap_memory(field->size);
    wanted.base = wanted.memory + (field->base - field->memory);
    memset(wanted.memory, 0xa5, field->size);
    fill(&wanted, key);
    right = 0 == memcmp(wanted.memory, field->memory, field->size);
    free(wanted.memory);
    return right;
}

/* Equal on both ranks but for the layouts' roles. */
static void make_message(message_t *message, int row, int i)
{
    static const int units_of[] = {0, 4, 5};
    dice_t shared = dice_from(seed, (uint64_t) row, (uint64_t) i);
    const int unit = units_of[dice_roll(&shared, 3)];
    const int units = 1 + dice_roll(&shared, dice_once_in(&shared, 3) ? 3000 : UNITS_MOST);
    layout_t *there = new_layout(&shared, unit, units), *here = new_layout(&shared, unit, units);

    *message = (message_t){.key = dice_word(&shared), .how = dice_roll(&shared, WAYS),
                           .sent = MPI_REQUEST_NULL};
    make_field(&message->out, 0 == tap_rank ? there : here);
    make_field(&message->in, 0 == tap_rank ? here : there);
    fill(&message->out, message->key + (uint64_t) tap_rank);
    TAP_MPI(MPI_Irecv(message->in.base, 1, message->in.layout->type, 1 - tap_rank, i,
                      MPI_COMM_WORLD, &message->received));
}

static void buffered(const message_t *message, int tag)
{
    int size, left;
    void *buffer;

    TAP_MPI(MPI_Pack_size(1, message->out.layout->type, MPI_COMM_WORLD, &size));
    buffer = tap_memory((size_t) size + MPI_BSEND_OVERHEAD);
    TAP_MPI(MPI_Buffer_attach(buffer, size + MPI_BSEND_OVERHEAD));
    TAP_MPI(MPI_Bsend(message->out.base, 1, message->out.layout->type, 1 - tap_rank, tag,
                      MPI_COMM_WORLD));
    memset(message->out.memory, 0x5a, message->out.size);
    TAP_MPI(MPI_Buffer_detach(&buffer, &left));
    free(buffer);
}

static void send_message(message_t *message, int tag)
{
    void *base = message->out.base;
    const MPI_Datatype type = message->out.layout->type;
    const int peer = 1 - tap_rank;

    switch (message->how) {
    case SEND:
        TAP_MPI(MPI_Send(base, 1, type, peer, tag, MPI_COMM_WORLD));
        memset(message->out.memory, 0x5a, message->out.size);
        break;
    case SSEND:
        TAP_MPI(MPI_Ssend(base, 1, type, peer, tag, MPI_COMM_WORLD));
        memset(message->out.memory, 0x5a, message->out.size);
        break;
    case BSEND:
        buffered(message, tag);
        break;
    case ISEND:
        TAP_MPI(MPI_Isend(base, 1, type, peer, tag, MPI_COMM_WORLD, &message->sent));
        break;
    default:
        TAP_MPI(MPI_Send_init(base, 1, type, peer, tag, MPI_COMM_WORLD, &message->sent));
        TAP_MPI(MPI_Start(&message->sent));
    }
}

/* A persistent one goes twice, with other contents. */
static bool send_again(message_t *message, int tag)
{
    TAP_MPI(MPI_Wait(&message->sent, MPI_STATUS_IGNORE));
    memset(message->in.memory, 0xa5, message->in.size);
    TAP_MPI(MPI_Irecv(message->in.base, 1, message->in.layout->type, 1 - tap_rank, tag,
                      MPI_COMM_WORLD, &message->received));
    fill(&message->out, message->key + 7 + (uint64_t) tap_rank);
    TAP_MPI(MPI_Start(&message->sent));
    TAP_MPI(MPI_Wait(&message->sent, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Wait(&message->received, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Request_free(&message->sent));
    return is_filled(&message->in, message->key + 8 - (uint64_t) tap_rank);
}

static bool end_message(message_t *message, int tag)
{
    bool right;

    TAP_MPI(MPI_Wait(&message->received, MPI_STATUS_IGNORE));
    right = is_filled(&message->in, message->key + 1 - (uint64_t) tap_rank);
    if (AGAIN == message->how) {
        right &= send_again(message, tag);
    } else {
        TAP_MPI(MPI_Wait(&message->sent, MPI_STATUS_IGNORE));
    }
    drop_field(&message->out);
    drop_field(&message->in);
    return right;
}

static bool run_row(int row)
{
    message_t message[ROW];
    bool right = true;

    for (int i = 0; i < ROW; i++) {
        make_message(&message[i], row, i);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < ROW; i++) {
        send_message(&message[i], i);
    }
    for (int i = 0; i < ROW; i++) {
        if (!end_message(&message[i], i)) {
            fprintf(stderr, "# SEED=%llu row %d message %d, sent in way %d, is wrong on rank %d\n",
                    (unsigned long long) seed, row, i, message[i].how, tap_rank);
            right = false;
        }
    }
    return right;
}

int main(int argc, char **argv)
{
    const long rows = tap_number("N", 20);
    bool right = true;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (2 != tap_size) {
        tap_bail("for 2 ranks");
    }
    seed = (uint64_t) tap_number("SEED", 1);
    for (long row = 0; row < rows; row++) {
        right &= run_row((int) row);
    }
    tap_check(right, "a message is wrong", "%ld messages each way", rows * ROW);
    return tap_end();
}
