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
 * Agreements of common/colltools among 1 to 40 ranks in one process (posing_pml.h), several
 * behind each other, so that ranks run ahead.
 */

#include "ompi/mca/common/colltools/common_colltools_agree.h"

#include <string.h>

#include "posing_pml.h"
#include "tap.h"

#define TAG 17
#define MOST 40

typedef struct value_t {
    uint64_t set, least, noise;
} value_t;

static mca_common_colltools_agreement_t agreement[MOST];

static void merge(void *value, const void *other)
{
    value_t *mine = value;
    const value_t *theirs = other;

    mine->set |= theirs->set;
    mine->least = theirs->least < mine->least ? theirs->least : mine->least;
}

#define NUMBERS 3

typedef void prepare_fn_t(int rank, int number);

static ompi_communicator_t *agreeing;
static prepare_fn_t *preparing;
static int numbers[MOST];     /* of the agreement that a rank is at */
static bool is_right;         /* no error, and nothing pending */
static bool is_lean = true;   /* no value comes twice to a rank */
static value_t combined[NUMBERS][MOST];
static uint64_t *collected[NUMBERS][MOST];

/* Moves the agreement of a rank; behind its end the rank starts the next one by itself. */
static bool step(int r)
{
    int progress = 0;

    if (!mca_common_colltools_agreement_move(&agreement[r], &progress)) {
        return false;
    }
    is_right &= OMPI_SUCCESS == agreement[r].schedule.error
                && !mca_common_colltools_agreement_fini(&agreement[r]);
    if (++numbers[r] < NUMBERS) {
        preparing(r, numbers[r]);
    }
    return NUMBERS == numbers[r];
}

/* All agreements of p ranks: they come to their end with this in them, and leave nothing. */
static bool agree(int p, prepare_fn_t *prepare, bool (*is_agreed)(int p, int number))
{
    agreeing = posing_open(p, tap_random());
    preparing = prepare;
    is_right = true;
    memset(numbers, 0, sizeof(numbers));
    for (int r = 0; r < p; r++) {
        prepare(r, 0);
    }
    bool right = posing_play(agreeing, step) && is_right;
    for (int k = 0; k < NUMBERS && right; k++) {
        right = is_agreed(p, k);
    }
    return 0 == posing_close(agreeing) && right;
}

static uint64_t key_of(int rank, int number)
{
    return (uint64_t) rank * 1000003 + (uint64_t) number * 7919 + 5;
}

static void init_agreement(int rank, size_t size)
{
    const mca_common_colltools_caller_t caller = {"pipering", "setup", &agreeing[rank]};

    if (OMPI_SUCCESS
        != mca_common_colltools_agreement_init(&agreement[rank], &caller, TAG, size)) {
        tap_bail("no memory");
    }
}

static void prepare_combination(int rank, int number)
{
    value_t *value = &combined[number][rank];

    *value = (value_t){.set = UINT64_C(1) << rank,
                       .least = key_of(rank ^ 5, number),
                       .noise = key_of(rank, number)};
    init_agreement(rank, sizeof(*value));
    mca_common_colltools_agreement_prepare(&agreement[rank], merge, value);
}

static size_t received(const mca_common_colltools_schedule_t *schedule)
{
    size_t bytes = 0;

    for (uint32_t i = 0; i < schedule->receives.count; i++) {
        bytes += schedule->receives.message[i].bytes;
    }
    return bytes;
}

static void prepare_collection(int rank, int number)
{
    const int p = agreeing->size;
    uint64_t *values = tap_memory(3 * (size_t) p * sizeof(*values));

    memset(values, 0, 3 * (size_t) p * sizeof(*values));
    for (int k = 0; k < 3; k++) {
        values[k] = key_of(rank, number + k);
    }
    collected[number][rank] = values;
    init_agreement(rank, 3 * sizeof(*values));
    mca_common_colltools_agreement_prepare(&agreement[rank], NULL, values);
    is_lean &= 3 * (size_t) (p - 1) * sizeof(*values) == received(&agreement[rank].schedule);
}

static bool is_combined(int p, int number)
{
    uint64_t least = UINT64_MAX;
    bool right = true;

    for (int r = 0; r < p; r++) {
        least = key_of(r ^ 5, number) < least ? key_of(r ^ 5, number) : least;
    }
    for (int r = 0; r < p; r++) {
        const value_t *value = &combined[number][r];
        right &= (UINT64_C(1) << p) - 1 == value->set && least == value->least
                 && key_of(r, number) == value->noise;
    }
    return right;
}

static bool is_collected(int p, int number)
{
    bool right = true;

    for (int r = 0; r < p; r++) {
        for (int i = 0; i < 3 * p; i++) {
            right &= key_of((r + i / 3) % p, number + i % 3) == collected[number][r][i];
        }
        free(collected[number][r]);
    }
    return right;
}

/* One of more ranks leaves before it is over. */
static bool leave(int p)
{
    agreeing = posing_open(p, tap_random());
    prepare_combination(0, 0);
    for (int k = tap_between(0, 2), progress = 0; 0 < k; k--) {
        (void) mca_common_colltools_agreement_move(&agreement[0], &progress);
    }
    void *memory = agreement[0].memory;
    const bool touches = posing_touches(agreeing);
    const bool pending = mca_common_colltools_agreement_fini(&agreement[0]);
    while (posing_event(agreeing)) {
    }
    if (pending) {
        free(memory);
    }
    (void) posing_close(agreeing);
    return pending == touches;
}

static void test_agreements(void)
{
    tap_tally_t combine = {0, 0}, collect = {0, 0}, left = {0, 0};

    for (int i = 0; i < 3 * MOST; i++) {
        const int p = 1 + i / 3;

        tap_try(&combine, agree(p, prepare_combination, is_combined), "%d ranks", p);
        tap_try(&collect, agree(p, prepare_collection, is_collected), "%d ranks", p);
        tap_try(&left, leave(1 + p), "%d ranks", 1 + p);
    }
    tally_ok(&combine, 3 * MOST, "all ranks combine the values of all");
    tally_ok(&collect, 3 * MOST, "all ranks collect the values of all");
    ok(is_lean, "a rank collects each value once");
    tally_ok(&left, 3 * MOST, "an agreement is let go of before it is over");
}

int main(void)
{
    tap_start();
    alarm(300);
    test_agreements();
    return tap_end();
}
