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
 * All send to all for a few seconds, in the midst of which a link goes down; says "right" if all
 * data has come.
 */

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

#define BYTES 6000000

static unsigned char word(int from, int to, int i)
{
    return (unsigned char) (i + i / 256 + 31 * from + 7 * to);
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all = 0;

    TAP_MPI(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    unsigned char *out = tap_memory((size_t) size * BYTES), *in = tap_memory((size_t) size * BYTES);
    for (int peer = 0; peer < size; peer++) {
        for (int i = 0; i < BYTES; i++) {
            out[(size_t) peer * BYTES + (size_t) i] = word(rank, peer, i);
        }
    }
    TAP_MPI(MPI_Alltoall(out, BYTES, MPI_BYTE, in, BYTES, MPI_BYTE, MPI_COMM_WORLD));
    for (int peer = 0; peer < size; peer++) {
        for (int i = 0; i < BYTES; i++) {
            wrong += in[(size_t) peer * BYTES + (size_t) i] != word(peer, rank, i);
        }
    }
    TAP_MPI(MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    if (0 == rank) {
        printf("%s\n", 0 == all ? "right" : "wrong");
    }
    free(out);
    free(in);
    MPI_Finalize();
    return 0;
}
