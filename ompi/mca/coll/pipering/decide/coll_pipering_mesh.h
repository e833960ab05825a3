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
 * Where a communicator has a mesh: what the user declares of the machine's wiring.
 */

#ifndef MCA_COLL_PIPERING_MESH_H
#define MCA_COLL_PIPERING_MESH_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_context.h"
#include "coll_pipering_ways.h"

BEGIN_C_DECLS

/** Whether coll_pipering_mesh is set; without it no call changes. Equal on all ranks of a job. */
static inline bool mca_coll_pipering_mesh_declared(const mca_coll_pipering_process_t *process)
{
    return NULL != process->mesh && '\0' != process->mesh[0];
}

/**
 * The mesh of a communicator as this rank sees it, to be compared with those of the others by its
 * hash; NULL: there is none. What is wrong with a declaration is said once. Local.
 */
mca_coll_pipering_ways_t *mca_coll_pipering_ways_find(mca_coll_pipering_context_t *context);

/**
 * Whether a mesh is declared for all ranks of a communicator: a connected job may have declared
 * another one, or none. Equal on all ranks of a job. O(p) the first time.
 */
bool mca_coll_pipering_mesh_common(mca_coll_pipering_context_t *context);

/**
 * Whether exchanges on a communicator should suit a mesh: one is declared for all ranks, extents
 * fit the job, and the ranks are on several nodes, so that data goes along links. Equal on all
 * ranks of a job. O(p) the first time.
 */
bool mca_coll_pipering_mesh_for_exchanges(mca_coll_pipering_context_t *context);

END_C_DECLS

#endif
