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
 * Calls along the lines of a mesh (coll_pipering_lines.h).
 */

#include "coll_pipering_lines.h"

#include <stdlib.h>

#include "coll_pipering_mesh.h"
#include "coll_pipering_ways.h"

/* A phase that is under way. */
typedef struct {
    mca_coll_pipering_lines_phase_t plan;
    char **part; /* [plan.parts] values; the last one becomes the result */
} phase_t;

/* A call along lines that is under way. */
typedef struct {
    mca_coll_pipering_scheduled_t super;
    mca_coll_pipering_rounds_args_t args;
    mca_coll_pipering_lines_t lines;
    phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    int phases;
} along_t;

/* ---- steps ---- */

/* A value goes to where results are. */
static int put(along_t *along, char *value)
{
    const mca_coll_pipering_rounds_args_t *args = &along->args;

    return mca_coll_pipering_rounds_copy(&along->super, &args->unit, args->recv->buffer, value,
                                         args->count);
}

static int put_own(void *context, int from, int to)
{
    along_t *along = context;

    (void) from;
    (void) to;
    return put(along, along->args.send->buffer);
}

/* The parts of a phase become its last one. */
static int combine(void *context, int which, int to)
{
    const along_t *along = context;
    const mca_coll_pipering_rounds_args_t *args = &along->args;
    const phase_t *phase = &along->phase[which];
    const int last = phase->plan.parts - 1;

    (void) to;
    for (int i = last - 1; 0 <= i; --i) {
        ompi_op_reduce(args->op, phase->part[i], phase->part[last], args->count,
                       args->unit.type);
    }
    return OMPI_SUCCESS;
}

static int put_result(void *context, int which, int to)
{
    along_t *along = context;
    const phase_t *phase = &along->phase[which];

    (void) to;
    return put(along, phase->part[phase->plan.parts - 1]);
}

/* ---- memory ---- */

/* Messages in and out, steps, and parts of all phases. */
static mca_common_colltools_needs_t count_entries(const mca_coll_pipering_lines_phase_t *phase,
                                                  int phases, size_t *parts)
{
    mca_common_colltools_needs_t most = {0, 0, (uint32_t) phases + 2};

    *parts = 0;
    for (int i = 0; i < phases; ++i) {
        most.receives += (uint32_t) phase[i].parts - 1;
        most.sends += (uint32_t) phase[i].sends;
        *parts += (size_t) phase[i].parts;
    }
    return most;
}

/* Places for values that are received; each is that of the user's type, with its gaps. */
static void place_parts(along_t *along, char **part, char *values, size_t span)
{
    char *own = NULL == along->args.op ? NULL : along->args.recv->buffer;

    for (int i = 0; i < along->phases; ++i) {
        phase_t *phase = &along->phase[i];
        phase->part = part;
        part += phase->plan.parts;
        for (int j = 0; j < phase->plan.parts; ++j) {
            phase->part[j] = j == phase->plan.own ? own : values;
            values += j == phase->plan.own ? 0 : span;
        }
        own = phase->part[phase->plan.parts - 1];
    }
}

/* Of `values` received ones. */
static int take_memory(along_t *along, size_t values, char **part)
{
    const mca_coll_pipering_rounds_args_t *args = &along->args;
    ptrdiff_t gap = 0;
    const size_t span = NULL == args->op
                            ? 0
                            : mca_common_colltools_span(args->unit.type, args->count, &gap);

    along->super.memory = malloc(values * span + 1);
    if (NULL == along->super.memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    place_parts(along, part, (char *) along->super.memory - gap, span);
    return OMPI_SUCCESS;
}

/* ---- listing ---- */

static void list_message(const along_t *along, mca_common_colltools_messages_t *list, char *value,
                         int peer, mca_common_colltools_needs_t needs)
{
    const mca_coll_pipering_rounds_args_t *args = &along->args;
    const bool barrier = NULL == args->op;

    (void) mca_common_colltools_schedule_message(list, barrier ? NULL : value,
                                                 barrier ? MPI_BYTE : args->unit.type, args->count,
                                                 args->count * args->unit.size, peer, needs);
}

/* A phase begins when the one before is over. */
static void list_phase(along_t *along, int which)
{
    mca_common_colltools_schedule_t *schedule = &along->super.schedule;
    const phase_t *phase = &along->phase[which];
    const mca_common_colltools_needs_t none = {0, 0, 0};
    const mca_common_colltools_needs_t before = mca_common_colltools_schedule_so_far(schedule);

    for (int i = 0; i < phase->plan.parts; ++i) {
        if (i != phase->plan.own) {
            list_message(along, &schedule->receives, phase->part[i],
                         mca_coll_pipering_lines_from(&along->lines, &phase->plan, i), none);
        }
    }
    for (int i = 0; i < phase->plan.sends; ++i) {
        list_message(along, &schedule->sends, phase->part[phase->plan.own],
                     mca_coll_pipering_lines_to(&along->lines, &phase->plan, i), before);
    }
    if (NULL != along->args.op) {
        mca_common_colltools_schedule_step(schedule, combine, which, 0,
                                           mca_common_colltools_schedule_so_far(schedule));
    }
}

static void list_all(along_t *along)
{
    mca_common_colltools_schedule_t *schedule = &along->super.schedule;
    const bool barrier = NULL == along->args.op;

    if (!barrier && along->args.send->buffer != along->args.recv->buffer) {
        mca_common_colltools_schedule_step(schedule, put_own, 0, 0,
                                           mca_common_colltools_schedule_so_far(schedule));
    }
    for (int i = 0; i < along->phases; ++i) {
        list_phase(along, i);
    }
    if (!barrier) {
        mca_common_colltools_schedule_step(schedule, put_result, along->phases - 1, 0,
                                           mca_common_colltools_schedule_so_far(schedule));
    }
    mca_coll_pipering_scheduled_listed(&along->super);
}

int mca_coll_pipering_lines_new(const mca_coll_pipering_rounds_args_t *args,
                                const mca_coll_pipering_lines_t *lines,
                                mca_coll_pipering_scheduled_t **made)
{
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    const int phases = mca_coll_pipering_lines_phases(lines, phase);
    size_t parts;
    const mca_common_colltools_needs_t most = count_entries(phase, phases, &parts);
    void *part;
    along_t *along = mca_coll_pipering_scheduled_new(args->caller, args->tag, sizeof(*along), most,
                                                     parts * sizeof(char *), &part);

    if (NULL == along) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    *made = &along->super;
    along->args = *args;
    along->lines = *lines;
    along->phases = phases;
    for (int i = 0; i < phases; ++i) {
        along->phase[i].plan = phase[i];
    }
    const int rc = take_memory(along, most.receives, part);
    if (OMPI_SUCCESS == rc) {
        list_all(along);
    }
    return rc;
}

int mca_coll_pipering_mesh_lines(const mca_coll_pipering_rounds_args_t *args,
                                 const mca_coll_pipering_ways_t *ways,
                                 mca_coll_pipering_scheduled_t **made)
{
    const mca_coll_pipering_lines_t lines = {.mesh = &ways->mesh,
                                             .group = MCA_COLL_PIPERING_LINES_GROUP,
                                             .me = ompi_comm_rank(args->caller->comm)};

    return mca_coll_pipering_lines_new(args, &lines, made);
}
