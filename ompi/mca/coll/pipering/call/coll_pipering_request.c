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

#include "ompi/mca/coll/pipering/decide/coll_pipering_adapters.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/common/colltools/common_colltools_copy.h"

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
        request->call.sizes.counts = recv->counts;
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

/* Tags that the routes of a call have together; equal on all ranks, as plans are. */
static int tags_of(const mca_coll_pipering_plan_t *plan)
{
    int tags = 1;

    for (int i = 0; i < plan->pipes; ++i) {
        tags = plan->route[i].tags > tags ? plan->route[i].tags : tags;
    }
    return tags;
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

/*
 * Puts memory of the host in the place of buffers on a device, where the PML would copy each
 * fragment of a message between the two by itself.
 */
static int stage(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_call_t *call = &request->call;
    const mca_coll_pipering_plan_t *plan = request->plan;
    const bool vector = MCA_COLL_PIPERING_BCAST == call->collective;
    const int me = ompi_comm_rank(request->super.comm);
    const int own = vector ? (call->root == me ? 0 : -1) : call->in_place ? me : -1;

    return mca_common_colltools_has_device() && mca_coll_pipering_adapters_are_btls()
               ? mca_coll_pipering_staging_gather(
                     &request->staging, vector ? &plan->total : plan->bytes,
                     vector ? 1 : (size_t) ompi_comm_size(request->super.comm),
                     vector ? 0 : plan->contributor, own, me, call->in_place ? NULL : &call->send,
                     &call->recv)
               : OMPI_SUCCESS;
}

/* Makes the pipelines of a call whose data only moves. */
static int begin_copies(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_call_t *call = &request->call;

    mca_coll_pipering_layout_init(&call->recv, request->plan->largest / call->sizes.scale);
    if (!call->in_place) {
        mca_coll_pipering_layout_init(&call->send, call->send.count);
    }
    int rc = stage(request);
    if (OMPI_SUCCESS != rc) {
        return rc;
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

/* Makes what the call goes by, and asks for what is to come. */
static int begin_run(mca_coll_pipering_request_t *request)
{
    const int rc = NULL == request->call.op ? begin_copies(request)
                                            : mca_coll_pipering_request_reduce(request);

    if (OMPI_SUCCESS != rc) {
        drop_run(request);
        return rc;
    }
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
    if (!move(request, steps, rc)) {
        return false;
    }
    *rc = end_run(request, *rc);
    return true;
}

static int start_request(mca_common_colltools_task_t *task)
{
    mca_coll_pipering_request_t *request = (mca_coll_pipering_request_t *) task;
    int progress = 0, rc = begin_run(request);

    if (OMPI_SUCCESS == rc) {
        int error = OMPI_SUCCESS;
        (void) move(request, &progress, &error); /* its errors are found again */
        mca_common_colltools_task_activate(task);
    }
    return rc;
}

static const mca_common_colltools_task_kind_t request_kind = {.start = start_request,
                                                               .advance = advance};

int mca_coll_pipering_request_new(const mca_coll_pipering_call_t *call,
                                  mca_coll_pipering_plan_t *plan,
                                  mca_coll_pipering_request_t **made)
{
    ompi_communicator_t *comm = call->context->comm;
    const bool blocking = MCA_COLL_PIPERING_BLOCKING == call->form;
    mca_coll_pipering_request_t *request = OBJ_NEW(mca_coll_pipering_request_t);

    *made = request;
    if (NULL == request) {
        mca_coll_pipering_plan_release(plan);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->call = *call;
    request->plan = plan;
    request->number = call->context->verdict.heard;
    request->caller = (mca_common_colltools_caller_t){
        .owner = "pipering",
        .name = mca_coll_pipering_collective_row(call->collective)->name[call->form],
        .comm = comm};
    mca_common_colltools_task_init(&request->super, &request_kind, comm,
                                   MCA_COLL_PIPERING_PERSISTENT == call->form);
    request->tag = mca_common_colltools_task_tags(
        comm, mca_coll_pipering_in_rounds(plan->row) ? 1 : tags_of(plan), !blocking);
    const int rc = blocking ? OMPI_SUCCESS : keep(request);
    if (OMPI_SUCCESS != rc) {
        mca_common_colltools_task_free(&request->super);
    }
    return rc;
}
