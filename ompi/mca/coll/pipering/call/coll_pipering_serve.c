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

#include <string.h>

/*
 * Elements that interleave may meet in the vector of a reduce-scatter, which is only read; it is
 * the parts of the result where they do not, and these are apart in the order of ranks alone.
 */
static bool is_ordered(const mca_coll_pipering_call_t *call)
{
    return NULL != call->op
           && (!ompi_op_is_commute(call->op)
               || (mca_coll_pipering_scatters_result(call->collective)
                   && mca_common_colltools_interleaves(call->send.type)));
}

static mca_coll_pipering_key_t key_of(const mca_coll_pipering_call_t *call,
                                      const mca_coll_pipering_params_t *params)
{
    return (mca_coll_pipering_key_t){.collective = call->collective,
                                     .params = *params,
                                     .ordered = is_ordered(call),
                                     .order_matters = call->order_matters,
                                     .root = call->root,
                                     .sizes = call->sizes};
}

/* Judges a call by variables and size, before the communicator is looked at. */
static mca_coll_pipering_reason_t judge_size(const mca_coll_pipering_call_t *call)
{
    if (MCA_COLL_PIPERING_OFF == mca_coll_pipering_algorithm_of(call->collective)) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    return mca_coll_pipering_is_small(call->context, call->collective, call->total)
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
    mca_coll_pipering_request_t *request;

    if (mca_coll_pipering_setup_ready(context->setup)) {
        return OMPI_SUCCESS;
    }
    const mca_coll_pipering_call_t call = {.context = context};
    const int rc = mca_coll_pipering_request_new(&call, NULL, NULL, &request);
    return OMPI_SUCCESS == rc ? mca_common_colltools_task_run(&request->super) : rc;
}

int mca_coll_pipering_set_up(mca_coll_pipering_context_t *context)
{
    if (context->set_up) {
        return OMPI_SUCCESS;
    }
    int rc = ensure_setup(context);
    if (OMPI_SUCCESS == rc) {
        rc = wait_for_setup(context);
    }
    if (OMPI_SUCCESS == rc) {
        context->set_up = true;
        if (MCA_COLL_PIPERING_TAKEN == mca_coll_pipering_setup_judge(context->setup)) {
            memset(context->least, 0, sizeof(context->least));
        }
    }
    return rc;
}

/* ---- whether a call is served ---- */

/* Whether a small blocking call sets up the communicator: it is the one that ended the count, or
 * has not been counted yet, since its types or places were to be looked at first. */
static bool sets_up(mca_coll_pipering_context_t *context)
{
    return !context->set_up
           && (UINT32_MAX == context->small_left || !mca_coll_pipering_count_small(context));
}

/*
 * A blocking call, which all ranks make: it may set up the communicator and wait. So does one that
 * is off, since it may be on elsewhere: then ranks find in the set-up that they differ.
 */
static int judge_blocking(const mca_coll_pipering_call_t *call,
                          const mca_coll_pipering_params_t *params,
                          mca_coll_pipering_reason_t *reason)
{
    mca_coll_pipering_context_t *context = call->context;

    *reason = judge_size(call);
    const bool off = MCA_COLL_PIPERING_FALLBACK_OFF == *reason;
    const bool small = MCA_COLL_PIPERING_FALLBACK_SMALL == *reason
                       || (off && call->total < context->least[call->collective]);

    if (small ? !sets_up(context) : off && context->set_up) {
        return OMPI_SUCCESS;
    }
    const int rc = mca_coll_pipering_set_up(context);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    *reason = mca_coll_pipering_setup_judge(context->setup);
    if (MCA_COLL_PIPERING_TAKEN == *reason && off) {
        *reason = MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    if (MCA_COLL_PIPERING_TAKEN == *reason
        && mca_coll_pipering_is_local(call->collective, params->algorithm,
                                      mca_coll_pipering_setup_known(context->setup)->nodes.count)) {
        *reason = MCA_COLL_PIPERING_FALLBACK_LOCAL;
    }
    return OMPI_SUCCESS;
}

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

    if (MCA_COMMON_COLLTOOLS_HETEROGENEOUS) {
        return MCA_COLL_PIPERING_FALLBACK_UNLIKE;
    }
    if (context->set_up) {
        const mca_coll_pipering_reason_t unlike = mca_coll_pipering_setup_judge(context->setup);
        if (MCA_COLL_PIPERING_TAKEN != unlike) {
            return unlike;
        }
    }
    if (MCA_COLL_PIPERING_AUTO == params->algorithm && call->order_matters) {
        return call->total < links * mca_coll_pipering_small() ? MCA_COLL_PIPERING_FALLBACK_SHORT
                                                               : MCA_COLL_PIPERING_TAKEN;
    }
    if (!context->set_up && !mca_coll_pipering_collective_row(call->collective)->gathers
        && EARLY_LEAST > call->total && MCA_COLL_PIPERING_AUTO == params->algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_EARLY;
    }
    return judge_size(call);
}

/* Judges a small call of a communicator that is set up: the model says from how many bytes on a
 * call may pay, once for all that come later. */
static int judge_small(const mca_coll_pipering_call_t *call, const mca_coll_pipering_key_t *key,
                       mca_coll_pipering_reason_t *reason)
{
    mca_coll_pipering_context_t *context = call->context;
    const bool judged = call->total < mca_coll_pipering_small()
                        && MCA_COLL_PIPERING_AUTO == key->params.algorithm;
    int rc = OMPI_SUCCESS;

    if (judged && key->order_matters) { /* its machine is another one, so it finds no least bytes */
        *reason = MCA_COLL_PIPERING_FALLBACK_SMALL;
        return OMPI_SUCCESS;
    }
    if (judged && 0 == context->least[call->collective]) {
        rc = mca_coll_pipering_find_least(context, key);
    }
    if (mca_coll_pipering_is_small(context, call->collective, call->total)) {
        *reason = MCA_COLL_PIPERING_FALLBACK_SMALL;
    }
    return rc;
}

/*
 * Finds the plan of a call, or why it is left: where a model was asked, its plan says so, too. A
 * nonblocking call before the communicator is set up has no plan yet.
 */
static int decide(const mca_coll_pipering_call_t *call, mca_coll_pipering_key_t *key,
                  mca_coll_pipering_plan_t *recalled, mca_coll_pipering_plan_t **plan)
{
    const bool blocking = MCA_COLL_PIPERING_BLOCKING == call->form;
    const mca_coll_pipering_params_t params = mca_coll_pipering_params_in_range(
        mca_coll_pipering_algorithm_of(call->collective));
    mca_coll_pipering_context_t *context = call->context;
    mca_coll_pipering_reason_t reason;
    int rc = OMPI_SUCCESS;

    *plan = NULL;
    if (blocking) {
        rc = judge_blocking(call, &params, &reason);
    } else {
        reason = judge_early(call, &params);
        rc = MCA_COLL_PIPERING_TAKEN == reason ? ensure_setup(context) : OMPI_SUCCESS;
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    *key = key_of(call, &params);
    key->must_take = !blocking && (!context->set_up || key->order_matters);
    if (context->set_up
        && (MCA_COLL_PIPERING_TAKEN == reason || MCA_COLL_PIPERING_FALLBACK_LOCAL == reason)) {
        rc = judge_small(call, key, &reason);
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_PIPERING_TAKEN == reason && context->set_up) {
        rc = mca_coll_pipering_plan_get(context, key, recalled, plan);
        reason = OMPI_SUCCESS == rc ? (*plan)->reason : reason;
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (MCA_COLL_PIPERING_TAKEN == reason) {
        mca_coll_pipering_note_taken(context, NULL == *plan ? MCA_COLL_PIPERING_TEXT_LATER
                                                            : (*plan)->row->text);
        return OMPI_SUCCESS;
    }
    if (NULL != *plan) {
        mca_coll_pipering_plan_release(*plan);
    }
    return mca_coll_pipering_decline(
        context, mca_coll_pipering_collective_row(call->collective)->name[call->form],
        call->total, reason);
}

/* ---- calls ---- */

/* The module below serves a persistent call without data: its request can be started. */
static int serve_nothing(const mca_coll_pipering_call_t *call, ompi_request_t **handle)
{
    if (MCA_COLL_PIPERING_PERSISTENT == call->form) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    mca_coll_pipering_note_taken(call->context, MCA_COLL_PIPERING_TEXT_NO_DATA);
    if (MCA_COLL_PIPERING_NONBLOCKING == call->form) {
        *handle = &ompi_request_empty;
    }
    return OMPI_SUCCESS;
}

int mca_coll_pipering_serve(const mca_coll_pipering_call_t *call,
                            mca_coll_pipering_module_t *module,
                            mca_coll_pipering_plan_t *recalled, ompi_request_t **handle)
{
    mca_coll_pipering_request_t *request;
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_key_t key;

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    if (0 == call->total) {
        return serve_nothing(call, handle);
    }
    int rc = decide(call, &key, recalled, &plan);
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_pipering_request_new(call, &key, plan, &request);
    }
    if (OMPI_SUCCESS == rc) {
        rc = MCA_COLL_PIPERING_BLOCKING == call->form
                 ? mca_common_colltools_task_run(&request->super)
                 : mca_common_colltools_task_hand_out(&request->super, rc, handle);
    }
    return mca_common_colltools_mpi_error(rc);
}

/* ---- coll/mleader's calls ---- */

int mca_coll_pipering_choose_leaders(mca_common_colltools_module_t *base, size_t count,
                                     size_t size, bool waits, bool *others)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_context_t *context = &module->context;
    mca_coll_pipering_plan_t *plan;

    *others = false;
    if (module->out_of_memory) {
        return OMPI_SUCCESS;
    }
    int rc = waits ? mca_coll_pipering_set_up(context) : OMPI_SUCCESS;
    if (OMPI_SUCCESS != rc || !context->set_up
        || MCA_COLL_PIPERING_TAKEN != mca_coll_pipering_setup_judge(context->setup)
        || 2 > mca_coll_pipering_setup_known(context->setup)->nodes.count) {
        return rc;
    }
    const mca_coll_pipering_call_t call
        = {.context = context,
           .collective = MCA_COLL_PIPERING_ALLGATHER,
           .sizes = {.count = count,
                     .scale = size,
                     .unit = 1,
                     .parts = ompi_comm_size(context->comm)}};
    const mca_coll_pipering_params_t params = mca_coll_pipering_params_in_range(
        mca_coll_pipering_algorithm_of(call.collective));
    const mca_coll_pipering_key_t key = key_of(&call, &params);
    rc = mca_coll_pipering_plan_get(context, &key, NULL, &plan);
    if (OMPI_SUCCESS == rc) {
        *others = !plan->leaders_pay;
        mca_coll_pipering_plan_release(plan);
    }
    return rc;
}
