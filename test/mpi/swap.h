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
 * Swaps: calls (call.h) of MPI_Alltoall, MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw
 * with random sizes and types, and what must come of them. Reference is what ranks send each other
 * as plain bytes, packed and unpacked by lists of bytes (layout.h); which message is
 * which is told by tags, for neighbours by those of the MPI standard.
 */

#ifndef TEST_MPI_SWAP_H
#define TEST_MPI_SWAP_H

#include "call.h"
#include "dice.h"

typedef enum { SWAP_EQUAL, SWAP_V, SWAP_W, SWAP_NEIGHBORS, SWAP_KINDS } swap_kind_t;

/** What a swap is about. */
typedef struct swap_spec_t {
    MPI_Comm comm;
    MPI_Comm quiet; /**< for the reference */
    swap_kind_t kind;
    bool in_place;  /**< not with neighbours */
    int zeros;      /**< hundredths of messages that are zero */
    size_t most;    /**< bytes of a message at most, about */
    bool plain;     /**< no types but arrays of simple ones */
    bool without_0; /**< no bytes from or to rank 0 */
} swap_spec_t;

/** `key` is equal on all ranks, `own` is this rank's. Collective over quiet. */
call_t *swap_new(const swap_spec_t *spec, uint64_t key, dice_t *own);

/** Messages, and their bytes, that a rank sends to others; those that it has not. */
typedef struct swap_volume_t {
    int messages, zeros;
    size_t bytes;
} swap_volume_t;

swap_volume_t swap_volume(const call_t *swap);

/** A communicator with a random topology of the ranks of `comm`, and its name. */
MPI_Comm swap_topology(MPI_Comm comm, uint64_t key, const char **name);

/** Whether this key's is one of MPI_Graph_create. */
bool swap_topology_is_graph(uint64_t key);

#endif
