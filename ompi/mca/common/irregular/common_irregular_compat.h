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

#ifndef MCA_COMMON_IRREGULAR_COMPAT_H
#define MCA_COMMON_IRREGULAR_COMPAT_H

#include "ompi_config.h"

#include <stdint.h>

#include "mpi.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"

/*
 * Open MPI 4.1 and 5.0 differ in the version of the coll interface, the headers of locks, the
 * convertor's flag for memory of a device, the member of a nonblocking request for the arrays of
 * types that the MPI bindings keep, whether the name of a host is the caller's to free, and whether
 * there may be no MPI_COMM_WORLD to ask for the number of ranks of the job (sessions).
 */
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
#    include "opal/mca/threads/mutex.h"
#    include "opal/mca/threads/thread_usage.h"
#    define MCA_COMMON_IRREGULAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_4_0
#    define MCA_COMMON_IRREGULAR_ON_DEVICE CONVERTOR_ACCELERATOR
#    define MCA_COMMON_IRREGULAR_TYPES_HELD(request) ((request)->data.refcounted.vecs)
#    define MCA_COMMON_IRREGULAR_FREE_HOSTNAME(name) free(name)
#    define MCA_COMMON_IRREGULAR_JOB_SIZE ((int) opal_process_info.num_procs)
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#    include "opal/threads/mutex.h"
#    include "opal/threads/thread_usage.h"
typedef volatile int64_t opal_atomic_int64_t;
#    define MCA_COMMON_IRREGULAR_COLL_VERSION MCA_COLL_BASE_VERSION_2_0_0
#    define MCA_COMMON_IRREGULAR_ON_DEVICE CONVERTOR_CUDA
#    define MCA_COMMON_IRREGULAR_TYPES_HELD(request) ((request)->data.vecs)
#    define MCA_COMMON_IRREGULAR_FREE_HOSTNAME(name) ((void) (name))
#    define MCA_COMMON_IRREGULAR_JOB_SIZE (ompi_comm_size(&ompi_mpi_comm_world.comm))
#else
#    error "these components support Open MPI 4.1.x and 5.0.x"
#endif

/* Whether ranks may differ in data representation, so that they must not exchange raw bytes. */
#if OPAL_ENABLE_HETEROGENEOUS_SUPPORT
#    define MCA_COMMON_IRREGULAR_HETEROGENEOUS 1
#else
#    define MCA_COMMON_IRREGULAR_HETEROGENEOUS 0
#endif

#endif
