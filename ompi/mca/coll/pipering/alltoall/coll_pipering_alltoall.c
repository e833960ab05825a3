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
 * MPI_Alltoall, MPI_Ialltoall and MPI_Alltoall_init: all messages of a side have one type and one
 * count, and lie one behind the other. coll/pipering serves such a call only on a declared mesh,
 * from MCA_COLL_PIPERING_SMALL bytes on, or if the variable alltoall_algorithm names an algorithm; the module
 * below serves all others.
 */

#include "coll_pipering_alltoall.h"

static mca_coll_pipering_exchange_job_t job_of(const char *name, const void *sbuf,
                                               mca_common_colltools_count_t scount,
                                               struct ompi_datatype_t *sdtype, void *rbuf,
                                               mca_common_colltools_count_t rcount,
                                               struct ompi_datatype_t *rdtype,
                                               struct ompi_communicator_t *comm)
{
    const size_t p = (size_t) ompi_comm_size(comm);

    return (mca_coll_pipering_exchange_job_t){
        .call = MCA_COLL_PIPERING_CALL_ALLTOALL,
        .plan = {.name = name,
                 .copies_own = true,
                 .send = {.buffer = (char *) sbuf,
                          .count = p,
                          .each = (size_t) scount,
                          .type = sdtype},
                 .recv = {.buffer = rbuf, .count = p, .each = (size_t) rcount, .type = rdtype}}};
}

int mca_coll_pipering_alltoall(const void *sbuf, mca_common_colltools_count_t scount,
                               struct ompi_datatype_t *sdtype, void *rbuf,
                               mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
                               struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("alltoall", sbuf, scount, sdtype, rbuf, rcount,
                                                  rdtype, comm);

    const int rc = mca_coll_pipering_exchange(&job, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_alltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm,
                                       module->below.coll_alltoall_module);
}

int mca_coll_pipering_ialltoall(const void *sbuf, mca_common_colltools_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, ompi_request_t **request,
                                mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("ialltoall", sbuf, scount, sdtype, rbuf, rcount,
                                                  rdtype, comm);

    const int rc = mca_coll_pipering_iexchange(&job, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ialltoall(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, request,
                                        module->below.coll_ialltoall_module);
}

int mca_coll_pipering_alltoall_init(const void *sbuf, mca_common_colltools_count_t scount,
                                    struct ompi_datatype_t *sdtype, void *rbuf,
                                    mca_common_colltools_count_t rcount,
                                    struct ompi_datatype_t *rdtype,
                                    struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                    ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("alltoall_init", sbuf, scount, sdtype, rbuf,
                                                  rcount, rdtype, comm);

    const int rc = mca_coll_pipering_exchange_persistent(&job, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_alltoall_init(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, info,
                                            request, module->below.coll_alltoall_init_module);
}
