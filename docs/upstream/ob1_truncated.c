/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * pml/ob1: a message that goes by RDMA, as btl/sm and btl/tcp have it, is written as a whole, also into
 * a buffer that is too small for it: MPI_ERR_TRUNCATE, and what is behind the buffer is lost.
 *
 * Job: 2 --mca pml ob1 --mca btl sm,vader,self
 * Job: 1,1 --mca pml ob1 --mca btl tcp,self
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENT = 1000000, RECEIVED = 500000, BEHIND = 4096 };

int main(int argc, char **argv)
{
    int me, changed = 0;
    char *memory = malloc(SENT);

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    memset(memory, 1 + me, SENT);
    if (0 == me) {
        MPI_Request request;
        MPI_Isend(memory, SENT, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(memory, RECEIVED, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 0; i < BEHIND; ++i) {
            changed += 2 != memory[RECEIVED + i];
        }
        printf("%s: %d of %d bytes behind the buffer are changed\n",
               0 < changed ? "present" : "mended", changed, BEHIND);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    free(memory);
    return 0;
}
