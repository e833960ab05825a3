/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * pml/ob1: acknowledgements that wait for a free fragment of btl/sm are sent without their
 * contents, so that synchronous sends never end.
 *
 * Job: 2 --mca pml ob1 --mca btl sm,self --mca btl_sm_fbox_max 0
 * Job: 4 --mca pml ob1 --mca btl sm,self
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGES = 5000 };

int main(int argc, char **argv)
{
    int me, ranks;
    char from = 0, *to = calloc(MESSAGES, 1);
    MPI_Request *request = malloc(2 * MESSAGES * sizeof(MPI_Request));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int round = 0; round < 20; ++round) {
        for (int i = 0; i < MESSAGES; ++i) {
            MPI_Irecv(to + i, 1, MPI_BYTE, (me + ranks - 1) % ranks, i, MPI_COMM_WORLD,
                      request + i);
        }
        for (int i = 0; i < MESSAGES; ++i) {
            MPI_Issend(&from, 1, MPI_BYTE, (me + 1) % ranks, i, MPI_COMM_WORLD,
                       request + MESSAGES + i);
        }
        MPI_Waitall(2 * MESSAGES, request, MPI_STATUSES_IGNORE);
    }
    if (0 == me) {
        printf("mended: all synchronous sends ended\n");
    }
    MPI_Finalize();
    free(request);
    free(to);
    return 0;
}
