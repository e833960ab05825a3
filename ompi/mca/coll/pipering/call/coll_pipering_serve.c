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

#include "ompi/op/op.h"

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

/* The types of a reduction are equal on all ranks. */
static bool has_gaps(const mca_coll_pipering_call_t *call)
{
    return NULL != call->op && !mca_common_colltools_is_dense(call->send.type);
}

static mca_coll_pipering_key_t key_of(const mca_coll_pipering_call_t *call,
                                      const mca_coll_pipering_params_t *params)
{
    return (mca_coll_pipering_key_t){.collective = call->collective,
                                     .params = *params,
                                     .ordered = is_ordered(call),
                                     .gaps = has_gaps(call),
                                     .order_matters = call->order_matters,
                                     .root = call->root,
                                     .sizes = call->sizes};
}

/* ---- whether a call is served ---- */

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

/* Judges a call by what is known of its communicator, before the model is asked. */
static int judge_place(const mca_coll_pipering_call_t *call, const mca_coll_pipering_key_t *key,
                       mca_coll_pipering_reason_t *reason)
{
    mca_coll_pipering_context_t *context = call->context;
    const int algorithm = key->params.algorithm;
    bool below = false;
    int rc = mca_coll_pipering_set_up(context);

    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    *reason = context->setup->reason;
    if (MCA_COLL_PIPERING_TAKEN != *reason) {
        return OMPI_SUCCESS;
    }
    if (MCA_COLL_PIPERING_SMALL > call->total && MCA_COLL_PIPERING_AUTO == algorithm) {
        rc = mca_coll_pipering_judge_small(context, key, call->total, &below);
    }
    *reason = below ? MCA_COLL_PIPERING_FALLBACK_SMALL
              : mca_coll_pipering_is_local(call->collective, algorithm, &context->setup->at)
                  ? MCA_COLL_PIPERING_FALLBACK_LOCAL
                  : MCA_COLL_PIPERING_TAKEN;
    return rc;
}

/* Finds the plan of a call, or why it is left: where a model was asked, its plan says so, too. */
static int decide(const mca_coll_pipering_call_t *call, mca_coll_pipering_plan_t *recalled,
                  mca_coll_pipering_plan_t **plan)
{
    const mca_coll_pipering_params_t params = mca_coll_pipering_params_in_range(
        mca_coll_pipering_algorithm_of(call->collective));
    const mca_coll_pipering_key_t key = key_of(call, &params);
    mca_coll_pipering_context_t *context = call->context;
    mca_coll_pipering_reason_t reason = judge_size(call);
    int rc = OMPI_SUCCESS;

    *plan = NULL;
    if (MCA_COLL_PIPERING_TAKEN == reason) {
        rc = judge_place(call, &key, &reason);
    }
    if (OMPI_SUCCESS == rc && MCA_COLL_PIPERING_TAKEN == reason) {
        rc = mca_coll_pipering_plan_get(context, &key, recalled, plan);
        reason = OMPI_SUCCESS == rc ? (*plan)->reason : reason;
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (MCA_COLL_PIPERING_TAKEN == reason) {
        mca_coll_pipering_note_taken(context, (*plan)->row->text);
        return OMPI_SUCCESS;
    }
    const unsigned number = NULL == *plan ? 0 : (*plan)->number;
    if (NULL != *plan) {
        mca_coll_pipering_plan_release(*plan);
    }
    return mca_coll_pipering_decline(
        context, mca_coll_pipering_collective_row(call->collective)->name[call->form],
        call->total, reason, number);
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

    if (module->out_of_memory) {
        return MPI_ERR_NO_MEM;
    }
    if (0 == call->total) {
        return serve_nothing(call, handle);
    }
    int rc = decide(call, recalled, &plan);
    if (OMPI_SUCCESS == rc) {
        rc = mca_coll_pipering_request_new(call, plan, &request);
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
                                     size_t size, bool *others)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    mca_coll_pipering_context_t *context = &module->context;
    mca_coll_pipering_plan_t *plan;

    *others = false;
    if (module->out_of_memory) {
        return OMPI_SUCCESS;
    }
    int rc = mca_coll_pipering_set_up(context);
    if (OMPI_SUCCESS != rc || MCA_COLL_PIPERING_TAKEN != context->setup->reason
        || 2 > context->setup->at.nodes) {
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
