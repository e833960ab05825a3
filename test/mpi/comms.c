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
 * Many communicators, made and freed, or with KEEP=1 all kept until the end, each with a small
 * call and two large ones.
 * Says by how much the memory of the process that grew most has grown since the
 * first ROUNDS / 4 of them, resident and by malloc's own account, and how the
 * number of shared memory files changed:
 *
 *     # growth 120 KiB, allocated 2048 bytes, shared memory files 0
 */

#include "knob.h"
#include "tap.h"
#include "usage.h"

#include <stdio.h>
#include <stdlib.h>

#define MOST_RANKS 32

/** Words of each rank, on the communicator of round `round`. */
static bool gather(MPI_Comm comm, int words, bool nonblocking, int *send, int *recv)
{
    int size, rank, count[MOST_RANKS], displ[MOST_RANKS];
    bool right = true;
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < size; i++) {
        count[i] = words + i;
        displ[i] = 0 == i ? 0 : displ[i - 1] + count[i - 1];
    }
    for (int i = 0; i < count[rank]; i++) {
        send[i] = 1000 * rank + i;
    }
    if (nonblocking) {
        TAP_MPI(MPI_Iallgatherv(send, count[rank], MPI_INT, recv, count, displ, MPI_INT, comm,
                                &request));
        TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    } else {
        TAP_MPI(MPI_Allgatherv(send, count[rank], MPI_INT, recv, count, displ, MPI_INT, comm));
    }
    for (int i = 0; i < size; i++) {
        right &= 1000 * i == recv[displ[i]]
                 && 1000 * i + count[i] - 1 == recv[displ[i] + count[i] - 1];
    }
    return right;
}

static bool round_of(int n, int *send, int *recv, MPI_Comm *comm)
{
    if (0 == n % 2) {
        MPI_Comm_dup(MPI_COMM_WORLD, comm);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, comm);
    }
    return gather(*comm, 3, false, send, recv) && gather(*comm, 1200, false, send, recv)
           && gather(*comm, 900 + n % 7, true, send, recv);
}

int main(int argc, char **argv)
{
    int rounds = (int) tap_number("ROUNDS", 2000), files = 0;
    const bool keep = 0 != tap_number("KEEP", 0);
    long before[2] = {0, 0}, growth[2];
    MPI_Comm *comm = NULL;
    bool right = true;
    int *send, *recv;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    knob_set("coll_pipering_allgatherv_algorithm", tap_number("ALGORITHM", KNOB_RING));
    send = tap_memory(4096 * sizeof(int));
    recv = tap_memory(MOST_RANKS * 4096 * sizeof(int));
    comm = tap_memory((size_t) rounds * sizeof(MPI_Comm));
    for (int n = 0; n < rounds; n++) {
        if (n == rounds / 4) {
            before[0] = usage_resident("VmRSS");
            before[1] = usage_allocated();
            MPI_Barrier(MPI_COMM_WORLD);
            files = usage_entries("/dev/shm");
        }
        right &= round_of(n, send, recv, &comm[n]);
        if (!keep) {
            MPI_Comm_free(&comm[n]);
        }
    }
    files = usage_entries("/dev/shm") - files;
    growth[0] = usage_resident("VmRSS") - before[0];
    growth[1] = usage_allocated() - before[1];
    MPI_Allreduce(MPI_IN_PLACE, growth, 2, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
    tap_check(right, NULL, "right results on %d communicators", rounds);
    tap_note("growth %ld KiB, allocated %ld bytes, shared memory files %d", growth[0], growth[1],
             files);
    for (int n = 0; keep && n < rounds; n++) {
        MPI_Comm_free(&comm[n]);
    }
    free(comm);
    free(send);
    free(recv);
    knob_end();
    return tap_end();
}
