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

#include "coll_pipering.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "opal/util/basename.h"
#include "opal/util/output.h"

const char *mca_coll_pipering_component_version_string
    = "Open MPI pipering collective MCA component version " OMPI_VERSION;

static int pipering_register(void);
static int pipering_open(void);
static int pipering_close(void);
static int pipering_init_query(bool enable_progress_threads, bool enable_mpi_threads);

mca_coll_pipering_component_t mca_coll_pipering_component = {
    .super = {
        .collm_version = {
            MCA_COLL_PIPERING_VERSION,
            .mca_component_name = "pipering",
            MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION,
                                  OMPI_RELEASE_VERSION),
            .mca_open_component = pipering_open,
            .mca_close_component = pipering_close,
            .mca_register_component_params = pipering_register,
        },
        .collm_data = {
            MCA_BASE_METADATA_PARAM_CHECKPOINT
        },
        .collm_init_query = pipering_init_query,
        .collm_comm_query = mca_coll_pipering_comm_query,
    },
};

/* A component that is loaded from a directory of its own has its help text there. */
static void find_help(void)
{
    Dl_info here;

    if (0 != dladdr((void *) &mca_coll_pipering_component, &here)) {
        char *directory = opal_dirname(here.dli_fname);
        if (NULL != directory) {
            (void) opal_show_help_add_dir(directory);
            free(directory);
        }
    }
}

static int pipering_register(void)
{
    find_help();
    return mca_coll_pipering_params_register();
}

/*
 * Structures of the library change within a series without a change of the
 * interface's version, so a component serves only the release it was built for.
 */
static bool is_release_of_build(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length, major = -1, minor = -1, release = -1;

    (void) PMPI_Get_library_version(version, &length);
    (void) sscanf(version, "Open MPI v%d.%d.%d", &major, &minor, &release);
    if (OMPI_MAJOR_VERSION == major && OMPI_MINOR_VERSION == minor
        && OMPI_RELEASE_VERSION == release) {
        return true;
    }
    opal_output(0, "coll/pipering was built for Open MPI %d.%d.%d and does not serve Open MPI "
                "%d.%d.%d: it is not used; build it against this release.",
                OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION, major, minor,
                release);
    return false;
}

static int pipering_open(void)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    if (!is_release_of_build()) {
        return OMPI_ERR_NOT_AVAILABLE;
    }
    OBJ_CONSTRUCT(&component->lock, opal_mutex_t);
    OBJ_CONSTRUCT(&component->active, opal_list_t);
    OBJ_CONSTRUCT(&component->spare, mca_coll_pipering_module_t);
    component->spare.out_of_memory = true;
    component->output = opal_output_open(NULL);
    component->opened = true;
    return OMPI_SUCCESS;
}

/* Called for a component that refused to open, too. */
static int pipering_close(void)
{
    mca_coll_pipering_component_t *component = &mca_coll_pipering_component;

    if (!component->opened) {
        return OMPI_SUCCESS;
    }
    component->opened = false;
    OBJ_DESTRUCT(&component->spare);
    mca_coll_pipering_request_finalize();
    mca_coll_pipering_segment_finalize();
    OBJ_DESTRUCT(&component->active);
    OBJ_DESTRUCT(&component->lock);
    opal_output_close(component->output);
    return OMPI_SUCCESS;
}

static int pipering_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    return OMPI_SUCCESS;
}
