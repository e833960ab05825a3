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
 * Nodes: which process is on which node, one table for all communicators.
 *
 * A process says itself on which node it is, and all communicators that it is a member of
 * hear the same; so ranks agree on nodes wherever they know them at all. The table grows by
 * 4 bytes for each process of each job that this process shares a large call with.
 */

#ifndef MCA_COLL_PIPERING_NODES_H
#define MCA_COLL_PIPERING_NODES_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

BEGIN_C_DECLS

/** What a process says of its node. */
typedef struct mca_coll_pipering_node_key_t {
    uint64_t name; /**< a hash of the host's name */
    int32_t processors;
    int32_t pad;
} mca_coll_pipering_node_key_t;

/** The nodes of a communicator's ranks. */
typedef struct mca_coll_pipering_nodes_t {
    int count;   /**< how many there are */
    double load; /**< ranks per processor, on the node where there are most */
} mca_coll_pipering_nodes_t;

void mca_coll_pipering_nodes_open(void);
void mca_coll_pipering_nodes_close(void);

/** What this process says of its node. */
mca_coll_pipering_node_key_t mca_coll_pipering_nodes_mine(void);

/** The nodes of all ranks of a communicator are known. */
bool mca_coll_pipering_nodes_known(ompi_communicator_t *comm);

/** Notes what a rank says. OMPI_ERR_OUT_OF_RESOURCE: no memory. */
int mca_coll_pipering_nodes_note(ompi_communicator_t *comm, int rank,
                                 const mca_coll_pipering_node_key_t *key);

/** Counts the nodes of a communicator, which are known. O(p). */
mca_coll_pipering_nodes_t mca_coll_pipering_nodes_count(ompi_communicator_t *comm);

/** Fills node_of [p] with the lowest rank on the node of each rank; they are known. O(p). */
void mca_coll_pipering_nodes_fill(ompi_communicator_t *comm, int *node_of);

/** Two ranks are on one node; their nodes are known. */
bool mca_coll_pipering_nodes_same(ompi_communicator_t *comm, int a, int b);

END_C_DECLS

#endif
