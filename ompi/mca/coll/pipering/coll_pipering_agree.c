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
 * Agreements of coll_pipering_wire.h: ceil(log2 p) rounds of dissemination. In the round of
 * distance d a rank sends to the rank d below it and receives from the rank d above it:
 *
 *     agreement    one value, of which all that has come in is a part. Contributions are
 *                  combined more than once where p is no power of two.
 *     collection   the values of this rank and of those above it, as many as it has
 *
 * Cost: ceil(log2 p) messages, of one value each, or of p - 1 values in all. Nothing waits.
 */

#include "coll_pipering_wire.h"

#include <string.h>

enum { RECV, SEND };

void mca_coll_pipering_agree(mca_coll_pipering_agreement_t *agreement,
                             mca_coll_pipering_wire_t *wire, mca_coll_pipering_merge_fn_t *merge,
                             void *value, size_t size, void *scratch)
{
    *agreement = (mca_coll_pipering_agreement_t){.wire = wire,
                                                 .merge = merge,
                                                 .tag = MCA_COLL_PIPERING_TAG_AGREE,
                                                 .size = size,
                                                 .value = value,
                                                 .sent = scratch,
                                                 .other = (char *) scratch + size,
                                                 .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
}

void mca_coll_pipering_collect(mca_coll_pipering_agreement_t *agreement,
                               mca_coll_pipering_wire_t *wire, void *values, size_t size)
{
    *agreement = (mca_coll_pipering_agreement_t){.wire = wire,
                                                 .tag = MCA_COLL_PIPERING_TAG_COLLECT,
                                                 .size = size,
                                                 .value = values,
                                                 .request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};
}

static void begin_round(mca_coll_pipering_agreement_t *agreement)
{
    mca_coll_pipering_wire_t *wire = agreement->wire;
    const int p = ompi_comm_size(wire->comm), me = ompi_comm_rank(wire->comm);
    const int have = agreement->distance, lack = p - have;
    const bool collects = NULL == agreement->merge;
    const size_t size = agreement->size * (size_t) (!collects ? 1 : have < lack ? have : lack);
    char *in = collects ? agreement->value + (size_t) have * agreement->size : agreement->other;
    char *out = collects ? agreement->value : agreement->sent;

    if (!collects) {
        memcpy(agreement->sent, agreement->value, agreement->size);
    }
    mca_coll_pipering_wire_recv(wire, in, size, (me + have) % p, agreement->tag,
                                &agreement->request[RECV]);
    mca_coll_pipering_wire_send(wire, out, size, (me - have + p) % p, agreement->tag,
                                &agreement->request[SEND]);
}

bool mca_coll_pipering_agreed(mca_coll_pipering_agreement_t *agreement)
{
    const int p = ompi_comm_size(agreement->wire->comm);

    while (agreement->distance < p) {
        /* both are looked at, as either can be the last */
        const bool sent = mca_coll_pipering_wire_finished(agreement->wire,
                                                          &agreement->request[SEND]);
        if (!mca_coll_pipering_wire_finished(agreement->wire, &agreement->request[RECV]) || !sent
            || OMPI_SUCCESS != agreement->wire->error) {
            return false;
        }
        if (0 < agreement->distance && NULL != agreement->merge) {
            agreement->merge(agreement->value, agreement->other);
        }
        agreement->distance = 0 == agreement->distance ? 1 : 2 * agreement->distance;
        if (agreement->distance < p) {
            begin_round(agreement);
        }
    }
    return true;
}

bool mca_coll_pipering_agreement_pending(const mca_coll_pipering_agreement_t *agreement)
{
    return MPI_REQUEST_NULL != agreement->request[SEND]
           || MPI_REQUEST_NULL != agreement->request[RECV];
}
