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
 * The schedule engine of common/colltools in random scenarios (scenario.h): to their end,
 * several times, with errors, and left in the midst.
 */

#include "scenario.h"

#include "tap.h"

/* All has been done, and every byte has come. */
static void look_at_end(const scenario_actor_t *actor)
{
    const mca_common_colltools_schedule_t *schedule = &actor->schedule;
    const int rank = actor->comm->rank;

    if (OMPI_SUCCESS != schedule->error) {
        scenario_blame(rank, "error %d", schedule->error);
    }
    if (actor->stepped != schedule->steps || actor->begun[RECEIVED] != schedule->receives.count
        || actor->begun[SENT] != schedule->sends.count) {
        scenario_blame(rank, "it has ended before all began");
    }
    for (uint32_t i = 0; i < schedule->receives.count; i++) {
        if (POSING_FREED != actor->state[RECEIVED][i]
            || !scenario_is_data(actor->data[RECEIVED][i], actor->key[RECEIVED][i],
                                 actor->receives[i].bytes)) {
            scenario_blame(rank, "receive %u has not brought its data", i);
        }
    }
    for (uint32_t i = 0; i < schedule->sends.count; i++) {
        if (!scenario_reached(actor, SENT, i, POSING_FREED)) {
            scenario_blame(rank, "send %u is not over", i);
        }
        if (NULL != actor->sends[i].answer
            && !scenario_is_data(actor->data[ANSWER][i], actor->key[ANSWER][i],
                                 actor->answers[i].bytes)) {
            scenario_blame(rank, "answer %u has not brought its data", i);
        }
    }
}

/* Scenarios run to their end, several times. */
static bool try_scenario(void)
{
    const int rounds = tap_between(1, 3);

    scenario_make(tap_random(), true);
    for (; scenario.round < rounds && '\0' == scenario.fault[0]; scenario.round++) {
        scenario.waiting = tap_once_in(2);
        if (!scenario_run()) {
            scenario_blame(-1, "nothing happens any more");
        }
        for (int r = 0; r < scenario.ranks && '\0' == scenario.fault[0]; r++) {
            look_at_end(&scenario.actor[r]);
            if (mca_common_colltools_schedule_fini(&scenario.actor[r].schedule)) {
                scenario_blame(r, "something is pending after the end");
            }
        }
    }
    while (posing_event(scenario.comm)) {
    }
    if (0 != posing_close(scenario.comm)) {
        scenario_blame(-1, "requests or messages are left");
    }
    for (int r = 0; r < scenario.ranks; r++) {
        scenario_free(&scenario.actor[r]);
    }
    return '\0' == scenario.fault[0];
}

static void test_scenarios(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < 6000; n++) {
        tap_try(&tally, try_scenario(), "scenario %d: %s", n, scenario.fault);
    }
    tally_ok(&tally, 6000, "entries begin when they may, windows hold, and all arrives");
}

/* ---- errors ---- */

enum { REFUSED, SPOILED, STEP_FAILS, SHORTER, LONGER, FAULTS };

/* Puts a fault into a scenario; the rank that gets it, or -1: there is no place for it. */
static int put_fault(int kind)
{
    const int rank = tap_between(0, scenario.ranks - 1);
    scenario_actor_t *actor = &scenario.actor[rank];
    const mca_common_colltools_schedule_t *schedule = &actor->schedule;
    const uint32_t posts = schedule->receives.count + schedule->sends.count;

    if (STEP_FAILS == kind ? 0 == schedule->steps
                           : 0 == (SHORTER > kind ? posts : schedule->receives.count)) {
        return -1;
    }
    const uint32_t i = SHORTER > kind || STEP_FAILS == kind
                           ? 0
                           : (uint32_t) tap_below(schedule->receives.count);
    switch (kind) {
    case REFUSED:
        scenario.comm[rank].refuse = (int) tap_below(posts);
        scenario.comm[rank].refusal = OMPI_ERR_OUT_OF_RESOURCE;
        break;
    case SPOILED:
        scenario.comm[rank].spoil = (int) tap_below(posts);
        scenario.comm[rank].spoiled = 75;
        break;
    case STEP_FAILS:
        actor->step_fails = (int) tap_below(schedule->steps);
        actor->failure = OMPI_ERROR;
        break;
    default:
        if ((SHORTER == kind ? SCENARIO_BYTES : 0) == actor->receives[i].bytes) {
            return -1;
        }
        /* the message has its length, the receive expects another one */
        actor->receives[i].bytes += SHORTER == kind ? 1 : -1;
        actor->receives[i].count = actor->receives[i].bytes;
        actor->receives[i].type = MPI_BYTE;
        free(actor->data[RECEIVED][i]);
        actor->data[RECEIVED][i] = tap_memory(actor->receives[i].bytes);
        actor->receives[i].buffer = actor->data[RECEIVED][i];
        break;
    }
    return rank;
}

static int error_of(const scenario_actor_t *actor, int kind)
{
    switch (kind) {
    case SHORTER:
        return actor->schedule.any_length ? OMPI_SUCCESS : MPI_ERR_OTHER;
    case LONGER:
        return MPI_ERR_TRUNCATE;
    case SPOILED:
        return 75;
    default:
        return actor->first;
    }
}

/* After the end nothing is touched that has been let go of. */
static void let_go(void)
{
    for (int r = 0; r < scenario.ranks; r++) {
        const bool touches = posing_touches(&scenario.comm[r]);
        const bool pending = mca_common_colltools_schedule_fini(&scenario.actor[r].schedule);
        if (pending != touches) {
            scenario_blame(r, pending ? "nothing is pending, but it says so"
                                      : "something is pending, but it does not say so");
        }
        if (mca_common_colltools_schedule_fini(&scenario.actor[r].schedule)) {
            scenario_blame(r, "what is pending is so twice");
        }
        scenario.actor[r].over = true;
        if (!pending) {
            scenario_free(&scenario.actor[r]);
        }
    }
    while (posing_event(scenario.comm)) {
    }
    for (int r = 0; r < scenario.ranks; r++) {
        scenario_free(&scenario.actor[r]);
    }
}

/* How a rank with a fault, and the others, ended. */
static void look_at_errors(const scenario_actor_t *actor, int kind, bool all_ended)
{
    const int rank = actor->comm->rank, error = error_of(actor, kind);
    const mca_common_colltools_schedule_t *schedule = &actor->schedule;

    if (!actor->over && (SPOILED == kind || STEP_FAILS == kind || !schedule->goes_on)) {
        scenario_blame(rank, "it does not end");
    }
    if (actor->over && schedule->error != error) {
        scenario_blame(rank, "error %d, and it should be %d", schedule->error, error);
    }
    if (schedule->goes_on && !all_ended && REFUSED != kind) {
        scenario_blame(rank, "an error stops others");
    }
    if (schedule->goes_on && actor->over
        && (actor->stepped != schedule->steps || actor->begun[RECEIVED] != schedule->receives.count
            || actor->begun[SENT] != schedule->sends.count)) {
        scenario_blame(rank, "it goes on, but not to the end");
    }
    for (int r = 0; r < scenario.ranks; r++) {
        if (r != rank && REFUSED != kind && OMPI_SUCCESS != scenario.actor[r].schedule.error) {
            scenario_blame(r, "error %d of another rank", scenario.actor[r].schedule.error);
        }
    }
}

/* An error is that of one run. */
static void run_without_fault(int rank)
{
    scenario.comm[rank].spoil = scenario.actor[rank].step_fails = -1;
    if (!scenario_run()) {
        scenario_blame(rank, "it does not run again");
    }
    for (int r = 0; r < scenario.ranks; r++) {
        look_at_end(&scenario.actor[r]);
    }
}

/* A fault of one rank; false in *tried: there was no place for it. */
static bool try_fault(int kind, bool goes_on, bool *tried)
{
    scenario_make(tap_random(), goes_on);
    const int rank = put_fault(kind);

    *tried = -1 != rank;
    scenario.waiting = false;
    scenario.mangled = REFUSED == kind || SHORTER == kind;
    for (int r = 0; r < scenario.ranks; r++) {
        scenario.actor[r].schedule.any_length = goes_on && LONGER != kind && tap_once_in(4);
    }
    if (-1 != rank) {
        const bool all_ended = scenario_run();
        look_at_errors(&scenario.actor[rank], kind, all_ended);
        if (all_ended && goes_on && (SPOILED == kind || STEP_FAILS == kind)) {
            run_without_fault(rank);
        }
    }
    let_go();
    (void) posing_close(scenario.comm);
    scenario.mangled = false;
    return '\0' == scenario.fault[0];
}

static void test_errors(void)
{
    static const char *const names[FAULTS] = {"a message that is refused", "a message that fails",
                                              "a step that fails", "a message that is too short",
                                              "a message that is too long"};

    for (int kind = 0; kind < FAULTS; kind++) {
        for (int goes_on = 0; goes_on < 2; goes_on++) {
            tap_tally_t tally = {0, 0};
            for (int n = 0; n < 1500; n++) {
                bool tried;
                const bool pass = try_fault(kind, 0 != goes_on, &tried);
                if (tried || !pass) {
                    tap_try(&tally, pass, "scenario %d: %s", n, scenario.fault);
                }
            }
            tally_ok(&tally, 700, "%s %s", names[kind],
                     0 != goes_on ? "does not stop the others" : "ends the schedule");
        }
    }
}

static void test_any_time(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < 1500; n++) {
        const bool goes_on = tap_once_in(2);
        scenario_make(tap_random(), goes_on);
        scenario_begin();
        for (int k = tap_between(0, 60); 0 < k; k--) {
            (void) scenario_happen(-1);
        }
        let_go();
        (void) posing_close(scenario.comm);
        tap_try(&tally, '\0' == scenario.fault[0], "scenario %d: %s", n, scenario.fault);
    }
    tally_ok(&tally, 1500, "a schedule is let go of at any time, and tells what is pending");
}

int main(void)
{
    tap_start();
    alarm(300);
    test_scenarios();
    test_errors();
    test_any_time();
    return tap_end();
}
