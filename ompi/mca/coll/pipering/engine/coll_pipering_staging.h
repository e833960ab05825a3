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
 * Copies in the place of users' buffers on a device,
 *
 *     device    send                    recv
 *                 |  begin                ^  bring
 *     host        '---> the call ---------'
 *
 * of a reduction, since operations work on memory of the host, and of a gather or broadcast where
 * messages would go piece by piece between the two. Each rank stages what it has on a device, and
 * no other has to know. Results of a reduction that would overwrite other values, which are still
 * wanted, have one, too. What is gathered is packed: it goes in one copy if it is dense, and comes
 * in one if it adjoins in the user's buffer.
 *
 * Cost: memory for all elements of a staged buffer, and a copy of all before the first and
 * behind the last block.
 */

#ifndef MCA_COLL_PIPERING_STAGING_H
#define MCA_COLL_PIPERING_STAGING_H

#include "coll_pipering_engine.h"

BEGIN_C_DECLS

/** A buffer of the user that a copy stands in for. */
typedef struct mca_coll_pipering_staged_t {
    bool used;    /**< there is a copy, else the buffer is used itself */
    mca_coll_pipering_layout_t layout; /**< where the copy's data belongs */
    void *memory; /**< of the copy, NULL: it has that of another buffer */
} mca_coll_pipering_staged_t;

typedef struct mca_coll_pipering_staging_t {
    mca_coll_pipering_staged_t send, recv;
    size_t count; /**< elements of recv, of a reduction */
    const size_t *bytes; /**< [count] of each contribution, of a gather; borrowed */
    int own;      /**< that of this rank if it is in place, else -1 */
} mca_coll_pipering_staging_t;

/**
 * Puts memory of the host in the place of buffers on a device: `send`, and `recv`, NULL where
 * it means nothing on this rank, of so many elements. Both may have one buffer; `apart`: then
 * results must not be there before the end. Where it fails (OMPI_ERR_OUT_OF_RESOURCE, OMPI_ERROR)
 * nothing has changed.
 */
int mca_coll_pipering_staging_begin(mca_coll_pipering_staging_t *staging,
                                    size_t sent, size_t received, bool apart,
                                    mca_coll_pipering_layout_t *send,
                                    mca_coll_pipering_layout_t *recv);

/**
 * The same for a gather: packed copies, to be brought with the same layouts. `bytes` [count] of
 * contributions, which are borrowed until then, of which `contributor` has any; `own`: this rank's,
 * if it is in place (`send` NULL), or -1. `me`: this rank's, otherwise.
 */
int mca_coll_pipering_staging_gather(mca_coll_pipering_staging_t *staging, const size_t *bytes,
                                     size_t count, int contributor, int own, int me,
                                     mca_coll_pipering_layout_t *send,
                                     mca_coll_pipering_layout_t *recv);

/** Brings the results that are in place of a user's buffer there. */
int mca_coll_pipering_staging_bring(const mca_coll_pipering_staging_t *staging,
                                    const mca_coll_pipering_layout_t *recv);

/**
 * Puts the user's buffers into the layouts again and frees the copies, unless a message is
 * `pending` on them.
 */
void mca_coll_pipering_staging_drop(mca_coll_pipering_staging_t *staging,
                                    mca_coll_pipering_layout_t *send,
                                    mca_coll_pipering_layout_t *recv, bool pending);

END_C_DECLS

#endif
