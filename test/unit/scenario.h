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
 * Random scenarios of the schedule engine, with several ranks in one process (posing_pml.h).
 *
 * A scenario is a sequence of messages and steps of ranks. Each becomes an entry of the lists
 * of its ranks, which needs only entries before it, so that every scenario can end:
 *
 *     0 -> 1, step of 1, 1 -> 2, 0 <-> 2 ...    receives of 1: (0)    sends of 1: (2)
 *                                               steps of 1: needs 1 receive
 *
 * Posed messages show which entries are over. So the needs and the window of each entry are
 * looked at when it begins, and whatever is wrong is written to scenario.fault.
 */

#ifndef PIPERING_TEST_SCENARIO_H
#define PIPERING_TEST_SCENARIO_H

#include "ompi/mca/common/colltools/common_colltools_schedule.h"

#include "posing_pml.h"

#define SCENARIO_TAG 17
#define SCENARIO_RANKS 6
#define SCENARIO_ENTRIES 64 /* of a list */
#define SCENARIO_BYTES 40   /* of a message, at most */

/** Where data of a message lies. */
typedef enum { RECEIVED, SENT, ANSWER, PLACES } scenario_place_t;

/** A rank. */
typedef struct scenario_actor_t {
    ompi_communicator_t *comm;
    mca_common_colltools_caller_t caller;
    mca_common_colltools_schedule_t schedule;
    mca_common_colltools_message_t receives[SCENARIO_ENTRIES], sends[SCENARIO_ENTRIES];
    mca_common_colltools_message_t answers[SCENARIO_ENTRIES];
    ompi_request_t *receiving[SCENARIO_ENTRIES], *sending[SCENARIO_ENTRIES];
    mca_common_colltools_step_t steps[SCENARIO_ENTRIES];
    char *data[PLACES][SCENARIO_ENTRIES];   /**< of messages */
    uint64_t key[PLACES][SCENARIO_ENTRIES]; /**< what is in it at the end */
    posing_state_t state[PLACES][SCENARIO_ENTRIES];
    int filler[SCENARIO_ENTRIES]; /**< the step that fills what is sent, or -1 */
    uint32_t begun[2];            /**< receives and sends */
    uint32_t stepped;
    int blocks[SCENARIO_ENTRIES]; /**< how often a step wants to be called again */
    int step_fails, failure;      /**< the step that fails, or -1, and how */
    bool blocked, over;
    int first; /**< error that came to the engine */
} scenario_actor_t;

typedef struct scenario_t {
    int ranks, round;
    bool answers, waiting; /**< some messages have answers; a rank waits for its end */
    bool mangled;          /**< a fault leaves data incomplete, or mixes messages up */
    ompi_communicator_t *comm; /**< of the first rank */
    scenario_actor_t actor[SCENARIO_RANKS];
    char fault[200]; /**< "": none */
} scenario_t;

extern scenario_t scenario;

/** Makes a scenario and its communicator. */
void scenario_make(uint64_t seed, bool goes_on);

/** Begins the schedules of all ranks. */
void scenario_begin(void);

/** One thing happens, or nothing does, to somebody but `rank`; false: nothing. */
bool scenario_happen(int rank);

/** Begins, and goes on until all ranks are over, or nothing happens any more, which is false. */
bool scenario_run(void);

/** Frees the data of a rank. */
void scenario_free(scenario_actor_t *actor);

/** Whether an entry has come to a state, in both directions if it has two. */
bool scenario_reached(const scenario_actor_t *actor, scenario_place_t place, uint32_t i,
                      posing_state_t state);

/** Whether data is what was sent. */
bool scenario_is_data(const char *data, uint64_t key, size_t bytes);

/** Notes what is wrong, if it is the first. */
__attribute__((format(printf, 2, 3))) void scenario_blame(int rank, const char *what, ...);

#endif
