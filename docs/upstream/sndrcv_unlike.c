/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * A process sends 65538 bytes to itself, as pairs of a short and a char with a gap behind each, and
 * receives them as pairs without one: ompi_datatype_sndrcv() copies by way of a buffer of 64 KiB.
 *
 * Job: 1
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static MPI_Datatype pair(MPI_Aint extent)
{
    const int lengths[] = {1, 1};
    const MPI_Aint displs[] = {0, 2};
    const MPI_Datatype types[] = {MPI_SHORT, MPI_CHAR};
    MPI_Datatype packed, made;

    MPI_Type_create_struct(2, lengths, displs, types, &packed);
    MPI_Type_create_resized(packed, 0, extent, &made);
    MPI_Type_commit(&made);
    return made;
}

int main(int argc, char **argv)
{
    const int count = 21846;
    char *in = calloc(count, 4), *out = calloc(count, 3);
    int lost = 0;

    MPI_Init(&argc, &argv);
    for (int i = 0; i < 4 * count; i++) {
        in[i] = 1;
    }
    MPI_Allgather(in, count, pair(4), out, count, pair(3), MPI_COMM_SELF);
    for (int i = 0; i < 3 * count; i++) {
        lost += 1 != out[i];
    }
    printf("%s: %d bytes are lost\n", 0 == lost ? "mended" : "present", lost);
    MPI_Finalize();
    return 0;
}
