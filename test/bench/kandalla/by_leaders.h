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
 * An allgather by leaders on top of MPI, to compare where leaders are: Kandalla et al., figure 7.
 *
 *     ranks of a node   0 1 2 3 4 5 6 7      two groups
 *     spread            L . . . L . . .      each leader is the first of its part of the ranks
 *     packed            L L . . . . . .      leaders are the first ranks, on one socket
 */

#ifndef BY_LEADERS_H
#define BY_LEADERS_H

#include <stdbool.h>
#include <stddef.h>

#include "mpi.h"

/**
 * Gathers `bytes` bytes of each rank to `recv` on all of them: in each group to its leader, between
 * leaders, from leaders to their groups. The groups of a communicator are made by its first call
 * and freed with it. An error of MPI; MPI_ERR_NO_MEM; MPI_ERR_ARG: nodes differ in their ranks, or
 * these are no multiple of the groups.
 */
int by_leaders_allgather(const void *send, void *recv, size_t bytes, int groups, bool packed,
                         MPI_Comm comm);

#endif
