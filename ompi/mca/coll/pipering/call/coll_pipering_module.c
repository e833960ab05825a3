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
#include "coll_pipering_calls.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_mesh.h"

#include <stdlib.h>
#include <string.h>

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
#define ROW(name, when)                                                                        \
    {                                                                                          \
        (function_t *) mca_coll_pipering_##name, MODULE(coll_##name), COMM(coll_##name),       \
            COMM(coll_##name##_module), PREVIOUS(name), PREVIOUS(name##_module), when          \
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

size_t mca_coll_pipering_previous_count(void)
{
    return ROWS;
}

mca_coll_base_module_t *
mca_coll_pipering_previous_module(const mca_coll_pipering_previous_t *previous, size_t i)
{
    return *module_at(previous, rows[i].previous_module);
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
    module->context.process = &mca_coll_pipering_component.process;
    module->context.last_count = -1;
    OBJ_CONSTRUCT(&module->context.lock, opal_mutex_t);
    module->permutation = NULL;
    memset(module->addend, 0, sizeof(module->addend));
    module->out_of_memory = false;
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    const bool mesh = mca_coll_pipering_mesh_declared(module->context.process);
    for (size_t i = 0; i < ROWS; ++i) {
        if (mesh || ON_MESH != rows[i].when) {
            set_function(&module->super, rows[i].in_module, rows[i].serve);
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
    mca_coll_pipering_lessons_free(&module->context);
    mca_coll_pipering_setup_free(module->context.setup);
    free(module->permutation);
    OBJ_DESTRUCT(&module->context.lock);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_module_t, mca_coll_base_module_t, module_construct,
                   module_destruct);

/*
 * Decided from the communicator alone, so alike on all ranks; nothing is sent. A
 * rank without memory must not leave the others alone: it takes a module that
 * fails every call.
 */
mca_coll_base_module_t *mca_coll_pipering_comm_query(struct ompi_communicator_t *comm,
                                                     int *priority)
{
    *priority = mca_coll_pipering_component.priority;
    if (0 >= *priority || OMPI_COMM_IS_INTER(comm) || 2 > ompi_comm_size(comm)) {
        return NULL;
    }

    mca_coll_pipering_module_t *module = OBJ_NEW(mca_coll_pipering_module_t);
    if (NULL == module) {
        module = &mca_coll_pipering_component.spare;
        OBJ_RETAIN(module);
    }
    return &module->super;
}
