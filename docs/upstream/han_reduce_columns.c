/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * coll/han: MPI_Reduce takes memory for twice the extents of a segment on leaders of nodes without the
 * root. Elements that interleave, such as the columns of a matrix, span more, and it writes behind that.
 *
 * Job: 2,2 --mca pml ob1
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COLUMNS = 2000000 };

/* A column has two numbers, one in each row. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    const int *from = in;
    int *to = inout;

    (void) type;
    for (int i = 0; i < *count; ++i) {
        to[i] += from[i];
        to[i + COLUMNS] += from[i + COLUMNS];
    }
}

int main(int argc, char **argv)
{
    const MPI_Aint rows[2] = {0, COLUMNS * (MPI_Aint) sizeof(int)};
    MPI_Datatype pair, column;
    MPI_Op sum;

    MPI_Init(&argc, &argv);
    MPI_Type_create_hindexed_block(2, 1, rows, MPI_INT, &pair);
    MPI_Type_create_resized(pair, 0, sizeof(int), &column);
    MPI_Type_commit(&column);
    MPI_Op_create(add, 1, &sum);
    int *from = calloc(2 * COLUMNS, sizeof(int)), *to = calloc(2 * COLUMNS, sizeof(int)), me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Reduce(from, to, COLUMNS, column, sum, 1, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (0 == me) {
        printf("mended: all processes are there\n");
        fflush(stdout);
    }
    MPI_Finalize();
    free(from);
    free(to);
    return 0;
}
