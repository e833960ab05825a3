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
 * The arena: the shared memory of a process, which leases ring buffers in it to the processes
 * that send to it.
 *
 *      0                                   reserved                       size
 *      | header, bytes | header, bytes | free | ...     addresses only      |
 *        leased          leased
 *
 * A process has one arena, for all of its communicators, links and calls. The receiver leases a
 * buffer for one link of one call, in the lowest place where it fits, and reserves memory up to
 * the end of the highest lease so far. This memory is given back when the last communicator that
 * uses ring buffers is freed. Other processes of the node map an arena when they first get a
 * lease in it, and keep the mapping, which costs them no memory, as long as its process has it;
 * processes of other jobs, which have been spawned or connected, may be gone sooner than this one.
 *
 * Limits: MCA_COLL_PIPERING_LEASES leases at a time, and the share of the process in the
 * node's budget (common_colltools.h). A link without a lease sends messages.
 */

#ifndef MCA_COLL_PIPERING_ARENA_H
#define MCA_COLL_PIPERING_ARENA_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_fifo.h"
#include "ompi/mca/common/colltools/common_colltools.h"
#include "opal/class/opal_hash_table.h"

BEGIN_C_DECLS

/** The most bytes of an arena, unless the user gives a budget. */
#define MCA_COLL_PIPERING_ARENA_MOST ((size_t) 2 << 20)

/** The most leases at a time. */
#define MCA_COLL_PIPERING_LEASES 64

/** Another process of the node: which of the two has mapped the arena of the other. */
typedef struct mca_coll_pipering_neighbour_t {
    enum {
        MCA_COLL_PIPERING_UNASKED,
        MCA_COLL_PIPERING_ATTACHED, /**< it has mapped the arena of this process */
        MCA_COLL_PIPERING_UNABLE    /**< it cannot map it */
    } has_mine;
    bool tried; /**< this process has tried to map its arena */
    int uses;   /**< pipelines that have a ring buffer in the mapping */
    mca_common_colltools_segment_t segment; /**< its arena; without an address: not mapped */
} mca_coll_pipering_neighbour_t;

/** Segments go into `where`, which is borrowed. Nothing is made before the first lease. */
void mca_coll_pipering_arena_open(mca_common_colltools_directory_t *where);

/** Removes the arena and all mappings; no ring buffer may be in use. */
void mca_coll_pipering_arena_close(void);

/** To be called when a communicator begins to use ring buffers, and when it is freed. */
void mca_coll_pipering_arena_join(void);
void mca_coll_pipering_arena_leave(void);

/** The neighbour that is a rank of a communicator. NULL: no memory. */
mca_coll_pipering_neighbour_t *mca_coll_pipering_arena_neighbour(ompi_communicator_t *comm,
                                                                 int rank);

/**
 * Leases an empty ring buffer of *size bytes, or of a half, a quarter, ... of them, which can
 * carry blocks of `block_bytes` bytes. *size becomes its size. NULL: no room.
 */
mca_coll_pipering_fifo_t *mca_coll_pipering_arena_lease(size_t block_bytes, size_t *size);

/** Ends a lease; neither side may touch the buffer any more. */
void mca_coll_pipering_arena_release(const mca_coll_pipering_fifo_t *fifo);

/** The segment that others attach, and the offset of a buffer in it. */
const mca_common_colltools_segment_t *mca_coll_pipering_arena_segment(void);
size_t mca_coll_pipering_arena_place(const mca_coll_pipering_fifo_t *fifo);

/** Stores whether another process has attached the arena of this one, or cannot. */
void mca_coll_pipering_arena_note(mca_coll_pipering_neighbour_t *neighbour, bool attached);

/**
 * The buffer at offset `place` of another process's arena; `segment` is this arena (NULL: it
 * has been attached before); mca_coll_pipering_arena_detach ends its use. NULL: the arena cannot be
 * attached.
 */
mca_coll_pipering_fifo_t *
mca_coll_pipering_arena_attach(mca_coll_pipering_neighbour_t *neighbour,
                               const mca_common_colltools_segment_t *segment, size_t place);
void mca_coll_pipering_arena_detach(mca_coll_pipering_neighbour_t *neighbour);

END_C_DECLS

#endif
