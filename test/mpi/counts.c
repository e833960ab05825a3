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
 * Counts and displacements: none, few, many, one rank with all, any order in
 * memory, gaps, in place. Types are plain here (datatypes.c has the others).
 */

#include "knob.h"
#include "tap.h"
#include "trial.h"

#include <stdlib.h>
#include <string.h>

static int p;
static uint64_t key = 1000;

typedef int (*count_of_t)(int rank);

static int count_equal(int rank)
{
    return 0 * rank + 100;
}

static int count_one(int rank)
{
    return 0 * rank + 1;
}

static int count_none(int rank)
{
    return 0 * rank;
}

static int count_rising(int rank)
{
    return 31 * rank;
}

static int count_falling(int rank)
{
    return 17 * (p - 1 - rank);
}

static int count_odd_only(int rank)
{
    return 0 == rank % 2 ? 0 : 53;
}

static int count_first_only(int rank)
{
    return 0 == rank ? 2000 : 0;
}

static int count_last_only(int rank)
{
    return p - 1 == rank ? 2000 : 0;
}

static int count_middle_only(int rank)
{
    return p / 2 == rank ? 2000 : 0;
}

static int count_but_one(int rank)
{
    return p / 2 == rank ? 0 : 64;
}

static int count_outlier(int rank)
{
    return p / 3 == rank ? 5000 : 1;
}

static int count_wild(int rank)
{
    return (int) (dice_mix((uint64_t) rank) % 3) * (int) (dice_mix((uint64_t) rank + 99) % 300);
}

static const struct {
    const char *name;
    count_of_t count;
} shapes[] = {
    {"equal counts", count_equal},      {"one element each", count_one},
    {"no data at all", count_none},     {"rising counts", count_rising},
    {"falling counts", count_falling},  {"even ranks empty", count_odd_only},
    {"only the first rank", count_first_only}, {"only the last rank", count_last_only},
    {"only a middle rank", count_middle_only}, {"all but one rank", count_but_one},
    {"an outlier", count_outlier},      {"wild counts", count_wild},
};

/** Orders of the blocks in memory. */
enum { DENSE, REVERSED, SHUFFLED, IN_PLACE, IN_PLACE_SHUFFLED, BARE, FORMS };

static const char *form_name[FORMS] = {"dense", "in reversed order", "shuffled with gaps",
                                       "in place", "in place, shuffled",
                                       "in place, null send type"};

static void reverse(const int *count, int *displ)
{
    int at = 3;

    for (int i = p - 1; 0 <= i; i--) {
        displ[i] = at;
        at += count[i] + i % 3;
    }
}

static void try_shape(int shape, int form, int unit)
{
    int *count = tap_memory((size_t) p * sizeof(int));
    int *displ = tap_memory((size_t) p * sizeof(int));
    dice_t dice = dice_from(7, key, 0);
    layout_t *layout = layout_unit(unit, 0);
    exchange_spec_t spec = trial_spec(key++);

    for (int i = 0; i < p; i++) {
        count[i] = shapes[shape].count(i);
    }
    reverse(count, displ);
    spec.count = count;
    spec.send_count = count[tap_rank];
    spec.send = spec.recv = layout;
    spec.displ = REVERSED == form ? displ : NULL;
    spec.dice = SHUFFLED == form || IN_PLACE_SHUFFLED == form ? &dice : NULL;
    spec.in_place = IN_PLACE <= form;
    spec.bare = BARE == form;
    trial(trial_exchange(&spec), "%s of %s, %s", shapes[shape].name, layout_unit_name(unit),
          form_name[form]);
    layout_free(layout);
    free(count);
    free(displ);
}

static void try_allgather(int elements, bool in_place, bool bare)
{
    int *count = tap_memory((size_t) p * sizeof(int));
    layout_t *layout = layout_unit(3, 0);
    exchange_spec_t spec = trial_spec(key++);

    for (int i = 0; i < p; i++) {
        count[i] = elements;
    }
    spec.count = count;
    spec.same = true;
    spec.send_count = elements;
    spec.send = spec.recv = layout;
    spec.in_place = in_place;
    spec.bare = bare;
    trial(trial_exchange(&spec), "Allgather of %d int%s%s", elements, in_place ? ", in place" : "",
          bare ? ", null send type" : "");
    layout_free(layout);
    free(count);
}

/** Null buffers where nothing is sent or received. */
static void try_null_buffers(void)
{
    int *zero = calloc((size_t) p, sizeof(int));
    bool right = true;

    for (int i = 0; i < knob_settings_count(); i++) {
        MPI_Request request;

        knob_apply(&knob_settings[i]);
        right &= MPI_SUCCESS
                 == MPI_Allgatherv(NULL, 0, MPI_INT, NULL, zero, zero, MPI_INT, MPI_COMM_WORLD);
        right &= MPI_SUCCESS == MPI_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
        right &= MPI_SUCCESS
                 == MPI_Iallgatherv(NULL, 0, MPI_INT, NULL, zero, zero, MPI_INT, MPI_COMM_WORLD,
                                    &request);
        right &= MPI_SUCCESS == MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    tap_check(right, NULL, "null buffers without data");
    free(zero);
}

/** Many calls in a row, each with other counts: nothing of one call may reach the next. */
static void try_sequence(void)
{
    bool right = true;
    char fault[400] = "";
    int *count = tap_memory((size_t) p * sizeof(int));
    layout_t *layout = layout_unit(1, 0);

    for (int n = 0; n < 60; n++) {
        exchange_spec_t spec = trial_spec(key++);
        exchange_t *x;

        for (int i = 0; i < p; i++) {
            count[i] = (int) (dice_mix((uint64_t) (n * p + i)) % 700) * (0 != (n + i) % 4);
        }
        spec.count = count;
        spec.send_count = count[tap_rank];
        spec.send = spec.recv = layout;
        x = trial_exchange(&spec);
        knob_apply(&knob_settings[n % knob_settings_count()]);
        if ((MPI_SUCCESS != exchange_run(x) || !exchange_right(x)) && right) {
            right = false;
            memcpy(fault, x->fault, sizeof(fault));
        }
        exchange_free(x);
    }
    tap_check(right, fault, "60 calls in a row with other counts and settings each");
    layout_free(layout);
    free(count);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    p = tap_size;
    for (int shape = 0; shape < (int) (sizeof(shapes) / sizeof(shapes[0])); shape++) {
        for (int form = 0; form < FORMS; form++) {
            try_shape(shape, form, (shape + form) % 2 ? 3 : 1);
        }
    }
    for (int i = 0; i < 3; i++) {
        try_allgather(0, 0 < i, 1 < i);
        try_allgather(1, 0 < i, 1 < i);
        try_allgather(17, 0 < i, 1 < i);
        try_allgather(1500, 0 < i, 1 < i);
    }
    try_null_buffers();
    try_sequence();
    knob_end();
    return tap_end();
}
