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
 * The arena: the shared memory of a process, out of which it leases ring buffers to those
 * who send to it.
 *
 *      0                                   reserved                       size
 *      | header, bytes | header, bytes | free | ...     addresses only      |
 *        leased          leased
 *
 * A process has one arena, for all of its communicators, links and calls. A buffer is leased
 * by the receiver for one link of one call, in the lowest place where it fits, and memory is
 * reserved as far as leases have come. It is given back when the last communicator that uses
 * ring buffers is freed. Others on the node map an arena when they first get a lease in it,
 * and keep the mapping, which costs them no memory.
 *
 * Limits: MCA_COLL_PIPERING_LEASES leases at a time, and the share of the process in the
 * node's budget (common_irregular.h). Who gets no lease sends messages.
 */

#ifndef MCA_COLL_PIPERING_ARENA_H
#define MCA_COLL_PIPERING_ARENA_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_fifo.h"
#include "ompi/mca/common/irregular/common_irregular.h"
#include "opal/class/opal_hash_table.h"

BEGIN_C_DECLS

/** Bytes that a process has at most, unless the user gives a budget. */
#define MCA_COLL_PIPERING_ARENA_MOST ((size_t) 2 << 20)

/** Leases at a time. */
#define MCA_COLL_PIPERING_LEASES 64

/** What a process and another one of its node know of each other's arenas. */
typedef struct mca_coll_pipering_neighbour_t {
    enum {
        MCA_COLL_PIPERING_UNASKED,
        MCA_COLL_PIPERING_ATTACHED, /**< it has mapped the arena of this process */
        MCA_COLL_PIPERING_UNABLE    /**< it cannot */
    } has_mine;
    bool tried;                             /**< this process has, or cannot, its arena: */
    mca_common_irregular_segment_t segment;
} mca_coll_pipering_neighbour_t;

/** All arenas as a process knows them. */
typedef struct mca_coll_pipering_arena_t {
    opal_mutex_t lock;
    bool refused;                           /**< there can be no segment */
    mca_common_irregular_segment_t segment; /**< of this process */
    size_t reserved;                        /**< bytes from the beginning */
    int users;                              /**< communicators */
    int leases;
    struct {
        size_t from, size;
    } lease[MCA_COLL_PIPERING_LEASES]; /**< in the order of places */
    opal_hash_table_t neighbours;      /**< by process */
} mca_coll_pipering_arena_t;

/** Nothing is made before the first lease. */
void mca_coll_pipering_arena_open(void);

/** Removes the arena, and all mappings; no ring buffer is in use. */
void mca_coll_pipering_arena_close(void);

/** A communicator begins to use ring buffers, or is freed. */
void mca_coll_pipering_arena_join(void);
void mca_coll_pipering_arena_leave(void);

/** The process of a rank, for the ring buffers between it and this one. NULL: no memory. */
mca_coll_pipering_neighbour_t *mca_coll_pipering_arena_neighbour(ompi_communicator_t *comm,
                                                                 int rank);

/**
 * Leases a ring buffer of `*size` bytes, or of a half, quarter, ... of them, that carries blocks
 * of so many bytes; empty, its size in `*size`. NULL: there is none.
 */
mca_coll_pipering_fifo_t *mca_coll_pipering_arena_lease(size_t block_bytes, size_t *size);

/** Ends a lease; nobody touches the buffer any more. */
void mca_coll_pipering_arena_release(const mca_coll_pipering_fifo_t *fifo);

/** What others need to attach the arena, and where in it a buffer lies. */
const mca_common_irregular_segment_t *mca_coll_pipering_arena_segment(void);
size_t mca_coll_pipering_arena_place(const mca_coll_pipering_fifo_t *fifo);

/** Notes whether another process has attached the arena of this one, or cannot. */
void mca_coll_pipering_arena_note(mca_coll_pipering_neighbour_t *neighbour, bool attached);

/**
 * The buffer that lies at this place of another process's arena, which `segment` describes
 * (NULL: it has been attached before). NULL: it cannot be attached.
 */
mca_coll_pipering_fifo_t *
mca_coll_pipering_arena_attach(mca_coll_pipering_neighbour_t *neighbour,
                               const mca_common_irregular_segment_t *segment, size_t place);

END_C_DECLS

#endif
