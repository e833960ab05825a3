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
 * ROUNDS communicators through coll/mleader, made, used and freed: their segments are
 * mapped as long as they live and have no name, and neither mappings nor memory grow.
 * For a node with a /dev/shm of its own.
 */

#include "knob.h"
#include "leading.h"
#include "tap.h"

#include <glob.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t key = 1;
static int others; /* segments, of MPI_COMM_WORLD */

static int names(void)
{
    glob_t found;
    const int code = glob("/dev/shm/mleader.*/*", 0, NULL, &found), count = (int) found.gl_pathc;

    globfree(&found);
    return 0 == code ? count : 0;
}

/** Bytes that malloc has given out; 0 where that cannot be told. */
static long allocated(void)
{
#if defined(__GLIBC_PREREQ)
#    if __GLIBC_PREREQ(2, 33)
    return (long) mallinfo2().uordblks;
#    endif
#endif
    return 0;
}

static bool gather(MPI_Comm comm, int bytes)
{
    const leading_call_t call = {.comm = comm, .key = key++, .units = bytes};
    exchange_t *x = leading_exchange(&call);
    const bool right = MPI_SUCCESS == exchange_run(x) && exchange_right(x);

    leading_free(x);
    return right;
}

/** False with a fault where the communicator has not one segment without a name. */
static bool round_of(int n, const char **fault)
{
    MPI_Comm comm;
    bool right;

    if (0 == n % 2) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, &comm);
    }
    right = gather(comm, 300) && gather(comm, 20000);
    *fault = !right                            ? "wrong data"
             : others + 1 != leading_mappings(LEADING_SEGMENT) ? "a communicator has not one segment"
             : 0 != names()                    ? "a segment has a name"
                                               : *fault;
    MPI_Comm_free(&comm);
    return NULL == *fault;
}

int main(int argc, char **argv)
{
    const int rounds = (int) tap_number("ROUNDS", 500);
    const leading_variant_t variant = {.aggregation = -1, .distribution = -1, .exchange = -1,
                                       .scope = -1};
    const char *fault = NULL;
    long growth[2] = {0, 0};

    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    leading_setup(65536, false);
    leading_use(variant);
    round_of(1, &fault); /* MPI_Comm_split gathers on the world */
    others = leading_mappings(LEADING_SEGMENT);
    fault = NULL;
    for (int n = 0; n < rounds && round_of(n, &fault); n++) {
        if (n == rounds / 4) {
            growth[0] = -leading_mappings("");
            growth[1] = -allocated();
        }
    }
    growth[0] += leading_mappings("");
    growth[1] += allocated();
    tap_check(NULL == fault, fault, "%d communicators", rounds);
    tap_check(others == leading_mappings(LEADING_SEGMENT), "segments are mapped", "no segment stays");
    tap_check(4 >= growth[0], "more mappings", "mappings do not grow");
    MPI_Allreduce(MPI_IN_PLACE, growth, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    tap_note("growth: %ld mappings, %ld bytes of malloc", growth[0], growth[1]);
    tap_check(50L * rounds >= growth[1], "more memory", "memory does not grow");
    return leading_end();
}
