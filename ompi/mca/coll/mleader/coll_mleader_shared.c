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
 * The order of calls that share a segment, and the counters in it.
 *
 * A call takes its slices when it begins, and moves them when the calls before it have ended:
 *
 *     slices     | call 0 |  call 1  | call 2  |     `taken` and `last` are behind call 2,
 *     state        ended    moving     waiting       `moved` is behind call 0: the turn of call 1
 */

#include "coll_mleader_steps.h"

#include <sched.h>

/* Looks at a counter in a blocking call before it calls Open MPI's progress function again. */
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

/* Another thread may move the next call: release and acquire show it what this call has done. */
void mca_coll_mleader_shared_pass(mca_coll_mleader_shared_t *shared, uint64_t end, int error)
{
    if (OMPI_SUCCESS != error) {
        shared->error = error;
    }
    __atomic_store_n(&shared->moved, end, __ATOMIC_RELEASE);
}

/* ---- counters ---- */

/*
 * A blocking call looks several times, since a look is much cheaper than Open MPI's progress
 * function, which also polls the network. If ranks share processors, a rank that waits yields its
 * processor, as its leader may need it.
 */
int mca_coll_mleader_look(const mca_coll_mleader_call_t *call,
                          const mca_coll_mleader_counter_t *counter, uint64_t value)
{
    for (int looks = call->waits ? LOOKS : 1;
         !mca_coll_mleader_has_come(__atomic_load_n(&counter->value, __ATOMIC_ACQUIRE), value);) {
        if (0 == --looks) {
            const int rc = mca_common_colltools_failure(call->comm);
            return OMPI_SUCCESS == rc ? OMPI_ERR_WOULD_BLOCK : rc;
        }
        if (1 < call->topology->crowd) {
            (void) sched_yield();
        }
    }
    return OMPI_SUCCESS;
}

void mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value)
{
    __atomic_store_n(&counter->value, value, __ATOMIC_RELEASE);
}
