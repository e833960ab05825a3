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
 * Component, module and calls of coll/mleader: MPI_Allgather, MPI_Iallgather and
 * MPI_Allgather_init with several leaders on each node. A call has three phases:
 *
 *     1. aggregation    the leader of a group collects the contributions of its ranks
 *     2. exchange       the leaders of all nodes gather the contributions of all groups
 *     3. distribution   the ranks of a group get the contributions of the other groups
 *
 *     node 0                         node 1
 *     +------------+------------+    +------------+------------+
 *     | L <- 1 2 3 | L <- 5 6 7 |    | L <- 9 a b | L <- d e f |     L: leader of a group
 *     +-|----------+-|----------+    +-|----------+-|----------+
 *       +------------|-----------------+            |                lane 0
 *                    +------------------------------+                lane 1
 *
 * Words: a lane is the leaders of one number, one on each node. Positions number the ranks in the
 * order of their groups. An area holds contributions in the order of positions. A slice is the part
 * of each contribution that the phases move at once: a call has one slice or several. A variant is
 * a choice of algorithms for the phases. The segment is shared memory of a node.
 *
 * Files:
 *
 *     MPI calls   component, params, module, allgather (the three forms), request
 *     decision    decide (variant, slices), topology (groups, made once for a communicator)
 *     phases      call (slices), phases (the schedule of a slice), steps (of this schedule),
 *                 schedules (their memory), area (copies from and to the user's buffers), segment
 *                 (makes it), shared (order of calls in a segment, counters)
 *     plans       pure C: plan_groups, plan_leaders
 *
 * Kandalla, Subramoni, Santhanaraman, Koop, Panda, "Designing Multi-Leader-Based Allgather
 * Algorithms for Multi-Core Clusters", section 4.
 */

#ifndef MCA_COLL_MLEADER_H
#define MCA_COLL_MLEADER_H

#include "coll_mleader_call.h"
#include "ompi/mca/coll/base/coll_base_functions.h"
#include "ompi/mca/coll/coll.h"
#include "ompi/mca/common/colltools/common_colltools_chooser.h"

BEGIN_C_DECLS

typedef struct mca_coll_mleader_module_t {
    mca_coll_base_module_t super;
    mca_coll_base_comm_coll_t below; /**< who served its functions before; NULL: nobody */
    mca_common_colltools_module_t *chooser; /**< the module below, if it chooses; else NULL */
    mca_coll_mleader_topology_t *topology; /**< NULL: not made yet, or leaders serve no call */
    mca_coll_mleader_reason_t reason; /**< why leaders serve no call on this communicator; TAKEN:
                                           they serve calls, or there is no topology yet */
    mca_coll_mleader_schedules_t schedules; /**< of blocking calls */
    int calls;          /**< blocking calls that leaders could have served, until one was */
    bool out_of_memory; /**< every call fails with MPI_ERR_NO_MEM */
} mca_coll_mleader_module_t;

OBJ_CLASS_DECLARATION(mca_coll_mleader_module_t);

/** The module for a communicator, or NULL: none; decided alike on all ranks. */
mca_coll_base_module_t *mca_coll_mleader_comm_query(struct ompi_communicator_t *comm,
                                                    int *priority);

/** Variables and state of the component (coll_mleader_params.c). */
typedef struct mca_coll_mleader_t {
    int priority;
    int verbose;
    int output; /**< stream of the verbose lines */
    mca_coll_mleader_module_t spare; /**< of communicators without memory for a module */
    mca_common_colltools_directory_t directory; /**< of segments */
    opal_mutex_t lock;                          /**< protects the directory */
    mca_common_colltools_equal_t equal; /**< variables that must be equal on all ranks */
} mca_coll_mleader_t;

extern mca_coll_mleader_t mca_coll_mleader;

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_mleader_component;

/** EACH(function) of the module. */
#define MCA_COLL_MLEADER_FUNCTIONS(EACH) EACH(allgather) EACH(iallgather) EACH(allgather_init)

#define MCA_COLL_MLEADER_DECLARE(function) MCA_COMMON_COLLTOOLS_DECLARE(mleader, function)
MCA_COLL_MLEADER_FUNCTIONS(MCA_COLL_MLEADER_DECLARE)

/* ---- requests (coll_mleader_request.c) ---- */

/**
 * Starts a nonblocking call; copies *call. On an error the call has taken its slices all the same,
 * as it has on the other ranks.
 */
int mca_coll_mleader_request_start(const mca_coll_mleader_call_t *call, ompi_request_t **handle);

/**
 * Makes a persistent request and its segments; copies *call. All ranks must call this in the same
 * MPI call (mca_coll_mleader_shared_make).
 */
int mca_coll_mleader_request_make(const mca_coll_mleader_call_t *call,
                                  const mca_coll_mleader_params_t *params,
                                  const mca_coll_mleader_module_t *module,
                                  ompi_request_t **handle);

END_C_DECLS

#endif
