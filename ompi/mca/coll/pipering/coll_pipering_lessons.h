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

#include "coll_pipering.h"
#include "ompi/mca/common/irregular/common_irregular_agree.h"

BEGIN_C_DECLS

/** What ranks saw in a lesson, those of large communicators a few ranks a place. */
#define MCA_COLL_PIPERING_SAMPLES 64
typedef struct mca_coll_pipering_samples_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_SAMPLES];
    float time; /**< seconds of the whole call on the slowest rank; 0: nobody knows */
} mca_coll_pipering_samples_t;

/** A lesson while its ranks tell each other what they saw. */
typedef struct mca_coll_pipering_lesson_t {
    mca_coll_pipering_samples_t samples;
    mca_common_irregular_agreement_t agreement;
} mca_coll_pipering_lesson_t;

/** What calls have taught of links between nodes; what the setup found before any did. */
const mca_coll_pipering_rates_t *
mca_coll_pipering_lessons_rates(const mca_coll_pipering_module_t *module);

/** Lessons that are over; equal on all ranks between two calls in program order. */
unsigned mca_coll_pipering_lessons_over(const mca_coll_pipering_module_t *module);

/** What calls like this one, about so many bytes, have shown of the model; NULL: nothing. */
const mca_coll_pipering_factors_t *
mca_coll_pipering_lessons_factors(const mca_coll_pipering_module_t *module,
                                  const mca_coll_pipering_key_t *key, size_t total);

/** A blocking call about so many bytes could teach, and nothing is known yet. */
bool mca_coll_pipering_lessons_wanted(const mca_coll_pipering_module_t *module,
                                      const mca_coll_pipering_params_t *params, size_t total);

/**
 * Counts a blocking call; *teaches: it is one that teaches, the first, second, fourth, ... of
 * those that are like it. OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_lessons_count(mca_coll_pipering_module_t *module,
                                    const mca_coll_pipering_key_t *key, size_t total,
                                    bool *teaches);

/**
 * The block size that such a call is to take in place of `block_size`, which makes blocks of
 * `length` bytes on average of `total`.
 */
size_t mca_coll_pipering_lessons_vary(const mca_coll_pipering_module_t *module, size_t block_size,
                                      size_t length, size_t total);

/**
 * Ranks wait for each other before such a call, so that a late one does not count as a slow call;
 * not before the first lesson of all. Then the call's time begins.
 */
int mca_coll_pipering_lessons_meet(mca_coll_pipering_module_t *module, ompi_communicator_t *comm);

/** Whether such a call is to be tried by the module below, or by this one if it left it below. */
bool mca_coll_pipering_lessons_turn(const mca_coll_pipering_module_t *module,
                                    ompi_communicator_t *comm,
                                    const mca_coll_pipering_plan_t *plan);

/** A lesson with all memory that it will want, NULL: no memory. */
mca_coll_pipering_lesson_t *mca_coll_pipering_lesson_new(const mca_coll_pipering_module_t *module);

/** Frees a lesson (NULL: nothing), whatever became of it. */
void mca_coll_pipering_lesson_free(mca_coll_pipering_lesson_t *lesson);

/**
 * Ranks tell each other what they saw in a call that teaches, zeros for nothing: the rate of
 * the stream that came in, and the seconds that the call took.
 */
void mca_coll_pipering_lesson_begin(mca_coll_pipering_lesson_t *lesson,
                                    mca_coll_pipering_rate_t rate, double time);

/**
 * Moves this on without waiting; true: it is over, with its error in *rc; without one calls from
 * now on are planned by what was seen of this plan.
 */
bool mca_coll_pipering_lesson_end(mca_coll_pipering_module_t *module,
                                  mca_coll_pipering_lesson_t *lesson,
                                  const mca_coll_pipering_plan_t *plan, int *rc);

/**
 * A call that teaches is left to the module below: from here to
 * mca_coll_pipering_lessons_below, which the caller of that module passes through with its
 * error, it is timed. OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_lessons_begin_below(mca_coll_pipering_module_t *module,
                                          ompi_communicator_t *comm,
                                          const mca_coll_pipering_plan_t *plan);
int mca_coll_pipering_lessons_end_below(mca_coll_pipering_module_t *module, int rc);

static inline int mca_coll_pipering_lessons_below(mca_coll_pipering_module_t *module, int rc)
{
    return NULL == module->lessons ? rc : mca_coll_pipering_lessons_end_below(module, rc);
}

void mca_coll_pipering_lessons_free(mca_coll_pipering_module_t *module);

END_C_DECLS

#endif
