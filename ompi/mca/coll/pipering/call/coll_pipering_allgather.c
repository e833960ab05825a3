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

#include "coll_pipering_calls.h"
#include "coll_pipering_forms.h"

/* By the module below. */
static inline int call_below(const void *sbuf, mca_common_colltools_count_t scount,
                             struct ompi_datatype_t *sdtype, void *rbuf,
                             mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
                             struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module)
{
    int rc;

    MCA_COMMON_COLLTOOLS_BELOW(rc, comm, allgather, module->below.coll_allgather,
                               module->below.coll_allgather_module,
                               (sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, module_below));
    return rc;
}

int mca_coll_pipering_allgather(const void *sbuf, mca_common_colltools_count_t scount,
                                struct ompi_datatype_t *sdtype, void *rbuf,
                                mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    if (sdtype == rdtype && MPI_IN_PLACE != sbuf
        && mca_coll_pipering_passes(MCA_COLL_PIPERING_ALLGATHER,
                                    mca_coll_pipering_bytes_of((size_t) ompi_comm_size(comm)
                                                                   * (size_t) rcount,
                                                               rdtype),
                                    module)) {
        return call_below(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, module);
    }
    mca_coll_pipering_gather_t gather = {.sbuf = sbuf, .scount = scount, .sdtype = sdtype,
                                         .rbuf = rbuf, .rcount = rcount, .rdtype = rdtype};
    const int rc = mca_coll_pipering_gather(&gather, MCA_COLL_PIPERING_ALLGATHER,
                                            MCA_COLL_PIPERING_BLOCKING, module, NULL);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return call_below(gather.sbuf, gather.scount, gather.sdtype, gather.rbuf, gather.rcount,
                      gather.rdtype, comm, module);
}

MCA_COLL_PIPERING_DEFINE_LATER(
    allgather,
    (const void *sbuf, mca_common_colltools_count_t scount, struct ompi_datatype_t *sdtype,
     void *rbuf, mca_common_colltools_count_t rcount, struct ompi_datatype_t *rdtype),
    (mca_coll_pipering_gather_t gather
     = {.sbuf = sbuf, .scount = scount, .sdtype = sdtype, .rbuf = rbuf, .rcount = rcount,
        .rdtype = rdtype}),
    mca_coll_pipering_gather(&gather, MCA_COLL_PIPERING_ALLGATHER, form, module, request),
    (gather.sbuf, gather.scount, gather.sdtype, gather.rbuf, gather.rcount, gather.rdtype))
