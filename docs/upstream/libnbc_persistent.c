/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Persistent reductions that are made, used and freed: the schedules and the temporary memory of
 * coll/libnbc stay.
 *
 * Job: 2
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 10000 };

static size_t use(int turns)
{
    static int in[COUNT], out[COUNT];

    for (int i = 0; i < turns; i++) {
        MPI_Request request;

        MPI_Allreduce_init(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                           &request);
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Request_free(&request);
    }
    return mallinfo2().uordblks;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t first = use(10), last = use(100);
    const long growth = ((long) last - (long) first) / 100;

    if (0 == rank) {
        printf("%s: %ld bytes a request\n", 100 < growth ? "present" : "mended", growth);
    }
    MPI_Finalize();
    return 0;
}
