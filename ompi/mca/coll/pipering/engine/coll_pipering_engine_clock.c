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
 * Clocks of streams, which show how fast links are.
 *
 *     blocks   1  2  3  4  5  6  7  8  9  10  11  12
 *                       |-- 1 --|-- 2 --|---- 3 ----|      quarters that count
 *
 * A rank that enters a call late finds the first blocks waiting, so the first quarter does not
 * count. Of the others the fastest does: whatever disturbs a stream only lengthens it.
 */

#include "coll_pipering_engine_steps.h"

#include "coll_pipering_clock.h"

#define QUARTERS 4

void mca_coll_pipering_clock_note(mca_coll_pipering_clock_t *clock, uint64_t arrived,
                                  uint64_t total)
{
    const int quarter = (int) (QUARTERS * arrived / total);

    if (quarter == clock->quarter) {
        return;
    }
    const double now = mca_coll_pipering_now();
    if (0 < clock->began) {
        const double block = (now - clock->began) / (double) (arrived - clock->from);
        clock->least = 0 == clock->least || block < clock->least ? block : clock->least;
    }
    clock->quarter = quarter;
    clock->began = now;
    clock->from = arrived;
}
