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
 * A reduction inside a node by pulls (coll_pipering_pulls_call.h).
 *
 *     vectors            range 0   range 1   range 2
 *     of rank 0        |    a    |    b    |    c    |    rank 1 reads b, e and h block by block,
 *     of rank 1        |    d    |    e    |    f    |    and combines them; then ranks read the
 *     of rank 2        |    g    |    h    |    i    |    results that they want from each other
 *
 * Each rank combines a range of all vectors: its part of the result of a reduce-scatter, unless
 * parts are uneven; else ranges are even. A block of the others' values is read into a cache and
 * combined there. Vectors are combined in the order of ranks, or, where the operation commutes,
 * from that of the next rank on, so that no two ranks read the same vector: results depend on the
 * arguments and on the numbers of ranks alone.
 *
 * Cost per rank with m bytes: m (p - 1) / p bytes are read and combined; results are copied once to
 * each rank that wants them. Limits: elements without gaps; those of coll_pipering_pulls_gather.c.
 */

#include "coll_pipering_pulls.h"

#include "coll_pipering_pulls_call.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_engine_steps.h"

#include <stdlib.h>
#include <string.h>

typedef mca_coll_pipering_notice_t notice_t;
typedef mca_coll_pipering_pulls_call_t call_t;

/* Elements of the vector. */
typedef struct {
    size_t begin, end;
} range_t;

typedef struct {
    call_t super;
    size_t count, size; /* elements of the vector, bytes of each */
    bool by_parts;      /* ranges are parts of the result */
    range_t range;      /* that this rank combines ... */
    size_t combined;    /* ... and elements of it that it has combined ... */
    mca_coll_pipering_pulls_sum_t sum; /* ... but for ... */
    char *block;        /* ... the block that is next */
    char *result;       /* of the range: in the receive buffer, if all of it is wanted */
    bool told;          /* others know that it is there */
    size_t *taken;      /* [p] bytes of results from each rank, in the same memory */
} reduction_t;

/* The elements whose results a rank wants. */
static range_t wanted_by(const reduction_t *reduction, int rank)
{
    const mca_coll_pipering_rounds_args_t *args = &reduction->super.args;

    return args->spreads ? (range_t){0, reduction->count}
                         : (range_t){args->starts[rank], args->starts[rank] + args->bytes[rank]};
}

static range_t range_of(const reduction_t *reduction, int rank)
{
    const mca_coll_pipering_rounds_args_t *args = &reduction->super.args;
    const size_t p = (size_t) reduction->super.p, r = (size_t) rank;

    return reduction->by_parts
               ? (range_t){args->starts[rank], args->starts[rank] + args->bytes[rank]}
               : (range_t){mca_coll_pipering_cut(reduction->count, p, r),
                           mca_coll_pipering_cut(reduction->count, p, r + 1)};
}

/* Whether no part is much larger than the mean. */
static bool are_even(const size_t *parts, int p, size_t count)
{
    int r = 0;

    while (r < p && parts[r] <= count / (size_t) p + count / (size_t) p / 4 + 1) {
        ++r;
    }
    return p == r;
}

/* Where the results of an element go that this rank wants. */
static char *place_of(const reduction_t *reduction, size_t element)
{
    return (char *) reduction->super.args.recv->buffer
           + (element - wanted_by(reduction, reduction->super.me).begin) * reduction->size;
}

/* Combines the range of this rank; true: all of it. */
static bool combine_range(reduction_t *reduction, size_t *budget, int *rc)
{
    const size_t size = reduction->size, length = reduction->range.end - reduction->range.begin;
    const size_t block = mca_coll_pipering_pulls_block(&reduction->sum);

    while (reduction->combined < length) {
        const size_t count = mca_coll_pipering_at_most(block, length - reduction->combined);
        if (!mca_coll_pipering_pulls_combine(&reduction->super, &reduction->sum, reduction->block,
                                             reduction->range.begin + reduction->combined, count, 0,
                                             budget, rc)) {
            return false;
        }
        (void) memcpy(reduction->result + reduction->combined * size, reduction->block,
                      count * size);
        reduction->combined += count;
    }
    return true;
}

/* ---- results ---- */

/* The elements that this rank wants of a rank's range. */
static range_t piece_of(const reduction_t *reduction, int rank)
{
    const range_t wanted = wanted_by(reduction, reduction->super.me);
    const range_t range = range_of(reduction, rank);
    const size_t begin = wanted.begin > range.begin ? wanted.begin : range.begin;
    const size_t end = mca_coll_pipering_at_most(wanted.end, range.end);

    return (range_t){begin, begin < end ? end : begin};
}

/* Reads results from a rank; true: all that this rank wants. */
static bool take_from(reduction_t *reduction, int rank, size_t *budget, int *rc)
{
    call_t *call = &reduction->super;
    const range_t piece = piece_of(reduction, rank);
    size_t *taken = &reduction->taken[rank];
    const size_t left = (piece.end - piece.begin) * reduction->size - *taken;

    if (0 == left) {
        return true;
    }
    if (!mca_coll_pipering_pulls_find(call, rank, rc) || 0 == *budget) {
        return false;
    }
    notice_t *notice = call->peer[rank].notice;
    if (0 == __atomic_load_n(&notice->parts, __ATOMIC_ACQUIRE)) {
        return false;
    }
    const size_t bytes = mca_coll_pipering_at_most(left, *budget);
    const size_t at = (piece.begin - range_of(reduction, rank).begin) * reduction->size + *taken;
    *rc = mca_coll_pipering_pulls_copy(call, rank, place_of(reduction, piece.begin) + *taken,
                                       notice->split[0] + at, bytes, false);
    *taken += bytes;
    *budget -= bytes;
    return bytes == left && OMPI_SUCCESS == *rc;
}

/* Copies the results that this rank has combined itself, if they are not in their place. */
static void take_own(const reduction_t *reduction)
{
    const range_t piece = piece_of(reduction, reduction->super.me);

    if (piece.begin < piece.end) {
        const char *from = reduction->result
                           + (piece.begin - reduction->range.begin) * reduction->size;
        char *to = place_of(reduction, piece.begin);
        if (from != to) {
            (void) memcpy(to, from, (piece.end - piece.begin) * reduction->size);
        }
    }
}

static bool advance(call_t *call, int *rc)
{
    reduction_t *reduction = (reduction_t *) call;
    size_t budget = MCA_COLL_PIPERING_PULLS_BUDGET;
    bool here = true;

    if (!reduction->told) {
        if (!combine_range(reduction, &budget, rc)) {
            return false;
        }
        take_own(reduction);
        __atomic_store_n(&call->mine->parts, 1, __ATOMIC_RELEASE);
        reduction->told = true;
    }
    for (int i = 1; OMPI_SUCCESS == *rc && i < call->p; ++i) {
        here &= take_from(reduction, (call->me + i) % call->p, &budget, rc);
    }
    return here && OMPI_SUCCESS == *rc;
}

/* ---- making ---- */

static void fill(const call_t *call, notice_t *mine)
{
    mine->split[0] = (uint64_t) (uintptr_t) ((const reduction_t *) call)->result;
}

/*
 * Memory for blocks, for results that do not go to the receive buffer, and for a vector whose place
 * the results of a reduce-scatter take.
 */
static int take_memory(reduction_t *reduction)
{
    call_t *call = &reduction->super;
    const range_t piece = piece_of(reduction, call->me), range = reduction->range;
    const size_t block = mca_coll_pipering_pulls_block(&reduction->sum) * reduction->size;
    const bool all_wanted = piece.end - piece.begin == range.end - range.begin;
    const bool moves = call->args.in_place && 0 < wanted_by(reduction, call->me).begin;
    const size_t kept = all_wanted ? 0 : (range.end - range.begin) * reduction->size;
    char *memory = malloc(2 * block + kept + (moves ? call->vector : 0));

    call->super.memory = memory;
    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    reduction->block = memory;
    reduction->sum.values = memory + block;
    reduction->result = all_wanted && 0 < range.end - range.begin
                            ? place_of(reduction, range.begin)
                            : memory + 2 * block;
    if (moves) {
        (void) memcpy(memory + 2 * block + kept, call->own, call->vector);
        call->own = memory + 2 * block + kept;
    }
    return OMPI_SUCCESS;
}

int mca_coll_pipering_pulls_reduce_new(const mca_coll_pipering_rounds_args_t *args,
                                       const mca_coll_pipering_call_name_t *name,
                                       bool in_order, mca_coll_pipering_scheduled_t **made)
{
    const size_t p = (size_t) ompi_comm_size(args->caller->comm);
    const mca_common_colltools_needs_t most = {.steps = 1};
    void *behind;
    reduction_t *reduction = mca_coll_pipering_pulls_call_new(args, name, NULL, 0,
                                                              sizeof(*reduction), most,
                                                              p * sizeof(size_t), &behind);

    if (NULL == reduction) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    call_t *call = &reduction->super;
    *made = &call->super;
    reduction->taken = memset(behind, 0, p * sizeof(size_t));
    for (size_t r = 0; r < p; ++r) {
        reduction->count += args->bytes[r];
    }
    reduction->size = args->unit.size;
    reduction->by_parts = are_even(args->bytes, call->p, reduction->count);
    reduction->sum = (mca_coll_pipering_pulls_sum_t){.size = reduction->size, .in_order = in_order};
    reduction->range = range_of(reduction, call->me);
    call->vector = reduction->count * reduction->size;
    call->own = args->send->buffer;
    call->advance = advance;
    call->fill = fill;
    call->error = take_memory(reduction);
    return OMPI_SUCCESS;
}
