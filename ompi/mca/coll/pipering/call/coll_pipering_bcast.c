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
 * MPI_Bcast, MPI_Ibcast and MPI_Bcast_init: the paper's pcast (4.2). Bytes go along the chain, so
 * that ranks may describe them by different types.
 */

#include "coll_pipering_calls.h"

__opal_attribute_noinline__ /* so that small calls pass with few instructions */
static int broadcast(mca_coll_pipering_form_t form, void *buffer,
                     mca_common_colltools_count_t count, struct ompi_datatype_t *dtype, int root,
                     mca_coll_pipering_module_t *module, ompi_request_t **request)
{
    const mca_coll_pipering_call_t call = {.context = &module->context,
                                           .collective = MCA_COLL_PIPERING_BCAST,
                                           .form = form,
                                           .sizes = {.count = (size_t) count,
                                                     .scale = mca_coll_pipering_bytes_of(1, dtype),
                                                     .unit = 1,
                                                     .parts = 1},
                                           .total = mca_coll_pipering_bytes_of((size_t) count,
                                                                               dtype),
                                           .root = root,
                                           .in_place = true,
                                           .recv = {.buffer = buffer,
                                                    .type = dtype,
                                                    .single = true,
                                                    .count = (size_t) count}};

    return mca_coll_pipering_serve(&call, module, NULL, request);
}

/* By the module below. */
static inline int call_below(void *buffer, mca_common_colltools_count_t count,
                             struct ompi_datatype_t *dtype, int root,
                             struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module)
{
    int rc;

    MCA_COMMON_COLLTOOLS_BELOW(rc, comm, bcast, module->below.coll_bcast,
                               module->below.coll_bcast_module,
                               (buffer, count, dtype, root, comm, module_below));
    return rc;
}

int mca_coll_pipering_bcast(void *buffer, mca_common_colltools_count_t count,
                            struct ompi_datatype_t *dtype, int root,
                            struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    if (!mca_coll_pipering_passes(MCA_COLL_PIPERING_BCAST,
                                  mca_coll_pipering_bytes_of((size_t) count, dtype), comm,
                                  module)) {
        const int rc = broadcast(MCA_COLL_PIPERING_BLOCKING, buffer, count, dtype, root, module,
                                 NULL);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    return call_below(buffer, count, dtype, root, comm, module);
}

int mca_coll_pipering_ibcast(void *buffer, mca_common_colltools_count_t count,
                             struct ompi_datatype_t *dtype, int root,
                             struct ompi_communicator_t *comm, ompi_request_t **request,
                             mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = broadcast(MCA_COLL_PIPERING_NONBLOCKING, buffer, count, dtype, root, module,
                             request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_ibcast(buffer, count, dtype, root, comm, request,
                                     module->below.coll_ibcast_module);
}

int mca_coll_pipering_bcast_init(void *buffer, mca_common_colltools_count_t count,
                                 struct ompi_datatype_t *dtype, int root,
                                 struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = broadcast(MCA_COLL_PIPERING_PERSISTENT, buffer, count, dtype, root, module,
                             request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->below.coll_bcast_init(buffer, count, dtype, root, comm, info, request,
                                         module->below.coll_bcast_init_module);
}
