/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * A type that is freed after it was given to a persistent collective, as MPI allows, and before
 * that is started: nothing has retained it.
 *
 * Job: 2
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { COUNT = 1000 };

int main(int argc, char **argv)
{
    static int in[2 * COUNT], out[4 * COUNT];
    int rank, wrong = 0, any;
    MPI_Datatype spaced, other[50];
    MPI_Request request;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(out, -1, sizeof(out));
    for (int i = 0; i < 2 * COUNT; i++) {
        in[i] = i;
    }
    MPI_Type_vector(COUNT, 1, 2, MPI_INT, &spaced);
    MPI_Type_commit(&spaced);
    MPI_Allgather_init(in, 1, spaced, out, COUNT, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    MPI_Type_free(&spaced);
    for (int i = 0; i < 50; i++) { /* take the memory of what is freed */
        MPI_Type_vector(COUNT, 1, 1 + i % 2 * 2, MPI_INT, &other[i]);
        MPI_Type_commit(&other[i]);
    }
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2 * COUNT; i++) {
        wrong += out[i] != i % COUNT * 2;
    }
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%s: %d elements are wrong\n", 0 < any ? "present" : "mended", any);
    }
    MPI_Request_free(&request);
    MPI_Finalize();
    return 0;
}
