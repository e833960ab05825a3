/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "ranks_data.h"

#include <string.h>

#include "tap.h"

/* ---- values ---- */

static uint64_t mix(uint64_t key, int rank, size_t k)
{
    uint64_t x = key + (uint64_t) rank * UINT64_C(0x9e3779b97f4a7c15)
                 + k * UINT64_C(0xd1b54a32d192ed03);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 29);
}

/* Those with a factor of 1 commute. */
static ranks_map_t map_of(const ranks_problem_t *problem, uint64_t key, int rank, size_t k)
{
    const uint64_t x = mix(key, rank, k);
    return (ranks_map_t){problem->commutes ? 1 : (uint32_t) x | 1, (uint32_t) (x >> 32)};
}

static ranks_map_t compose(ranks_map_t left, ranks_map_t right)
{
    return (ranks_map_t){left.factor * right.factor, left.term + left.factor * right.term};
}

static void combine_maps(const char *from, char *to)
{
    ranks_map_t left, right;

    memcpy(&left, from, sizeof(left));
    memcpy(&right, to, sizeof(right));
    right = compose(left, right);
    memcpy(to, &right, sizeof(right));
}

ompi_op_t ranks_op = {.function = combine_maps};

/* ---- buffers ---- */

static ompi_datatype_t roll_type(ptrdiff_t size)
{
    const ptrdiff_t piece = tap_between(1, (int) size);
    ompi_datatype_t type = {.size = size, .shift = tap_between(0, 5)};

    if (tap_once_in(2)) {
        type.hole = tap_between(1, 3);
        type.piece = 0 == size % piece ? piece : 0;
    }
    return type;
}

static void open_buffer(ranks_buffer_t *buffer, const ompi_datatype_t *type, size_t elements)
{
    const size_t lead = tap_below(40);

    buffer->size = lead + elements * (size_t) posing_extent(type) + (size_t) type->shift;
    buffer->memory = tap_memory(buffer->size);
    tap_garbage(buffer->memory, buffer->size);
    buffer->wanted = tap_memory(buffer->size);
    memcpy(buffer->wanted, buffer->memory, buffer->size);
    buffer->begin = buffer->memory + lead;
}

static bool close_buffer(ranks_buffer_t *buffer)
{
    const bool right = NULL == buffer->memory
                       || 0 == memcmp(buffer->memory, buffer->wanted, buffer->size);

    free(buffer->memory);
    free(buffer->wanted);
    return right;
}

/* Byte k of the signature of the elements from there on: where it is, or is wanted. */
static char *byte_at(const ranks_buffer_t *buffer, bool wanted, const ompi_datatype_t *type,
                     ptrdiff_t element, size_t k)
{
    return buffer->begin + element * posing_extent(type) + posing_offset(type, k)
           + (wanted ? buffer->wanted - buffer->memory : 0);
}

/* A contribution is there, in which case it is to stay, or is wanted. */
static void put_bytes(const ranks_data_t *data, const ranks_buffer_t *buffer,
                      const ompi_datatype_t *type, ptrdiff_t element, int rank, size_t bytes, bool there)
{
    for (size_t k = 0; k < bytes; k++) {
        const char value = (char) (mix(data->key, rank, k) >> 40);

        *byte_at(buffer, true, type, element, k) = value;
        if (there) {
            *byte_at(buffer, false, type, element, k) = value;
        }
    }
}

static void put_map(const ranks_buffer_t *buffer, const ompi_datatype_t *type, size_t k,
                    ranks_map_t map, bool wanted)
{
    char value[sizeof(map)];

    memcpy(value, &map, sizeof(map));
    for (size_t i = 0; i < sizeof(map); i++) {
        *byte_at(buffer, wanted, type, (ptrdiff_t) k, i) = value[i];
    }
}

/* ---- layouts of byte pipelines ---- */

static const int type_sizes[] = {1, 2, 3, 4, 6, 12};

static void open_gather(const ranks_problem_t *problem, ranks_data_t *data, int me)
{
    ompi_datatype_t *type = &data->recv_type;
    int next = 0;

    for (int r = 0; r < problem->p; r++) {
        data->counts[r] = (int) problem->bytes[r] / (int) type->size;
        data->displs[r] = next + tap_between(0, 2);
        next = data->displs[r] + data->counts[r];
        data->wide[0][r] = data->counts[r];
        data->wide[1][r] = data->displs[r];
    }
    open_buffer(&data->recv_buffer, type, (size_t) next + 1);
    data->in_place = tap_once_in(3);
    data->recv = (mca_coll_pipering_layout_t){.buffer = data->recv_buffer.begin,
                                               .type = type,
                                               .counts = {.at = data->counts},
                                               .displs = {.at = data->displs}};
    if (tap_once_in(2)) {
        data->recv.counts = (mca_common_colltools_array_t){data->wide[0], true};
        data->recv.displs = (mca_common_colltools_array_t){data->wide[1], true};
    }
    for (int r = 0; r < problem->p; r++) {
        put_bytes(data, &data->recv_buffer, type, data->displs[r], r, problem->bytes[r],
                  data->in_place && r == me);
    }
    if (!data->in_place) {
        const size_t count = problem->bytes[me] / (size_t) data->send_type.size;
        open_buffer(&data->send_buffer, &data->send_type, count);
        put_bytes(data, &data->send_buffer, &data->send_type, 0, me, problem->bytes[me], true);
        data->send = (mca_coll_pipering_layout_t){.buffer = data->send_buffer.begin,
                                                   .type = &data->send_type,
                                                   .single = true,
                                                   .count = count};
        mca_coll_pipering_layout_init(&data->send, problem->p);
    }
    mca_coll_pipering_layout_init(&data->recv, problem->p);
}

static void open_bcast(const ranks_problem_t *problem, ranks_data_t *data, int me)
{
    ompi_datatype_t *type = &data->recv_type;
    const size_t count = problem->bytes[0] / (size_t) type->size;

    data->in_place = true;
    open_buffer(&data->recv_buffer, type, count);
    put_bytes(data, &data->recv_buffer, type, 0, 0, problem->bytes[0], problem->root == me);
    data->recv = (mca_coll_pipering_layout_t){.buffer = data->recv_buffer.begin,
                                               .type = type,
                                               .single = true,
                                               .count = count};
    mca_coll_pipering_layout_init(&data->recv, 1);
}

/* ---- layouts of reductions ---- */

static size_t length_of(const ranks_problem_t *problem)
{
    size_t length = 0;

    for (int i = 0; i < problem->ring.size; i++) {
        length += problem->bytes[i];
    }
    return length;
}

/* The combination of ranks [from, to), of which there is one at least. */
static ranks_map_t reference(const ranks_problem_t *problem, uint64_t key, int from, int to,
                             size_t k)
{
    ranks_map_t map = map_of(problem, key, from, k);

    for (int r = from + 1; r < to; r++) {
        map = compose(map, map_of(problem, key, r, k));
    }
    return map;
}

/* How many ranks' values a rank gets, 0: its buffer stays as it is. */
static int ranks_wanted(const ranks_problem_t *problem, int me)
{
    switch (problem->operation) {
    case RANKS_REDUCE:
        return me == problem->root ? problem->p : 0;
    case RANKS_SCAN:
        return me + 1;
    case RANKS_EXSCAN:
        return me;
    default:
        return problem->p;
    }
}

static mca_coll_pipering_layout_t elements(const ranks_problem_t *problem, char *begin,
                                           ompi_datatype_t *type)
{
    return (mca_coll_pipering_layout_t){.buffer = begin,
                                        .type = type,
                                        .extent = posing_extent(type),
                                        .single = !problem->scattered,
                                        .starts = problem->scattered ? problem->starts : NULL,
                                        .dense = true};
}

static void open_reduction(const ranks_problem_t *problem, ranks_data_t *data, int me,
                           ompi_datatype_t *type)
{
    const size_t length = length_of(problem);
    const int ranks = ranks_wanted(problem, me);
    const bool part = RANKS_REDUCE_SCATTER == problem->operation;
    const size_t first = part ? problem->starts[me] : 0;

    data->in_place = !part && 0 < ranks && tap_once_in(3);
    open_buffer(&data->recv_buffer, type, part ? problem->bytes[me] : length);
    open_buffer(&data->send_buffer, type, length);
    for (size_t k = 0; k < length; k++) {
        const ranks_map_t own = map_of(problem, data->key, me, k);

        put_map(&data->send_buffer, type, k, own, false);
        put_map(&data->send_buffer, type, k, own, true);
        if (data->in_place) {
            put_map(&data->recv_buffer, type, k, own, false);
            put_map(&data->recv_buffer, type, k, own, true);
        }
        if (0 < ranks && (!part || (first <= k && k < first + problem->bytes[me]))) {
            put_map(&data->recv_buffer, type, k - first,
                    reference(problem, data->key, 0, ranks, k), true);
        }
    }
    data->recv = elements(problem, data->recv_buffer.begin, type);
    data->recv.single = data->recv.single || part;
    data->send = data->in_place ? data->recv
                                  : elements(problem, data->send_buffer.begin, type);
}

void ranks_data_open(ranks_data_t *data, const ranks_problem_t *problem,
                     ompi_datatype_t *element, int me, uint64_t key)
{
    memset(data, 0, sizeof(*data));
    data->key = key;
    data->recv_type = roll_type(type_sizes[tap_below(6)]);
    data->send_type = roll_type(type_sizes[tap_below(6)]);
    if (RANKS_GATHER == problem->operation) {
        open_gather(problem, data, me);
    } else if (RANKS_BCAST == problem->operation) {
        open_bcast(problem, data, me);
    } else {
        open_reduction(problem, data, me, element);
    }
}

bool ranks_data_close(ranks_data_t *data)
{
    return close_buffer(&data->recv_buffer) & close_buffer(&data->send_buffer);
}
