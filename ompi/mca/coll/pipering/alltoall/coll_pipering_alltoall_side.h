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
 * The messages of one side of an exchange, those that a rank sends or those that it receives.
 */

#ifndef MCA_COLL_PIPERING_ALLTOALL_SIDE_H
#define MCA_COLL_PIPERING_ALLTOALL_SIDE_H

#include "coll_pipering_alltoall.h"

BEGIN_C_DECLS

/* ---- message i of a side: peer, type, elements, bytes of the signature, buffer ---- */

static inline int mca_coll_pipering_side_peer(const mca_coll_pipering_side_t *side, size_t i)
{
    return NULL == side->peer ? (int) i : side->peer[i];
}

static inline ompi_datatype_t *mca_coll_pipering_side_type(const mca_coll_pipering_side_t *side,
                                                          size_t i)
{
    return NULL == side->type ? side->types[i] : side->type;
}

static inline size_t mca_coll_pipering_side_count(const mca_coll_pipering_side_t *side, size_t i)
{
    return NULL == side->counts.at ? side->each
                                   : (size_t) mca_common_colltools_entry(side->counts, i);
}

static inline size_t mca_coll_pipering_side_bytes(const mca_coll_pipering_side_t *side, size_t i)
{
    const size_t count = mca_coll_pipering_side_count(side, i);
    size_t size;

    if (0 == count) {
        return 0;
    }
    ompi_datatype_type_size(mca_coll_pipering_side_type(side, i), &size);
    return count * size;
}

static inline char *mca_coll_pipering_side_buffer(const mca_coll_pipering_side_t *side, size_t i)
{
    const ptrdiff_t displ = NULL == side->counts.at ? (ptrdiff_t) (i * side->each)
                                                    : mca_common_colltools_entry(side->displs, i);
    ptrdiff_t extent = 1;

    if (NULL != side->type) {
        ompi_datatype_type_extent(side->type, &extent);
    }
    return side->buffer + displ * extent;
}

static inline mca_coll_pipering_place_t
mca_coll_pipering_side_place(const mca_coll_pipering_side_t *side, size_t i)
{
    return (mca_coll_pipering_place_t){mca_coll_pipering_side_buffer(side, i),
                                       mca_coll_pipering_side_count(side, i),
                                       mca_coll_pipering_side_type(side, i)};
}

/** Whether a message is none: its peer is MPI_PROC_NULL, or this rank, and it is copied. */
static inline bool
mca_coll_pipering_side_is_absent(const mca_coll_pipering_exchange_plan_t *plan, int me,
                                 const mca_coll_pipering_side_t *side, size_t i)
{
    const int peer = mca_coll_pipering_side_peer(side, i);

    return MPI_PROC_NULL == peer || (plan->copies_own && me == peer);
}

/**
 * Writes the bytes of each message of a side to bytes[side->count], 0 for absent ones. Returns the
 * number of these.
 */
size_t mca_coll_pipering_side_measure(const mca_coll_pipering_exchange_plan_t *plan, int me,
                                      const mca_coll_pipering_side_t *side, size_t *bytes);

/* ---- entries of the schedule ---- */

/** Adds message i of a side to a list that has room for it; it needs nothing. Returns the entry. */
mca_common_colltools_message_t *mca_coll_pipering_side_list(mca_common_colltools_messages_t *list,
                                                            const mca_coll_pipering_side_t *side,
                                                            size_t i);

/** Adds the copy of this rank's message to itself as a step, if the message has any bytes. */
void mca_coll_pipering_side_list_own(mca_coll_pipering_exchange_t *exchange,
                                     const mca_coll_pipering_exchange_plan_t *plan,
                                     const mca_coll_pipering_side_t *send, size_t me);

END_C_DECLS

#endif
