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
 * Fuzzer of all calls (fuzzcase.c); SEED=s CASE=c replays case c alone. WATCHED=1: without what
 * Open MPI leaks by itself (cases.h), after which nothing of the calls may be left.
 */

#include "cases.h"
#include "knob.h"
#include "tap.h"
#include "usage.h"

/**
 * coll/mleader has served all that was forced; the nonblocking calls that come first on a
 * communicator are Open MPI's own.
 */
static void check_leaders(void)
{
    const uint64_t calls = knob_counters("coll_mleader_calls_");
    const uint64_t left = knob_counters("coll_mleader_fallback_")
                          - knob_counter("coll_mleader_fallback_early");

    tap_check(0 < calls && 0 == left, "some calls were left to the module below",
              "leaders have served all calls");
}

/* ---- nothing is left ---- */

#define WARM 10 /* cases after which all that is kept for good is there */

static numbers_t first;

/** Messages that are on their way still have a communicator. */
static void check_numbers(void)
{
    static const char *const names[] = {"communicator", "type", "operation"};
    numbers_t last = first;
    int gone = 0;

    for (int i = 0; i < 50 && !gone; i++) {
        last = usage_numbers();
        gone = first.of[0] >= last.of[0];
        MPI_Allreduce(MPI_IN_PLACE, &gone, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 3; i++) {
        tap_check(first.of[i] >= last.of[i], "a higher number", "no %s is left", names[i]);
    }
}

static void run(uint64_t seed, int number)
{
    cases_all(seed, number);
    if (WARM == number) {
        first = usage_numbers();
    }
}

int main(int argc, char **argv)
{
    cases_begin(&argc, &argv);
    cases_watched = 0 != tap_number("WATCHED", 0);
    if (WARM < cases_loop(run) && cases_watched) {
        check_numbers();
    }
    if (0 != tap_number("LEADERS", 0)) {
        check_leaders();
    }
    return cases_end();
}
