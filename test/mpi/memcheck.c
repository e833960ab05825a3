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
 * A little of everything, small, for a checker of memory that runs it: dense
 * and strided types, in place, nonblocking, empties, calls that are left to the
 * module below, and communicators made and freed; exchanges; gathers with leaders.
 */

#include "fold.h"
#include "foldcall.h"
#include "knob.h"
#include "leading.h"
#include "swap.h"
#include "tap.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

static layout_t *layout_of(int n)
{
    switch (n % 3) {
    case 0:
        return layout_unit(3, 0);
    case 1:
        return layout_vector(3, 2, 5, layout_unit(3, 0));
    default:
        return layout_resized(-8, 40, layout_hvector(2, 1, -16, layout_unit(3, 0)));
    }
}

static bool run_right(exchange_t *x, bool nonblocking)
{
    bool right;

    if (nonblocking) {
        right = MPI_SUCCESS == exchange_start(x)
                && MPI_SUCCESS == MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    } else {
        right = MPI_SUCCESS == exchange_run(x);
    }
    return right && exchange_right(x);
}

/** Call n of a communicator. */
static bool call(MPI_Comm comm, int n)
{
    exchange_spec_t spec = {.comm = comm, .key = 700 + (uint64_t) n};
    int rank, size, count[16];
    layout_t *layout = layout_of(n);
    exchange_t *x;
    bool right;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int i = 0; i < size; i++) {
        count[i] = 5 == n ? 0 : 3 == n % 4 ? 150 : 1 == (i + n) % 3 ? 0 : 400 * i + 7;
    }
    spec.same = 3 == n % 4;
    spec.in_place = 2 == n % 4;
    spec.count = count;
    spec.send_count = count[rank];
    spec.send = spec.recv = layout;
    x = trial_exchange(&spec);
    right = run_right(x, 0 == n % 2);
    exchange_free(x);
    layout_free(layout);
    return right;
}

/** Some of every kind of fold, blocking, not, and persistent. */
static bool fold_some(MPI_Comm comm, int algorithm, bool component)
{
    const fold_spec_t spec = {.comm = comm, .call = FOLD_ANY, .most = 6000, .forced = component};
    dice_t shared = dice_from(1, (uint64_t) algorithm, 0), own = shared;
    bool right = true;

    knob_folds(KNOB_PIPELINE, algorithm);
    for (int i = 0; i < 24; i++) {
        fold_t *fold = fold_new(&spec, &shared, &own);
        MPI_Request request = MPI_REQUEST_NULL;
        const int code = 0 == i % 3   ? fold_run(fold)
                         : 1 == i % 3 ? fold_start(fold, &request)
                                      : fold_start_persistent(fold, &request);

        MPI_Wait(&request, MPI_STATUS_IGNORE);
        right &= fold_right_again(fold) && MPI_SUCCESS == code;
        fold_free(fold);
    }
    return right;
}

/** Sums in fixed point in all forms, of doubles that are small integers. */
static bool sum_some(MPI_Comm comm)
{
    enum { COUNT = 3000 };
    double send[COUNT], recv[COUNT];
    bool right = true;

    knob_set("coll_pipering_fixed_point_sum", 1);
    for (int n = 0; n < 2 * FOLD_FORMS; n++) {
        const foldcall_t c = {.call = 0 == n % 2 ? FOLD_ALLREDUCE : FOLD_REDUCE, .send = send,
                              .recv = recv, .count = COUNT, .type = MPI_DOUBLE, .op = MPI_SUM,
                              .comm = comm};
        for (int i = 0; i < COUNT; i++) {
            send[i] = recv[i] = n + i;
        }
        right &= MPI_SUCCESS == foldcall(&c, (fold_form_t) (n / 2));
        for (int i = 0; i < COUNT && (0 == n % 2 || 0 == tap_rank); i++) {
            right &= tap_size * (n + i) == recv[i];
        }
    }
    knob_set("coll_pipering_fixed_point_sum", 0);
    return right;
}

/** Gathers with leaders, in one piece and in slices, with shared memory and without. */
static bool lead_some(size_t segment_size, bool backwards)
{
    const bool there = -1 != knob_get("coll_mleader_priority", -1);
    const uint64_t served = knob_counters("coll_mleader_calls_");
    MPI_Comm comm;
    bool right = true;

    leading_setup(segment_size);
    MPI_Comm_split(MPI_COMM_WORLD, 0, backwards ? -tap_rank : tap_rank, &comm);
    for (int n = 0; n < 36; n++) {
        const leading_call_t call = {.comm = comm,
                                     .key = 900 + (uint64_t) n,
                                     .unit = 3,
                                     .units = 0 == n % 4 ? 2400 : 24 * n,
                                     .send = 0 == n % 5 ? LEADING_IN_PLACE : n % LEADING_LAYOUTS,
                                     .recv = (n + 1) % LEADING_LAYOUTS};
        exchange_t *x = leading_exchange(&call);

        leading_use(leading_variant(5 * n % LEADING_VARIANTS));
        right &= MPI_SUCCESS == exchange_run(x) && exchange_right(x);
        leading_free(x);
    }
    MPI_Comm_free(&comm);
    return right && (!there || served + 36 == knob_counters("coll_mleader_calls_"));
}

/** Exchanges of all kinds, in place with room for one copy at a time. */
static bool swap_some(void)
{
    dice_t shared = dice_from(2, 0, 0), own = dice_from(2, 1, (uint64_t) tap_rank);
    MPI_Comm comm, quiet, topology;
    const char *name;
    bool right = true;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    knob_set("coll_pipering_alltoall_in_place", 1);
    for (int i = 0; i < 24; i++) {
        swap_spec_t spec = {.comm = comm, .quiet = quiet, .call = (swap_call_t) (i % 3),
                            .in_place = 1 < i % 3 ? false : 0 == i % 4, .zeros = 40,
                            .most = (size_t) 10 << i / 2};
        const swap_form_t form = (swap_form_t) (i / 3 % SWAP_FORMS);

        topology = swap_topology(comm, (uint64_t) i, &name);
        spec.comm = SWAP_NEIGHBORS == spec.call ? topology : comm;
        swap_t *swap = swap_new(&spec, dice_word(&shared), &own);
        right &= MPI_SUCCESS == swap_start(swap, form);
        MPI_Wait(&swap->request, MPI_STATUS_IGNORE);
        right &= swap_right(swap);
        if (SWAP_PERSISTENT == form) {
            MPI_Request_free(&swap->request);
        }
        swap_free(swap);
        MPI_Comm_free(&topology);
    }
    MPI_Comm_free(&quiet);
    MPI_Comm_free(&comm);
    return right;
}

int main(int argc, char **argv)
{
    static const int both_ways[] = {KNOB_RING, KNOB_MERGED};
    bool right = true, component;
    MPI_Comm comm;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    component = knob_begin();
    for (int i = 0; i < knob_settings_count(); i++) {
        knob_apply(&knob_settings[i]);
        MPI_Comm_split(MPI_COMM_WORLD, 0, 0 == i % 2 ? tap_rank : -tap_rank, &comm);
        for (int n = 0; n < 12; n++) {
            right &= call(comm, n);
        }
        right &= fold_some(comm, both_ways[i % 2], component);
        MPI_Comm_free(&comm);
    }
    right &= sum_some(MPI_COMM_WORLD);
    right &= swap_some();
    right &= lead_some(8192, true) && lead_some(1 << 20, false) && lead_some(0, false);
    tap_check(right, NULL, "right results");
    knob_end();
    return tap_end();
}
