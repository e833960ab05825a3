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
 * Unknown classes are believed, so a class that disappoints makes room for the next best
 * until one keeps what the model promises. Where none does the module below has the call.
 * Where the model is wrong by more than noise, be it too high or too low, and by twice as much
 * (as logarithms go) the module below might be faster, a lesson tries that. Then what was
 * measured decides between the two; as long as they are not far apart every other lesson
 * takes the one that calls do not take.
 *
 * Limits: one factor for all calls of a kind within an octave of bytes, however they are
 * distributed.
 */

#include <math.h>

#include "coll_pipering_plan.h"

/* Within this the model is right: calls differ as much by noise. */
#define BELIEVED 1.2

/* Of two that are no further apart either may be the better one. */
#define CLOSE 1.5

/* Of several measurements a longer one counts as one of so many: pauses make calls longer. */
#define LASTING 3

void mca_coll_pipering_factor_add(float *factor, double modelled, double measured)
{
    const double seen = measured / modelled;

    if (!(0 < modelled && 0 < measured)) {
        return;
    }
    if (0 == *factor || seen < *factor) {
        *factor = (float) seen;
    } else {
        *factor *= (float) pow(seen / *factor, 1.0 / LASTING);
    }
}

/* The least that is known, 0: nothing is. */
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
 * Where the model is too high for a class it is so for all, so that those keep less than it
 * promises that come less below it than others.
 */
double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time)
{
    if (NULL == factors) {
        return time;
    }
    const float factor = factors->of[mca_coll_pipering_rate_class((size_t) block_size)];
    const double more = factor / fmin(1, 0 < factor ? least_factor(factors) : 1);
    return more > BELIEVED ? more * time : time;
}

/* What was measured of this class; else the model, less what it is too high for all. */
static double own_time(const mca_coll_pipering_factors_t *factors, double block_size, double time)
{
    const float known = factors->of[mca_coll_pipering_rate_class((size_t) block_size)];
    const float least = least_factor(factors);

    return time * (0 < known ? known : 0 < least ? fmin(1, least) : 1);
}

bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors, double block_size,
                                   double time, double rival_time, double slack)
{
    if (NULL == factors || 0 == factors->below) {
        return mca_coll_pipering_factors_time(factors, block_size, time) <= slack * rival_time;
    }
    return own_time(factors, block_size, time) <= factors->below * rival_time;
}

bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors, double block_size,
                                     double time, double rival_time, unsigned lesson)
{
    const double own = own_time(factors, block_size, time);

    if (0 == factors->below) {
        const double wrong = fmax(own / time, time / own);
        return wrong > BELIEVED && rival_time < wrong * wrong * own;
    }
    const double ratio = own / (factors->below * rival_time);
    return 0 != lesson % 2 && ratio < CLOSE && ratio > 1 / CLOSE;
}
