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
 * CALLS calls of MPI_Allgatherv of 4 MiB in all, SHAPE 0: of equal parts, 1:
 * rank r has r + 1 shares, 2: all from a middle rank. Says for each node how
 * many bytes must enter it in a call, for the script to compare with the wire:
 *
 *     # enters n0 3145728
 */

#include "knob.h"
#include "tap.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOTAL (4 << 20)

static void spread(int shape, int *count, int *displ)
{
    int at = 0, weight, weights = 1 == shape ? tap_size * (tap_size + 1) / 2 : tap_size;

    for (int i = 0; i < tap_size; i++) {
        weight = 1 == shape ? i + 1 : 1;
        count[i] = 2 == shape ? 0 : (int) ((long long) TOTAL * weight / weights);
    }
    if (2 == shape) {
        count[tap_size / 2] = TOTAL;
    }
    for (int i = 0; i < tap_size; i++) {
        displ[i] = at;
        at += count[i];
    }
}

/** Rank 0 tells of each node once. */
static void tell(const int *count)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME];
    int length, enters = 0, first = tap_rank;

    MPI_Get_processor_name(name, &length);
    for (int i = 0; i < tap_size; i++) {
        memcpy(other, name, sizeof(other));
        MPI_Bcast(other, sizeof(other), MPI_CHAR, i, MPI_COMM_WORLD);
        if (0 != strcmp(name, other)) {
            enters += count[i];
        } else if (i < first) {
            first = i;
        }
    }
    if (first == tap_rank) {
        printf("# enters %s %d\n", name, enters);
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    int calls = (int) tap_number("CALLS", 1), shape = (int) tap_number("SHAPE", 0);
    int *count, *displ;
    char *send, *recv;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    count = tap_memory((size_t) tap_size * sizeof(int));
    displ = tap_memory((size_t) tap_size * sizeof(int));
    spread(shape, count, displ);
    send = calloc(1, TOTAL);
    recv = calloc(1, TOTAL);
    for (int i = 0; i < calls; i++) {
        TAP_MPI(MPI_Allgatherv(send, count[tap_rank], MPI_BYTE, recv, count, displ, MPI_BYTE,
                               MPI_COMM_WORLD));
    }
    const uint64_t served = knob_counter("coll_pipering_calls");
    tell(count);
    tap_check(served == (uint64_t) calls, NULL, "%d calls by the ring",
              calls);
    free(send);
    free(recv);
    free(count);
    free(displ);
    knob_end();
    return tap_end();
}
