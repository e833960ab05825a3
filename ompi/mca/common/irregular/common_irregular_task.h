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
 * Tasks: requests that components move, whatever they do.
 *
 *     a call  --start-->  active  --advance, advance, ...-->  complete
 *                           ^                                    |
 *                           +------- persistent: MPI_Start ------+
 *
 * A blocking call waits for its task, a nonblocking one hands it out. There is one
 * progress function for all of them.
 */

#ifndef MCA_COMMON_IRREGULAR_TASK_H
#define MCA_COMMON_IRREGULAR_TASK_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>

#include "ompi/mca/common/irregular/common_irregular.h"
#include "opal/class/opal_list.h"

BEGIN_C_DECLS

struct mca_common_irregular_task_t;

/** What a kind of tasks does. */
typedef struct mca_common_irregular_task_kind_t {
    /** Begins, and activates the task; an error is for mca_common_irregular_task_drop. */
    int (*start)(struct mca_common_irregular_task_t *task);
    /** Moves without waiting and counts its steps; true if it is over, with its error in *rc. */
    bool (*advance)(struct mca_common_irregular_task_t *task, int *steps, int *rc);
} mca_common_irregular_task_kind_t;

/** What MPI_Wait waits for. */
typedef struct mca_common_irregular_task_t {
    ompi_coll_base_nbc_request_t super;
    const mca_common_irregular_task_kind_t *kind;
    ompi_communicator_t *comm;
    bool nonblocking; /**< the call returns before the task is over */
    bool keeps;       /**< it holds on to all that it was made with until it is freed */
    char *copies;     /**< of arrays that it was made with, NULL: none ... */
    size_t copied;    /**< ... and their bytes so far */
} mca_common_irregular_task_t;

OBJ_CLASS_DECLARATION(mca_common_irregular_task_t);

/** Fills in a new one. A persistent one is left to the user to start. */
void mca_common_irregular_task_init(mca_common_irregular_task_t *task,
                                 const mca_common_irregular_task_kind_t *kind,
                                 ompi_communicator_t *comm, bool persistent);

/** Frees a task that was never started. */
void mca_common_irregular_task_free(mca_common_irregular_task_t *task);

/**
 * Makes a task independent of what the user may free or change once a nonblocking call or
 * the making of a persistent request has returned: it holds on to its communicator until
 * it is freed, and has room for so many bytes of copies of the caller's arrays. MPI forbids
 * to touch these before a nonblocking call is over, but callers do (mpi4py 3.1). The task's
 * kind does the same with types and operations, and lets go of them where task->keeps. On
 * OMPI_ERR_OUT_OF_RESOURCE nothing is held.
 */
int mca_common_irregular_task_keep(mca_common_irregular_task_t *task, size_t room);

/** Copies an array into what is left of the task's room; NULL of NULL, which takes none. */
const void *mca_common_irregular_task_copy(mca_common_irregular_task_t *task, const void *array,
                                        size_t bytes);

/** Holds on to a type or lets go of it; NULL is none. */
void mca_common_irregular_hold_type(ompi_datatype_t *type, bool hold);

/** Starts a task; on an error it is gone, unless it is persistent. */
int mca_common_irregular_task_start(mca_common_irregular_task_t *task);

/**
 * The first of the tags of a call; the others follow below. Those of a
 * nonblocking one are reserved: all ranks must come here in the same call, whatever becomes
 * of it.
 */
int mca_common_irregular_task_tags(ompi_communicator_t *comm, int tags, bool nonblocking);

/** From now on the task is moved, maybe by other threads. */
void mca_common_irregular_task_activate(mca_common_irregular_task_t *task);

/** Moves all active tasks; the steps made. */
int mca_common_irregular_task_progress(void);

/** Waits for a started task, frees it, and returns its error. */
int mca_common_irregular_task_wait(mca_common_irregular_task_t *task);

/** A component that has tasks is opened, or closed: then none of its tasks is active. */
void mca_common_irregular_tasks_open(void);
void mca_common_irregular_tasks_close(void);

END_C_DECLS

#endif
