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
 * MPI_Alltoallv and MPI_Alltoallw, each in three forms. Of the first all messages of a side have
 * one type, and displacements count extents of this type; of the second the message of each peer
 * has a type of its own, and displacements count bytes.
 */

#include "coll_pipering_alltoall.h"

#include "ompi/mca/coll/pipering/call/coll_pipering_forms.h"

/* A call whose types are `member` of a side. */
#define DEFINE_EXCHANGE(name, NAME, datatype, member)                                              \
    MCA_COLL_PIPERING_DEFINE_FORMS(name,                                                           \
        (const void *sbuf, mca_common_colltools_counts_t scounts,                                  \
         mca_common_colltools_displs_t sdispls, datatype stype, void *rbuf,                        \
         mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t rdispls,             \
         datatype rtype),                                                                          \
        (const size_t p = (size_t) ompi_comm_size(comm);                                           \
         mca_coll_pipering_exchange_job_t job                                                      \
         = {.call = MCA_COLL_PIPERING_CALL_##NAME,                                                 \
            .plan = {.copies_own = true,                                                           \
                     .send = {.buffer = (char *) sbuf,                                             \
                              .count = p,                                                          \
                              .counts = mca_common_colltools_counts(scounts),                      \
                              .displs = mca_common_colltools_displs(sdispls),                      \
                              .member = stype},                                                    \
                     .recv = {.buffer = rbuf,                                                      \
                              .count = p,                                                          \
                              .counts = mca_common_colltools_counts(rcounts),                      \
                              .displs = mca_common_colltools_displs(rdispls),                      \
                              .member = rtype}}}),                                                 \
        mca_coll_pipering_exchange(&job, form, module, request),                                   \
        (sbuf, scounts, sdispls, stype, rbuf, rcounts, rdispls, rtype))

DEFINE_EXCHANGE(alltoallv, ALLTOALLV, struct ompi_datatype_t *, type)
DEFINE_EXCHANGE(alltoallw, ALLTOALLW, struct ompi_datatype_t *const *, types)
