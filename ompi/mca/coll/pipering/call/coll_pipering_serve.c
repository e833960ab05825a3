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
 * The way of a call from its arguments to a plan and a request, or to the module
 * below: the same for all collectives.
 *
 * The choice rests on what MPI makes equal on all ranks, sizes in bytes by the
 * signature, root and operation, and never on the layout of a type, an address, or
 * what a rank alone knows.
 */

#include "coll_pipering_calls.h"

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_model.h"
#include "ompi/op/op.h"
#include "opal/util/output.h"

void mca_coll_pipering_note_fallback(const char *name, size_t total, ompi_communicator_t *comm,
                                     mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_process_t *process = &mca_coll_pipering_component.process;
    char bytes[32] = "";

    mca_common_irregular_count(&process->counters.fallback[reason], 1);
    if (mca_coll_pipering_is_verbose(process, comm)) {
        if (MCA_COLL_PIPERING_NO_TOTAL != total) {
            snprintf(bytes, sizeof(bytes), "%zu bytes, ", total);
        }
        opal_output(process->output, "coll/pipering: %s on %s: %sleft to the module below: %s",
                    name, comm->c_name, bytes, mca_coll_pipering_reason_text(reason));
    }
}

int mca_coll_pipering_decline(mca_coll_pipering_context_t *context, const char *name,
                              size_t total, mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_note_fallback(name, total, context->comm, reason);
    mca_coll_pipering_note_left(context, reason);
    return OMPI_ERR_NOT_SUPPORTED;
}

static mca_coll_pipering_key_t key_of(const mca_coll_pipering_call_t *call,
                                      const mca_coll_pipering_params_t *params)
{
    return (mca_coll_pipering_key_t){.collective = call->collective,
                                     .params = *params,
                                     .ordered = NULL != call->op && !ompi_op_is_commute(call->op),
                                     .order_matters = call->order_matters,
                                     .streamed = call->context->streamed,
                                     .root = call->root,
                                     .sizes = call->sizes};
}

static int decline(const mca_coll_pipering_call_t *call, mca_coll_pipering_reason_t reason)
{
    return mca_coll_pipering_decline(
        call->context, mca_coll_pipering_collective_row(call->collective)->name[call->form],
        call->total, reason);
}

/* Judges a call by variables and size, before the communicator is looked at. */
static mca_coll_pipering_reason_t judge_size(const mca_coll_pipering_call_t *call)
{
    if (MCA_COLL_PIPERING_OFF == mca_coll_pipering_component.algorithm[call->collective]) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    return mca_coll_pipering_is_small(call->collective, call->total)
               ? MCA_COLL_PIPERING_FALLBACK_SMALL
               : MCA_COLL_PIPERING_TAKEN;
}

/* All ranks set up in the same call, so their messages match. */
static int ensure_setup(mca_coll_pipering_context_t *context)
{
    return NULL == context->setup ? mca_coll_pipering_setup_start(context)
                                  : mca_coll_pipering_setup_error(context->setup);
}

static int wait_for_setup(mca_coll_pipering_context_t *context)
{
    const mca_coll_pipering_call_t call = {.context = context};

    if (mca_coll_pipering_setup_ready(context->setup)) {
        return OMPI_SUCCESS;
    }
    mca_coll_pipering_request_t *request = mca_coll_pipering_request_new(&call, NULL);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    return mca_common_irregular_task_run(&request->super);
}

int mca_coll_pipering_set_up(mca_coll_pipering_context_t *context)
{
    int rc = ensure_setup(context);

    if (OMPI_SUCCESS == rc) {
        rc = wait_for_setup(context);
    }
    context->set_up = context->set_up || OMPI_SUCCESS == rc;
    return rc;
}

/* Leaves a call to the module below, which is faster than the plan. */
static int leave(const mca_coll_pipering_call_t *call, mca_coll_pipering_plan_t *plan)
{
    const int rc = decline(call, plan->reason);

    mca_coll_pipering_plan_release(plan);
    return rc;
}

/* Finds the plan of a call on a communicator that is set up; leaves a call that does not pay. */
static int find_plan(const mca_coll_pipering_call_t *call, const mca_coll_pipering_key_t *key,
                     mca_coll_pipering_plan_t *recalled, mca_coll_pipering_plan_t **plan)
{
    const int rc = mca_coll_pipering_plan_get(call->context, key, recalled, plan);

    return OMPI_SUCCESS == rc && MCA_COLL_PIPERING_TAKEN != (*plan)->reason ? leave(call, *plan)
                                                                            : rc;
}

/* ---- blocking calls ---- */

static int run(const mca_coll_pipering_call_t *call, const mca_coll_pipering_params_t *params,
               mca_coll_pipering_plan_t *recalled)
{
    const mca_coll_pipering_key_t key = key_of(call, params);
    mca_coll_pipering_plan_t *plan;

    int rc = find_plan(call, &key, recalled, &plan);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_coll_pipering_request_t *request = mca_coll_pipering_request_new(call, &key);
    if (NULL == request) {
        mca_coll_pipering_plan_release(plan);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->plan = plan;
    mca_coll_pipering_note_taken(call->context, plan->row->text);
    mca_coll_pipering_request_take_tags(request);
    rc = mca_coll_pipering_request_watch(request);
    if (OMPI_SUCCESS != rc) {
        mca_common_irregular_task_free(&request->super);
        return rc;
    }
    return mca_common_irregular_task_run(&request->super);
}

static int serve_blocking(const mca_coll_pipering_call_t *call, mca_coll_pipering_plan_t *recalled)
{
    const mca_coll_pipering_reason_t reason = judge_size(call);
    mca_coll_pipering_context_t *context = call->context;

    if (0 == call->total) {
        mca_coll_pipering_note_taken(context, "no data");
        return OMPI_SUCCESS;
    }
    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return decline(call, reason);
    }

    const mca_coll_pipering_params_t params = mca_coll_pipering_params_now(call->collective);
    const int rc = mca_coll_pipering_set_up(context);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    const mca_coll_pipering_reason_t unlike = mca_coll_pipering_setup_judge(context->setup);
    if (MCA_COLL_PIPERING_TAKEN != unlike) {
        return decline(call, unlike);
    }
    if (mca_coll_pipering_is_local(call->collective, params.algorithm,
                                   mca_coll_pipering_setup_nodes(context->setup))) {
        return decline(call, MCA_COLL_PIPERING_FALLBACK_LOCAL);
    }
    return run(call, &params, recalled);
}

/* ---- coll/mleader's calls ---- */

/* On a communicator that is set up. */
static int answer(const mca_coll_pipering_call_t *call, mca_common_irregular_answer_t *found)
{
    const mca_coll_pipering_params_t params = mca_coll_pipering_params_now(call->collective);
    const mca_coll_pipering_key_t key = key_of(call, &params);
    mca_coll_pipering_plan_t *plan;

    const int rc = mca_coll_pipering_plan_get(call->context, &key, NULL, &plan);
    if (OMPI_SUCCESS == rc) {
        *found = plan->leaders_pay ? MCA_COMMON_IRREGULAR_LEADERS : MCA_COMMON_IRREGULAR_OTHERS;
        mca_coll_pipering_plan_release(plan);
    }
    return rc;
}

int mca_coll_pipering_choose_leaders(mca_common_irregular_module_t *base,
                                     const mca_common_irregular_question_t *question,
                                     mca_common_irregular_answer_t *found)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_context_t *context = &module->context;

    *found = MCA_COMMON_IRREGULAR_UNKNOWN;
    if (module->out_of_memory) {
        return OMPI_SUCCESS;
    }
    const int rc = question->waits ? mca_coll_pipering_set_up(context) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc || !context->set_up
        || MCA_COLL_PIPERING_TAKEN != mca_coll_pipering_setup_judge(context->setup)
        || 2 > mca_coll_pipering_setup_nodes(context->setup)) {
        return rc;
    }
    const mca_coll_pipering_call_t call
        = {.context = context,
           .collective = MCA_COLL_PIPERING_ALLGATHER,
           .sizes = {.count = question->count,
                     .scale = question->size,
                     .unit = 1,
                     .parts = ompi_comm_size(context->comm)}};
    return answer(&call, found);
}

/* ---- nonblocking and persistent calls ---- */

/* Bytes from which a pipeline beats trees that pass on whole vectors, on slow links. */
#define EARLY_LEAST ((size_t) 128 * 1024)

/*
 * Judges a nonblocking call at once: it must not wait for the setup, and once it has returned
 * the module below cannot serve it any more. After a blocking call has waited for the setup, on
 * all ranks at the same place in their sequence of calls, the model judges it as any other.
 * Before that, gathers are taken whatever their size; of the other calls, for which Open MPI has
 * pipelines of its own, large ones are.
 * A call whose order of combining matters must not depend on what was called before, so its size
 * alone decides: the vector must be long enough for a chain of all ranks.
 */
static mca_coll_pipering_reason_t judge_early(const mca_coll_pipering_call_t *call,
                                              const mca_coll_pipering_params_t *params)
{
    const mca_coll_pipering_context_t *context = call->context;
    const size_t links = (size_t) ompi_comm_size(context->comm) - 1;

    if (MCA_COMMON_IRREGULAR_HETEROGENEOUS) {
        return MCA_COLL_PIPERING_FALLBACK_UNLIKE;
    }
    if (context->set_up) {
        const mca_coll_pipering_reason_t unlike = mca_coll_pipering_setup_judge(context->setup);
        if (MCA_COLL_PIPERING_TAKEN != unlike) {
            return unlike;
        }
    }
    if (MCA_COLL_PIPERING_AUTO == params->algorithm && call->order_matters) {
        return call->total < links * params->min_total ? MCA_COLL_PIPERING_FALLBACK_SHORT
                                                       : MCA_COLL_PIPERING_TAKEN;
    }
    if (!context->set_up && !mca_coll_pipering_collective_row(call->collective)->gathers
        && EARLY_LEAST > call->total && MCA_COLL_PIPERING_AUTO == params->algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_EARLY;
    }
    return judge_size(call);
}

/* A request that is not started yet. */
static int make_request(const mca_coll_pipering_call_t *call, mca_coll_pipering_plan_t *recalled,
                        mca_coll_pipering_request_t **request)
{
    mca_coll_pipering_context_t *context = call->context;
    const mca_coll_pipering_params_t params = mca_coll_pipering_params_now(call->collective);
    const mca_coll_pipering_reason_t reason = judge_early(call, &params);
    mca_coll_pipering_plan_t *plan = NULL;

    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return decline(call, reason);
    }

    int rc = ensure_setup(context);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    mca_coll_pipering_key_t key = key_of(call, &params);
    key.must_take = !context->set_up || key.order_matters;
    if (context->set_up) {
        rc = find_plan(call, &key, recalled, &plan);
        if (OMPI_SUCCESS != rc) {
            return rc;
        }
    }
    *request = mca_coll_pipering_request_new(call, &key);
    if (NULL == *request) {
        if (NULL != plan) {
            mca_coll_pipering_plan_release(plan);
        }
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    (*request)->plan = plan;
    mca_coll_pipering_note_taken(context, NULL == plan ? "planned when it starts"
                                                       : plan->row->text);
    mca_coll_pipering_request_take_tags(*request);
    rc = mca_coll_pipering_request_keep(*request);
    if (OMPI_SUCCESS != rc) {
        mca_common_irregular_task_free(&(*request)->super);
    }
    return rc;
}

static int serve_nonblocking(const mca_coll_pipering_call_t *call,
                             mca_coll_pipering_plan_t *recalled, ompi_request_t **handle)
{
    mca_coll_pipering_request_t *request;

    if (0 == call->total) {
        mca_coll_pipering_note_taken(call->context, "no data");
        *handle = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    const int rc = make_request(call, recalled, &request);
    return OMPI_SUCCESS == rc ? mca_common_irregular_task_hand_out(&request->super, handle) : rc;
}

/* The module below serves a call without data: its request can be started like any other. */
static int serve_persistent(const mca_coll_pipering_call_t *call,
                            mca_coll_pipering_plan_t *recalled, ompi_request_t **handle)
{
    mca_coll_pipering_request_t *request;

    if (0 == call->total) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    const int rc = make_request(call, recalled, &request);
    return OMPI_SUCCESS == rc ? mca_common_irregular_task_hand_out(&request->super, handle) : rc;
}

/* ---- all forms ---- */

static int serve(const mca_coll_pipering_call_t *call, mca_coll_pipering_plan_t *recalled,
                 ompi_request_t **request)
{
    switch (call->form) {
    case MCA_COLL_PIPERING_BLOCKING:
        return serve_blocking(call, recalled);
    case MCA_COLL_PIPERING_NONBLOCKING:
        return serve_nonblocking(call, recalled, request);
    default:
        return serve_persistent(call, recalled, request);
    }
}

int mca_coll_pipering_serve(const mca_coll_pipering_call_t *call,
                            mca_coll_pipering_module_t *module,
                            mca_coll_pipering_plan_t *recalled, ompi_request_t **request)
{
    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    return mca_common_irregular_mpi_error(serve(call, recalled, request));
}
