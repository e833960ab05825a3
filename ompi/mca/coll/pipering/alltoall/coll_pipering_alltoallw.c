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

#include "ompi/mca/coll/pipering/call/coll_pipering_forms.h"

static mca_coll_pipering_exchange_job_t
job_of(const void *sbuf, mca_common_colltools_counts_t scounts,
       mca_common_colltools_displs_t sdispls, struct ompi_datatype_t *const *sdtypes, void *rbuf,
       mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t rdispls,
       struct ompi_datatype_t *const *rdtypes, struct ompi_communicator_t *comm)
{
    const size_t p = (size_t) ompi_comm_size(comm);

    return (mca_coll_pipering_exchange_job_t){
        .call = MCA_COLL_PIPERING_CALL_ALLTOALLW,
        .plan = {.copies_own = true,
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

MCA_COLL_PIPERING_DEFINE_FORMS(
    alltoallw,
    (const void *sbuf, mca_common_colltools_counts_t scounts,
     mca_common_colltools_displs_t sdispls, struct ompi_datatype_t *const *sdtypes, void *rbuf,
     mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t rdispls,
     struct ompi_datatype_t *const *rdtypes),
    (mca_coll_pipering_exchange_job_t job
     = job_of(sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes, comm)),
    mca_coll_pipering_exchange(&job, form, module, request),
    (sbuf, scounts, sdispls, sdtypes, rbuf, rcounts, rdispls, rdtypes))
