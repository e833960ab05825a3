/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * MPI_Iallgatherv_c of 4 GiB and one byte, which takes 8 GiB of address space and, once mended, 8
 * GiB of memory: the number that is sent passes through an int in coll/libnbc.
 *
 * Job: 1
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    const MPI_Count count = ((MPI_Count) 1 << 32) + 1;
    const MPI_Aint displ = 0;
    char *in, *out;
    MPI_Request request;

    MPI_Init(&argc, &argv);
    in = calloc(count, 1);
    out = calloc(count, 1);
    if (NULL == in || NULL == out) {
        printf("not tried: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    in[count - 1] = 1;
    MPI_Iallgatherv_c(in, count, MPI_BYTE, out, &count, &displ, MPI_BYTE, MPI_COMM_SELF, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("%s: the last byte is %d\n", 1 == out[count - 1] ? "mended" : "present", out[count - 1]);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
