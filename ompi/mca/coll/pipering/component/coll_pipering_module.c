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

#include <stdlib.h>
#include <string.h>

#include "opal/mca/base/mca_base_var.h"

/* Any function. It is called by its own type only. */
typedef void function_t(void);

/*
 * A function that the module serves, and where it stands. When: always; OPTIONAL, others need not
 * serve it, since it wants a topology; ON_MESH, where a mesh is declared.
 */
typedef struct {
    function_t *serve;
    size_t in_module;
    size_t function, module; /* who serves it on a communicator, or has served it before */
    enum { ALWAYS, OPTIONAL, ON_MESH } when;
} row_t;

#define MODULE(member) offsetof(mca_coll_base_module_t, member)
#define COMM(member) offsetof(mca_coll_base_comm_coll_t, member)
#define ROW(call, when)                                                               \
    {                                                                                 \
        (function_t *) mca_coll_pipering_##call, MODULE(coll_##call), COMM(coll_##call), \
            COMM(coll_##call##_module), when                                          \
    }

static const row_t rows[] = {
    ROW(allgather, ALWAYS),
    ROW(allgatherv, ALWAYS),
    ROW(allreduce, ALWAYS),
    ROW(barrier, ON_MESH),
    ROW(ibarrier, ON_MESH),
    ROW(barrier_init, ON_MESH),
    ROW(bcast, ALWAYS),
    ROW(exscan, ALWAYS),
    ROW(reduce, ALWAYS),
    ROW(scan, ALWAYS),
    ROW(iallgather, ALWAYS),
    ROW(iallgatherv, ALWAYS),
    ROW(iallreduce, ALWAYS),
    ROW(ibcast, ALWAYS),
    ROW(iexscan, ALWAYS),
    ROW(ireduce, ALWAYS),
    ROW(iscan, ALWAYS),
    ROW(allgather_init, ALWAYS),
    ROW(allgatherv_init, ALWAYS),
    ROW(allreduce_init, ALWAYS),
    ROW(bcast_init, ALWAYS),
    ROW(exscan_init, ALWAYS),
    ROW(reduce_init, ALWAYS),
    ROW(scan_init, ALWAYS),
    ROW(alltoall, ALWAYS),
    ROW(alltoallv, ALWAYS),
    ROW(alltoallw, ALWAYS),
    ROW(ialltoall, ALWAYS),
    ROW(ialltoallv, ALWAYS),
    ROW(ialltoallw, ALWAYS),
    ROW(alltoall_init, ALWAYS),
    ROW(alltoallv_init, ALWAYS),
    ROW(alltoallw_init, ALWAYS),
    ROW(neighbor_alltoallw, OPTIONAL),
    ROW(ineighbor_alltoallw, OPTIONAL),
    ROW(neighbor_alltoallw_init, OPTIONAL),
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Pointers in structures have types of their own, so they are read and written as bytes. */
static function_t *get_function(const void *structure, size_t offset)
{
    function_t *function;

    memcpy(&function, (const char *) structure + offset, sizeof(function));
    return function;
}

static void set_function(void *structure, size_t offset, function_t *function)
{
    memcpy((char *) structure + offset, &function, sizeof(function));
}

static mca_coll_base_module_t **module_at(const void *structure, size_t offset)
{
    return (mca_coll_base_module_t **) ((char *) structure + offset);
}

static void drop_below(mca_coll_base_comm_coll_t *below)
{
    for (size_t i = 0; i < ROWS; ++i) {
        mca_coll_base_module_t *module = *module_at(below, rows[i].module);
        if (NULL != module) {
            OBJ_RELEASE(module);
        }
    }
    memset(below, 0, sizeof(*below));
}

/* Keeps who serves a communicator so far. OMPI_ERR_NOT_FOUND: nobody serves some function. */
static int save_below(mca_coll_base_comm_coll_t *below, const mca_coll_base_comm_coll_t *functions)
{
    for (size_t i = 0; i < ROWS; ++i) {
        function_t *function = get_function(functions, rows[i].function);
        mca_coll_base_module_t *module = *module_at(functions, rows[i].module);
        if (NULL != function && NULL != module) {
            set_function(below, rows[i].function, function);
            *module_at(below, rows[i].module) = module;
            OBJ_RETAIN(module);
        } else if (OPTIONAL != rows[i].when) {
            drop_below(below);
            return OMPI_ERR_NOT_FOUND;
        }
    }
    return OMPI_SUCCESS;
}

mca_coll_pipering_module_t *mca_coll_pipering_module_of(const ompi_communicator_t *comm)
{
    for (size_t i = 0; i < ROWS; ++i) {
        mca_coll_base_module_t *module = *module_at(comm->c_coll, rows[i].module);
        if (NULL != module
            && OBJ_CLASS(mca_coll_pipering_module_t) == ((opal_object_t *) module)->obj_class) {
            return (mca_coll_pipering_module_t *) module;
        }
    }
    return NULL;
}

const char *mca_coll_pipering_module_name(const mca_coll_base_module_t *module, char name[16])
{
    static const char before[] = "coll_", after[] = "_module_t";
    const char *begin = NULL == module
                            ? NULL
                            : strstr(((const opal_object_t *) module)->obj_class->cls_name, before);
    const char *end = NULL == begin ? NULL : strstr(begin, after);

    if (NULL == end) {
        return "unknown";
    }
    begin += sizeof(before) - 1;
    const size_t length = (size_t) (end - begin) < 16 ? (size_t) (end - begin) : 15;
    memcpy(name, begin, length);
    name[length] = '\0';
    return name;
}

static bool is_of(const mca_coll_base_module_t *module, const char *component)
{
    char name[16];

    return 0 == strcmp(component, mca_coll_pipering_module_name(module, name));
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

/* Modules whose decisions plan_below knows: those that 5.0 has by default. */
static mca_coll_pipering_below_t find_below(const mca_coll_base_comm_coll_t *below)
{
    const mca_coll_base_module_t *const levels[]
        = {below->coll_bcast_module, below->coll_reduce_module, below->coll_allreduce_module,
           below->coll_allgather_module};
    int han = 0, tuned = 0;

    for (int i = 0; i < 4; ++i) {
        han += is_of(levels[i], "han");
        tuned += is_of(levels[i], "tuned");
    }
    if (!MCA_COMMON_COLLTOOLS_KNOWS_TUNED || !is_of(below->coll_allgatherv_module, "tuned")
        || !is_of(below->coll_scan_module, "basic") || !is_of(below->coll_exscan_module, "basic")
        || has_rules("tuned", "use_dynamic_rules")
        || has_rules("han", "use_dynamic_file_rules")) {
        return MCA_COLL_PIPERING_BELOW_ANY;
    }
    return 4 == han     ? MCA_COLL_PIPERING_BELOW_HAN
           : 4 == tuned ? MCA_COLL_PIPERING_BELOW_TUNED
                        : MCA_COLL_PIPERING_BELOW_ANY;
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;

    module->context.comm = comm;
    if (module->out_of_memory) {
        return OMPI_SUCCESS;
    }
    const int rc = save_below(&module->below, comm->c_coll);
    if (OMPI_SUCCESS == rc) {
        module->context.below = find_below(&module->below);
        if (&ompi_mpi_comm_world.comm == comm) {
            mca_coll_pipering_setup_prepare(&module->context);
        }
    }
    return rc;
}

/* Called once for every function of the module that a communicator holds. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    (void) comm;
    drop_below(&((mca_coll_pipering_module_t *) base)->below);
    return OMPI_SUCCESS;
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
    for (size_t i = 0; i < ROWS; ++i) {
        if (mesh || ON_MESH != rows[i].when) {
            set_function(&module->super.super, rows[i].in_module, rows[i].serve);
        }
    }
}

static void module_destruct(mca_coll_pipering_module_t *module)
{
    drop_below(&module->below);
    mca_coll_pipering_addends_free(module->addends);
    mca_coll_pipering_plans_drop(&module->context);
    if (module->context.joined) {
        mca_coll_pipering_arena_leave();
    }
    mca_coll_pipering_setup_free(module->context.setup);
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
