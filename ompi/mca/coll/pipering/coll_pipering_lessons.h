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
 * Lessons: blocking calls that teach what links between nodes cost.
 */

#ifndef MCA_COLL_PIPERING_LESSONS_H
#define MCA_COLL_PIPERING_LESSONS_H

#include "coll_pipering_compat.h"

#include "coll_pipering_decide.h"
#include "coll_pipering_task.h"

BEGIN_C_DECLS

/** What ranks saw in a lesson, those of large communicators a few ranks a place. */
#define MCA_COLL_PIPERING_SAMPLES 64
typedef struct mca_coll_pipering_samples_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_SAMPLES];
    float time; /**< seconds of the whole call on the slowest rank; 0: nobody knows */
} mca_coll_pipering_samples_t;

/** What calls have taught of links between nodes; what the setup found before any did. */
const mca_coll_pipering_rates_t *
mca_coll_pipering_lessons_rates(const mca_coll_pipering_context_t *context);

/** Lessons that are over; equal on all ranks between two calls in program order. */
unsigned mca_coll_pipering_lessons_over(const mca_coll_pipering_context_t *context);

/** What calls like this one, whose plan is on its way, have shown of the model; NULL: nothing. */
const mca_coll_pipering_factors_t *
mca_coll_pipering_lessons_factors(const mca_coll_pipering_context_t *context,
                                  const mca_coll_pipering_plan_t *plan);

/** A blocking call about so many bytes could teach, and nothing is known yet. */
bool mca_coll_pipering_lessons_wanted(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_params_t *params, size_t total);

/**
 * Counts a blocking call; *teaches: it is one that teaches, the first, second, fourth, ... of
 * those that are like it. OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_lessons_count(mca_coll_pipering_context_t *context,
                                    const mca_coll_pipering_plan_t *plan, bool *teaches);

/**
 * The block size that such a call is to take in place of `block_size`, which makes blocks of
 * `length` bytes on average of `total`.
 */
size_t mca_coll_pipering_lessons_vary(const mca_coll_pipering_context_t *context, size_t block_size,
                                      size_t length, size_t total);

/**
 * Ranks wait for each other before such a call, so that a late one does not count as a slow call;
 * not before the first lesson of all. Then the call's time begins.
 */
int mca_coll_pipering_lessons_meet(mca_coll_pipering_context_t *context);

/** Whether such a call is to be tried by the module below, or by this one if it left it below. */
bool mca_coll_pipering_lessons_turn(const mca_coll_pipering_context_t *context,
                                    const mca_coll_pipering_plan_t *plan);

/**
 * Ranks tell each other what they saw in a call that teaches, zeros for nothing: the rate of
 * the stream that came in, and the seconds that the call took. `samples` is borrowed until
 * mca_coll_pipering_lessons_end returns true.
 */
void mca_coll_pipering_lessons_begin(mca_coll_pipering_context_t *context,
                                     mca_coll_pipering_samples_t samples[3],
                                     mca_coll_pipering_rate_t rate, double time);

/**
 * Moves this on without waiting; true: it is over, and calls from now on are planned by what
 * was seen of this plan. mca_coll_pipering_setup_error tells of a failure.
 */
bool mca_coll_pipering_lessons_end(mca_coll_pipering_context_t *context,
                                   mca_coll_pipering_samples_t *samples,
                                   const mca_coll_pipering_plan_t *plan);

/**
 * A call that teaches is left to the module below: from here to
 * mca_coll_pipering_lessons_below, which the caller of that module passes through with its
 * error, it is timed. OMPI_ERR_OUT_OF_RESOURCE: no memory.
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
