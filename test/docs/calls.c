/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * What the manual calls ./program: a few collective calls of each family that the components
 * serve, large enough for a line of each verbose form. Prints "right" if all results are.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define TIMES 4 /* coll/mleader serves the third call on a communicator and those after it */
#define LARGE 16384
#define SMALL 512

static int rank, size;

static int *numbers(int count)
{
    int *of = malloc((size_t) count * sizeof(int));

    if (NULL == of) {
        fprintf(stderr, "calls: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return of;
}

/* Rank r contributes r + 1 times so many integers of value r. */
static bool gather_unequal(int least)
{
    const int total = least * size * (size + 1) / 2;
    int *count = numbers(size), *from = numbers(size), *in = numbers(least * size);
    int *out = numbers(total);
    bool right = true;

    for (int r = 0, at = 0; r < size; at += count[r++]) {
        count[r] = least * (r + 1);
        from[r] = at;
    }
    for (int i = 0; i < count[rank]; ++i) {
        in[i] = rank;
    }
    MPI_Allgatherv(in, count[rank], MPI_INT, out, count, from, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) {
        right = right && r == out[from[r]] && r == out[from[r] + count[r] - 1];
    }
    free(count);
    free(from);
    free(in);
    free(out);
    return right;
}

static bool gather_equal(int count)
{
    int *in = numbers(count), *out = numbers(count * size);
    bool right = true;

    for (int i = 0; i < count; ++i) {
        in[i] = rank;
    }
    MPI_Allgather(in, count, MPI_INT, out, count, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) {
        right = right && r == out[count * r] && r == out[count * (r + 1) - 1];
    }
    free(in);
    free(out);
    return right;
}

/* An integer from each rank to each. */
static bool exchange(void)
{
    int *ones = numbers(size), *from = numbers(size), *in = numbers(size), *out = numbers(size);
    bool right = true;

    for (int r = 0; r < size; ++r) {
        ones[r] = 1;
        from[r] = r;
        in[r] = rank;
    }
    MPI_Alltoallv(in, ones, from, MPI_INT, out, ones, from, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < size; ++r) {
        right = right && r == out[r];
    }
    free(ones);
    free(from);
    free(in);
    free(out);
    return right;
}

static bool sum(int count)
{
    int *in = numbers(count), *out = numbers(count);

    for (int i = 0; i < count; ++i) {
        in[i] = rank;
    }
    MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    const bool right = size * (size - 1) / 2 == out[0] && out[0] == out[count - 1];
    free(in);
    free(out);
    return right;
}

int main(int argc, char **argv)
{
    bool right = true, all;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < TIMES; ++i) {
        right = gather_unequal(LARGE) && gather_equal(SMALL) && sum(LARGE) && exchange() && right;
    }
    MPI_Reduce(&right, &all, 1, MPI_C_BOOL, MPI_LAND, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%s\n", all ? "right" : "wrong");
    }
    MPI_Finalize();
    return 0;
}
