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
 * Short calls along the lines of a mesh: a plan of the schedule engine (lines:
 * coll_pipering_plan_mesh_lines.c).
 *
 *     value ---> sends of phase 0      value ---> sends of phase 1
 *       |                               ^ |
 *       '--> combined with receives ----' '--> combined ...       the last one: the result
 *
 * Values of all phases have memory of their own, so all receives are posted at once. All ranks
 * combine the parts of a phase from the last one on, so their results have the same bits.
 *
 * Without an operation messages have no bytes: a barrier. No rank is through before it has heard of
 * all others, by way of the others.
 */

#ifndef MCA_COLL_PIPERING_LINES_H
#define MCA_COLL_PIPERING_LINES_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_plan_mesh_lines.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_scheduled.h"
#include "ompi/op/op.h"

BEGIN_C_DECLS

/** The arguments of a call along lines; what they point at is borrowed until it is freed. */
typedef struct mca_coll_pipering_lines_args_t {
    const mca_common_colltools_caller_t *caller; /**< for complaints about messages */
    mca_coll_pipering_lines_t lines;
    ompi_op_t *op;         /**< one that commutes; NULL: a barrier, with nothing below but tag */
    ompi_datatype_t *type;
    size_t count, bytes;   /**< of the vector: elements of the type, and bytes of the signature */
    const char *send;      /**< NULL: this rank's value is in `recv` */
    char *recv;
    int tag;
} mca_coll_pipering_lines_args_t;

/**
 * Makes a call along lines, which may begin again after its end. OMPI_ERR_OUT_OF_RESOURCE: no
 * memory; *made is to be freed also then, if it is not NULL.
 */
int mca_coll_pipering_along_lines_new(const mca_coll_pipering_lines_args_t *args,
                                      mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
