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

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/pipering/pulls/coll_pipering_pulls.h"
#include "opal/mca/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/util/output.h"

static bool opened;

/* Adds a variable of the framework coll, but for our own, if somebody has set it. */
static uint32_t add_variable(uint32_t hash, int index)
{
    const mca_base_var_t *variable;
    char **lines = NULL;

    if (OPAL_SUCCESS != mca_base_var_get(index, &variable)
        || MCA_BASE_VAR_SOURCE_DEFAULT == variable->mbv_source
        || 0 != strncmp("coll", variable->mbv_full_name, 4)
        || 0 == strncmp("coll_pipering", variable->mbv_full_name, 13)
        || 0 == strncmp("coll_mleader", variable->mbv_full_name, 12)
        || NULL != strstr(variable->mbv_full_name, "verbose")
        || OPAL_SUCCESS
               != mca_base_var_dump(index, &lines, MCA_BASE_VAR_DUMP_PARSABLE)) {
        return hash;
    }
    for (int i = 0; NULL != lines && NULL != lines[i]; ++i) {
        hash = 0 == i ? mca_common_colltools_hash(hash, lines[i], strlen(lines[i])) : hash;
        free(lines[i]);
    }
    free(lines);
    return hash;
}

/* A hash of what decides on the modules below: components, and variables of theirs that are set. */
static uint32_t hash_below(void)
{
    mca_base_component_list_item_t *item;
    uint32_t hash = MCA_COMMON_COLLTOOLS_HASH, components = 0;

    for (int i = 0; i < mca_base_var_get_count(); ++i) {
        hash = add_variable(hash, i);
    }
    OPAL_LIST_FOREACH(item, &ompi_coll_base_framework.framework_components,
                      mca_base_component_list_item_t) {
        const char *name = item->cli_component->mca_component_name;
        components += mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, name, strlen(name));
    }
    return hash ^ components;
}

static void fill_card(mca_common_colltools_facts_t *own)
{
    mca_coll_pipering_pulls_open(&mca_coll_pipering.directory);
    mca_coll_pipering_setup_open(&mca_coll_pipering.process, own);
    own->below = hash_below();
}

static int pipering_register(void)
{
    mca_coll_pipering.process.equal.count = 0;
    mca_common_colltools_vars_t all = {.component = &mca_coll_pipering_component.collm_version,
                                       .equal = &mca_coll_pipering.process.equal,
                                       .owner = "pipering"};
    mca_coll_pipering_params_register(&all);
    mca_coll_pipering_exchange_params_register(&all);
    mca_coll_pipering_verdict_register(all.component);
    mca_common_colltools_nodes_register(MCA_COMMON_COLLTOOLS_PIPERING, all.equal, fill_card);
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
    OBJ_CONSTRUCT(&component->spare, mca_coll_pipering_module_t);
    component->spare.out_of_memory = true;
    mca_common_colltools_nodes_open();
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
    mca_common_colltools_nodes_close();
    mca_coll_pipering_pulls_close();
    mca_coll_pipering_arena_close();
    mca_coll_pipering_setup_close(&component->process);
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
