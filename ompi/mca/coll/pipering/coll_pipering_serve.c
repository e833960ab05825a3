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
 * below: the same for all families.
 *
 * The choice rests on what MPI makes equal on all ranks, sizes in bytes by the
 * signature, root and operation, and never on the layout of a type, an address, or
 * what a rank alone knows.
 */

#include "coll_pipering.h"
#include "coll_pipering_lessons.h"

#include <stdlib.h>

#include "opal/util/output.h"

void mca_coll_pipering_tell_fallback(const char *name, size_t total, ompi_communicator_t *comm,
                                     mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    mca_common_irregular_count(&component->counters.fallback[reason], 1);
    if (mca_coll_pipering_is_talkative(comm)) {
        opal_output(component->output,
                    "coll/pipering: %s on %s: %zu bytes, left to the module below: %s", name,
                    comm->c_name, total, mca_coll_pipering_reason_text(reason));
    }
}

static int step_aside(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                      mca_coll_pipering_reason_t reason)
{
    mca_coll_pipering_tell_fallback(call->name, call->total, comm, reason);
    return OMPI_ERR_NOT_SUPPORTED;
}

/* All ranks come by here with the same call, so the setup is the same for all. */
static int ensure_setup(mca_coll_pipering_module_t *module, ompi_communicator_t *comm)
{
    if (NULL != module->setup) {
        return mca_coll_pipering_setup_error(module->setup);
    }
    return mca_coll_pipering_setup_start(module, comm);
}

static int wait_for_setup(mca_coll_pipering_module_t *module, ompi_communicator_t *comm)
{
    if (mca_coll_pipering_setup_ready(module->setup)) {
        return OMPI_SUCCESS;
    }

    mca_coll_pipering_request_t *request = mca_coll_pipering_request_new(module, comm, NULL, NULL,
                                                                         false);
    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    const int rc = mca_common_irregular_task_start(&request->super);
    return OMPI_SUCCESS == rc ? mca_common_irregular_task_wait(&request->super) : rc;
}

static bool is_reproducible(const mca_coll_pipering_call_t *call,
                            const mca_coll_pipering_params_t *params)
{
    return params->reproducible && call->order_matters;
}

/* A key with parameters; its sizes are to be freed, or handed to a request. */
static int make_key(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                    const mca_coll_pipering_params_t *params, mca_coll_pipering_key_t *key)
{
    *key = (mca_coll_pipering_key_t){.collective = call->collective,
                                     .params = *params,
                                     .reproducible = is_reproducible(call, params)};
    return call->key_of(call->what, comm, key);
}

/* Others are faster than this plan, or it is to be seen whether they are: they have the call. */
static int leave(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                 mca_coll_pipering_plan_t *plan)
{
    const int rc = step_aside(call, comm,
                              MCA_COLL_PIPERING_TAKEN == plan->reason
                                  ? MCA_COLL_PIPERING_FALLBACK_MODEL
                                  : plan->reason);

    OBJ_RELEASE(plan);
    return rc;
}

/* The plan of a call whose communicator is set up, unless it says that others are faster. */
static int find_plan(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                     mca_coll_pipering_module_t *module, const mca_coll_pipering_key_t *key,
                     mca_coll_pipering_plan_t **plan)
{
    const int rc = mca_coll_pipering_plan_get(module, comm, key, plan);

    return OMPI_SUCCESS == rc && MCA_COLL_PIPERING_TAKEN != (*plan)->reason
               ? leave(call, comm, *plan)
               : rc;
}

/* The block size is the component's to choose. */
static bool is_free(const mca_coll_pipering_params_t *params, const mca_coll_pipering_plan_t *plan)
{
    return 0 == params->block_size && MCA_COLL_PIPERING_MODEL_SEARCH == params->block_model
           && MCA_COLL_PIPERING_LINEAR_RING != plan->algorithm;
}

/* A call that teaches takes another plan in place of *plan. */
static int replace_plan(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                        mca_coll_pipering_module_t *module, mca_coll_pipering_key_t *key,
                        size_t block_size, mca_coll_pipering_plan_t **plan)
{
    OBJ_RELEASE(*plan);
    key->varied = 0 < block_size;
    key->must_take = true;
    key->params.block_size = block_size;
    return find_plan(call, comm, module, key, plan);
}

/*
 * The plan of a call that teaches: some are left below to see what that takes, or taken though
 * they would be left; and some take other blocks than they would, so that the cost of a block
 * can be told from that of a byte.
 */
static int find_teaching_plan(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                              mca_coll_pipering_module_t *module, mca_coll_pipering_key_t *key,
                              mca_coll_pipering_plan_t **plan)
{
    const bool taken = MCA_COLL_PIPERING_TAKEN == (*plan)->reason;
    const bool turn = mca_coll_pipering_lessons_turn(module, comm, *plan);

    if (taken == turn) {
        const int rc = mca_coll_pipering_lessons_begin_below(module, comm, *plan);
        if (OMPI_SUCCESS == rc) {
            return leave(call, comm, *plan);
        }
        OBJ_RELEASE(*plan);
        return rc;
    }
    if (!taken) {
        return replace_plan(call, comm, module, key, 0, plan);
    }
    const size_t block = (*plan)->cut.block_size * key->unit;
    const size_t varied = !is_free(&key->params, *plan)
                              ? block
                              : mca_coll_pipering_lessons_vary(
                                    module, block, (size_t) mca_coll_pipering_plan_length(*plan),
                                    (*plan)->total);
    return varied == block ? OMPI_SUCCESS
                           : replace_plan(call, comm, module, key, varied, plan);
}

/* The plan of a blocking call. While nothing is known of links it is a pipeline, to learn. */
static int find_blocking_plan(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                              mca_coll_pipering_module_t *module, mca_coll_pipering_key_t *key,
                              mca_coll_pipering_plan_t **plan, bool *teaches)
{
    key->lessons = 1 + mca_coll_pipering_lessons_over(module);
    key->wanted = MCA_COLL_PIPERING_BCAST >= call->collective
                  && MCA_COLL_PIPERING_AUTO == key->params.algorithm
                  && mca_coll_pipering_lessons_wanted(module, &key->params, call->total);
    int rc = mca_coll_pipering_plan_get(module, comm, key, plan);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (!mca_coll_pipering_plan_in_rounds(*plan)) {
        rc = mca_coll_pipering_lessons_count(module, key, call->total, teaches);
    }
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(*plan);
        return rc;
    }
    if (*teaches) {
        rc = find_teaching_plan(call, comm, module, key, plan);
        *teaches = OMPI_SUCCESS == rc && !mca_coll_pipering_plan_in_rounds(*plan);
        return rc;
    }
    return MCA_COLL_PIPERING_TAKEN == (*plan)->reason ? OMPI_SUCCESS : leave(call, comm, *plan);
}

static int run(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
               mca_coll_pipering_module_t *module, const mca_coll_pipering_params_t *params)
{
    mca_coll_pipering_key_t key;
    mca_coll_pipering_plan_t *plan;
    bool teaches = false;

    int rc = make_key(call, comm, params, &key);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    rc = find_blocking_plan(call, comm, module, &key, &plan, &teaches);
    if (OMPI_SUCCESS != rc) {
        free(key.sizes);
        return rc;
    }

    mca_coll_pipering_request_t *request = mca_coll_pipering_request_new(module, comm, call->name,
                                                                         &key, false);
    if (NULL == request) {
        OBJ_RELEASE(plan);
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    request->plan = plan;
    mca_coll_pipering_request_take_tags(request);
    call->prepare(call->what, request);
    rc = teaches ? mca_coll_pipering_lessons_meet(module, comm) : OMPI_SUCCESS;
    if (OMPI_SUCCESS == rc && teaches) {
        rc = mca_coll_pipering_request_teach(request);
    }
    if (OMPI_SUCCESS != rc) {
        OMPI_REQUEST_FINI(&request->super.super.super);
        OBJ_RELEASE(request);
        return rc;
    }
    rc = mca_common_irregular_task_start(&request->super);
    return OMPI_SUCCESS == rc ? mca_common_irregular_task_wait(&request->super) : rc;
}

/* A gather on one node is left below whatever its sizes are, unless it is forced. */
static bool is_local(const mca_coll_pipering_call_t *call, const mca_coll_pipering_module_t *module,
                     const mca_coll_pipering_params_t *params)
{
    return MCA_COLL_PIPERING_ALLGATHER >= call->collective
           && MCA_COLL_PIPERING_AUTO == params->algorithm
           && 2 > mca_coll_pipering_setup_nodes(module->setup);
}

static int serve(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                 mca_coll_pipering_module_t *module)
{
    const mca_coll_pipering_reason_t reason = mca_coll_pipering_judge_size(call->collective,
                                                                           call->total);

    if (0 == call->total) {
        return OMPI_SUCCESS;
    }
    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return step_aside(call, comm, reason);
    }

    const mca_coll_pipering_params_t params = mca_coll_pipering_params_now(call->collective);
    int rc = ensure_setup(module, comm);
    if (OMPI_SUCCESS == rc) {
        rc = wait_for_setup(module, comm);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    module->settled = true;
    const mca_coll_pipering_reason_t unlike = mca_coll_pipering_setup_judge(module->setup);
    if (MCA_COLL_PIPERING_TAKEN != unlike) {
        return step_aside(call, comm, unlike);
    }
    if (is_local(call, module, &params)) {
        return step_aside(call, comm, MCA_COLL_PIPERING_FALLBACK_LOCAL);
    }
    return run(call, comm, module, &params);
}

int mca_coll_pipering_serve(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                            mca_coll_pipering_module_t *module)
{
    return module->out_of_memory ? MPI_ERR_NO_MEM
                                 : mca_common_irregular_mpi_error(serve(call, comm, module));
}

/* Bytes from which a pipeline that knows nothing of links beats trees that pass all on whole. */
#define EARLY_LEAST ((size_t) 128 * 1024)

/*
 * What can be said of a nonblocking call at once. It must not wait for the setup, and
 * once it has returned it cannot be left to others any more. After a blocking call
 * has waited for the setup, on all ranks at the same place in their sequence of
 * calls, it is decided like any other. Before that a gather is taken, whatever the
 * model will say, and of the rest, where Open MPI has pipelines of its own, what is large.
 * A reproducible call must not depend on what was called before, so its size alone
 * decides: the vector must be long enough for a line of all ranks.
 */
static mca_coll_pipering_reason_t judge_later(const mca_coll_pipering_call_t *call,
                                              ompi_communicator_t *comm,
                                              const mca_coll_pipering_module_t *module,
                                              const mca_coll_pipering_params_t *params)
{
    const size_t hops = (size_t) ompi_comm_size(comm) - 1;

    if (MCA_COMMON_IRREGULAR_HETEROGENEOUS) {
        return MCA_COLL_PIPERING_FALLBACK_UNLIKE;
    }
    if (module->settled) {
        const mca_coll_pipering_reason_t unlike = mca_coll_pipering_setup_judge(module->setup);
        if (MCA_COLL_PIPERING_TAKEN != unlike) {
            return unlike;
        }
    }
    if (MCA_COLL_PIPERING_AUTO == params->algorithm && is_reproducible(call, params)) {
        return call->total < hops * params->min_total ? MCA_COLL_PIPERING_FALLBACK_SMALL
                                                      : MCA_COLL_PIPERING_TAKEN;
    }
    if (!module->settled && MCA_COLL_PIPERING_ALLGATHER < call->collective
        && EARLY_LEAST > call->total && MCA_COLL_PIPERING_AUTO == params->algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_EARLY;
    }
    return mca_coll_pipering_judge_size(call->collective, call->total);
}

static int prepare_later(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                         mca_coll_pipering_module_t *module, bool persistent,
                         mca_coll_pipering_request_t **request)
{
    const mca_coll_pipering_params_t params = mca_coll_pipering_params_now(call->collective);
    const mca_coll_pipering_reason_t reason = judge_later(call, comm, module, &params);
    mca_coll_pipering_plan_t *plan = NULL;
    mca_coll_pipering_key_t key;

    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return step_aside(call, comm, reason);
    }

    int rc = ensure_setup(module, comm);
    if (OMPI_SUCCESS == rc) {
        rc = make_key(call, comm, &params, &key);
    }
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    key.must_take = !module->settled || key.reproducible;
    if (module->settled) {
        key.lessons = 1 + mca_coll_pipering_lessons_over(module);
        rc = find_plan(call, comm, module, &key, &plan);
        if (OMPI_SUCCESS != rc) {
            free(key.sizes);
            return rc;
        }
    }
    *request = mca_coll_pipering_request_new(module, comm, call->name, &key, persistent);
    if (NULL == *request) {
        if (NULL != plan) {
            OBJ_RELEASE(plan);
        }
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    (*request)->plan = plan;
    (*request)->super.nonblocking = true;
    mca_coll_pipering_request_take_tags(*request);
    call->prepare(call->what, *request);
    rc = mca_coll_pipering_request_keep(*request);
    if (OMPI_SUCCESS != rc) {
        mca_common_irregular_task_free(&(*request)->super);
    }
    return rc;
}

static int iserve(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                  mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    mca_coll_pipering_request_t *request;

    if (0 == call->total) {
        *handle = &ompi_request_empty;
        return OMPI_SUCCESS;
    }
    int rc = prepare_later(call, comm, module, false, &request);
    if (OMPI_SUCCESS == rc) {
        rc = mca_common_irregular_task_start(&request->super);
    }
    if (OMPI_SUCCESS == rc) {
        *handle = &request->super.super.super;
    }
    return rc;
}

int mca_coll_pipering_iserve(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                             mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    return module->out_of_memory ? MPI_ERR_NO_MEM
                                 : mca_common_irregular_mpi_error(iserve(call, comm, module, handle));
}

/* A call without data goes below, where its request can be started like any other. */
static int serve_later(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                       mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    mca_coll_pipering_request_t *request;

    if (0 == call->total) {
        return OMPI_ERR_NOT_SUPPORTED;
    }
    const int rc = prepare_later(call, comm, module, true, &request);
    if (OMPI_SUCCESS == rc) {
        *handle = &request->super.super.super;
    }
    return rc;
}

int mca_coll_pipering_serve_later(const mca_coll_pipering_call_t *call, ompi_communicator_t *comm,
                                  mca_coll_pipering_module_t *module, ompi_request_t **handle)
{
    return module->out_of_memory
               ? MPI_ERR_NO_MEM
               : mca_common_irregular_mpi_error(serve_later(call, comm, module, handle));
}
