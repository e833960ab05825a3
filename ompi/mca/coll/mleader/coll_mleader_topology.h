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
 * Topology: the nodes and groups of a communicator.
 */

#ifndef MCA_COLL_MLEADER_TOPOLOGY_H
#define MCA_COLL_MLEADER_TOPOLOGY_H

#include "coll_mleader_params.h"
#include "coll_mleader_plan.h"
#include "coll_mleader_segment.h"

BEGIN_C_DECLS

/** The groups of a communicator, and the place of this rank in them. */
typedef struct mca_coll_mleader_grouping_t {
    mca_coll_mleader_groups_t groups; /**< in the order of lanes */
    int *lane_first; /**< [lanes][nodes + 1] first positions (mca_coll_mleader_lanes) */
    int node, group; /**< of this rank */
    int largest;     /**< ranks in the largest group */
    int counter;     /**< index in shared->progress of the counter of lane 0; the others follow */
    bool leader;     /**< this rank is one */
} mca_coll_mleader_grouping_t;

/** Most groupings of a communicator, from which each call chooses one. */
#define MCA_COLL_MLEADER_GROUPINGS 2

/** The nodes and groups of a communicator, and its shared memory. */
typedef struct mca_coll_mleader_topology_t {
    mca_coll_mleader_grouping_t grouping[MCA_COLL_MLEADER_GROUPINGS];
    int groupings;   /**< 1: as the variable says; 2 (auto): by node, by socket */
    int ranks, nodes;
    int lanes;       /**< of all groupings together */
    int *identity;   /**< [ranks + 1] 0, 1, 2, ... */
    int *node_of;    /**< [ranks] the lowest rank of the node of each */
    int *index;      /**< [ranks] number of a rank on its node */
    int *answers;    /**< [ranks] scratch, so that nobody lacks memory where all have to answer */
    mca_coll_mleader_reason_t unlike; /**< TAKEN, or how ranks differ; then nothing else is there */
    int here;        /**< ranks of this node */
    int most_here;   /**< ranks of the node with the most ranks */
    double crowd;    /**< ranks a processor, on the node where this is most */
    bool joined;     /**< all ranks know whether `shared` has segments */
    bool kept;       /**< calls refer to the topology, so it lives as long as the communicator */
    mca_coll_mleader_shared_t shared; /**< of blocking and nonblocking calls */
    void *memory;    /**< of the arrays */
} mca_coll_mleader_topology_t;

struct mca_coll_mleader_module_t;

/**
 * Makes module->topology, and judges it (mca_coll_mleader_judge_topology): if leaders are to serve
 * no call in it, it has nodes alone. Else it has groups, found by a small MPI_Allgather of the
 * module below; `joins`: and segments of blocking and nonblocking calls, with halves of so many
 * bytes. All ranks of the communicator must call this in the same MPI call. On an error
 * module->topology is NULL.
 */
int mca_coll_mleader_topology_make(const mca_coll_mleader_params_t *params,
                                   struct mca_coll_mleader_module_t *module,
                                   ompi_communicator_t *comm, bool joins, size_t half_size);

/** Frees a topology and its shared memory; NULL: nothing. */
void mca_coll_mleader_topology_free(mca_coll_mleader_topology_t *topology);

END_C_DECLS

#endif
