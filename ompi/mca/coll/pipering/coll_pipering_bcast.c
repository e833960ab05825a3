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
 * MPI_Bcast, MPI_Ibcast and MPI_Bcast_init: the paper's pcast (4.2).
 */

#include "coll_pipering_small.h"

int mca_coll_pipering_bcast(void *buffer, int count, struct ompi_datatype_t *dtype, int root,
                            struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "bcast",
                                                 .collective = MCA_COLL_PIPERING_BCAST,
                                                 .rbuf = buffer,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .root = root};

    int rc = mca_coll_pipering_chain_blocking(&call, comm, module);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    MCA_COMMON_IRREGULAR_BELOW(rc, comm, bcast, module->previous.bcast,
                               module->previous.bcast_module,
                               (buffer, count, dtype, root, comm, module_below));
    return rc;
}

int mca_coll_pipering_ibcast(void *buffer, int count, struct ompi_datatype_t *dtype, int root,
                             struct ompi_communicator_t *comm, ompi_request_t **request,
                             mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "ibcast",
                                                 .collective = MCA_COLL_PIPERING_BCAST,
                                                 .rbuf = buffer,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .root = root};

    const int rc = mca_coll_pipering_chain_iserve(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.ibcast(buffer, count, dtype, root, comm, request,
                                   module->previous.ibcast_module);
}

int mca_coll_pipering_bcast_init(void *buffer, int count, struct ompi_datatype_t *dtype, int root,
                                 struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                 ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "bcast_init",
                                                 .collective = MCA_COLL_PIPERING_BCAST,
                                                 .rbuf = buffer,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .root = root};

    const int rc = mca_coll_pipering_chain_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.bcast_init(buffer, count, dtype, root, comm, info, request,
                                       module->previous.bcast_init_module);
}
