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
 * The board: shared memory in which the processes of a node, of one job, tell each other what of
 * their memory may be read, and reading and writing there.
 *
 *     headers              notices of process 0          of process 1 ...
 *     | 0 | 1 | 2 | ... |  | call 7 | call 9 | free | .. |
 *
 * A notice belongs to one call of one process, which alone puts it up and takes it down. Others
 * find it by its call, and note in it what they have read. Nothing waits here: who looks for a
 * notice that is not up comes again.
 *
 * Memory of other processes is read and written by process_vm_readv and process_vm_writev. A
 * kernel, or a container, may forbid that, so a process joins only if it has read, and written, a
 * word that it knows. Where Yama restricts who may, it lets all others of its user, before any of
 * them tries; Open MPI's smsc/cma does so too, later in MPI_Init:
 *
 *     component opened                        cards told        a communicator's cards read
 *     board made by the first who comes,                        have all ranks joined?
 *     attached, a word reached, joined
 *
 * The board is opened through coll_pipering_pulls.h.
 */

#ifndef MCA_COLL_PIPERING_BOARD_H
#define MCA_COLL_PIPERING_BOARD_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_pulls.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_pulls.h"
#include "ompi/mca/common/colltools/common_colltools.h"

BEGIN_C_DECLS

/**
 * Notices of a process: its calls that are under way at a time; and how many of them are for
 * blocking calls alone, which do not wait for others to end.
 */
#define MCA_COLL_PIPERING_NOTICES 128
#define MCA_COLL_PIPERING_NOTICES_BLOCKING 16

/** What a process says of one call. Bit i of sets is split contribution i. */
typedef struct mca_coll_pipering_notice_t {
    uint64_t turn; /**< of its use, odd: it is not up */
    mca_coll_pipering_call_name_t name;
    uint64_t bytes; /**< of its contribution ... */
    uint64_t own;   /**< ... and where they are */
    uint64_t split[MCA_COLL_PIPERING_SPLITS]; /**< where it has split contributions, as a whole; of
                                                   a reduction, the first: results */
    uint32_t parts;   /**< set of those of which it has its part, or its results; by its process */
    uint32_t pushed;  /**< set of those whose owners have put their parts there; by others */
    uint32_t readers; /**< ranks that have read all that they want; by others */
    int32_t error;    /**< the call is given up; by all */
    uint32_t counts;  /**< a hash of all contributions' bytes, as its process believes */
    char small[MCA_COLL_PIPERING_PULLS_SMALL]; /**< the contribution, if it fits */
} mca_coll_pipering_notice_t;

/** A notice of this process for a call, to be filled in, zeroed but for `small`; NULL: none. */
mca_coll_pipering_notice_t *
mca_coll_pipering_board_take(const mca_coll_pipering_call_name_t *name);
void mca_coll_pipering_board_put_up(mca_coll_pipering_notice_t *notice);
void mca_coll_pipering_board_take_down(mca_coll_pipering_notice_t *notice);

/** The place of a process of this job on this node, looked for from a guess on. */
int mca_coll_pipering_board_place(uint32_t process, int guess);

/** The notice of a call by the process at a place; NULL: it is not up yet. */
mca_coll_pipering_notice_t *
mca_coll_pipering_board_find(int place, const mca_coll_pipering_call_name_t *name);

/**
 * Copies bytes from, or to, an address `there` of the process at a place. False: this cannot be
 * done; the bytes are not defined then.
 */
bool mca_coll_pipering_board_copy(int place, char *here, uint64_t there, size_t bytes, bool to);

END_C_DECLS

#endif
