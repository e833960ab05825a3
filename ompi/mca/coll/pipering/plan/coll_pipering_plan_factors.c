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
 * Factors: how much longer whole calls take than the model says.
 *
 * Rates (coll_pipering_plan_rates.c) are the costs of a link in a stream. A call takes
 * longer than its streams: a rendezvous stops a link that has no other block to send, ranks
 * wait for their processors, and the model does not know all paths of the network. So the
 * measured time of whole calls is compared with the modelled one, for each class of block
 * sizes, and the time of the module below is measured too:
 *
 *     measured / modelled
 *       1.5  |           *  *       <- the model is multiplied by this: it chooses other sizes
 *       1    |- *  *  *  - - - - -  <- within noise: the model is used as it is
 *            +--------------------- block size
 *
 * A class without a measurement keeps its modelled time. So if the chosen class turns out slower
 * than modelled, the next best one is tried, until one is as fast as modelled. Calls that
 * pipelines have served stay with them until the module below has been measured.
 *
 * A lesson lets the module below serve where its modelled time is at most twice the pipeline's
 * time, or f * f times it where the model is wrong by a factor f, too high or too low. Once both
 * have been measured, their measured seconds decide, since modelled ones change with every
 * learnt rate. While the two are close, every other lesson takes the one that does not serve
 * calls. A small call that the module below serves stays there until a lesson has tried a pipeline,
 * and found it faster.
 *
 * Limits: one factor for all calls of a kind within one octave of bytes in all, and one octave
 * of the ratio of all bytes to the largest contribution.
 */

#include <math.h>

#include "coll_pipering_plan_factors.h"

/* The model counts as right up to this factor: noise changes times by as much. */
#define BELIEVED 1.15

/* The model may be too low by this factor for all classes alike. */
#define TOO_LOW 1.1

/*
 * Calls that pipelines have served stay with them until the module below has been measured,
 * unless the pipeline's modelled time is above the module's by more than this factor.
 */
#define KEPT 1.3

/*
 * The module below is tried once if its modelled time is at most so many times the pipeline's:
 * the model may be right about pipelines and wrong about other algorithms.
 */
#define TRIED 2

/* Times are close up to this factor: noise may hide which one is better. */
#define CLOSE 1.5

/* Calls that confirm a measurement: a single one may have met a pause of the network. */
#define CONFIRMED 2

/* A longer measurement has the weight 1 / LASTING, since pauses make calls longer. */
#define LASTING 3

static void keep(float *kept, double seen)
{
    if (0 == *kept || seen < *kept) {
        *kept = (float) seen;
    } else {
        *kept *= (float) pow(seen / *kept, 1.0 / LASTING);
    }
}

void mca_coll_pipering_factors_add(mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double measured)
{
    const int class = mca_coll_pipering_rate_class((size_t) forecast->block_size);

    if (!(0 < forecast->time && 0 < measured && 0 < forecast->bytes)) {
        return;
    }
    keep(&factors->of[class], measured / forecast->time);
    keep(&factors->took[class], measured / forecast->bytes);
    factors->times[class] += CONFIRMED > factors->times[class];
}

void mca_coll_pipering_factors_add_below(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured)
{
    if (0 < bytes && 0 < measured) {
        keep(&factors->below, measured / bytes);
    }
}

/* The least known factor; 0: none is known. */
static float least_factor(const mca_coll_pipering_factors_t *factors)
{
    float least = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        if (0 < factors->of[i] && (0 == least || factors->of[i] < least)) {
            least = factors->of[i];
        }
    }
    return least;
}

/*
 * A model that is too high, or a little too low, is so for all classes alike. So a class is
 * weighed by its factor in relation to the least known one.
 */
double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time)
{
    const float least = NULL == factors ? 0 : least_factor(factors);

    if (0 == least) {
        return time;
    }
    const int class = mca_coll_pipering_rate_class((size_t) block_size);
    const float known = CONFIRMED == factors->times[class] ? factors->of[class] : 0;
    const double more = 0 < known ? known / fmin(TOO_LOW, least) : 1;
    return more > BELIEVED ? more * time : time;
}

/*
 * The measured seconds of this class, if two calls confirm them or if they are below the model: a
 * single longer call may have met a pause. Else the modelled seconds, times the least known factor
 * where the model is too high for all classes.
 * Of a small call any measured seconds, or the modelled ones times the least known factor; infinite
 * if there is none: ranks that share processors take several times what the model says, so it must
 * not be compared with the measured time of the module below.
 */
static double own_time(const mca_coll_pipering_factors_t *factors,
                       const mca_coll_pipering_forecast_t *forecast)
{
    const int class = mca_coll_pipering_rate_class((size_t) forecast->block_size);
    const float known = factors->of[class], least = least_factor(factors);

    if (0 < known && (forecast->small || CONFIRMED == factors->times[class] || 1 > known)) {
        return factors->took[class] * forecast->bytes;
    }
    if (forecast->small) {
        return 0 < least ? least * forecast->time : HUGE_VAL;
    }
    return 0 < least && 1 > least ? least * forecast->time : forecast->time;
}

bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double slack)
{
    if (NULL == factors || 0 == factors->below) {
        const bool served = NULL != factors && 0 < least_factor(factors);
        return forecast->time <= slack * forecast->rival_time * (served ? KEPT : 1);
    }
    return own_time(factors, forecast) <= factors->below * forecast->bytes;
}

bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors,
                                     const mca_coll_pipering_forecast_t *forecast,
                                     unsigned lesson)
{
    const double own = own_time(factors, forecast);

    if (0 == factors->below) {
        const double wrong = fmax(own / forecast->time, forecast->time / own);
        return 0 < least_factor(factors)
               && forecast->rival_time < fmax(TRIED, wrong * wrong) * own;
    }
    const double below = factors->below * forecast->bytes;
    if (HUGE_VAL == own) {
        return forecast->time < below;
    }
    const double ratio = own / below;
    return 0 != lesson % 2 && ratio < CLOSE && ratio > 1 / CLOSE;
}
