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
 * What ranks tell each other before a call goes along a mesh, where variables want that: that all
 * of them are there (mesh_barrier), and whether all buffers are contiguous (mesh_decision); if one
 * is not, the call goes along a ring or a chain. Both are as on BlueGene/L, to compare with; by
 * default the bytes of a call decide, and nothing is said.
 *
 * Almasi et al., section 2.3, global algorithm decisions and unexpected messages; 5.1.
 */

#include "coll_pipering_request.h"

#include "ompi/mca/common/irregular/common_irregular_agree.h"

#include <stdlib.h>

struct mca_coll_pipering_meeting_t {
    mca_common_irregular_agreement_t agreement;
    int32_t contiguous; /* 1: all buffers are, as far as ranks have told each other */
};

static bool is_global(const mca_coll_pipering_request_t *request)
{
    return MCA_COLL_PIPERING_DECISION_GLOBAL == request->key.params.mesh_decision;
}

bool mca_coll_pipering_request_may_meet(const mca_coll_pipering_request_t *request)
{
    return request->key.params.mesh_barrier || is_global(request);
}

bool mca_coll_pipering_request_meets(const mca_coll_pipering_request_t *request)
{
    return mca_coll_pipering_request_may_meet(request) && NULL != request->plan->row->room;
}

static bool is_contiguous(const mca_coll_pipering_layout_t *layout)
{
    return NULL == layout->type
           || opal_datatype_is_contiguous_memory_layout(&layout->type->super, 2);
}

static void merge(void *value, const void *other)
{
    *(int32_t *) value &= *(const int32_t *) other;
}

static int begin_meeting(mca_coll_pipering_request_t *request, int tag)
{
    mca_coll_pipering_meeting_t *meeting = malloc(sizeof(*meeting));

    if (NULL == meeting) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    const int rc = mca_common_irregular_agreement_init(&meeting->agreement, &request->caller, tag,
                                                       sizeof(meeting->contiguous));
    if (OMPI_SUCCESS != rc) {
        free(meeting);
        return rc;
    }
    meeting->contiguous = is_contiguous(&request->call.send)
                          && is_contiguous(&request->call.recv);
    mca_common_irregular_combine(&meeting->agreement, merge, &meeting->contiguous);
    request->meeting = meeting;
    return OMPI_SUCCESS;
}

void mca_coll_pipering_request_part(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_meeting_t *meeting = request->meeting;

    request->meeting = NULL;
    if (NULL != meeting && !mca_common_irregular_agreement_fini(&meeting->agreement)) {
        free(meeting);
    }
}

/* The best plan that does not go along the mesh; nobody else can serve the call any more. */
static int leave_mesh(mca_coll_pipering_request_t *request)
{
    mca_coll_pipering_plan_release(request->plan);
    request->plan = NULL;
    request->key.off_mesh = request->key.must_take = true;
    return mca_coll_pipering_plan_get(request->call.context, &request->key, NULL, &request->plan);
}

bool mca_coll_pipering_request_meet(mca_coll_pipering_request_t *request, int tag, int *steps,
                                    int *rc)
{
    if (request->met || !mca_coll_pipering_request_meets(request)) {
        return true;
    }
    if (NULL == request->meeting) {
        *rc = begin_meeting(request, tag);
        if (OMPI_SUCCESS != *rc) {
            return true;
        }
    }
    if (!mca_common_irregular_agreement_move(&request->meeting->agreement, steps)) {
        return false;
    }
    const bool leaves = is_global(request) && 0 == request->meeting->contiguous;
    *rc = request->meeting->agreement.schedule.error;
    mca_coll_pipering_request_part(request);
    request->met = true;
    if (OMPI_SUCCESS == *rc && leaves) {
        *rc = leave_mesh(request);
    }
    return true;
}
