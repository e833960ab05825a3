/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * A type with its data in one piece, a lower bound of 0, and a piece that does not begin at 0:
 * pml/ucx takes it for contiguous and sends from the buffer's address.
 *
 * Job: 2 --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, length = 2, displ = 1, data[4] = {10, 11, 12, 13}, got[2] = {0, 0};
    MPI_Datatype piece, type;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_indexed(1, &length, &displ, MPI_INT, &piece);
    MPI_Type_create_resized(piece, 0, 2 * sizeof(int), &type);
    MPI_Type_commit(&type);
    if (0 == rank) {
        MPI_Send(data, 1, type, 1, 0, MPI_COMM_WORLD);
    } else if (1 == rank) {
        MPI_Recv(got, 2, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%s: %d and %d arrived (expected 11 and 12)\n",
               11 == got[0] && 12 == got[1] ? "mended" : "present", got[0], got[1]);
    }
    MPI_Type_free(&piece);
    MPI_Type_free(&type);
    MPI_Finalize();
    return 0;
}
