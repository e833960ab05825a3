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
 * Lessons: blocking calls whose times are measured to learn the cost of links between nodes.
 */

#ifndef MCA_COLL_PIPERING_LESSONS_H
#define MCA_COLL_PIPERING_LESSONS_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_decide.h"
#include "coll_pipering_samples.h"

BEGIN_C_DECLS

/** The learnt rates of links between nodes; before the first lesson those of the setup. */
const mca_coll_pipering_rates_t *
mca_coll_pipering_lessons_rates(const mca_coll_pipering_context_t *context);

/** Lessons that are over; equal on all ranks between two calls in program order. */
unsigned mca_coll_pipering_lessons_over(const mca_coll_pipering_context_t *context);

/** What calls like this one, whose plan is on its way, have shown of the model; NULL: nothing. */
const mca_coll_pipering_factors_t *
mca_coll_pipering_lessons_factors(const mca_coll_pipering_context_t *context,
                                  const mca_coll_pipering_plan_t *plan);

/**
 * A blocking call about so many bytes could teach, and nothing is known yet. teaches: it has been
 * counted, and is a lesson; a small call is wanted only then.
 */
bool mca_coll_pipering_lessons_wanted(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_params_t *params, size_t total,
                                      bool teaches);

/**
 * Counts a blocking call. *teaches: it is a lesson, the first, second, fourth, ... call of its
 * series; the eighth is the first of small calls, and of broadcasts, reductions and scans that the
 * module below serves. OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_lessons_count(mca_coll_pipering_context_t *context,
                                    const mca_coll_pipering_plan_t *plan, bool *teaches);

/**
 * The block size, in bytes, of a lesson that a plan's algorithm serves, in place of the best one,
 * so that the cost of a block can be told from that of a byte; the best one where a single lesson
 * doubts it.
 */
size_t mca_coll_pipering_lessons_vary(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_plan_t *plan);

/**
 * Waits before a lesson until all ranks have entered the call, so that a late rank does not count
 * as a slow call; before the pipeline that opens connections it returns at once. The measured time
 * begins afterwards.
 */
int mca_coll_pipering_lessons_meet(mca_coll_pipering_context_t *context);

/** Who serves a lesson about such a call: who serves the others, or one to be tried. */
mca_coll_pipering_server_t
mca_coll_pipering_lessons_turn(const mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_plan_t *plan);

/**
 * Moves the exchange of a lesson's samples on without waiting; true: it is over, with its error in
 * *rc. Without an error, later calls are planned with the measurements of this plan.
 */
bool mca_coll_pipering_lesson_end(mca_coll_pipering_context_t *context,
                                  mca_coll_pipering_lesson_record_t *record,
                                  const mca_coll_pipering_plan_t *plan, int *rc);

/**
 * Begins the timing of a lesson that the module below serves, unless it serves such calls anyway
 * and was measured before: a lesson takes time, and would not change that.
 * mca_coll_pipering_lessons_below ends it: the caller calls it after that module, with that
 * module's error, and returns its result. OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_lessons_begin_below(mca_coll_pipering_context_t *context,
                                          const mca_coll_pipering_plan_t *plan);
int mca_coll_pipering_lessons_end_below(mca_coll_pipering_context_t *context, int rc);

static inline int mca_coll_pipering_lessons_below(mca_coll_pipering_context_t *context, int rc)
{
    return NULL == context->lessons ? rc : mca_coll_pipering_lessons_end_below(context, rc);
}

void mca_coll_pipering_lessons_free(mca_coll_pipering_context_t *context);

END_C_DECLS

#endif
