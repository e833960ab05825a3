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

#include "coll_pipering_calls.h"
#include "coll_pipering_forms.h"

int mca_coll_pipering_allgatherv(const void *sbuf, mca_common_colltools_count_t scount,
                                 struct ompi_datatype_t *sdtype, void *rbuf,
                                 mca_common_colltools_counts_t rcounts,
                                 mca_common_colltools_displs_t displs,
                                 struct ompi_datatype_t *rdtype, struct ompi_communicator_t *comm,
                                 mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_common_colltools_array_t counts = mca_common_colltools_counts(rcounts);

    /* counts that may be those of the plan used last are looked at there */
    if (sdtype == rdtype && MPI_IN_PLACE != sbuf
        && mca_common_colltools_entry(counts, 0) != mca_coll_pipering_last_count(&module->context)
        && mca_coll_pipering_passes(MCA_COLL_PIPERING_ALLGATHERV,
                                    mca_coll_pipering_bytes_of(mca_coll_pipering_sum_of(counts,
                                                                                  comm),
                                                               rdtype),
                                    module)) {
        return module->below.coll_allgatherv(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype,
                                             comm, module->below.coll_allgatherv_module);
    }
    mca_coll_pipering_gather_t gather = {.sbuf = sbuf, .scount = scount, .sdtype = sdtype,
                                         .rbuf = rbuf, .rdtype = rdtype,
                                         .rcounts = counts,
                                         .displs = mca_common_colltools_displs(displs)};
    const int rc = mca_coll_pipering_gather(&gather, MCA_COLL_PIPERING_ALLGATHERV,
                                            MCA_COLL_PIPERING_BLOCKING, module, NULL);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_allgatherv(gather.sbuf, gather.scount, gather.sdtype, gather.rbuf,
                                         rcounts, displs, gather.rdtype, comm,
                                         module->below.coll_allgatherv_module);
}

MCA_COLL_PIPERING_DEFINE_LATER(
    allgatherv,
    (const void *sbuf, mca_common_colltools_count_t scount, struct ompi_datatype_t *sdtype,
     void *rbuf, mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t displs,
     struct ompi_datatype_t *rdtype),
    (mca_coll_pipering_gather_t gather
     = {.sbuf = sbuf, .scount = scount, .sdtype = sdtype, .rbuf = rbuf, .rdtype = rdtype,
        .rcounts = mca_common_colltools_counts(rcounts),
        .displs = mca_common_colltools_displs(displs)}),
    mca_coll_pipering_gather(&gather, MCA_COLL_PIPERING_ALLGATHERV, form, module, request),
    (gather.sbuf, gather.scount, gather.sdtype, gather.rbuf, rcounts, displs, gather.rdtype))
