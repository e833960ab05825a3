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
 * MPI_Reduce, MPI_Allreduce, MPI_Scan, MPI_Exscan (paper 4.3, 4.4), MPI_Reduce_scatter and
 * MPI_Reduce_scatter_block, each in three forms.
 */

#include "coll_pipering_calls.h"
#include "coll_pipering_forms.h"

#define BARE MCA_COLL_PIPERING_BARE

/* The blocking form, in pieces: a small call passes with few instructions if it ends in one call. */
#define DEFINE_BLOCKING(name, NAME, elements, parameters, view, served, arguments)                 \
    static inline int name##_below(BARE parameters, struct ompi_communicator_t *comm,              \
                                   mca_coll_pipering_module_t *module)                             \
    {                                                                                              \
        int rc;                                                                                    \
                                                                                                   \
        MCA_COMMON_COLLTOOLS_BELOW(rc, comm, name, module->below.coll_##name,                      \
                                   module->below.coll_##name##_module,                             \
                                   (BARE arguments, comm, module_below));                          \
        return rc;                                                                                 \
    }                                                                                              \
                                                                                                   \
    static __opal_attribute_noinline__ int name##_served(BARE parameters,                          \
                                                         struct ompi_communicator_t *comm,         \
                                                         mca_coll_pipering_module_t *module)       \
    {                                                                                              \
        const mca_coll_pipering_form_t form = MCA_COLL_PIPERING_BLOCKING;                          \
        ompi_request_t **const request = NULL;                                                     \
        BARE view;                                                                                 \
        const int rc = served;                                                                     \
                                                                                                   \
        return OMPI_ERR_NOT_SUPPORTED == rc ? name##_below(BARE arguments, comm, module) : rc;     \
    }                                                                                              \
                                                                                                   \
    int mca_coll_pipering_##name(BARE parameters, struct ompi_communicator_t *comm,                \
                                 mca_coll_base_module_t *base)                                     \
    {                                                                                              \
        mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;                  \
                                                                                                   \
        return mca_coll_pipering_passes(MCA_COLL_PIPERING_##NAME,                                  \
                                        mca_coll_pipering_bytes_of(elements, dtype), module)       \
                   ? name##_below(BARE arguments, comm, module)                                    \
                   : name##_served(BARE arguments, comm, module);                                  \
    }

#define DEFINE(name, NAME, elements, parameters, view, served, arguments)                          \
    DEFINE_BLOCKING(name, NAME, elements, parameters, view, served, arguments)                     \
    MCA_COLL_PIPERING_DEFINE_LATER(name, parameters, view, served, arguments)

/*
 * A call whose count or counts are `type amount`, of so many elements in all; `fields` say so in a
 * reduction. `root_parameter` and `root_argument` are empty, or have a comma before them.
 */
#define DEFINE_REDUCTION(name, NAME, type, amount, elements, fields, root_parameter,               \
                         root_argument)                                                            \
    DEFINE(name, NAME, elements,                                                                   \
           (const void *sbuf, void *rbuf, type amount, struct ompi_datatype_t *dtype,              \
            struct ompi_op_t *op BARE root_parameter),                                             \
           (const mca_coll_pipering_reduction_t reduction                                          \
            = {.sbuf = sbuf, .rbuf = rbuf, .dtype = dtype, .op = op, BARE fields}),                \
           mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_##NAME, form, module,         \
                                       request),                                                   \
           (sbuf, rbuf, amount, dtype, op BARE root_argument))

DEFINE_REDUCTION(reduce, REDUCE, mca_common_colltools_count_t, count, (size_t) count,
                 (.count = count, .root = root), (, int root), (, root))
DEFINE_REDUCTION(allreduce, ALLREDUCE, mca_common_colltools_count_t, count, (size_t) count,
                 (.count = count), (), ())
DEFINE_REDUCTION(scan, SCAN, mca_common_colltools_count_t, count, (size_t) count,
                 (.count = count), (), ())
DEFINE_REDUCTION(exscan, EXSCAN, mca_common_colltools_count_t, count, (size_t) count,
                 (.count = count), (), ())
DEFINE_REDUCTION(reduce_scatter, REDUCE_SCATTER, mca_common_colltools_counts_t, counts,
                 mca_coll_pipering_sum_of(mca_common_colltools_counts(counts), comm),
                 (.counts = mca_common_colltools_counts(counts)), (), ())
DEFINE_REDUCTION(reduce_scatter_block, REDUCE_SCATTER_BLOCK, mca_common_colltools_count_t, count,
                 (size_t) ompi_comm_size(comm) * (size_t) count, (.count = count), (), ())
