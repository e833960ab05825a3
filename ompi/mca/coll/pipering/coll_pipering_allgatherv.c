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
 * MPI_Allgatherv and MPI_Iallgatherv: contributions of any sizes.
 */

#include "coll_pipering.h"

/*
 * Makes a call safe for the module below: tuned chooses its algorithm by the size
 * of the send type times the receive counts, though ranks may describe the same
 * bytes by different types, and would wait for each other for ever. So where the
 * sizes of the types differ the contribution is put in place.
 */
static int put_in_place(mca_coll_pipering_gather_t *call, struct ompi_communicator_t *comm)
{
    size_t send_size, recv_size;

    if (MPI_IN_PLACE == call->sbuf) {
        return OMPI_SUCCESS;
    }
    ompi_datatype_type_size(call->sdtype, &send_size);
    ompi_datatype_type_size(call->rdtype, &recv_size);
    if (send_size == recv_size) {
        return OMPI_SUCCESS;
    }

    const int me = ompi_comm_rank(comm), p = ompi_comm_size(comm);
    mca_coll_pipering_layout_t from = {.buffer = (char *) call->sbuf,
                                       .type = call->sdtype,
                                       .single = true,
                                       .count = (size_t) call->scount};
    mca_coll_pipering_layout_t to = {.buffer = call->rbuf,
                                     .type = call->rdtype,
                                     .counts = call->rcounts,
                                     .displs = call->displs};
    mca_coll_pipering_layout_init(&from, p);
    mca_coll_pipering_layout_init(&to, p);
    call->sbuf = MPI_IN_PLACE;
    return mca_coll_pipering_copy_own(comm, me, (size_t) call->rcounts[me] * recv_size, &from, &to);
}

int mca_coll_pipering_allgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                 void *rbuf, const int *rcounts, const int *displs,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_gather_t call = {.name = "allgatherv",
                                       .sbuf = sbuf,
                                       .scount = scount,
                                       .sdtype = sdtype,
                                       .rbuf = rbuf,
                                       .rcounts = rcounts,
                                       .displs = displs,
                                       .rdtype = rdtype};

    int rc = mca_coll_pipering_gather(&call, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    rc = mca_coll_pipering_mpi_error(put_in_place(&call, comm));
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    return module->previous.allgatherv(call.sbuf, call.scount, call.sdtype, call.rbuf,
                                       call.rcounts, call.displs,
                                      call.rdtype, comm, module->previous.allgatherv_module);
}

int mca_coll_pipering_iallgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                  void *rbuf, const int *rcounts, const int *displs,
                                  struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_gather_t call = {.name = "allgatherv",
                                             .sbuf = sbuf,
                                             .scount = scount,
                                             .sdtype = sdtype,
                                             .rbuf = rbuf,
                                             .rcounts = rcounts,
                                             .displs = displs,
                                             .rdtype = rdtype};

    const int rc = mca_coll_pipering_igather(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.iallgatherv(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype, comm,
                                       request, module->previous.iallgatherv_module);
}
