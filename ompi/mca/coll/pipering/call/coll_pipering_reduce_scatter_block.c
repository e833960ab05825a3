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
 * MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block and MPI_Reduce_scatter_block_init: equal
 * parts of the result.
 */

#include "coll_pipering_calls.h"

static int scatter(mca_coll_pipering_form_t form, const void *sbuf, void *rbuf,
                   mca_common_colltools_count_t rcount, struct ompi_datatype_t *dtype,
                   struct ompi_op_t *op, mca_coll_pipering_module_t *module,
                   ompi_request_t **request)
{
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf,
                                                     .rbuf = rbuf,
                                                     .count = rcount,
                                                     .dtype = dtype,
                                                     .op = op};

    return mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, form,
                                       module, request);
}

int mca_coll_pipering_reduce_scatter_block(const void *sbuf, void *rbuf,
                                           mca_common_colltools_count_t rcount,
                                           struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                           struct ompi_communicator_t *comm,
                                           mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const size_t total = mca_coll_pipering_bytes_of(
        (size_t) ompi_comm_size(comm) * (size_t) rcount, dtype);

    if (!mca_coll_pipering_passes(MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK, total, comm, module)) {
        const int rc = scatter(MCA_COLL_PIPERING_BLOCKING, sbuf, rbuf, rcount, dtype, op, module,
                               NULL);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    return module->below.coll_reduce_scatter_block(
        sbuf, rbuf, rcount, dtype, op, comm, module->below.coll_reduce_scatter_block_module);
}

int mca_coll_pipering_ireduce_scatter_block(const void *sbuf, void *rbuf,
                                            mca_common_colltools_count_t rcount,
                                            struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                            struct ompi_communicator_t *comm,
                                            ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = scatter(MCA_COLL_PIPERING_NONBLOCKING, sbuf, rbuf, rcount, dtype, op, module,
                           request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ireduce_scatter_block(
        sbuf, rbuf, rcount, dtype, op, comm, request,
        module->below.coll_ireduce_scatter_block_module);
}

int mca_coll_pipering_reduce_scatter_block_init(const void *sbuf, void *rbuf,
                                                mca_common_colltools_count_t rcount,
                                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                                struct ompi_communicator_t *comm,
                                                struct ompi_info_t *info, ompi_request_t **request,
                                                mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = scatter(MCA_COLL_PIPERING_PERSISTENT, sbuf, rbuf, rcount, dtype, op, module,
                           request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_reduce_scatter_block_init(
        sbuf, rbuf, rcount, dtype, op, comm, info, request,
        module->below.coll_reduce_scatter_block_init_module);
}
