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
 * MPI_Reduce_scatter, MPI_Ireduce_scatter and MPI_Reduce_scatter_init: parts of any sizes.
 */

#include "coll_pipering_calls.h"

static int scatter(mca_coll_pipering_form_t form, const void *sbuf, void *rbuf,
                   mca_common_colltools_counts_t rcounts, struct ompi_datatype_t *dtype,
                   struct ompi_op_t *op, mca_coll_pipering_module_t *module,
                   ompi_request_t **request)
{
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf,
                                                     .rbuf = rbuf,
                                                     .counts = mca_common_colltools_counts(rcounts),
                                                     .dtype = dtype,
                                                     .op = op};

    return mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_REDUCE_SCATTER, form, module,
                                       request);
}

int mca_coll_pipering_reduce_scatter(const void *sbuf, void *rbuf,
                                     mca_common_colltools_counts_t rcounts,
                                     struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const size_t total = mca_coll_pipering_bytes_of(
        mca_coll_pipering_sum_of(mca_common_colltools_counts(rcounts), comm), dtype);

    if (!mca_coll_pipering_passes(MCA_COLL_PIPERING_REDUCE_SCATTER, total, comm, module)) {
        const int rc = scatter(MCA_COLL_PIPERING_BLOCKING, sbuf, rbuf, rcounts, dtype, op, module,
                               NULL);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    return module->below.coll_reduce_scatter(sbuf, rbuf, rcounts, dtype, op, comm,
                                             module->below.coll_reduce_scatter_module);
}

int mca_coll_pipering_ireduce_scatter(const void *sbuf, void *rbuf,
                                      mca_common_colltools_counts_t rcounts,
                                      struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                      struct ompi_communicator_t *comm, ompi_request_t **request,
                                      mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = scatter(MCA_COLL_PIPERING_NONBLOCKING, sbuf, rbuf, rcounts, dtype, op, module,
                           request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ireduce_scatter(sbuf, rbuf, rcounts, dtype, op, comm, request,
                                              module->below.coll_ireduce_scatter_module);
}

int mca_coll_pipering_reduce_scatter_init(const void *sbuf, void *rbuf,
                                          mca_common_colltools_counts_t rcounts,
                                          struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                          struct ompi_communicator_t *comm,
                                          struct ompi_info_t *info, ompi_request_t **request,
                                          mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = scatter(MCA_COLL_PIPERING_PERSISTENT, sbuf, rbuf, rcounts, dtype, op, module,
                           request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_reduce_scatter_init(sbuf, rbuf, rcounts, dtype, op, comm, info,
                                                  request,
                                                  module->below.coll_reduce_scatter_init_module);
}
