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
 * The collectives that the components know, for plans and all floors above.
 */

#ifndef MCA_COLL_PIPERING_PLAN_COLLECTIVE_H
#define MCA_COLL_PIPERING_PLAN_COLLECTIVE_H

#include <stdbool.h>

/** Collectives with a variable of their own; rows of coll_pipering_registry.c. */
typedef enum {
    MCA_COLL_PIPERING_ALLGATHERV,
    MCA_COLL_PIPERING_ALLGATHER,
    MCA_COLL_PIPERING_BCAST,
    MCA_COLL_PIPERING_REDUCE,
    MCA_COLL_PIPERING_SCAN,
    MCA_COLL_PIPERING_EXSCAN,
    MCA_COLL_PIPERING_ALLREDUCE,
    MCA_COLL_PIPERING_REDUCE_SCATTER,
    MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK,
    MCA_COLL_PIPERING_COLLECTIVES
} mca_coll_pipering_collective_t;

/** Whether a rank gets what ranks before it give: MPI_Scan, MPI_Exscan. */
static inline bool mca_coll_pipering_scans(mca_coll_pipering_collective_t collective)
{
    return MCA_COLL_PIPERING_SCAN == collective || MCA_COLL_PIPERING_EXSCAN == collective;
}

/** Whether values are combined; else data only moves. */
static inline bool mca_coll_pipering_combines(mca_coll_pipering_collective_t collective)
{
    return MCA_COLL_PIPERING_REDUCE <= collective;
}

/** Whether each rank gets a part of the result alone. */
static inline bool mca_coll_pipering_scatters_result(mca_coll_pipering_collective_t collective)
{
    return MCA_COLL_PIPERING_REDUCE_SCATTER == collective
           || MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK == collective;
}

#endif
