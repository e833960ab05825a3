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
 * Buffers and what is in them. The data byte at an offset of a rank's
 * contribution depends on rank, offset and call, so that a byte of another
 * rank, another place or an earlier call is seen to be wrong. What lies
 * between the data bytes, and behind the receive buffer, must stay as it was.
 */

#include "agv.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 4096 /* bytes of pattern made at a time, a multiple of 8 */
#define GUARD 64
#define UNTOUCHED 0x5a

static void create_layout(agv_layout_t *layout, agv_type_t element, size_t unit)
{
    static const int places[4] = {0, 2, 3, 6};
    int lengths[4] = {1, 1, 1, 1};
    MPI_Datatype packed;

    memset(layout, 0, sizeof(*layout));
    layout->unit = unit;
    if (AGV_TYPE_LIST != element) {
        layout->dense = true;
        layout->extent = unit;
        layout->type = (4 == unit && AGV_TYPE_AUTO == element) ? MPI_INT : MPI_BYTE;
        return;
    }
    layout->extent = 2 * unit;
    for (size_t i = 0; i < unit; ++i) {
        layout->gaps[i] = (size_t) places[i];
    }
    MPI_Type_indexed((int) unit, lengths, places, MPI_BYTE, &packed);
    MPI_Type_create_resized(packed, 0, (MPI_Aint) layout->extent, &layout->type);
    MPI_Type_commit(&layout->type);
    MPI_Type_free(&packed);
    layout->owned = true;
}

static size_t extent_of(const agv_layout_t *layout, size_t bytes)
{
    return bytes / layout->unit * layout->extent;
}

static void make_pattern(unsigned char *out, int rank, uint64_t call, size_t offset, size_t bytes)
{
    uint64_t seed = ((uint64_t) rank + 1) * 0xd6e8feb86659fd93u + call * 0xa0761d6478bd642fu;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t x = seed + (offset + i) * 0x9e3779b97f4a7c15u;

        x = (x ^ (x >> 31)) * 0xd6e8feb86659fd93u;
        x ^= x >> 32;
        memcpy(out + i, &x, 8);
    }
}

void agv_problem_free(agv_problem_t *problem)
{
    free(problem->bytes);
    free(problem->counts);
    free(problem->displs);
    memset(problem, 0, sizeof(*problem));
}

bool agv_problem_create(agv_problem_t *problem, const char *dist, size_t total,
                        agv_type_t element, const bench_world_t *world)
{
    const size_t ranks = (size_t) world->size;
    int displ = 0;

    *problem = (agv_problem_t){.dist = dist,
                               .total = total,
                               .unit = AGV_TYPE_BYTE == element
                                           ? 1 : agv_dist_unit(total, world->size),
                               .bytes = calloc(ranks, sizeof(*problem->bytes)),
                               .counts = calloc(ranks, sizeof(*problem->counts)),
                               .displs = calloc(ranks, sizeof(*problem->displs))};
    if (NULL == problem->bytes || NULL == problem->counts || NULL == problem->displs
        || !agv_dist_fill(dist, world->size, world->node, total / problem->unit, problem->unit,
                          problem->bytes)) {
        agv_problem_free(problem);
        return false;
    }
    for (int i = 0; i < world->size; ++i) {
        problem->counts[i] = (int) (problem->bytes[i] / problem->unit);
        problem->displs[i] = displ;
        displ += problem->counts[i];
    }
    return true;
}

bool agv_data_create(agv_data_t *data, const agv_problem_t *problem, agv_type_t element, int rank)
{
    create_layout(&data->layout, element, problem->unit);
    data->send_size = extent_of(&data->layout, problem->bytes[rank]);
    data->recv_size = extent_of(&data->layout, problem->total);
    data->send = malloc(data->send_size + GUARD);
    data->recv = malloc(data->recv_size + GUARD);
    if (NULL == data->send || NULL == data->recv) {
        return false;
    }
    memset(data->send, UNTOUCHED, data->send_size + GUARD);
    memset(data->recv, UNTOUCHED, data->recv_size + GUARD);
    return true;
}

void agv_data_free(agv_data_t *data)
{
    if (data->layout.owned) {
        MPI_Type_free(&data->layout.type);
    }
    free(data->send);
    free(data->recv);
}

/* Data byte `offset` of a contribution that begins at `base`. */
static size_t place(const agv_layout_t *layout, size_t offset)
{
    return offset / layout->unit * layout->extent + layout->gaps[offset % layout->unit];
}

void agv_data_fill(agv_data_t *data, const agv_problem_t *problem, int rank, uint64_t call)
{
    unsigned char chunk[CHUNK];
    size_t bytes = problem->bytes[rank];

    for (size_t offset = 0; offset < bytes; offset += CHUNK) {
        size_t length = bytes - offset < CHUNK ? bytes - offset : CHUNK;

        make_pattern(chunk, rank, call, offset, length);
        if (data->layout.dense) {
            memcpy(data->send + offset, chunk, length);
            continue;
        }
        for (size_t i = 0; i < length; ++i) {
            data->send[place(&data->layout, offset + i)] = chunk[i];
        }
    }
}

/* Gathers the data bytes of a piece; what lies between them must be untouched. */
static bool gather(const agv_layout_t *layout, const unsigned char *base, size_t offset,
                   size_t length, unsigned char *out)
{
    for (size_t i = 0; i < length; i += layout->unit) {
        const unsigned char *element = base + place(layout, offset + i);
        size_t data = 0;

        for (size_t k = 0; k < layout->extent; ++k) {
            if (data < layout->unit && k == layout->gaps[data]) {
                out[i + data++] = element[k];
            } else if (UNTOUCHED != element[k]) {
                return false;
            }
        }
    }
    return true;
}

/* The first wrong data byte of a contribution, or its length. */
static size_t first_wrong(const agv_layout_t *layout, const unsigned char *base, int rank,
                          uint64_t call, size_t bytes)
{
    unsigned char wanted[CHUNK], found[CHUNK];

    for (size_t offset = 0; offset < bytes; offset += CHUNK) {
        size_t length = bytes - offset < CHUNK ? bytes - offset : CHUNK;
        const unsigned char *got = base + offset;

        make_pattern(wanted, rank, call, offset, length);
        if (!layout->dense) {
            got = found;
            if (!gather(layout, base, offset, length, found)) {
                return offset;
            }
        }
        if (0 != memcmp(wanted, got, length)) {
            size_t i = 0;
            while (wanted[i] == got[i]) {
                ++i;
            }
            return offset + i;
        }
    }
    return bytes;
}

bool agv_data_verify(const agv_data_t *data, const agv_problem_t *problem, int ranks,
                     uint64_t call, char *error)
{
    for (int i = 0; i < ranks; ++i) {
        const unsigned char *base = data->recv
                                    + (size_t) problem->displs[i] * data->layout.extent;
        size_t wrong = first_wrong(&data->layout, base, i, call, problem->bytes[i]);

        if (wrong < problem->bytes[i]) {
            snprintf(error, BENCH_ERROR_LENGTH, "byte %zu of the %zu bytes of rank %d is wrong",
                     wrong, problem->bytes[i], i);
            return false;
        }
    }
    for (size_t i = 0; i < GUARD; ++i) {
        if (UNTOUCHED != data->recv[data->recv_size + i]) {
            snprintf(error, BENCH_ERROR_LENGTH,
                     "byte %zu behind the receive buffer was overwritten", i);
            return false;
        }
    }
    return true;
}
