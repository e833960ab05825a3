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
 * The agreements of common_colltools_agree.h as schedules for the schedule engine.
 *
 *     combination   step k     merges the value received in round k - 1, copies the result
 *                              to `sent`
 *                   round k    needs step k and all rounds before
 *     collection    round k    needs the messages received in all rounds before
 *
 * No message is sent or received before the first move, since a communicator with a pending
 * receive could not be freed.
 */

#include "ompi/mca/common/colltools/common_colltools_agree.h"
#include "ompi/mca/common/colltools/common_colltools_exchange.h"

#include <stdlib.h>
#include <string.h>

typedef mca_common_colltools_agreement_t agreement_t;

/* Whom a rank sends to and receives from in each round: as in Bruck's exchange. */
static mca_common_colltools_exchange_t rounds_of(const mca_common_colltools_caller_t *caller)
{
    return (mca_common_colltools_exchange_t){.count = ompi_comm_size(caller->comm),
                                             .algorithm = MCA_COMMON_COLLTOOLS_BRUCK};
}

int mca_common_colltools_agreement_init(agreement_t *agreement,
                                        const mca_common_colltools_caller_t *caller, int tag,
                                        size_t size)
{
    mca_common_colltools_schedule_t *schedule = &agreement->schedule;
    const mca_common_colltools_exchange_t plan = rounds_of(caller);
    const uint32_t rounds = (uint32_t) mca_common_colltools_exchange_rounds(&plan);
    const mca_common_colltools_needs_t most = {rounds, rounds, rounds + 1};
    char *memory = malloc(mca_common_colltools_schedule_size(most) + 2 * size);

    memset(agreement, 0, sizeof(*agreement));
    if (NULL == memory) {
        return OMPI_ERR_OUT_OF_RESOURCE;
    }
    agreement->caller = *caller;
    agreement->size = size;
    agreement->memory = memory;
    schedule->caller = &agreement->caller;
    schedule->tag = tag;
    schedule->any_length = true;
    schedule->context = agreement;
    schedule->receives.window = schedule->sends.window = rounds;
    agreement->sent = mca_common_colltools_schedule_bind(schedule, most, memory);
    agreement->other = agreement->sent + size;
    return OMPI_SUCCESS;
}

/* Merges the value of the round before `round`, and copies the result for `round`, if any. */
static int merge_round(void *context, int round, int rounds)
{
    agreement_t *agreement = context;

    if (0 < round) {
        agreement->merge(agreement->value, agreement->other);
    }
    if (round < rounds) {
        memcpy(agreement->sent, agreement->value, agreement->size);
    }
    return OMPI_SUCCESS;
}

void mca_common_colltools_agreement_prepare(agreement_t *agreement,
                                            mca_common_colltools_merge_fn_t *merge, void *value)
{
    mca_common_colltools_schedule_t *schedule = &agreement->schedule;
    const mca_common_colltools_exchange_t plan = rounds_of(&agreement->caller);
    const int rounds = mca_common_colltools_exchange_rounds(&plan);
    const int me = ompi_comm_rank(agreement->caller.comm);
    const bool collects = NULL == merge;

    agreement->merge = merge;
    agreement->value = value;
    for (int k = 0; k < rounds; ++k) {
        const mca_common_colltools_round_t round = mca_common_colltools_exchange_round(&plan, me,
                                                                                       k);
        const size_t have = (size_t) 1 << k, lack = (size_t) plan.count - have;
        const size_t bytes = agreement->size * (!collects ? 1 : have < lack ? have : lack);
        if (!collects) {
            mca_common_colltools_schedule_step(schedule, merge_round, k, rounds,
                                               mca_common_colltools_schedule_so_far(schedule));
        }
        const mca_common_colltools_needs_t needs = mca_common_colltools_schedule_so_far(schedule);
        mca_common_colltools_schedule_bytes(&schedule->receives,
                                            collects ? agreement->value + have * agreement->size
                                                     : agreement->other,
                                            bytes, round.from, needs);
        mca_common_colltools_schedule_bytes(&schedule->sends,
                                            collects ? agreement->value : agreement->sent, bytes,
                                            round.to, needs);
    }
    if (!collects) {
        mca_common_colltools_schedule_step(schedule, merge_round, rounds, rounds,
                                           mca_common_colltools_schedule_so_far(schedule));
    }
}

bool mca_common_colltools_agreement_move(agreement_t *agreement, int *progress)
{
    if (!agreement->begun) {
        agreement->begun = true;
        mca_common_colltools_schedule_begin(&agreement->schedule);
    }
    return mca_common_colltools_schedule_move(&agreement->schedule, progress);
}

bool mca_common_colltools_agreement_fini(agreement_t *agreement)
{
    const bool pending = agreement->begun
                         && mca_common_colltools_schedule_fini(&agreement->schedule);

    if (!pending) {
        free(agreement->memory);
    }
    agreement->memory = NULL;
    agreement->begun = false;
    return pending;
}
