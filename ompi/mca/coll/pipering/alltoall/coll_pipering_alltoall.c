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
 * from MCA_COLL_PIPERING_SMALL bytes on, or if the variable alltoall_algorithm names an algorithm;
 * the module below serves all others.
 */

#include "coll_pipering_alltoall.h"

#include "ompi/mca/coll/pipering/call/coll_pipering_forms.h"

MCA_COLL_PIPERING_DEFINE_FORMS(
    alltoall,
    (const void *sbuf, mca_common_colltools_count_t scount, struct ompi_datatype_t *sdtype,
     void *rbuf, mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype),
    (const size_t p = (size_t) ompi_comm_size(comm);
     mca_coll_pipering_exchange_job_t job
     = {.call = MCA_COLL_PIPERING_CALL_ALLTOALL,
        .plan = {.copies_own = true,
                 .send = {.buffer = (char *) sbuf,
                          .count = p,
                          .each = (size_t) scount,
                          .type = sdtype},
                 .recv = {.buffer = rbuf, .count = p, .each = (size_t) rcount, .type = rdtype}}}),
    mca_coll_pipering_exchange(&job, form, module, request),
    (sbuf, scount, sdtype, rbuf, rcount, rdtype))
