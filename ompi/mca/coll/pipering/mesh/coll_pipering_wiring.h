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
 * The wiring that the user declares (coll_pipering_wiring.c).
 */

#ifndef MCA_COLL_PIPERING_WIRING_H
#define MCA_COLL_PIPERING_WIRING_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_plan_mesh.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_context.h"

BEGIN_C_DECLS

/** The vertices of a machine at which the ranks of this job stand. */
typedef struct mca_coll_pipering_wiring_t {
    bool cartesian; /**< communicators say it themselves; the rest is not used */
    bool found;     /**< else nothing usable is declared */
    bool wrong;     /**< extents that do not fit the job: all ranks find that */
    mca_coll_pipering_extents_t machine;
    int size; /**< ranks of the job */
    int *at;  /**< [size] the vertex of each */
} mca_coll_pipering_wiring_t;

/**
 * What coll_pipering_mesh declares. The first time it is read, and what is wrong with it is said.
 * NULL: no memory.
 */
const mca_coll_pipering_wiring_t *
mca_coll_pipering_wiring_ensure(mca_coll_pipering_process_t *process);

END_C_DECLS

#endif
