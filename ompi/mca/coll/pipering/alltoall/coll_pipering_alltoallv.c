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
 * MPI_Alltoallv, MPI_Ialltoallv and MPI_Alltoallv_init: all messages of a side have one type, and
 * displacements count extents of this type.
 */

#include "coll_pipering_alltoall.h"

static mca_coll_pipering_exchange_job_t
job_of(const char *name, const void *sbuf, mca_common_colltools_counts_t scounts,
       mca_common_colltools_displs_t sdispls, struct ompi_datatype_t *sdtype, void *rbuf,
       mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t rdispls,
       struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm)
{
    const size_t p = (size_t) ompi_comm_size(comm);

    return (mca_coll_pipering_exchange_job_t){
        .call = MCA_COLL_PIPERING_CALL_ALLTOALLV,
        .plan = {.name = name,
                 .copies_own = true,
                 .send = {.buffer = (char *) sbuf,
                          .count = p,
                          .counts = mca_common_colltools_counts(scounts),
                          .displs = mca_common_colltools_displs(sdispls),
                          .type = sdtype},
                 .recv = {.buffer = rbuf,
                          .count = p,
                          .counts = mca_common_colltools_counts(rcounts),
                          .displs = mca_common_colltools_displs(rdispls),
                          .type = rdtype}}};
}

int mca_coll_pipering_alltoallv(const void *sbuf, mca_common_colltools_counts_t scounts,
                                mca_common_colltools_displs_t sdispls,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                mca_common_colltools_counts_t rcounts,
                                mca_common_colltools_displs_t rdispls,
                                struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("alltoallv", sbuf, scounts, sdispls, sdtype,
                                                  rbuf, rcounts, rdispls, rdtype, comm);

    const int rc = mca_coll_pipering_exchange(&job, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_alltoallv(sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls,
                                        rdtype, comm, module->below.coll_alltoallv_module);
}

int mca_coll_pipering_ialltoallv(const void *sbuf, mca_common_colltools_counts_t scounts,
                                 mca_common_colltools_displs_t sdispls,
                                 struct ompi_datatype_t *sdtype, void *rbuf,
                                 mca_common_colltools_counts_t rcounts,
                                 mca_common_colltools_displs_t rdispls,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("ialltoallv", sbuf, scounts, sdispls, sdtype,
                                                  rbuf, rcounts, rdispls, rdtype, comm);

    const int rc = mca_coll_pipering_iexchange(&job, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ialltoallv(sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls,
                                         rdtype, comm, request,
                                         module->below.coll_ialltoallv_module);
}

int mca_coll_pipering_alltoallv_init(const void *sbuf, mca_common_colltools_counts_t scounts,
                                     mca_common_colltools_displs_t sdispls,
                                     struct ompi_datatype_t *sdtype, void *rbuf,
                                     mca_common_colltools_counts_t rcounts,
                                     mca_common_colltools_displs_t rdispls,
                                     struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("alltoallv_init", sbuf, scounts, sdispls, sdtype,
                                                  rbuf, rcounts, rdispls, rdtype, comm);

    const int rc = mca_coll_pipering_exchange_persistent(&job, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_alltoallv_init(sbuf, scounts, sdispls, sdtype, rbuf, rcounts, rdispls,
                                             rdtype, comm, info, request,
                                             module->below.coll_alltoallv_init_module);
}
