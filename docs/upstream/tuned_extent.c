/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * MPI_Allgather into a type of negative extent: the contributions lie in descending order.
 *
 * Job: 2
 * Job: 3
 * Job: 4
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, mine, wrong = 0, any, all[64];
    MPI_Datatype down;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank;
    for (int i = 0; i < size; i++) {
        all[i] = -1;
    }
    MPI_Type_create_resized(MPI_INT, 0, -(MPI_Aint) sizeof(int), &down);
    MPI_Type_commit(&down);
    MPI_Allgather(&mine, 1, MPI_INT, all + size - 1, 1, down, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) {
        wrong += size - 1 - i != all[i];
    }
    MPI_Reduce(&wrong, &any, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%s: %d elements are wrong\n", 0 < any ? "present" : "mended", any);
    }
    MPI_Type_free(&down);
    MPI_Finalize();
    return 0;
}
