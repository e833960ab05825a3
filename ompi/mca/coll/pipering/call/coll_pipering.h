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
 *     call        params, and a file for each collective; gather and reduction, what these share;
 *                 fixed_point, sums in two calls; serve, which leads all calls down; request, a
 *                 call on its way
 *     decide      params (what plans depend on), adapters, setup (who is where, what links cost),
 *                 streams (how fast they are), registry (a row for each algorithm), choice, and a
 *                 plan of each: ring, rounds, chain
 *     engine      the one pipeline; gathers in rounds, and calls along lines of a mesh (plans of
 *                 the schedule engine); staging; arena and fifo (ring buffers), copy, nodes, clock
 *     mesh        pure C: plans along a mesh of nodes
 *     plan        pure C: machine, below, blocks, rounds, order, route, chain, grid, model
 *
 * A call goes down these floors and nothing calls up; what a floor needs of those above comes as
 * an argument, or in a context (coll_pipering_context.h).
 */

#ifndef MCA_COLL_PIPERING_H
#define MCA_COLL_PIPERING_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_context.h"
#include "ompi/mca/coll/pipering/decide/coll_pipering_setup.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_fixed_point.h"
#include "ompi/mca/common/irregular/common_irregular_chooser.h"
#include "ompi/mca/common/irregular/common_irregular_task.h"

BEGIN_C_DECLS

/* ---- module ---- */

/** The modules below, which served the collectives before; NULL where there was none. */
typedef struct mca_coll_pipering_previous_t {
    mca_coll_base_module_allgather_fn_t allgather;
    mca_coll_base_module_t *allgather_module;
    mca_coll_base_module_allgatherv_fn_t allgatherv;
    mca_coll_base_module_t *allgatherv_module;
    mca_coll_base_module_allreduce_fn_t allreduce;
    mca_coll_base_module_t *allreduce_module;
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_t *barrier_module;
    mca_coll_base_module_ibarrier_fn_t ibarrier;
    mca_coll_base_module_t *ibarrier_module;
    mca_coll_base_module_barrier_init_fn_t barrier_init;
    mca_coll_base_module_t *barrier_init_module;
    mca_coll_base_module_bcast_fn_t bcast;
    mca_coll_base_module_t *bcast_module;
    mca_coll_base_module_exscan_fn_t exscan;
    mca_coll_base_module_t *exscan_module;
    mca_coll_base_module_reduce_fn_t reduce;
    mca_coll_base_module_t *reduce_module;
    mca_coll_base_module_scan_fn_t scan;
    mca_coll_base_module_t *scan_module;
    mca_coll_base_module_iallgather_fn_t iallgather;
    mca_coll_base_module_t *iallgather_module;
    mca_coll_base_module_iallgatherv_fn_t iallgatherv;
    mca_coll_base_module_t *iallgatherv_module;
    mca_coll_base_module_iallreduce_fn_t iallreduce;
    mca_coll_base_module_t *iallreduce_module;
    mca_coll_base_module_ibcast_fn_t ibcast;
    mca_coll_base_module_t *ibcast_module;
    mca_coll_base_module_iexscan_fn_t iexscan;
    mca_coll_base_module_t *iexscan_module;
    mca_coll_base_module_ireduce_fn_t ireduce;
    mca_coll_base_module_t *ireduce_module;
    mca_coll_base_module_iscan_fn_t iscan;
    mca_coll_base_module_t *iscan_module;
    mca_coll_base_module_allgather_init_fn_t allgather_init;
    mca_coll_base_module_t *allgather_init_module;
    mca_coll_base_module_allgatherv_init_fn_t allgatherv_init;
    mca_coll_base_module_t *allgatherv_init_module;
    mca_coll_base_module_allreduce_init_fn_t allreduce_init;
    mca_coll_base_module_t *allreduce_init_module;
    mca_coll_base_module_bcast_init_fn_t bcast_init;
    mca_coll_base_module_t *bcast_init_module;
    mca_coll_base_module_exscan_init_fn_t exscan_init;
    mca_coll_base_module_t *exscan_init_module;
    mca_coll_base_module_reduce_init_fn_t reduce_init;
    mca_coll_base_module_t *reduce_init_module;
    mca_coll_base_module_scan_init_fn_t scan_init;
    mca_coll_base_module_t *scan_init_module;
    mca_coll_base_module_alltoall_fn_t alltoall;
    mca_coll_base_module_t *alltoall_module;
    mca_coll_base_module_alltoallv_fn_t alltoallv;
    mca_coll_base_module_t *alltoallv_module;
    mca_coll_base_module_alltoallw_fn_t alltoallw;
    mca_coll_base_module_t *alltoallw_module;
    mca_coll_base_module_ialltoall_fn_t ialltoall;
    mca_coll_base_module_t *ialltoall_module;
    mca_coll_base_module_ialltoallv_fn_t ialltoallv;
    mca_coll_base_module_t *ialltoallv_module;
    mca_coll_base_module_ialltoallw_fn_t ialltoallw;
    mca_coll_base_module_t *ialltoallw_module;
    mca_coll_base_module_alltoall_init_fn_t alltoall_init;
    mca_coll_base_module_t *alltoall_init_module;
    mca_coll_base_module_alltoallv_init_fn_t alltoallv_init;
    mca_coll_base_module_t *alltoallv_init_module;
    mca_coll_base_module_alltoallw_init_fn_t alltoallw_init;
    mca_coll_base_module_t *alltoallw_init_module;
    mca_coll_base_module_neighbor_alltoallw_fn_t neighbor_alltoallw;
    mca_coll_base_module_t *neighbor_alltoallw_module;
    mca_coll_base_module_ineighbor_alltoallw_fn_t ineighbor_alltoallw;
    mca_coll_base_module_t *ineighbor_alltoallw_module;
    mca_coll_base_module_neighbor_alltoallw_init_fn_t neighbor_alltoallw_init;
    mca_coll_base_module_t *neighbor_alltoallw_init_module;
} mca_coll_pipering_previous_t;

/**
 * Keeps who serves the functions of a communicator so far, for what a module that takes their
 * place does not serve, and lets go of them. OMPI_ERR_NOT_FOUND: nobody serves some of them.
 */
int mca_coll_pipering_previous_save(mca_coll_pipering_previous_t *previous,
                                    const mca_coll_base_comm_coll_t *functions);
void mca_coll_pipering_previous_drop(mca_coll_pipering_previous_t *previous);

/** The name of a module's component, out of that of its class; `name` may hold it. */
const char *mca_coll_pipering_module_name(const mca_coll_base_module_t *module, char name[16]);

/** What sums in fixed point are made of (coll_pipering_fixed_point.c); NULL before the first. */
typedef struct mca_coll_pipering_addend_t {
    struct ompi_datatype_t *type;
    struct ompi_op_t *sum;
} mca_coll_pipering_addend_t;

/** Lets go of both. */
void mca_coll_pipering_addend_drop(mca_coll_pipering_addend_t *addend);

typedef struct mca_coll_pipering_module_t {
    mca_common_irregular_module_t super;
    mca_coll_pipering_previous_t previous;
    mca_coll_pipering_context_t context;
    int *permutation; /**< of the ranks, for exchanges of all with all; NULL: none has been made */
    mca_coll_pipering_addend_t addend[MCA_COLL_PIPERING_FORMATS];
    bool out_of_memory; /**< all that it can do is say so */
} mca_coll_pipering_module_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_module_t);

/** The module of this component that serves any call of a communicator; NULL: there is none. */
mca_coll_pipering_module_t *mca_coll_pipering_module_of(const ompi_communicator_t *comm);

mca_coll_base_module_t *mca_coll_pipering_comm_query(struct ompi_communicator_t *comm,
                                                     int *priority);

/* ---- component ---- */

/** Variables and state of the component (coll_pipering_params.c). */
typedef struct mca_coll_pipering_t {
    int priority;
    int algorithm[MCA_COLL_PIPERING_COLLECTIVES];
    int barrier; /**< algorithm of MPI_Barrier: auto, mesh_lines or off */
    bool fixed_point_sum; /**< so are floating-point values added */
    mca_coll_pipering_process_t process;
    mca_coll_pipering_module_t spare; /**< of a communicator that there was no memory for */
    mca_common_irregular_directory_t directory; /**< of segments in shared memory */
} mca_coll_pipering_t;

extern mca_coll_pipering_t mca_coll_pipering;

OMPI_DECLSPEC extern const mca_coll_base_component_t mca_coll_pipering_component;

/* ---- variables (coll_pipering_params.c) ---- */

void mca_coll_pipering_params_register(mca_common_irregular_vars_t *all);

/** The verdict on the last call of a communicator, as performance variables for tools. */
void mca_coll_pipering_verdict_register(const mca_base_component_t *component);

/** The variables as they stand for a collective, unit-converted and in range. */
mca_coll_pipering_params_t
mca_coll_pipering_params_now(mca_coll_pipering_collective_t collective);

/** Why a call is left to the module below, as in names of performance variables. */
const char *mca_coll_pipering_reason_name(mca_coll_pipering_reason_t reason);

END_C_DECLS

#endif
