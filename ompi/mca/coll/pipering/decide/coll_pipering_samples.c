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
 *
 * Each rank has an entry with the rate of the stream that it received; in communicators of more
 * ranks than entries, neighbours share one. Entries and the longest time of all ranks are merged by
 * dissemination, so that all ranks find the same median. Cost: ceil(log2 p) messages of 64 entries
 * of 12 bytes.
 */

#include "coll_pipering_samples.h"

#include <math.h>
#include <stdlib.h>

#include "coll_pipering_setup.h"

static void merge_samples(void *value, const void *other)
{
    mca_coll_pipering_samples_t *mine = value;
    const mca_coll_pipering_samples_t *its = other;

    for (int i = 0; i < MCA_COLL_PIPERING_SAMPLES; ++i) {
        mca_coll_pipering_rate_merge(&mine->of[i], &its->of[i]);
    }
    mine->time = fmaxf(mine->time, its->time);
}

static int new_agreement(const mca_coll_pipering_context_t *context, size_t size,
                         mca_common_irregular_agreement_t *agreement)
{
    const mca_common_irregular_caller_t caller = {.owner = "pipering",
                                                  .name = "lesson",
                                                  .comm = context->comm};

    return mca_common_irregular_agreement_init(agreement, &caller,
                                               mca_coll_pipering_setup_tag(context->setup), size);
}

mca_coll_pipering_lesson_record_t *
mca_coll_pipering_lesson_new(const mca_coll_pipering_context_t *context)
{
    mca_coll_pipering_lesson_record_t *record = calloc(1, sizeof(*record));

    if (NULL != record
        && OMPI_SUCCESS != new_agreement(context, sizeof(record->samples), &record->agreement)) {
        free(record);
        record = NULL;
    }
    return record;
}

void mca_coll_pipering_lesson_free(mca_coll_pipering_lesson_record_t *record)
{
    if (NULL != record) {
        (void) mca_common_irregular_agreement_fini(&record->agreement);
        free(record);
    }
}

void mca_coll_pipering_lesson_begin(mca_coll_pipering_lesson_record_t *record,
                                    mca_coll_pipering_rate_t rate, double time)
{
    ompi_communicator_t *comm = record->agreement.caller.comm;
    const int64_t me = ompi_comm_rank(comm), p = ompi_comm_size(comm);
    const int place = (int) (p <= MCA_COLL_PIPERING_SAMPLES
                                 ? me
                                 : me * MCA_COLL_PIPERING_SAMPLES / p);

    record->samples.of[place] = rate;
    record->samples.time = (float) time;
    mca_common_irregular_combine(&record->agreement, merge_samples, &record->samples);
}

static int compare_rates(const void *a, const void *b)
{
    const mca_coll_pipering_rate_t *x = a, *y = b;
    return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

mca_coll_pipering_rate_t mca_coll_pipering_samples_median(mca_coll_pipering_samples_t *samples)
{
    int count = 0;

    for (int i = 0; i < MCA_COLL_PIPERING_SAMPLES; ++i) {
        if (0 < samples->of[i].bytes) {
            samples->of[count++] = samples->of[i];
        }
    }
    if (0 == count) {
        return (mca_coll_pipering_rate_t){0, 0, 0};
    }
    qsort(samples->of, (size_t) count, sizeof(samples->of[0]), compare_rates);
    return samples->of[count / 2];
}
