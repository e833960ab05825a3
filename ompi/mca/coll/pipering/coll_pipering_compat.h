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
 * The only file that knows which Open MPI release it is compiled for.
 */

#ifndef MCA_COLL_PIPERING_COMPAT_H
#define MCA_COLL_PIPERING_COMPAT_H

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/base/coll_base_util.h"
#include "ompi/mca/coll/coll.h"

/*
 * Open MPI 4.1 and 5.0 differ in the version of the coll interface, where locks are, the
 * convertor's flag for memory of a device, and in a nonblocking request's arrays of types, which
 * the bindings of MPI hold.
 */
#if defined(MCA_COLL_BASE_VERSION_2_4_0)
#    include "opal/mca/threads/mutex.h"
#    define MCA_COLL_PIPERING_ON_DEVICE CONVERTOR_ACCELERATOR
#    define MCA_COLL_PIPERING_TYPES_HELD(request) ((request)->data.refcounted.vecs)
#elif defined(MCA_COLL_BASE_VERSION_2_0_0)
#    include "opal/threads/mutex.h"
#    define MCA_COLL_PIPERING_ON_DEVICE CONVERTOR_CUDA
#    define MCA_COLL_PIPERING_TYPES_HELD(request) ((request)->data.vecs)
#else
#    error "coll/pipering supports Open MPI 4.1.x and 5.0.x"
#endif

/* Ranks may differ in data representation, so that blocks of bytes could not be sent. */
#if OPAL_ENABLE_HETEROGENEOUS_SUPPORT
#    define MCA_COLL_PIPERING_HETEROGENEOUS 1
#else
#    define MCA_COLL_PIPERING_HETEROGENEOUS 0
#endif

/** The error of this component that MPI knows: no memory is no internal error. */
static inline int mca_coll_pipering_mpi_error(int rc)
{
    return OMPI_ERR_OUT_OF_RESOURCE == rc ? MPI_ERR_NO_MEM : rc;
}

#endif
