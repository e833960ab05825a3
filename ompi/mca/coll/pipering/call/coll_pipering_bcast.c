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

MCA_COLL_PIPERING_DEFINE_SMALL(
    bcast,
    mca_coll_pipering_passes(MCA_COLL_PIPERING_BCAST,
                             mca_coll_pipering_bytes_of((size_t) count, dtype), module),
    (void *buffer, mca_common_colltools_count_t count, struct ompi_datatype_t *dtype, int root),
    (), broadcast(form, buffer, count, dtype, root, module, request),
    (buffer, count, dtype, root), (buffer, count, dtype, root))
