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
 * What reductions, reduce-scatters and scans share: from their arguments to a call.
 */

#include "coll_pipering_calls.h"

#include "ompi/op/op.h"
#include "opal/datatype/opal_datatype_internal.h"

/* Basic types from the first to the last, as in a datatype's bdt_used. */
#define BASIC_TYPES(first, last) ((UINT32_C(2) << (last)) - (UINT32_C(1) << (first)))
#define ROUNDED BASIC_TYPES(OPAL_DATATYPE_FLOAT2, OPAL_DATATYPE_LONG_DOUBLE_COMPLEX)
#define SATURATED                                          \
    (BASIC_TYPES(OPAL_DATATYPE_INT1, OPAL_DATATYPE_INT2)   \
     | BASIC_TYPES(OPAL_DATATYPE_UINT1, OPAL_DATATYPE_UINT2))

/*
 * Sums and products are rounded; MPI_MAX and its kin take one of two zeros or NaNs by their
 * place, so no operation on floating-point values or pairs of them is safe; op/avx makes
 * some sums of short integers saturate. What a user's operation does nobody knows. All
 * others are exact: integers (which wrap), logical and bitwise operations.
 */
static bool order_matters(struct ompi_op_t *op, const struct ompi_datatype_t *dtype)
{
    const uint32_t basic = dtype->super.bdt_used;

    return !ompi_op_is_intrinsic(op) || 0 != (ROUNDED & basic)
           || (&ompi_mpi_op_sum.op == op && 0 != (SATURATED & basic));
}

int mca_coll_pipering_reduction(const mca_coll_pipering_reduction_t *reduction,
                                mca_coll_pipering_collective_t collective,
                                mca_coll_pipering_form_t form,
                                mca_coll_pipering_module_t *module, ompi_request_t **request)
{
    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM; /* its communicator may be another one */
    }
    const bool in_place = MPI_IN_PLACE == reduction->sbuf;
    ompi_communicator_t *comm = module->context.comm;
    const int parts = mca_coll_pipering_scatters_result(collective) ? ompi_comm_size(comm) : 1;
    mca_coll_pipering_call_t call = {.context = &module->context,
                                     .collective = collective,
                                     .form = form,
                                     .sizes = {.counts = reduction->counts,
                                               .count = (size_t) reduction->count,
                                               .scale = 1,
                                               .parts = parts},
                                     .root = reduction->root,
                                     .op = reduction->op,
                                     .order_matters = !mca_coll_pipering_adds_addends(
                                                          module->addends, reduction->op)
                                                      && order_matters(reduction->op,
                                                                       reduction->dtype),
                                     .in_place = in_place,
                                     .send = {.buffer = in_place ? reduction->rbuf
                                                                 : (void *) reduction->sbuf,
                                              .type = reduction->dtype,
                                              .single = true},
                                     .recv = {.buffer = reduction->rbuf,
                                              .type = reduction->dtype,
                                              .counts = reduction->counts,
                                              .single = true}};

    if (mca_coll_pipering_is_fixed(collective)) {
        const int rc = mca_coll_pipering_fixed_sum(reduction, collective, form, module, request);
        if (OMPI_ERR_NOT_SUPPORTED != rc) {
            return rc;
        }
    }
    ompi_datatype_type_size(reduction->dtype, &call.sizes.unit);
    call.total = call.sizes.unit * mca_coll_pipering_elements_of(&call.sizes, comm);
    return mca_coll_pipering_serve(&call, module, NULL, request);
}
