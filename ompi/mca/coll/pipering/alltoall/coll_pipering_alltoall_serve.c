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
 * Serves a call of the all-to-all family by an exchange, or returns it to the module below; fills
 * in counters and writes the verbose line.
 *
 *     call --> decide --> exchange_init --> blocking: begin, wait
 *                |                     \-> request: begin at once, or at MPI_Start; advance
 *                +--> the module below
 *
 * All ranks decide alike, by what is equal on all of them: the variables, MPI_IN_PLACE, and for
 * MPI_Alltoall the size. An exchange needs no collective set-up, so a rank never waits for a rank
 * with which it exchanges no data.
 */

#include "coll_pipering_alltoall.h"

#include <inttypes.h>
#include <stdlib.h>

#include "ompi/mca/coll/pipering/call/coll_pipering_calls.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_permuted.h"
#include "opal/util/output.h"

/* ---- requests ---- */

/* Retains the types of messages, or releases them. */
static void hold_types(const mca_common_colltools_message_t *messages, size_t count, bool hold)
{
    for (size_t i = 0; i < count; ++i) {
        mca_common_colltools_hold_type(messages[i].type, hold);
    }
}

static void hold_all(const mca_coll_pipering_exchange_t *exchange, bool hold)
{
    const mca_common_colltools_schedule_t *schedule = &exchange->schedule;

    hold_types(schedule->receives.message, schedule->receives.count, hold);
    hold_types(schedule->sends.message, schedule->sends.count, hold);
    if (exchange->in_place) {
        hold_types(exchange->packed, schedule->steps, hold);
        return;
    }
    for (uint32_t i = 0; i < schedule->steps; ++i) {
        mca_common_colltools_hold_type(exchange->move[i].from.type, hold);
        mca_common_colltools_hold_type(exchange->move[i].to.type, hold);
    }
}

static void request_destruct(mca_coll_pipering_exchange_request_t *request)
{
    if (request->super.keeps) {
        hold_all(&request->exchange, false);
    }
    mca_coll_pipering_exchange_fini(&request->exchange);
}

static void request_construct(mca_coll_pipering_exchange_request_t *request)
{
    request->exchange.memory = NULL;
    request->types[0] = request->types[1] = NULL;
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_exchange_request_t, mca_common_colltools_task_t,
                   request_construct, request_destruct);

/* ---- counters and the verbose line ---- */

static uint64_t bytes_of(const mca_common_colltools_messages_t *messages)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < messages->count; ++i) {
        bytes += messages->message[i].bytes;
    }
    return bytes;
}

static void print_exchange(const mca_coll_pipering_exchange_t *exchange, uint32_t ins, uint64_t in,
                           uint64_t out)
{
    opal_output(mca_coll_pipering.process.output,
                "coll/pipering: %s on %s: %s%s; this rank: %" PRIu32 " messages in (%" PRIu64
                " bytes), %zu small and %zu large out (%" PRIu64 " bytes), %zu zero left out, "
                "at most %" PRIu32 " under way",
                exchange->caller.name, exchange->caller.comm->c_name,
                exchange->in_place
                    ? MCA_COLL_PIPERING_EXCHANGE_IN_PLACE
                    : mca_coll_pipering_exchange_algorithm_text(exchange->algorithm),
                exchange->in_place ? ", in place" : "", ins, in, exchange->bins.small,
                exchange->bins.large, out, exchange->bins.zero, exchange->schedule.sends.window);
}

static void report(const mca_coll_pipering_exchange_t *exchange)
{
    mca_coll_pipering_exchange_counters_t *counters = &mca_coll_pipering_exchange_counters;
    const mca_common_colltools_messages_t *sends = &exchange->schedule.sends;
    const mca_common_colltools_messages_t *receives = exchange->in_place
                                                          ? sends
                                                          : &exchange->schedule.receives;
    const uint64_t out = bytes_of(sends), in = exchange->in_place ? out : bytes_of(receives);

    mca_common_colltools_count(&counters->calls, 1);
    mca_common_colltools_count(&counters->messages_sent, sends->count);
    mca_common_colltools_count(&counters->messages_received, receives->count);
    mca_common_colltools_count(&counters->bytes_sent, out);
    mca_common_colltools_count(&counters->bytes_received, in);
    mca_common_colltools_count(&counters->zeros_skipped, exchange->bins.zero);
    mca_common_colltools_count(&counters->small_sent, exchange->bins.small);
    if (mca_coll_pipering_is_verbose(&mca_coll_pipering.process, exchange->caller.comm)) {
        print_exchange(exchange, receives->count, in, out);
    }
}

/* ---- the decision ---- */

/*
 * Replaces AUTO by PERMUTED where exchanges suit a mesh, but not for neighbours. All ranks must cut
 * messages into the same packets, so the choice uses the variables of one job alone. Packets are
 * bytes without a type, so a heterogeneous build of Open MPI, which may have to convert data, never
 * uses them.
 */
static int resolve(int algorithm, mca_coll_pipering_exchange_call_t call,
                   mca_coll_pipering_module_t *module)
{
    if (MCA_COLL_PIPERING_EXCHANGE_AUTO == algorithm
        && MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW != call
        && mca_coll_pipering_mesh_for_exchanges(&module->context)) {
        algorithm = MCA_COLL_PIPERING_EXCHANGE_PERMUTED;
    }
    if (MCA_COMMON_COLLTOOLS_HETEROGENEOUS && MCA_COLL_PIPERING_EXCHANGE_PERMUTED == algorithm) {
        algorithm = MCA_COLL_PIPERING_EXCHANGE_AUTO;
    }
    return algorithm;
}

/*
 * Judges an MPI_Alltoall with algorithm AUTO: the module below serves it unless a mesh is declared,
 * small calls even then, since it sends them in rounds, with fewer messages, and calls in place,
 * which do not go in packets. The size is equal on all ranks, and so is MPI_IN_PLACE.
 */
static mca_coll_pipering_reason_t judge_equal(const mca_coll_pipering_exchange_plan_t *plan)
{
    const mca_coll_pipering_side_t *side = &plan->recv;
    size_t size;

    if (MCA_COLL_PIPERING_EXCHANGE_PERMUTED != plan->params.algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_MESHLESS;
    }
    if (MPI_IN_PLACE == plan->send.buffer) {
        return MCA_COLL_PIPERING_FALLBACK_UNCHOSEN;
    }
    ompi_datatype_type_size(side->type, &size);
    return side->count * (size_t) side->each * size < MCA_COLL_PIPERING_SMALL
               ? MCA_COLL_PIPERING_FALLBACK_SMALL
               : MCA_COLL_PIPERING_TAKEN;
}

/*
 * Whether an exchange serves the call, or why not. `forced`: the variable is not auto. In place a
 * message may be packed in the sender's data representation, so a heterogeneous build cannot.
 */
static mca_coll_pipering_reason_t judge(const mca_coll_pipering_exchange_plan_t *plan,
                                        mca_coll_pipering_exchange_call_t call, bool forced)
{
    if (MCA_COLL_PIPERING_CALL_ALLTOALL == call && !forced) {
        return judge_equal(plan);
    }
    if (MCA_COLL_PIPERING_EXCHANGE_OFF == plan->params.algorithm) {
        return MCA_COLL_PIPERING_FALLBACK_OFF;
    }
    if (MCA_COMMON_COLLTOOLS_HETEROGENEOUS && MPI_IN_PLACE == plan->send.buffer) {
        return MCA_COLL_PIPERING_FALLBACK_UNLIKE;
    }
    return MCA_COLL_PIPERING_TAKEN;
}

/* Gives the plan the permutation of its communicator, which the first call that needs it makes. */
static int permute(mca_coll_pipering_exchange_plan_t *plan, ompi_communicator_t *comm,
                   mca_coll_pipering_module_t *module)
{
    const int p = ompi_comm_size(comm);
    int rc = OMPI_SUCCESS;

    if (MCA_COLL_PIPERING_EXCHANGE_PERMUTED != plan->params.algorithm) {
        return OMPI_SUCCESS;
    }
    OPAL_THREAD_LOCK(&module->context.lock);
    if (NULL == module->permutation) {
        module->permutation = malloc((size_t) p * sizeof(int));
        if (NULL == module->permutation) {
            rc = OMPI_ERR_OUT_OF_RESOURCE;
        } else {
            mca_coll_pipering_permutation(p, module->permutation);
        }
    }
    plan->permutation = module->permutation;
    OPAL_THREAD_UNLOCK(&module->context.lock);
    return rc;
}

static const char *const names[MCA_COLL_PIPERING_EXCHANGE_CALLS][MCA_COLL_PIPERING_FORMS]
    = {[MCA_COLL_PIPERING_CALL_ALLTOALL] = {"alltoall", "ialltoall", "alltoall_init"},
       [MCA_COLL_PIPERING_CALL_ALLTOALLV] = {"alltoallv", "ialltoallv", "alltoallv_init"},
       [MCA_COLL_PIPERING_CALL_ALLTOALLW] = {"alltoallw", "ialltoallw", "alltoallw_init"},
       [MCA_COLL_PIPERING_CALL_NEIGHBOR_ALLTOALLW]
       = {"neighbor_alltoallw", "ineighbor_alltoallw", "neighbor_alltoallw_init"}};

/*
 * Completes the plan of a job and reserves its tag, or returns OMPI_ERR_NOT_SUPPORTED on all ranks.
 * A rank that has no memory reserves the tag too, so that later calls have the same tags on all
 * ranks.
 */
static int decide(mca_coll_pipering_exchange_job_t *job, mca_coll_pipering_form_t form,
                  mca_coll_pipering_module_t *module, int *tag)
{
    ompi_communicator_t *comm = module->context.comm;

    job->plan.name = names[job->call][form];
    job->plan.params = mca_coll_pipering_exchange_params_now(job->call);
    const bool forced = MCA_COLL_PIPERING_EXCHANGE_AUTO != job->plan.params.algorithm;
    job->plan.params.algorithm = resolve(job->plan.params.algorithm, job->call, module);
    const mca_coll_pipering_reason_t reason = judge(&job->plan, job->call, forced);
    if (MCA_COLL_PIPERING_TAKEN == reason) {
        *tag = mca_common_colltools_task_tags(comm, 1, MCA_COLL_PIPERING_BLOCKING != form);
        mca_coll_pipering_note_taken(
            &module->context,
            MPI_IN_PLACE == job->plan.send.buffer
                ? MCA_COLL_PIPERING_EXCHANGE_IN_PLACE
                : mca_coll_pipering_exchange_algorithm_text(job->plan.params.algorithm));
    }
    if (module->out_of_memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    if (MCA_COLL_PIPERING_TAKEN != reason) {
        return mca_coll_pipering_decline(&module->context, job->plan.name,
                                         MCA_COLL_PIPERING_NO_TOTAL, reason, 0);
    }
    return OMPI_SUCCESS == job->error ? permute(&job->plan, comm, module) : job->error;
}

/* ---- calls ---- */

/* A blocking call. */
static int run(const mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm, int tag)
{
    mca_coll_pipering_exchange_t exchange;
    int rc = mca_coll_pipering_exchange_init(&exchange, &job->plan, comm, tag);

    if (OMPI_SUCCESS == rc) {
        mca_coll_pipering_exchange_begin(&exchange);
        rc = mca_common_colltools_schedule_wait(&exchange.schedule);
        report(&exchange);
        mca_coll_pipering_exchange_fini(&exchange);
    }
    return rc;
}

static int start(mca_common_colltools_task_t *task)
{
    mca_coll_pipering_exchange_begin(
        &((mca_coll_pipering_exchange_request_t *) task)->exchange);
    mca_common_colltools_task_activate(task);
    return OMPI_SUCCESS;
}

/*
 * Open MPI's MPI_Ialltoallw and MPI_Ineighbor_alltoallw retain the types of a call. When the
 * request is complete they release the types that the caller's arrays contain, but the caller may
 * have freed these arrays. So they are given the copies.
 */
static void point_binding_at_copies(mca_coll_pipering_exchange_request_t *request)
{
    ompi_coll_base_nbc_request_t *base = &request->super.super;

    if (NULL != request->types[0] && NULL != MCA_COMMON_COLLTOOLS_TYPES_HELD(base).stypes) {
        MCA_COMMON_COLLTOOLS_TYPES_HELD(base).stypes = request->types[0];
    }
    if (NULL != request->types[1] && NULL != MCA_COMMON_COLLTOOLS_TYPES_HELD(base).rtypes) {
        MCA_COMMON_COLLTOOLS_TYPES_HELD(base).rtypes = request->types[1];
    }
}

static bool advance(mca_common_colltools_task_t *task, int *steps, int *rc)
{
    mca_coll_pipering_exchange_t *exchange
        = &((mca_coll_pipering_exchange_request_t *) task)->exchange;

    if (!mca_common_colltools_schedule_move(&exchange->schedule, steps)) {
        return false;
    }
    *rc = exchange->schedule.error;
    report(exchange);
    point_binding_at_copies((mca_coll_pipering_exchange_request_t *) task);
    return true;
}

/*
 * Makes a request independent of objects that the caller may free: retains the types, and copies
 * the arrays of types for Open MPI's binding. In place MPI ignores the array of the sending side.
 */
static int keep(mca_coll_pipering_exchange_request_t *request,
                const mca_coll_pipering_exchange_plan_t *plan)
{
    const bool in_place = MPI_IN_PLACE == plan->send.buffer;
    ompi_datatype_t *const *types[2] = {in_place ? NULL : plan->send.types, plan->recv.types};
    const size_t bytes[2] = {NULL == types[0] ? 0 : plan->send.count * sizeof(types[0][0]),
                             NULL == types[1] ? 0 : plan->recv.count * sizeof(types[1][0])};
    const int rc = mca_common_colltools_task_keep(&request->super, bytes[0] + bytes[1]);

    if (OMPI_SUCCESS == rc) {
        for (int i = 0; i < 2; ++i) {
            request->types[i] = mca_common_colltools_task_copy(&request->super, types[i], bytes[i]);
        }
        hold_all(&request->exchange, true);
    }
    return rc;
}

/* Makes a request and starts it; the user starts a persistent one. */
static int make_request(const mca_coll_pipering_exchange_job_t *job, ompi_communicator_t *comm,
                        int tag, bool persistent, ompi_request_t **handle)
{
    static const mca_common_colltools_task_kind_t kind = {.start = start, .advance = advance};
    mca_coll_pipering_exchange_request_t *request = OBJ_NEW(mca_coll_pipering_exchange_request_t);

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    int rc = mca_coll_pipering_exchange_init(&request->exchange, &job->plan, comm, tag);
    if (OMPI_SUCCESS != rc) {
        OBJ_RELEASE(request);
        return rc;
    }
    mca_common_colltools_task_init(&request->super, &kind, comm, persistent);
    rc = keep(request, &job->plan);
    return mca_common_colltools_task_hand_out(&request->super, rc, handle);
}

int mca_coll_pipering_exchange(mca_coll_pipering_exchange_job_t *job, mca_coll_pipering_form_t form,
                               mca_coll_pipering_module_t *module, ompi_request_t **request)
{
    ompi_communicator_t *comm = module->context.comm;
    int tag = 0;

    int rc = decide(job, form, module, &tag);
    if (OMPI_SUCCESS == rc) {
        rc = MCA_COLL_PIPERING_BLOCKING == form
                 ? run(job, comm, tag)
                 : make_request(job, comm, tag, MCA_COLL_PIPERING_PERSISTENT == form, request);
    }
    return mca_common_colltools_mpi_error(rc);
}
