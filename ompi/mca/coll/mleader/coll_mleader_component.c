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

#include "coll_mleader.h"

#include "ompi/mca/common/colltools/common_colltools_nodes.h"
#include "opal/util/output.h"

static bool opened;

static int mleader_register(void)
{
    mca_coll_mleader.equal.count = 0;
    mca_common_colltools_vars_t all = {.component = &mca_coll_mleader_component.collm_version,
                                       .equal = &mca_coll_mleader.equal,
                                       .owner = "mleader"};
    mca_coll_mleader_params_register(&all);
    mca_common_colltools_nodes_register(MCA_COMMON_COLLTOOLS_MLEADER, all.equal, NULL);
    mca_common_colltools_complain(&all);
    return OMPI_SUCCESS;
}

static int mleader_open(void)
{
    mca_coll_mleader_t *component = &mca_coll_mleader;

    if (!mca_common_colltools_is_release_of_build("mleader")) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    OBJ_CONSTRUCT(&component->spare, mca_coll_mleader_module_t);
    component->spare.out_of_memory = true;
    OBJ_CONSTRUCT(&component->lock, opal_mutex_t);
    mca_common_colltools_nodes_open();
    component->output = opal_output_open(NULL);
    opened = true;
    return OMPI_SUCCESS;
}

/* Open MPI also closes a component that has refused to open. */
static int mleader_close(void)
{
    mca_coll_mleader_t *component = &mca_coll_mleader;

    if (!opened) {
        return OMPI_SUCCESS;
    }
    opened = false;
    mca_common_colltools_nodes_close();
    OBJ_DESTRUCT(&component->spare);
    OBJ_DESTRUCT(&component->lock);
    opal_output_close(component->output);
    return OMPI_SUCCESS;
}

const mca_coll_base_component_t mca_coll_mleader_component = {
    .collm_version = {
        MCA_COMMON_COLLTOOLS_COLL_VERSION,
        .mca_component_name = "mleader",
        MCA_COMMON_COLLTOOLS_COMPONENT_VERSION,
        .mca_open_component = mleader_open,
        .mca_close_component = mleader_close,
        .mca_register_component_params = mleader_register,
    },
    .collm_data = {
        .param_field = MCA_BASE_METADATA_PARAM_CHECKPOINT
    },
    .collm_init_query = mca_common_colltools_init_query,
    .collm_comm_query = mca_coll_mleader_comm_query,
};
