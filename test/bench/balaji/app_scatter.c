/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file The scatter of one vector into another: who sends what, values and their check. */

#include "app_scatter.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[APP_PATTERNS] = {"stride", "shuffle", "next", "halves"};

const char *app_scatter_name(app_pattern_t pattern)
{
    return names[pattern];
}

/* ---- where elements go */

static size_t common_divisor(size_t a, size_t b)
{
    while (0 < b) {
        const size_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Multiplies by about the golden section of all: neighbours are far apart then. */
static void stride(uint32_t *map, size_t total)
{
    size_t factor = (size_t) (0.618 * (double) total) + 1;

    while (1 != common_divisor(factor, total)) {
        ++factor;
    }
    for (size_t g = 0; g < total; ++g) {
        map[g] = (uint32_t) ((g * factor + 1) % total);
    }
}

/* Shuffles the targets of the elements at first, first + step, ... */
static void shuffle(uint32_t *map, size_t first, size_t count, size_t step, uint64_t seed)
{
    for (size_t i = count; 1 < i; --i) {
        const size_t k = app_mix(seed + i) % i;
        const uint32_t last = map[first + (i - 1) * step];

        map[first + (i - 1) * step] = map[first + k * step];
        map[first + k * step] = last;
    }
}

/* The elements of each rank, in steps of 1 or 2, to the rank so many behind it. */
static void shift(uint32_t *map, int size, size_t length, size_t offset, size_t step,
                  size_t ranks, uint64_t seed)
{
    for (size_t r = 0; r < (size_t) size; ++r) {
        const size_t count = (length - offset + step - 1) / step;

        for (size_t i = offset; i < length; i += step) {
            map[r * length + i] = (uint32_t) ((r + ranks) % (size_t) size * length + i);
        }
        shuffle(map, r * length + offset, count, step, app_mix(seed + r));
    }
}

uint32_t *app_scatter_map(app_pattern_t pattern, int size, size_t length, uint64_t seed)
{
    const size_t total = (size_t) size * length;
    uint32_t *map = malloc((total + 1) * sizeof(*map));

    if (NULL == map) {
        return NULL;
    }
    switch (pattern) {
    case APP_STRIDE:
        stride(map, total);
        break;
    case APP_NEXT:
        shift(map, size, length, 0, 1, 1, seed);
        break;
    case APP_HALVES:
        shift(map, size, length, 0, 2, 0, seed);
        shift(map, size, length, 1, 2, (size_t) size / 2, seed + 1);
        break;
    default:
        for (size_t g = 0; g < total; ++g) {
            map[g] = (uint32_t) g;
        }
        shuffle(map, 0, total, 1, app_mix(seed));
        break;
    }
    return map;
}

/* ---- regions: both ends list elements in the order of the first grid */

static app_region_t list(size_t count)
{
    app_region_t region = {count, NULL, 0, {0, 0, 0}, {0, 0}};

    region.index = malloc((count + 1) * sizeof(*region.index));
    return region;
}

/* What rank `from` sends to rank `to`, as places in the arrays of both. */
static size_t between(const uint32_t *map, size_t length, int from, int to, int *sent, int *taken)
{
    const size_t first = (size_t) from * length, low = (size_t) to * length;
    size_t count = 0;

    for (size_t i = 0; i < length; ++i) {
        const size_t place = map[first + i];

        if (place < low || place >= low + length) {
            continue;
        }
        if (NULL != sent) {
            sent[count] = (int) i;
        }
        if (NULL != taken) {
            taken[count] = (int) (place - low);
        }
        ++count;
    }
    return count;
}

static bool add_part(app_scatter_t *scatter, const uint32_t *map, int peer)
{
    const int rank = scatter->exchange.rank;
    const size_t length = scatter->length;
    app_region_t send = list(between(map, length, rank, peer, NULL, NULL));
    app_region_t recv = list(between(map, length, peer, rank, NULL, NULL));

    if (NULL == send.index || NULL == recv.index || 0 == send.count + recv.count) {
        const bool nothing = NULL != send.index && NULL != recv.index;

        free(send.index);
        free(recv.index);
        return nothing;
    }
    between(map, length, rank, peer, send.index, NULL);
    between(map, length, peer, rank, NULL, recv.index);
    app_exchange_add(&scatter->exchange, peer, send, recv);
    return true;
}

static bool lay_down(app_scatter_t *scatter, const uint32_t *map)
{
    const size_t length = scatter->length;
    const int size = scatter->exchange.size;

    for (size_t g = 0; g < (size_t) size * length; ++g) {
        if (map[g] >= scatter->first && map[g] < scatter->first + length) {
            scatter->source[map[g] - scatter->first] = (uint32_t) g;
        }
    }
    for (int peer = 0; peer < size; ++peer) {
        if (!add_part(scatter, map, peer)) {
            return false;
        }
    }
    return app_exchange_end(&scatter->exchange);
}

bool app_scatter_create(app_scatter_t *scatter, MPI_Comm comm, app_pattern_t pattern,
                        size_t length, uint64_t seed)
{
    uint32_t *map;
    int size;
    bool good;

    memset(scatter, 0, sizeof(*scatter));
    MPI_Comm_size(comm, &size);
    map = app_scatter_map(pattern, size, length, seed);
    scatter->length = length;
    scatter->source = malloc((length + 1) * sizeof(*scatter->source));
    scatter->x = malloc((length + 1) * sizeof(*scatter->x));
    scatter->y = malloc((length + 1) * sizeof(*scatter->y));
    good = app_exchange_begin(&scatter->exchange, comm, size) && NULL != map
           && NULL != scatter->source && NULL != scatter->x && NULL != scatter->y;
    scatter->first = (size_t) scatter->exchange.rank * length;
    good = good && lay_down(scatter, map);
    free(map);
    return good;
}

void app_scatter_free(app_scatter_t *scatter)
{
    app_exchange_free(&scatter->exchange);
    free(scatter->source);
    free(scatter->x);
    free(scatter->y);
}

/* ---- values */

double app_scatter_value(uint64_t call, uint64_t turn, size_t length, size_t place)
{
    const double value = app_draw(app_mix(call) + place);

    return 0 == place % length ? value + (double) turn : value;
}

void app_scatter_fill(app_scatter_t *scatter, uint64_t call)
{
    scatter->call = call;
    scatter->turn = 0;
    for (size_t i = 0; i < scatter->length; ++i) {
        scatter->x[i] = app_scatter_value(call, 0, scatter->length, scatter->first + i);
        scatter->y[i] = -1e300;
    }
}

int app_scatter_run(app_scatter_t *scatter, app_way_t way, MPI_Comm comm)
{
    scatter->x[0]
        = app_scatter_value(scatter->call, ++scatter->turn, scatter->length, scatter->first);
    return app_exchange_run(&scatter->exchange, way, comm, scatter->x, scatter->y);
}

bool app_scatter_verify(const app_scatter_t *scatter)
{
    for (size_t i = 0; i < scatter->length; ++i) {
        if (scatter->y[i]
            != app_scatter_value(scatter->call, scatter->turn, scatter->length,
                                 scatter->source[i])) {
            return false;
        }
    }
    return true;
}
