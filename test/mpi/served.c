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

#include "exchange.h"
#include "knob.h"
#include "tap.h"

typedef struct served_t {
    int ring;
    int below;
} served_t;

static int equal(int rank)
{
    (void) rank;
    return 6000;
}

static int unequal(int rank)
{
    return 5000 * (rank % 3);
}

/** Two blocking calls and two nonblocking ones. */
static bool run_right(call_t *call)
{
    bool right = true;

    for (int i = 0; i < 4; i++) {
        call_reset(call);
        right &= MPI_SUCCESS == call_run(call, i < 2 ? BLOCKING : NONBLOCKING) && call_right(call);
    }
    return right;
}

static served_t serve(bool same)
{
    call_t *call = exchange_simple(MPI_COMM_WORLD, same ? 41 : 42, same, layout_unit(3, 0),
                                   same ? equal : unequal);
    uint64_t ring = knob_counter("coll_pipering_calls");
    uint64_t below = knob_counters("coll_pipering_fallback_");
    const bool right = run_right(call);
    served_t served;

    served.ring = (int) (knob_counter("coll_pipering_calls") - ring);
    served.below = (int) (knob_counters("coll_pipering_fallback_") - below);
    tap_check(right, call->fault, "%s gives right results", same ? "Allgather" : "Allgatherv");
    call_free(call);
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
