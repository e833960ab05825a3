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

BEGIN_C_DECLS

/**
 * Makes a call along lines, which may begin again after its end: an allreduce with an operation
 * that commutes, or without an operation a barrier, of whose arguments only caller and tag count.
 * OMPI_ERR_OUT_OF_RESOURCE: no memory; *made is to be freed also then, if it is not NULL.
 */
int mca_coll_pipering_lines_new(const mca_coll_pipering_rounds_args_t *args,
                                const mca_coll_pipering_lines_t *lines,
                                mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
