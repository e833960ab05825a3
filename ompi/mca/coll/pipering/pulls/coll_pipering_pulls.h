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
 * The door of this folder: pulls, gathers and broadcasts inside a node, in which each rank reads
 * what it wants from the memory of the ranks that have it. Other folders include no other header of
 * it.
 */

#ifndef MCA_COLL_PIPERING_PULLS_H
#define MCA_COLL_PIPERING_PULLS_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/coll/pipering/engine/coll_pipering_scheduled.h"
#include "ompi/mca/common/colltools/common_colltools.h"

BEGIN_C_DECLS

/**
 * For the process when it is opened, before its card is told: what it can read is like that of
 * others whose *reads is equal, 0: nothing. The first process of a node makes the board, `name`
 * [MCA_COMMON_COLLTOOLS_BOARD_MOST] becomes where it is, "": there is none.
 */
void mca_coll_pipering_pulls_open(mca_common_colltools_directory_t *directory, uint32_t *reads,
                                  char *name);
void mca_coll_pipering_pulls_close(void);

/**
 * Makes the schedule of a gather, whose bytes by rank and contributor are in `args`; a broadcast is
 * one to which the root alone contributes. `call` numbers the communicator's calls, equally on all
 * ranks. The rank's contribution is packed, if it is not dense. OMPI_ERR_OUT_OF_RESOURCE: the
 * others do not learn of it. All other errors are those of the schedule, of which they do.
 */
int mca_coll_pipering_pulls_new(const mca_coll_pipering_rounds_args_t *args, uint64_t call,
                                mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
