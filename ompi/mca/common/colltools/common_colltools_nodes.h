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
 * Nodes: the node of each process, in one table for all communicators.
 *
 * A process reports its own node and its leaf switch, the same ones on all of its communicators; so
 * ranks agree on all that they know. The table grows by 8 bytes for each process of each job with
 * which this process shares a call that wants to know the nodes.
 */

#ifndef MCA_COMMON_COLLTOOLS_NODES_H
#define MCA_COMMON_COLLTOOLS_NODES_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

BEGIN_C_DECLS

/** The report of a process about its node. */
typedef struct mca_common_colltools_node_key_t {
    uint64_t name; /**< a hash of the host's name */
    float processors; /**< that processes may use, more than 0 */
    uint32_t leaf;    /**< a hash of the name of its leaf switch, 0: not known */
} mca_common_colltools_node_key_t;

/** The nodes of a communicator's ranks. */
typedef struct mca_common_colltools_nodes_t {
    int count;     /**< number of nodes */
    int ppn;       /**< most ranks on a node */
    double load;   /**< ranks a processor, on the node where this is most of those counted */
    uint32_t hash; /**< equal on ranks that see the same nodes */
} mca_common_colltools_nodes_t;

/** For a component, when it is opened and closed. `processors` of this node; 0: not known. */
void mca_common_colltools_nodes_open(double processors);
void mca_common_colltools_nodes_close(void);

/** Sets the leaf switch of this process, before its first report. */
void mca_common_colltools_nodes_set_leaf(uint32_t leaf);

/** The report of this process. */
mca_common_colltools_node_key_t mca_common_colltools_nodes_mine(void);

/**
 * Finds the nodes of a communicator's ranks in the table, or asks PMIx, without a message; whether
 * all are known then. O(p).
 */
bool mca_common_colltools_nodes_find(ompi_communicator_t *comm);

/** Stores the report of a rank. OMPI_ERR_OUT_OF_RESOURCE: no memory. */
int mca_common_colltools_nodes_note(ompi_communicator_t *comm, int rank,
                                    const mca_common_colltools_node_key_t *key);

/**
 * Counts the nodes of a communicator; they must be known. The load is that of the nodes of all
 * ranks, by their reports, keys [p], this rank's first, or, with NULL, of this rank's alone. O(p).
 */
mca_common_colltools_nodes_t
mca_common_colltools_nodes_count(ompi_communicator_t *comm,
                                 const mca_common_colltools_node_key_t *keys);

/**
 * Fills node_of [p] with the lowest rank on the node of each rank; nodes must be known. Fills leaf_of
 * [p], if it is not NULL, with the lowest rank on the leaf switch of each, by what ranks have reported,
 * all of this communicator; nodes whose switch is not known are on one. O(p + nodes x switches).
 */
void mca_common_colltools_nodes_fill(ompi_communicator_t *comm, int *node_of, int *leaf_of);

END_C_DECLS

#endif
