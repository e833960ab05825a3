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
 * MPI_Iallgather and MPI_Allgather_init through coll/mleader: what they serve before and after
 * the communicator is set up. All else about them is in the fuzzer's cases.
 */

#include "exchange.h"
#include "knob.h"
#include "leading.h"
#include "tap.h"
#include "usage.h"

#include <stdio.h>

static uint64_t key = 70000;
static int turn; /* the variant that comes next */
static char fault[450];

static void fail(const char *text)
{
    if ('\0' == fault[0]) {
        snprintf(fault, sizeof(fault), "%s", text);
    }
}

static void report(const char *name)
{
    tap_check('\0' == fault[0], fault, "%s", name);
    fault[0] = '\0';
}

static int units(int rank)
{
    static const int sizes[] = {1, 2400, 9001, 24, 7000};

    (void) rank;
    return sizes[key % 5];
}

/** Sizes of one and of many slices, by the next variant. */
static call_t *sample(MPI_Comm comm)
{
    key++;
    leading_use(leading_variant(turn = (turn + 7) % LEADING_VARIANTS));
    return exchange_simple(comm, key, true, layout_unit(3, 0), units);
}

static void end(call_t *call)
{
    if (MPI_SUCCESS != call_wait(call)) {
        fail("an error");
    } else if (!call_right(call)) {
        fail(call->fault);
    }
    if (PERSISTENT != call->form) {
        call_free(call);
    }
}

static call_t *start(MPI_Comm comm, form_t form)
{
    call_t *call = sample(comm);

    TAP_MPI(call_start(call, form));
    return call;
}

static MPI_Comm new_comm(size_t segment_size)
{
    MPI_Comm comm;

    leading_setup(segment_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
}

/** Before a communicator is set up the module below serves. */
static void try_new(void)
{
    const uint64_t left = knob_counter("coll_mleader_fallback_early");
    MPI_Comm comm = new_comm(65536);

    end(start(comm, NONBLOCKING));
    if (left + 1 != knob_counter("coll_mleader_fallback_early")) {
        fail("it was not left to the module below");
    }
    end(start(comm, BLOCKING));
    const uint64_t calls = knob_counters("coll_mleader_calls_");
    end(start(comm, NONBLOCKING));
    if (calls + 1 != knob_counters("coll_mleader_calls_")) {
        fail("it was left to the module below");
    }
    MPI_Comm_free(&comm);
    report("a nonblocking call before the first blocking one, and behind it");
}

/** The first call of a communicator may be a persistent one, which sets it up for itself. */
static void try_first(void)
{
    const uint64_t before = knob_counters("coll_mleader_calls_");
    const int mapped = usage_mappings(USAGE_SEGMENT);
    MPI_Comm comm = new_comm(65536);
    call_t *call = sample(comm);

    TAP_MPI(call_init(call));
    for (int n = 0; n < 3; n++) {
        call_reset(call);
        TAP_MPI(MPI_Start(&call->request));
        end(call);
        call_t *other = sample(comm);
        knob_set("coll_mleader_allgather_algorithm", 0 == n ? KNOB_AUTO : KNOB_LEADERS);
        TAP_MPI(call_start(other, BLOCKING));
        end(other);
    }
    if (before + 3 > knob_counters("coll_mleader_calls_")) {
        fail("it was left to the module below");
    }
    call_free(call);
    MPI_Comm_free(&comm);
    if (mapped != usage_mappings(USAGE_SEGMENT)) {
        fail("segments stay mapped");
    }
    report("a persistent request on a new communicator");
}

static int amount;

static int amount_of(int rank)
{
    (void) rank;
    return amount;
}

/** Blocking calls make larger segments while nonblocking ones, of many slices, are under way. */
static void try_growth(void)
{
    enum { CALLS = 8 };
    static const int sizes[CALLS] = {16, 9000, 4000, 30000, 9000, 60000, 20000, 60000};
    MPI_Comm comm = new_comm(2 << 20);
    call_t *call[CALLS];

    leading_use(leading_variant(0));
    for (int n = 0; n < CALLS; n++) {
        amount = sizes[n];
        call[n] = exchange_simple(comm, key++, true, layout_unit(0, 0), amount_of);
        TAP_MPI(call_start(call[n], 0 == n % 2 ? BLOCKING : NONBLOCKING));
    }
    for (int n = 0; n < CALLS; n++) {
        end(call[n]);
    }
    MPI_Comm_free(&comm);
    report("segments that grow while calls are under way");
}

int main(int argc, char **argv)
{
    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    try_new();
    try_first();
    try_growth();
    return leading_end();
}
