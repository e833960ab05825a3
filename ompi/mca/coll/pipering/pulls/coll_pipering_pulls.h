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
 * The door of this folder: pulls, gathers and reductions inside a node, in which each rank reads
 * what it wants from the memory of the ranks that have it. Other folders include no other header of
 * it.
 */

#ifndef MCA_COLL_PIPERING_PULLS_H
#define MCA_COLL_PIPERING_PULLS_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/common/colltools/common_colltools_segment.h"

BEGIN_C_DECLS

/** A call, on all ranks of its communicator. */
typedef struct mca_coll_pipering_call_name_t {
    uint64_t comm[2], call;
    bool blocking;
} mca_coll_pipering_call_name_t;

struct mca_coll_pipering_rounds_args_t;
struct mca_coll_pipering_scheduled_t;

/**
 * Opens the board of the node's processes of this job, as this one's card is filled in, which says
 * whether it has joined (facts_t.pulls), also if it is alone there. Pulls are ready for a
 * communicator of one job if all its ranks on this node have said `least` or more, by `node_of`
 * [p], any number for the node of each; their cards have been read. O(p).
 */
void mca_coll_pipering_pulls_open(mca_common_colltools_directory_t *directory);
uint32_t mca_coll_pipering_pulls_joined(void);
bool mca_coll_pipering_pulls_ready(struct ompi_communicator_t *comm, const int *node_of,
                                   uint32_t least);
void mca_coll_pipering_pulls_close(void);

/**
 * Makes the schedule of a gather, whose bytes by rank and contributor are in `args`; a broadcast is
 * one to which the root alone contributes. The call's name is equal on all ranks, and no other's on
 * them. The rank's contribution is packed, if it is not dense. OMPI_ERR_OUT_OF_RESOURCE: the
 * others do not learn of it. All other errors are those of the schedule, of which they do.
 */
int mca_coll_pipering_pulls_gather_new(const struct mca_coll_pipering_rounds_args_t *args,
                                       const mca_coll_pipering_call_name_t *name,
                                       struct mca_coll_pipering_scheduled_t **made);

/**
 * The same for a gather between nodes by leaders, or a reduction of dense elements, between nodes
 * or inside one: `args->across` is the exchange of leaders, whose layouts are not read. `in_order`:
 * the operation does not commute. An error is one of all ranks of the node alone.
 */
int mca_coll_pipering_leaders_new(const struct mca_coll_pipering_rounds_args_t *args,
                                  const mca_coll_pipering_call_name_t *name, bool in_order,
                                  struct mca_coll_pipering_scheduled_t **made);

END_C_DECLS

#endif
