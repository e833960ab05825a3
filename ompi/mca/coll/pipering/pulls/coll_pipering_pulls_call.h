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
 * What calls by pulls share: a schedule with one step, and without messages.
 *
 *     rank 0   notice: own at a..   reads 1, 2, 3    readers: 3 of 3, over
 *     rank 1   notice: own at b..   reads 2, 3, 0    readers: 2 of 3
 *     rank 2   notice: own at c..   reads 3, 0, 1 ...
 *
 * A rank puts up a notice (coll_pipering_board.h) that says where its contribution is, reads what
 * it wants of the others', beginning with the next rank, so that no two read the same one at the
 * same time, and waits until all others have read its own. What is not there yet is passed over: a
 * rank that is late delays those who need what it has. A rank that gives up says so in all notices,
 * and the others give up, too. (Where leaders cannot be read, they replace the step by messages.)
 */

#ifndef MCA_COLL_PIPERING_PULLS_CALL_H
#define MCA_COLL_PIPERING_PULLS_CALL_H

#include "coll_pipering_board.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_scheduled.h"

BEGIN_C_DECLS

/** Bytes that are read before other requests are looked at. */
#define MCA_COLL_PIPERING_PULLS_BUDGET ((size_t) 1024 * 1024)

/** Another rank. */
typedef struct mca_coll_pipering_pulls_peer_t {
    mca_coll_pipering_notice_t *notice; /**< NULL: not found yet */
    int place;                          /**< on the board */
    bool told;                          /**< it knows that all is read that this rank wants */
} mca_coll_pipering_pulls_peer_t;

typedef struct mca_coll_pipering_pulls_call_t mca_coll_pipering_pulls_call_t;
struct mca_coll_pipering_pulls_call_t {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    mca_coll_pipering_call_name_t name;
    int me, p;         /**< this one of so many ranks: of all, or of those ... */
    const int *member; /**< ... [p] of this node; NULL: all */
    int error;    /**< OMPI_SUCCESS, or why the call is given up */
    size_t vector; /**< bytes that each rank contributes, 0: those of args.bytes */
    bool all;      /**< all ranks are read; else those that contribute any bytes */
    char *own;     /**< the contribution of this rank */
    uint32_t counts; /**< a hash of what ranks must agree on, else they would overrun memory */
    mca_coll_pipering_notice_t *mine; /**< NULL: nobody reads this rank, not yet or not any more */
    bool up;   /**< it has been up */
    bool here; /**< all that this rank wants is here */
    /** Moves on; true: all is here. What fails goes to *rc. */
    bool (*advance)(mca_coll_pipering_pulls_call_t *call, int *rc);
    void (*fill)(const mca_coll_pipering_pulls_call_t *call,
                 mca_coll_pipering_notice_t *mine); /**< what else is told */
    mca_coll_pipering_pulls_peer_t *peer; /**< [p], in the same memory */
};

/**
 * Makes a call of `size` bytes, zeroed but for its schedule and its peers, among all ranks, or the
 * `count` of `member`, borrowed. Its lists have room for `most` entries, of steps for the one that
 * it has, and more; `more` bytes follow in the same memory, at *behind. NULL: no memory.
 */
void *mca_coll_pipering_pulls_call_new(const mca_coll_pipering_rounds_args_t *args,
                                       const mca_coll_pipering_call_name_t *name,
                                       const int *member, int count, size_t size,
                                       mca_common_colltools_needs_t most, size_t more,
                                       void **behind);

/** The rank of the communicator that a rank of the call is. */
static inline int mca_coll_pipering_pulls_rank(const mca_coll_pipering_pulls_call_t *call, int rank)
{
    return NULL == call->member ? rank : call->member[rank];
}

/** Finds the notice of a rank; false: it is not up yet, or, *rc, the call is given up. */
bool mca_coll_pipering_pulls_find(mca_coll_pipering_pulls_call_t *call, int rank, int *rc);

/** Copies bytes from, or to, an address of a rank whose notice is up; counted in the traffic. */
int mca_coll_pipering_pulls_copy(mca_coll_pipering_pulls_call_t *call, int rank, char *here,
                                 uint64_t there, size_t bytes, bool to);

/** The same from the contribution of that rank, from byte `from` on, or from its notice. */
int mca_coll_pipering_pulls_read(mca_coll_pipering_pulls_call_t *call, int rank, char *here,
                                 size_t from, size_t bytes);

/** Bytes that a rank contributes. */
static inline size_t mca_coll_pipering_pulls_bytes(const mca_coll_pipering_pulls_call_t *call,
                                                   int rank)
{
    return 0 < call->vector ? call->vector
                            : call->args.bytes[mca_coll_pipering_pulls_rank(call, rank)];
}

/** Whether others read from a rank, or write to it: it puts up a notice. */
static inline bool mca_coll_pipering_pulls_is_read(const mca_coll_pipering_pulls_call_t *call,
                                                   int rank)
{
    return call->all || 0 < mca_coll_pipering_pulls_bytes(call, rank);
}

END_C_DECLS

#endif
