/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 * $COPYRIGHT$
 *
 * coll/han cannot serve MPI_Bcast on nodes with unlike numbers of processes, and finds that out by
 * an MPI_Allreduce. Below another component, here coll/sync, it does so in every call: it prints a
 * line each time that it decides.
 *
 * Job: 2,1 --mca coll_sync_barrier_before 1000000
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    char name[] = "/tmp/han_fallback.XXXXXX", line[4096];
    const int file = mkstemp(name), out = dup(STDERR_FILENO);
    int rank, data = 0, lines = 0;
    FILE *said;

    setenv("OMPI_MCA_coll_han_verbose", "30", 1);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fflush(stderr);
    dup2(file, STDERR_FILENO);
    for (int i = 0; i < 10; i++) {
        MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    fflush(stderr);
    dup2(out, STDERR_FILENO);
    said = fopen(name, "r");
    while (NULL != said && NULL != fgets(line, sizeof(line), said)) {
        lines += NULL != strstr(line, "get_algorithm bcast");
    }
    unlink(name);
    if (0 == rank) {
        printf("%s: coll/han decided %d of 10 calls\n", 1 < lines ? "present" : "mended", lines);
    }
    MPI_Finalize();
    return 0;
}
