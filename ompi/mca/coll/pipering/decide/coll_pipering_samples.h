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
 * Samples: what the ranks of a lesson have measured, and how they tell each other.
 */

#ifndef MCA_COLL_PIPERING_SAMPLES_H
#define MCA_COLL_PIPERING_SAMPLES_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_context.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_rates.h"
#include "ompi/mca/common/irregular/common_irregular_agree.h"

BEGIN_C_DECLS

/** The rates that ranks measured in a lesson; in large communicators a few ranks share an entry. */
#define MCA_COLL_PIPERING_SAMPLES 64
typedef struct mca_coll_pipering_samples_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_SAMPLES];
    float time; /**< seconds of the whole call on the slowest rank; 0: not measured */
} mca_coll_pipering_samples_t;

/** A lesson's samples while ranks tell each other what they saw. */
typedef struct mca_coll_pipering_lesson_record_t {
    mca_coll_pipering_samples_t samples;
    mca_common_irregular_agreement_t agreement;
} mca_coll_pipering_lesson_record_t;

/** The record of a lesson, with all memory that it will need; NULL: no memory. */
mca_coll_pipering_lesson_record_t *
mca_coll_pipering_lesson_new(const mca_coll_pipering_context_t *context);

/** Frees a record (NULL: nothing), whatever became of its lesson. */
void mca_coll_pipering_lesson_free(mca_coll_pipering_lesson_record_t *record);

/**
 * Begins the exchange of measurements after a lesson: `rate` of the stream that this rank
 * received, and `time`, the seconds of the call; zeros: not measured.
 */
void mca_coll_pipering_lesson_begin(mca_coll_pipering_lesson_record_t *record,
                                    mca_coll_pipering_rate_t rate, double time);

/** The median of the rates, the larger of two in the middle; zeros: there is none. Sorts them. */
mca_coll_pipering_rate_t mca_coll_pipering_samples_median(mca_coll_pipering_samples_t *samples);

END_C_DECLS

#endif
