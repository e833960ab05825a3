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
 * Scans in rounds of coll_pipering_scan_rounds.h: memory, lists of messages, combining.
 */

#include "coll_pipering_scan_rounds.h"
#include "coll_pipering_engine_steps.h"

#include <stdlib.h>
#include <string.h>

/* Vectors that come in turns: the next one may come while one is combined. */
#define TURNS 2

/* A scan in rounds that is under way; its lists follow in the same memory. */
typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_scan_rounds_args_t args;
    int me;
    void *memory;      /* of these */
    char *came[TURNS];
    char *both;        /* of MPI_Exscan: the result so far and the own value behind it */
    char *own;         /* likewise: the own value */
    size_t step_done;  /* elements of the step that is under way */
} scanning_t;

/* ---- setting up ---- */

static scanning_t *scanning_alloc(const mca_coll_pipering_scan_rounds_args_t *args)
{
    const uint32_t rounds = (uint32_t) mca_coll_pipering_scan_rounds(&args->scan);
    const mca_common_colltools_needs_t most = {rounds, rounds, rounds + 1};
    scanning_t *scanning = malloc(sizeof(*scanning) + mca_common_colltools_schedule_size(most));

    if (NULL != scanning) {
        memset(scanning, 0, sizeof(*scanning));
        (void) mca_common_colltools_schedule_bind(&scanning->super.schedule, most, scanning + 1);
    }
    return scanning;
}

static int take_memory(scanning_t *scanning)
{
    const mca_coll_pipering_scan_rounds_args_t *args = &scanning->args;
    ptrdiff_t gap = 0;
    const size_t span = mca_common_colltools_span(args->type, args->count, &gap);
    const size_t stride = (span + 15) & ~(size_t) 15;
    const bool in_place = args->send == args->recv;
    const size_t kept = !args->scan.exclusive ? 0 : in_place ? 2 : 1;

    scanning->memory = malloc((TURNS + kept) * stride + 1);
    if (NULL == scanning->memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    char *first = (char *) scanning->memory - gap;
    for (int i = 0; i < TURNS; ++i) {
        scanning->came[i] = first + (size_t) i * stride;
    }
    scanning->both = first + TURNS * stride;
    scanning->own = in_place ? scanning->both + stride : args->send;
    return OMPI_SUCCESS;
}

static int copy(scanning_t *scanning, char *to, char *from)
{
    if (to == from) {
        return OMPI_SUCCESS;
    }
    scanning->super.traffic.bytes_copied += scanning->args.count * scanning->args.size;
    return 0 == ompi_datatype_copy_content_same_ddt(scanning->args.type, scanning->args.count, to,
                                                    from)
               ? OMPI_SUCCESS
               : OMPI_ERROR;
}

/* The result begins as the own value, which is kept where the result leaves it out. */
static int put_own(scanning_t *scanning)
{
    const mca_coll_pipering_scan_rounds_args_t *args = &scanning->args;

    if (!args->scan.exclusive) {
        return copy(scanning, args->recv, args->send);
    }
    const int rc = copy(scanning, scanning->own, args->send);
    return OMPI_SUCCESS == rc ? copy(scanning, scanning->both, scanning->own) : rc;
}

/* ---- steps ---- */

/* Combines a vector in front of another, at most so much in a call. */
static int combine(scanning_t *scanning, char *front, char *vector)
{
    const mca_coll_pipering_scan_rounds_args_t *args = &scanning->args;
    const size_t most = 1 + MCA_COLL_PIPERING_PIECE / (args->size + 1);
    const size_t left = args->count - scanning->step_done, count = left < most ? left : most;
    const ptrdiff_t at = (ptrdiff_t) scanning->step_done * args->extent;

    ompi_op_reduce(args->op, front + at, vector + at, count, args->type);
    scanning->step_done = count < left ? scanning->step_done + count : 0;
    return count < left ? OMPI_ERR_WOULD_BLOCK : OMPI_SUCCESS;
}

/* What came in round k goes in front of the result. */
static int combine_came(void *context, int k, int unused)
{
    scanning_t *scanning = context;

    (void) unused;
    return combine(scanning, scanning->came[k % TURNS], scanning->args.recv);
}

static int combine_both(void *context, int unused, int neither)
{
    scanning_t *scanning = context;

    (void) unused;
    (void) neither;
    return combine(scanning, scanning->args.recv, scanning->both);
}

/* ---- listing ---- */

static void list_message(scanning_t *scanning, mca_common_colltools_messages_t *list, char *vector,
                         int peer, mca_common_colltools_needs_t needs)
{
    const mca_coll_pipering_scan_rounds_args_t *args = &scanning->args;

    list->message[list->count++]
        = (mca_common_colltools_message_t){.buffer = vector,
                                           .type = args->type,
                                           .count = args->count,
                                           .bytes = args->count * args->size,
                                           .peer = peer,
                                           .needs = needs};
}

/* What goes in a round. */
static char *vector_of(const scanning_t *scanning, int k)
{
    return !scanning->args.scan.exclusive || 1 < k ? scanning->args.recv
           : 0 == k                                ? scanning->own
                                                   : scanning->both;
}

/*
 * A round: what goes is combined before, what comes when that has gone. The vector that comes has the
 * place of the one of two rounds before.
 */
static void list_round(scanning_t *scanning, int k)
{
    const bool exclusive = scanning->args.scan.exclusive;
    const int to = mca_coll_pipering_scan_to(&scanning->args.scan, scanning->me, k);
    const int from = mca_coll_pipering_scan_from(&scanning->args.scan, scanning->me, k);
    mca_common_colltools_schedule_t *schedule = &scanning->super.schedule;
    const mca_common_colltools_needs_t so_far = mca_common_colltools_schedule_so_far(schedule);
    const mca_common_colltools_needs_t free = {.steps = 0 < so_far.steps ? so_far.steps - 1 : 0};
    const bool becomes = exclusive && 0 == k;
    const bool passed_on = MCA_COLL_PIPERING_SCAN_NONE
                           != mca_coll_pipering_scan_to(&scanning->args.scan, scanning->me, 1);

    if (MCA_COLL_PIPERING_SCAN_NONE != to) {
        list_message(scanning, &schedule->sends, vector_of(scanning, k), to, so_far);
    }
    if (MCA_COLL_PIPERING_SCAN_NONE != from) {
        list_message(scanning, &schedule->receives,
                     becomes ? scanning->args.recv : scanning->came[k % TURNS], from, free);
        const mca_common_colltools_needs_t here = {.receives = schedule->receives.count,
                                                   .sends = schedule->sends.count};
        if (!becomes || passed_on) {
            mca_common_colltools_schedule_step(schedule, becomes ? combine_both : combine_came, k,
                                               0, here);
        }
    }
}

static void list_all(scanning_t *scanning)
{
    mca_common_colltools_schedule_t *schedule = &scanning->super.schedule;
    mca_coll_pipering_traffic_t *traffic = &scanning->super.traffic;
    const size_t bytes = scanning->args.count * scanning->args.size;

    for (int k = 0; k < mca_coll_pipering_scan_rounds(&scanning->args.scan); ++k) {
        list_round(scanning, k);
    }
    traffic->blocks_in = schedule->receives.window = schedule->receives.count;
    traffic->blocks_out = schedule->sends.window = schedule->sends.count;
    traffic->bytes_in = traffic->blocks_in * bytes;
    traffic->bytes_out = traffic->blocks_out * bytes;
}

/* ---- the life of a scan ---- */

static bool scanning_free(mca_coll_pipering_scheduled_t *scheduled)
{
    scanning_t *scanning = (scanning_t *) scheduled;
    const bool pending = mca_common_colltools_schedule_fini(&scheduled->schedule);

    if (!pending) {
        free(scanning->memory);
        free(scanning);
    }
    return pending;
}

int mca_coll_pipering_scan_rounds_new(const mca_coll_pipering_scan_rounds_args_t *args,
                                      mca_coll_pipering_scheduled_t **made)
{
    scanning_t *scanning = scanning_alloc(args);

    if (NULL == scanning) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    scanning->super.free = scanning_free;
    scanning->super.schedule.caller = args->caller;
    scanning->super.schedule.tag = args->tag;
    scanning->super.schedule.synchronous = args->synchronous;
    scanning->super.schedule.context = scanning;
    scanning->args = *args;
    scanning->me = ompi_comm_rank(args->caller->comm);
    int rc = take_memory(scanning);
    if (OMPI_SUCCESS == rc) {
        rc = put_own(scanning);
    }
    if (OMPI_SUCCESS != rc) {
        (void) scanning_free(&scanning->super);
        return rc;
    }
    list_all(scanning);
    *made = &scanning->super;
    return OMPI_SUCCESS;
}
