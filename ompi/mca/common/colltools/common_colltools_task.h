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
 * Tasks: requests of collectives whose progress components make.
 *
 *     a call  --start-->  active  --advance, advance, ...-->  complete
 *                           ^                                    |
 *                           +------- persistent: MPI_Start ------+
 *
 * A blocking call waits for its task, a nonblocking one returns it to the user. One progress
 * function moves all tasks.
 */

#ifndef MCA_COMMON_COLLTOOLS_TASK_H
#define MCA_COMMON_COLLTOOLS_TASK_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>

#include "ompi/mca/common/colltools/common_colltools.h"
#include "opal/class/opal_list.h"

BEGIN_C_DECLS

struct mca_common_colltools_task_t;

/** The functions of a kind of tasks. */
typedef struct mca_common_colltools_task_kind_t {
    /** Begins the task and activates it; on an error the task is not active. */
    int (*start)(struct mca_common_colltools_task_t *task);
    /** Moves on without waiting, adds to *steps; true: the task is over, *rc is its error. */
    bool (*advance)(struct mca_common_colltools_task_t *task, int *steps, int *rc);
} mca_common_colltools_task_kind_t;

/** A task: the request that MPI_Wait waits for. */
typedef struct mca_common_colltools_task_t {
    ompi_coll_base_nbc_request_t super;
    const mca_common_colltools_task_kind_t *kind;
    ompi_communicator_t *comm;
    bool behind;      /**< the program does not wait in the call that starts it */
    bool keeps;       /**< it holds references to its arguments until it is freed */
    char *copies;     /**< copies of the caller's arrays, NULL: none */
    size_t copied;    /**< bytes of these so far */
} mca_common_colltools_task_t;

OBJ_CLASS_DECLARATION(mca_common_colltools_task_t);

/** Initializes a new task; a persistent one is started by the user. */
void mca_common_colltools_task_init(mca_common_colltools_task_t *task,
                                 const mca_common_colltools_task_kind_t *kind,
                                 ompi_communicator_t *comm, bool persistent);

/** Frees a task that was never started. */
void mca_common_colltools_task_free(mca_common_colltools_task_t *task);

/**
 * Makes a task independent of objects that the user may free or change once a nonblocking call
 * or the init call of a persistent one has returned: the task holds a reference to its
 * communicator until it is freed, and has `bytes` bytes for copies of the caller's arrays. MPI
 * forbids to change these before a nonblocking call is over, but callers do (mpi4py 3.1). The
 * task's kind does the same with types and operations, and releases them if task->keeps. On
 * OMPI_ERR_OUT_OF_RESOURCE nothing is held.
 */
int mca_common_colltools_task_keep(mca_common_colltools_task_t *task, size_t bytes);

/** Copies an array into what is left of these bytes; NULL is not copied, and stays NULL. */
const void *mca_common_colltools_task_copy(mca_common_colltools_task_t *task, const void *array,
                                        size_t bytes);

/** Retains or releases a type; NULL: nothing. */
void mca_common_colltools_hold_type(ompi_datatype_t *type, bool hold);

/** Starts a task, waits for it, and frees it, also on an error, which is returned. */
int mca_common_colltools_task_run(mca_common_colltools_task_t *task);

/**
 * Makes a task the caller's request, started unless it is persistent. After an error, that of its
 * making, `rc`, or of its start, the task is freed, unless it is NULL, and *request is as before.
 */
int mca_common_colltools_task_hand_out(mca_common_colltools_task_t *task, int rc,
                                       ompi_request_t **request);

/**
 * Behind a nonblocking call of another component, whose code is `rc`: where there is a progress
 * thread, a task takes the place of its request, so that the thread knows of the call. Returns rc.
 */
int mca_common_colltools_task_follow(int rc, ompi_communicator_t *comm, ompi_request_t **request);

/**
 * The first tag of a call; the others are first - 1, first - 2, ... Tags of a nonblocking call,
 * and of one with very many, are reserved, so all ranks must reserve them in the same call, even
 * if it fails on some.
 */
int mca_common_colltools_task_tags(ompi_communicator_t *comm, int tags, bool nonblocking);

/** Puts a task on the list of active ones; from now on any thread may move it. */
void mca_common_colltools_task_activate(mca_common_colltools_task_t *task);

/** When the first component with tasks is opened, and the last one closed; then none is active. */
void mca_common_colltools_tasks_open(void);
void mca_common_colltools_tasks_close(void);

END_C_DECLS

#endif
