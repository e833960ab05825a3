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
 * Exchanges of all with all that coll/pipering is compared with, on top of MPI: the approach that a
 * paper improves, and its own with other numbers of packets for a rank in a row.
 */

#ifndef BY_HAND_H
#define BY_HAND_H

#include <stddef.h>

#include "mpi.h"

/** MPI_Alltoallw, not in place, one peer at a time, with empty messages: the existing approach of
 *  Balaji et al., section 3.2. An error of MPI. */
int by_hand_alltoallw(const void *from, const int *out_counts, const int *out_displs,
                      const MPI_Datatype *out_types, void *to, const int *in_counts,
                      const int *in_displs, const MPI_Datatype *in_types, MPI_Comm comm);

/** MPI_Alltoall of `bytes` bytes for each rank, in packets as the component's, but so many to a rank
 *  before those to the next (Almasi et al., section 3.1). An error of MPI, or MPI_ERR_NO_MEM. */
int by_hand_alltoall(size_t visit, const void *from, void *to, size_t bytes, MPI_Comm comm);

#endif
