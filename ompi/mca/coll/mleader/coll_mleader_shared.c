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
 * Shared memory in use: the order of slices, and counters.
 *
 * Calls take their slices when they begin, and move them when those before them are over:
 *
 *     slices     | call 0 |  call 1  |call 2|     taken: behind call 2
 *     state        over     moving    waiting     moved: behind call 0, which is call 1's turn
 */

#include "coll_mleader.h"

#include <sched.h>

/* Looks at a counter of a call that waits for each call of Open MPI's progress. */
#define LOOKS 16

/* ---- the order of slices ---- */

void mca_coll_mleader_shared_skip(mca_coll_mleader_shared_t *shared, uint64_t slices)
{
    shared->taken += slices;
}

uint64_t mca_coll_mleader_shared_take(mca_coll_mleader_shared_t *shared, uint64_t slices,
                                      uint64_t *turn)
{
    const uint64_t first = shared->taken;

    if (mca_coll_mleader_shared_is_turn(shared, shared->last)) {
        shared->error = OMPI_SUCCESS;
    }
    *turn = shared->last;
    shared->taken = shared->last = first + slices;
    return first;
}

/* What a call has done is seen by the next one, which another thread may move. */
void mca_coll_mleader_shared_pass(mca_coll_mleader_shared_t *shared, uint64_t end, int error)
{
    if (OMPI_SUCCESS != error) {
        shared->error = error;
    }
    __atomic_store_n(&shared->moved, end, __ATOMIC_RELEASE);
}

/* ---- counters ---- */

/*
 * Looks at the counter are much cheaper than Open MPI's progress, which polls the network
 * too, and where ranks share a processor those who wait should leave it to the leader.
 */
int mca_coll_mleader_look(const mca_coll_mleader_call_t *call,
                          const mca_coll_mleader_counter_t *counter, uint64_t value)
{
    for (int looks = call->waits ? LOOKS : 1;
         !mca_coll_mleader_has_come(__atomic_load_n(&counter->value, __ATOMIC_ACQUIRE), value);) {
        if (0 == --looks) {
            const int rc = mca_common_irregular_failure(call->comm);
            return OMPI_SUCCESS == rc ? OMPI_ERR_WOULD_BLOCK : rc;
        }
        if (call->topology->crowded) {
            (void) sched_yield();
        }
    }
    return OMPI_SUCCESS;
}

void mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value)
{
    __atomic_store_n(&counter->value, value, __ATOMIC_RELEASE);
}
