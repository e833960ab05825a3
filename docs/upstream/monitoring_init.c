/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * MPI_Init with pml/monitoring, which asks MPI_COMM_WORLD before that is there.
 *
 * Job: 2 --mca pml ob1,monitoring --mca pml_monitoring_enable 1
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (0 == rank) {
        printf("mended\n");
    }
    MPI_Finalize();
    return 0;
}
