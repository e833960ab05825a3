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
 * The messages of coll_pipering_alltoall_side.h.
 */

#include "coll_pipering_alltoall_side.h"

size_t mca_coll_pipering_side_measure(const mca_coll_pipering_exchange_plan_t *plan, int me,
                                      const mca_coll_pipering_side_t *side, size_t *bytes)
{
    size_t absent = 0;

    for (size_t i = 0; i < side->count; ++i) {
        const bool none = mca_coll_pipering_side_is_absent(plan, me, side, i);
        bytes[i] = none ? 0 : mca_coll_pipering_side_bytes(side, i);
        absent += none;
    }
    return absent;
}

mca_common_colltools_message_t *mca_coll_pipering_side_list(mca_common_colltools_messages_t *list,
                                                            const mca_coll_pipering_side_t *side,
                                                            size_t i)
{
    return mca_common_colltools_schedule_message(list, mca_coll_pipering_side_buffer(side, i),
                                                 mca_coll_pipering_side_type(side, i),
                                                 mca_coll_pipering_side_count(side, i),
                                                 mca_coll_pipering_side_bytes(side, i),
                                                 mca_coll_pipering_side_peer(side, i),
                                                 (mca_common_colltools_needs_t){0, 0, 0});
}

void mca_coll_pipering_side_list_own(mca_coll_pipering_exchange_t *exchange,
                                     const mca_coll_pipering_exchange_plan_t *plan,
                                     const mca_coll_pipering_side_t *send, size_t me)
{
    const uint32_t step = exchange->schedule.steps;

    if (plan->copies_own && 0 != mca_coll_pipering_side_bytes(send, me)) {
        exchange->move[step].from = mca_coll_pipering_side_place(send, me);
        exchange->move[step].to = mca_coll_pipering_side_place(&plan->recv, me);
        mca_common_colltools_schedule_step(&exchange->schedule, mca_coll_pipering_exchange_copy,
                                           (int) step, 0,
                                           (mca_common_colltools_needs_t){0, 0, 0});
    }
}
