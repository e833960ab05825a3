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

/*
 * A call whose count or counts are `type amount`, of so many elements in all; `fields` say so in a
 * reduction. `root_parameter` and `root_argument` are empty, or have a comma before them.
 */
#define DEFINE_REDUCTION(name, NAME, type, amount, elements, fields, root_parameter,               \
                         root_argument)                                                            \
    MCA_COLL_PIPERING_DEFINE_SMALL(name,                                                           \
           mca_coll_pipering_passes(MCA_COLL_PIPERING_##NAME,                                      \
                                    mca_coll_pipering_bytes_of(elements, dtype), module),          \
           (const void *sbuf, void *rbuf, type amount, struct ompi_datatype_t *dtype,              \
            struct ompi_op_t *op BARE root_parameter),                                             \
           (const mca_coll_pipering_reduction_t reduction                                          \
            = {.sbuf = sbuf, .rbuf = rbuf, .dtype = dtype, .op = op, BARE fields}),                \
           mca_coll_pipering_reduction(&reduction, MCA_COLL_PIPERING_##NAME, form, module,         \
                                       request),                                                   \
           (sbuf, rbuf, amount, dtype, op BARE root_argument),                                     \
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
