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
 * The agreements of common_irregular_agree.h as schedules for the schedule engine.
 *
 *     combination   step k     merges the value received in round k - 1, copies the result
 *                              to `sent`
 *                   round k    needs step k and all rounds before
 *     collection    round k    needs the messages received in all rounds before
 *
 * No message is sent or received before the first move, since a communicator with a pending
 * receive could not be freed.
 */

#include "ompi/mca/common/irregular/common_irregular_agree.h"

#include <stdlib.h>
#include <string.h>

typedef mca_common_irregular_agreement_t agreement_t;

static uint32_t rounds_of(int ranks)
{
    uint32_t rounds = 0;

    while (rounds < 31 && 1 << rounds < ranks) {
        ++rounds;
    }
    return rounds;
}

static int rank_at(const agreement_t *agreement, int distance)
{
    const int64_t p = ompi_comm_size(agreement->caller.comm);
    return (int) ((ompi_comm_rank(agreement->caller.comm) + distance + p) % p);
}

int mca_common_irregular_agreement_init(agreement_t *agreement,
                                        const mca_common_irregular_caller_t *caller, int tag,
                                        size_t size)
{
    mca_common_irregular_schedule_t *schedule = &agreement->schedule;
    const uint32_t rounds = rounds_of(ompi_comm_size(caller->comm));
    char *memory = malloc(2 * rounds * (sizeof(mca_common_irregular_message_t)
                                        + sizeof(ompi_request_t *))
                          + (rounds + 1) * sizeof(mca_common_irregular_step_t) + 2 * size);

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
    schedule->receives.message = (mca_common_irregular_message_t *) memory;
    schedule->sends.message = schedule->receives.message + rounds;
    schedule->receives.request = (ompi_request_t **) (schedule->sends.message + rounds);
    schedule->sends.request = schedule->receives.request + rounds;
    schedule->step = (mca_common_irregular_step_t *) (schedule->sends.request + rounds);
    agreement->sent = (char *) (schedule->step + rounds + 1);
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

void mca_common_irregular_combine(agreement_t *agreement, mca_common_irregular_merge_fn_t *merge,
                                  void *value)
{
    mca_common_irregular_schedule_t *schedule = &agreement->schedule;
    const uint32_t rounds = rounds_of(ompi_comm_size(agreement->caller.comm));

    agreement->merge = merge;
    agreement->value = value;
    for (uint32_t k = 0; k < rounds; ++k) {
        const int distance = 1 << k;
        mca_common_irregular_schedule_step(schedule, merge_round, (int) k, (int) rounds,
                                           mca_common_irregular_schedule_so_far(schedule));
        const mca_common_irregular_needs_t needs = mca_common_irregular_schedule_so_far(schedule);
        mca_common_irregular_schedule_bytes(&schedule->receives, agreement->other,
                                            agreement->size, rank_at(agreement, distance), needs);
        mca_common_irregular_schedule_bytes(&schedule->sends, agreement->sent, agreement->size,
                                            rank_at(agreement, -distance), needs);
    }
    mca_common_irregular_schedule_step(schedule, merge_round, (int) rounds, (int) rounds,
                                       mca_common_irregular_schedule_so_far(schedule));
}

void mca_common_irregular_collect(agreement_t *agreement, void *values)
{
    mca_common_irregular_schedule_t *schedule = &agreement->schedule;
    const int p = ompi_comm_size(agreement->caller.comm);
    const uint32_t rounds = rounds_of(p);

    agreement->value = values;
    for (uint32_t k = 0; k < rounds; ++k) {
        const int have = 1 << k, lack = p - have;
        const size_t bytes = agreement->size * (size_t) (have < lack ? have : lack);
        const mca_common_irregular_needs_t needs = mca_common_irregular_schedule_so_far(schedule);
        mca_common_irregular_schedule_bytes(&schedule->receives,
                                            agreement->value + (size_t) have * agreement->size,
                                            bytes, rank_at(agreement, have), needs);
        mca_common_irregular_schedule_bytes(&schedule->sends, agreement->value, bytes,
                                            rank_at(agreement, -have), needs);
    }
}

bool mca_common_irregular_agreement_move(agreement_t *agreement, int *progress)
{
    if (!agreement->begun) {
        agreement->begun = true;
        mca_common_irregular_schedule_begin(&agreement->schedule);
    }
    return mca_common_irregular_schedule_move(&agreement->schedule, progress);
}

bool mca_common_irregular_agreement_fini(agreement_t *agreement)
{
    const bool pending = agreement->begun
                         && mca_common_irregular_schedule_fini(&agreement->schedule);

    if (!pending) {
        free(agreement->memory);
    }
    agreement->memory = NULL;
    agreement->begun = false;
    return pending;
}
