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
 * Reductions in few rounds (mca_coll_pipering_grid_t) by the schedule engine: the rounds of a
 * gather backwards, and for an allreduce forwards again.
 *
 *     own values --copy--> slots, round by round sent, or combined with what comes in;
 *     then pieces of a share to the ranks whose they are, or shares on to all
 *
 * Cost per rank with m bytes in all: ceil(log2 g) + ceil(log2 (p / g)) messages of at most m bytes
 * together, which are combined, and a piece for each rank that its share belongs to; an allreduce
 * as many messages again instead. All values are copied once, results once.
 *
 * Limits: the operation commutes; memory for all values twice.
 *
 * Slots lie one after the other, so what a round sends, or combines, is few runs of elements: one
 * for all shares that go whole, unless one in blocks lies between them, and one for each block, cut
 * into segments. What comes in has a place of its own: the next segment comes while one is
 * combined.
 */

#include "coll_pipering_scheduled.h"
#include "coll_pipering_engine_steps.h"

#include <stdlib.h>

/* ---- values of reductions and scans ---- */

int mca_coll_pipering_rounds_copy(mca_coll_pipering_scheduled_t *scheduled,
                                  const mca_coll_pipering_unit_t *unit, char *to, char *from,
                                  size_t count)
{
    if (to == from) {
        return OMPI_SUCCESS;
    }
    scheduled->traffic.bytes_copied += count * unit->size;
    return 0 == ompi_datatype_copy_content_same_ddt(unit->type, count, to, from) ? OMPI_SUCCESS
                                                                                 : OMPI_ERROR;
}

int mca_coll_pipering_rounds_combine(const mca_coll_pipering_rounds_args_t *args, char *front,
                                     char *vector, size_t count, size_t *done)
{
    const size_t most = 1 + MCA_COLL_PIPERING_PIECE / (args->unit.size + 1);
    const size_t left = count - *done, now = left < most ? left : most;
    const ptrdiff_t at = (ptrdiff_t) *done * args->unit.extent;

    ompi_op_reduce(args->op, front + at, vector + at, now, args->unit.type);
    *done = now < left ? *done + now : 0;
    return now < left ? OMPI_ERR_WOULD_BLOCK : OMPI_SUCCESS;
}

/* ---- a reduction ---- */

typedef mca_coll_pipering_run_t run_t;

/* A reduction in rounds that is under way; its lists follow in the same memory. */
typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    int me;
    char *slots;       /* in super.memory: values of this rank, and what they become */
    ptrdiff_t *came;   /* [rounds] where values of a round that come in lie, from super.memory */
    size_t combined;   /* of these, elements that are combined */
    size_t step_done;  /* elements, or pieces, of the step that is under way */
    mca_coll_pipering_parts_t coming; /* the walk over what is combined ... */
    run_t run;                        /* ... and the run at which it is */
    mca_common_colltools_needs_t *so_far; /* [rounds + 1] listed before round k, backwards */
} reduction_t;

static char *at(const reduction_t *reduction, char *first, size_t element)
{
    return first + (ptrdiff_t) element * reduction->args.unit.extent;
}

/* ---- setting up ---- */

/* What goes forwards in round k of the plan, or comes. */
static mca_coll_pipering_parts_t parts_of(const reduction_t *reduction, int k, bool sends)
{
    return mca_coll_pipering_grid_parts(reduction->args.grid, reduction->args.slots, reduction->me,
                                        k, sends);
}

static mca_coll_pipering_grid_round_t round_of(const reduction_t *reduction, int k)
{
    return mca_coll_pipering_grid_round(reduction->args.grid, reduction->me, k);
}

/* Elements that come in to be combined in round k. */
static size_t count_in(const reduction_t *reduction, int k)
{
    mca_coll_pipering_parts_t in = parts_of(reduction, k, true);
    size_t count = 0;

    for (run_t run; mca_coll_pipering_parts_run(&in, &run); count += run.count) {
    }
    return count;
}

/*
 * Room for all slots, and for what comes in to be combined. Slots are elements of the vector in
 * another order, and none comes in twice in a round, so in a span elements are no farther apart
 * than in the user's vector, where they do not meet. Slots lie last: what a message that is longer
 * than expected overruns, where pml/ob1 is not patched, is then values of a call that fails.
 */
static int take_memory(reduction_t *reduction)
{
    const ompi_datatype_t *type = reduction->args.unit.type;
    const int rounds = mca_coll_pipering_grid_rounds(reduction->args.grid);
    size_t size = 0, span;
    ptrdiff_t gap;

    for (int k = 0; k < rounds; ++k, size += span) {
        span = mca_common_colltools_span(type, count_in(reduction, k), &gap);
        reduction->came[k] = (ptrdiff_t) size - gap;
    }
    span = mca_common_colltools_span(type, reduction->args.slots->packed, &gap);
    reduction->super.memory = malloc(size + span);
    if (NULL == reduction->super.memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    reduction->slots = (char *) reduction->super.memory + (ptrdiff_t) size - gap;
    return OMPI_SUCCESS;
}

/* Where an element of those lies that come in in round k. */
static char *came_at(const reduction_t *reduction, int k, size_t element)
{
    return at(reduction, (char *) reduction->super.memory + reduction->came[k], element);
}

static int copy(reduction_t *reduction, char *to, char *from, size_t count)
{
    return mca_coll_pipering_rounds_copy(&reduction->super, &reduction->args.unit, to, from, count);
}

/* Where a piece lies in the vector. */
static size_t place_of(const reduction_t *reduction, const mca_coll_pipering_piece_t *piece)
{
    return reduction->args.starts[piece->rank] + piece->from;
}

/* Copies the vector of this rank into its slots. */
static int put_own(reduction_t *reduction)
{
    const mca_coll_pipering_slots_t *slots = reduction->args.slots;
    const int pieces = slots->first[reduction->args.grid->lanes * reduction->args.grid->groups];
    int rc = OMPI_SUCCESS;

    for (int i = 0; OMPI_SUCCESS == rc && i < pieces; ++i) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        rc = copy(reduction, at(reduction, reduction->slots, piece->offset),
                  at(reduction, reduction->args.send->buffer, place_of(reduction, piece)),
                  piece->bytes);
    }
    return rc;
}

/* ---- steps ---- */

/* Combines the next run of round k, maybe its first one, with what is in its slots. */
static int combine(void *context, int k, int is_first)
{
    reduction_t *reduction = context;

    if (0 == reduction->step_done) {
        if (is_first) {
            reduction->coming = parts_of(reduction, k, true);
            reduction->combined = 0;
        }
        (void) mca_coll_pipering_parts_run(&reduction->coming, &reduction->run);
    }
    const int rc = mca_coll_pipering_rounds_combine(
        &reduction->args, came_at(reduction, k, reduction->combined),
        at(reduction, reduction->slots, reduction->run.begin), reduction->run.count,
        &reduction->step_done);
    reduction->combined += OMPI_SUCCESS == rc ? reduction->run.count : 0;
    return rc;
}

/* Whether the user of this rank gets a piece that is in its slots. */
static bool is_wanted(const reduction_t *reduction, const mca_coll_pipering_piece_t *piece)
{
    return reduction->args.spreads || reduction->me == piece->rank;
}

/* Delivers results in slots [first, first + count), a piece at most in a call. */
static int deliver(void *context, int first, int count)
{
    reduction_t *reduction = context;
    const mca_coll_pipering_slots_t *slots = reduction->args.slots;
    const int i = slots->first[first] + (int) reduction->step_done;
    const int last = slots->first[first + count];
    int rc = OMPI_SUCCESS;

    if (i < last && is_wanted(reduction, &slots->piece[i])) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        rc = copy(reduction,
                  at(reduction, reduction->args.recv->buffer,
                     reduction->args.spreads ? place_of(reduction, piece) : piece->from),
                  at(reduction, reduction->slots, piece->offset), piece->bytes);
    }
    reduction->step_done = i + 1 < last ? reduction->step_done + 1 : 0;
    return OMPI_SUCCESS == rc && i + 1 < last ? OMPI_ERR_WOULD_BLOCK : rc;
}

/* ---- listing ---- */

static void list_message(const reduction_t *reduction, mca_common_colltools_messages_t *list,
                         char *place, size_t count, int peer, mca_common_colltools_needs_t needs)
{
    const mca_coll_pipering_unit_t *unit = &reduction->args.unit;

    if (0 < count) {
        (void) mca_common_colltools_schedule_message(list, place, unit->type, count,
                                                     count * unit->size, peer, needs);
    }
}

static mca_common_colltools_needs_t without_steps(mca_common_colltools_needs_t needs)
{
    needs.steps = 0;
    return needs;
}

/* Lists the messages of a round, a run each, which lie in the slots. */
static void list_runs(reduction_t *reduction, mca_common_colltools_messages_t *list, int k,
                      bool sends, int peer, mca_common_colltools_needs_t needs)
{
    mca_coll_pipering_parts_t parts = parts_of(reduction, k, sends);
    run_t run;

    while (mca_coll_pipering_parts_run(&parts, &run)) {
        list_message(reduction, list, at(reduction, reduction->slots, run.begin), run.count, peer,
                     needs);
    }
}

/* The first round, of all, that sends on a part of what comes in round k of the plan. */
static int first_until(const reduction_t *reduction, int k)
{
    mca_coll_pipering_parts_t parts = parts_of(reduction, k, false);
    int until = mca_coll_pipering_grid_rounds(reduction->args.grid);

    while (mca_coll_pipering_parts_next(&parts)) {
        until = parts.until < until ? parts.until : until;
    }
    return until;
}

/*
 * A round backwards: what goes out is complete, what comes in is combined. Messages come after
 * those of rounds before, as they should have the link alone, but for a few rounds of blocks.
 */
static void list_back(reduction_t *reduction, int k)
{
    const int rounds = mca_coll_pipering_grid_rounds(reduction->args.grid);
    const int ahead = 1 < reduction->args.grid->blocks ? MCA_COLL_PIPERING_ROUNDS_AHEAD : 1;
    const mca_coll_pipering_grid_round_t round = round_of(reduction, k);
    mca_common_colltools_schedule_t *schedule = &reduction->super.schedule;
    mca_coll_pipering_parts_t in = parts_of(reduction, k, true);
    size_t listed = 0;
    run_t run;

    reduction->so_far[k] = mca_common_colltools_schedule_so_far(schedule);
    const mca_common_colltools_needs_t come
        = without_steps(reduction->so_far[k + ahead <= rounds ? k + ahead - 1 : rounds - 1]);
    mca_common_colltools_needs_t go = come;
    const int until = first_until(reduction, k);
    go.steps = until < rounds ? reduction->so_far[until - 1].steps : 0;
    list_runs(reduction, &schedule->sends, k, false, round.from, go);
    while (mca_coll_pipering_parts_run(&in, &run)) {
        list_message(reduction, &schedule->receives, came_at(reduction, k, listed), run.count,
                     round.to, come);
        mca_common_colltools_schedule_step(schedule, combine, k, 0 == listed,
                                           (mca_common_colltools_needs_t){
                                               .receives = schedule->receives.count});
        listed += run.count;
    }
}

static void list_delivery(reduction_t *reduction, mca_coll_pipering_span_t span)
{
    mca_common_colltools_schedule_t *schedule = &reduction->super.schedule;

    mca_common_colltools_schedule_step(schedule, deliver, span.first, span.count,
                                       (mca_common_colltools_needs_t){
                                           .receives = schedule->receives.count});
}

/* A round forwards: results. */
static void list_on(reduction_t *reduction, int k)
{
    const mca_coll_pipering_grid_round_t round = round_of(reduction, k);
    mca_common_colltools_schedule_t *schedule = &reduction->super.schedule;
    const mca_common_colltools_needs_t needs = mca_common_colltools_schedule_so_far(schedule);

    list_runs(reduction, &schedule->sends, k, true, round.to, needs);
    list_runs(reduction, &schedule->receives, k, false, round.from, needs);
    if (0 < round.full.count) {
        list_delivery(reduction, round.full);
    }
}

/* The results of the own share go to the ranks whose they are; others bring those of this rank. */
static void list_parts(reduction_t *reduction)
{
    const mca_coll_pipering_slots_t *slots = reduction->args.slots;
    const mca_coll_pipering_span_t own = slots->own;
    mca_common_colltools_schedule_t *schedule = &reduction->super.schedule;
    const mca_common_colltools_needs_t needs = mca_common_colltools_schedule_so_far(schedule);

    for (int i = slots->first[own.first]; i < slots->first[own.first + own.count]; ++i) {
        const mca_coll_pipering_piece_t *piece = &slots->piece[i];
        if (!is_wanted(reduction, piece)) {
            list_message(reduction, &schedule->sends,
                         at(reduction, reduction->slots, piece->offset), piece->bytes, piece->rank,
                         needs);
        }
    }
    for (int lane = 0; lane < reduction->args.grid->lanes; ++lane) {
        const mca_coll_pipering_piece_t *piece
            = mca_coll_pipering_grid_given(reduction->args.grid, slots, reduction->me, lane);
        if (NULL != piece) {
            list_message(reduction, &schedule->receives,
                         at(reduction, reduction->args.recv->buffer, piece->from), piece->bytes,
                         mca_coll_pipering_grid_member(reduction->args.grid, reduction->me, lane),
                         without_steps(mca_common_colltools_schedule_so_far(schedule)));
        }
    }
}

static void list_all(reduction_t *reduction)
{
    const int rounds = mca_coll_pipering_grid_rounds(reduction->args.grid);

    for (int k = rounds - 1; 0 <= k; --k) {
        list_back(reduction, k);
    }
    list_delivery(reduction, reduction->args.slots->own);
    for (int k = 0; reduction->args.spreads && k < rounds; ++k) {
        list_on(reduction, k);
    }
    if (!reduction->args.spreads) {
        list_parts(reduction);
    }
    mca_coll_pipering_scheduled_listed(&reduction->super);
}

int mca_coll_pipering_reduce_rounds_new(const mca_coll_pipering_rounds_args_t *args,
                                        mca_coll_pipering_scheduled_t **made)
{
    const size_t count = (size_t) mca_coll_pipering_grid_rounds(args->grid) + 1;
    const mca_common_colltools_needs_t most = {.receives = (uint32_t) args->in,
                                               .sends = (uint32_t) args->out,
                                               .steps = (uint32_t) (args->in + count)};
    void *behind;
    reduction_t *reduction = mca_coll_pipering_scheduled_new(args->caller, args->tag,
                                                             sizeof(*reduction), most,
                                                             count
                                                                 * (sizeof(*reduction->came)
                                                                    + sizeof(*reduction->so_far)),
                                                             &behind);

    if (NULL == reduction) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *made = &reduction->super;
    reduction->super.schedule.synchronous = args->synchronous;
    reduction->args = *args;
    reduction->came = behind;
    reduction->so_far = (mca_common_colltools_needs_t *) (reduction->came + count);
    reduction->me = args->me;
    int rc = take_memory(reduction);
    if (OMPI_SUCCESS == rc) {
        rc = put_own(reduction);
    }
    if (OMPI_SUCCESS == rc) {
        list_all(reduction);
    }
    return rc;
}
