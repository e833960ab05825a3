/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * MPI_Alltoallw of one process: displacements are in bytes, but coll/self takes them in extents.
 *
 * Job: 1
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int in[8] = {0, 1, 2, 3, 4, 5, 6, 7}, out[8] = {0}, one = 1, displ = sizeof(int);
    MPI_Datatype type = MPI_INT;

    MPI_Init(&argc, &argv);
    MPI_Alltoallw(in, &one, &displ, &type, out, &one, &displ, &type, MPI_COMM_SELF);
    printf("%s: element 1 is %d, element 4 is %d (expected 1 and 0)\n",
           1 == out[1] && 0 == out[4] ? "mended" : "present", out[1], out[4]);
    MPI_Finalize();
    return 0;
}
