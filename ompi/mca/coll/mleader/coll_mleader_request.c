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
 * Requests of nonblocking and persistent calls that leaders serve.
 *
 *     MPI_Iallgather       uses the segments of its communicator, as blocking calls do: MPI makes
 *                          all ranks start these calls in the same order
 *     MPI_Allgather_init   makes segments of its own: each rank may start its persistent requests
 *                          in another order
 */

#include "coll_mleader.h"

#include <stdlib.h>
#include <string.h>

#include "ompi/mca/common/colltools/common_colltools_task.h"

typedef struct request_t {
    mca_common_colltools_task_t super;
    mca_coll_mleader_call_t call;
    mca_coll_mleader_schedules_t schedules;
    mca_coll_mleader_shared_t memory; /* segments of a persistent request */
} request_t;

static void hold_types(const mca_coll_mleader_call_t *call, bool hold)
{
    mca_common_colltools_hold_type(call->stype, hold);
    mca_common_colltools_hold_type(call->rtype, hold);
}

static void request_construct(request_t *request)
{
    memset(&request->call, 0, sizeof(request->call));
    memset(&request->schedules, 0, sizeof(request->schedules));
    memset(&request->memory, 0, sizeof(request->memory));
}

static void request_destruct(request_t *request)
{
    if (request->super.keeps) {
        hold_types(&request->call, false);
    }
    mca_coll_mleader_call_fini(&request->call);
    free(request->schedules.memory);
    mca_coll_mleader_shared_free(&request->memory);
}

static OBJ_CLASS_INSTANCE(request_t, mca_common_colltools_task_t, request_construct,
                          request_destruct);

/* ---- the life of a request ---- */

/* Starts the first messages at once, if the calls before this one have ended. */
static int start(mca_common_colltools_task_t *task)
{
    mca_coll_mleader_call_t *call = &((request_t *) task)->call;
    int steps = 0;

    mca_coll_mleader_call_begin(call);
    (void) mca_coll_mleader_call_move(call, &steps);
    mca_common_colltools_task_activate(task);
    return OMPI_SUCCESS;
}

static bool advance(mca_common_colltools_task_t *task, int *steps, int *rc)
{
    mca_coll_mleader_call_t *call = &((request_t *) task)->call;

    if (!mca_coll_mleader_call_move(call, steps)) {
        return false;
    }
    *rc = call->error;
    return true;
}

static const mca_common_colltools_task_kind_t kind = {.start = start, .advance = advance};

/* Reserves a tag first, so that a rank without memory reserves as many as the others. */
static request_t *new_request(const mca_coll_mleader_call_t *call, bool persistent)
{
    const int tag = mca_common_colltools_task_tags(call->comm, 1, true);
    request_t *request = OBJ_NEW(request_t);

    if (NULL != request) {
        mca_common_colltools_task_init(&request->super, &kind, call->comm, persistent);
        request->call = *call;
        request->call.tag = tag;
        request->call.schedules = &request->schedules;
    }
    return request;
}

/* Allocates the memory of all runs, and retains the objects that the user may free. */
static int keep(request_t *request)
{
    int rc = mca_coll_mleader_call_init(&request->call);

    if (OMPI_SUCCESS == rc) {
        rc = mca_common_colltools_task_keep(&request->super, 0);
    }
    if (OMPI_SUCCESS == rc) {
        hold_types(&request->call, true);
    }
    return rc;
}

/* ---- nonblocking calls ---- */

int mca_coll_mleader_request_start(const mca_coll_mleader_call_t *call, ompi_request_t **handle)
{
    request_t *request = new_request(call, false);
    const int rc = NULL == request ? OMPI_ERR_OUT_OF_RESOURCE : keep(request);

    if (OMPI_SUCCESS != rc) {
        mca_coll_mleader_shared_skip(call->memory, mca_coll_mleader_slices(call));
    }
    return mca_common_colltools_task_hand_out((mca_common_colltools_task_t *) request, rc, handle);
}

/* ---- persistent requests ---- */

/* Chooses the variant and makes its segments; if there are none, chooses a variant without. */
static int make_segments(request_t *request, const mca_coll_mleader_params_t *params,
                       const mca_coll_mleader_module_t *module)
{
    mca_coll_mleader_call_t *call = &request->call;

    call->memory = &request->memory;
    mca_coll_mleader_decide(call, params, mca_coll_mleader_segment_size() / 2);
    const int rc = mca_coll_mleader_shared_make(call->memory, module, call->comm,
                                                mca_coll_mleader_half_wanted(call));
    if (OMPI_SUCCESS == rc && !call->memory->there) {
        mca_coll_mleader_decide(call, params, 0);
    }
    return rc;
}

int mca_coll_mleader_request_make(const mca_coll_mleader_call_t *call,
                                  const mca_coll_mleader_params_t *params,
                                  const mca_coll_mleader_module_t *module,
                                  ompi_request_t **handle)
{
    request_t *request = new_request(call, true);
    int rc = NULL == request ? OMPI_ERR_OUT_OF_RESOURCE : make_segments(request, params, module);

    if (OMPI_SUCCESS == rc) {
        mca_coll_mleader_report(&request->call);
        rc = keep(request);
    }
    return mca_common_colltools_task_hand_out((mca_common_colltools_task_t *) request, rc, handle);
}
