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
 * The module that records calls, and its component.
 *
 * The coll framework asks a component for one module of a communicator. This one has to stand
 * above all others, and coll/pipering in its place; so it comes from a component of its own, which
 * coll/pipering adds to the framework where the variable is set.
 */

#include "coll_pipering_why.h"

#include <stdio.h>
#include <string.h>

#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_clock.h"
#include "ompi/mca/common/irregular/common_irregular_compat.h"

static struct {
    mca_coll_pipering_why_table_t *table; /* NULL: nothing is recorded */
    double opened;                        /* seconds, when it was */
    opal_mutex_t lock;                    /* of the table */
    char reason[MCA_COLL_PIPERING_REASONS][64]; /* its name for programs, its text for users */
} recorder;

/* Calls inside calls, as of coll/han on communicators of its own, are part of these. */
static opal_thread_local int depth;

/* ---- modules ---- */

/* The module of coll/pipering: it serves more functions than any component above it. */
static mca_coll_pipering_module_t *find_pipering(const mca_coll_pipering_previous_t *previous)
{
    for (size_t i = 0; i < mca_coll_pipering_previous_count(); ++i) {
        mca_coll_base_module_t *module = mca_coll_pipering_previous_module(previous, i);
        if (NULL != module
            && OBJ_CLASS(mca_coll_pipering_module_t) == ((opal_object_t *) module)->obj_class) {
            return (mca_coll_pipering_module_t *) module;
        }
    }
    return NULL;
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_pipering_why_module_t *module = (mca_coll_pipering_why_module_t *) base;

    const int rc = mca_coll_pipering_previous_save(&module->previous, comm->c_coll);
    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_previous_drop(&module->previous);
        return rc;
    }
    module->pipering = find_pipering(&module->previous);
    if (NULL != module->pipering) {
        OBJ_RETAIN(module->pipering);
    }
    if (MPI_COMM_WORLD == comm) {
        recorder.table->world = (uint32_t) ompi_comm_size(comm);
    }
    return OMPI_SUCCESS;
}

static void let_go(mca_coll_pipering_why_module_t *module)
{
    if (NULL != module->pipering) {
        OBJ_RELEASE(module->pipering);
        module->pipering = NULL;
    }
    mca_coll_pipering_previous_drop(&module->previous);
}

/* Called once for every function of the module that a communicator holds. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    (void) comm;
    let_go((mca_coll_pipering_why_module_t *) base);
    return OMPI_SUCCESS;
}

static void module_construct(mca_coll_pipering_why_module_t *module)
{
    memset(&module->previous, 0, sizeof(module->previous));
    module->pipering = NULL;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    mca_coll_pipering_why_set_functions(&module->super);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_why_module_t, mca_coll_base_module_t, module_construct,
                   let_go);

/* ---- component ---- */

static int init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    return OMPI_SUCCESS;
}

/* Without memory for a module the calls on a communicator are not recorded. */
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority)
{
    if (OMPI_COMM_IS_INTER(comm) || 2 > ompi_comm_size(comm)) {
        return NULL;
    }
    *priority = 100;
    mca_coll_pipering_why_module_t *module = OBJ_NEW(mca_coll_pipering_why_module_t);
    return NULL == module ? NULL : &module->super;
}

static const mca_coll_base_component_t component = {
    .collm_version = {
        MCA_COMMON_IRREGULAR_COLL_VERSION,
        .mca_component_name = "pipering_why",
        MCA_COMMON_IRREGULAR_COMPONENT_VERSION,
    },
    .collm_data = {
        MCA_BASE_METADATA_PARAM_CHECKPOINT
    },
    .collm_init_query = init_query,
    .collm_comm_query = comm_query,
};

/* First on the list: it is closed before the object that holds it is unloaded. */
static void add_component(void)
{
    mca_base_component_list_item_t *item = OBJ_NEW(mca_base_component_list_item_t);

    if (NULL != item) {
        item->cli_component = &component.collm_version;
        opal_list_prepend(&ompi_coll_base_framework.framework_components, &item->super);
    }
}

static void set_reasons(void)
{
    for (int i = MCA_COLL_PIPERING_TAKEN + 1; i < MCA_COLL_PIPERING_REASONS; ++i) {
        const mca_coll_pipering_reason_t reason = (mca_coll_pipering_reason_t) i;
        (void) snprintf(recorder.reason[i], sizeof(recorder.reason[i]), "%s: %s",
                        mca_coll_pipering_reason_name(reason),
                        mca_coll_pipering_reason_text(reason));
    }
}

bool mca_coll_pipering_why_open(const char *directory)
{
    if (NULL == directory || '\0' == directory[0]) {
        return false;
    }
    recorder.table = mca_coll_pipering_why_map(directory);
    if (NULL == recorder.table) {
        return false;
    }
    OBJ_CONSTRUCT(&recorder.lock, opal_mutex_t);
    recorder.opened = mca_coll_pipering_now();
    set_reasons();
    add_component();
    return true;
}

void mca_coll_pipering_why_close(void)
{
    if (NULL != recorder.table) {
        mca_coll_pipering_why_unmap(recorder.table);
        recorder.table = NULL;
        OBJ_DESTRUCT(&recorder.lock);
    }
}

/* ---- calls ---- */

/* Says where coll/pipering leaves its verdict on calls; NULL: nowhere. Returns where it did. */
static mca_coll_pipering_verdict_t *exchange_verdict(const mca_coll_pipering_why_module_t *module,
                                                     mca_coll_pipering_verdict_t *verdict)
{
    mca_coll_pipering_verdict_t *before = NULL;

    if (NULL != module->pipering) {
        before = module->pipering->context.verdict;
        module->pipering->context.verdict = verdict;
    }
    return before;
}

mca_coll_pipering_why_call_t mca_coll_pipering_why_begin(mca_coll_base_module_t *base)
{
    mca_coll_pipering_why_module_t *module = (mca_coll_pipering_why_module_t *) base;
    mca_coll_pipering_why_call_t call = {.module = module};

    if (1 == ++depth) {
        module->verdict.heard = false;
        module->verdict.fixed_point = false;
        module->verdict.foreseeable = false;
    }
    call.around = exchange_verdict(module, 1 == depth ? &module->verdict : NULL);
    call.began = mca_coll_pipering_now();
    return call;
}

void mca_coll_pipering_why_end(mca_coll_pipering_why_call_t *call)
{
    call->ended = mca_coll_pipering_now();
    (void) exchange_verdict(call->module, call->around);
    --depth;
}

/*
 * Why a call has not come to coll/pipering, or has ended before a verdict on it. A component that
 * stands both above and below it serves a barrier, of which coll/pipering has none without a mesh.
 */
static const char *reason_without_verdict(const mca_coll_pipering_why_module_t *module,
                                          const mca_coll_base_module_t *above,
                                          const mca_coll_base_module_t *below)
{
    if (NULL == module->pipering) {
        return "absent: coll/pipering is not on the communicator";
    }
    if (&module->pipering->super.super == above) {
        return "failed: the call has failed";
    }
    return below == above ? recorder.reason[MCA_COLL_PIPERING_FALLBACK_MESHLESS]
                          : "above: stands above coll/pipering";
}

/* Who has served a call, and why. */
static mca_coll_pipering_why_class_t class_of(const mca_coll_pipering_why_module_t *module,
                                              const char *call, uint32_t ranks,
                                              const mca_coll_base_module_t *above,
                                              const mca_coll_base_module_t *below,
                                              const mca_coll_pipering_why_shape_t *shape)
{
    const mca_coll_pipering_verdict_t *verdict = &module->verdict;
    const char *server = "pipering", *reason = verdict->algorithm;
    char name[16];

    if (!verdict->heard) {
        server = mca_coll_pipering_module_name(above, name);
        reason = reason_without_verdict(module, above, below);
    } else if (MCA_COLL_PIPERING_TAKEN != verdict->reason) {
        server = mca_coll_pipering_module_name(below, name);
        reason = recorder.reason[verdict->reason];
    }
    mca_coll_pipering_why_class_t of
        = mca_coll_pipering_why_class(call, server, reason, ranks, shape);
    of.order_matters = shape->order_matters && !verdict->fixed_point;
    return of;
}

/* What a call takes, or would take, by coll/pipering; asked again, as streams may show a rate. */
static void ask_model(const mca_coll_pipering_why_module_t *module,
                      mca_coll_pipering_why_record_t *record)
{
    mca_coll_pipering_context_t *context = &module->pipering->context;
    mca_coll_pipering_key_t key = module->verdict.key;
    mca_coll_pipering_plan_t *plan;

    key.must_take = true;
    key.params.algorithm = MCA_COLL_PIPERING_AUTO;
    key.streamed = context->streamed;
    if (OMPI_SUCCESS == mca_coll_pipering_plan_try(context, &key, &plan)) {
        mca_coll_pipering_why_foresee(record, plan->time, plan->below.at[0], plan->row->value);
        mca_coll_pipering_plan_release(plan);
    }
}

static bool is_power_of_two(uint64_t calls)
{
    return 0 == (calls & (calls - 1));
}

void mca_coll_pipering_why_record(const mca_coll_pipering_why_call_t *call, const char *name,
                                  ompi_communicator_t *comm, const mca_coll_base_module_t *above,
                                  const mca_coll_base_module_t *below,
                                  const mca_coll_pipering_why_shape_t *shape)
{
    const mca_coll_pipering_verdict_t *verdict = &call->module->verdict;

    if (0 < depth) {
        return;
    }
    const mca_coll_pipering_why_class_t of
        = class_of(call->module, name, (uint32_t) ompi_comm_size(comm), above, below, shape);
    OPAL_THREAD_LOCK(&recorder.lock);
    mca_coll_pipering_why_record_t *record = mca_coll_pipering_why_find(recorder.table, &of);
    mca_coll_pipering_why_add(recorder.table, record, &of, shape,
                              (uint64_t) (1e9 * (call->ended - call->began)));
    recorder.table->elapsed = (uint64_t) (1e9 * (call->ended - recorder.opened));
    if (NULL != record && verdict->foreseeable && is_power_of_two(record->calls)) {
        ask_model(call->module, record);
    }
    OPAL_THREAD_UNLOCK(&recorder.lock);
}
