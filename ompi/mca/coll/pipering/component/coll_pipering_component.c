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
 * The component: open, close, register.
 */

#include "ompi/mca/coll/pipering/call/coll_pipering.h"
#include "ompi/mca/coll/pipering/alltoall/coll_pipering_alltoall.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_arena.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"

#include "opal/util/output.h"

const char *mca_coll_pipering_component_version_string
    = "Open MPI pipering collective MCA component version " OMPI_VERSION;

static bool opened;

static int pipering_register(void)
{
    mca_coll_pipering.process.equal.count = 0;
    mca_common_colltools_vars_t all = {.component = &mca_coll_pipering_component.collm_version,
                                       .equal = &mca_coll_pipering.process.equal,
                                       .owner = "pipering"};
    mca_coll_pipering_params_register(&all);
    mca_coll_pipering_exchange_params_register(&all);
    mca_coll_pipering_verdict_register(all.component);
    mca_common_colltools_complain(&all);
    return OMPI_SUCCESS;
}

static int pipering_open(void)
{
    mca_coll_pipering_t *component = &mca_coll_pipering;

    if (!mca_common_colltools_is_release_of_build("pipering")) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    OBJ_CONSTRUCT(&component->process.lock, opal_mutex_t);
    mca_common_colltools_tasks_open();
    OBJ_CONSTRUCT(&component->spare, mca_coll_pipering_module_t);
    component->spare.out_of_memory = true;
    mca_common_colltools_nodes_open(0 < component->process.processors
                                        ? component->process.processors
                                        : mca_coll_pipering_processors());
    mca_coll_pipering_setup_switches(component->process.switches);
    mca_coll_pipering_arena_open(&component->directory);
    component->process.output = opal_output_open(NULL);
    opened = true;
    return OMPI_SUCCESS;
}

/* Called for a component that refused to open, too. */
static int pipering_close(void)
{
    mca_coll_pipering_t *component = &mca_coll_pipering;

    if (!opened) {
        return OMPI_SUCCESS;
    }
    opened = false;
    OBJ_DESTRUCT(&component->spare);
    mca_common_colltools_tasks_close();
    mca_coll_pipering_arena_close();
    component->directory.registered = false;
    mca_common_colltools_nodes_close();
    component->process.asked = false; /* sessions may open it again, with another file */
    OBJ_DESTRUCT(&component->process.lock);
    mca_coll_pipering_mesh_forget(&component->process);
    opal_output_close(component->process.output);
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_pipering_component = {
    .collm_version = {
        MCA_COMMON_COLLTOOLS_COLL_VERSION,
        .mca_component_name = "pipering",
        MCA_COMMON_COLLTOOLS_COMPONENT_VERSION,
        .mca_open_component = pipering_open,
        .mca_close_component = pipering_close,
        .mca_register_component_params = pipering_register,
    },
    .collm_data = {
        .param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT
    },
    .collm_init_query = mca_common_colltools_init_query,
    .collm_comm_query = mca_coll_pipering_comm_query,
};
