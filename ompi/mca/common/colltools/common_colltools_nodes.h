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
 * Nodes: what processes say of themselves on their cards, in one table for all communicators.
 * The table grows by 8 bytes for each process of each job with which this process shares a call
 * that wants to know it.
 */

#ifndef MCA_COMMON_COLLTOOLS_NODES_H
#define MCA_COMMON_COLLTOOLS_NODES_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/common/colltools/common_colltools_card.h"
#include "ompi/mca/common/colltools/common_colltools_vars.h"

BEGIN_C_DECLS

/** What counts as a processor in mca_common_colltools_facts_t. */
#define MCA_COMMON_COLLTOOLS_PROCESSOR UINT64_C(1000000)

/** The nodes of a communicator's ranks. */
typedef struct mca_common_colltools_nodes_t {
    int count;   /**< number of nodes */
    int ppn;     /**< most ranks on a node */
    double load; /**< ranks a processor, on the node where this is most */
} mca_common_colltools_nodes_t;

/** Completes what this process says of itself. */
typedef void mca_common_colltools_fill_fn_t(mca_common_colltools_facts_t *own);

/**
 * For a component that registers its variables: those that must be equal, and what it adds to the
 * card (NULL: nothing).
 */
void mca_common_colltools_nodes_register(mca_common_colltools_owner_t owner,
                                         const mca_common_colltools_equal_t *equal,
                                         mca_common_colltools_fill_fn_t *fill);

/**
 * For a component, when it is opened and closed, then without active tasks
 * (common_colltools_task.h). The first one that is opened has the card told, with what all have
 * registered, before MPI_Init exchanges what processes have told.
 */
void mca_common_colltools_nodes_open(void);
void mca_common_colltools_nodes_close(void);

/**
 * Finds the cards of a communicator's ranks in the table, or asks PMIx; nothing is sent to ranks.
 * of [p] gets what they say, NULL: the rank surely has no card. OMPI_ERR_OUT_OF_RESOURCE, or, said
 * to the user of the component `owner`, OMPI_ERR_NOT_FOUND: a card cannot be read, or
 * OMPI_ERR_NOT_SUPPORTED: processes of this node differ, which other nodes do not know. O(p).
 */
int mca_common_colltools_nodes_find(ompi_communicator_t *comm, const char *owner,
                                    const mca_common_colltools_facts_t **of);

/** How ranks differ from each other. */
typedef enum {
    MCA_COMMON_COLLTOOLS_ALIKE,
    MCA_COMMON_COLLTOOLS_MISSING, /**< some do not have the component */
    MCA_COMMON_COLLTOOLS_UNLIKE,  /**< in data representation */
    MCA_COMMON_COLLTOOLS_UNEQUAL  /**< in the component's variables */
} mca_common_colltools_difference_t;

/**
 * Compares what the ranks of a communicator say for a component, and tells the user of ranks
 * without it, or, on rank 0, of variables that differ. O(p).
 */
mca_common_colltools_difference_t
mca_common_colltools_nodes_compare(ompi_communicator_t *comm, mca_common_colltools_owner_t owner,
                                   const mca_common_colltools_facts_t *const *of);

/** The same as mca_common_colltools_nodes_find, ahead of the first call, whatever becomes of it. */
void mca_common_colltools_nodes_prepare(ompi_communicator_t *comm);

/** Counts the nodes of a communicator, of whose ranks all cards have been found. O(p). */
mca_common_colltools_nodes_t mca_common_colltools_nodes_count(ompi_communicator_t *comm);

/**
 * Fills node_of [p] with the lowest rank on the node of each rank; all cards have been found. Fills
 * leaf_of [p], if it is not NULL, with the lowest rank on the leaf switch of each; nodes whose
 * switch is not known are on one. O(p + nodes x switches).
 */
void mca_common_colltools_nodes_fill(ompi_communicator_t *comm, int *node_of, int *leaf_of);

END_C_DECLS

#endif
