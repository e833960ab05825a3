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
 * The module of a communicator: when it exists, and the functions of the module below.
 */

#include "coll_mleader.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/group/group.h"
#include "ompi/mca/common/colltools/common_colltools_progress.h"

/* What no module below has, this module does not have either. */
#define SAVE(function) \
    MCA_COMMON_COLLTOOLS_SAVE(comm, function, below, module->super.coll_##function = NULL)
#define DROP(function) MCA_COMMON_COLLTOOLS_DROP(function, below)
#define INSTALL(function) MCA_COMMON_COLLTOOLS_INSTALL(comm, function, base)
#define RESTORE(function) MCA_COMMON_COLLTOOLS_RESTORE(comm, function, base, below)

static void drop_below(mca_coll_base_comm_coll_t *below)
{
    MCA_COLL_MLEADER_FUNCTIONS(DROP)
}

/* Without MPI_Allgather of the module below the ranks could not agree on groups and segments. */
static int module_enable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_mleader_module_t *module = (mca_coll_mleader_module_t *) base;
    mca_coll_base_comm_coll_t *below = &module->below;

    if (module->out_of_memory) { /* it stands on many communicators, and fails every call */
        MCA_COLL_MLEADER_FUNCTIONS(INSTALL)
        return OMPI_SUCCESS;
    }
    MCA_COLL_MLEADER_FUNCTIONS(SAVE)
    if (NULL == below->coll_allgather) {
        drop_below(below);
        return OMPI_ERR_NOT_FOUND;
    }
    MCA_COLL_MLEADER_FUNCTIONS(INSTALL)
    module->chooser = mca_common_colltools_chooser(below->coll_allgather_module);
    return OMPI_SUCCESS;
}

static int module_disable(mca_coll_base_module_t *base, struct ompi_communicator_t *comm)
{
    mca_coll_base_comm_coll_t *below = &((mca_coll_mleader_module_t *) base)->below;

    mca_common_colltools_progress_rest(comm);
    if (&mca_coll_mleader.spare != (mca_coll_mleader_module_t *) base) { /* nothing is below it */
        MCA_COLL_MLEADER_FUNCTIONS(RESTORE)
    }
    drop_below(below);
    return OMPI_SUCCESS;
}

static void module_construct(mca_coll_mleader_module_t *module)
{
    memset((char *) module + sizeof(module->super), 0, sizeof(*module) - sizeof(module->super));
    module->super.coll_module_enable = module_enable;
    module->super.coll_module_disable = module_disable;
    module->super.coll_allgather = mca_coll_mleader_allgather;
    module->super.coll_iallgather = mca_coll_mleader_iallgather;
    module->super.coll_allgather_init = mca_coll_mleader_allgather_init;
}

static void module_destruct(mca_coll_mleader_module_t *module)
{
    drop_below(&module->below);
    mca_coll_mleader_topology_free(module->topology);
    free(module->schedules.memory);
}

OBJ_CLASS_INSTANCE(mca_coll_mleader_module_t, mca_coll_base_module_t, module_construct,
                   module_destruct);

/*
 * Whether all ranks are on this node, and all of them know that. The processes of one job agree on
 * who shares a node with whom. Those of several jobs, spawned or connected, may not: some of them
 * do not know of others whether they are local.
 */
static bool is_on_one_node(ompi_communicator_t *comm)
{
    return !ompi_group_have_remote_peers(comm->c_local_group)
           && mca_common_colltools_is_one_job(comm);
}

/*
 * All ranks decide alike, without messages. Inside one node there is a module only if the algorithm
 * is not auto. A rank without memory takes the spare module, which fails every call: without a
 * module it would call others than the other ranks do, and they would wait for it.
 */
mca_coll_base_module_t *mca_coll_mleader_comm_query(struct ompi_communicator_t *comm,
                                                    int *priority)
{
    *priority = mca_coll_mleader.priority;
    if (0 >= *priority || OMPI_COMM_IS_INTER(comm) || 2 > ompi_comm_size(comm)
        || (MCA_COLL_MLEADER_AUTO == mca_coll_mleader_params_now().algorithm
            && is_on_one_node(comm))) {
        return NULL;
    }
    mca_coll_mleader_module_t *module = OBJ_NEW(mca_coll_mleader_module_t);
    if (NULL == module) {
        module = &mca_coll_mleader.spare;
        OBJ_RETAIN(module);
    }
    return &module->super;
}
