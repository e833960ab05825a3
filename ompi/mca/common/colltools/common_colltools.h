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
 * Code that the components for irregular data share:
 *
 *     component, compat    loading, and what differs between releases of Open MPI
 *     vars, file, help     variables with ranges and counters, files that they name, messages
 *     nodes, card, modex   what processes say of themselves in MPI_Init, nodes of a communicator
 *     task, requests       requests of collectives, and of messages in them
 *     schedule, exchange   the schedule engine, and exchanges in rounds
 *     copy, segment        copies of users' data, segments in shared memory
 *     chooser              how a component asks the one below who is faster
 */

#ifndef MCA_COMMON_COLLTOOLS_H
#define MCA_COMMON_COLLTOOLS_H

#include "ompi_config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "ompi/communicator/communicator.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/colltools/common_colltools_compat.h"
#include "ompi/mca/common/colltools/common_colltools_copy.h"
#include "ompi/mca/common/colltools/common_colltools_requests.h"
#include "ompi/mca/common/colltools/common_colltools_segment.h"
#include "ompi/mca/common/colltools/common_colltools_vars.h"
#include "ompi/request/request.h"
#include "opal/datatype/opal_convertor.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/mca.h"
#include "opal/sys/atomic.h"

BEGIN_C_DECLS

/* ---- loading (common_colltools_component.c) ---- */

/** Whether the component was built for this release of Open MPI; if not, reports it. */
bool mca_common_colltools_is_release_of_build(const char *owner);

/** A component's init_query: it serves threads of any kind. */
int mca_common_colltools_init_query(bool enable_progress_threads, bool enable_mpi_threads);

/** Whether all ranks were started by one mpirun, that of this one. O(p). */
bool mca_common_colltools_is_one_job(ompi_communicator_t *comm);

/* ---- the module below ---- */

/** Declares a function of a component's module, of the type that Open MPI's coll interface has. */
#define MCA_COMMON_COLLTOOLS_DECLARE(component, function)          \
    __typeof__(*((mca_coll_base_module_t *) NULL)->coll_##function) \
        mca_coll_##component##_##function;

/** Keeps in `below` who serves a function of a communicator so far. Nobody: `otherwise`. */
#define MCA_COMMON_COLLTOOLS_SAVE(comm, function, below, otherwise)                 \
    if (NULL != (comm)->c_coll->coll_##function                                     \
        && NULL != (comm)->c_coll->coll_##function##_module) {                      \
        (below)->coll_##function = (comm)->c_coll->coll_##function;                 \
        (below)->coll_##function##_module = (comm)->c_coll->coll_##function##_module; \
        OBJ_RETAIN((below)->coll_##function##_module);                              \
    } else {                                                                        \
        otherwise;                                                                  \
    }

/** Lets go of the module that has served a function. */
#define MCA_COMMON_COLLTOOLS_DROP(function, below)          \
    if (NULL != (below)->coll_##function##_module) {        \
        OBJ_RELEASE((below)->coll_##function##_module);     \
        (below)->coll_##function##_module = NULL;           \
    }

/**
 * Calls the function `call` of the module below, `call_module`, with `arguments`, in which the
 * module is named module_below. `call` and `call_module` are lvalues; the caller owns a
 * reference to the module before and after.
 *
 * Where coll/han lacks OMPI_COLL_HAN_KEEPS_FALLBACK (ompi/mca/coll/han/patches), the module below
 * is selected on the communicator during the call. If coll/han finds in a call that it cannot
 * serve a communicator, it replaces itself by the module that it had replaced; it can do so only
 * while it is selected, and would find the same again in every call, by messages. The module
 * that is selected afterwards is the module below from then on.
 */
#if defined(OMPI_COLL_HAN_KEEPS_FALLBACK)
#    define MCA_COMMON_COLLTOOLS_BELOW(rc, comm, name, call, call_module, arguments) \
        do {                                                                         \
            mca_coll_base_module_t *const module_below = (call_module);              \
            (rc) = (call) arguments;                                                 \
        } while (0)
#else
#    define MCA_COMMON_COLLTOOLS_BELOW(rc, comm, name, call, call_module, arguments)            \
        do {                                                                                    \
            const mca_coll_base_module_##name##_fn_t on_top = (comm)->c_coll->coll_##name;      \
            mca_coll_base_module_t *const module_on_top = (comm)->c_coll->coll_##name##_module; \
            mca_coll_base_module_t *const module_below = (call_module);                         \
            (comm)->c_coll->coll_##name = (call);                                               \
            (comm)->c_coll->coll_##name##_module = module_below;                                \
            OBJ_RETAIN(module_below);                                                           \
            (rc) = (call) arguments;                                                            \
            (call) = (comm)->c_coll->coll_##name;                                               \
            (call_module) = (comm)->c_coll->coll_##name##_module;                               \
            MCA_COMMON_COLLTOOLS_REPLACED(module_below, call_module);                           \
            OBJ_RELEASE_NO_NULLIFY(module_below);                                               \
            (comm)->c_coll->coll_##name = on_top;                                               \
            (comm)->c_coll->coll_##name##_module = module_on_top;                               \
        } while (0)
#endif

END_C_DECLS

#endif
