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
 * An exchange: a call (call.h) of MPI_Allgatherv or MPI_Allgather. Byte k of the
 * contribution of rank r is a function of (key, r, k), so the right result is known
 * without any communication. Every byte of the receive memory is judged: data, gaps and
 * guards before and after.
 */

#ifndef TEST_MPI_EXCHANGE_H
#define TEST_MPI_EXCHANGE_H

#include "call.h"
#include "layout.h"

/** What the caller says; pointers are borrowed until exchange_new returns. */
typedef struct exchange_spec_t {
    MPI_Comm comm;
    uint64_t key;        /**< equal on all ranks */
    bool same;           /**< MPI_Allgather: equal contributions */
    bool in_place;
    const int *count;    /**< [size] elements of recv by rank */
    const int *displ;    /**< [size] in extents of recv, or NULL: placed without overlap */
    int send_count;      /**< elements of send, of the same signature as count[me] of recv */
    layout_t *send;      /**< may be recv itself */
    layout_t *recv;
    bool owned;          /**< layouts are freed with the call */
    dice_t *dice;        /**< places blocks in random order with gaps; NULL: in rank order, dense */
    bool absolute;       /**< buffers are MPI_BOTTOM */
    bool bare;           /**< null types, counts and buffers where nothing may be read or written */
} exchange_spec_t;

/**
 * NULL where blocks would overlap in the receive memory (not legal in MPI), or elements in the
 * send memory; layouts are the caller's then.
 */
call_t *exchange_new(const exchange_spec_t *spec);

/** One of counts that a function of the rank says, of a layout that is freed with it. */
call_t *exchange_simple(MPI_Comm comm, uint64_t key, bool same, layout_t *layout,
                        int (*count_of)(int rank));

#endif
