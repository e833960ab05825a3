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
 * Differences between the releases of Open MPI that the components support.
 */

#ifndef MCA_COMMON_COLLTOOLS_COMPAT_H
#define MCA_COMMON_COLLTOOLS_COMPAT_H

#include "ompi_config.h"

#include <stdint.h>

#include "mpi.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"

#include "common_colltools_array.h"

/*
 * Open MPI 4.1, 5.0 and 6.0 differ in the version of the coll interface and its types of counts, in
 * who installs a module's functions on a communicator and counts references to it, the headers of
 * locks, the convertor's flag for memory of a device, the member of a nonblocking request for the
 * arrays of types that the MPI bindings keep, whether the name of a host is the caller's to free,
 * whether there may be no MPI_COMM_WORLD to ask for the number of ranks of the job (sessions),
 * whether it is known that all processes of the job run one program with one environment a node,
 * whether a framework copies memory of a device, whether ranks of a node pull, whether
 * opal_progress says that it has found something to do, what tells communicators of the same
 * processes apart and is equal on all their ranks, which decisions of coll/tuned and coll/han
 * plan_below knows, if any, and how the runtime is told to remove a file if this process does not;
 * the header of the last is included where it is used.
 */
#if defined(MCA_COLL_BASE_VERSION_3_0_0)
#    define MCA_COMMON_COLLTOOLS_COLL_VERSION MCA_COLL_BASE_VERSION_3_0_0
#    define MCA_COMMON_COLLTOOLS_KNOWS_TUNED 6
#elif defined(MCA_COLL_BASE_VERSION_2_4_0)
#    define MCA_COMMON_COLLTOOLS_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#    define MCA_COMMON_COLLTOOLS_KNOWS_TUNED 5
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#    define MCA_COMMON_COLLTOOLS_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#    define MCA_COMMON_COLLTOOLS_KNOWS_TUNED 0
#else
#    error "these components support Open MPI 4.1.x, 5.0.x and 6.0.x"
#endif

#if defined(MCA_COLL_BASE_VERSION_2_0_0)
#    include "opal/threads/mutex.h"
#    include "opal/threads/thread_usage.h"
typedef volatile int64_t opal_atomic_int64_t;
#    define MCA_COMMON_COLLTOOLS_ON_DEVICE CONVERTOR_CUDA
#    define MCA_COMMON_COLLTOOLS_TYPES_HELD(request) ((request)->data.vecs)
#    define MCA_COMMON_COLLTOOLS_FREE_HOSTNAME(name) ((void) (name))
#    define MCA_COMMON_COLLTOOLS_JOB_SIZE (ompi_comm_size(&ompi_mpi_comm_world.comm))
#    define MCA_COMMON_COLLTOOLS_ONE_PROGRAM false
#    define MCA_COMMON_COLLTOOLS_HAS_ACCELERATOR 0
#    define MCA_COMMON_COLLTOOLS_PULLS 0
#    define MCA_COMMON_COLLTOOLS_PROGRESS() (opal_progress(), 0)
#    define MCA_COMMON_COLLTOOLS_COMM_NAME(comm) {0, (comm)->c_contextid}
#    define MCA_COMMON_COLLTOOLS_PMIX_HEADER "opal/mca/pmix/pmix.h"
#else
#    include "opal/mca/threads/mutex.h"
#    include "opal/mca/threads/thread_usage.h"
#    define MCA_COMMON_COLLTOOLS_ON_DEVICE CONVERTOR_ACCELERATOR
#    define MCA_COMMON_COLLTOOLS_TYPES_HELD(request) ((request)->data.refcounted.vecs)
#    define MCA_COMMON_COLLTOOLS_FREE_HOSTNAME(name) free(name)
#    define MCA_COMMON_COLLTOOLS_JOB_SIZE ((int) opal_process_info.num_procs)
#    define MCA_COMMON_COLLTOOLS_ONE_PROGRAM (1 == opal_process_info.num_apps)
#    define MCA_COMMON_COLLTOOLS_HAS_ACCELERATOR 1
#    define MCA_COMMON_COLLTOOLS_PULLS 1
#    define MCA_COMMON_COLLTOOLS_PROGRESS() opal_progress()
#    define MCA_COMMON_COLLTOOLS_COMM_NAME(comm) \
        {(comm)->c_contextid.cid_base, (comm)->c_contextid.cid_sub.u64}
#    define MCA_COMMON_COLLTOOLS_PMIX_HEADER "opal/mca/pmix/pmix-internal.h"
#endif

/*
 * Counts and displacements in the arguments of the coll interface, and the arrays among them as
 * the floors below know them. `aints` are displacements of MPI_Aint.
 */
#if defined(MCA_COLL_BASE_VERSION_3_0_0)
typedef size_t mca_common_colltools_count_t;
typedef ompi_count_array_t mca_common_colltools_counts_t;
typedef ompi_disp_array_t mca_common_colltools_displs_t;
typedef ompi_disp_array_t mca_common_colltools_aints_t;

static inline mca_common_colltools_array_t
mca_common_colltools_counts(mca_common_colltools_counts_t counts)
{
    return (mca_common_colltools_array_t){ompi_count_array_ptr(counts),
                                          ompi_count_array_is_64bit(counts)};
}

static inline mca_common_colltools_array_t
mca_common_colltools_displs(mca_common_colltools_displs_t displs)
{
    return (mca_common_colltools_array_t){ompi_disp_array_ptr(displs),
                                          ompi_disp_array_is_64bit(displs)};
}

static inline mca_common_colltools_array_t
mca_common_colltools_aints(mca_common_colltools_aints_t aints)
{
    return mca_common_colltools_displs(aints);
}

#    define MCA_COMMON_COLLTOOLS_OP_CREATE(commutes, adder) \
        ompi_op_create_user(commutes, false, adder)
#    define MCA_COMMON_COLLTOOLS_REPLACED(before, now) \
        do {                                           \
            OBJ_RETAIN(now);                           \
            OBJ_RELEASE_NO_NULLIFY(before);            \
        } while (0)

/* A module installs its functions when it is enabled, and those before when it is disabled. */
#    define MCA_COMMON_COLLTOOLS_INSTALL(comm, function, base)                    \
        if (NULL != (base)->coll_##function) {                                    \
            MCA_COLL_INSTALL_API(comm, function, (base)->coll_##function, (base), \
                                 "colltools");                                    \
        }
#    define MCA_COMMON_COLLTOOLS_RESTORE(comm, function, base, below)                    \
        if ((base) == (comm)->c_coll->coll_##function##_module) {                        \
            MCA_COLL_INSTALL_API(comm, function, (below)->coll_##function,               \
                                 (below)->coll_##function##_module, "colltools");        \
        }
#else
typedef int mca_common_colltools_count_t;
typedef const int *mca_common_colltools_counts_t;
typedef const int *mca_common_colltools_displs_t;
typedef const MPI_Aint *mca_common_colltools_aints_t;

static inline mca_common_colltools_array_t
mca_common_colltools_counts(mca_common_colltools_counts_t counts)
{
    return (mca_common_colltools_array_t){counts, false};
}

static inline mca_common_colltools_array_t
mca_common_colltools_displs(mca_common_colltools_displs_t displs)
{
    return (mca_common_colltools_array_t){displs, false};
}

static inline mca_common_colltools_array_t
mca_common_colltools_aints(mca_common_colltools_aints_t aints)
{
    return (mca_common_colltools_array_t){aints, true};
}

#    define MCA_COMMON_COLLTOOLS_OP_CREATE(commutes, adder) ompi_op_create_user(commutes, adder)
#    define MCA_COMMON_COLLTOOLS_REPLACED(before, now) ((void) 0)

/* The framework copies what a module offers, and forgets it. */
#    define MCA_COMMON_COLLTOOLS_INSTALL(comm, function, base)
#    define MCA_COMMON_COLLTOOLS_RESTORE(comm, function, base, below)
#endif

/* The release that is built for: as "5.0.7", where OMPI_VERSION is "4" in Debian's 4.1.4. */
#define MCA_COMMON_COLLTOOLS_TEXT(number) #number
#define MCA_COMMON_COLLTOOLS_DOTTED(major, minor, release)                \
    MCA_COMMON_COLLTOOLS_TEXT(major) "." MCA_COMMON_COLLTOOLS_TEXT(minor) \
        "." MCA_COMMON_COLLTOOLS_TEXT(release)
#define MCA_COMMON_COLLTOOLS_RELEASE \
    MCA_COMMON_COLLTOOLS_DOTTED(OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION)

/* And as members of a component's structure. */
#define MCA_COMMON_COLLTOOLS_COMPONENT_VERSION                           \
    MCA_BASE_MAKE_VERSION(component, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, \
                          OMPI_RELEASE_VERSION)

/* Whether ranks may differ in data representation, so that they must not exchange raw bytes. */
#define MCA_COMMON_COLLTOOLS_HETEROGENEOUS OPAL_ENABLE_HETEROGENEOUS_SUPPORT

#endif
