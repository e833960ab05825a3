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
 * What the ways to make an exchange share (coll_pipering_alltoall_make.c): the sides of a call,
 * and what is known before there is memory.
 */

#ifndef MCA_COLL_PIPERING_ALLTOALL_MAKE_H
#define MCA_COLL_PIPERING_ALLTOALL_MAKE_H

#include "coll_pipering_alltoall.h"

BEGIN_C_DECLS

/** Messages that a draft has room for in itself. */
#define MCA_COLL_PIPERING_EXCHANGE_FEW 64

/** How messages of an exchange begin. */
typedef enum {
    MCA_COLL_PIPERING_WAY_TOGETHER,
    MCA_COLL_PIPERING_WAY_PAIRS,
    MCA_COLL_PIPERING_WAY_ROUND_ROBIN,
    MCA_COLL_PIPERING_WAY_PERMUTED
} mca_coll_pipering_way_t;

/** What is known before there is memory for the exchange. */
typedef struct mca_coll_pipering_exchange_draft_t {
    const mca_coll_pipering_exchange_plan_t *plan;
    int ranks, me;
    mca_coll_pipering_way_t way;
    const mca_coll_pipering_side_t *send; /**< in place: the receiving side */
    size_t *bytes;                        /**< [most messages of a side] */
    uint64_t *scratch;
    size_t *in, *out; /**< messages of the sides in the order in which they start; permuted: bytes
                           that come in, and for each peer where its copy is */
    size_t ins, outs;
    mca_coll_pipering_bins_t bins;
    size_t steps;  /**< in place: messages that are packed; else copies inside of the process */
    size_t copies; /**< bytes of memory for what is packed */
    void *memory;
    uint64_t room[4 * MCA_COLL_PIPERING_EXCHANGE_FEW]; /**< in place of memory, for few messages */
} mca_coll_pipering_exchange_draft_t;

/* ---- a side's messages ---- */

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
    return (size_t) (NULL == side->counts ? side->each : side->counts[i]);
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
    const ptrdiff_t displ = NULL == side->counts        ? (ptrdiff_t) i * side->each
                            : NULL == side->byte_displs ? side->displs[i]
                                                        : side->byte_displs[i];
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

/* ---- listing (coll_pipering_alltoall_make.c) ---- */

/** Adds message i of a side to a list. */
mca_common_irregular_message_t *mca_coll_pipering_side_list(mca_common_irregular_messages_t *list,
                                                            const mca_coll_pipering_side_t *side,
                                                            size_t i);

/** Adds what this rank has for itself, if there is any, as the next copy. */
void mca_coll_pipering_side_list_own(mca_coll_pipering_exchange_t *exchange,
                                     const mca_coll_pipering_exchange_draft_t *draft);

/**
 * Bytes of messages to `bytes`, 0 where there are none to send. Returns how many there can be
 * none of: without a peer, or with this rank itself.
 */
size_t mca_coll_pipering_side_measure(const mca_coll_pipering_exchange_draft_t *draft,
                                      const mca_coll_pipering_side_t *side, size_t *bytes);

/* ---- exchanges in packets (coll_pipering_alltoall_permuted.c) ---- */

/** Counts packets and copies. */
void mca_coll_pipering_permuted_order(mca_coll_pipering_exchange_draft_t *draft);

/** Lists them; there is memory for all. */
void mca_coll_pipering_permuted_list(mca_coll_pipering_exchange_t *exchange,
                                     mca_coll_pipering_exchange_draft_t *draft);

/** Receives, and sends, under way. */
uint32_t mca_coll_pipering_permuted_window(const mca_coll_pipering_exchange_draft_t *draft);
size_t mca_coll_pipering_permuted_sends(const mca_coll_pipering_exchange_draft_t *draft);

END_C_DECLS

#endif
