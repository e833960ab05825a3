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
#include "coll_pipering_forms.h"

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

static __opal_attribute_noinline__ int
broadcast_or_leave(void *buffer, mca_common_colltools_count_t count, struct ompi_datatype_t *dtype,
                   int root, struct ompi_communicator_t *comm, mca_coll_pipering_module_t *module)
{
    const int rc = broadcast(MCA_COLL_PIPERING_BLOCKING, buffer, count, dtype, root, module, NULL);

    return OMPI_ERR_NOT_SUPPORTED == rc ? call_below(buffer, count, dtype, root, comm, module) : rc;
}

/* A small call passes with few instructions if it ends in one call. */
int mca_coll_pipering_bcast(void *buffer, mca_common_colltools_count_t count,
                            struct ompi_datatype_t *dtype, int root,
                            struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    return mca_coll_pipering_passes(MCA_COLL_PIPERING_BCAST,
                                    mca_coll_pipering_bytes_of((size_t) count, dtype), module)
               ? call_below(buffer, count, dtype, root, comm, module)
               : broadcast_or_leave(buffer, count, dtype, root, comm, module);
}

MCA_COLL_PIPERING_DEFINE_LATER(
    bcast,
    (void *buffer, mca_common_colltools_count_t count, struct ompi_datatype_t *dtype, int root),
    (), broadcast(form, buffer, count, dtype, root, module, request),
    (buffer, count, dtype, root))
