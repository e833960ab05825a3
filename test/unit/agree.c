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
#define VALUE 24

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

/* Moves all agreements to their end, then each rank starts the next one by itself. */
static bool agree(ompi_communicator_t *comm, int p, void (*prepare)(int rank, int number),
                  int numbers)
{
    int number[MOST] = {0}, left = p, idle_turns = 0;
    bool right = true;

    for (int r = 0; r < p; r++) {
        prepare(r, 0);
    }
    while (0 < left && 200000 > ++idle_turns) {
        const int r = (int) tap_below((uint64_t) p);
        int progress = 0;

        if (posing_event(comm)) {
            idle_turns = 0;
        }
        if (numbers == number[r]
            || !mca_common_colltools_agreement_move(&agreement[r], &progress)) {
            continue;
        }
        right &= OMPI_SUCCESS == agreement[r].schedule.error;
        right &= !mca_common_colltools_agreement_fini(&agreement[r]);
        if (++number[r] < numbers) {
            prepare(r, number[r]);
        } else {
            left--;
        }
    }
    while (posing_event(comm)) {
    }
    return right && 0 == left;
}

#define NUMBERS 3

static ompi_communicator_t *agreeing;
static bool is_lean = true; /* no value comes twice to a rank */
static value_t combined[NUMBERS][MOST];
static uint64_t *collected[NUMBERS][MOST];

static uint64_t key_of(int rank, int number)
{
    return (uint64_t) rank * 1000003 + (uint64_t) number * 7919 + 5;
}

static void init_agreement(int rank, size_t size)
{
    const mca_common_colltools_caller_t caller = {"pipering", "setup", &agreeing[rank]};

    if (OMPI_SUCCESS
        != mca_common_colltools_agreement_init(&agreement[rank], &caller, TAG, size)) {
        printf("Bail out! no memory\n");
        exit(EXIT_FAILURE);
    }
}

static void prepare_combination(int rank, int number)
{
    value_t *value = &combined[number][rank];

    *value = (value_t){.set = UINT64_C(1) << rank,
                       .least = key_of(rank ^ 5, number),
                       .noise = key_of(rank, number)};
    init_agreement(rank, sizeof(*value));
    mca_common_colltools_combine(&agreement[rank], merge, value);
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
    mca_common_colltools_collect(&agreement[rank], values);
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

static void test_agreements(void)
{
    tap_tally_t combine = {0, 0}, collect = {0, 0}, leave = {0, 0};

    for (int p = 1; p <= MOST; p++) {
        for (int n = 0; n < 3; n++) {
            agreeing = posing_open(p, tap_random());
            bool right = agree(agreeing, p, prepare_combination, NUMBERS);
            for (int k = 0; k < NUMBERS && right; k++) {
                right = is_combined(p, k);
            }
            tap_try(&combine, right && 0 == posing_close(agreeing),
                    "%d ranks, run %d", p, n);

            agreeing = posing_open(p, tap_random());
            right = agree(agreeing, p, prepare_collection, NUMBERS);
            for (int k = 0; k < NUMBERS && right; k++) {
                right = is_collected(p, k);
            }
            tap_try(&collect, right && 0 == posing_close(agreeing),
                    "%d ranks, run %d", p, n);

            agreeing = posing_open(1 + p, tap_random());
            prepare_combination(0, 0);
            for (int k = tap_between(0, 2), progress = 0; 0 < k; k--) {
                (void) mca_common_colltools_agreement_move(&agreement[0], &progress);
            }
            void *memory = agreement[0].memory;
            const bool touches = posing_touches(agreeing);
            const bool pending = mca_common_colltools_agreement_fini(&agreement[0]);
            right = pending == touches;
            while (posing_event(agreeing)) {
            }
            if (pending) {
                free(memory);
            }
            tap_try(&leave, right, "%d ranks, run %d", 1 + p, n);
            (void) posing_close(agreeing);
        }
    }
    tally_ok(&combine, 3 * MOST, "all ranks combine the values of all");
    tally_ok(&collect, 3 * MOST, "all ranks collect the values of all");
    ok(is_lean, "a rank collects each value once");
    tally_ok(&leave, 3 * MOST, "an agreement is let go of before it is over");
}

int main(void)
{
    tap_start();
    alarm(300);
    test_agreements();
    return tap_end();
}
