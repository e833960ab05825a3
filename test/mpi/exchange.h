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
 * An exchange: one call of MPI_Allgatherv, MPI_Allgather or their nonblocking
 * and persistent forms, with its buffers and with what they must hold
 * afterwards. Byte k of the contribution of rank r is a function of (key, r,
 * k), so the right result is known without any communication. Every byte of
 * the receive memory is judged: data, gaps and guards before and after.
 */

#ifndef TEST_MPI_EXCHANGE_H
#define TEST_MPI_EXCHANGE_H

#include "dice.h"
#include "layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    dice_t *dice;        /**< places blocks in random order with gaps; NULL: in rank order, dense */
    bool bare;           /**< in place: null type and no count where nothing may be read */
} exchange_spec_t;

typedef struct exchange_image_t {
    unsigned char *memory; /**< live */
    unsigned char *before; /**< what it is set to before the call */
    unsigned char *after;  /**< what it must be after the call */
    size_t length;
    ptrdiff_t origin; /**< the address that MPI is given, from memory */
} exchange_image_t;

typedef struct exchange_t {
    MPI_Comm comm;
    int rank;
    int size;
    uint64_t key;
    bool same;
    bool in_place;
    bool bare;
    int send_count;
    int *count;
    int *displ;
    layout_t *send;
    layout_t *recv;
    exchange_image_t source;
    exchange_image_t target;
    MPI_Request request;
    char fault[400]; /**< why exchange_right said no */
} exchange_t;

/** NULL where blocks would overlap in the receive memory (not legal in MPI). */
exchange_t *exchange_new(const exchange_spec_t *spec);
void exchange_free(exchange_t *exchange);

/** Sets the memory to what it is before the call. */
void exchange_reset(exchange_t *exchange);

/** The blocking call; the start of the nonblocking one (into exchange->request). */
int exchange_run(exchange_t *exchange);
int exchange_start(exchange_t *exchange);

/** Makes a persistent request (into exchange->request). */
int exchange_init(exchange_t *exchange);

/** Judges the memory after the call; the reason is in exchange->fault. */
bool exchange_right(exchange_t *exchange);

/** Whether any rank contributes a byte. */
bool exchange_has_data(const exchange_t *exchange);

/** Byte k .. of the contribution of a rank. */
void exchange_pattern(uint64_t key, int rank, size_t k, unsigned char *to, size_t length);

#endif
