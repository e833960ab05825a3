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
 * MPI_Barrier without the components and, on MPI_COMM_WORLD, as the job's variables say, in turns:
 * median and least seconds of a barrier, of the slowest rank.
 *
 *     barriers [REPS]
 */

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCH 20 /* barriers that are timed together */

enum { STOCK, PIPERING, ARMS };

static const char *const names[ARMS] = {"stock", "pipering"};

static double measure(MPI_Comm comm)
{
    double time, slowest;

    MPI_Barrier(comm);
    const double start = MPI_Wtime();
    for (int i = 0; i < BATCH; i++) {
        MPI_Barrier(comm);
    }
    time = (MPI_Wtime() - start) / BATCH;
    MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;

    return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
    const int reps = 1 < argc && 0 < atoi(argv[1]) ? atoi(argv[1]) : 3;
    MPI_Comm comm[ARMS] = {[PIPERING] = MPI_COMM_WORLD};
    MPI_Info info;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", "^pipering,mleader");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm[STOCK]);
    MPI_Info_free(&info);
    double *times = malloc(ARMS * (size_t) reps * sizeof(double));
    if (NULL == times) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    for (int i = 0; i < reps; i++) {
        for (int arm = 0; arm < ARMS; arm++) {
            times[arm * reps + i] = measure(comm[arm]);
        }
    }
    for (int arm = 0; arm < ARMS && 0 == rank; arm++) {
        qsort(&times[arm * reps], (size_t) reps, sizeof(double), compare);
        printf("%s%s\t%.7f\t%.7f\n", 0 == arm ? "#arm\tmedian_s\tleast_s\n" : "", names[arm],
               times[arm * reps + reps / 2], times[arm * reps]);
    }
    free(times);
    MPI_Comm_free(&comm[STOCK]);
    MPI_Finalize();
    return 0;
}
