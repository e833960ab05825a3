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
 * Functions for a component that has just been loaded (common_colltools.h).
 */

#include "common_colltools_chooser.h"

#include <stdio.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/group/group.h"
#include "ompi/proc/proc.h"
#include "ompi/runtime/mpiruntime.h"
#include "opal/util/output.h"

/*
 * Structures of the library change within a release series, while the version of the coll
 * interface does not. So a component serves only the release that it was built for.
 */
bool mca_common_colltools_is_release_of_build(const char *owner)
{
    const char *at = ompi_version_string;
    char found[64];
    int major, minor, release;

    /* whoever configured Open MPI may have written something else in front */
    while ('\0' != *at && 3 != sscanf(at, "%d.%d.%d", &major, &minor, &release)) {
        ++at;
    }
    if ('\0' == *at) {
        return true;
    }
    (void) snprintf(found, sizeof(found), "%d.%d.%d", major, minor, release);
    if (0 == strcmp(MCA_COMMON_COLLTOOLS_RELEASE, found)) {
        return true;
    }
    opal_output(0, "coll/%s was built for Open MPI %s and does not serve Open MPI %s: it is not "
                "used; build it against this release.",
                owner, MCA_COMMON_COLLTOOLS_RELEASE, found);
    return false;
}

int mca_common_colltools_init_query(bool enable_progress_threads, bool enable_mpi_threads)
{
    (void) enable_progress_threads;
    (void) enable_mpi_threads;
    return OMPI_SUCCESS;
}

bool mca_common_colltools_is_one_job(ompi_communicator_t *comm)
{
    const ompi_jobid_t own = ompi_proc_local()->super.proc_name.jobid;
    int r = 0;

    while (r < ompi_comm_size(comm)
           && own == ompi_group_get_proc_name(comm->c_local_group, r).jobid) {
        ++r;
    }
    return ompi_comm_size(comm) == r;
}

OBJ_CLASS_INSTANCE(mca_common_colltools_module_t, mca_coll_base_module_t, NULL, NULL);

/* By name, since components that are installed beside Open MPI have a class each. */
mca_common_colltools_module_t *mca_common_colltools_chooser(mca_coll_base_module_t *module)
{
    const opal_class_t *parent = module->super.obj_class->cls_parent;

    return NULL != parent
                   && 0 == strcmp(OBJ_CLASS(mca_common_colltools_module_t)->cls_name,
                                  parent->cls_name)
               ? (mca_common_colltools_module_t *) module
               : NULL;
}
