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
 * Exchanges of all with all that coll/pipering is compared with, on top of MPI: the approaches that
 * the papers improve, and its own without one of its parts.
 */

#ifndef BY_HAND_H
#define BY_HAND_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi.h"

/** An order in which a rank starts the messages of MPI_Alltoallw. */
typedef enum {
    BY_HAND_ROUND_ROBIN, /**< one peer at a time, with empty messages: the existing approach of
                              Balaji et al., section 3.2 */
    BY_HAND_ORDERED,     /**< all at once, from rank 0 on; no message where there are no bytes */
    BY_HAND_ROTATED      /**< likewise, from the next rank on */
} by_hand_order_t;

/** MPI_Alltoallw, not in place; an error of MPI, or MPI_ERR_NO_MEM. */
int by_hand_alltoallw(by_hand_order_t order, const void *from, const int *out_counts,
                      const int *out_displs, const MPI_Datatype *out_types, void *to,
                      const int *in_counts, const int *in_displs, const MPI_Datatype *in_types,
                      MPI_Comm comm);

/** How packets go (Almasi et al., section 3.1). */
typedef struct by_hand_packets_t {
    bool permuted; /**< ranks are visited in a random order, the same on all ranks; else by rank */
    size_t bytes;  /**< of a packet */
    size_t visit;  /**< packets to a rank before those to the next */
    int window;    /**< packets that a rank has under way */
} by_hand_packets_t;

/** MPI_Alltoall of `bytes` bytes for each rank, in packets; errors likewise. */
int by_hand_alltoall(const by_hand_packets_t *how, const void *from, void *to, size_t bytes,
                     MPI_Comm comm);

#endif
