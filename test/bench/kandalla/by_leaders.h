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

/** The groups of a communicator. */
typedef struct by_leaders_t {
    MPI_Comm group, leaders; /**< leaders: MPI_COMM_NULL on the others */
    int *order;              /**< [size] ranks in the order in which their data comes */
    int size;
} by_leaders_t;

/** Collective. An error of MPI; MPI_ERR_NO_MEM; MPI_ERR_ARG: nodes differ in their ranks, or these
 *  are no multiple of the groups. Free it in any case. */
int by_leaders_create(by_leaders_t *groups, int count, bool packed, MPI_Comm comm);
void by_leaders_free(by_leaders_t *groups);
/** Gathers `bytes` bytes of each rank to `recv` on all of them: in each group to its leader, between
 *  leaders, from leaders to their groups. An error of MPI, or MPI_ERR_NO_MEM. */
int by_leaders_allgather(const by_leaders_t *groups, const void *send, void *recv, size_t bytes);

#endif
