/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * Ranks describe the same signature with different types: the root sends one element of all, the
 * others receive many. MPI allows that. Algorithms that cut the data cut it by elements.
 *
 * Job: 16
 */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 400000 };

int main(int argc, char **argv)
{
    static int data[COUNT];
    int rank, wrong = 0;
    MPI_Datatype all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(COUNT, MPI_INT, &all);
    MPI_Type_commit(&all);
    for (int i = 0; i < COUNT; i++) {
        data[i] = 0 == rank ? i : -1;
    }
    const int code = 0 == rank ? MPI_Bcast(data, 1, all, 0, MPI_COMM_WORLD)
                               : MPI_Bcast(data, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) {
        wrong += i != data[i];
    }
    if (0 < wrong) {
        printf("present: error %d, %d of %d elements are wrong\n", code, wrong, COUNT);
        fflush(stdout);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == rank) {
        printf("mended\n");
    }
    MPI_Type_free(&all);
    MPI_Finalize();
    return 0;
}
