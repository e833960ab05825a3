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
 * Communicators: parts, other orders of the ranks, duplicates, merged ones,
 * single ranks, and intercommunicators, which the component leaves to others.
 */

#include "knob.h"
#include "tap.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

static uint64_t key = 4000;

/** An exchange of unequal counts on a communicator; NULL without one. */
static exchange_t *make(MPI_Comm comm, layout_t *layout, bool in_place)
{
    exchange_spec_t spec = trial_spec(key);
    int size, rank, *count;
    exchange_t *x;

    if (MPI_COMM_NULL == comm) {
        return NULL;
    }
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    count = tap_memory((size_t) size * sizeof(int));
    for (int i = 0; i < size; i++) {
        count[i] = i % 3 ? 40 * i : 3 * (size - i);
    }
    spec.comm = comm;
    spec.in_place = in_place;
    spec.count = count;
    spec.send_count = count[rank];
    spec.send = spec.recv = layout;
    x = trial_exchange(&spec);
    free(count);
    return x;
}

/** Takes and frees the communicator. */
static void try_comm(MPI_Comm comm, const char *name)
{
    layout_t *layout = layout_unit(7, 0);

    trial(make(comm, layout, false), "%s", name);
    key++;
    trial(make(comm, layout, true), "%s, in place", name);
    key++;
    layout_free(layout);
    if (MPI_COMM_NULL != comm) {
        MPI_Comm_free(&comm);
    }
}

static void try_split(int color, int order, const char *name)
{
    MPI_Comm comm;

    MPI_Comm_split(MPI_COMM_WORLD, color, order, &comm);
    try_comm(comm, name);
}

static void try_splits(void)
{
    int *order = tap_memory((size_t) tap_size * sizeof(int));
    dice_t dice = dice_from(5, 0, 0);
    MPI_Comm comm;

    try_split(0, -tap_rank, "reversed");
    try_split(tap_rank % 2, tap_rank, "even and odd ranks");
    try_split(tap_rank % 2, -tap_rank, "even and odd ranks, reversed");
    try_split(tap_rank < tap_size / 2, tap_rank, "halves");
    try_split(0 == tap_rank ? MPI_UNDEFINED : 0, tap_rank, "all but the first rank");
    try_split(tap_rank < 2 ? 0 : MPI_UNDEFINED, tap_rank, "the first two ranks");
    try_split(tap_rank, 0, "single ranks");
    for (int i = 0; i < 4; i++) {
        dice_shuffle(&dice, order, tap_size);
        try_split(0, order[tap_rank], "shuffled");
        try_split(order[tap_rank] % 3, order[(tap_rank + 1) % tap_size], "shuffled thirds");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    try_comm(comm, "a duplicate");
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    try_comm(comm, "a duplicate of MPI_COMM_SELF");
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -tap_rank, MPI_INFO_NULL, &comm);
    try_comm(comm, "the ranks of a node, reversed");
    free(order);
}

/** The halves of the world as an intercommunicator, or null for a world of one. */
static MPI_Comm halves(void)
{
    MPI_Comm half, inter;
    bool low = tap_rank < tap_size / 2;

    if (1 == tap_size) {
        return MPI_COMM_NULL;
    }
    MPI_Comm_split(MPI_COMM_WORLD, low, tap_rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low ? tap_size / 2 : 0, 3, &inter);
    MPI_Comm_free(&half);
    return inter;
}

static void try_merged(void)
{
    MPI_Comm inter = halves(), merged = MPI_COMM_NULL;

    if (MPI_COMM_NULL != inter) {
        MPI_Intercomm_merge(inter, tap_rank < tap_size / 2, &merged);
        MPI_Comm_free(&inter);
    }
    try_comm(merged, "a merged communicator, upper half first");
}

/** Every rank of the other group sends its rank there as many times as that and one more. */
static bool inter_right(MPI_Comm inter, bool blocking)
{
    int rank, others, at = 0, *count, *displ, *in, out[64];
    MPI_Request request = MPI_REQUEST_NULL;
    bool all = true;

    MPI_Comm_rank(inter, &rank);
    MPI_Comm_remote_size(inter, &others);
    count = tap_memory((size_t) others * sizeof(int));
    displ = tap_memory((size_t) others * sizeof(int));
    in = tap_memory((size_t) (others * (others + 1)) * sizeof(int));
    for (int i = 0; i < others; i++) {
        displ[i] = at;
        count[i] = i + 1;
        at += count[i];
    }
    for (int i = 0; i < 64; i++) {
        out[i] = rank;
    }
    if (blocking) {
        MPI_Allgatherv(out, rank + 1, MPI_INT, in, count, displ, MPI_INT, inter);
    } else {
        MPI_Iallgatherv(out, rank + 1, MPI_INT, in, count, displ, MPI_INT, inter, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < others; i++) {
        for (int k = 0; k < count[i]; k++) {
            all &= i == in[displ[i] + k];
        }
    }
    free(count);
    free(displ);
    free(in);
    return all;
}

static void try_inter(void)
{
    MPI_Comm inter = halves();
    bool right = true;

    for (int i = 0; i < knob_settings_count() && MPI_COMM_NULL != inter; i++) {
        knob_apply(&knob_settings[i]);
        right &= inter_right(inter, true) && inter_right(inter, false);
    }
    tap_check(right, "wrong data", "an intercommunicator");
    if (MPI_COMM_NULL != inter) {
        MPI_Comm_free(&inter);
    }
}

/** Communicators side by side: calls in turn, the first set up last. */
static void try_side_by_side(void)
{
    MPI_Comm comm[6];
    layout_t *layout = layout_unit(3, 0);
    char fault[400] = "";
    bool right = true;

    for (int i = 0; i < 6; i++) {
        MPI_Comm_split(MPI_COMM_WORLD, i % 2 ? tap_rank % 2 : 0, i < 3 ? tap_rank : -tap_rank,
                       &comm[i]);
    }
    for (int n = 0; n < 30; n++) {
        exchange_t *x = make(comm[(29 - n) * 5 % 6], layout, 0 == n % 2);

        key++;
        knob_apply(&knob_settings[n % knob_settings_count()]);
        if ((MPI_SUCCESS != exchange_run(x) || !exchange_right(x)) && right) {
            right = false;
            memcpy(fault, x->fault, sizeof(fault));
        }
        exchange_free(x);
    }
    tap_check(right, fault, "six communicators in turn");
    for (int i = 0; i < 6; i++) {
        MPI_Comm_free(&comm[i]);
    }
    layout_free(layout);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    try_splits();
    try_merged();
    try_inter();
    try_side_by_side();
    knob_end();
    return tap_end();
}
