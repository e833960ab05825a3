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
 * Requests: calls on their way, by pipelines or by a schedule. Their progress looks at the heads of
 * queues only.
 */

#include "coll_pipering_request.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/op/op.h"

static void request_construct(mca_coll_pipering_request_t *request)
{
    memset(&request->super + 1, 0, sizeof(*request) - sizeof(request->super));
    request->unit = MCA_COLL_PIPERING_BYTES;
}

static void hold(mca_coll_pipering_request_t *request, bool hold)
{
    ompi_op_t *op = request->call.op;

    mca_common_colltools_hold_type(request->call.send.type, hold);
    mca_common_colltools_hold_type(request->call.recv.type, hold);
    if (NULL == op || ompi_op_is_intrinsic(op)) {
        return;
    }
    if (hold) {
        OBJ_RETAIN(op);
    } else {
        OBJ_RELEASE(op);
    }
}

/* Keeps what the user may free once the call has returned. */
static int keep(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_layout_t *recv = &request->call.recv;
    const size_t p = (size_t) ompi_comm_size(request->super.comm);
    const size_t counts = mca_common_colltools_array_bytes(recv->counts, p);
    const size_t displs = mca_common_colltools_array_bytes(recv->displs, p);
    const int rc = mca_common_colltools_task_keep(&request->super, counts + displs);

    if (OMPI_SUCCESS == rc) {
        recv->displs.at = mca_common_colltools_task_copy(&request->super, recv->displs.at, displs);
        recv->counts.at = mca_common_colltools_task_copy(&request->super, recv->counts.at, counts);
        request->call.sizes.counts = request->key.sizes.counts = recv->counts;
        hold(request, true);
    }
    return rc;
}

static void request_destruct(mca_coll_pipering_request_t *request)
{
    if (request->super.keeps) {
        hold(request, false);
    }
    if (NULL != request->plan) {
        mca_coll_pipering_plan_release(request->plan);
    }
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_request_t, mca_common_colltools_task_t, request_construct,
                   request_destruct);

/* Tags that the routes of a call have together. */
static int tags_of(const mca_coll_pipering_plan_t *plan)
{
    int tags = 1;

    for (int i = 0; i < plan->pipes; ++i) {
        tags = plan->route[i].tags > tags ? plan->route[i].tags : tags;
    }
    return tags;
}

/*
 * Tags that any plan of a call may have: of a reduce-scatter and a ring; along a
 * mesh, of each stream. No more, since tags are few with some transports. Equal on all ranks: a
 * mesh of some of them does not count.
 */
static int most_tags(const mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_collective_row_t *row
        = mca_coll_pipering_collective_row(request->call.collective);
    const int ring = mca_coll_pipering_most_tags(ompi_comm_size(request->super.comm));

    return mca_coll_pipering_mesh_common(request->call.context) ? row->chains + row->rings * ring
                                                                : 1 + ring;
}

/* Tags that a call needs, by what all ranks know when it is made. */
static int tags_wanted(const mca_coll_pipering_request_t *request)
{
    const mca_coll_pipering_plan_t *plan = request->plan;

    if (NULL == plan) {
        return most_tags(request);
    }
    return mca_coll_pipering_in_rounds(plan->row) ? 1 : tags_of(plan);
}

/* ---- the life of a request ---- */

/* Drops the schedule, or the pipelines, of a run. */
static void drop_run(mca_coll_pipering_request_t *request)
{
    bool pending = NULL != request->scheduled
                   && mca_coll_pipering_scheduled_free(request->scheduled);

    request->scheduled = NULL;
    while (NULL != request->first) {
        mca_coll_pipering_pipe_t *pipe = request->first;
        request->first = pipe->next;
        pending |= mca_coll_pipering_pipe_free(pipe);
    }
    request->pipes = 0;
    mca_coll_pipering_staging_drop(&request->staging, &request->call.send,
                                   &request->call.recv, pending);
}

/* Makes the pipelines of a call whose data only moves. */
static int begin_copies(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_call_t *call = &request->call;
    int rc = OMPI_SUCCESS;

    mca_coll_pipering_layout_init(&call->recv, request->plan->largest / call->sizes.scale);
    if (!call->in_place) {
        mca_coll_pipering_layout_init(&call->send, call->send.count);
    }
    if (mca_coll_pipering_in_rounds(request->plan->row)) {
        return mca_coll_pipering_request_schedule(request);
    }
    for (int i = 0; OMPI_SUCCESS == rc && i < request->plan->pipes; ++i) {
        const mca_coll_pipering_pipe_args_t pipe = {.unit = MCA_COLL_PIPERING_BYTES,
                                                    .send = call->in_place ? NULL : &call->send,
                                                    .recv = &call->recv};
        rc = mca_coll_pipering_request_add(request, pipe);
    }
    return rc;
}

/* Makes the plan, if there is none yet, and what the call goes by; asks for what is to come. */
static int begin_run(mca_coll_pipering_request_t *request)
{
    int rc = OMPI_SUCCESS;

    if (NULL == request->plan) {
        rc = mca_coll_pipering_plan_get(request->call.context, &request->key, NULL,
                                        &request->plan);
    }
    if (OMPI_SUCCESS == rc) {
        rc = NULL == request->call.op ? begin_copies(request)
                                      : mca_coll_pipering_request_reduce(request);
    }
    if (OMPI_SUCCESS != rc) {
        drop_run(request);
        return rc;
    }
    request->running = true;
    for (mca_coll_pipering_pipe_t *pipe = request->first; NULL != pipe; pipe = pipe->next) {
        mca_coll_pipering_pipe_await(pipe);
    }
    for (mca_coll_pipering_pipe_t *pipe = request->first; NULL != pipe; pipe = pipe->next) {
        mca_coll_pipering_pipe_grant(pipe);
    }
    return OMPI_SUCCESS;
}

/* Ends a run that is over: frees its memory and keeps its figures. */
static int end_run(mca_coll_pipering_request_t *request, int rc)
{
    mca_coll_pipering_request_report(request);
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_pipering_staging_bring(&request->staging, &request->call.recv);
    }
    drop_run(request);
    request->running = false;
    return rc;
}

/* Gives up all pipelines, since one has failed; true once all neighbours have been told. */
static bool give_up(mca_coll_pipering_request_t *request, int error)
{
    bool known = true;

    for (mca_coll_pipering_pipe_t *pipe = request->first; NULL != pipe; pipe = pipe->next) {
        known &= mca_coll_pipering_pipe_give_up(pipe, error);
    }
    return known;
}

/* Moves all pipelines; true if they are done or failed. */
static bool move_pipes(mca_coll_pipering_request_t *request, int *steps, int *rc)
{
    mca_coll_pipering_pipe_t *pipe = request->first;
    bool done = NULL != pipe;

    for (; NULL != pipe && OMPI_SUCCESS == *rc; pipe = pipe->next) {
        *steps += mca_coll_pipering_pipe_progress(pipe);
        *rc = pipe->error;
        done = done && mca_coll_pipering_pipe_done(pipe);
    }
    return OMPI_SUCCESS == *rc ? done : give_up(request, *rc);
}

/* Moves what the call goes by; true if that is done or failed. */
static bool move(mca_coll_pipering_request_t *request, int *steps, int *rc)
{
    if (NULL == request->scheduled) {
        return move_pipes(request, steps, rc);
    }
    const bool over = mca_common_colltools_schedule_move(&request->scheduled->schedule, steps);
    *rc = request->scheduled->schedule.error;
    return over;
}

/* Moves a request on; true if it is over, with its error in *rc. */
static bool advance(mca_common_colltools_task_t *task, int *steps, int *rc)
{
    mca_coll_pipering_request_t *request = (mca_coll_pipering_request_t *) task;

    *rc = OMPI_SUCCESS;
    if (!request->running) {
        mca_coll_pipering_setup_t *setup = request->call.context->setup;
        *steps += mca_coll_pipering_setup_progress(setup);
        *rc = mca_coll_pipering_setup_error(setup);
        if (OMPI_SUCCESS != *rc || !mca_coll_pipering_setup_ready(setup)) {
            return OMPI_SUCCESS != *rc;
        }
        if (NULL == request->caller.name) {
            return true;
        }
        if (MCA_COLL_PIPERING_TAKEN != mca_coll_pipering_setup_judge(setup)) {
            *rc = MPI_ERR_OTHER;
            return true;
        }
        *rc = begin_run(request);
        if (OMPI_SUCCESS != *rc) {
            return true;
        }
    }

    if (!move(request, steps, rc)) {
        return false;
    }
    *rc = end_run(request, *rc);
    return true;
}

/* Begins at once if the communicator is set up, and its ranks are alike. */
static int start_request(mca_common_colltools_task_t *task)
{
    mca_coll_pipering_request_t *request = (mca_coll_pipering_request_t *) task;
    const mca_coll_pipering_setup_t *setup = request->call.context->setup;
    int progress = 0, rc = OMPI_SUCCESS;

    if (NULL != request->caller.name && mca_coll_pipering_setup_ready(setup)
        && MCA_COLL_PIPERING_TAKEN == mca_coll_pipering_setup_judge(setup)) {
        rc = begin_run(request);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
        (void) move(request, &progress, &rc); /* its errors are found again */
    }
    mca_common_colltools_task_activate(task);
    if (!request->running) {
        (void) mca_common_colltools_task_progress();
    }
    return OMPI_SUCCESS;
}

static const mca_common_colltools_task_kind_t request_kind = {.start = start_request,
                                                               .advance = advance};

/* Of one that only sets up a communicator there is no key. */
static void init(mca_coll_pipering_request_t *request, const mca_coll_pipering_call_t *call,
                 const mca_coll_pipering_key_t *key)
{
    ompi_communicator_t *comm = call->context->comm;

    request->call = *call;
    request->caller = (mca_common_colltools_caller_t){.owner = "pipering", .comm = comm};
    if (NULL != key) {
        request->key = *key;
        request->caller.name = mca_coll_pipering_collective_row(call->collective)->name[call->form];
    }
    mca_common_colltools_task_init(&request->super, &request_kind, comm,
                                   MCA_COLL_PIPERING_PERSISTENT == call->form);
}

int mca_coll_pipering_request_new(const mca_coll_pipering_call_t *call,
                                  const mca_coll_pipering_key_t *key,
                                  mca_coll_pipering_plan_t *plan,
                                  mca_coll_pipering_request_t **made)
{
    mca_coll_pipering_request_t *request = OBJ_NEW(mca_coll_pipering_request_t);

    *made = request;
    if (NULL == request) {
        if (NULL != plan) {
            mca_coll_pipering_plan_release(plan);
        }
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    init(request, call, key);
    request->plan = plan;
    if (NULL == key) {
        return OMPI_SUCCESS;
    }
    request->tag = mca_common_colltools_task_tags(request->super.comm, tags_wanted(request),
                                                  MCA_COLL_PIPERING_BLOCKING != call->form);
    const int rc = MCA_COLL_PIPERING_BLOCKING != call->form ? keep(request) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc) {
        mca_common_colltools_task_free(&request->super);
    }
    return rc;
}
