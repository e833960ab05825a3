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
 * MPI_Exscan, MPI_Iexscan and MPI_Exscan_init (paper 4.3).
 */

#include "coll_pipering_calls.h"

int mca_coll_pipering_exscan(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                             struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    if (!mca_coll_pipering_passes(MCA_COLL_PIPERING_EXSCAN,
                                  mca_coll_pipering_bytes_of((size_t) count, dtype), comm,
                                  module)) {
        const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                         .dtype = dtype, .op = op};
        const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_EXSCAN,
                                                   MCA_COLL_PIPERING_BLOCKING, module, NULL);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    return module->below.coll_exscan(sbuf, rbuf, count, dtype, op, comm,
                                     module->below.coll_exscan_module);
}

int mca_coll_pipering_iexscan(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                              struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                              struct ompi_communicator_t *comm, ompi_request_t **request,
                              mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                     .dtype = dtype, .op = op};

    const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_EXSCAN,
                                               MCA_COLL_PIPERING_NONBLOCKING, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_iexscan(sbuf, rbuf, count, dtype, op, comm, request,
                                      module->below.coll_iexscan_module);
}

int mca_coll_pipering_exscan_init(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                                  struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                  struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                     .dtype = dtype, .op = op};

    const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_EXSCAN,
                                               MCA_COLL_PIPERING_PERSISTENT, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_exscan_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                          module->below.coll_exscan_init_module);
}
