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
 * Rates (coll_pipering_plan_rates.c) show what a link costs in a stream. A call is more
 * than that: blocks that are asked for while nothing else is there to be sent, ranks that
 * wait for their processors, paths that the model does not know. So the time of whole calls
 * is compared with the model's, for each class of block sizes, and for the module below:
 *
 *     measured / modelled
 *       1.5  |           *  *       <- weighed by this: other blocks are chosen
 *       1    |- *  *  *  - - - - -  <- within noise of the model: believed
 *            +--------------------- block size
 *
 * Unknown classes are believed, so one that disappoints makes room for the next best until one
 * keeps what the model promises. Calls that pipelines serve stay with them until the module
 * below was measured.
 * A lesson tries the module below where that might take at most twice as long, or, where the
 * model is wrong by more than that, be it too high or too low, its square. Then what was
 * measured decides between the two, in seconds, as the model changes with what is learnt of
 * links; as long as they are not far apart every other lesson takes the one that calls do not
 * take.
 *
 * Limits: one factor for all calls of a kind within an octave of bytes, and an octave of what
 * the largest contribution is of them.
 */

#include <math.h>

#include "coll_pipering_plan.h"

/* Within this the model is right: calls differ as much by noise. */
#define BELIEVED 1.15

/* What the model may be too low for all classes. */
#define TOO_LOW 1.1

/*
 * Calls of this kind that pipelines have served stay with them until the module below was
 * measured, unless the model says that it is so many times as fast.
 */
#define KEPT 1.3

/*
 * The module below is tried once where the model says that it takes at most so many times as
 * long: the model may be right about pipelines, and wrong about others.
 */
#define TRIED 2

/* Of two that are no further apart either may be the better one. */
#define CLOSE 1.5

/* Two calls show more than a pause of the network. */
#define CONFIRMED 2

/* Of several measurements a longer one counts as one of so many: pauses make calls longer. */
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

/* The least that is known; 0: nothing is. */
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
 * Where the model is too high for a class, or a little too low, it is so for all, so what counts
 * is how much more time a class takes than the best known one.
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
 * What was measured of this class; else the model, less what it is too high for all. A single
 * call that took longer may have met a pause.
 */
static double own_time(const mca_coll_pipering_factors_t *factors,
                       const mca_coll_pipering_forecast_t *forecast)
{
    const int class = mca_coll_pipering_rate_class((size_t) forecast->block_size);
    const float known = factors->of[class], least = least_factor(factors);

    if (0 < known && (CONFIRMED == factors->times[class] || 1 > known)) {
        return factors->took[class] * forecast->bytes;
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
    const double ratio = own / (factors->below * forecast->bytes);
    return 0 != lesson % 2 && ratio < CLOSE && ratio > 1 / CLOSE;
}
