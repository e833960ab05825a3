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
 * MPI_Allgatherv, MPI_Iallgatherv and MPI_Allgatherv_init: contributions of any sizes.
 */

#include "coll_pipering_lessons.h"
#include "coll_pipering_small.h"

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

    int rc = mca_coll_pipering_gather_blocking(&call, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    rc = module->previous.allgatherv(call.sbuf, call.scount, call.sdtype, call.rbuf, call.rcounts,
                                     call.displs, call.rdtype, comm,
                                     module->previous.allgatherv_module);
    return mca_coll_pipering_lessons_below(module, rc);
}

int mca_coll_pipering_iallgatherv(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                  void *rbuf, const int *rcounts, const int *displs,
                                  struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_gather_t call = {.name = "iallgatherv",
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
    return module->previous.iallgatherv(call.sbuf, call.scount, call.sdtype, call.rbuf,
                                        call.rcounts, call.displs, call.rdtype, comm, request,
                                        module->previous.iallgatherv_module);
}

int mca_coll_pipering_allgatherv_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                      void *rbuf, const int *rcounts, const int *displs,
                                      struct ompi_datatype_t *rdtype,
                                      struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                      ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_gather_t call = {.name = "allgatherv_init",
                                             .sbuf = sbuf,
                                             .scount = scount,
                                             .sdtype = sdtype,
                                             .rbuf = rbuf,
                                             .rcounts = rcounts,
                                             .displs = displs,
                                             .rdtype = rdtype};

    const int rc = mca_coll_pipering_gather_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.allgatherv_init(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype,
                                            comm, info, request,
                                            module->previous.allgatherv_init_module);
}
