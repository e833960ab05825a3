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
 * Datatypes: every constructor, any lower bound and extent, on the sending and
 * on the receiving side, and ranks that describe equal signatures by different
 * types and counts.
 */

#include "knob.h"
#include "tap.h"
#include "trial.h"

#include <stdlib.h>

#define STEP 12 /* contributions are multiples of so many units; types have a divisor of it */

static uint64_t key = 2000;

/* ---- the types ---- */

static layout_t *plain(int unit)
{
    return layout_unit(unit, 0);
}

static layout_t *pair(int unit)
{
    return layout_unit(unit, 1);
}

static layout_t *backwards(int unit)
{
    return layout_unit(unit, 2);
}

static layout_t *packed(int unit)
{
    return layout_unit(unit, 3);
}

static layout_t *contiguous(int unit)
{
    return layout_contiguous(4, layout_unit(unit, 0));
}

static layout_t *contiguous_twice(int unit)
{
    return layout_contiguous(3, layout_contiguous(4, layout_unit(unit, 1)));
}

static layout_t *vector(int unit)
{
    return layout_vector(3, 2, 5, layout_unit(unit, 0));
}

static layout_t *vector_down(int unit)
{
    return layout_vector(3, 2, -4, layout_unit(unit, 0));
}

static layout_t *hvector(int unit)
{
    return layout_hvector(2, 3, 151 * layout_unit_step(unit), layout_unit(unit, 1));
}

static layout_t *indexed(int unit)
{
    const int length[] = {1, 0, 3, 2}, displ[] = {9, 4, 0, 6};

    return layout_indexed(4, length, displ, layout_unit(unit, 0));
}

static layout_t *hindexed(int unit)
{
    const int length[] = {2, 1, 1};
    const MPI_Aint step = layout_unit_step(unit), displ[] = {-77 * step, 200 * step, 3 * step};

    return layout_hindexed(3, length, displ, layout_unit(unit, 3));
}

static layout_t *indexed_block(int unit)
{
    const int displ[] = {5, 0, -4};

    return layout_indexed_block(3, 2, displ, layout_unit(unit, 0));
}

static layout_t *holes(int unit)
{
    layout_t *one = layout_unit(unit, 0);

    return layout_resized(0, one->extent + 13 * layout_unit_step(unit), one);
}

static layout_t *lower_bound_negative(int unit)
{
    layout_t *two = layout_contiguous(2, layout_unit(unit, 0));

    return layout_resized(-24, two->extent + 24 * layout_unit_step(unit), two);
}

static layout_t *lower_bound_positive(int unit)
{
    layout_t *two = layout_contiguous(2, layout_unit(unit, 0));

    return layout_resized(16, two->extent + 9 * layout_unit_step(unit), two);
}

/** Two units 61 apart, elements one apart: up to 61 elements interleave. */
static layout_t *interleaved(int unit)
{
    layout_t *one = layout_unit(unit, 0);
    MPI_Aint extent = one->extent;

    return layout_resized(0, extent, layout_vector(2, 1, 61, one));
}

static layout_t *extent_negative(int unit)
{
    layout_t *two = layout_vector(2, 1, 2, layout_unit(unit, 0));

    return layout_resized(0, -two->extent - 3 * layout_unit_step(unit), two);
}

static layout_t *structure(int unit)
{
    const int length[] = {1, 2, 1};
    const MPI_Aint step = layout_unit_step(unit), displ[] = {400 * step, 8 * step, -90 * step};
    layout_t *child[] = {layout_vector(3, 1, 2, layout_unit(unit, 0)),
                         layout_contiguous(4, layout_unit(unit, 3)), layout_unit(unit, 1)};

    return layout_struct(3, length, displ, child);
}

static layout_t *subarray_c(int unit)
{
    const int size[] = {4, 5}, part[] = {2, 3}, start[] = {1, 2};

    return layout_subarray(2, size, part, start, MPI_ORDER_C, layout_unit(unit, 0));
}

static layout_t *subarray_fortran(int unit)
{
    const int size[] = {3, 2, 4}, part[] = {2, 2, 3}, start[] = {1, 0, 1};

    return layout_subarray(3, size, part, start, MPI_ORDER_FORTRAN, layout_unit(unit, 0));
}

static layout_t *nested(int unit)
{
    const MPI_Aint step = layout_unit_step(unit);
    layout_t *inner = layout_vector(2, 1, 3, layout_unit(unit, 2));

    inner = layout_resized(-8, 120 * step, inner);
    return layout_dup(layout_contiguous(2, layout_hvector(3, 1, -700 * step, inner)));
}

typedef layout_t *(*type_t)(int unit);

static const struct {
    const char *name;
    type_t make;
} types[] = {
    {"plain", plain},
    {"pair", pair},
    {"backwards", backwards},
    {"packed", packed},
    {"contiguous", contiguous},
    {"contiguous of contiguous", contiguous_twice},
    {"vector", vector},
    {"vector of negative stride", vector_down},
    {"hvector", hvector},
    {"indexed", indexed},
    {"hindexed", hindexed},
    {"indexed_block", indexed_block},
    {"elements with holes", holes},
    {"negative lower bound", lower_bound_negative},
    {"positive lower bound", lower_bound_positive},
    {"interleaved elements", interleaved},
    {"negative extent", extent_negative},
    {"struct", structure},
    {"subarray, C", subarray_c},
    {"subarray, Fortran", subarray_fortran},
    {"nested", nested},
};

enum { TYPES = sizeof(types) / sizeof(types[0]) };

/* ---- the calls ---- */

static int units_of(int rank)
{
    return STEP * ((rank * 5 + 2) % 4);
}

/** An exchange of units_of() or `equal` units by rank, in the layouts given. */
static exchange_t *make(layout_t *send, layout_t *recv, int equal, bool in_place, dice_t *dice)
{
    exchange_spec_t spec = trial_spec(key++);
    int *count = tap_memory((size_t) tap_size * sizeof(int));
    exchange_t *x;

    for (int i = 0; i < tap_size; i++) {
        count[i] = (0 < equal ? equal : units_of(i)) / (int) recv->units;
    }
    spec.same = 0 < equal;
    spec.count = count;
    spec.send_count = count[tap_rank] * (int) recv->units / (int) send->units;
    spec.send = send;
    spec.recv = recv;
    spec.in_place = in_place;
    spec.dice = dice;
    x = exchange_new(&spec);
    free(count);
    return x;
}

/** The same type on both sides and on all ranks. */
static void try_alike(int type, int unit)
{
    layout_t *layout = types[type].make(unit);
    dice_t dice = dice_from(11, key, 0);
    bool down = layout->extent < 0; /* stock gets MPI_Allgather of it wrong */
    bool tiny = interleaved == types[type].make; /* its blocks would overlap in MPI_Allgather */

    trial(make(layout, layout, 0, false, &dice), "%s of %s", types[type].name,
          layout_unit_name(unit));
    trial(make(layout, layout, 0, true, &dice), "%s of %s, in place", types[type].name,
          layout_unit_name(unit));
    if (!tiny) {
        (down ? trial_forced : trial)(make(layout, layout, STEP, false, NULL),
                                      "Allgather, %s of %s", types[type].name,
                                      layout_unit_name(unit));
        (down ? trial_forced : trial)(make(layout, layout, STEP, true, NULL),
                                      "Allgather, %s of %s, in place", types[type].name,
                                      layout_unit_name(unit));
    }
    layout_free(layout);
}

/** One side plain, one side not; then every rank another type on either side. */
static void try_unlike(int type, int unit)
{
    int mine = (type + 7 * tap_rank) % TYPES;
    layout_t *layout = types[type].make(unit), *flat = plain(unit), *own = types[mine].make(unit);
    dice_t dice = dice_from(13, key, (uint64_t) tap_rank);

    trial(make(layout, flat, 0, false, NULL), "%s of %s to plain", types[type].name,
          layout_unit_name(unit));
    trial(make(flat, layout, 0, false, &dice), "plain to %s of %s", types[type].name,
          layout_unit_name(unit));
    trial(make(layout, flat, STEP, false, NULL), "Allgather, %s of %s to plain", types[type].name,
          layout_unit_name(unit));
    trial(make(layout, own, 0, false, &dice), "%s of %s to another type on each rank",
          types[type].name, layout_unit_name(unit));
    trial(make(own, flat, 0, false, &dice), "another type on each rank to plain %s, case %d",
          layout_unit_name(unit), type);
    trial(make(own, own, 0, true, &dice), "another type on each rank, in place, of %s, case %d",
          layout_unit_name(unit), type);
    layout_free(layout);
    layout_free(flat);
    layout_free(own);
}

/** The columns of a matrix with p columns, stored by rows: blocks interleave in memory. */
static void try_columns(int unit, bool v, bool in_place)
{
    const int rows = 40;
    int *one = tap_memory((size_t) tap_size * sizeof(int));
    int *displ = tap_memory((size_t) tap_size * sizeof(int));
    layout_t *cell = layout_unit(unit, 0);
    MPI_Aint extent = cell->extent;
    layout_t *column = layout_resized(0, extent, layout_vector(rows, 1, tap_size, cell));
    layout_t *flat = layout_contiguous(rows, layout_unit(unit, 0));
    exchange_spec_t spec = trial_spec(key++);

    for (int i = 0; i < tap_size; i++) {
        one[i] = 1;
        displ[i] = tap_size - 1 - i;
    }
    spec.same = !v;
    spec.count = one;
    spec.displ = displ;
    spec.send_count = 1;
    spec.send = trial_may_mismatch() ? flat : column;
    spec.recv = column;
    spec.in_place = in_place;
    trial(trial_exchange(&spec), "%s of the columns of a matrix of %s%s",
          v ? "Allgatherv" : "Allgather", layout_unit_name(unit), in_place ? ", in place" : "");
    layout_free(column);
    layout_free(flat);
    free(one);
    free(displ);
}

/** Types of size 0: counts say something, data is none. */
static void try_empty_types(void)
{
    layout_t *bare = layout_contiguous(0, layout_unit(3, 0));
    layout_t *wide = layout_resized(-4, 64, layout_contiguous(0, layout_unit(3, 0)));
    layout_t *empty[] = {bare, wide};
    int *count = tap_memory((size_t) tap_size * sizeof(int));

    for (int i = 0; i < 4; i++) {
        exchange_spec_t spec = trial_spec(key++);

        for (int k = 0; k < tap_size; k++) {
            count[k] = 1 < i ? 5 : 5 + k;
        }
        spec.same = 1 < i;
        spec.count = count;
        spec.send_count = 3;
        spec.send = empty[i % 2];
        spec.recv = empty[(i + tap_rank) % 2];
        trial(trial_exchange(&spec), "types of size 0, case %d", i);
    }
    layout_free(bare);
    layout_free(wide);
    free(count);
}

int main(int argc, char **argv)
{
    bool mismatch;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    mismatch = trial_may_mismatch();
    for (int type = 0; type < TYPES; type++) {
        for (int n = 0; n < 3; n++) {
            int unit = (type * 5 + n * 4) % LAYOUT_UNITS;

            try_alike(type, unit);
            if (mismatch) {
                try_unlike(type, unit);
            }
        }
    }
    if (!mismatch) {
        tap_skip("coll/tuned may hang in them", "equal signatures, unlike types");
    }
    for (int i = 0; i < 4; i++) {
        try_columns(3 * i % LAYOUT_UNITS, 0 == i % 2, 2 <= i);
    }
    try_empty_types();
    knob_end();
    return tap_end();
}
