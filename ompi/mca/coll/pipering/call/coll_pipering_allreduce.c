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
 * MPI_Allreduce, MPI_Iallreduce and MPI_Allreduce_init (paper 4.4), and beyond it along a ring.
 */

#include "coll_pipering_calls.h"

/* By the module below. */
static inline int call_below(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                             struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                             struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module)
{
    int rc;

    MCA_COMMON_COLLTOOLS_BELOW(rc, comm, allreduce, module->below.coll_allreduce,
                               module->below.coll_allreduce_module,
                               (sbuf, rbuf, count, dtype, op, comm, module_below));
    return rc;
}

int mca_coll_pipering_allreduce(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    if (!mca_coll_pipering_passes(MCA_COLL_PIPERING_ALLREDUCE,
                                  mca_coll_pipering_bytes_of((size_t) count, dtype), comm,
                                  module)) {
        const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                         .dtype = dtype, .op = op};
        const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_ALLREDUCE,
                                                   MCA_COLL_PIPERING_BLOCKING, module, NULL);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    return call_below(sbuf, rbuf, count, dtype, op, comm, module);
}

int mca_coll_pipering_iallreduce(const void *sbuf, void *rbuf, mca_common_colltools_count_t count,
                                 struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                 struct ompi_communicator_t *comm, ompi_request_t **request,
                                 mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                     .dtype = dtype, .op = op};

    const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_ALLREDUCE,
                                               MCA_COLL_PIPERING_NONBLOCKING, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_iallreduce(sbuf, rbuf, count, dtype, op, comm, request,
                                         module->below.coll_iallreduce_module);
}

int mca_coll_pipering_allreduce_init(const void *sbuf, void *rbuf,
                                     mca_common_colltools_count_t count,
                                     struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_reduction_t reduction = {.sbuf = sbuf, .rbuf = rbuf, .count = count,
                                                     .dtype = dtype, .op = op};

    const int rc = mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_ALLREDUCE,
                                               MCA_COLL_PIPERING_PERSISTENT, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_allreduce_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                             module->below.coll_allreduce_init_module);
}
