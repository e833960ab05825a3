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
 * Ranks of a communicator of coll/mleader, set up as coll_mleader_topology.c does, and
 * calls that go through the component's own phases (see posing.h).
 */

#ifndef PIPERING_TEST_CAST_H
#define PIPERING_TEST_CAST_H

#include "coll_mleader_steps.h"

/** The segment of a node. */
typedef struct cast_segment_t {
    char *memory;
    size_t size, header; /**< header: bytes of the counters, which come first */
} cast_segment_t;

typedef struct cast_run_t cast_run_t;

typedef struct cast_t {
    mca_coll_mleader_layout_t layout;
    int node_of[POSING_RANKS], list_of[POSING_RANKS];
    mca_coll_mleader_topology_t topology[POSING_RANKS]; /**< by rank */
    ompi_communicator_t comm[POSING_RANKS];
    cast_segment_t segment[POSING_RANKS]; /**< by node */
    mca_coll_mleader_schedules_t schedules[POSING_RANKS]; /**< by rank: of calls that wait */
    size_t half_size;
    void *memory[MCA_COLL_MLEADER_GROUPINGS], *numbers;
    cast_run_t *run[POSING_RANKS];   /**< by rank: calls that have begun and do not wait */
    const char *fault[POSING_RANKS]; /**< by rank: what was wrong with one of these ... */
    int errors[POSING_RANKS];        /**< ... and how many have ended with an error */
} cast_t;

/** A call, equal on all ranks. */
typedef struct cast_call_t {
    mca_coll_mleader_variant_t variant;
    int grouping;
    size_t bytes, slice_size, message_size;
    bool in_place, spaced; /**< spaced: with gaps between contributions in the result */
    bool later;            /**< it does not wait */
    uint64_t key;          /**< of the data */
} cast_call_t;

/** Random groups of `ranks` ranks on up to so many nodes. */
void cast_roll(cast_t *cast, int ranks, int nodes);

/**
 * Opens communicator and segments for the layout, as after `slices` slices. Grouping 0 is
 * the layout's, grouping 1 has one leader a node.
 */
void cast_open(cast_t *cast, size_t half_size, uint64_t slices);

/** Closes them; false where messages are left. */
bool cast_close(cast_t *cast);

/** The most bytes that a slice of a call may have, as its grouping and variant are. */
size_t cast_most(const cast_t *cast, const cast_call_t *call);

/** A random size of messages for slices of a size: a round may go in many. */
size_t cast_message(const cast_t *cast, size_t slice_size);

/** A random variant and sizes, up to `slices` slices of the largest size. */
cast_call_t cast_roll_call(const cast_t *cast, int slices);

/** A call like another one, but for its data, where they lie, and one thing more at most. */
cast_call_t cast_again(const cast_t *cast, const cast_call_t *call);

/** Begins a call that does not wait; opal_progress moves it. `call` is borrowed until then. */
void cast_start(cast_t *cast, int rank, const cast_call_t *call);

/** Runs calls on a rank, and waits for all of them; NULL, or what is wrong. */
const char *cast_act(cast_t *cast, int rank, const cast_call_t *calls, int count);

/** Nodes and groups, for messages. */
const char *cast_show(const cast_t *cast);

#endif
