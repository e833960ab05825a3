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
 * Factors: how much longer whole calls take than the model says (plan_factors).
 */

#ifndef MCA_COLL_PIPERING_PLAN_FACTORS_H
#define MCA_COLL_PIPERING_PLAN_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** Classes of block sizes, an octave each, from about 1 KiB on. */
#define MCA_COLL_PIPERING_RATES 12

/** The class of blocks of `block_size` bytes (coll_pipering_plan_rates.c). */
int mca_coll_pipering_rate_class(size_t block_size);

/** Measurements of whole calls, by the class of their block size; 0: not measured. */
typedef struct mca_coll_pipering_factors_t {
    float of[MCA_COLL_PIPERING_RATES];      /**< measured time over modelled time */
    float took[MCA_COLL_PIPERING_RATES];    /**< measured seconds a byte */
    float below;                            /**< seconds a byte of the module below */
    uint8_t times[MCA_COLL_PIPERING_RATES]; /**< measured calls: 0, 1, or 2 for more */
} mca_coll_pipering_factors_t;

/** The modelled times of a call. */
typedef struct mca_coll_pipering_forecast_t {
    double bytes;      /**< in all */
    double block_size; /**< bytes */
    double time;       /**< seconds with such blocks */
    double rival_time; /**< seconds of the module below */
    bool small;        /**< processors may take most of its time, of which the model knows little */
} mca_coll_pipering_forecast_t;

/** Adds a call that took `measured` seconds; of several calls the shorter ones count most. */
void mca_coll_pipering_factors_add(mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double measured);

/** Adds a call of `bytes` bytes that the module below served in `measured` seconds; likewise. */
void mca_coll_pipering_factors_add_below(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured);

/** `time`, the modelled seconds with such blocks, weighed by `factors` (NULL: not weighed). */
double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time);

/**
 * Whether this component should serve a call, and not the module below: by the measured times
 * of both where the module below was measured; else if the forecast is at most `slack` times
 * the modelled rival time, or a little more where this component served such calls before.
 * Without factors (NULL) the model decides.
 */
bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double slack);

/**
 * Whether a lesson should let the other of the two modules serve such a call: the model may be
 * wrong, or the measured times of both are close. `lesson` counts the lessons.
 */
bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors,
                                     const mca_coll_pipering_forecast_t *forecast,
                                     unsigned lesson);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
