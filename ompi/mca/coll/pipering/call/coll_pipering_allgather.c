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
 * MPI_Allgather, whose contributions are all of one size, and MPI_Allgatherv, whose are of any,
 * each in three forms.
 */

#include "coll_pipering_calls.h"
#include "coll_pipering_forms.h"

#define BARE MCA_COLL_PIPERING_BARE

/*
 * A call of so many elements in all, which `parameters` say, as `fields` in a gather and
 * `arguments` for the module below. It may pass where `may_pass`.
 */
#define DEFINE_GATHER(name, NAME, may_pass, elements, parameters, fields, arguments)               \
    MCA_COLL_PIPERING_DEFINE_SMALL(name,                                                           \
        sdtype == rdtype && MPI_IN_PLACE != sbuf && may_pass                                       \
            && mca_coll_pipering_passes(MCA_COLL_PIPERING_##NAME,                                  \
                                        mca_coll_pipering_bytes_of(elements, rdtype), module),     \
        (const void *sbuf, mca_common_colltools_count_t scount, struct ompi_datatype_t *sdtype,    \
         void *rbuf, BARE parameters, struct ompi_datatype_t *rdtype),                             \
        (mca_coll_pipering_gather_t gather                                                         \
         = {.sbuf = sbuf, .scount = scount, .sdtype = sdtype, .rbuf = rbuf, .rdtype = rdtype,      \
            BARE fields}),                                                                         \
        mca_coll_pipering_gather(&gather, MCA_COLL_PIPERING_##NAME, form, module, request),        \
        (sbuf, scount, sdtype, rbuf, BARE arguments, rdtype),                                      \
        (gather.sbuf, gather.scount, gather.sdtype, rbuf, BARE arguments, rdtype))

DEFINE_GATHER(allgather, ALLGATHER, true, (size_t) ompi_comm_size(comm) * (size_t) rcount,
              (mca_common_colltools_count_t rcount), (.rcount = rcount), (rcount))

/* counts that may be those of the plan used last are looked at there */
DEFINE_GATHER(allgatherv, ALLGATHERV,
              mca_common_colltools_entry(mca_common_colltools_counts(rcounts), 0)
                  != mca_coll_pipering_last_count(&module->context),
              mca_coll_pipering_sum_of(mca_common_colltools_counts(rcounts), comm),
              (mca_common_colltools_counts_t rcounts, mca_common_colltools_displs_t displs),
              (.rcounts = mca_common_colltools_counts(rcounts),
               .displs = mca_common_colltools_displs(displs)),
              (rcounts, displs))
