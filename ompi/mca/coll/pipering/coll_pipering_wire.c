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
 * Messages of coll_pipering_wire.h, the clock, and what combining costs.
 */

#include "coll_pipering_wire.h"

#include <math.h>
#include <time.h>

#include "ompi/mca/common/irregular/common_irregular.h"
#include "ompi/mca/pml/pml.h"
#include "ompi/op/op.h"

/* Doubles that are combined to see what that takes, and how often. */
#define COMBINED 2048
#define COMBINE_TIMES 5

/* A cost is never nothing. */
#define LEAST_COMBINE 1e-12

double mca_coll_pipering_now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + 1e-9 * (double) ts.tv_nsec;
}

/* The least of several, since all else is other work. */
static double measure_combining(void)
{
    double vectors[2 * COMBINED] = {0}, least = 1;

    for (int i = 0; i < COMBINE_TIMES; ++i) {
        const double start = mca_coll_pipering_now();
        ompi_op_reduce(MPI_SUM, vectors, vectors + COMBINED, COMBINED, MPI_DOUBLE);
        least = fmin(least, mca_coll_pipering_now() - start);
    }
    return fmax(least / (COMBINED * sizeof(double)), LEAST_COMBINE);
}

double mca_coll_pipering_combine_cost(void)
{
    static double cost;

    if (0 == cost) {
        cost = measure_combining();
    }
    return cost;
}

void mca_coll_pipering_wire_fail(mca_coll_pipering_wire_t *wire, int rc)
{
    if (OMPI_SUCCESS == wire->error) {
        wire->error = rc;
    }
}

void mca_coll_pipering_wire_send(mca_coll_pipering_wire_t *wire, void *buffer, size_t size,
                                 int peer, int tag, ompi_request_t **request)
{
    *request = MPI_REQUEST_NULL;
    mca_coll_pipering_wire_fail(wire,
                                MCA_PML_CALL(isend(buffer, size, MPI_BYTE, peer, wire->tag - tag,
                                                   MCA_PML_BASE_SEND_STANDARD, wire->comm,
                                                   request)));
}

void mca_coll_pipering_wire_recv(mca_coll_pipering_wire_t *wire, void *buffer, size_t size,
                                 int peer, int tag, ompi_request_t **request)
{
    *request = MPI_REQUEST_NULL;
    mca_coll_pipering_wire_fail(wire, MCA_PML_CALL(irecv(buffer, size, MPI_BYTE, peer,
                                                         wire->tag - tag, wire->comm, request)));
}

bool mca_coll_pipering_wire_finished(mca_coll_pipering_wire_t *wire, ompi_request_t **request)
{
    if (MPI_REQUEST_NULL == *request) {
        return true;
    }
    if (!mca_common_irregular_is_over(*request)) {
        return false;
    }
    mca_coll_pipering_wire_fail(wire, (*request)->req_status.MPI_ERROR);
    ompi_request_free(request);
    *request = MPI_REQUEST_NULL;
    return true;
}
