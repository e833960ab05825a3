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
 * MPI_Allgather, MPI_Iallgather and MPI_Allgather_init: all contributions of one size.
 */

#include "coll_pipering_lessons.h"
#include "coll_pipering_small.h"

int mca_coll_pipering_allgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                 void *rbuf, int rcount,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_gather_t call = {.name = "allgather",
                                       .sbuf = sbuf,
                                       .scount = scount,
                                       .sdtype = sdtype,
                                       .rbuf = rbuf,
                                       .rcount = rcount,
                                       .rdtype = rdtype};

    int rc = mca_coll_pipering_gather_blocking(&call, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    MCA_COMMON_IRREGULAR_BELOW(rc, comm, allgather, module->previous.allgather,
                               module->previous.allgather_module,
                               (call.sbuf, call.scount, call.sdtype, call.rbuf, call.rcount,
                                call.rdtype, comm, module_below));
    return mca_coll_pipering_lessons_below(module, rc);
}

int mca_coll_pipering_iallgather(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                  void *rbuf, int rcount,
                                  struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_gather_t call = {.name = "iallgather",
                                             .sbuf = sbuf,
                                             .scount = scount,
                                             .sdtype = sdtype,
                                             .rbuf = rbuf,
                                             .rcount = rcount,
                                             .rdtype = rdtype};

    const int rc = mca_coll_pipering_igather(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.iallgather(call.sbuf, call.scount, call.sdtype, call.rbuf, call.rcount,
                                       call.rdtype, comm, request,
                                       module->previous.iallgather_module);
}

int mca_coll_pipering_allgather_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                     void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_gather_t call = {.name = "allgather_init",
                                             .sbuf = sbuf,
                                             .scount = scount,
                                             .sdtype = sdtype,
                                             .rbuf = rbuf,
                                             .rcount = rcount,
                                             .rdtype = rdtype};

    const int rc = mca_coll_pipering_gather_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.allgather_init(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, info,
                                           request, module->previous.allgather_init_module);
}
