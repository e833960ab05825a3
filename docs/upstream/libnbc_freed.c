/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * A communicator that is freed while a nonblocking reduction on it is pending, which MPI allows.
 *
 * Job: 2
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    static int in[100000], out[100000];
    int rank;
    MPI_Request request;
    MPI_Comm comm;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (0 == rank) {
        usleep(200000); /* the other rank's call has to wait */
    }
    MPI_Iallreduce(in, out, 100000, MPI_INT, MPI_SUM, comm, &request);
    MPI_Comm_free(&comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("mended\n");
    }
    MPI_Finalize();
    return 0;
}
