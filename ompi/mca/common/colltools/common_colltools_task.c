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
 * The tasks of common_colltools_task.h, and the one progress function that moves them.
 *
 * This function runs within opal_progress, in one thread at a time. Tasks use no completion
 * callbacks of requests, since these race with completions and recurse.
 */

#include "ompi/mca/common/colltools/common_colltools_task.h"

#include "ompi/mca/common/colltools/common_colltools_progress.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/coll/base/coll_tags.h"
#include "opal/runtime/opal_progress.h"

static struct {
    opal_mutex_t lock;
    opal_list_t active; /* tasks under way */
    bool progressing;   /* a thread is in the progress function */
    bool registered;    /* the progress function is registered */
} tasks;

void mca_common_colltools_task_free(mca_common_colltools_task_t *task)
{
    OMPI_REQUEST_FINI(&task->super.super);
    OBJ_RELEASE(task);
}

static int task_free(ompi_request_t **handle)
{
    mca_common_colltools_task_t *task = (mca_common_colltools_task_t *) *handle;

    if (!REQUEST_COMPLETE(*handle)) {
        return MPI_ERR_REQUEST;
    }
    mca_common_colltools_task_free(task);
    *handle = MPI_REQUEST_NULL;
    return OMPI_SUCCESS;
}

static int task_cancel(ompi_request_t *request, int complete)
{
    (void) request;
    (void) complete;
    return MPI_ERR_REQUEST;
}

/* Completes or frees a task that could not be started; a persistent one belongs to the user. */
static void drop(mca_common_colltools_task_t *task, int rc)
{
    task->super.super.req_complete = REQUEST_COMPLETED;
    if (task->super.super.req_persistent) {
        task->super.super.req_status.MPI_ERROR = mca_common_colltools_mpi_error(rc);
        return;
    }
    mca_common_colltools_task_free(task);
}

/* On an error the task is freed, unless it is persistent. */
static int start_task(mca_common_colltools_task_t *task)
{
    task->super.super.req_state = OMPI_REQUEST_ACTIVE;
    task->super.super.req_status.MPI_ERROR = OMPI_SUCCESS;
    const int rc = task->kind->start(task);
    if (OMPI_SUCCESS != rc) {
        drop(task, rc);
    }
    return rc;
}

/* MPI_Start and MPI_Startall; a request that cannot be started is complete, with its error. */
static int start_all(size_t count, ompi_request_t **handles)
{
    int first = OMPI_SUCCESS;

    for (size_t i = 0; i < count; ++i) {
        mca_common_colltools_task_t *task = (mca_common_colltools_task_t *) handles[i];
        handles[i]->req_complete = REQUEST_PENDING;
        task->behind = true;
        const int rc = start_task(task);
        if (OMPI_SUCCESS != rc && OMPI_SUCCESS == first) {
            first = mca_common_colltools_mpi_error(rc);
        }
    }
    return first;
}

static void task_construct(mca_common_colltools_task_t *task)
{
    task->super.super.req_type = OMPI_REQUEST_COLL;
    task->super.super.req_status._cancelled = 0;
    task->super.super.req_free = task_free;
    task->super.super.req_cancel = task_cancel;
    task->behind = false;
    task->keeps = false;
    task->copies = NULL;
    task->copied = 0;
}

static void task_destruct(mca_common_colltools_task_t *task)
{
    if (task->keeps) {
        OBJ_RELEASE(task->comm);
    }
    free(task->copies);
}

OBJ_CLASS_INSTANCE(mca_common_colltools_task_t, ompi_coll_base_nbc_request_t, task_construct,
                   task_destruct);

int mca_common_colltools_task_keep(mca_common_colltools_task_t *task, size_t bytes)
{
    if (0 < bytes) {
        task->copies = malloc(bytes);
        if (NULL == task->copies) {
            return OMPI_ERR_OUT_OF_RESOURCE;
        }
    }
    OBJ_RETAIN(task->comm);
    task->keeps = true;
    return OMPI_SUCCESS;
}

const void *mca_common_colltools_task_copy(mca_common_colltools_task_t *task, const void *array,
                                        size_t bytes)
{
    char *copy = task->copies + task->copied;

    if (NULL == array) {
        return NULL;
    }
    if (0 < bytes) {
        memcpy(copy, array, bytes);
        task->copied += bytes;
    }
    return copy;
}

void mca_common_colltools_hold_type(ompi_datatype_t *type, bool hold)
{
    if (NULL == type || ompi_datatype_is_predefined(type)) {
        return;
    }
    if (hold) {
        OBJ_RETAIN(type);
    } else {
        OBJ_RELEASE(type);
    }
}

void mca_common_colltools_task_init(mca_common_colltools_task_t *task,
                                 const mca_common_colltools_task_kind_t *kind,
                                 ompi_communicator_t *comm, bool persistent)
{
    OMPI_REQUEST_INIT(&task->super.super, persistent);
    task->super.super.req_start = persistent ? start_all : NULL;
    task->super.super.req_mpi_object.comm = comm;
    task->kind = kind;
    task->comm = comm;
}

/* The user may free the request once it is complete; Open MPI orders nothing before that. */
static void complete(mca_common_colltools_task_t *task, int rc)
{
    task->super.super.req_status.MPI_ERROR = mca_common_colltools_mpi_error(rc);
    if (task->behind) {
        mca_common_colltools_progress_end();
    }
    opal_atomic_wmb();
    ompi_request_complete(&task->super.super, true);
}

static int progress_all(void)
{
    mca_common_colltools_task_t *task, *next;
    int steps = 0, rc;

    OPAL_LIST_FOREACH_SAFE(task, next, &tasks.active, mca_common_colltools_task_t) {
        OPAL_THREAD_UNLOCK(&tasks.lock);
        const bool over = task->kind->advance(task, &steps, &rc);
        OPAL_THREAD_LOCK(&tasks.lock);
        /* others may have been added behind this one meanwhile */
        next = (mca_common_colltools_task_t *) opal_list_get_next(
            (opal_list_item_t *) &task->super.super);
        if (over) {
            opal_list_remove_item(&tasks.active, (opal_list_item_t *) &task->super.super);
            OPAL_THREAD_UNLOCK(&tasks.lock);
            complete(task, rc);
            OPAL_THREAD_LOCK(&tasks.lock);
        }
    }
    return steps;
}

static int progress_tasks(void)
{
    int steps = 0;

    if (0 == opal_list_get_size(&tasks.active)) {
        return 0;
    }
    mca_common_colltools_progress_seen(false);
    OPAL_THREAD_LOCK(&tasks.lock);
    if (!tasks.progressing) {
        tasks.progressing = true;
        steps = progress_all();
        tasks.progressing = false;
    }
    OPAL_THREAD_UNLOCK(&tasks.lock);
    if (0 < steps) {
        mca_common_colltools_progress_seen(true);
    }
    return steps;
}

void mca_common_colltools_tasks_open(void)
{
    OBJ_CONSTRUCT(&tasks.lock, opal_mutex_t);
    OBJ_CONSTRUCT(&tasks.active, opal_list_t);
}

void mca_common_colltools_tasks_close(void)
{
    mca_common_colltools_progress_close();
    if (tasks.registered) {
        opal_progress_unregister(progress_tasks);
        tasks.registered = false;
    }
    OBJ_DESTRUCT(&tasks.active);
    OBJ_DESTRUCT(&tasks.lock);
}

/*
 * Nonblocking calls may be under way on a communicator at the same time, so each has tags of its
 * own. Blocking calls, also those of other components, follow each other and share the tags of
 * blocking collectives; tags are limited, since some PML has only 24 bits for them. When a
 * blocking call returns, this rank has started all its sends and completed all its receives, so
 * messages between two ranks with the same tag match in the order of calls. This holds as long as
 * calls succeed, also for Open MPI's own collectives: MPI guarantees nothing for a communicator on
 * which a call has failed.
 * A call may need several tags: two ranks may be neighbours on both links of a pipeline, and in
 * both pipelines of MPI_Allreduce, in the same direction.
 */
/* Tags of Open MPI's blocking collectives, from that of the first one of ours to the last. */
#define BLOCKING_TAGS (MCA_COLL_BASE_TAG_ALLGATHER - MCA_COLL_BASE_TAG_SCATTERV + 1)

int mca_common_colltools_task_tags(ompi_communicator_t *comm, int tags, bool nonblocking)
{
    return nonblocking || BLOCKING_TAGS < tags
               ? ompi_coll_base_nbc_reserve_tags(comm, tags) : MCA_COLL_BASE_TAG_ALLGATHER;
}

/* ---- calls of other components ---- */

typedef struct {
    mca_common_colltools_task_t super;
    ompi_request_t *request;
} follower_t;

static OBJ_CLASS_INSTANCE(follower_t, mca_common_colltools_task_t, NULL, NULL);

static int start_following(mca_common_colltools_task_t *task)
{
    mca_common_colltools_task_activate(task);
    return OMPI_SUCCESS;
}

static bool follow(mca_common_colltools_task_t *task, int *steps, int *rc)
{
    follower_t *follower = (follower_t *) task;

    if (!REQUEST_COMPLETE(follower->request)) {
        return false;
    }
    opal_atomic_rmb(); /* its status, if another thread has completed it */
    *steps += 1;
    *rc = follower->request->req_status.MPI_ERROR;
    (void) ompi_request_free(&follower->request);
    return true;
}

int mca_common_colltools_task_follow(int rc, ompi_communicator_t *comm, ompi_request_t **request)
{
    static const mca_common_colltools_task_kind_t kind = {.start = start_following,
                                                          .advance = follow};
    follower_t *follower;

    if (OMPI_SUCCESS != rc || !mca_common_colltools_progress_wanted()
        || REQUEST_COMPLETE(*request) || NULL == (follower = OBJ_NEW(follower_t))) {
        return rc;
    }
    mca_common_colltools_task_init(&follower->super, &kind, comm, false);
    follower->request = *request;
    return mca_common_colltools_task_hand_out(&follower->super, OMPI_SUCCESS, request);
}

/* ---- the list ---- */

void mca_common_colltools_task_activate(mca_common_colltools_task_t *task)
{
    bool first = false;

    if (task->behind) {
        mca_common_colltools_progress_begin();
    }
    OPAL_THREAD_LOCK(&tasks.lock);
    first = !tasks.registered;
    tasks.registered = true;
    opal_list_append(&tasks.active, (opal_list_item_t *) &task->super.super);
    OPAL_THREAD_UNLOCK(&tasks.lock);
    if (first) {
        opal_progress_register(progress_tasks);
    }
}

int mca_common_colltools_task_run(mca_common_colltools_task_t *task)
{
    ompi_request_t *handle = &task->super.super;

    int rc = start_task(task);
    if (OMPI_SUCCESS == rc) {
        ompi_request_wait_completion(handle);
        rc = handle->req_status.MPI_ERROR;
        ompi_request_free(&handle);
    }
    return rc;
}

int mca_common_colltools_task_hand_out(mca_common_colltools_task_t *task, int rc,
                                       ompi_request_t **request)
{
    if (OMPI_SUCCESS != rc) {
        if (NULL != task) {
            mca_common_colltools_task_free(task);
        }
        return rc;
    }
    task->behind = true;
    rc = task->super.super.req_persistent ? OMPI_SUCCESS : start_task(task);
    if (OMPI_SUCCESS == rc) {
        *request = &task->super.super;
    }
    return rc;
}
