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
 * Who served the calls: four calls of each family, their results judged, and
 * what the performance variables say of them, on a line for the script:
 *
 *     # allgatherv: ring 4 below 0; allgather: ring 4 below 0
 *
 * "ring" counts calls that the component served, "below" those that it left to
 * the module below; both are 0 where it has no part in the communicator.
 */

#include "knob.h"
#include "tap.h"
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct served_t {
    int ring;
    int below;
} served_t;

static exchange_t *call_of(bool same, layout_t *layout)
{
    int *count = tap_memory((size_t) tap_size * sizeof(int));
    exchange_spec_t spec = trial_spec(same ? 41 : 42);
    exchange_t *x;

    for (int i = 0; i < tap_size; i++) {
        count[i] = same ? 6000 : 5000 * (i % 3);
    }
    spec.same = same;
    spec.count = count;
    spec.send_count = count[tap_rank];
    spec.send = spec.recv = layout;
    x = trial_exchange(&spec);
    free(count);
    return x;
}

/** Two blocking calls and two nonblocking ones. */
static bool run_right(exchange_t *x)
{
    bool right = true;

    for (int i = 0; i < 4; i++) {
        exchange_reset(x);
        if (i < 2) {
            right &= MPI_SUCCESS == exchange_run(x);
        } else {
            right &= MPI_SUCCESS == exchange_start(x);
            right &= MPI_SUCCESS == MPI_Wait(&x->request, MPI_STATUS_IGNORE);
        }
        right &= exchange_right(x);
    }
    return right;
}

static served_t serve(bool same)
{
    layout_t *layout = layout_unit(3, 0);
    exchange_t *x = call_of(same, layout);
    uint64_t ring = knob_counter("coll_pipering_calls");
    uint64_t below = knob_counters("coll_pipering_fallback_");
    const bool right = run_right(x);
    served_t served;

    served.ring = (int) (knob_counter("coll_pipering_calls") - ring);
    served.below = (int) (knob_counters("coll_pipering_fallback_") - below);
    tap_check(right, x->fault, "%s gives right results", same ? "Allgather" : "Allgatherv");
    exchange_free(x);
    layout_free(layout);
    return served;
}

int main(int argc, char **argv)
{
    served_t irregular, regular;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    irregular = serve(false);
    regular = serve(true);
    tap_note("allgatherv: ring %d below %d; allgather: ring %d below %d", irregular.ring,
             irregular.below, regular.ring, regular.below);
    knob_end();
    return tap_end();
}
