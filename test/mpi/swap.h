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
 * Swaps: calls of MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw with random
 * sizes and types, and what must come of them. Reference is what ranks send each other
 * as plain bytes, packed and unpacked by lists of bytes (layout.h); which message is
 * which is told by tags, for neighbours by those of the MPI standard.
 */

#ifndef TEST_MPI_SWAP_H
#define TEST_MPI_SWAP_H

#include "dice.h"
#include "layout.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum { SWAP_V, SWAP_W, SWAP_NEIGHBORS } swap_call_t;
typedef enum { SWAP_BLOCKING, SWAP_NONBLOCKING, SWAP_PERSISTENT, SWAP_FORMS } swap_form_t;

/** Messages of a rank in one direction. */
typedef struct swap_side_t {
    int messages;
    int *peer; /**< MPI_PROC_NULL: nobody */
    int *tag;  /**< of the message between the two */
    int *count;
    layout_t **layout; /**< NULL: a type without bytes */
    int *displ;
    MPI_Aint *byte_displ;
    MPI_Datatype *type;
    unsigned char *arena;
    size_t bytes;
    ptrdiff_t base; /**< from the arena to the buffer that MPI is given */
} swap_side_t;

typedef struct swap_t {
    MPI_Comm comm;  /**< of the call */
    MPI_Comm quiet; /**< for the reference */
    swap_call_t call;
    bool in_place;
    swap_side_t send, recv;
    MPI_Datatype empty; /**< a type without bytes */
    unsigned char *before, *after; /**< what recv.arena was, and what it must become */
    MPI_Request request;
} swap_t;

/** What a swap is about. */
typedef struct swap_spec_t {
    MPI_Comm comm, quiet;
    swap_call_t call;
    bool in_place;  /**< not with neighbours */
    int zeros;      /**< hundredths of messages that are zero */
    size_t most;    /**< bytes of a message at most, about */
    bool plain;     /**< no types but arrays of simple ones */
    bool without_0; /**< no bytes from or to rank 0 */
} swap_spec_t;

/**
 * A swap; `key` is equal on all ranks, `own` is this rank's. Collective over quiet,
 * as all that follows is over comm.
 */
swap_t *swap_new(const swap_spec_t *spec, uint64_t key, dice_t *own);

/** Starts the call; a blocking one is over then. A request must be waited for, and one that is
 *  persistent is to be freed. MPI's error. */
int swap_start(swap_t *swap, swap_form_t form);

/** Whether the result is right; then all is as before. */
bool swap_right(swap_t *swap);

/** Messages, and their bytes, that a rank sends to others; those that it has not. */
typedef struct swap_volume_t {
    int messages, zeros;
    size_t bytes;
} swap_volume_t;

swap_volume_t swap_volume(const swap_t *swap);

void swap_free(swap_t *swap);

/** A communicator with a random topology of the ranks of `comm`, and its name. */
MPI_Comm swap_topology(MPI_Comm comm, uint64_t key, const char **name);

/** Whether this key's is one of MPI_Graph_create. */
bool swap_topology_is_graph(uint64_t key);

#endif
