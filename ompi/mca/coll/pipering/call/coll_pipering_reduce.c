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
 * MPI_Reduce, MPI_Ireduce and MPI_Reduce_init: the paper's rpipe (4.3).
 */

#include "coll_pipering_calls.h"

/* By the module below. */
static inline int call_below(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                             struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module)
{
    int rc;

    MCA_COMMON_COLLTOOLS_BELOW(rc, comm, reduce, module->below.coll_reduce,
                               module->below.coll_reduce_module,
                               (sbuf, rbuf, count, dtype, op, root, comm, module_below));
    return rc;
}

int mca_coll_pipering_reduce(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                             struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    if (!mca_coll_pipering_passes(MCA_COLL_PIPERING_REDUCE,
                                  mca_coll_pipering_bytes_of((size_t) count, dtype), comm,
                                  module)) {
        const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                         .dtype = dtype, .op = op, .root = root};
        const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_REDUCE,
                                                   MCA_COLL_PIPERING_BLOCKING, module, NULL);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    return call_below(sbuf, rbuf, count, dtype, op, root, comm, module);
}

int mca_coll_pipering_ireduce(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                              struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                              struct ompi_communicator_t *comm, ompi_request_t **request,
                              mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                     .dtype = dtype, .op = op, .root = root};

    const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_REDUCE,
                                               MCA_COLL_PIPERING_NONBLOCKING, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ireduce(sbuf, rbuf, count, dtype, op, root, comm, request,
                                      module->below.coll_ireduce_module);
}

int mca_coll_pipering_reduce_init(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                                  struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                  struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                     .dtype = dtype, .op = op, .root = root};

    const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_REDUCE,
                                               MCA_COLL_PIPERING_PERSISTENT, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_reduce_init(sbuf, rbuf, count, dtype, op, root, comm, info, request,
                                          module->below.coll_reduce_init_module);
}
