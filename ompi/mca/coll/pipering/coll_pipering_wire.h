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
 * Small messages between the ranks of a communicator before there is a plan, and
 * agreements that are made of them.
 */

#ifndef MCA_COLL_PIPERING_WIRE_H
#define MCA_COLL_PIPERING_WIRE_H

#include "coll_pipering_compat.h"

#include "coll_pipering_plan.h"

BEGIN_C_DECLS

/* ---- messages (coll_pipering_wire.c) ---- */

/** Tags of a communicator's setup, counted down from the first. */
enum {
    MCA_COLL_PIPERING_TAG_AGREE,
    MCA_COLL_PIPERING_TAG_COLLECT,
    MCA_COLL_PIPERING_TAGS
};

/** A communicator, tags of its own, and the first error met. */
typedef struct mca_coll_pipering_wire_t {
    ompi_communicator_t *comm;
    int tag;
    int error;
} mca_coll_pipering_wire_t;

/** Notes an error, if it is one and the first. */
void mca_coll_pipering_wire_fail(mca_coll_pipering_wire_t *wire, int rc);

/** Start a message of `size` bytes; *request is MPI_REQUEST_NULL if that fails. */
void mca_coll_pipering_wire_send(mca_coll_pipering_wire_t *wire, void *buffer, size_t size,
                                 int peer, int tag, ompi_request_t **request);
void mca_coll_pipering_wire_recv(mca_coll_pipering_wire_t *wire, void *buffer, size_t size,
                                 int peer, int tag, ompi_request_t **request);

/** Frees a completed request; true if it is done with, or never was. */
bool mca_coll_pipering_wire_finished(mca_coll_pipering_wire_t *wire, ompi_request_t **request);

/* ---- agreements (coll_pipering_agree.c) ---- */

/**
 * Combines what has come in from another rank with what is there. It must not matter in
 * which order, nor how often, the same contribution is combined.
 */
typedef void mca_coll_pipering_merge_fn_t(void *value, const void *other);

/** An exchange of all ranks in rounds of dissemination, on its way on one rank. */
typedef struct mca_coll_pipering_agreement_t {
    mca_coll_pipering_wire_t *wire;
    mca_coll_pipering_merge_fn_t *merge; /**< NULL: values are collected and not combined */
    int tag;
    size_t size;        /**< bytes of a value */
    char *value;        /**< one, or one of each rank, this rank's own first; borrowed */
    char *sent, *other; /**< what is under way when values are combined; borrowed */
    int distance;       /**< of this round; 0: none has begun */
    ompi_request_t *request[2];
} mca_coll_pipering_agreement_t;

/**
 * Prepares an agreement on one value of `size` bytes: after it `value` holds the values of
 * all ranks, combined by `merge`. `scratch` has room for two values. All memory is borrowed
 * until the agreement is over.
 */
void mca_coll_pipering_agree(mca_coll_pipering_agreement_t *agreement,
                             mca_coll_pipering_wire_t *wire, mca_coll_pipering_merge_fn_t *merge,
                             void *value, size_t size, void *scratch);

/**
 * Prepares a collection: `values` holds this rank's value first, and after the collection
 * that of rank (me + i) mod p in place i. Borrowed until it is over.
 */
void mca_coll_pipering_collect(mca_coll_pipering_agreement_t *agreement,
                               mca_coll_pipering_wire_t *wire, void *values, size_t size);

/** Moves on without waiting; true if it is over. wire->error tells of a failure. */
bool mca_coll_pipering_agreed(mca_coll_pipering_agreement_t *agreement);

/** Messages are under way into or out of the memory that was borrowed. */
bool mca_coll_pipering_agreement_pending(const mca_coll_pipering_agreement_t *agreement);

/* ---- costs of this process (coll_pipering_wire.c) ---- */

/** Seconds of a clock that only goes forward. */
double mca_coll_pipering_now(void);

/** Seconds a byte in which this process combines two vectors in its cache; measured once. */
double mca_coll_pipering_combine_cost(void);

END_C_DECLS

#endif
