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

/** Who serves a call. */
typedef enum {
    MCA_COLL_PIPERING_BY_ANY, /**< whoever is best */
    MCA_COLL_PIPERING_BY_PIPELINE,
    MCA_COLL_PIPERING_BY_OTHER, /**< the other way of a collective: rounds of a gather, the ring
                                     of an allreduce */
    MCA_COLL_PIPERING_BY_BELOW, /**< the module below */
    MCA_COLL_PIPERING_SERVERS
} mca_coll_pipering_server_t;

/**
 * Measurements of whole calls, those of pipelines by the class of their block size; 0: not
 * measured.
 */
typedef struct mca_coll_pipering_factors_t {
    float of[MCA_COLL_PIPERING_RATES];      /**< measured time over modelled time */
    float took[MCA_COLL_PIPERING_RATES];    /**< measured seconds a byte */
    float other;                            /**< seconds a byte of the other way */
    float below;                            /**< seconds a byte of the module below */
    uint8_t times[MCA_COLL_PIPERING_RATES]; /**< measured calls: 0, 1, or 2 for more */
    uint8_t times_below;                    /**< likewise, of the module below */
} mca_coll_pipering_factors_t;

/** The modelled times of a call. */
typedef struct mca_coll_pipering_forecast_t {
    double bytes;       /**< in all */
    double block_size;  /**< bytes, of the pipeline */
    double time;        /**< seconds of the pipeline with such blocks */
    double other_time;  /**< seconds of the other way; 0: there is none to try */
    double rival_time;  /**< seconds of the module below */
} mca_coll_pipering_forecast_t;

/**
 * Adds a call that a pipeline served in `measured` seconds; of several calls the shorter ones count
 * most.
 */
void mca_coll_pipering_factors_add(mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double measured);

/** Adds a call of `bytes` bytes that the other way, or the module below, served; likewise. */
void mca_coll_pipering_factors_add_other(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured);
void mca_coll_pipering_factors_add_below(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured);

/** `time`, the modelled seconds with such blocks, weighed by `factors` (NULL: not weighed). */
double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time);

/**
 * Whether a single measurement, which may have met a pause, says that blocks of this class are
 * slower than modelled: a second one decides.
 */
bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors, double block_size);

/**
 * Whether a pipeline should serve a call, and not the module below: by the measured times of both
 * where the module below was measured; else if the forecast is at most `slack` times the modelled
 * rival time, or a little more where pipelines served such calls before. Without factors (NULL) the
 * model decides.
 */
bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double slack);

/**
 * The same of the other way. Before the module below was measured, the modelled time of the other
 * way counts; an infinite `slack`: it pays then, whatever the model says.
 */
bool mca_coll_pipering_factors_other_pays(const mca_coll_pipering_factors_t *factors,
                                          const mca_coll_pipering_forecast_t *forecast,
                                          double slack);

/**
 * Whether the other way should serve a call, and not the pipeline of the forecast: by the measured
 * times of both, or since it alone was measured; as the model says (`modelled`) until it was, or
 * without factors (NULL).
 */
bool mca_coll_pipering_factors_other_beats(const mca_coll_pipering_factors_t *factors,
                                           const mca_coll_pipering_forecast_t *forecast,
                                           bool modelled);

/**
 * Who should serve a lesson about such a call, which `serving` would serve: another one, if the
 * model may be wrong about it, or if the measured times of both are close. `lesson` counts the
 * lessons, `calls` the calls of the kind so far.
 */
mca_coll_pipering_server_t
mca_coll_pipering_factors_turn(const mca_coll_pipering_factors_t *factors,
                               const mca_coll_pipering_forecast_t *forecast,
                               mca_coll_pipering_server_t serving, unsigned lesson, unsigned calls);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
