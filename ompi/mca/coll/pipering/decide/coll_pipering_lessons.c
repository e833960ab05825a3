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
 * Lessons: which blocking calls teach the cost of links between nodes, and how ranks agree on
 * their measurements.
 *
 *     call number            1  2  3  4  5  6  7  8  9  ...  16
 *     32 KiB or more teach   *  *     *           *          *
 *     8 KiB or more teach                         *          *
 *
 * Broadcasts, reductions and scans that the module below serves teach as in the second row.
 *
 * The numbers count the calls of a series: those of one kind, one octave of bytes in all, and
 * one octave of the ratio of all bytes to the largest contribution. The last one matters because
 * the times of broadcasts do not hold for equal contributions.
 *
 * Ranks wait for each other before a lesson. After it each rank reports the rate of the stream
 * that it received, and the time of the call. The median of the rates counts
 * (coll_pipering_plan_rates.c), and the longest time (coll_pipering_plan_factors.c). Lessons that
 * rounds or the module below serve are timed likewise. Nothing is measured outside of calls, and
 * nonblocking calls teach nothing, since their time depends on the program.
 *
 * Cost: ceil(log2 p) messages of 8 bytes before a lesson, and as many of 64 entries of 12 bytes
 * after it, or of 8 bytes if the module below served it.
 */

#include "coll_pipering_lessons.h"

#include <stdlib.h>

#include "ompi/mca/coll/pipering/engine/coll_pipering_clock.h"
#include "coll_pipering_setup.h"
#include "coll_pipering_timing.h"
#include "opal/util/output.h"

/*
 * The bytes from which calls teach at all, since streams of a few blocks show little; and the first
 * of them that does: a lesson takes about as long as such a call, which a few calls do not repay.
 * Of larger calls the same one is the first if the module below serves them, and no rank waits for
 * all others in them: there a lesson makes it wait.
 */
#define SMALL_LEAST ((size_t) 8 * 1024)
#define SMALL_FIRST 8

/* The first lesson of a job also opens connections: its rates have 1 / OPENING of the weight. */
#define OPENING 3.5

/* Fewer ranks do not try the module below: any algorithm is one message each way. */
#define RANKS_LEAST 3

/* Number of octaves of bytes in all, from SMALL_LEAST on. */
#define OCTAVES 18

/* Calls that are alike. */
typedef struct series_t {
    struct series_t *next;
    mca_coll_pipering_lesson_t kind;
    int octave; /* of bytes in all */
    int shape;  /* octave of how many times the largest contribution they are */
    uint32_t calls;
    mca_coll_pipering_factors_t factors;
} series_t;

typedef struct mca_coll_pipering_lessons_t {
    mca_coll_pipering_rates_t rates; /* in force */
    series_t *all_series;
    unsigned begun, over;
    bool opened; /* a pipeline has opened connections */
    struct {
        mca_coll_pipering_timing_t *timing; /* about its time; NULL: it has no call that teaches */
        series_t *series;
        double began, modelled, bytes;
    } below; /* a lesson that the module below serves */
} mca_coll_pipering_lessons_t;

/* ---- rates and factors ---- */

const mca_coll_pipering_rates_t *
mca_coll_pipering_lessons_rates(const mca_coll_pipering_context_t *context)
{
    return NULL == context->lessons ? mca_coll_pipering_setup_rates(context->setup)
                                   : &context->lessons->rates;
}

unsigned mca_coll_pipering_lessons_over(const mca_coll_pipering_context_t *context)
{
    return NULL == context->lessons ? 0 : context->lessons->over;
}

/* The next pipeline opens connections, and shows whether links have rates. */
static bool is_opening(const mca_coll_pipering_context_t *context)
{
    const bool opened = NULL != context->lessons && context->lessons->opened;

    return !opened && !mca_coll_pipering_rates_known(mca_coll_pipering_lessons_rates(context));
}

static int octave_of(size_t total)
{
    int octave = 0;

    while (octave + 1 < OCTAVES && SMALL_LEAST << (octave + 1) <= total) {
        ++octave;
    }
    return octave;
}

static mca_coll_pipering_lesson_t kind_of(const mca_coll_pipering_plan_t *plan)
{
    return mca_coll_pipering_collective_row(plan->key.collective)->lesson;
}

static int shape_of(const mca_coll_pipering_plan_t *plan)
{
    int shape = 0;

    for (size_t rest = plan->total / (plan->largest * plan->key.sizes.unit); 1 < rest; rest /= 2) {
        ++shape;
    }
    return shape;
}

static series_t *find_series(const mca_coll_pipering_context_t *context,
                             const mca_coll_pipering_plan_t *plan)
{
    series_t *series = NULL == context->lessons ? NULL : context->lessons->all_series;
    const mca_coll_pipering_lesson_t kind = kind_of(plan);
    const int octave = octave_of(plan->total), shape = shape_of(plan);

    while (NULL != series
           && (kind != series->kind || octave != series->octave || shape != series->shape)) {
        series = series->next;
    }
    return series;
}

const mca_coll_pipering_factors_t *
mca_coll_pipering_lessons_factors(const mca_coll_pipering_context_t *context,
                                  const mca_coll_pipering_plan_t *plan)
{
    const series_t *series = find_series(context, plan);

    return NULL != series ? &series->factors : NULL;
}

/* ---- which calls teach ---- */

static bool may_teach(const mca_coll_pipering_context_t *context,
                      const mca_coll_pipering_params_t *params, size_t total)
{
    return 1 < mca_coll_pipering_setup_nodes(context->setup) && SMALL_LEAST <= total
           && (0 == params->alpha || 0 == params->beta);
}

bool mca_coll_pipering_lessons_wanted(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_params_t *params, size_t total,
                                      bool teaches)
{
    return may_teach(context, params, total)
           && (teaches || MCA_COLL_PIPERING_LESSON_LEAST <= total)
           && is_opening(context);
}

static series_t *add_series(mca_coll_pipering_context_t *context,
                            const mca_coll_pipering_plan_t *plan)
{
    mca_coll_pipering_lessons_t *lessons = context->lessons;
    series_t *series = calloc(1, sizeof(*series));

    if (NULL == lessons) {
        lessons = calloc(1, sizeof(*lessons));
    }
    if (NULL == lessons || NULL == series) {
        free(series);
        return NULL;
    }
    if (NULL == context->lessons) {
        lessons->rates = *mca_coll_pipering_setup_rates(context->setup);
        context->lessons = lessons;
    }
    series->kind = kind_of(plan);
    series->octave = octave_of(plan->total);
    series->shape = shape_of(plan);
    series->next = lessons->all_series;
    lessons->all_series = series;
    return series;
}

/*
 * Rounds show no rate of a link, so a call that they serve teaches only whether another server
 * would be faster, which a user who forces them does not ask.
 */
static bool can_teach(const mca_coll_pipering_plan_t *plan)
{
    return !mca_coll_pipering_in_rounds(plan->row)
           || (mca_coll_pipering_collective_row(plan->key.collective)->gathers
               && MCA_COLL_PIPERING_AUTO == plan->key.params.algorithm);
}

/* The first call of its series that teaches. */
static uint32_t first_lesson(const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_lesson_t kind = kind_of(plan);
    const bool waits = MCA_COLL_PIPERING_LESSON_GATHER == kind
                       || MCA_COLL_PIPERING_LESSON_REDUCTION_TO_ALL == kind;

    return MCA_COLL_PIPERING_LESSON_LEAST <= plan->total
                   && (waits || MCA_COLL_PIPERING_TAKEN == plan->reason)
               ? 1
               : SMALL_FIRST;
}

int mca_coll_pipering_lessons_count(mca_coll_pipering_context_t *context,
                                    const mca_coll_pipering_plan_t *plan, bool *teaches)
{
    series_t *series;

    *teaches = false;
    if (!may_teach(context, &plan->key.params, plan->total) || !can_teach(plan)) {
        return OMPI_SUCCESS;
    }
    series = find_series(context, plan);
    if (NULL == series) {
        series = add_series(context, plan);
    }
    if (NULL == series) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    ++series->calls;
    *teaches = 0 == (series->calls & (series->calls - 1)) && first_lesson(plan) <= series->calls;
    context->lessons->begun += *teaches;
    return OMPI_SUCCESS;
}

size_t mca_coll_pipering_lessons_vary(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_lessons_t *lessons = context->lessons;
    const size_t block = plan->cut.block_size * plan->key.sizes.unit;
    const bool doubt = MCA_COLL_PIPERING_BY_PIPELINE == mca_coll_pipering_server(plan->row)
                       && mca_coll_pipering_factors_doubt(&find_series(context, plan)->factors,
                                                          (double) block);

    return doubt ? block
                 : mca_coll_pipering_rates_vary(&lessons->rates, block,
                                                (size_t) mca_coll_pipering_plan_length(plan),
                                                plan->total, lessons->begun - 1);
}

/* ---- what a lesson shows ---- */

/* Tells users what a server took. */
static void report_time(const mca_coll_pipering_context_t *context, const char *server, double time,
                        double modelled)
{
    if (mca_coll_pipering_is_verbose(context->process, context->comm)) {
        opal_output(context->process->output,
                    "coll/pipering: %s took %.6f s on %s, %.6f s predicted", server, time,
                    context->comm->c_name, modelled);
    }
}

static void report_rate(const mca_coll_pipering_context_t *context, double length,
                        mca_coll_pipering_rate_t rate, double time,
                        const mca_coll_pipering_plan_t *plan)
{
    ompi_communicator_t *comm = context->comm;
    const mca_coll_pipering_link_cost_t cost
        = mca_coll_pipering_rates_cost(&context->lessons->rates,
                                       mca_coll_pipering_setup_load(context->setup));

    if (mca_coll_pipering_is_verbose(context->process, comm)) {
        opal_output(context->process->output,
                    "coll/pipering: links between nodes learnt from %s: blocks of %.0f bytes take "
                    "%.4f ns/byte; alpha %.2f us, beta %.4f ns/byte, above %.0f bytes %.2f us "
                    "more; %zu bytes in blocks of %zu took %.6f s, %.6f s predicted",
                    comm->c_name, length, 1e9 * rate.seconds, 1e6 * cost.alpha, 1e9 * cost.beta,
                    cost.eager, 1e6 * cost.handshake, plan->total,
                    plan->cut.block_size * plan->key.sizes.unit, time, plan->time);
    }
}

static void learn_rate(mca_coll_pipering_context_t *context, double length,
                       mca_coll_pipering_rate_t rate)
{
    mca_coll_pipering_process_t *process = context->process;
    mca_coll_pipering_rates_t *rates = &context->lessons->rates;

    mca_coll_pipering_rates_add(rates, length, rate.seconds,
                                mca_coll_pipering_rates_known(rates) ? rate.bytes
                                                                     : rate.bytes / OPENING);
    OPAL_THREAD_LOCK(&process->lock);
    process->rates = *rates;
    OPAL_THREAD_UNLOCK(&process->lock);
}

static void end_lesson(mca_coll_pipering_context_t *context)
{
    ++context->lessons->over;
    mca_common_irregular_count(&context->process->counters.lessons, 1);
}

static void learn_time(mca_coll_pipering_context_t *context, double time,
                       const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_forecast_t forecast = mca_coll_pipering_plan_forecast(plan);
    mca_coll_pipering_factors_t *factors = &find_series(context, plan)->factors;

    if (MCA_COLL_PIPERING_BY_OTHER == mca_coll_pipering_server(plan->row)) {
        mca_coll_pipering_factors_add_other(factors, forecast.bytes, time);
    } else {
        mca_coll_pipering_factors_add(factors, &forecast, time);
    }
}

static void learn_from_pipeline(mca_coll_pipering_context_t *context,
                                mca_coll_pipering_samples_t *samples,
                                const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_rate_t rate = mca_coll_pipering_samples_median(samples);
    const double length = mca_coll_pipering_plan_length(plan);

    context->lessons->opened = true;
    learn_rate(context, length, rate);
    report_rate(context, length, rate, samples->time, plan);
}

bool mca_coll_pipering_lesson_end(mca_coll_pipering_context_t *context,
                                  mca_coll_pipering_lesson_record_t *record,
                                  const mca_coll_pipering_plan_t *plan, int *rc)
{
    mca_coll_pipering_samples_t *samples = &record->samples;
    int progress = 0;

    if (!mca_common_irregular_agreement_move(&record->agreement, &progress)) {
        return false;
    }
    *rc = record->agreement.schedule.error;
    if (OMPI_SUCCESS != *rc) {
        return true;
    }
    learn_time(context, samples->time, plan);
    if (mca_coll_pipering_in_rounds(plan->row)) {
        report_time(context, plan->row->text, samples->time, plan->time);
    } else {
        learn_from_pipeline(context, samples, plan);
    }
    end_lesson(context);
    return true;
}

static int meet(mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_timing_t *timing = mca_coll_pipering_timing_new(context);
    double time = 0;

    return NULL == timing ? OMPI_ERR_OUT_OF_RESOURCE
                          : mca_coll_pipering_timing_agree(timing, &time);
}

int mca_coll_pipering_lessons_meet(mca_coll_pipering_context_t *context)
{
    return is_opening(context) ? OMPI_SUCCESS : meet(context);
}

/* ---- the module below ---- */

static mca_coll_pipering_server_t server_of(const mca_coll_pipering_plan_t *plan)
{
    return MCA_COLL_PIPERING_TAKEN == plan->reason ? mca_coll_pipering_server(plan->row)
                                                   : MCA_COLL_PIPERING_BY_BELOW;
}

mca_coll_pipering_server_t
mca_coll_pipering_lessons_turn(const mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_key_t *key = &plan->key;
    const mca_coll_pipering_server_t serving = server_of(plan);

    if (RANKS_LEAST > ompi_comm_size(context->comm) || key->reproducible
        || MCA_COLL_PIPERING_BY_ANY != key->wanted || key->must_take
        || MCA_COLL_PIPERING_AUTO != key->params.algorithm) {
        return serving;
    }
    const mca_coll_pipering_forecast_t forecast = mca_coll_pipering_plan_forecast(plan);
    const series_t *series = find_series(context, plan);
    return mca_coll_pipering_factors_turn(&series->factors, &forecast, serving,
                                          context->lessons->begun, series->calls);
}

int mca_coll_pipering_lessons_begin_below(mca_coll_pipering_context_t *context,
                                          const mca_coll_pipering_plan_t *plan)
{
    mca_coll_pipering_lessons_t *lessons = context->lessons;
    series_t *series = find_series(context, plan);
    const bool known = MCA_COLL_PIPERING_BY_BELOW == server_of(plan) && 0 < series->factors.below;

    if (known || plan->key.reproducible || RANKS_LEAST > ompi_comm_size(context->comm)) {
        return OMPI_SUCCESS;
    }
    const int rc = meet(context);
    if (OMPI_SUCCESS != rc) {
        return rc;
    }
    lessons->below.timing = mca_coll_pipering_timing_new(context);
    lessons->below.series = series;
    lessons->below.modelled = plan->rival_time;
    lessons->below.bytes = (double) plan->total;
    lessons->below.began = mca_coll_pipering_now();
    return NULL == lessons->below.timing ? OMPI_ERR_OUT_OF_RESOURCE : OMPI_SUCCESS;
}

/* Whatever became of the call on this rank, the others wait for what it saw. */
int mca_coll_pipering_lessons_end_below(mca_coll_pipering_context_t *context, int rc)
{
    mca_coll_pipering_lessons_t *lessons = context->lessons;
    mca_coll_pipering_timing_t *timing = lessons->below.timing;

    if (NULL == timing) {
        return rc;
    }
    double time = mca_coll_pipering_now() - lessons->below.began;
    lessons->below.timing = NULL;
    const int agreed = mca_coll_pipering_timing_agree(timing, &time);
    if (OMPI_SUCCESS == agreed) {
        mca_coll_pipering_factors_add_below(&lessons->below.series->factors, lessons->below.bytes,
                                            time);
        end_lesson(context);
        report_time(context, "the module below", time, lessons->below.modelled);
    }
    return OMPI_SUCCESS == rc ? mca_common_irregular_mpi_error(agreed) : rc;
}

void mca_coll_pipering_lessons_free(mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_lessons_t *lessons = context->lessons;

    if (NULL == lessons) {
        return;
    }
    while (NULL != lessons->all_series) {
        series_t *series = lessons->all_series;
        lessons->all_series = series->next;
        free(series);
    }
    free(lessons);
}
