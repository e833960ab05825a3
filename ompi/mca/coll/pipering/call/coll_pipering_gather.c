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
 * What MPI_Allgather and MPI_Allgatherv share: from their arguments to a call. Contributions
 * count by the receive counts and type, which MPI makes equal on all ranks, and never by the
 * send arguments.
 */

#include "coll_pipering_calls.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_copy.h"

static size_t count_of(const mca_coll_pipering_gather_t *gather, int rank)
{
    return NULL == gather->rcounts.at
               ? (size_t) gather->rcount
               : (size_t) mca_common_colltools_entry(gather->rcounts, (size_t) rank);
}

static mca_coll_pipering_sizes_t sizes_of(const mca_coll_pipering_gather_t *gather,
                                          ompi_communicator_t *comm)
{
    mca_coll_pipering_sizes_t sizes = {.counts = gather->rcounts,
                                       .count = (size_t) gather->rcount,
                                       .unit = 1,
                                       .parts = ompi_comm_size(comm)};

    ompi_datatype_type_size(gather->rdtype, &sizes.scale);
    return sizes;
}

/* The plan of the last call, if that had the same counts. No other pass over counts is made. */
static mca_coll_pipering_plan_t *recall(const mca_coll_pipering_call_t *call)
{
    const mca_common_colltools_array_t counts = call->sizes.counts;

    return NULL == counts.at
                   || mca_common_colltools_entry(counts, 0)
                          != mca_coll_pipering_last_count(call->context)
               ? NULL
               : mca_coll_pipering_plan_recall(call->context, call->collective, &call->sizes);
}

/*
 * Open MPI's own copy between unlike types loses bytes behind the first 64 KiB, and
 * tuned chooses its MPI_Allgatherv by the size of the send type, though ranks may
 * describe the same bytes by different types, and would wait for each other for ever.
 */
static int put_in_place(mca_coll_pipering_gather_t *gather, ompi_communicator_t *comm)
{
    ptrdiff_t extent;

    if (MPI_IN_PLACE == gather->sbuf || gather->sdtype == gather->rdtype) {
        return OMPI_SUCCESS;
    }
    ompi_datatype_type_extent(gather->rdtype, &extent);

    const int me = ompi_comm_rank(comm);
    const ptrdiff_t displ = NULL == gather->displs.at
                                ? me * (ptrdiff_t) gather->rcount
                                : mca_common_colltools_entry(gather->displs, (size_t) me);
    const mca_coll_pipering_place_t from = {.buffer = (char *) gather->sbuf,
                                            .count = (size_t) gather->scount,
                                            .type = gather->sdtype};
    const mca_coll_pipering_place_t to = {.buffer = (char *) gather->rbuf + displ * extent,
                                          .count = count_of(gather, me),
                                          .type = gather->rdtype};
    gather->sbuf = MPI_IN_PLACE;
    return mca_coll_pipering_copy(&from, &to);
}

/* Makes a call safe for the module below. OMPI_ERR_NOT_SUPPORTED: it is. */
static int leave(mca_coll_pipering_gather_t *gather, ompi_communicator_t *comm)
{
    const int rc = mca_common_colltools_mpi_error(put_in_place(gather, comm));

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (NULL == gather->rcounts.at && MPI_IN_PLACE == gather->sbuf) {
        /* not to be read by MPI's rules, but the module below goes by their size */
        gather->scount = gather->rcount;
        gather->sdtype = gather->rdtype;
    }
    return OMPI_ERR_NOT_SUPPORTED;
}

int mca_coll_pipering_gather(mca_coll_pipering_gather_t *gather,
                             mca_coll_pipering_collective_t collective,
                             mca_coll_pipering_form_t form, mca_coll_pipering_module_t *module,
                             ompi_request_t **request)
{
    mca_coll_pipering_context_t *context = &module->context;

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    mca_coll_pipering_call_t call = {.context = context,
                                     .collective = collective,
                                     .form = form,
                                     .sizes = sizes_of(gather, context->comm),
                                     .in_place = MPI_IN_PLACE == gather->sbuf,
                                     .recv = {.buffer = gather->rbuf,
                                              .type = gather->rdtype,
                                              .counts = gather->rcounts,
                                              .displs = gather->displs,
                                              .count = (size_t) gather->rcount}};

    if (!call.in_place) {
        /* every rank's place is the one contribution there is */
        call.send = (mca_coll_pipering_layout_t){.buffer = (char *) gather->sbuf,
                                                 .type = gather->sdtype,
                                                 .single = true,
                                                 .count = (size_t) gather->scount};
    }
    mca_coll_pipering_plan_t *recalled = recall(&call);
    call.total = NULL == recalled ? call.sizes.scale
                                        * mca_coll_pipering_elements_of(&call.sizes, context->comm)
                                  : recalled->total;

    const int rc = mca_coll_pipering_serve(&call, module, recalled, request);
    if (NULL != recalled) {
        mca_coll_pipering_plan_release(recalled);
    }
    /* what is contributed to a persistent call is not there yet */
    return OMPI_ERR_NOT_SUPPORTED == rc && MCA_COLL_PIPERING_PERSISTENT != form
               ? leave(gather, module->context.comm)
               : rc;
}
