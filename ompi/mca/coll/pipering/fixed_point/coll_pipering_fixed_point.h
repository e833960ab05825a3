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
 * The door of this folder: sums of floating-point values in fixed point, whose bits do not depend
 * on the order. Other folders include no other header of it.
 */

#ifndef MCA_COLL_PIPERING_FIXED_POINT_H
#define MCA_COLL_PIPERING_FIXED_POINT_H

#include <stdbool.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_params.h"

struct mca_coll_pipering_module_t;
struct mca_coll_pipering_reduction_t;
struct ompi_op_t;
struct ompi_request_t;

/** The types and operations of a module's sums; NULL before the first. */
typedef struct mca_coll_pipering_addends_t mca_coll_pipering_addends_t;

void mca_coll_pipering_addends_free(mca_coll_pipering_addends_t *addends);

/** Whether an operation is one of theirs, which are exact. */
bool mca_coll_pipering_adds_addends(const mca_coll_pipering_addends_t *addends,
                                    const struct ompi_op_t *op);

/**
 * Serves MPI_Allreduce or MPI_Reduce. OMPI_ERR_NOT_SUPPORTED, on all ranks: it is no sum, or one of
 * another type.
 */
int mca_coll_pipering_fixed_sum(const struct mca_coll_pipering_reduction_t *reduction,
                                mca_coll_pipering_collective_t collective,
                                mca_coll_pipering_form_t form,
                                struct mca_coll_pipering_module_t *module,
                                struct ompi_request_t **request);

#endif
