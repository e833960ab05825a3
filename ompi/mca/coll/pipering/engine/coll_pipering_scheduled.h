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
 * Calls by the schedule engine (common_colltools_schedule.h) in place of pipelines: what each of
 * them has, so that requests begin, move and end all of them alike.
 */

#ifndef MCA_COLL_PIPERING_SCHEDULED_H
#define MCA_COLL_PIPERING_SCHEDULED_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_engine.h"
#include "ompi/mca/common/colltools/common_colltools_schedule.h"

BEGIN_C_DECLS

/**
 * Rounds of blocks that are under way, so that a rank that is late does not delay others at once. Sends
 * of blocks are synchronous: one that is over when it is buffered would let a rank run ahead, and its
 * blocks for several others share the link, each of them late.
 */
#define MCA_COLL_PIPERING_ROUNDS_AHEAD 3

/**
 * The first member of a call by the schedule engine. Its messages and steps are listed, so that
 * mca_common_colltools_schedule_begin and _move serve it; its error is schedule.error.
 */
typedef struct mca_coll_pipering_scheduled_t {
    mca_common_colltools_schedule_t schedule;
    mca_coll_pipering_traffic_t traffic; /**< all that the schedule lists */
    /** Frees all but the memory into which a message may still come; true if there is any. */
    bool (*free)(struct mca_coll_pipering_scheduled_t *scheduled);
} mca_coll_pipering_scheduled_t;

END_C_DECLS

#endif
