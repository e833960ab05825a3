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
 * Random cases of MPI_Alltoallv, MPI_Alltoallw and MPI_Neighbor_alltoallw: a setting of
 * the component, a communicator, and a few calls on it, some of them in flight at once,
 * each judged against a reference (swap.h).
 */

#include "cases.h"
#include "knob.h"
#include "swap.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

#define CALLS_AT_MOST 4

enum { AUTO = 0, BINS = 1, PERMUTED = 6 };

/* ---- cases ---- */

typedef struct setting_t {
    int algorithm;
    size_t small;
    int window;
    size_t in_place;
    size_t packet;
} setting_t;

static setting_t random_setting(dice_t *dice)
{
    static const size_t bytes[] = {0, 1, 100, 4096, 1 << 20};
    static const size_t packets[] = {0, 100, 1001, 30000};
    static const int windows[] = {0, 0, 1, 2, 5};
    static const int algorithms[] = {AUTO, BINS, PERMUTED};

    return (setting_t){.algorithm = algorithms[dice_roll(dice, 3)],
                       .small = bytes[dice_roll(dice, 5)],
                       .window = windows[dice_roll(dice, 5)],
                       .in_place = bytes[dice_roll(dice, 5)],
                       .packet = packets[dice_roll(dice, 4)]};
}

static void apply(const setting_t *setting)
{
    knob_set("coll_pipering_alltoallv_algorithm", setting->algorithm);
    knob_set("coll_pipering_alltoallw_algorithm", setting->algorithm);
    knob_set("coll_pipering_neighbor_alltoallw_algorithm", setting->algorithm % 2);
    knob_set("coll_pipering_alltoall_small", (double) setting->small);
    knob_set("coll_pipering_alltoall_window", setting->window);
    knob_set("coll_pipering_alltoall_in_place", (double) setting->in_place);
    knob_set("coll_pipering_block_size", (double) setting->packet);
}

/**
 * Of at least two processes: one alone is not served by the component, and Open MPI's own
 * calls are wrong there (5.0.7: MPI_Alltoallw takes its displacements in extents,
 * MPI_Ialltoallv gives an error, neighbours that are the rank itself are mixed up).
 */
static MPI_Comm random_comm(dice_t *dice, int *color)
{
    MPI_Comm comm;
    int *order = tap_memory((size_t) tap_size * sizeof(int));

    dice_shuffle(dice, order, tap_size);
    *color = 4 <= tap_size && dice_once_in(dice, 3) ? order[tap_rank] % 2 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, *color, order[tap_rank], &comm);
    free(order);
    return comm;
}

/** With 95 of them on 20 ranks, an exchange lists the few messages that have elements. */
static const int percent_of_zeros[6] = {0, 25, 50, 75, 95, 100};

static swap_t *random_swap(MPI_Comm comm, MPI_Comm topology, MPI_Comm quiet, dice_t *shared,
                           dice_t *own)
{
    swap_spec_t spec = {.call = (swap_call_t) dice_roll(shared, 3), .quiet = quiet};

    spec.comm = SWAP_NEIGHBORS == spec.call ? topology : comm;
    spec.in_place = dice_once_in(shared, 3) && SWAP_NEIGHBORS != spec.call;
    spec.zeros = percent_of_zeros[dice_roll(shared, 6)];
    spec.most = (size_t) 1 << dice_between(shared, 2, 17);
    return swap_new(&spec, dice_word(shared), own);
}

/* ---- running ---- */

typedef struct flight_t {
    swap_t *swap[CALLS_AT_MOST];
    swap_form_t form[CALLS_AT_MOST];
    int calls;
} flight_t;

static void start_all(flight_t *flight)
{
    for (int i = 0; i < flight->calls; i++) {
        if (MPI_SUCCESS != swap_start(flight->swap[i], flight->form[i])) {
            cases_fail("start", "gave an error");
        }
    }
}

static void wait_all(flight_t *flight, dice_t *own)
{
    int order[CALLS_AT_MOST];

    dice_shuffle(own, order, flight->calls);
    for (int i = 0; i < flight->calls; i++) {
        if (MPI_SUCCESS != MPI_Wait(&flight->swap[order[i]]->request, MPI_STATUS_IGNORE)) {
            cases_fail("wait", "gave an error");
        }
    }
}

static void judge_all(flight_t *flight, const char *topology)
{
    static const char *const names[] = {"alltoallv", "alltoallw", "neighbors"};
    static const char *const forms[] = {"blocking", "nonblocking", "persistent"};
    char what[100];

    for (int i = 0; i < flight->calls; i++) {
        const swap_t *swap = flight->swap[i];
        snprintf(what, sizeof(what), "%s, %s%s, %s", names[swap->call], forms[flight->form[i]],
                 swap->in_place ? ", in place" : "",
                 SWAP_NEIGHBORS == swap->call ? topology : "all");
        if (!swap_right(flight->swap[i])) {
            cases_fail(what, "wrong data");
        }
    }
}

/** Persistent calls once more, in another order on each rank. */
static void restart(flight_t *flight, dice_t *own)
{
    int order[CALLS_AT_MOST];

    dice_shuffle(own, order, flight->calls);
    for (int i = 0; i < flight->calls; i++) {
        if (SWAP_PERSISTENT == flight->form[order[i]]) {
            TAP_MPI(MPI_Start(&flight->swap[order[i]]->request));
        }
    }
    for (int i = 0; i < flight->calls; i++) {
        if (SWAP_PERSISTENT == flight->form[i]) {
            TAP_MPI(MPI_Wait(&flight->swap[i]->request, MPI_STATUS_IGNORE));
            if (!swap_right(flight->swap[i])) {
                cases_fail("persistent, once more", "wrong data");
            }
            TAP_MPI(MPI_Request_free(&flight->swap[i]->request));
        }
    }
}

static void run_calls(MPI_Comm comm, dice_t *shared, dice_t *own)
{
    flight_t flight = {.calls = dice_between(shared, 1, CALLS_AT_MOST)};
    const char *name;
    uint64_t key = dice_word(shared);
    MPI_Comm quiet, topology;

    while (cases_watched && swap_topology_is_graph(key)) {
        key = dice_word(shared);
    }
    topology = swap_topology(comm, key, &name);
    MPI_Comm_dup(comm, &quiet);
    for (int i = 0; i < flight.calls; i++) {
        flight.swap[i] = random_swap(comm, topology, quiet, shared, own);
        flight.form[i] = (swap_form_t) dice_roll(shared, SWAP_FORMS);
        if (cases_watched && SWAP_V != flight.swap[i]->call) {
            flight.form[i] = SWAP_BLOCKING;
        }
    }
    start_all(&flight);
    wait_all(&flight, own);
    judge_all(&flight, name);
    restart(&flight, own);
    for (int i = 0; i < flight.calls; i++) {
        swap_free(flight.swap[i]);
    }
    MPI_Comm_free(&topology);
    MPI_Comm_free(&quiet);
}

void cases_swaps(uint64_t seed, int number)
{
    dice_t world = dice_from(seed, (uint64_t) number, 0);
    const setting_t setting = random_setting(&world);
    int color;
    MPI_Comm comm = random_comm(&world, &color);
    dice_t shared = dice_from(seed, (uint64_t) number, 1000 + (uint64_t) color);
    dice_t own = dice_from(seed, (uint64_t) number, 2000 + (uint64_t) tap_rank);

    apply(&setting);
    run_calls(comm, &shared, &own);
    MPI_Comm_free(&comm);
}
