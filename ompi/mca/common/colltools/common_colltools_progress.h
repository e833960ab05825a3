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
 * The progress thread: it calls opal_progress while nonblocking and persistent calls of the
 * components are under way, so that these move while the program computes.
 *
 *     program   MPI_Iallgatherv   computes ...................   MPI_Wait
 *     thread    . . sleeps . .  | looks . looks .. looks . looks | sleeps
 *
 * There is no thread unless the user asks for it and the program may call MPI from several threads
 * (MPI_THREAD_MULTIPLE). It sleeps between two looks, longer where these find nothing to do or the
 * program makes progress itself, and where no call is under way it waits for a signal.
 */

#ifndef MCA_COMMON_COLLTOOLS_PROGRESS_H
#define MCA_COMMON_COLLTOOLS_PROGRESS_H

#include "ompi_config.h"

#include <stdbool.h>

struct ompi_communicator_t;

BEGIN_C_DECLS

/** The variable, of this name, by which a user asks for the thread; read at the first call. */
void mca_common_colltools_progress_register(const bool *variable, const char *name);

/** Whether there is to be a thread. */
bool mca_common_colltools_progress_wanted(void);

/** A call begins that the program does not wait in, and it is over. */
void mca_common_colltools_progress_begin(void);
void mca_common_colltools_progress_end(void);

/** Whether there is a thread. */
extern bool mca_common_colltools_progress_on;

/** Progress has been looked for, or some has been made, by any thread. */
void mca_common_colltools_progress_note(bool made);

static inline void mca_common_colltools_progress_seen(bool made)
{
    if (__atomic_load_n(&mca_common_colltools_progress_on, __ATOMIC_RELAXED)) {
        mca_common_colltools_progress_note(made);
    }
}

/**
 * Before a communicator goes: returns when the thread is not in opal_progress and, unless other
 * calls are under way, will not be. With MPI_COMM_WORLD all goes that sends messages, so behind it
 * the thread is not there in any case.
 */
void mca_common_colltools_progress_rest(const struct ompi_communicator_t *comm);

/** Ends the thread, if there is one. */
void mca_common_colltools_progress_close(void);

END_C_DECLS

#endif
