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
 * MPI_Barrier, MPI_Ibarrier and MPI_Barrier_init where a mesh is declared: along whole lines, one
 * dimension after the other. Elsewhere the component does not serve them, and is not asked.
 *
 * Almasi et al., section 3.2.
 */

#include "ompi/mca/coll/pipering/call/coll_pipering_calls.h"

#include "coll_pipering_lines.h"
#include "coll_pipering_ways.h"
#include "opal/util/output.h"

static const char *const names[MCA_COLL_PIPERING_FORMS] = {"barrier", "ibarrier", "barrier_init"};

/* A barrier on its way. */
typedef struct {
    mca_common_colltools_task_t super;
    mca_common_colltools_caller_t caller;
    mca_coll_pipering_scheduled_t *scheduled; /* NULL: none has been made */
    int phases;
} request_t;

static void construct(request_t *request)
{
    request->scheduled = NULL;
}

static void destruct(request_t *request)
{
    if (NULL != request->scheduled) {
        (void) mca_coll_pipering_scheduled_free(request->scheduled);
    }
}

static OBJ_CLASS_INSTANCE(request_t, mca_common_colltools_task_t, construct, destruct);

/* ---- which calls ---- */

/* Whether lines of the mesh can serve a communicator that is set up. */
static mca_coll_pipering_reason_t judge_mesh(const mca_coll_pipering_context_t *context)
{
    const mca_coll_pipering_ways_t *ways = context->setup->ways;

    if (MCA_COLL_PIPERING_TAKEN != context->setup->reason) {
        return context->setup->reason;
    }
    return NULL != ways && mca_coll_pipering_lines_fit(&ways->mesh)
               ? MCA_COLL_PIPERING_TAKEN
               : MCA_COLL_PIPERING_FALLBACK_MESHLESS;
}

static int judge(mca_coll_pipering_context_t *context, mca_coll_pipering_reason_t *reason)
{
    const int algorithm = mca_coll_pipering.barrier;

    if (MCA_COLL_PIPERING_MESH_LINES != algorithm) {
        *reason = MCA_COLL_PIPERING_OFF == algorithm ? MCA_COLL_PIPERING_FALLBACK_OFF
                                                     : MCA_COLL_PIPERING_FALLBACK_UNCHOSEN;
        return OMPI_SUCCESS;
    }
    const int rc = mca_coll_pipering_set_up(context);
    if (OMPI_SUCCESS == rc) {
        *reason = judge_mesh(context);
    }
    return rc;
}

/* OMPI_ERR_NOT_SUPPORTED: the call is for the module below, on all ranks. */
static int decide(mca_coll_pipering_module_t *module, mca_coll_pipering_form_t form)
{
    mca_coll_pipering_reason_t reason;

    if (module->out_of_memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    const int rc = judge(&module->context, &reason);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    if (MCA_COLL_PIPERING_TAKEN == reason) {
        mca_coll_pipering_note_taken(&module->context, MCA_COLL_PIPERING_TEXT_LINES);
        return OMPI_SUCCESS;
    }
    return mca_coll_pipering_decline(&module->context, names[form], MCA_COLL_PIPERING_NO_TOTAL,
                                     reason, 0);
}

/* ---- calls ---- */

static void report(const request_t *request)
{
    mca_coll_pipering_process_t *process = &mca_coll_pipering.process;
    const mca_coll_pipering_traffic_t *traffic = &request->scheduled->traffic;

    mca_common_colltools_count(&process->counters.calls, 1);
    if (mca_coll_pipering_is_verbose(process, request->caller.comm)) {
        opal_output(process->output,
                    "coll/pipering: %s on %s: lines of a mesh, %d phases; this rank: %llu messages "
                    "in, %llu out",
                    request->caller.name, request->caller.comm->c_name, request->phases,
                    (unsigned long long) traffic->blocks_in,
                    (unsigned long long) traffic->blocks_out);
    }
}

static int start(mca_common_colltools_task_t *task)
{
    mca_common_colltools_schedule_begin(&((request_t *) task)->scheduled->schedule);
    mca_common_colltools_task_activate(task);
    return OMPI_SUCCESS;
}

static bool advance(mca_common_colltools_task_t *task, int *steps, int *rc)
{
    request_t *request = (request_t *) task;

    if (!mca_common_colltools_schedule_move(&request->scheduled->schedule, steps)) {
        return false;
    }
    *rc = request->scheduled->schedule.error;
    report(request);
    return true;
}

static int fill(request_t *request, mca_coll_pipering_module_t *module,
                mca_coll_pipering_form_t form, int tag)
{
    ompi_communicator_t *comm = module->context.comm;

    request->caller = (mca_common_colltools_caller_t){.owner = "pipering",
                                                      .name = names[form],
                                                      .comm = comm};
    const mca_coll_pipering_rounds_args_t args = {.caller = &request->caller, .tag = tag};
    const mca_coll_pipering_lines_t lines = {.mesh = &module->context.setup->ways->mesh,
                                             .group = MCA_COLL_PIPERING_LINES_WHOLE,
                                             .me = ompi_comm_rank(comm)};
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    request->phases = mca_coll_pipering_lines_phases(&lines, phase);
    return mca_coll_pipering_lines_new(&args, &lines, &request->scheduled);
}

/* A request that is to be started. All ranks agree on the next tag even where one has no memory. */
static int make_request(mca_coll_pipering_module_t *module, mca_coll_pipering_form_t form,
                        request_t **made)
{
    static const mca_common_colltools_task_kind_t kind = {.start = start, .advance = advance};
    ompi_communicator_t *comm = module->context.comm;
    const bool nonblocking = MCA_COLL_PIPERING_BLOCKING != form;
    const int tag = mca_common_colltools_task_tags(comm, 1, nonblocking);
    request_t *request = OBJ_NEW(request_t);

    if (NULL == request) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    mca_common_colltools_task_init(&request->super, &kind, comm,
                                   MCA_COLL_PIPERING_PERSISTENT == form);
    int rc = fill(request, module, form, tag);
    if (OMPI_SUCCESS == rc && nonblocking) {
        rc = mca_common_colltools_task_keep(&request->super, 0);
    }
    if (OMPI_SUCCESS != rc) {
        mca_common_colltools_task_free(&request->super);
        return rc;
    }
    *made = request;
    return OMPI_SUCCESS;
}

static int serve(mca_coll_pipering_module_t *module, mca_coll_pipering_form_t form,
                 ompi_request_t **handle)
{
    request_t *request;

    int rc = decide(module, form);
    if (OMPI_SUCCESS == rc) {
        rc = make_request(module, form, &request);
    }
    if (OMPI_SUCCESS == rc) {
        rc = MCA_COLL_PIPERING_BLOCKING == form
                 ? mca_common_colltools_task_run(&request->super)
                 : mca_common_colltools_task_hand_out(&request->super, rc, handle);
    }
    return mca_common_colltools_mpi_error(rc);
}

int mca_coll_pipering_barrier(struct ompi_communicator_t *comm, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    int rc = serve(module, MCA_COLL_PIPERING_BLOCKING, NULL);
    if (OMPI_ERR_NOT_SUPPORTED == rc) {
        MCA_COMMON_COLLTOOLS_BELOW(rc, comm, barrier, module->below.coll_barrier,
                                   module->below.coll_barrier_module, (comm, module_below));
    }
    return rc;
}

int mca_coll_pipering_ibarrier(struct ompi_communicator_t *comm, ompi_request_t **request,
                               mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = serve(module, MCA_COLL_PIPERING_NONBLOCKING, request);
    return OMPI_ERR_NOT_SUPPORTED == rc
               ? module->below.coll_ibarrier(comm, request, module->below.coll_ibarrier_module)
               : rc;
}

int mca_coll_pipering_barrier_init(struct ompi_communicator_t *comm, struct ompi_info_t *info,
                                   ompi_request_t **request, mca_coll_base_module_t *base)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    const int rc = serve(module, MCA_COLL_PIPERING_PERSISTENT, request);
    return OMPI_ERR_NOT_SUPPORTED == rc
               ? module->below.coll_barrier_init(comm, info, request,
                                                 module->below.coll_barrier_init_module)
               : rc;
}
