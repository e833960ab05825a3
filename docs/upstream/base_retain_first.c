/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * MPI_Ialltoallw whose only derived type stands in the first place of the arrays of types: it is
 * retained and never released, so what MPI_Type_free shall free stays.
 *
 * Job: 2
 */
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 1000 };

static size_t use(int turns)
{
    static int in[2][2 * COUNT], out[2][2 * COUNT];
    int counts[2] = {1, 0}, displs[2] = {0, sizeof(in[0])}, rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < turns; i++) {
        MPI_Datatype types[2] = {MPI_INT, MPI_INT};
        MPI_Request request;

        MPI_Type_vector(COUNT, 1, 2, MPI_INT, types);
        MPI_Type_commit(types);
        counts[0] = 0 == rank; /* to itself */
        MPI_Ialltoallw(in, counts, displs, types, out, counts, displs, types, MPI_COMM_WORLD,
                       &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Type_free(types);
    }
    return mallinfo2().uordblks;
}

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const size_t first = use(100), last = use(1000);
    const long growth = ((long) last - (long) first) / 1000;

    if (0 == rank) {
        printf("%s: %ld bytes a call\n", 100 < growth ? "present" : "mended", growth);
    }
    MPI_Finalize();
    return 0;
}
