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
 * The data of a call on one rank (ranks.h): datatypes, buffers, and what each byte of a buffer
 * must be in the end.
 */

#ifndef PIPERING_TEST_RANKS_DATA_H
#define PIPERING_TEST_RANKS_DATA_H

#include "ranks.h"

/** A buffer, its copy with what it must be in the end, and where its first element stands. */
typedef struct ranks_buffer_t {
    char *memory, *wanted, *begin;
    size_t size;
} ranks_buffer_t;

typedef struct ranks_data_t {
    uint64_t key; /**< all values of a call come from it */
    ompi_datatype_t send_type, recv_type;
    mca_coll_pipering_layout_t send, recv;
    int counts[POSING_RANKS], displs[POSING_RANKS];
    ptrdiff_t wide[2][POSING_RANKS]; /* the same, as of calls with large counts */
    bool in_place;
    ranks_buffer_t send_buffer, recv_buffer;
} ranks_data_t;

/** An element of a reduction: x -> factor * x + term. One map after the other is one again. */
typedef struct ranks_map_t {
    uint32_t factor, term;
} ranks_map_t;

/** Combines maps. */
extern ompi_op_t ranks_op;

static inline bool ranks_reduces(const ranks_problem_t *problem)
{
    return RANKS_REDUCE <= problem->operation;
}

static inline bool ranks_is_scan(const ranks_problem_t *problem)
{
    return RANKS_SCAN == problem->operation || RANKS_EXSCAN == problem->operation;
}

/**
 * Rolls types and fills buffers of rank `me`; calls of one key go together. `element` is the type
 * of a reduction; borrowed, as counts and layouts are of *data, which must stay where it is.
 */
void ranks_data_open(ranks_data_t *data, const ranks_problem_t *problem,
                     ompi_datatype_t *element, int me, uint64_t key);

/** Frees the buffers; whether they held what they must. */
bool ranks_data_close(ranks_data_t *data);

#endif
