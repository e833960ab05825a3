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
 *     3. an MPI_Allgather of the module below shows all ranks whether every rank has its segment;
 *        the one that tells domains (coll_mleader_topology.c), if there is none of these yet
 *
 * Only if every rank has one are segments used.
 */

#include "coll_mleader.h"

#include "ompi/mca/coll/base/coll_tags.h"
#include "ompi/mca/pml/pml.h"
#include "opal/runtime/opal_progress.h"

/* The first rank of a node sends the others its segment's description, empty if there is none. */
static int tell_segment(mca_common_colltools_segment_t *segment,
                        const mca_coll_mleader_topology_t *topology, ompi_communicator_t *comm)
{
    const int me = ompi_comm_rank(comm), first = topology->node_of[me];
    int rc = OMPI_SUCCESS;

    if (first != me) {
        rc = MCA_PML_CALL(recv(segment, sizeof(*segment), MPI_BYTE, first,
                               MCA_COLL_BASE_TAG_ALLGATHER, comm, MPI_STATUS_IGNORE));
        segment->address = NULL;
        return rc;
    }
    for (int r = me + 1; r < topology->ranks && OMPI_SUCCESS == rc; ++r) {
        if (first == topology->node_of[r]) {
            rc = MCA_PML_CALL(send(segment, sizeof(*segment), MPI_BYTE, r,
                                   MCA_COLL_BASE_TAG_ALLGATHER, MCA_PML_BASE_SEND_STANDARD, comm));
        }
    }
    return rc;
}

/* Counters of ranks, and, of each grouping, of as many lanes at most. */
static size_t header_size(const mca_coll_mleader_topology_t *topology)
{
    return (size_t) (1 + MCA_COLL_MLEADER_GROUPINGS) * (size_t) topology->most_here
           * MCA_COLL_MLEADER_LINE;
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

/* Whether all ranks of all nodes have their segments. */
static int agree(const mca_coll_mleader_shared_t *shared, const mca_coll_mleader_module_t *module,
                 ompi_communicator_t *comm, bool *there)
{
    const int mine = NULL != shared->segment.address, ranks = ompi_comm_size(comm);
    int *all = module->topology->answers;
    const int rc = module->below.coll_allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm,
                                                module->below.coll_allgather_module);
    *there = OMPI_SUCCESS == rc;
    for (int r = 0; r < ranks && OMPI_SUCCESS == rc; ++r) {
        *there &= all[r];
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
    const bool held = mca_common_colltools_hold(&component->directory, part);
    if (held) {
        shared->held = part;
    } else {
        mca_common_colltools_tell_full(&component->directory);
    }
    if (held && mine) {
        (void) mca_common_colltools_segment_make(&component->directory, &shared->segment, size,
                                                 false);
    }
    OPAL_THREAD_UNLOCK(&component->lock);
    return held;
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

int mca_coll_mleader_shared_offer(mca_coll_mleader_shared_t *shared,
                                  const mca_coll_mleader_topology_t *topology,
                                  ompi_communicator_t *comm, size_t half_size)
{
    const size_t size = header_size(topology) + 2 * half_size;
    const bool mine = 0 == topology->index[ompi_comm_rank(comm)];

    shared->half_size = half_size;
    if (0 == half_size) {
        return OMPI_SUCCESS;
    }
    const bool held = hold_part(shared, topology, size, mine);
    const int rc = tell_segment(&shared->segment, topology, comm);
    if (OMPI_SUCCESS == rc && !mine && held && '\0' != shared->segment.name[0]) {
        attach_segment(&shared->segment);
    }
    return rc;
}

void mca_coll_mleader_shared_settle(mca_coll_mleader_shared_t *shared,
                                    const mca_coll_mleader_topology_t *topology, int me, bool there)
{
    if (0 == topology->index[me]) {
        mca_common_colltools_segment_close(&shared->segment);
    }
    shared->there = there && 0 < shared->half_size;
    if (shared->there) {
        lay_segment(shared, topology);
    } else {
        shared->half_size = 0;
        drop_segment(shared);
    }
}

int mca_coll_mleader_shared_make(mca_coll_mleader_shared_t *shared,
                                 const mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size)
{
    bool there = false;
    int rc = mca_coll_mleader_shared_offer(shared, module->topology, comm, half_size);

    if (OMPI_SUCCESS == rc && 0 < half_size) {
        rc = agree(shared, module, comm, &there);
    }
    mca_coll_mleader_shared_settle(shared, module->topology, ompi_comm_rank(comm), there);
    return rc;
}

/*
 * Once all calls have ended on all ranks, which the MPI_Allgather shows, nobody uses the old
 * segment, but for a message of a call that failed: then it stays mapped.
 */
int mca_coll_mleader_shared_grow(mca_coll_mleader_shared_t *shared,
                                 const mca_coll_mleader_module_t *module,
                                 ompi_communicator_t *comm, size_t half_size)
{
    mca_coll_mleader_shared_t larger = {.there = false};

    while (!mca_coll_mleader_shared_is_turn(shared, shared->last)) {
        opal_progress();
    }
    const int rc = mca_coll_mleader_shared_make(&larger, module, comm, half_size);
    if (OMPI_SUCCESS != rc || !larger.there) {
        shared->refused = true;
        return rc;
    }
    if (!shared->pending) {
        drop_segment(shared);
    }
    shared->segment = larger.segment;
    shared->held = larger.held;
    shared->half_size = half_size;
    lay_segment(shared, module->topology);
    return OMPI_SUCCESS;
}

void mca_coll_mleader_shared_free(mca_coll_mleader_shared_t *shared)
{
    if (!shared->pending) {
        drop_segment(shared);
    }
}
