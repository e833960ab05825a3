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
 * Component and module of coll/pipering, and its variables.
 *
 *     component   component, module, verdict (who has served a call, for tools)
 *     alltoall    exchanges of all with all (coll_pipering_alltoall.h)
 *     call        params; allgather, allgatherv, bcast and reductions, the functions that MPI calls
 *                 (forms: what their three forms share); gather and reduction, from arguments to a
 *                 call; serve, which leads all calls down; request, a call on its way
 *     decide      params (what plans depend on), adapters, setup (who is where, what links cost),
 *                 registry (a row for each algorithm), choice, and a plan of each: ring, rounds,
 *                 chain, pulls
 *     engine      the one pipeline; calls in rounds (plans of the schedule engine); staging;
 *                 arena and fifo (ring buffers), copy
 *     plan        pure C: machine, below, blocks, rounds, order, route, chain, grid, model
 *
 * Beside these floors there are rooms for what only some calls need, each with one door:
 *
 *     mesh         a mesh of nodes (coll_pipering_mesh.h)
 *     fixed_point  sums in two calls (coll_pipering_fixed_point.h)
 *     pulls        single copies inside a node (coll_pipering_pulls.h)
 *
 * A call goes down these floors and nothing calls up; what a floor needs of those above comes as
 * an argument, or in a context (coll_pipering_context.h).
 */

#ifndef MCA_COLL_PIPERING_H
#define MCA_COLL_PIPERING_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_context.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/coll/pipering/fixed_point/coll_pipering_fixed_point.h"
#include "ompi/mca/common/colltools/common_colltools_chooser.h"
#include "ompi/mca/common/colltools/common_colltools_task.h"

BEGIN_C_DECLS

/* ---- module ---- */

typedef struct mca_coll_pipering_module_t {
    mca_common_colltools_module_t super;
    mca_coll_base_comm_coll_t below; /**< who served the collectives before; NULL: nobody */
    mca_coll_pipering_context_t context;
    int *permutation; /**< of the ranks, for exchanges of all with all; NULL: none has been made */
    mca_coll_pipering_addends_t *addends;
    bool out_of_memory; /**< all that it can do is say so */
} mca_coll_pipering_module_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_module_t);

/** The module of this component that serves any call of a communicator; NULL: there is none. */
mca_coll_pipering_module_t *mca_coll_pipering_module_of(const ompi_communicator_t *comm);

mca_coll_base_module_t *mca_coll_pipering_comm_query(struct ompi_communicator_t *comm,
                                                     int *priority);

/* ---- functions that MPI calls ---- */

/** EACH(function, when) for the blocking, nonblocking and persistent form of each collective. */
#define MCA_COLL_PIPERING_FUNCTIONS(EACH)                                        \
    MCA_COLL_PIPERING_FORMS_OF(EACH, allgather, MCA_COLL_PIPERING_ALWAYS)        \
    MCA_COLL_PIPERING_FORMS_OF(EACH, allgatherv, MCA_COLL_PIPERING_ALWAYS)       \
    MCA_COLL_PIPERING_FORMS_OF(EACH, bcast, MCA_COLL_PIPERING_ALWAYS)            \
    MCA_COLL_PIPERING_FORMS_OF(EACH, reduce, MCA_COLL_PIPERING_ALWAYS)           \
    MCA_COLL_PIPERING_FORMS_OF(EACH, scan, MCA_COLL_PIPERING_ALWAYS)             \
    MCA_COLL_PIPERING_FORMS_OF(EACH, exscan, MCA_COLL_PIPERING_ALWAYS)           \
    MCA_COLL_PIPERING_FORMS_OF(EACH, allreduce, MCA_COLL_PIPERING_ALWAYS)        \
    MCA_COLL_PIPERING_FORMS_OF(EACH, reduce_scatter, MCA_COLL_PIPERING_ALWAYS)   \
    MCA_COLL_PIPERING_FORMS_OF(EACH, reduce_scatter_block,                       \
                               MCA_COLL_PIPERING_ALWAYS)                         \
    MCA_COLL_PIPERING_FORMS_OF(EACH, barrier, MCA_COLL_PIPERING_ON_MESH)         \
    MCA_COLL_PIPERING_FORMS_OF(EACH, alltoall, MCA_COLL_PIPERING_ALWAYS)         \
    MCA_COLL_PIPERING_FORMS_OF(EACH, alltoallv, MCA_COLL_PIPERING_ALWAYS)        \
    MCA_COLL_PIPERING_FORMS_OF(EACH, alltoallw, MCA_COLL_PIPERING_ALWAYS)        \
    MCA_COLL_PIPERING_FORMS_OF(EACH, neighbor_alltoallw, MCA_COLL_PIPERING_OPTIONAL)

#define MCA_COLL_PIPERING_FORMS_OF(EACH, collective, when) \
    EACH(collective, when)                                 \
    EACH(i##collective, when)                              \
    EACH(collective##_init, when)

/** When the module has a function. */
typedef enum {
    MCA_COLL_PIPERING_ALWAYS,
    MCA_COLL_PIPERING_OPTIONAL, /**< no module below need have it, since it wants a topology */
    MCA_COLL_PIPERING_ON_MESH   /**< where a mesh is declared */
} mca_coll_pipering_when_t;

/* Functions have the arguments of Open MPI's coll interface; `info` is not read. */
#define MCA_COLL_PIPERING_DECLARE(function, when) MCA_COMMON_COLLTOOLS_DECLARE(pipering, function)
MCA_COLL_PIPERING_FUNCTIONS(MCA_COLL_PIPERING_DECLARE)

/* ---- component ---- */

/** Variables and state of the component (coll_pipering_params.c). */
typedef struct mca_coll_pipering_t {
    int priority;
    int algorithm[MCA_COLL_PIPERING_COLLECTIVES]; /* by mca_coll_pipering_variable_of */
    int barrier; /**< algorithm of MPI_Barrier: auto, mesh_lines or off */
    bool fixed_point_sum; /**< so are floating-point values added */
    mca_coll_pipering_process_t process;
    mca_coll_pipering_module_t spare; /**< of a communicator that there was no memory for */
    mca_common_colltools_directory_t directory; /**< of segments in shared memory */
} mca_coll_pipering_t;

extern mca_coll_pipering_t mca_coll_pipering;

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_pipering_component;

/* ---- variables (coll_pipering_params.c) ---- */

void mca_coll_pipering_params_register(mca_common_colltools_vars_t *all);

/** The verdict on the last call of a communicator, as performance variables for tools. */
void mca_coll_pipering_verdict_register(const mca_base_component_t *component);

END_C_DECLS

#endif
