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

#include "coll_pipering.h"
#include "ompi/mca/common/irregular/common_irregular_agree.h"

BEGIN_C_DECLS

/** The rates that ranks measured in a lesson; in large communicators a few ranks share an entry. */
#define MCA_COLL_PIPERING_SAMPLES 64
typedef struct mca_coll_pipering_samples_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_SAMPLES];
    float time; /**< seconds of the whole call on the slowest rank; 0: not measured */
} mca_coll_pipering_samples_t;

/** A lesson while its ranks exchange their measurements. */
typedef struct mca_coll_pipering_lesson_t {
    mca_coll_pipering_samples_t samples;
    mca_common_irregular_agreement_t agreement;
} mca_coll_pipering_lesson_t;

/** The learnt rates of links between nodes; before the first lesson those of the setup. */
const mca_coll_pipering_rates_t *
mca_coll_pipering_lessons_rates(const mca_coll_pipering_module_t *module);

/** Number of lessons that are over; equal on all ranks between two calls in program order. */
unsigned mca_coll_pipering_lessons_over(const mca_coll_pipering_module_t *module);

/** The factors of calls like this one, of `total` bytes; NULL: there are none. Borrowed. */
const mca_coll_pipering_factors_t *
mca_coll_pipering_lessons_factors(const mca_coll_pipering_module_t *module,
                                  const mca_coll_pipering_key_t *key, size_t total);

/** Whether a blocking call of `total` bytes could teach and no rate is known yet. */
bool mca_coll_pipering_lessons_wanted(const mca_coll_pipering_module_t *module,
                                      const mca_coll_pipering_params_t *params, size_t total);

/**
 * Counts a blocking call. *teaches: it is a lesson, the first, second, fourth, ... call of its
 * series. OMPI_ERR_OUT_OF_RESOURCE: no memory.
 */
int mca_coll_pipering_lessons_count(mca_coll_pipering_module_t *module,
                                    const mca_coll_pipering_key_t *key, size_t total,
                                    bool *teaches);

/**
 * The block size of a lesson in place of the best one, `block_size`, with which `total` bytes
 * are cut into blocks of `length` bytes on average.
 */
size_t mca_coll_pipering_lessons_vary(const mca_coll_pipering_module_t *module, size_t block_size,
                                      size_t length, size_t total);

/**
 * Waits before a lesson until all ranks have entered the call, so that a late rank does not count
 * as a slow call; before the first lesson of all it returns at once. The measured time begins
 * afterwards.
 */
int mca_coll_pipering_lessons_meet(mca_coll_pipering_module_t *module, ompi_communicator_t *comm);

/** Whether the module that the plan did not choose, this one or the one below, serves a lesson. */
bool mca_coll_pipering_lessons_turn(const mca_coll_pipering_module_t *module,
                                    ompi_communicator_t *comm,
                                    const mca_coll_pipering_plan_t *plan);

/** A lesson with all memory that it needs; NULL: no memory. */
mca_coll_pipering_lesson_t *mca_coll_pipering_lesson_new(const mca_coll_pipering_module_t *module);

/** Frees a lesson (NULL: nothing) in any state. */
void mca_coll_pipering_lesson_free(mca_coll_pipering_lesson_t *lesson);

/**
 * Begins the exchange of measurements after a lesson: `rate` of the stream that this rank
 * received, and `time`, the seconds of the call; zeros: not measured.
 */
void mca_coll_pipering_lesson_begin(mca_coll_pipering_lesson_t *lesson,
                                    mca_coll_pipering_rate_t rate, double time);

/**
 * Moves this exchange on without waiting; true: it is over, with its error in *rc. Without an
 * error, later calls are planned with the measurements of this plan.
 */
bool mca_coll_pipering_lesson_end(mca_coll_pipering_module_t *module,
                                  mca_coll_pipering_lesson_t *lesson,
                                  const mca_coll_pipering_plan_t *plan, int *rc);

/**
 * Begins the timing of a lesson that the module below serves. mca_coll_pipering_lessons_below
 * ends it: the caller calls it after that module, with that module's error, and returns its
 * result. OMPI_ERR_OUT_OF_RESOURCE: no memory.
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
