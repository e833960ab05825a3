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

#include "alltoall/coll_pipering_alltoall.h"
#include "coll_pipering_lessons.h"

#include <string.h>

/* The functions of the modules below, kept for what this one does not serve. */
#define SAVE_PREVIOUS(module, comm, name, if_none)                                    \
    do {                                                                              \
        (module)->previous.name = (comm)->c_coll->coll_##name;                        \
        (module)->previous.name##_module = (comm)->c_coll->coll_##name##_module;      \
        if (NULL == (module)->previous.name || NULL == (module)->previous.name##_module) { \
            (module)->previous.name = NULL;                                           \
            (module)->previous.name##_module = NULL;                                  \
            if_none;                                                                  \
        } else {                                                                      \
            OBJ_RETAIN((module)->previous.name##_module);                             \
        }                                                                             \
    } while (0)

#define DROP_PREVIOUS(module, name)                        \
    do {                                                   \
        if (NULL != (module)->previous.name##_module) {    \
            OBJ_RELEASE((module)->previous.name##_module); \
            (module)->previous.name##_module = NULL;       \
        }                                                  \
        (module)->previous.name = NULL;                    \
    } while (0)

static int save_previous(mca_coll_pipering_module_t *module, struct ompi_communicator_t *comm)
{
#define SAVE(name) SAVE_PREVIOUS(module, comm, name, return OMPI_ERR_NOT_FOUND);
    MCA_COLL_PIPERING_EACH(SAVE)
#undef SAVE
#define SAVE(name) SAVE_PREVIOUS(module, comm, name, );
    MCA_COLL_PIPERING_EACH_NEIGHBOR(SAVE)
#undef SAVE
    return OMPI_SUCCESS;
}

static void drop_previous(mca_coll_pipering_module_t *module)
{
#define DROP(name) DROP_PREVIOUS(module, name);
    MCA_COLL_PIPERING_EACH(DROP)
    MCA_COLL_PIPERING_EACH_NEIGHBOR(DROP)
#undef DROP
}

static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_pipering_module_t *module = (mca_coll_pipering_module_t *) base;
    const int rc = module->out_of_memory ? OMPI_SUCCESS : save_previous(module, comm);

    if (OMPI_SUCCESS != rc) {
        drop_previous(module);
    }
    return rc;
}

/* Called once for every function of the module that a communicator holds. */
static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    (void) comm;
    drop_previous((mca_coll_pipering_module_t *) base);
    return OMPI_SUCCESS;
}

static void module_construct(mca_coll_pipering_module_t *module)
{
    memset(&module->previous, 0, sizeof(module->previous));
    memset(module->plan, 0, sizeof(module->plan));
    module->setup = NULL;
    module->lessons = NULL;
    module->rounds = 0;
    module->joined = module->settled = module->out_of_memory = false;
    module->oldest = 0;
    OBJ_CONSTRUCT(&module->lock, opal_mutex_t);
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
#define SERVE(name) module->super.coll_##name = mca_coll_pipering_##name;
    MCA_COLL_PIPERING_EACH(SERVE)
    MCA_COLL_PIPERING_EACH_NEIGHBOR(SERVE)
#undef SERVE
}

static void module_destruct(mca_coll_pipering_module_t *module)
{
    drop_previous(module);
    for (int i = 0; i < MCA_COLL_PIPERING_PLANS; ++i) {
        if (NULL != module->plan[i]) {
            OBJ_RELEASE(module->plan[i]);
        }
    }
    if (module->joined) {
        mca_coll_pipering_arena_leave();
    }
    mca_coll_pipering_lessons_free(module);
    mca_coll_pipering_setup_free(module->setup);
    OBJ_DESTRUCT(&module->lock);
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
