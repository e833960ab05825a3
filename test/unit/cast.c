/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "cast.h"

#include <string.h>

#include "ref.h"
#include "tap.h"

mca_coll_mleader_counters_t mca_coll_mleader_counters;

/* ---- layouts ---- */

void cast_roll(cast_t *cast, int ranks, int nodes)
{
    const int groups = tap_between(1, 4);

    memset(cast, 0, sizeof(*cast));
    cast->layout = (mca_coll_mleader_layout_t){.ranks = ranks,
                                               .division = MCA_COLL_MLEADER_BY_LIST};
    for (int r = 0; r < ranks; r++) {
        const int other = tap_between(0, nodes - 1);

        cast->node_of[r] = other < r ? cast->node_of[other] : r;
        cast->list_of[r] = tap_between(0, groups < ranks ? groups - 1 : ranks - 1);
    }
}

const char *cast_show(const cast_t *cast)
{
    static char text[400];

    snprintf(text, sizeof(text), "nodes %.150s, groups %.150s",
             ref_show_int(cast->node_of, cast->layout.ranks),
             ref_show_int(cast->list_of, cast->layout.ranks));
    return text;
}

static void progress(ompi_communicator_t *comm);

/* ---- topologies ---- */

static void add_grouping(cast_t *cast, mca_coll_mleader_topology_t *topology,
                         const mca_coll_mleader_layout_t *layout)
{
    const int ranks = layout->ranks, which = topology->groupings++;
    mca_coll_mleader_grouping_t *grouping = &topology->grouping[which];
    mca_coll_mleader_groups_t *groups = &grouping->groups;

    cast->memory[which] = tap_memory(mca_coll_mleader_groups_size(ranks));
    mca_coll_mleader_groups_bind(groups, ranks, cast->memory[which]);
    mca_coll_mleader_groups(groups, layout);
    grouping->lane_first = tap_memory((size_t) (ranks * (ranks + 1)) * sizeof(int));
    mca_coll_mleader_lanes(groups, grouping->lane_first);
    topology->nodes = groups->nodes;
    grouping->counter = topology->lanes;
    topology->lanes += groups->lanes;
    for (int g = 0; g < groups->groups; g++) {
        const int size = groups->first[g + 1] - groups->first[g];

        grouping->largest = size > grouping->largest ? size : grouping->largest;
    }
}

/* What is equal on all ranks; arrays that nobody writes to are theirs together. */
static void set_common(cast_t *cast, mca_coll_mleader_topology_t *topology)
{
    const int ranks = cast->layout.ranks;
    mca_coll_mleader_layout_t whole;
    int count[POSING_RANKS] = {0};

    cast->layout.node_of = cast->layout.domain_of = cast->node_of;
    cast->layout.list_of = cast->list_of;
    whole = cast->layout;
    whole.division = MCA_COLL_MLEADER_BY_COUNT;
    whole.count = 1;
    topology->ranks = ranks;
    add_grouping(cast, topology, &cast->layout);
    add_grouping(cast, topology, &whole);
    cast->numbers = tap_memory((size_t) (2 * ranks + 1) * sizeof(int));
    topology->index = cast->numbers;
    topology->identity = topology->index + ranks;
    for (int r = 0; r <= ranks; r++) {
        topology->identity[r] = r;
    }
    for (int r = 0; r < ranks; r++) {
        topology->index[r] = count[cast->node_of[r]]++;
        topology->most_here = topology->index[r] < topology->most_here ? topology->most_here
                                                                       : topology->index[r] + 1;
    }
    topology->shared.there = true;
    topology->crowd = 2;
    topology->shared.half_size = cast->half_size;
}

static void open_segment(cast_t *cast, const mca_coll_mleader_topology_t *topology, int node,
                         uint64_t slices)
{
    cast_segment_t *segment = &cast->segment[node];
    const int counters = topology->most_here + topology->lanes;
    mca_coll_mleader_counter_t *counter;

    segment->header = (size_t) counters * sizeof(*counter);
    segment->size = segment->header + 2 * cast->half_size;
    segment->memory = tap_memory(segment->size);
    counter = (mca_coll_mleader_counter_t *) segment->memory;
    for (int i = 0; i < counters; i++) {
        counter[i].value = i < topology->most_here ? mca_coll_mleader_written(slices - 1)
                                                   : mca_coll_mleader_progress(slices - 1, 0);
    }
}

/* What a rank has for itself. */
static void place_rank(const cast_t *cast, mca_coll_mleader_topology_t *topology, int rank)
{
    const cast_segment_t *segment;

    for (int i = 0; i < topology->groupings; i++) {
        mca_coll_mleader_grouping_t *grouping = &topology->grouping[i];
        const mca_coll_mleader_groups_t *groups = &grouping->groups;

        grouping->group = groups->group[groups->position[rank]];
        grouping->node = groups->node[grouping->group];
        grouping->leader = rank == mca_coll_mleader_leader(groups, grouping->group);
    }
    segment = &cast->segment[topology->grouping[0].node];
    topology->shared.written = (mca_coll_mleader_counter_t *) segment->memory;
    topology->shared.progress = topology->shared.written + topology->most_here;
    topology->shared.half[0] = segment->memory + segment->header;
    topology->shared.half[1] = topology->shared.half[0] + cast->half_size;
}

void cast_open(cast_t *cast, size_t half_size, uint64_t slices)
{
    mca_coll_mleader_topology_t common
        = {.shared = {.taken = slices, .last = slices, .moved = slices}};

    cast->half_size = half_size;
    set_common(cast, &common);
    for (int node = 0; node < common.nodes; node++) {
        open_segment(cast, &common, node, slices);
    }
    for (int r = 0; r < cast->layout.ranks; r++) {
        cast->topology[r] = common;
        place_rank(cast, &cast->topology[r], r);
    }
    posing_open(cast->comm, cast->layout.ranks, tap_random());
    posing_progress = progress;
    for (int r = 0; r < cast->layout.ranks; r++) {
        cast->comm[r].owner = cast;
    }
}

bool cast_close(cast_t *cast)
{
    for (int node = 0; node < cast->topology[0].nodes; node++) {
        free(cast->segment[node].memory);
    }
    for (int i = 0; i < cast->topology[0].groupings; i++) {
        free(cast->topology[0].grouping[i].lane_first);
        free(cast->memory[i]);
    }
    for (int r = 0; r < cast->layout.ranks; r++) {
        free(cast->schedules[r].memory);
    }
    free(cast->numbers);
    return posing_close(cast->comm);
}

/* ---- calls ---- */

size_t cast_most(const cast_t *cast, const cast_call_t *call)
{
    const mca_coll_mleader_groups_t *groups = &cast->topology[0].grouping[call->grouping].groups;
    return cast->half_size / (size_t) (call->variant.lanes ? 1 : groups->lanes)
           / (size_t) groups->ranks;
}

size_t cast_message(const cast_t *cast, size_t slice_size)
{
    const int least = (cast->layout.ranks + MCA_COLL_MLEADER_MESSAGES - 1)
                      / MCA_COLL_MLEADER_MESSAGES;

    return slice_size * (size_t) tap_between(least, 2 * least + 1);
}

cast_call_t cast_roll_call(const cast_t *cast, int slices)
{
    cast_call_t call = {.in_place = tap_once_in(3), .spaced = tap_once_in(2), .key = tap_random()};

    call.variant.aggregation = (mca_coll_mleader_inside_t) tap_below(4);
    call.variant.exchange = (mca_common_colltools_algorithm_t) tap_below(3);
    call.grouping = tap_between(0, cast->topology[0].groupings - 1);
    call.variant.lanes = 1 < cast->topology[0].grouping[call.grouping].groups.lanes
                         && tap_once_in(2);
    call.slice_size = 1 + tap_below(cast_most(cast, &call));
    call.message_size = cast_message(cast, call.slice_size);
    call.bytes = 1 + tap_below((size_t) slices * call.slice_size);
    call.later = tap_once_in(2);
    return call;
}

cast_call_t cast_again(const cast_t *cast, const cast_call_t *call)
{
    const cast_call_t other = cast_roll_call(cast, 1);
    cast_call_t again = *call;

    switch (tap_between(0, 5)) {
    case 0:
        again.variant.exchange = other.variant.exchange;
        break;
    case 1:
        again.variant.aggregation = other.variant.aggregation;
        break;
    case 2:
        again.message_size = cast_message(cast, again.slice_size);
        break;
    case 3:
        again.grouping = again.variant.lanes ? again.grouping : other.grouping;
        again.slice_size = tap_once_in(2) ? 1 : again.slice_size;
        again.slice_size = again.slice_size > cast_most(cast, &again) ? 1 : again.slice_size;
        again.bytes = 1 + tap_below(5 * again.slice_size);
        break;
    default:
        break;
    }
    again.in_place = tap_once_in(3);
    again.spaced = tap_once_in(2);
    again.later = tap_once_in(2);
    again.key = tap_random();
    return again;
}

/* Byte k of what a rank gives. */
static char content(const cast_call_t *call, int rank, size_t k)
{
    uint64_t x = call->key + (uint64_t) rank * UINT64_C(0x9e3779b97f4a7c15)
                 + k * UINT64_C(0xd1b54a32d192ed03);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return (char) (x >> 56);
}

static bool is_right(const cast_call_t *call, const char *result, size_t stride, int ranks)
{
    bool right = true;

    for (int r = 0; r < ranks; r++) {
        for (size_t k = 0; k < stride; k++) {
            const char wanted = k < call->bytes ? content(call, r, k) : 0;

            right &= wanted == result[(size_t) r * stride + k];
        }
    }
    return right;
}

/* ---- runs of calls ---- */

/** A call on a rank, with its buffers. */
struct cast_run_t {
    mca_coll_mleader_call_t call;
    mca_coll_mleader_schedules_t schedules; /**< unless it waits */
    const cast_call_t *of;
    ompi_datatype_t type;
    char *result, *mine;
    cast_run_t *next;
};

static cast_run_t *new_run(cast_t *cast, int rank, const cast_call_t *call, bool waits)
{
    const size_t stride = call->bytes + (call->spaced ? 3 : 0);
    const size_t size = (size_t) cast->layout.ranks * stride;
    cast_run_t *run = tap_memory(sizeof(*run));
    mca_coll_mleader_topology_t *topology = &cast->topology[rank];

    *run = (cast_run_t){.of = call,
                        .type = {.size = (ptrdiff_t) call->bytes},
                        .result = tap_memory(size),
                        .mine = tap_memory(call->bytes)};
    char *from = call->in_place ? run->result + (size_t) rank * stride : run->mine;

    run->call = (mca_coll_mleader_call_t){
        .comm = &cast->comm[rank],
        .caller = {.comm = &cast->comm[rank]},
        .topology = topology,
        .memory = &topology->shared,
        .grouping = &topology->grouping[call->grouping],
        .variant = call->variant,
        .sbuf = from,
        .scount = 1,
        .stype = &run->type,
        .rbuf = run->result,
        .rcount = 1,
        .rtype = &run->type,
        .stride = (ptrdiff_t) stride,
        .in_place = call->in_place,
        .sdense = true,
        .rdense = true,
        .waits = waits,
        .schedules = waits ? &cast->schedules[rank] : &run->schedules,
        .tag = -(int) (call->key % POSING_TAGS),
        .bytes = call->bytes,
        .slice_size = call->slice_size < call->bytes ? call->slice_size : call->bytes,
        .message_size = call->message_size};
    memset(run->result, 0, size);
    for (size_t k = 0; k < call->bytes; k++) {
        from[k] = content(call, rank, k);
    }
    return run;
}

/** Judges a run that is over, and frees it; NULL, or what is wrong. */
static const char *end_run(cast_t *cast, cast_run_t *run)
{
    const int code = run->call.error;
    const bool right = is_right(run->of, run->result, (size_t) run->call.stride,
                                cast->layout.ranks);

    cast->errors[run->call.comm->rank] += OMPI_SUCCESS != code;
    mca_coll_mleader_call_fini(&run->call);
    free(run->schedules.memory);
    free(run->mine);
    free(run->result);
    free(run);
    return OMPI_SUCCESS != code ? "an error" : right ? NULL : "wrong data";
}

void cast_start(cast_t *cast, int rank, const cast_call_t *call)
{
    cast_run_t *run = new_run(cast, rank, call, false), **end = &cast->run[rank];
    int steps = 0;

    if (OMPI_SUCCESS != mca_coll_mleader_call_init(&run->call)) {
        cast->fault[rank] = "no memory";
    }
    mca_coll_mleader_call_begin(&run->call);
    (void) mca_coll_mleader_call_move(&run->call, &steps);
    while (NULL != *end) {
        end = &(*end)->next;
    }
    *end = run;
}

/** Moves all calls of a rank that do not wait. */
static void progress(ompi_communicator_t *comm)
{
    cast_t *cast = comm->owner;
    int steps = 0;

    for (cast_run_t **at = &cast->run[comm->rank]; NULL != *at;) {
        cast_run_t *run = *at;

        if (!mca_coll_mleader_call_move(&run->call, &steps)) {
            at = &run->next;
            continue;
        }
        *at = run->next;
        const char *fault = end_run(cast, run);
        cast->fault[comm->rank] = NULL == fault ? cast->fault[comm->rank] : fault;
    }
}

const char *cast_act(cast_t *cast, int rank, const cast_call_t *calls, int count)
{
    const char *fault = NULL;

    for (int i = 0; i < count && NULL == fault; i++) {
        if (calls[i].later) {
            cast_start(cast, rank, &calls[i]);
        } else {
            cast_run_t *run = new_run(cast, rank, &calls[i], true);

            (void) mca_coll_mleader_call_run(&run->call);
            fault = end_run(cast, run);
        }
    }
    while (NULL == fault && NULL != cast->run[rank]) {
        opal_progress();
    }
    return NULL == fault ? cast->fault[rank] : fault;
}
