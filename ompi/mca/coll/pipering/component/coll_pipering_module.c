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
#include "ompi/mca/coll/pipering/decide/coll_pipering_mesh.h"

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
    size_t in_comm, in_comm_module;   /* who serves it on a communicator */
    size_t previous, previous_module; /* who served it before */
    enum { ALWAYS, OPTIONAL, ON_MESH } when;
} row_t;

#define MODULE(member) offsetof(mca_coll_base_module_t, member)
#define COMM(member) offsetof(mca_coll_base_comm_coll_t, member)
#define PREVIOUS(member) offsetof(mca_coll_pipering_previous_t, member)

static const row_t rows[] = {
    {(function_t *) mca_coll_pipering_allgather, MODULE(coll_allgather),
     COMM(coll_allgather), COMM(coll_allgather_module),
     PREVIOUS(allgather), PREVIOUS(allgather_module), ALWAYS},
    {(function_t *) mca_coll_pipering_allgatherv, MODULE(coll_allgatherv),
     COMM(coll_allgatherv), COMM(coll_allgatherv_module),
     PREVIOUS(allgatherv), PREVIOUS(allgatherv_module), ALWAYS},
    {(function_t *) mca_coll_pipering_allreduce, MODULE(coll_allreduce),
     COMM(coll_allreduce), COMM(coll_allreduce_module),
     PREVIOUS(allreduce), PREVIOUS(allreduce_module), ALWAYS},
    {(function_t *) mca_coll_pipering_barrier, MODULE(coll_barrier),
     COMM(coll_barrier), COMM(coll_barrier_module),
     PREVIOUS(barrier), PREVIOUS(barrier_module), ON_MESH},
    {(function_t *) mca_coll_pipering_ibarrier, MODULE(coll_ibarrier),
     COMM(coll_ibarrier), COMM(coll_ibarrier_module),
     PREVIOUS(ibarrier), PREVIOUS(ibarrier_module), ON_MESH},
    {(function_t *) mca_coll_pipering_barrier_init, MODULE(coll_barrier_init),
     COMM(coll_barrier_init), COMM(coll_barrier_init_module),
     PREVIOUS(barrier_init), PREVIOUS(barrier_init_module), ON_MESH},
    {(function_t *) mca_coll_pipering_bcast, MODULE(coll_bcast),
     COMM(coll_bcast), COMM(coll_bcast_module),
     PREVIOUS(bcast), PREVIOUS(bcast_module), ALWAYS},
    {(function_t *) mca_coll_pipering_exscan, MODULE(coll_exscan),
     COMM(coll_exscan), COMM(coll_exscan_module),
     PREVIOUS(exscan), PREVIOUS(exscan_module), ALWAYS},
    {(function_t *) mca_coll_pipering_reduce, MODULE(coll_reduce),
     COMM(coll_reduce), COMM(coll_reduce_module),
     PREVIOUS(reduce), PREVIOUS(reduce_module), ALWAYS},
    {(function_t *) mca_coll_pipering_scan, MODULE(coll_scan),
     COMM(coll_scan), COMM(coll_scan_module),
     PREVIOUS(scan), PREVIOUS(scan_module), ALWAYS},
    {(function_t *) mca_coll_pipering_iallgather, MODULE(coll_iallgather),
     COMM(coll_iallgather), COMM(coll_iallgather_module),
     PREVIOUS(iallgather), PREVIOUS(iallgather_module), ALWAYS},
    {(function_t *) mca_coll_pipering_iallgatherv, MODULE(coll_iallgatherv),
     COMM(coll_iallgatherv), COMM(coll_iallgatherv_module),
     PREVIOUS(iallgatherv), PREVIOUS(iallgatherv_module), ALWAYS},
    {(function_t *) mca_coll_pipering_iallreduce, MODULE(coll_iallreduce),
     COMM(coll_iallreduce), COMM(coll_iallreduce_module),
     PREVIOUS(iallreduce), PREVIOUS(iallreduce_module), ALWAYS},
    {(function_t *) mca_coll_pipering_ibcast, MODULE(coll_ibcast),
     COMM(coll_ibcast), COMM(coll_ibcast_module),
     PREVIOUS(ibcast), PREVIOUS(ibcast_module), ALWAYS},
    {(function_t *) mca_coll_pipering_iexscan, MODULE(coll_iexscan),
     COMM(coll_iexscan), COMM(coll_iexscan_module),
     PREVIOUS(iexscan), PREVIOUS(iexscan_module), ALWAYS},
    {(function_t *) mca_coll_pipering_ireduce, MODULE(coll_ireduce),
     COMM(coll_ireduce), COMM(coll_ireduce_module),
     PREVIOUS(ireduce), PREVIOUS(ireduce_module), ALWAYS},
    {(function_t *) mca_coll_pipering_iscan, MODULE(coll_iscan),
     COMM(coll_iscan), COMM(coll_iscan_module),
     PREVIOUS(iscan), PREVIOUS(iscan_module), ALWAYS},
    {(function_t *) mca_coll_pipering_allgather_init, MODULE(coll_allgather_init),
     COMM(coll_allgather_init), COMM(coll_allgather_init_module),
     PREVIOUS(allgather_init), PREVIOUS(allgather_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_allgatherv_init, MODULE(coll_allgatherv_init),
     COMM(coll_allgatherv_init), COMM(coll_allgatherv_init_module),
     PREVIOUS(allgatherv_init), PREVIOUS(allgatherv_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_allreduce_init, MODULE(coll_allreduce_init),
     COMM(coll_allreduce_init), COMM(coll_allreduce_init_module),
     PREVIOUS(allreduce_init), PREVIOUS(allreduce_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_bcast_init, MODULE(coll_bcast_init),
     COMM(coll_bcast_init), COMM(coll_bcast_init_module),
     PREVIOUS(bcast_init), PREVIOUS(bcast_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_exscan_init, MODULE(coll_exscan_init),
     COMM(coll_exscan_init), COMM(coll_exscan_init_module),
     PREVIOUS(exscan_init), PREVIOUS(exscan_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_reduce_init, MODULE(coll_reduce_init),
     COMM(coll_reduce_init), COMM(coll_reduce_init_module),
     PREVIOUS(reduce_init), PREVIOUS(reduce_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_scan_init, MODULE(coll_scan_init),
     COMM(coll_scan_init), COMM(coll_scan_init_module),
     PREVIOUS(scan_init), PREVIOUS(scan_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_alltoall, MODULE(coll_alltoall),
     COMM(coll_alltoall), COMM(coll_alltoall_module),
     PREVIOUS(alltoall), PREVIOUS(alltoall_module), ALWAYS},
    {(function_t *) mca_coll_pipering_alltoallv, MODULE(coll_alltoallv),
     COMM(coll_alltoallv), COMM(coll_alltoallv_module),
     PREVIOUS(alltoallv), PREVIOUS(alltoallv_module), ALWAYS},
    {(function_t *) mca_coll_pipering_alltoallw, MODULE(coll_alltoallw),
     COMM(coll_alltoallw), COMM(coll_alltoallw_module),
     PREVIOUS(alltoallw), PREVIOUS(alltoallw_module), ALWAYS},
    {(function_t *) mca_coll_pipering_ialltoall, MODULE(coll_ialltoall),
     COMM(coll_ialltoall), COMM(coll_ialltoall_module),
     PREVIOUS(ialltoall), PREVIOUS(ialltoall_module), ALWAYS},
    {(function_t *) mca_coll_pipering_ialltoallv, MODULE(coll_ialltoallv),
     COMM(coll_ialltoallv), COMM(coll_ialltoallv_module),
     PREVIOUS(ialltoallv), PREVIOUS(ialltoallv_module), ALWAYS},
    {(function_t *) mca_coll_pipering_ialltoallw, MODULE(coll_ialltoallw),
     COMM(coll_ialltoallw), COMM(coll_ialltoallw_module),
     PREVIOUS(ialltoallw), PREVIOUS(ialltoallw_module), ALWAYS},
    {(function_t *) mca_coll_pipering_alltoall_init, MODULE(coll_alltoall_init),
     COMM(coll_alltoall_init), COMM(coll_alltoall_init_module),
     PREVIOUS(alltoall_init), PREVIOUS(alltoall_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_alltoallv_init, MODULE(coll_alltoallv_init),
     COMM(coll_alltoallv_init), COMM(coll_alltoallv_init_module),
     PREVIOUS(alltoallv_init), PREVIOUS(alltoallv_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_alltoallw_init, MODULE(coll_alltoallw_init),
     COMM(coll_alltoallw_init), COMM(coll_alltoallw_init_module),
     PREVIOUS(alltoallw_init), PREVIOUS(alltoallw_init_module), ALWAYS},
    {(function_t *) mca_coll_pipering_neighbor_alltoallw, MODULE(coll_neighbor_alltoallw),
     COMM(coll_neighbor_alltoallw), COMM(coll_neighbor_alltoallw_module),
     PREVIOUS(neighbor_alltoallw), PREVIOUS(neighbor_alltoallw_module), OPTIONAL},
    {(function_t *) mca_coll_pipering_ineighbor_alltoallw, MODULE(coll_ineighbor_alltoallw),
     COMM(coll_ineighbor_alltoallw), COMM(coll_ineighbor_alltoallw_module),
     PREVIOUS(ineighbor_alltoallw), PREVIOUS(ineighbor_alltoallw_module), OPTIONAL},
    {(function_t *) mca_coll_pipering_neighbor_alltoallw_init, MODULE(coll_neighbor_alltoallw_init),
     COMM(coll_neighbor_alltoallw_init), COMM(coll_neighbor_alltoallw_init_module),
     PREVIOUS(neighbor_alltoallw_init), PREVIOUS(neighbor_alltoallw_init_module), OPTIONAL},
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

int mca_coll_pipering_previous_save(mca_coll_pipering_previous_t *previous,
                                    const mca_coll_base_comm_coll_t *functions)
{
    for (size_t i = 0; i < ROWS; ++i) {
        function_t *function = get_function(functions, rows[i].in_comm);
        mca_coll_base_module_t *module = *module_at(functions, rows[i].in_comm_module);
        if (NULL != function && NULL != module) {
            set_function(previous, rows[i].previous, function);
            *module_at(previous, rows[i].previous_module) = module;
            OBJ_RETAIN(module);
        } else if (OPTIONAL != rows[i].when) {
            return OMPI_ERR_NOT_FOUND;
        }
    }
    return OMPI_SUCCESS;
}

void mca_coll_pipering_previous_drop(mca_coll_pipering_previous_t *previous)
{
    for (size_t i = 0; i < ROWS; ++i) {
        mca_coll_base_module_t *module = *module_at(previous, rows[i].previous_module);
        if (NULL != module) {
            OBJ_RELEASE(module);
        }
    }
    memset(previous, 0, sizeof(*previous));
}

mca_coll_pipering_module_t *mca_coll_pipering_module_of(const ompi_communicator_t *comm)
{
    for (size_t i = 0; i < ROWS; ++i) {
        mca_coll_base_module_t *module = *module_at(comm->c_coll, rows[i].in_comm_module);
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
static mca_coll_pipering_below_t find_below(const mca_coll_pipering_previous_t *previous)
{
    const mca_coll_base_module_t *const levels[]
        = {previous->bcast_module, previous->reduce_module, previous->allreduce_module,
           previous->allgather_module};
    int han = 0, tuned = 0;

    for (int i = 0; i < 4; ++i) {
        han += is_of(levels[i], "han");
        tuned += is_of(levels[i], "tuned");
    }
    if (!MCA_COMMON_IRREGULAR_KNOWS_TUNED || !is_of(previous->allgatherv_module, "tuned")
        || !is_of(previous->scan_module, "basic") || !is_of(previous->exscan_module, "basic")
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
    const int rc = module->out_of_memory ? OMPI_SUCCESS
                                         : mca_coll_pipering_previous_save(&module->previous,
                                                                           comm->c_coll);

    if (OMPI_SUCCESS != rc) {
        mca_coll_pipering_previous_drop(&module->previous);
    } else {
        module->context.below = find_below(&module->previous);
        if (!module->out_of_memory && &ompi_mpi_comm_world.comm == comm) {
            mca_coll_pipering_setup_prepare(&module->context);
        }
    }
    return rc;
}

/* Called once for every function of the module that a communicator holds. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    (void) comm;
    mca_coll_pipering_previous_drop(&((mca_coll_pipering_module_t *) base)->previous);
    return OMPI_SUCCESS;
}

static void module_construct(mca_coll_pipering_module_t *module)
{
    memset(&module->previous, 0, sizeof(module->previous));
    memset(&module->context, 0, sizeof(module->context));
    module->context.process = &mca_coll_pipering.process;
    module->context.last_count = -1;
    OBJ_CONSTRUCT(&module->context.lock, opal_mutex_t);
    module->permutation = NULL;
    memset(module->addend, 0, sizeof(module->addend));
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
    mca_coll_pipering_previous_drop(&module->previous);
    for (int i = 0; i < MCA_COLL_PIPERING_FORMATS; ++i) {
        mca_coll_pipering_addend_drop(&module->addend[i]);
    }
    mca_coll_pipering_plans_drop(&module->context);
    if (module->context.joined) {
        mca_coll_pipering_arena_leave();
    }
    mca_coll_pipering_setup_free(module->context.setup);
    free(module->permutation);
    OBJ_DESTRUCT(&module->context.lock);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_module_t, mca_common_irregular_module_t, module_construct,
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
