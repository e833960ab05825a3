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
 * Scans in few rounds: a plan of the schedule engine (rounds: coll_pipering_plan_scan.c).
 *
 *     own value --copy--> result ---> sends of round 0, 1, 2 ...
 *                           ^
 *     receives --combine----'           MPI_Exscan: the first one becomes the result; in round 1
 *                                       the result goes with the own value behind it
 *
 * What comes is combined in front of the result, so operations need not commute. The result is sent
 * from where the user wants it, and is combined when it has gone.
 *
 * Cost per rank: memory for two vectors that come; MPI_Exscan: for one more, in place for two.
 */

#include "coll_pipering_scheduled.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_scan.h"

#include <stdlib.h>

/* Vectors that come in turns: the next one may come while one is combined. */
#define TURNS 2

/* A scan in rounds that is under way; its lists follow in the same memory. */
typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    mca_coll_pipering_scan_t scan;
    int me;
    char *came[TURNS]; /* in super.memory, as the next two */
    char *both;        /* of MPI_Exscan: the result so far and the own value behind it */
    char *own;         /* likewise: the own value */
    size_t step_done;  /* elements of the step that is under way */
} scanning_t;

/* ---- setting up ---- */

static int take_memory(scanning_t *scanning)
{
    const mca_coll_pipering_rounds_args_t *args = &scanning->args;
    ptrdiff_t gap = 0;
    const size_t span = mca_common_colltools_span(args->unit.type, args->count, &gap);
    const bool in_place = args->send->buffer == args->recv->buffer;
    const size_t kept = !args->exclusive ? 0 : in_place ? 2 : 1;

    scanning->super.memory = malloc((TURNS + kept) * span + 1);
    if (NULL == scanning->super.memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    char *first = (char *) scanning->super.memory - gap;
    for (int i = 0; i < TURNS; ++i) {
        scanning->came[i] = first + (size_t) i * span;
    }
    scanning->both = first + TURNS * span;
    scanning->own = in_place ? scanning->both + span : args->send->buffer;
    return OMPI_SUCCESS;
}

static int copy(scanning_t *scanning, char *to, char *from)
{
    return mca_coll_pipering_rounds_copy(&scanning->super, &scanning->args.unit, to, from,
                                         scanning->args.count);
}

/* The result begins as the own value, which is kept where the result leaves it out. */
static int put_own(scanning_t *scanning)
{
    const mca_coll_pipering_rounds_args_t *args = &scanning->args;

    if (!args->exclusive) {
        return copy(scanning, args->recv->buffer, args->send->buffer);
    }
    const int rc = copy(scanning, scanning->own, args->send->buffer);
    return OMPI_SUCCESS == rc ? copy(scanning, scanning->both, scanning->own) : rc;
}

/* ---- steps ---- */

static int combine(scanning_t *scanning, char *front, char *vector)
{
    return mca_coll_pipering_rounds_combine(&scanning->args, front, vector, scanning->args.count,
                                            &scanning->step_done);
}

/* What came in round k goes in front of the result. */
static int combine_came(void *context, int k, int unused)
{
    scanning_t *scanning = context;

    (void) unused;
    return combine(scanning, scanning->came[k % TURNS], scanning->args.recv->buffer);
}

static int combine_both(void *context, int unused, int neither)
{
    scanning_t *scanning = context;

    (void) unused;
    (void) neither;
    return combine(scanning, scanning->args.recv->buffer, scanning->both);
}

/* ---- listing ---- */

static void list_message(const scanning_t *scanning, mca_common_colltools_messages_t *list,
                         char *vector, int peer, mca_common_colltools_needs_t needs)
{
    const mca_coll_pipering_rounds_args_t *args = &scanning->args;

    (void) mca_common_colltools_schedule_message(list, vector, args->unit.type, args->count,
                                                 args->count * args->unit.size, peer, needs);
}

/* What goes in a round. */
static char *vector_of(const scanning_t *scanning, int k)
{
    return !scanning->args.exclusive || 1 < k ? scanning->args.recv->buffer
           : 0 == k                              ? scanning->own
                                                 : scanning->both;
}

/*
 * A round: what goes is combined before, what comes when that has gone. The vector that comes has
 * the place of the one of two rounds before.
 */
static void list_round(scanning_t *scanning, int k)
{
    const bool exclusive = scanning->args.exclusive;
    const int to = mca_coll_pipering_scan_to(&scanning->scan, scanning->me, k);
    const int from = mca_coll_pipering_scan_from(&scanning->scan, scanning->me, k);
    mca_common_colltools_schedule_t *schedule = &scanning->super.schedule;
    const mca_common_colltools_needs_t so_far = mca_common_colltools_schedule_so_far(schedule);
    const mca_common_colltools_needs_t free = {.steps = 0 < so_far.steps ? so_far.steps - 1 : 0};
    const bool becomes = exclusive && 0 == k;
    const bool passed_on = MCA_COLL_PIPERING_SCAN_NONE
                           != mca_coll_pipering_scan_to(&scanning->scan, scanning->me, 1);

    if (MCA_COLL_PIPERING_SCAN_NONE != to) {
        list_message(scanning, &schedule->sends, vector_of(scanning, k), to, so_far);
    }
    if (MCA_COLL_PIPERING_SCAN_NONE != from) {
        list_message(scanning, &schedule->receives,
                     becomes ? scanning->args.recv->buffer : scanning->came[k % TURNS], from, free);
        const mca_common_colltools_needs_t here = {.receives = schedule->receives.count,
                                                   .sends = schedule->sends.count};
        if (!becomes || passed_on) {
            mca_common_colltools_schedule_step(schedule, becomes ? combine_both : combine_came, k,
                                               0, here);
        }
    }
}

int mca_coll_pipering_scan_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                      mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_scan_t scan = {.ranks = ompi_comm_size(args->caller->comm),
                                           .exclusive = args->exclusive};
    const int rounds = mca_coll_pipering_scan_rounds(&scan);
    const uint32_t count = (uint32_t) rounds;
    void *behind;
    scanning_t *scanning = mca_coll_pipering_scheduled_new(
        args->caller, args->tag, sizeof(*scanning),
        (mca_common_colltools_needs_t){count, count, count + 1}, 0, &behind);

    if (NULL == scanning) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *made = &scanning->super;
    scanning->super.schedule.synchronous = args->synchronous;
    scanning->args = *args;
    scanning->scan = scan;
    scanning->me = ompi_comm_rank(args->caller->comm);
    int rc = take_memory(scanning);
    if (OMPI_SUCCESS == rc) {
        rc = put_own(scanning);
    }
    for (int k = 0; OMPI_SUCCESS == rc && k < rounds; ++k) {
        list_round(scanning, k);
    }
    mca_coll_pipering_scheduled_listed(&scanning->super);
    return rc;
}
