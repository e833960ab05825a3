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
 * An allgather by leaders on top of MPI (by_leaders.h).
 */

#include "by_leaders.h"

#include <stdlib.h>
#include <string.h>

/* The group of a rank of a node with `ranks` of them, a multiple of `groups`. */
static int group_of(int rank, int ranks, int groups, bool packed)
{
    const int each = ranks / groups;

    if (!packed) {
        return rank / each;
    }
    return rank < groups ? rank : (rank - groups) / (each - 1);
}

/* Whether all nodes have as many ranks, a multiple of the groups. */
static bool divides(int ranks, int groups, MPI_Comm comm)
{
    int bounds[2] = {ranks, -ranks};

    MPI_Allreduce(MPI_IN_PLACE, bounds, 2, MPI_INT, MPI_MAX, comm);
    return bounds[0] == -bounds[1] && 0 == ranks % groups;
}

/* Brings `bytes` bytes of each rank to all ranks; they arrive in the order of groups. */
static int bring(const by_leaders_t *groups, const void *mine, void *all, int bytes)
{
    int rank, ranks;

    MPI_Comm_rank(groups->group, &rank);
    MPI_Comm_size(groups->group, &ranks);
    char *own = 0 == rank ? malloc((size_t) ranks * (size_t) bytes) : NULL;
    int rc = 0 == rank && NULL == own ? MPI_ERR_NO_MEM : MPI_SUCCESS;

    if (MPI_SUCCESS == rc) {
        rc = MPI_Gather(mine, bytes, MPI_BYTE, own, bytes, MPI_BYTE, 0, groups->group);
    }
    if (MPI_SUCCESS == rc && 0 == rank) {
        rc = MPI_Allgather(own, ranks * bytes, MPI_BYTE, all, ranks * bytes, MPI_BYTE,
                           groups->leaders);
    }
    free(own);
    return MPI_SUCCESS == rc ? MPI_Bcast(all, groups->size * bytes, MPI_BYTE, 0, groups->group)
                             : rc;
}

int by_leaders_create(by_leaders_t *groups, int count, bool packed, MPI_Comm comm)
{
    MPI_Comm node;
    int me, here, ranks, inside, rc;

    groups->group = groups->leaders = MPI_COMM_NULL;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &groups->size);
    groups->order = malloc((size_t) groups->size * sizeof(int));
    if (NULL == groups->order) {
        return MPI_ERR_NO_MEM;
    }
    rc = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &node);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    MPI_Comm_rank(node, &here);
    MPI_Comm_size(node, &ranks);
    rc = divides(ranks, count, comm)
             ? MPI_Comm_split(node, group_of(here, ranks, count, packed), here, &groups->group)
             : MPI_ERR_ARG;
    MPI_Comm_free(&node);
    if (MPI_SUCCESS != rc) {
        return rc;
    }
    MPI_Comm_rank(groups->group, &inside);
    rc = MPI_Comm_split(comm, 0 == inside ? 0 : MPI_UNDEFINED, me, &groups->leaders);
    return MPI_SUCCESS == rc ? bring(groups, &me, groups->order, sizeof(int)) : rc;
}

void by_leaders_free(by_leaders_t *groups)
{
    if (MPI_COMM_NULL != groups->group) {
        MPI_Comm_free(&groups->group);
    }
    if (MPI_COMM_NULL != groups->leaders) {
        MPI_Comm_free(&groups->leaders);
    }
    free(groups->order);
    groups->order = NULL;
}

int by_leaders_allgather(const by_leaders_t *groups, const void *send, void *recv, size_t bytes)
{
    char *all = malloc((size_t) groups->size * bytes);
    int rc;

    if (NULL == all) {
        return MPI_ERR_NO_MEM;
    }
    rc = bring(groups, send, all, (int) bytes);
    for (int i = 0; MPI_SUCCESS == rc && i < groups->size; ++i) {
        memcpy((char *) recv + (size_t) groups->order[i] * bytes, all + (size_t) i * bytes, bytes);
    }
    free(all);
    return rc;
}
