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
 * What the Allgather family shares: contributions, layouts, one pipeline along the
 * ring. Contributions count by the receive counts and type, which MPI makes equal on
 * all ranks, and never by the send arguments.
 */

#include "coll_pipering.h"
#include "coll_pipering_copy.h"
#include "coll_pipering_small.h"

#include <stdlib.h>

static size_t count_of(const mca_coll_pipering_gather_t *call, int rank)
{
    return (size_t) (NULL == call->rcounts ? call->rcount : call->rcounts[rank]);
}

static int key_of(const void *what, ompi_communicator_t *comm, mca_coll_pipering_key_t *key)
{
    const mca_coll_pipering_gather_t *call = what;
    size_t size;

    ompi_datatype_type_size(call->rdtype, &size);
    key->unit = 1;
    key->parts = ompi_comm_size(comm);
    key->sizes = malloc((size_t) key->parts * sizeof(size_t));
    if (NULL == key->sizes) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    for (int r = 0; r < key->parts; ++r) {
        key->sizes[r] = count_of(call, r) * size;
    }
    return OMPI_SUCCESS;
}

static int begin(mca_coll_pipering_request_t *request)
{
    if (mca_coll_pipering_plan_swaps(request->plan)) {
        return mca_coll_pipering_request_swap(request);
    }

    const mca_coll_pipering_pipe_plan_t pipe = {.unit = MCA_COLL_PIPERING_BYTES,
                                                .send = request->in_place ? NULL : &request->send,
                                                .recv = &request->recv};
    int rc = OMPI_SUCCESS;

    for (int i = 0; i < request->plan->pipes && OMPI_SUCCESS == rc; ++i) {
        rc = mca_coll_pipering_request_add(request, pipe);
    }
    return rc;
}

static void prepare(const void *what, mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_gather_t *call = what;
    const int p = ompi_comm_size(request->super.comm);

    request->begin = begin;
    request->recv = (mca_coll_pipering_layout_t){.buffer = call->rbuf,
                                                 .type = call->rdtype,
                                                 .counts = call->rcounts,
                                                 .displs = call->displs,
                                                 .count = (size_t) call->rcount};
    mca_coll_pipering_layout_init(&request->recv, p);
    request->in_place = MPI_IN_PLACE == call->sbuf;
    if (!request->in_place) {
        /* every rank's place is the one contribution there is */
        request->send = (mca_coll_pipering_layout_t){.buffer = (char *) call->sbuf,
                                                     .type = call->sdtype,
                                                     .single = true,
                                                     .count = (size_t) call->scount};
        mca_coll_pipering_layout_init(&request->send, p);
    }
}

static mca_coll_pipering_call_t call_of(const mca_coll_pipering_gather_t *call,
                                        ompi_communicator_t *comm)
{
    return (mca_coll_pipering_call_t){.name = call->name,
                                      .collective = mca_coll_pipering_gather_collective(call),
                                      .total = mca_coll_pipering_gather_total(call, comm),
                                      .what = call,
                                      .key_of = key_of,
                                      .prepare = prepare};
}

/*
 * Open MPI's own copy between unlike types loses bytes behind the first 64 KiB, and
 * tuned chooses its MPI_Allgatherv by the size of the send type, though ranks may
 * describe the same bytes by different types, and would wait for each other for ever.
 */
static int put_in_place(mca_coll_pipering_gather_t *call, ompi_communicator_t *comm)
{
    ptrdiff_t extent;

    if (MPI_IN_PLACE == call->sbuf || call->sdtype == call->rdtype) {
        return OMPI_SUCCESS;
    }
    ompi_datatype_type_extent(call->rdtype, &extent);

    const int me = ompi_comm_rank(comm);
    const ptrdiff_t displ = NULL == call->displs ? (ptrdiff_t) me * call->rcount
                                                 : call->displs[me];
    const mca_coll_pipering_place_t from = {.buffer = (char *) call->sbuf,
                                            .count = (size_t) call->scount,
                                            .type = call->sdtype};
    const mca_coll_pipering_place_t to = {.buffer = (char *) call->rbuf + displ * extent,
                                          .count = count_of(call, me),
                                          .type = call->rdtype};
    call->sbuf = MPI_IN_PLACE;
    return mca_coll_pipering_copy(&from, &to);
}

/* Makes a call safe for the module below. OMPI_ERR_NOT_SUPPORTED: it is. */
static int leave(mca_coll_pipering_gather_t *call, ompi_communicator_t *comm)
{
    const int rc = mca_coll_pipering_mpi_error(put_in_place(call, comm));

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (NULL == call->rcounts && MPI_IN_PLACE == call->sbuf) {
        /* not to be read by MPI's rules, but the module below goes by their size */
        call->scount = call->rcount;
        call->sdtype = call->rdtype;
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

int mca_coll_pipering_gather(mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm,
                             mca_coll_pipering_module_t *module)
{
    const mca_coll_pipering_call_t common = call_of(call, comm);
    const int rc = mca_coll_pipering_serve(&common, comm, module);

    return OMPI_ERR_NOT_SUPPORTED == rc ? leave(call, comm) : rc;
}

int mca_coll_pipering_igather(mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm,
                              mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    const mca_coll_pipering_call_t common = call_of(call, comm);
    const int rc = mca_coll_pipering_iserve(&common, comm, module, handle);

    return OMPI_ERR_NOT_SUPPORTED == rc ? leave(call, comm) : rc;
}

int mca_coll_pipering_gather_later(const mca_coll_pipering_gather_t *call,
                                   struct ompi_communicator_t *comm,
                                   mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    const mca_coll_pipering_call_t common = call_of(call, comm);
    return mca_coll_pipering_serve_later(&common, comm, module, handle);
}
