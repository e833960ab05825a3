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
 * The schedule engine: messages and local steps of one rank with what each of them needs.
 *
 *     receives   r0   r1   r2 ...
 *     sends      s0   s1   s2 ...     s1 needs: 1 receive     (the first one is complete)
 *     steps      t0   t1   t2 ...     t2 needs: 2 receives, 1 send
 *
 * Entries of a list begin in their order, each as soon as its needs are met: the first so
 * many receives, sends and steps of the schedule are over. That describes rounds
 * (recursive doubling, dissemination, rings), windows, and local work beside messages. At
 * most `window` messages of a list are under way. A send may have an answer: a message with the
 * same peer in the other direction, which starts when the send is complete, and for which
 * the next entries do not wait.
 *
 * A step is a function that never waits: it returns OMPI_ERR_WOULD_BLOCK to be called again.
 * Steps begin and end in their order, one at a time, and between two of them messages
 * are looked at.
 *
 * Cost: a look at the first message under way of each list, per call of
 * mca_common_colltools_schedule_move; at every message under way while a full window or an
 * answer holds others up. The engine allocates nothing.
 *
 * Limits: all messages of a schedule have one tag, so those between two ranks are matched
 * in the order in which they begin. When an answer begins is not known, so a send with an
 * answer is the only message between its two ranks.
 */

#ifndef MCA_COMMON_COLLTOOLS_SCHEDULE_H
#define MCA_COMMON_COLLTOOLS_SCHEDULE_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ompi/communicator/communicator.h"
#include "ompi/datatype/ompi_datatype.h"
#include "ompi/mca/common/colltools/common_colltools.h"
#include "ompi/request/request.h"

BEGIN_C_DECLS

/** What must be over before an entry begins: the first so many entries of each list. */
typedef struct mca_common_colltools_needs_t {
    uint32_t receives, sends, steps;
} mca_common_colltools_needs_t;

/** A message. */
typedef struct mca_common_colltools_message_t {
    void *buffer;
    ompi_datatype_t *type;
    size_t count; /**< elements of the type */
    size_t bytes; /**< of the signature */
    int peer;
    bool receives_first; /**< of a send with an answer: the answer comes first, then this is sent */
    bool answered;       /**< of the engine: the first of both directions is over ... */
    bool over;           /**< ... and all is */
    mca_common_colltools_needs_t needs;
    const struct mca_common_colltools_message_t *answer; /**< of a send, NULL: none; borrowed */
} mca_common_colltools_message_t;

/** A list of messages. */
typedef struct mca_common_colltools_messages_t {
    mca_common_colltools_message_t *message; /**< [count], borrowed */
    ompi_request_t **request;                /**< [count], borrowed; its content is the engine's */
    uint32_t count;
    uint32_t window; /**< messages under way, at least 1 where there is one */
    uint32_t begun, done;  /**< of the engine: the first so many ... */
    uint32_t over;         /**< of the engine: ... and all that are over, in any order */
} mca_common_colltools_messages_t;

/**
 * A local step about `from` and `to`, which are the plan's. OMPI_SUCCESS: it is over,
 * OMPI_ERR_WOULD_BLOCK: it wants to be called again, else an error.
 */
typedef int mca_common_colltools_step_fn_t(void *context, int from, int to);

typedef struct mca_common_colltools_step_t {
    mca_common_colltools_step_fn_t *run;
    int from, to;
    mca_common_colltools_needs_t needs;
} mca_common_colltools_step_t;

/** A schedule. All but what is the engine's is filled in by its user, who keeps the memory. */
typedef struct mca_common_colltools_schedule_t {
    const mca_common_colltools_caller_t *caller; /**< communicator, and what is said of messages */
    int tag;
    bool synchronous; /**< sends wait for their receives, so that no rank runs ahead */
    bool goes_on;     /**< an error does not stop the other messages, on which ranks may wait */
    bool any_length;  /**< lengths of what comes in are not compared */
    bool answers;     /**< some sends have answers; such a schedule goes on */
    mca_common_colltools_messages_t receives, sends;
    mca_common_colltools_step_t *step; /**< [steps], borrowed */
    uint32_t steps, steps_done;
    int stepped;   /**< what a step that is not over has done: it adds to this */
    void *context; /**< of the steps */
    int error;     /**< of the engine: OMPI_SUCCESS, or the first error */
} mca_common_colltools_schedule_t;

/** Begins, also again after the end: starts what needs nothing. Errors are in schedule->error. */
void mca_common_colltools_schedule_begin(mca_common_colltools_schedule_t *schedule);

/**
 * Moves on without waiting, and adds to *progress how much was done. True: it is over, by
 * success or by an error that stops it.
 */
bool mca_common_colltools_schedule_move(mca_common_colltools_schedule_t *schedule, int *progress);

/** Waits until a schedule that has begun is over; returns its error. */
int mca_common_colltools_schedule_wait(mca_common_colltools_schedule_t *schedule);

/**
 * Lets go of what is under way after an error. True if a message may still touch its memory,
 * which must then never be freed. Nothing to do for a schedule that ended well.
 */
bool mca_common_colltools_schedule_fini(mca_common_colltools_schedule_t *schedule);

/* ---- listing: for plans that add entries one by one; lists must have room ---- */

/** Bytes of memory for lists of at most so many entries each. */
static inline size_t mca_common_colltools_schedule_size(mca_common_colltools_needs_t most)
{
    const size_t messages = (size_t) most.receives + most.sends;

    return messages * (sizeof(mca_common_colltools_message_t) + sizeof(ompi_request_t *))
           + most.steps * sizeof(mca_common_colltools_step_t);
}

/**
 * Lays lists of at most so many entries into `memory` of mca_common_colltools_schedule_size bytes,
 * aligned for pointers; returns the first byte behind them, aligned likewise.
 */
static inline void *mca_common_colltools_schedule_bind(mca_common_colltools_schedule_t *schedule,
                                                       mca_common_colltools_needs_t most,
                                                       void *memory)
{
    schedule->receives.message = (mca_common_colltools_message_t *) memory;
    schedule->sends.message = schedule->receives.message + most.receives;
    schedule->receives.request = (ompi_request_t **) (schedule->sends.message + most.sends);
    schedule->sends.request = schedule->receives.request + most.receives;
    schedule->step = (mca_common_colltools_step_t *) (schedule->sends.request + most.sends);
    return schedule->step + most.steps;
}

/** Where the lists stand now: an entry with these needs begins when all before is over. */
static inline mca_common_colltools_needs_t
mca_common_colltools_schedule_so_far(const mca_common_colltools_schedule_t *schedule)
{
    return (mca_common_colltools_needs_t){.receives = schedule->receives.count,
                                          .sends = schedule->sends.count,
                                          .steps = schedule->steps};
}

/** Adds a message of so many elements, `bytes` bytes of the signature, to a list. */
static inline mca_common_colltools_message_t *mca_common_colltools_schedule_message(
    mca_common_colltools_messages_t *list, void *buffer, ompi_datatype_t *type, size_t count,
    size_t bytes, int peer, mca_common_colltools_needs_t needs)
{
    mca_common_colltools_message_t *message = &list->message[list->count++];

    message->buffer = buffer;
    message->type = type;
    message->count = count;
    message->bytes = bytes;
    message->peer = peer;
    message->needs = needs;
    message->receives_first = false;
    message->answer = NULL;
    return message;
}

/** Adds a message of bytes to a list. */
static inline void mca_common_colltools_schedule_bytes(mca_common_colltools_messages_t *list,
                                                       void *buffer, size_t bytes, int peer,
                                                       mca_common_colltools_needs_t needs)
{
    (void) mca_common_colltools_schedule_message(list, buffer, MPI_BYTE, bytes, bytes, peer, needs);
}

/** Adds a step. */
static inline void mca_common_colltools_schedule_step(mca_common_colltools_schedule_t *schedule,
                                                      mca_common_colltools_step_fn_t *run,
                                                      int from, int to,
                                                      mca_common_colltools_needs_t needs)
{
    schedule->step[schedule->steps++] = (mca_common_colltools_step_t){run, from, to, needs};
}

END_C_DECLS

#endif
