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
 * Streams of calls, which show how fast links are.
 *
 *     call through a pipeline   1                2                3
 *     machine                   bound            bound            rate
 *     each rank                 times its        times its        -
 *                               stream           stream, tells
 *                                                the others
 *
 * The first such call may open connections, so ranks agree after the second one. The median of
 * what they saw counts, as the common rate that explains it best; the bound stays the rate if that
 * explains it. The rate is frozen for this communicator, and known to those that are set up later.
 * Requests that were made before keep the machine of their place in the order of calls.
 *
 * Cost: ceil(log2 p) messages of 64 entries of 4 bytes, once; if nobody saw anything, once more
 * after the next two calls.
 */

#include "coll_pipering_streams.h"

#include <stdlib.h>
#include <string.h>

#include "coll_pipering_decide.h"
#include "coll_pipering_setup.h"
#include "ompi/mca/common/colltools/common_colltools_agree.h"
#include "opal/util/output.h"

/* Calls that show. */
#define CALLS 2

/* Entries of a sighting; in larger communicators neighbours share one. */
#define ENTRIES 64

struct mca_coll_pipering_sighting_t {
    mca_common_colltools_agreement_t agreement;
    uint32_t beta[ENTRIES]; /* picoseconds a byte, 0: nobody saw anything */
};

/* Blocks of a call through a pipeline. O(p). */
static uint64_t count_blocks(const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_stream_t all = {.position = 0, .origins = plan->ring.size};

    return mca_coll_pipering_stream_volume(&plan->ring, plan->bytes, plan->block_size, all).blocks;
}

bool mca_coll_pipering_stream_shows(mca_coll_pipering_context_t *context,
                                    const mca_coll_pipering_plan_t *plan, bool *agrees)
{
    const mca_coll_pipering_known_t *known = mca_coll_pipering_setup_known(context->setup);

    *agrees = false;
    if (context->streamed || !mca_coll_pipering_machine_doubted(&known->machine)
        || plan->key.order_matters
        || 2 > known->nodes.count
        || mca_coll_pipering_in_rounds(plan->row)
        || MCA_COLL_PIPERING_SHOWN_BYTES > plan->total
        || MCA_COLL_PIPERING_SHOWN_BLOCKS > count_blocks(plan)) {
        return false;
    }
    *agrees = CALLS == ++context->streams;
    return true;
}

void mca_coll_pipering_stream_note(mca_coll_pipering_context_t *context, double seconds,
                                   double bytes)
{
    const mca_coll_pipering_known_t *known = mca_coll_pipering_setup_known(context->setup);
    const uint32_t beta = mca_coll_pipering_machine_explain(
        &known->machine, known->nodes.load, seconds, bytes);

    /* lateness only lengthens */
    if (0 < seconds && (0 == context->seen || beta < context->seen)) {
        context->seen = beta;
    }
}

mca_coll_pipering_sighting_t *
mca_coll_pipering_sighting_new(const mca_coll_pipering_context_t *context)
{
    const mca_common_colltools_caller_t caller = {.owner = "pipering",
                                                  .name = "streams",
                                                  .comm = context->comm};
    mca_coll_pipering_sighting_t *sighting = calloc(1, sizeof(*sighting));

    if (NULL != sighting
        && OMPI_SUCCESS
               != mca_common_colltools_agreement_init(&sighting->agreement, &caller,
                                                      mca_coll_pipering_setup_known(
                                                          context->setup)->tag,
                                                      sizeof(sighting->beta))) {
        free(sighting);
        sighting = NULL;
    }
    return sighting;
}

void mca_coll_pipering_sighting_free(mca_coll_pipering_sighting_t *sighting)
{
    if (NULL != sighting && !mca_common_colltools_agreement_fini(&sighting->agreement)) {
        free(sighting);
    }
}

static void merge(void *value, const void *other)
{
    uint32_t *mine = value;
    const uint32_t *its = other;

    for (int i = 0; i < ENTRIES; ++i) {
        mine[i] = its[i] > mine[i] ? its[i] : mine[i];
    }
}

void mca_coll_pipering_sighting_begin(mca_coll_pipering_sighting_t *sighting,
                                      const mca_coll_pipering_context_t *context)
{
    const int64_t me = ompi_comm_rank(context->comm), p = ompi_comm_size(context->comm);

    sighting->beta[p <= ENTRIES ? me : me * ENTRIES / p] = context->seen;
    mca_common_colltools_agreement_prepare(&sighting->agreement, merge, sighting->beta);
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

    return (x > y) - (x < y);
}

/* The median of what was seen, the larger of two in the middle; 0: nobody saw anything. */
static uint32_t find_median(uint32_t *beta)
{
    int nothing = 0;

    qsort(beta, ENTRIES, sizeof(*beta), compare);
    while (nothing < ENTRIES && 0 == beta[nothing]) {
        ++nothing;
    }
    return nothing == ENTRIES ? 0 : beta[nothing + (ENTRIES - nothing) / 2];
}

static void freeze(mca_coll_pipering_context_t *context, uint32_t beta, size_t bytes)
{
    const mca_coll_pipering_frozen_t frozen = {.bytes = bytes, .beta = beta};

    context->machine = mca_coll_pipering_setup_known(context->setup)->machine;
    context->machine.value[MCA_COLL_PIPERING_NET_BETA] = beta / 1000.0;
    context->machine.value[MCA_COLL_PIPERING_NET_BETA_MOST] = beta / 1000.0;
    OPAL_THREAD_LOCK(&context->lock);
    mca_coll_pipering_plans_drop(context);
    memset(context->least, 0, sizeof(context->least));
    context->streamed = true;
    OPAL_THREAD_UNLOCK(&context->lock);
    /* communicators that are set up later begin with the rate */
    OPAL_THREAD_LOCK(&context->process->lock);
    mca_coll_pipering_frozen_merge(&context->process->frozen, &frozen);
    OPAL_THREAD_UNLOCK(&context->process->lock);
    mca_coll_pipering_machine_report(context, &context->machine, "the streams of two calls");
}

bool mca_coll_pipering_sighting_end(mca_coll_pipering_context_t *context,
                                    mca_coll_pipering_sighting_t *sighting, size_t bytes, int *rc)
{
    int steps = 0;

    if (!mca_common_colltools_agreement_move(&sighting->agreement, &steps)) {
        return false;
    }
    *rc = sighting->agreement.schedule.error;
    const uint32_t beta = OMPI_SUCCESS == *rc ? find_median(sighting->beta) : 0;
    if (0 < beta) {
        freeze(context, beta, bytes);
    } else if (OMPI_SUCCESS == *rc) {
        context->streams = 0; /* nobody saw anything: the next calls may show more */
    }
    return true;
}
