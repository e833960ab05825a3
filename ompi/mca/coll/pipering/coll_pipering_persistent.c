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
 * Persistent calls (MPI_Bcast_init, ...; in 4.1 MPIX_Bcast_init, ...): a nonblocking
 * call that is started again and again, with the plan of its first start. The info
 * says nothing to this component.
 */

#include "coll_pipering.h"

int mca_coll_pipering_allgather_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                     void *rbuf, int rcount, struct ompi_datatype_t *rdtype,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_gather_t call = {.name = "allgather_init",
                                             .sbuf = sbuf,
                                             .scount = scount,
                                             .sdtype = sdtype,
                                             .rbuf = rbuf,
                                             .rcount = rcount,
                                             .rdtype = rdtype};

    const int rc = mca_coll_pipering_gather_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.allgather_init(sbuf, scount, sdtype, rbuf, rcount, rdtype, comm, info,
                                           request, module->previous.allgather_init_module);
}

int mca_coll_pipering_allgatherv_init(const void *sbuf, int scount, struct ompi_datatype_t *sdtype,
                                      void *rbuf, const int *rcounts, const int *displs,
                                      struct ompi_datatype_t *rdtype,
                                      struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                      ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_gather_t call = {.name = "allgatherv_init",
                                             .sbuf = sbuf,
                                             .scount = scount,
                                             .sdtype = sdtype,
                                             .rbuf = rbuf,
                                             .rcounts = rcounts,
                                             .displs = displs,
                                             .rdtype = rdtype};

    const int rc = mca_coll_pipering_gather_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.allgatherv_init(sbuf, scount, sdtype, rbuf, rcounts, displs, rdtype,
                                            comm, info, request,
                                            module->previous.allgatherv_init_module);
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

int mca_coll_pipering_reduce_init(const void *sbuf, void *rbuf, int count,
                                  struct ompi_datatype_t *dtype, struct ompi_op_t *op, int root,
                                  struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "reduce_init",
                                                 .collective = MCA_COLL_PIPERING_REDUCE,
                                                 .sbuf = sbuf,
                                                 .rbuf = rbuf,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .op = op,
                                                 .root = root};

    const int rc = mca_coll_pipering_chain_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.reduce_init(sbuf, rbuf, count, dtype, op, root, comm, info, request,
                                        module->previous.reduce_init_module);
}

int mca_coll_pipering_scan_init(const void *sbuf, void *rbuf, int count,
                                struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "scan_init",
                                                 .collective = MCA_COLL_PIPERING_SCAN,
                                                 .sbuf = sbuf,
                                                 .rbuf = rbuf,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .op = op};

    const int rc = mca_coll_pipering_chain_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.scan_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                      module->previous.scan_init_module);
}

int mca_coll_pipering_exscan_init(const void *sbuf, void *rbuf, int count,
                                  struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                  struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                  ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "exscan_init",
                                                 .collective = MCA_COLL_PIPERING_EXSCAN,
                                                 .sbuf = sbuf,
                                                 .rbuf = rbuf,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .op = op};

    const int rc = mca_coll_pipering_chain_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.exscan_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                        module->previous.exscan_init_module);
}

int mca_coll_pipering_allreduce_init(const void *sbuf, void *rbuf, int count,
                                     struct ompi_datatype_t *dtype, struct ompi_op_t *op,
                                     struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                     ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const mca_coll_pipering_chain_call_t call = {.name = "allreduce_init",
                                                 .collective = MCA_COLL_PIPERING_ALLREDUCE,
                                                 .sbuf = sbuf,
                                                 .rbuf = rbuf,
                                                 .count = count,
                                                 .dtype = dtype,
                                                 .op = op};

    const int rc = mca_coll_pipering_chain_later(&call, comm, module, request);
    if (OMPI_ERR_NOT_SUPPORTED != rc) {
        return rc;
    }
    return module->previous.allreduce_init(sbuf, rbuf, count, dtype, op, comm, info, request,
                                           module->previous.allreduce_init_module);
}
