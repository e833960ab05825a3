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
 * Calls, which the door makes of the arguments of MPI, and requests, which stand for calls on
 * their way.
 */

#ifndef MCA_COLL_PIPERING_REQUEST_H
#define MCA_COLL_PIPERING_REQUEST_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/coll/pipering/decide/coll_pipering_decide.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_engine.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_scheduled.h"
#include "ompi/mca/coll/pipering/engine/coll_pipering_staging.h"
#include "ompi/mca/common/colltools/common_colltools_task.h"

BEGIN_C_DECLS

/** A call of any collective in any form. All it points at is borrowed. */
typedef struct mca_coll_pipering_call_t {
    mca_coll_pipering_context_t *context;
    mca_coll_pipering_collective_t collective;
    mca_coll_pipering_form_t form;
    mca_coll_pipering_sizes_t sizes;
    size_t total; /**< bytes that it is about, equal on all ranks */
    int root;     /**< 0 where there is none */
    struct ompi_op_t *op; /**< NULL: data only moves */
    bool order_matters;   /**< the result depends on the order in which values are combined */
    bool in_place;        /**< what this rank contributes lies where `recv` has it */
    mca_coll_pipering_layout_t send, recv; /**< without what mca_coll_pipering_layout_init adds */
} mca_coll_pipering_call_t;

/** A call on its way. */
typedef struct mca_coll_pipering_request_t {
    mca_common_colltools_task_t super;
    mca_coll_pipering_call_t call;
    mca_common_colltools_caller_t caller;
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_unit_t unit;            /**< of a reduction */
    mca_coll_pipering_combine_args_t combine; /**< likewise */
    mca_coll_pipering_staging_t staging;
    uint64_t number; /**< of the call on its communicator, in verbose lines */
    uint32_t starts; /**< of a persistent request, so far */
    int tag;      /**< the first one; of a persistent request for all its starts */
    int pipes;    /**< that have been made */
    mca_coll_pipering_pipe_t *first, *last; /**< of these, in the order of the plan's routes */
    mca_coll_pipering_scheduled_t *scheduled; /**< in place of pipelines, owned; or NULL */
} mca_coll_pipering_request_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_request_t);

/**
 * A request for a call. It takes its plan over. All ranks must come here in the same call, whatever
 * becomes of it on one of them, where MPI has their calls in order: here a request gets its tags,
 * and starts of persistent ones are in none. One that is not blocking keeps what the user may free
 * once the call has returned: communicator, types and operation are held, counts and displacements
 * copied. OMPI_ERR_OUT_OF_RESOURCE: no memory, and the plan is released. When it starts it takes
 * memory, and sends what it can. A persistent one is left to the user to start.
 */
int mca_coll_pipering_request_new(const mca_coll_pipering_call_t *call,
                                  mca_coll_pipering_plan_t *plan,
                                  mca_coll_pipering_request_t **made);

/**
 * Adds a pipeline to a request that begins, for the next route of its plan; `args` with unit,
 * layouts and combine, the rest is filled in (coll_pipering_request_pipes.c).
 */
int mca_coll_pipering_request_add(mca_coll_pipering_request_t *request,
                                  mca_coll_pipering_pipe_args_t args);

/** Counts a call that is over, and writes its verbose line (coll_pipering_request_report.c). */
void mca_coll_pipering_request_report(const mca_coll_pipering_request_t *request);

/** Makes the pipelines, or the schedule, of a reduction (coll_pipering_request_reduce.c). */
int mca_coll_pipering_request_reduce(mca_coll_pipering_request_t *request);

/**
 * Makes the schedule of a call whose algorithm goes in rounds, and begins it
 * (coll_pipering_request_schedule.c). OMPI_ERR_OUT_OF_RESOURCE, or the error of a copy.
 */
int mca_coll_pipering_request_schedule(mca_coll_pipering_request_t *request);

END_C_DECLS

#endif
