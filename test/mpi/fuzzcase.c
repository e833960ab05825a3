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
 * Random cases of gathers and folds: a communicator, a setting of the components and a
 * few calls on it, some in flight at once. What ranks must agree on comes from dice that
 * all ranks share, types from dice of the rank.
 */

#include "cases.h"
#include "exchange.h"
#include "fold.h"
#include "knob.h"
#include "tap.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

#define CALLS_AT_MOST 5

static int number; /* of the case */
static bool component;
static bool mismatch;
static bool unlike; /* a call's types may differ, on a rank and between ranks */

/* ---- settings ---- */

static bool folds_forced; /* to be served by the component, whatever the size */

/** All forced, or each as it comes. */
static void random_algorithms(dice_t *dice)
{
    static const char *const lines[] = {"bcast", "reduce", "scan", "exscan"};
    static const int of_line[] = {KNOB_PIPELINE, KNOB_AUTO, KNOB_OFF};
    static const int of_mesh[] = {KNOB_PIPELINE, KNOB_MESH_TREES, KNOB_MESH_PATH};
    static const int of_both[] = {KNOB_RING, KNOB_MERGED, KNOB_MESH_PATH, KNOB_MESH_CYCLES,
                                  KNOB_MESH_LINES, KNOB_AUTO, KNOB_OFF};
    char name[64];

    folds_forced = component && !dice_once_in(dice, 3);
    for (int i = 0; i < 4; i++) {
        /* bcast has no paths, scans go along no mesh */
        const int forced = 2 > i ? of_mesh[dice_roll(dice, 2 + i)] : KNOB_PIPELINE;
        const int algorithm = folds_forced ? forced : of_line[dice_roll(dice, 3)];

        snprintf(name, sizeof(name), "coll_pipering_%s_algorithm", lines[i]);
        if (component) {
            knob_set(name, algorithm);
        }
    }
    if (component) {
        knob_set("coll_pipering_allreduce_algorithm",
                 of_both[dice_roll(dice, folds_forced ? 5 : 7)]);
    }
}

static knob_setting_t random_setting(dice_t *dice)
{
    static const size_t sizes[] = {1, 7, 12, 4099, 1 << 30};
    static const int windows[] = {0, 0, 1, 2, 3, 64};
    static const int algorithms[] = {KNOB_RING, KNOB_RING, KNOB_RING, KNOB_RING,
                                     KNOB_DOUBLING, KNOB_DOUBLING, KNOB_DISSEMINATION,
                                     KNOB_DISSEMINATION, KNOB_MESH_CYCLES, KNOB_MESH_CYCLES,
                                     KNOB_AUTO, KNOB_OFF};
    knob_setting_t setting = {.name = "fuzz"};

    setting.algorithm = algorithms[dice_roll(dice, 12)];
    setting.model = dice_roll(dice, 2);
    if (dice_once_in(dice, 2)) {
        int n = dice_roll(dice, 7);

        setting.block_size = n < 5 ? sizes[n] : (size_t) dice_between(dice, 1, 9000);
    }
    setting.window = windows[dice_roll(dice, 6)];
    setting.alone = dice_once_in(dice, 3);
    random_algorithms(dice);
    if (component) {
        knob_set("coll_pipering_min_total", dice_roll(dice, 3) * 700);
    }
    return setting;
}

/** The leaders take MPI_Allgather, large or not, where it is not forced to be a ring. */
static void random_leaders(dice_t *dice, const knob_setting_t *setting)
{
    static const int algorithms[] = {KNOB_AUTO, KNOB_LEADERS, KNOB_LEADERS_OFF};

    if (KNOB_AUTO == setting->algorithm) {
        knob_set("coll_mleader_allgather_algorithm", algorithms[dice_roll(dice, 3)]);
    }
}

/* ---- communicators ---- */

static MPI_Comm random_comm(dice_t *dice, int *color)
{
    MPI_Comm comm;
    int key = tap_rank, kind = dice_roll(dice, 6), colors = 1;
    int *order = tap_memory((size_t) tap_size * sizeof(*order));

    dice_shuffle(dice, order, tap_size);
    *color = 0;
    switch (kind) {
    case 0:
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        free(order);
        return comm;
    case 1: /* reversed */
        key = -tap_rank;
        break;
    case 2: /* permuted */
        key = order[tap_rank];
        break;
    case 3: /* some ranks stay away */
        key = order[tap_rank];
        *color = key <= tap_size / 2 ? 0 : MPI_UNDEFINED;
        break;
    default: /* several, at random */
        colors = dice_between(dice, 1, 3);
        *color = order[tap_rank] % colors;
        key = kind == 5 ? order[tap_rank] : tap_rank;
    }
    MPI_Comm_split(MPI_COMM_WORLD, *color, key, &comm);
    free(order);
    return comm;
}

/* ---- calls ---- */

typedef struct plan_t { /* what the ranks of a communicator agree on */
    bool same;
    bool in_place;
    bool nonblocking;
    int unit;
    int step;   /**< contributions are multiples of so many units */
    int *units; /**< [size] by rank */
} plan_t;

static int steps_of(dice_t *dice, int shape, int rank, int chosen, int most)
{
    switch (shape) {
    case 0: /* regular */
        return most;
    case 1: /* none */
        return 0;
    case 2: /* sparse */
        return dice_once_in(dice, 8) ? most : 0;
    case 3: /* an outlier */
        return rank == chosen ? 8 * most : dice_roll(dice, 2);
    case 4: /* half */
        return rank % 2 ? dice_roll(dice, most + 1) : 0;
    case 5: /* one rank */
        return rank == chosen ? 4 * most : 0;
    default:
        return dice_roll(dice, most + 1);
    }
}

/** Bytes of a contribution at most, so that small blocks are not too many of them. */
static size_t most_bytes(dice_t *dice, size_t block_size, int size)
{
    size_t most = (size_t) 1 << dice_between(dice, 0, 16);

    if (0 != block_size && most > block_size * 1500 / (size_t) size) {
        most = block_size * 1500 / (size_t) size;
    }
    return most;
}

static plan_t random_plan(dice_t *dice, size_t block_size, int size)
{
    static const int steps[] = {1, 1, 2, 3, 4, 6, 12, 24, 60};
    plan_t plan;
    int shape = dice_roll(dice, 9), chosen = dice_roll(dice, size), most;

    plan.same = dice_once_in(dice, 3);
    plan.in_place = dice_once_in(dice, 3);
    plan.nonblocking = dice_once_in(dice, 2);
    plan.unit = dice_roll(dice, LAYOUT_UNITS);
    plan.step = steps[dice_roll(dice, 9)];
    most = (int) (most_bytes(dice, block_size, size) / layout_unit_size(plan.unit)) / plan.step + 1;
    plan.units = tap_memory((size_t) size * sizeof(int));
    for (int i = 0; i < size; i++) {
        plan.units[i] = plan.step
                        * (plan.same ? (1 == shape ? 0 : most)
                                     : steps_of(dice, shape, i, chosen, most));
    }
    return plan;
}

/** The exchange with random types; NULL if they make blocks overlap. */
static exchange_t *try_types(const plan_t *plan, MPI_Comm comm, uint64_t key, dice_t *dice,
                             bool simple)
{
    int size, rank, recv_units = simple ? 1 : dice_divisor(dice, plan->step), send_units, *count;
    exchange_spec_t spec = {.comm = comm, .key = key, .same = plan->same};
    exchange_t *x;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    count = tap_memory((size_t) size * sizeof(int));
    spec.recv = simple ? layout_unit(plan->unit, 0) : layout_random(dice, plan->unit, recv_units);
    for (int i = 0; i < size; i++) {
        count[i] = plan->units[i] / recv_units;
    }
    send_units = 0 == plan->units[rank] ? plan->step : dice_divisor(dice, plan->units[rank]);
    if (!unlike || 200 < send_units) {
        send_units = recv_units;
    }
    spec.count = count;
    spec.send_count = plan->units[rank] / send_units;
    spec.send = unlike ? layout_random(dice, plan->unit, send_units) : spec.recv;
    spec.in_place = plan->in_place;
    spec.bare = plan->in_place && component && dice_once_in(dice, 2);
    spec.dice = dice_once_in(dice, 3) ? NULL : dice;
    x = layout_overlaps(spec.send, (size_t) spec.send_count) ? NULL : exchange_new(&spec);
    if (NULL == x) {
        if (spec.send != spec.recv) {
            layout_free(spec.send);
        }
        layout_free(spec.recv);
    }
    free(count);
    return x;
}

static void call_free(exchange_t *x)
{
    layout_t *send = x->send, *recv = x->recv;

    exchange_free(x);
    if (send != recv) {
        layout_free(send);
    }
    layout_free(recv);
}

/** An exchange with random types of this rank's choice. */
static exchange_t *random_call(const plan_t *plan, MPI_Comm comm, uint64_t key, dice_t *dice,
                               bool forced)
{
    for (int attempt = 0; attempt < 20; attempt++) {
        exchange_t *x = try_types(plan, comm, key, dice, 19 == attempt);

        /* Open MPI's own MPI_Allgather fails on types of negative extent */
        if (NULL != x && plan->same && !forced && (0 > x->recv->extent || 0 > x->send->extent)) {
            call_free(x);
            x = NULL;
        }
        if (NULL != x) {
            return x;
        }
    }
    tap_bail("no types for case %d", number);
}

/* ---- a case ---- */

typedef struct flight_t {
    exchange_t *call[CALLS_AT_MOST]; /* NULL: a fold */
    fold_t *fold[CALLS_AT_MOST];
    MPI_Request request[CALLS_AT_MOST];
    int calls;
    uint64_t forced; /* of them the component must serve so many */
} flight_t;

static void complete(flight_t *flight, dice_t *dice)
{
    int order[CALLS_AT_MOST], done = 0;

    dice_shuffle(dice, order, flight->calls);
    switch (dice_roll(dice, 3)) {
    case 0:
        MPI_Waitall(flight->calls, flight->request, MPI_STATUSES_IGNORE);
        break;
    case 1:
        for (int i = 0; i < flight->calls; i++) {
            MPI_Wait(&flight->request[order[i]], MPI_STATUS_IGNORE);
        }
        break;
    default:
        while (!done) {
            MPI_Testall(flight->calls, flight->request, &done, MPI_STATUSES_IGNORE);
        }
    }
}

/** Another operation on the communicator, between the calls. */
static void interlude(dice_t *shared, MPI_Comm comm)
{
    int word = 5, sum = 0, size;

    switch (dice_roll(shared, 6)) {
    case 0:
        MPI_Barrier(comm);
        break;
    case 1:
        MPI_Comm_size(comm, &size);
        MPI_Allreduce(&word, &sum, 1, MPI_INT, MPI_SUM, comm);
        if (5 * size != sum) {
            cases_fail("MPI_Allreduce", "wrong");
        }
        break;
    default:
        break;
    }
}

/** A gather and its start. */
static int begin_gather(flight_t *flight, int i, MPI_Comm comm, dice_t *shared, dice_t *own,
                        const knob_setting_t *setting)
{
    const bool forced = component
                        && KNOB_AUTO != setting->algorithm && KNOB_OFF != setting->algorithm;
    const uint64_t key = dice_word(shared);
    int size, code;

    MPI_Comm_size(comm, &size);
    plan_t plan = random_plan(shared, setting->block_size, size);
    unlike = mismatch && 1 < size; /* coll/self loses bytes behind 64 KiB of unlike types */
    dice_t types = unlike ? *own : *shared;
    exchange_t *x = random_call(&plan, comm, key, &types, forced);

    *own = dice_from(own->state, key, 0);
    flight->call[i] = x;
    code = plan.nonblocking ? exchange_start(x) : exchange_run(x);
    flight->request[i] = x->request;
    flight->forced += forced && 1 < size && exchange_has_data(x);
    free(plan.units);
    return code;
}

/** Open MPI's own MPI_Bcast cuts blocks by the elements of each rank, and its nonblocking
 *  reductions write outside of their memory where types have negative lower bounds. */
static int begin_fold(flight_t *flight, int i, MPI_Comm comm, dice_t *shared, dice_t *own,
                      const knob_setting_t *setting)
{
    fold_spec_t spec = {.comm = comm, .call = FOLD_ANY, .mismatch = mismatch};
    int size;

    MPI_Comm_size(comm, &size);
    spec.most = most_bytes(shared, setting->block_size, size);
    spec.forced = folds_forced && 1 < size;
    flight->call[i] = NULL;
    flight->request[i] = MPI_REQUEST_NULL;
    flight->fold[i] = fold_new(&spec, shared, own);
    const bool forced = spec.forced && fold_has_data(flight->fold[i]);
    flight->forced += forced;
    switch (dice_between(shared, cases_watched && !forced ? 1 : 0, 4)) {
    case 0:
        return fold_start_persistent(flight->fold[i], &flight->request[i]);
    case 1:
    case 2:
        return fold_start(flight->fold[i], &flight->request[i]);
    default:
        return fold_run(flight->fold[i]);
    }
}

static void judge(flight_t *flight)
{
    for (int i = 0; i < flight->calls; i++) {
        exchange_t *x = flight->call[i];

        if (NULL == x) {
            if (!fold_right_again(flight->fold[i])) {
                cases_fail("fold", fold_fault(flight->fold[i]));
            }
            fold_free(flight->fold[i]);
        } else {
            if (!exchange_right(x)) {
                cases_fail(x->same ? "Allgather" : "Allgatherv", x->fault);
            }
            call_free(x);
        }
    }
}

static void run_calls(MPI_Comm comm, dice_t *shared, dice_t *own, const knob_setting_t *setting)
{
    flight_t flight = {.calls = dice_between(shared, 1, CALLS_AT_MOST)};
    const uint64_t served = knob_counter("coll_pipering_calls");

    for (int i = 0; i < flight.calls; i++) {
        const int code = dice_once_in(shared, 3)
                             ? begin_gather(&flight, i, comm, shared, own, setting)
                             : begin_fold(&flight, i, comm, shared, own, setting);
        if (MPI_SUCCESS != code) {
            cases_fail("call", "gave an error");
        }
        interlude(shared, comm);
    }
    complete(&flight, own);
    if (knob_counter("coll_pipering_calls") < served + flight.forced) {
        cases_fail("forced calls", "another module has served some");
    }
    judge(&flight);
}

void cases_fuzz(uint64_t seed, int which)
{
    dice_t world = dice_from(seed, (uint64_t) which, 0), shared, own;
    int color;

    number = which;
    component = 1 < knob_settings_count();
    mismatch = trial_may_mismatch();

    const knob_setting_t setting = random_setting(&world);
    MPI_Comm comm = random_comm(&world, &color);

    knob_apply(&setting);
    random_leaders(&world, &setting);
    shared = dice_from(seed, (uint64_t) number, 1000 + (uint64_t) color);
    own = dice_from(seed, (uint64_t) number, 2000 + (uint64_t) tap_rank);
    if (MPI_COMM_NULL != comm) {
        run_calls(comm, &shared, &own, &setting);
        MPI_Comm_free(&comm);
    }
}
