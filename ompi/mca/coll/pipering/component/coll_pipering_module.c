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
 * The module: a communicator's share of the component.
 */

#include "ompi/mca/coll/pipering/alltoall/coll_pipering_alltoall.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_arena.h"
#include "ompi/mca/coll/pipering/call/coll_pipering_calls.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"
#include "ompi/mca/common/colltools/common_colltools_progress.h"

#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/mca_base_var.h"

#define DROP(function, when) MCA_COMMON_COLLTOOLS_DROP(function, below)

static void drop_below(mca_coll_base_comm_coll_t *below)
{
    MCA_COLL_PIPERING_FUNCTIONS(DROP)
    memset(below, 0, sizeof(*below));
}

#define SAVE(function, when) \
    MCA_COMMON_COLLTOOLS_SAVE(comm, function, below, complete &= MCA_COLL_PIPERING_OPTIONAL == when)

/* Keeps who serves a communicator so far. OMPI_ERR_NOT_FOUND: nobody serves some function. */
static int save_below(mca_coll_base_comm_coll_t *below, const ompi_communicator_t *comm)
{
    bool complete = true;

    MCA_COLL_PIPERING_FUNCTIONS(SAVE)
    if (!complete) {
        drop_below(below);
    }
    return complete ? OMPI_SUCCESS : OMPI_ERR_NOT_FOUND;
}

static mca_coll_pipering_module_t *module_of_ours(mca_coll_base_module_t *module)
{
    return NULL != module
                   && OBJ_CLASS(mca_coll_pipering_module_t) == ((opal_object_t *) module)->obj_class
               ? (mca_coll_pipering_module_t *) module
               : NULL;
}

#define FIND(function, when)                                             \
    if (NULL == found) {                                                 \
        found = module_of_ours(comm->c_coll->coll_##function##_module);  \
    }

mca_coll_pipering_module_t *mca_coll_pipering_module_of(const ompi_communicator_t *comm)
{
    mca_coll_pipering_module_t *found = NULL;

    MCA_COLL_PIPERING_FUNCTIONS(FIND)
    return found;
}

static bool is_of(const mca_coll_base_module_t *module, const char *class)
{
    return NULL != module
           && 0 == strcmp(class, ((const opal_object_t *) module)->obj_class->cls_name);
}

/* Whether a user's rules take the place of a component's own decisions. */
static bool has_rules(const char *component, const char *name)
{
    const int variable = mca_base_var_find("ompi", "coll", component, name);
    const bool *rules = NULL;

    return 0 <= variable
           && OPAL_SUCCESS == mca_base_var_get_value(variable, &rules, NULL, NULL)
           && NULL != rules && *rules;
}

/* Modules whose decisions plan_below knows: those that 5.0 and 6.0 have by default. */
static mca_coll_pipering_below_t find_below(const mca_coll_base_comm_coll_t *below)
{
    const mca_coll_base_module_t *const levels[]
        = {below->coll_bcast_module, below->coll_reduce_module, below->coll_allreduce_module,
           below->coll_allgather_module};
    int han = 0, tuned = 0;

    for (int i = 0; i < 4; ++i) {
        han += is_of(levels[i], "mca_coll_han_module_t");
        tuned += is_of(levels[i], "mca_coll_tuned_module_t");
    }
    if (!MCA_COMMON_COLLTOOLS_KNOWS_TUNED
        || !is_of(below->coll_allgatherv_module, "mca_coll_tuned_module_t")
        || !is_of(below->coll_scan_module, "mca_coll_basic_module_t")
        || !is_of(below->coll_exscan_module, "mca_coll_basic_module_t")
        || has_rules("tuned", "use_dynamic_rules")
        || has_rules("han", "use_dynamic_file_rules")) {
        return MCA_COLL_PIPERING_BELOW_ANY;
    }
    const bool six = 6 == MCA_COMMON_COLLTOOLS_KNOWS_TUNED;
    return 4 == han     ? (six ? MCA_COLL_PIPERING_BELOW_HAN_6 : MCA_COLL_PIPERING_BELOW_HAN)
           : 4 == tuned ? (six ? MCA_COLL_PIPERING_BELOW_TUNED_6 : MCA_COLL_PIPERING_BELOW_TUNED)
                        : MCA_COLL_PIPERING_BELOW_ANY;
}

/* Ranks of a job up to which reading all their cards takes no time that its start would show. */
#define PREPARED_MOST 4096

#define INSTALL(function, when) MCA_COMMON_COLLTOOLS_INSTALL(comm, function, base)

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    module->context.comm = comm;
    if (module->out_of_memory) { /* it stands on many communicators, and fails every call */
        MCA_COLL_PIPERING_FUNCTIONS(INSTALL)
        return OMPI_SUCCESS;
    }
    const int rc = save_below(&module->below, comm);
    if (OMPI_SUCCESS == rc) {
        MCA_COLL_PIPERING_FUNCTIONS(INSTALL)
        module->context.below = find_below(&module->below);
        if (&ompi_mpi_comm_world.comm == comm && PREPARED_MOST >= ompi_comm_size(comm)) {
            mca_common_colltools_nodes_prepare(comm);
        }
    }
    return rc;
}

#define RESTORE(function, when) MCA_COMMON_COLLTOOLS_RESTORE(comm, function, base, below)

/* Open MPI before 6.0 calls it for every function of the module that a communicator holds. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_base_comm_coll_t *below = &((mca_coll_pipering_module_t *) base)->below;

    mca_common_colltools_progress_rest(comm);
    /* nothing is below the spare one, or any more */
    if (NULL != below->coll_allgather) {
        MCA_COLL_PIPERING_FUNCTIONS(RESTORE)
        drop_below(below);
    }
    return OMPI_SUCCESS;
}

#define OFFER(function, when)                                                \
    if (mesh || MCA_COLL_PIPERING_ON_MESH != when) {                         \
        module->super.super.coll_##function = mca_coll_pipering_##function;  \
    }

static void module_construct(mca_coll_pipering_module_t *module)
{
    memset(&module->below, 0, sizeof(module->below));
    memset(&module->context, 0, sizeof(module->context));
    module->context.process = &mca_coll_pipering.process;
    module->context.last_count = -1;
    OBJ_CONSTRUCT(&module->context.lock, opal_mutex_t);
    module->permutation = NULL;
    module->addends = NULL;
    module->out_of_memory = false;
    module->super.choose = mca_coll_pipering_choose_leaders;
    module->super.super.coll_module_enable = module_enable;
    module->super.super.coll_module_disable = module_disable;
    const bool mesh = mca_coll_pipering_mesh_declared(module->context.process);
    MCA_COLL_PIPERING_FUNCTIONS(OFFER)
}

static void module_destruct(mca_coll_pipering_module_t *module)
{
    drop_below(&module->below);
    mca_coll_pipering_addends_free(module->addends);
    mca_coll_pipering_last_drop(&module->context);
    if (module->context.joined) {
        mca_coll_pipering_arena_leave();
    }
    mca_coll_pipering_setup_release(module->context.setup);
    free(module->permutation);
    OBJ_DESTRUCT(&module->context.lock);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_module_t, mca_common_colltools_module_t, module_construct,
                   module_destruct);

/*
 * Decided from the communicator alone, so alike on all ranks; nothing is sent. A
 * rank without memory must not leave the others alone: it takes a module that
 * fails every call.
 */
mca_coll_base_module_t *mca_coll_pipering_comm_query(struct ompi_communicator_t *comm,
                                                     int *priority)
{
    *priority = mca_coll_pipering.priority;
    if (0 >= *priority || OMPI_COMM_IS_INTER(comm) || 2 > ompi_comm_size(comm)) {
        return NULL;
    }

    mca_coll_pipering_module_t *module = OBJ_NEW(mca_coll_pipering_module_t);
    if (NULL == module) {
        module = &mca_coll_pipering.spare;
        OBJ_RETAIN(module);
    }
    return &module->super.super;
}
