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
 * Probe: what a link of the ring costs, measured.
 */

#ifndef MCA_COLL_PIPERING_PROBE_H
#define MCA_COLL_PIPERING_PROBE_H

#include "coll_pipering_compat.h"

#include "coll_pipering_plan.h"

BEGIN_C_DECLS

/* ---- messages before there is a plan ---- */

/** Tags of a communicator's setup and hops, counted down from the first. */
enum {
    MCA_COLL_PIPERING_TAG_TELL,
    MCA_COLL_PIPERING_TAG_PING,
    MCA_COLL_PIPERING_TAG_PONG,
    MCA_COLL_PIPERING_TAG_STREAM,
    MCA_COLL_PIPERING_TAG_OFFER, /**< one for each link of the engine */
    MCA_COLL_PIPERING_TAG_ANSWER = MCA_COLL_PIPERING_TAG_OFFER + MCA_COLL_PIPERING_LINKS,
    MCA_COLL_PIPERING_TAGS = MCA_COLL_PIPERING_TAG_ANSWER + MCA_COLL_PIPERING_LINKS
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

/** Seconds of a clock that only goes forward. */
double mca_coll_pipering_now(void);

/** Seconds a byte in which this process combines two vectors in its cache; measured once. */
double mca_coll_pipering_combine_cost(void);

/** Orders doubles, for qsort. */
int mca_coll_pipering_compare(const void *a, const void *b);

/**
 * What is known of the way to a rank without sending anything: the fields EAGER
 * and TCP; 0 where the PML is not ob1.
 */
void mca_coll_pipering_look_up(ompi_communicator_t *comm, int rank, double *fields);

/* ---- the probe ---- */

/** Kinds of links. */
enum { MCA_COLL_PIPERING_NET, MCA_COLL_PIPERING_LOCAL, MCA_COLL_PIPERING_KINDS };

/** What is measured of a link. */
enum {
    MCA_COLL_PIPERING_GAP,   /**< seconds a block in a stream of small ones */
    MCA_COLL_PIPERING_BETA,  /**< seconds a byte */
    MCA_COLL_PIPERING_ECHO,  /**< seconds to and fro */
    MCA_COLL_PIPERING_EAGER, /**< bytes sent without asking, 0: not known */
    MCA_COLL_PIPERING_TCP,   /**< 1: blocks travel in the packets of TCP, else 0 */
    MCA_COLL_PIPERING_FIELDS
};

/** What a rank can see of it: a stream by the link into it, an echo by the one out of it. */
enum {
    MCA_COLL_PIPERING_STREAMED = 1,
    MCA_COLL_PIPERING_ECHOED = 2,
    MCA_COLL_PIPERING_WHOLLY = 3
};

typedef struct mca_coll_pipering_probe_t mca_coll_pipering_probe_t;

/**
 * Begins to measure links of a kind: from rank `previous` and to rank `next`, -1
 * for none. NULL without memory. The wire is borrowed.
 */
mca_coll_pipering_probe_t *mca_coll_pipering_probe_new(mca_coll_pipering_wire_t *wire, int kind,
                                                       int previous, int next);

/** Moves on without waiting; the number of steps made. */
int mca_coll_pipering_probe_progress(mca_coll_pipering_probe_t *probe);

bool mca_coll_pipering_probe_done(const mca_coll_pipering_probe_t *probe);

/** Fills in what this rank saw, and returns what that is (STREAMED, ECHOED). */
int mca_coll_pipering_probe_result(const mca_coll_pipering_probe_t *probe,
                                   double fields[MCA_COLL_PIPERING_FIELDS]);

void mca_coll_pipering_probe_free(mca_coll_pipering_probe_t *probe);

END_C_DECLS

#endif
