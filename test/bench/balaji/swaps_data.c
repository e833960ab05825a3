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
 * Patterns of swaps: fields of doubles, and which of them go where. A message is a list
 * of places and the MPI datatype that says the same, which the checks prove.
 */

#include "swaps.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS 10 /* of the matrix whose columns go round */
#define SMALL 8    /* bytes */

static void *need(size_t count, size_t size)
{
    void *memory = calloc(0 == count ? 1 : count, size);

    if (NULL == memory) {
        fprintf(stderr, "swaps: no memory for the buffers\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return memory;
}

/* ---- messages ---- */

static void add(swaps_data_t *data, int peer, int length)
{
    swaps_message_t *both[2] = {&data->out[data->messages], &data->in[data->messages]};

    for (int i = 0; i < 2; ++i) {
        *both[i] = (swaps_message_t){peer, length, need((size_t) length, sizeof(int)),
                                     MPI_DATATYPE_NULL};
    }
    ++data->messages;
}

/* A column of a matrix, `first` being its first element. */
static void set_column(swaps_message_t *message, int first)
{
    MPI_Datatype column;
    MPI_Aint displ = (MPI_Aint) first * (MPI_Aint) sizeof(double);
    int one = 1;

    for (int i = 0; i < message->length; ++i) {
        message->at[i] = first + i * COLUMNS;
    }
    MPI_Type_vector(message->length, 1, COLUMNS, MPI_DOUBLE, &column);
    MPI_Type_create_hindexed(1, &one, &displ, column, &message->type);
    MPI_Type_free(&column);
}

static void set_run(swaps_message_t *message, int first)
{
    MPI_Datatype run;
    MPI_Aint displ = (MPI_Aint) first * (MPI_Aint) sizeof(double);
    int one = 1;

    for (int i = 0; i < message->length; ++i) {
        message->at[i] = first + i;
    }
    MPI_Type_contiguous(message->length, MPI_DOUBLE, &run);
    MPI_Type_create_hindexed(1, &one, &displ, run, &message->type);
    MPI_Type_free(&run);
}

/* ---- patterns ---- */

static void make_ring(swaps_data_t *data, int length)
{
    data->from_length = data->to_length = (size_t) (length * COLUMNS);
    for (int side = 0; side < 2; ++side) {
        const int peer = (data->rank + (0 == side ? 1 : data->size - 1)) % data->size;
        add(data, peer, length);
        set_column(&data->out[side], 0 == side ? COLUMNS - 1 : 0);
        set_column(&data->in[side], 0 == side ? COLUMNS - 1 : 0);
    }
}

/* As many to each rank, or where `mixed` much to one rank in three and little to the others. */
static void make_dense(swaps_data_t *data, int length, bool mixed)
{
    int at = 0;

    for (int peer = 0; peer < data->size; ++peer) {
        const bool large = !mixed || 0 == (peer + data->rank) % 3;
        const int n = large ? length : SMALL / (int) sizeof(double);
        add(data, peer, n);
        set_run(&data->out[peer], at);
        set_run(&data->in[peer], at);
        data->out_displs[peer] = data->in_displs[peer] = at;
        at += n;
    }
    data->from_length = data->to_length = (size_t) at;
}

/* ---- arguments of the calls ---- */

static void arrange(swaps_data_t *data)
{
    const bool by_count = SWAPS_V == data->call || SWAPS_EQUAL == data->call;

    for (int i = 0; i < data->size; ++i) {
        data->out_types[i] = data->in_types[i] = MPI_DOUBLE;
    }
    for (int i = 0; i < data->messages; ++i) {
        const int k = data->out[i].peer;
        MPI_Type_commit(&data->out[i].type);
        MPI_Type_commit(&data->in[i].type);
        data->out_types[k] = data->out[i].type;
        data->in_types[k] = data->in[i].type;
        data->out_counts[k] = by_count ? data->out[i].length : 1;
        data->in_counts[k] = by_count ? data->in[i].length : 1;
    }
}

void swaps_data_create(swaps_data_t *data, swaps_call_t call, swaps_pattern_t pattern,
                       size_t bytes, const bench_world_t *world)
{
    const size_t most = (size_t) world->size + 1; /* a ring of one rank has two messages */
    const int length = (int) (bytes / sizeof(double));

    *data = (swaps_data_t){.call = call,
                           .pattern = pattern,
                           .rank = world->rank,
                           .size = world->size,
                           .out = need(most, sizeof(swaps_message_t)),
                           .in = need(most, sizeof(swaps_message_t)),
                           .out_counts = need(most, sizeof(int)),
                           .in_counts = need(most, sizeof(int)),
                           .displs = need(most, sizeof(int)),
                           .out_displs = need(most, sizeof(int)),
                           .in_displs = need(most, sizeof(int)),
                           .out_types = need(most, sizeof(MPI_Datatype)),
                           .in_types = need(most, sizeof(MPI_Datatype))};
    if (SWAPS_RING == pattern) {
        make_ring(data, length);
    } else {
        make_dense(data, length, SWAPS_MIXED == pattern);
    }
    arrange(data);
    data->from = need(data->from_length, sizeof(double));
    data->to = need(data->to_length, sizeof(double));
}

void swaps_data_free(swaps_data_t *data)
{
    for (int i = 0; i < data->messages; ++i) {
        MPI_Type_free(&data->out[i].type);
        MPI_Type_free(&data->in[i].type);
        free(data->out[i].at);
        free(data->in[i].at);
    }
    free(data->out);
    free(data->in);
    free(data->from);
    free(data->to);
    free(data->out_counts);
    free(data->in_counts);
    free(data->displs);
    free(data->out_displs);
    free(data->in_displs);
    free(data->out_types);
    free(data->in_types);
}

/* ---- values ---- */

/* Cells may belong to several messages: a value says whose field it is of, and where. */
static double value_of(int rank, int at, uint64_t call)
{
    return (double) (call % 1000) * 1e12 + rank * 1e9 + at;
}

void swaps_data_fill(swaps_data_t *data, uint64_t call)
{
    for (size_t i = 0; i < data->from_length; ++i) {
        data->from[i] = value_of(data->rank, (int) i, call);
    }
    memset(data->to, 0, data->to_length * sizeof(double));
}

/* Where the sender had element i of a message of a ring: at its other side. */
static int origin(const swaps_data_t *data, int message, int i)
{
    if (SWAPS_RING != data->pattern) {
        return -1;
    }
    return i * COLUMNS + (0 == message ? 0 : COLUMNS - 1);
}

/* Elements come in the order in which they were sent, from another rank, of this call. */
static bool element_right(const swaps_data_t *data, int message, int i, uint64_t call)
{
    const swaps_message_t *in = &data->in[message];
    const double value = data->to[in->at[i]];
    const double base = value_of(in->peer, 0, call);
    const int from = origin(data, message, i);

    if (0 <= from) {
        return value == base + from;
    }
    return value >= base && value < base + 1e9
           && (0 == i || value > data->to[in->at[i - 1]]);
}

bool swaps_data_right(const swaps_data_t *data, uint64_t call)
{
    for (int m = 0; m < data->messages; ++m) {
        for (int i = 0; i < data->in[m].length; ++i) {
            if (!element_right(data, m, i, call)) {
                return false;
            }
        }
    }
    return true;
}

int swaps_data_call(const swaps_data_t *d, MPI_Comm comm)
{
    switch (d->call) {
    case SWAPS_W:
        return MPI_Alltoallw(d->from, d->out_counts, d->displs, d->out_types, d->to, d->in_counts,
                             d->displs, d->in_types, comm);
    case SWAPS_V:
        return MPI_Alltoallv(d->from, d->out_counts, d->out_displs, MPI_DOUBLE, d->to,
                             d->in_counts, d->in_displs, MPI_DOUBLE, comm);
    default:
        return MPI_Alltoall(d->from, d->out_counts[0], MPI_DOUBLE, d->to, d->in_counts[0],
                            MPI_DOUBLE, comm);
    }
}
