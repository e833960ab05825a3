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
 * Three may serve a call: a pipeline, another way of this component (an exchange in rounds, of a
 * gather; the ring, of an allreduce), the module below. Once two of them have been measured, their
 * measured seconds decide, since modelled ones change with every learnt rate. So a lesson takes, in
 * this order,
 *
 *     1. the one that serves, until it has been measured
 *     2. the module below, where its modelled time is at most twice the measured one, or f * f
 *        times that where the model is wrong by a factor f, too high or too low
 *     3. one that was not measured yet, where its modelled time is at most twice the least measured
 *        one; if the model is too high for all that were measured, it is so for this one
 *     4. the module below once more, where it may have lost by a pause, or, if that costs little
 *        beside the calls so far, by being new to the communicator
 *     5. every other time the best of the others, unless it is much slower
 *     6. the one that serves; the module below is not measured again then
 *
 * Calls that the module below has served, and was measured to, stay there until a lesson has tried
 * another server, and found it faster.
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
 * Who was not measured yet is tried once if the modelled time is at most so many times that of
 * others: the model may be right about them and wrong about this one.
 */
#define TRIED 2

/* Times are close up to this factor: noise may hide which one is better. */
#define CLOSE 1.5

/* Calls that confirm a measurement: a single one may have met a pause of the network. */
#define CONFIRMED 2

/* A pause makes a call at most so many times as long. */
#define PAUSED 3

/*
 * The first call of an algorithm on a communicator may be longer yet (64 ranks: 40 ms, later 3).
 * Another measurement may cost 1 / REPAID of the time of the calls so far.
 */
#define REPAID 8

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

/* Whether the call had bytes and took time, and so was kept. */
static bool keep_seconds(float *kept, double bytes, double measured)
{
    const bool counts = 0 < bytes && 0 < measured;

    if (counts) {
        keep(kept, measured / bytes);
    }
    return counts;
}

void mca_coll_pipering_factors_add_other(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured)
{
    (void) keep_seconds(&factors->other, bytes, measured);
}

void mca_coll_pipering_factors_add_below(mca_coll_pipering_factors_t *factors, double bytes,
                                         double measured)
{
    factors->times_below += keep_seconds(&factors->below, bytes, measured)
                            && CONFIRMED > factors->times_below;
}

/* The least known value of a class; 0: none is known. */
static float least_of(const float *values)
{
    float least = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_RATES; ++i) {
        if (0 < values[i] && (0 == least || values[i] < least)) {
            least = values[i];
        }
    }
    return least;
}

static float least_factor(const mca_coll_pipering_factors_t *factors)
{
    return least_of(factors->of);
}

/*
 * A model that is too high, or a little too low, is so for all classes alike. So a class that was
 * measured is weighed by its factor in relation to the least known one; 1: within noise.
 */
static double weight_of(const mca_coll_pipering_factors_t *factors, int class)
{
    const double more = factors->of[class] / fmin(TOO_LOW, least_factor(factors));

    return more > BELIEVED ? more : 1;
}

double mca_coll_pipering_factors_time(const mca_coll_pipering_factors_t *factors, double block_size,
                                      double time)
{
    const int class = mca_coll_pipering_rate_class((size_t) block_size);

    return NULL != factors && CONFIRMED == factors->times[class] ? weight_of(factors, class) * time
                                                                 : time;
}

bool mca_coll_pipering_factors_doubt(const mca_coll_pipering_factors_t *factors, double block_size)
{
    const int class = mca_coll_pipering_rate_class((size_t) block_size);

    return 0 < factors->times[class] && CONFIRMED > factors->times[class]
           && 1 < weight_of(factors, class);
}

/*
 * Measured seconds of the pipeline with blocks of this class, or the modelled ones times the least
 * known factor; infinite if there is none: ranks that share processors take several times what the
 * model says, so modelled seconds must not be compared with measured ones. Nor are they more than
 * the least measured ones, since the model prefers this class: a factor of the first lesson was
 * found with default costs, and says nothing about times that are modelled with learnt ones.
 */
static double measured_time(const mca_coll_pipering_factors_t *factors,
                            const mca_coll_pipering_forecast_t *forecast)
{
    const int class = mca_coll_pipering_rate_class((size_t) forecast->block_size);
    const float known = factors->of[class], least = least_factor(factors);

    if (0 < known) {
        return factors->took[class] * forecast->bytes;
    }
    return 0 < least ? fmin(least * forecast->time, least_of(factors->took) * forecast->bytes)
                     : HUGE_VAL;
}

/*
 * What a lesson hopes for: a single measured call may have met a pause, so until a second one
 * confirms it the modelled seconds count if they are less; times the least known factor, where the
 * model is too high for all classes.
 */
static double hoped_time(const mca_coll_pipering_factors_t *factors,
                         const mca_coll_pipering_forecast_t *forecast)
{
    const int class = mca_coll_pipering_rate_class((size_t) forecast->block_size);
    const double measured = measured_time(factors, forecast);
    const double modelled = fmin(1, least_factor(factors)) * forecast->time;

    return CONFIRMED == factors->times[class] ? measured : fmin(measured, modelled);
}

/* Whether a server pays before the module below was measured. */
static bool should_pay(double time, double rival_time, double slack, bool served)
{
    return time <= slack * rival_time * (served ? KEPT : 1);
}

bool mca_coll_pipering_factors_pay(const mca_coll_pipering_factors_t *factors,
                                   const mca_coll_pipering_forecast_t *forecast, double slack)
{
    if (NULL == factors || 0 == factors->below) {
        const bool served = NULL != factors && 0 < least_factor(factors);
        return should_pay(forecast->time, forecast->rival_time, slack, served);
    }
    return measured_time(factors, forecast) <= factors->below * forecast->bytes;
}

bool mca_coll_pipering_factors_other_pays(const mca_coll_pipering_factors_t *factors,
                                          const mca_coll_pipering_forecast_t *forecast,
                                          double slack)
{
    if (NULL == factors || 0 == factors->below) {
        const bool served = NULL != factors && 0 < factors->other;
        return should_pay(forecast->other_time, forecast->rival_time, slack, served);
    }
    return factors->other <= factors->below;
}

bool mca_coll_pipering_factors_other_beats(const mca_coll_pipering_factors_t *factors,
                                           const mca_coll_pipering_forecast_t *forecast,
                                           bool modelled)
{
    if (NULL == factors || 0 == factors->other) {
        return modelled;
    }
    return factors->other * forecast->bytes < measured_time(factors, forecast);
}

/* ---- the turns of lessons ---- */

typedef double seconds_t[MCA_COLL_PIPERING_SERVERS]; /* of each server; 0: unknown */

/* The fastest one other than `but`, of those that are known; BY_ANY: there is none. */
static mca_coll_pipering_server_t fastest(const seconds_t seconds, mca_coll_pipering_server_t but)
{
    mca_coll_pipering_server_t found = MCA_COLL_PIPERING_BY_ANY;

    for (int i = MCA_COLL_PIPERING_BY_PIPELINE; i < MCA_COLL_PIPERING_SERVERS; ++i) {
        if ((int) but != i && 0 < seconds[i]
            && (MCA_COLL_PIPERING_BY_ANY == found || seconds[i] < seconds[found])) {
            found = (mca_coll_pipering_server_t) i;
        }
    }
    return found;
}

static bool may_be_faster_below(const seconds_t seen, const seconds_t modelled,
                                mca_coll_pipering_server_t serving)
{
    const double own = seen[serving];
    const double wrong = fmax(own / modelled[serving], modelled[serving] / own);

    return 0 == seen[MCA_COLL_PIPERING_BY_BELOW]
           && modelled[MCA_COLL_PIPERING_BY_BELOW] < fmax(TRIED, wrong * wrong) * own;
}

/*
 * The one of this component that was not measured yet and may be the fastest of all, of which
 * `least` is the least measured time; BY_ANY: there is none.
 */
static mca_coll_pipering_server_t fastest_untried(const seconds_t seen, const seconds_t modelled,
                                                  double least)
{
    seconds_t untried = {0};
    double high = 1;

    for (int i = MCA_COLL_PIPERING_BY_PIPELINE; i < MCA_COLL_PIPERING_SERVERS; ++i) {
        high = 0 < seen[i] ? fmin(high, seen[i] / modelled[i]) : high;
    }
    for (int i = MCA_COLL_PIPERING_BY_PIPELINE; i < MCA_COLL_PIPERING_BY_BELOW; ++i) {
        untried[i] = 0 == seen[i] && high * modelled[i] < TRIED * least ? modelled[i] : 0;
    }
    return fastest(untried, MCA_COLL_PIPERING_BY_ANY);
}

mca_coll_pipering_server_t
mca_coll_pipering_factors_turn(const mca_coll_pipering_factors_t *factors,
                               const mca_coll_pipering_forecast_t *forecast,
                               mca_coll_pipering_server_t serving, unsigned lesson, unsigned calls)
{
    const seconds_t modelled = {[MCA_COLL_PIPERING_BY_PIPELINE] = forecast->time,
                                [MCA_COLL_PIPERING_BY_OTHER] = forecast->other_time,
                                [MCA_COLL_PIPERING_BY_BELOW] = forecast->rival_time};
    const seconds_t seen
        = {[MCA_COLL_PIPERING_BY_PIPELINE] = 0 < least_factor(factors)
                                                 ? hoped_time(factors, forecast)
                                                 : 0,
           [MCA_COLL_PIPERING_BY_OTHER] = factors->other * forecast->bytes,
           [MCA_COLL_PIPERING_BY_BELOW] = factors->below * forecast->bytes};

    if (0 == seen[serving]) {
        return serving;
    }
    if (may_be_faster_below(seen, modelled, serving)) {
        return MCA_COLL_PIPERING_BY_BELOW;
    }
    /* the least measured time: an untried way has to beat what was seen, not what is hoped */
    const mca_coll_pipering_server_t rival = fastest(seen, MCA_COLL_PIPERING_BY_PIPELINE);
    const double least = fmin(measured_time(factors, forecast),
                              MCA_COLL_PIPERING_BY_ANY == rival ? HUGE_VAL : seen[rival]);
    const mca_coll_pipering_server_t next = fastest_untried(seen, modelled, least);
    if (MCA_COLL_PIPERING_BY_ANY != next) {
        return next;
    }
    const double own = MCA_COLL_PIPERING_BY_PIPELINE == serving ? measured_time(factors, forecast)
                                                                : seen[serving];
    if (MCA_COLL_PIPERING_BY_BELOW != serving && CONFIRMED > factors->times_below
        && 0 < factors->below
        && seen[MCA_COLL_PIPERING_BY_BELOW] < fmax(PAUSED, calls / REPAID) * own) {
        return MCA_COLL_PIPERING_BY_BELOW;
    }
    const mca_coll_pipering_server_t other = fastest(seen, serving);
    const bool close = MCA_COLL_PIPERING_BY_ANY != other && seen[other] < CLOSE * own;
    return close && 0 != lesson % 2 ? other : serving;
}
