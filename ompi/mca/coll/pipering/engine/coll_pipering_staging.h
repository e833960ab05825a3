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
 * Copies in the place of the users' buffers of a reduction. Operations work on memory of the host,
 * so data on a device has copies there,
 *
 *     device    send                    recv
 *                 |  begin                ^  bring
 *     host        '---> pipelines --------'
 *
 * Each rank stages what it has on a device, and no other has to know. Results that would overwrite
 * other values, which are still wanted, have one, too.
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
    char *buffer; /**< where the copy's data belongs; MPI_BOTTOM is NULL */
    void *memory; /**< of the copy, NULL: it has that of another buffer */
} mca_coll_pipering_staged_t;

typedef struct mca_coll_pipering_staging_t {
    mca_coll_pipering_staged_t send, recv;
    size_t count; /**< elements of recv */
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
