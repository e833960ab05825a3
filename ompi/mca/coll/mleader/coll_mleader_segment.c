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
 * Makes the segments of a communicator, one on each node:
 *
 *     1. the first rank of a node makes its segment, and sends its description to the others
 *     2. the others attach the segment
 *     3. an MPI_Allgather of the module below shows all ranks whether every rank has its segment
 *
 * Only if every rank has one are segments used.
 */

#include "coll_mleader.h"

#include <stdlib.h>

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"

/* The first rank of a node sends the others its segment's description, empty if there is none. */
static int tell_segment(mca_common_colltools_segment_t *segment,
                        const mca_coll_mleader_grouping_t *grouping, ompi_communicator_t *comm)
{
    const mca_coll_mleader_groups_t *groups = &grouping->groups;
    const int me = ompi_comm_rank(comm);
    int first = -1, rc = OMPI_SUCCESS;

    for (int r = 0; r < groups->ranks && OMPI_SUCCESS == rc; ++r) {
        if (groups->node[groups->group[groups->position[r]]] != grouping->node) {
            continue;
        }
        first = 0 > first ? r : first;
        if (first == me && r != me) {
            rc = MCA_PML_CALL(send(segment, sizeof(*segment), MPI_BYTE, r,
                                   MCA_COLL_BASE_TAG_ALLGATHER, MCA_PML_BASE_SEND_STANDARD, comm));
        } else if (r == me && first != me) {
            rc = MCA_PML_CALL(recv(segment, sizeof(*segment), MPI_BYTE, first,
                                   MCA_COLL_BASE_TAG_ALLGATHER, comm, MPI_STATUS_IGNORE));
            segment->address = NULL;
        }
    }
    return rc;
}

static size_t header_size(const mca_coll_mleader_topology_t *topology)
{
    return (size_t) (topology->most_here + topology->lanes) * MCA_COLL_MLEADER_LINE;
}

/* Finds the counters and halves in the segment (mca_coll_mleader_shared_t). */
static void lay_segment(mca_coll_mleader_shared_t *shared,
                        const mca_coll_mleader_topology_t *topology)
{
    char *address = shared->segment.address;

    shared->written = (mca_coll_mleader_counter_t *) address;
    shared->progress = shared->written + topology->most_here;
    shared->half[0] = address + header_size(topology);
    shared->half[1] = shared->half[0] + shared->half_size;
}

/* Sets shared->there to whether all ranks of all nodes have their segments. */
static int agree(mca_coll_mleader_shared_t *shared, const mca_coll_mleader_module_t *module,
                 ompi_communicator_t *comm)
{
    const int mine = NULL != shared->segment.address, ranks = ompi_comm_size(comm);
    int *all = module->topology->answers;
    const int rc = module->below.coll_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm,
                                                module->below.coll_allgather_module);
    shared->there = OMPI_SUCCESS == rc;
    for (int r = 0; r < ranks && OMPI_SUCCESS == rc; ++r) {
        shared->there &= all[r];
    }
    return rc;
}

/*
 * Charges an equal share of the segment to this rank's budget of shared memory, and makes the
 * segment if it is `mine`; false: the budget is exceeded. Each rank keeps its own budget, so the
 * segments of a node are bounded though no rank knows all communicators of the node.
 */
static bool hold_part(mca_coll_mleader_shared_t *shared,
                      const mca_coll_mleader_topology_t *topology, size_t size, bool mine)
{
    mca_coll_mleader_t *component = &mca_coll_mleader;
    const size_t ranks = (size_t) topology->here, part = (size + ranks - 1) / ranks;

    OPAL_THREAD_LOCK(&component->lock);
    const bool room = mca_common_colltools_hold(&component->directory, part);
    if (room) {
        shared->held = part;
    } else {
        mca_common_colltools_tell_full(&component->directory);
    }
    if (room && mine) {
        (void) mca_common_colltools_segment_make(&component->directory, &shared->segment, size,
                                                 false);
    }
    OPAL_THREAD_UNLOCK(&component->lock);
    return room;
}

static void attach_segment(mca_common_colltools_segment_t *segment)
{
    mca_coll_mleader_t *component = &mca_coll_mleader;

    OPAL_THREAD_LOCK(&component->lock);
    (void) mca_common_colltools_segment_attach(&component->directory, segment);
    OPAL_THREAD_UNLOCK(&component->lock);
}

static void drop_segment(mca_coll_mleader_shared_t *shared)
{
    mca_coll_mleader_t *component = &mca_coll_mleader;

    mca_common_colltools_segment_unmap(&shared->segment);
    OPAL_THREAD_LOCK(&component->lock);
    mca_common_colltools_let_go(&component->directory, shared->held);
    OPAL_THREAD_UNLOCK(&component->lock);
    shared->held = 0;
}

int mca_coll_mleader_shared_make(mca_coll_mleader_shared_t *shared,
                                 const mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size)
{
    const mca_coll_mleader_topology_t *topology = module->topology;
    const size_t size = header_size(topology) + 2 * half_size;
    const bool mine = 0 == topology->index[ompi_comm_rank(comm)];

    if (0 == half_size) {
        return OMPI_SUCCESS;
    }
    const bool room = hold_part(shared, topology, size, mine);
    int rc = tell_segment(&shared->segment, &topology->grouping[0], comm);
    if (OMPI_SUCCESS == rc && !mine && room && '\0' != shared->segment.name[0]) {
        attach_segment(&shared->segment);
    }
    if (OMPI_SUCCESS == rc) {
        rc = agree(shared, module, comm);
    }
    if (mine) {
        mca_common_colltools_segment_close(&shared->segment);
    }
    if (shared->there) {
        shared->half_size = half_size;
        lay_segment(shared, topology);
    } else {
        drop_segment(shared);
    }
    return rc;
}

void mca_coll_mleader_shared_free(mca_coll_mleader_shared_t *shared)
{
    if (!shared->pending) {
        drop_segment(shared);
    }
}
