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
 * ROUNDS communicators through coll/mleader, made, used and freed, a few of them alive at
 * a time: their segments are mapped as long as they live and have no name, and neither
 * mappings nor memory grow.
 * For a node with a /dev/shm of its own.
 */

#include "exchange.h"
#include "leading.h"
#include "tap.h"
#include "usage.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

#define ALIVE 8 /* communicators at a time */

static uint64_t key = 1;
static int others; /* segments, of MPI_COMM_WORLD */

static int names(void)
{
    glob_t found;
    const int code = glob("/dev/shm/mleader.*", 0, NULL, &found), count = (int) found.gl_pathc;

    globfree(&found);
    return 0 == code ? count : 0;
}

static int few(int rank)
{
    (void) rank;
    return 300;
}

static int many(int rank)
{
    (void) rank;
    return 20000;
}

static bool gather(MPI_Comm comm, int (*bytes)(int rank))
{
    call_t *call = exchange_simple(comm, key++, true, layout_unit(0, 0), bytes);
    const bool right = MPI_SUCCESS == call_run(call, BLOCKING) && call_right(call);

    call_free(call);
    return right;
}

/** Takes the place of the oldest communicator, if there are so many. */
static void replace(MPI_Comm *comm, int n)
{
    if (MPI_COMM_NULL != *comm) {
        MPI_Comm_free(comm);
    }
    if (0 == n % 2) {
        MPI_Comm_dup(MPI_COMM_WORLD, comm);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, comm);
    }
}

/** A new communicator, used, and an older one; NULL, or a fault. */
static const char *round_of(MPI_Comm *alive, int n)
{
    MPI_Comm *comm = &alive[n % ALIVE], older;
    const int segments = n < ALIVE ? n + 1 : ALIVE;

    replace(comm, n);
    older = alive[(n - n % segments / 2) % ALIVE];
    if (!gather(*comm, few) || !gather(older, many) || !gather(*comm, many)) {
        return "wrong data";
    }
    if (others + segments != usage_mappings(USAGE_SEGMENT)) {
        return "a communicator has not one segment";
    }
    return 0 != names() ? "a segment has a name" : NULL;
}

static void free_all(MPI_Comm *alive)
{
    for (int i = 0; i < ALIVE; i++) {
        if (MPI_COMM_NULL != alive[i]) {
            MPI_Comm_free(&alive[i]);
        }
    }
}

int main(int argc, char **argv)
{
    const int rounds = (int) tap_number("ROUNDS", 2000);
    const leading_variant_t variant = {.aggregation = -1, .exchange = -1,
                                       .scope = -1};
    const char *fault = NULL;
    MPI_Comm alive[ALIVE];
    long growth[2] = {0, 0};

    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    leading_setup(65536);
    leading_use(variant);
    for (int i = 0; i < ALIVE; i++) {
        alive[i] = MPI_COMM_NULL;
    }
    replace(&alive[0], 1); /* MPI_Comm_split gathers on the world */
    others = usage_mappings(USAGE_SEGMENT);
    for (int n = 0; n < rounds && NULL == fault; n++) {
        fault = round_of(alive, n);
        if (n == rounds / 4) {
            growth[0] = -usage_mappings("");
            growth[1] = -usage_allocated();
        }
    }
    growth[0] += usage_mappings("");
    growth[1] += usage_allocated();
    free_all(alive);
    tap_check(NULL == fault, fault, "%d communicators, %d at a time", rounds, ALIVE);
    tap_check(others == usage_mappings(USAGE_SEGMENT), "segments are mapped",
              "no segment stays");
    tap_check(4 >= growth[0], "more mappings", "mappings do not grow");
    MPI_Allreduce(MPI_IN_PLACE, growth, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    tap_note("growth: %ld mappings, %ld bytes of malloc", growth[0], growth[1]);
    tap_check(50L * rounds >= growth[1], "more memory", "memory does not grow");
    return leading_end();
}
