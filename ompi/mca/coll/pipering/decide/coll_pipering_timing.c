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
 * The agreement of coll_pipering_timing.h, as a task that makes progress while this rank waits.
 */

#include "coll_pipering_timing.h"

#include "coll_pipering_setup.h"

#include <math.h>
#include <string.h>

static void construct_timing(mca_coll_pipering_timing_t *timing)
{
    memset(&timing->agreement, 0, sizeof(timing->agreement));
}

static void destruct_timing(mca_coll_pipering_timing_t *timing)
{
    (void) mca_common_irregular_agreement_fini(&timing->agreement);
}

OBJ_CLASS_INSTANCE(mca_coll_pipering_timing_t, mca_common_irregular_task_t, construct_timing,
                   destruct_timing);

static void merge_times(void *value, const void *other)
{
    double *mine = value;
    const double *its = other;

    *mine = fmax(*mine, *its);
}

static int start_timing(mca_common_irregular_task_t *task)
{
    mca_coll_pipering_timing_t *timing = (mca_coll_pipering_timing_t *) task;

    mca_common_irregular_combine(&timing->agreement, merge_times, &timing->time);
    mca_common_irregular_task_activate(task);
    (void) mca_common_irregular_task_progress();
    return OMPI_SUCCESS;
}

static bool advance_timing(mca_common_irregular_task_t *task, int *steps, int *rc)
{
    mca_coll_pipering_timing_t *timing = (mca_coll_pipering_timing_t *) task;
    const bool over = mca_common_irregular_agreement_move(&timing->agreement, steps);

    *rc = timing->agreement.schedule.error;
    return over;
}

static const mca_common_irregular_task_kind_t timing_kind = {.start = start_timing,
                                                             .advance = advance_timing};

mca_coll_pipering_timing_t *mca_coll_pipering_timing_new(mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_timing_t *timing = OBJ_NEW(mca_coll_pipering_timing_t);

    if (NULL != timing) {
        mca_common_irregular_task_init(&timing->super, &timing_kind, context->comm, false);
        const mca_common_irregular_caller_t caller = {
            .owner = "pipering", .name = "lesson", .comm = context->comm};
        if (OMPI_SUCCESS
            != mca_common_irregular_agreement_init(&timing->agreement, &caller,
                                                   mca_coll_pipering_setup_tag(context->setup),
                                                   sizeof(timing->time))) {
            mca_common_irregular_task_free(&timing->super);
            timing = NULL;
        }
    }
    return timing;
}

int mca_coll_pipering_timing_agree(mca_coll_pipering_timing_t *timing, double *time)
{
    timing->time = *time;
    OBJ_RETAIN(timing);
    const int rc = mca_common_irregular_task_run(&timing->super);
    *time = timing->time;
    OBJ_RELEASE(timing);
    return rc;
}
