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
 * MPI_Alltoallw, MPI_Ialltoallw and MPI_Alltoallw_init: the message of each peer has a type of its
 * own, and displacements count bytes.
 */

#include "coll_pipering_alltoall.h"

static mca_coll_pipering_exchange_job_t
job_of(const char *name, const void *sbuf, mca_common_colltools_counts_t scounts,
       mca_common_colltools_displs_t sdispls, struct ompi_datatype_t *const *sdtypes, void *rbuf,
       mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t rdispls,
       struct ompi_datatype_t *const *rdtypes, struct ompi_communicator_t *comm)
{
    const size_t p = (size_t) ompi_comm_size(comm);

    return (mca_coll_pipering_exchange_job_t){
        .call = MCA_COLL_PIPERING_CALL_ALLTOALLW,
        .plan = {.name = name,
                 .copies_own = true,
                 .send = {.buffer = (char *) sbuf,
                          .count = p,
                          .counts = mca_common_colltools_counts(scounts),
                          .displs = mca_common_colltools_displs(sdispls),
                          .types = sdtypes},
                 .recv = {.buffer = rbuf,
                          .count = p,
                          .counts = mca_common_colltools_counts(rcounts),
                          .displs = mca_common_colltools_displs(rdispls),
                          .types = rdtypes}}};
}

int mca_coll_pipering_alltoallw(const void *sbuf, mca_common_colltools_counts_t scounts,
                                mca_common_colltools_displs_t sdispls,
                                struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                mca_common_colltools_counts_t rcounts,
                                mca_common_colltools_displs_t rdispls,
                                struct ompi_datatype_t *const *rdtypes,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("alltoallw", sbuf, scounts, sdispls, sdtypes,
                                                  rbuf, rcounts, rdispls, rdtypes, comm);

    const int rc = mca_coll_pipering_exchange(&job, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_alltoallw(sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls,
                                        rdtypes, comm, module->below.coll_alltoallw_module);
}

int mca_coll_pipering_ialltoallw(const void *sbuf, mca_common_colltools_counts_t scounts,
                                 mca_common_colltools_displs_t sdispls,
                                 struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                 mca_common_colltools_counts_t rcounts,
                                 mca_common_colltools_displs_t rdispls,
                                 struct ompi_datatype_t *const *rdtypes,
                                 struct ompi_communicator_t *comm, ompi_request_t **request,
                                 mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("ialltoallw", sbuf, scounts, sdispls, sdtypes,
                                                  rbuf, rcounts, rdispls, rdtypes, comm);

    const int rc = mca_coll_pipering_iexchange(&job, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ialltoallw(sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls,
                                         rdtypes, comm, request,
                                         module->below.coll_ialltoallw_module);
}

int mca_coll_pipering_alltoallw_init(const void *sbuf, mca_common_colltools_counts_t scounts,
                                     mca_common_colltools_displs_t sdispls,
                                     struct ompi_datatype_t *const *sdtypes, void *rbuf,
                                     mca_common_colltools_counts_t rcounts,
                                     mca_common_colltools_displs_t rdispls,
                                     struct ompi_datatype_t *const *rdtypes,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_exchange_job_t job = job_of("alltoallw_init", sbuf, scounts, sdispls,
                                                  sdtypes, rbuf, rcounts, rdispls, rdtypes, comm);

    const int rc = mca_coll_pipering_exchange_persistent(&job, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_alltoallw_init(sbuf, scounts, sdispls, sdtypes, rbuf, rcounts,
                                             rdispls, rdtypes, comm, info, request,
                                             module->below.coll_alltoallw_init_module);
}
