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
 * What a nonblocking call leaves of the processor: work is done between its start and its end,
 * in pieces of half a millisecond with MPI_Test between them; of all ranks together as much as the
 * call alone takes, since ranks share processors. Of the work the part
 *
 *     (call + work - both) / work
 *
 * is done behind the call; 0: call and work take as long as one after the other.
 *
 *     overlap [REPS]
 */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (1 << 20)
#define PAIR (1 << 14)
#define PIECE 5e-4 /* seconds */

static int rank, size;
static char *from, *to;
static int *counts, *displs;
static volatile uint64_t sink;

static void start_bcast(MPI_Comm comm, MPI_Request *request)
{
    MPI_Ibcast(to, BYTES, MPI_BYTE, 0, comm, request);
}

static void start_reduce(MPI_Comm comm, MPI_Request *request)
{
    MPI_Ireduce(from, to, BYTES / 8, MPI_INT64_T, MPI_SUM, 0, comm, request);
}

static void start_allreduce(MPI_Comm comm, MPI_Request *request)
{
    MPI_Iallreduce(from, to, BYTES / 8, MPI_INT64_T, MPI_SUM, comm, request);
}

static void start_allgatherv(MPI_Comm comm, MPI_Request *request)
{
    MPI_Iallgatherv(from, counts[rank], MPI_BYTE, to, counts, displs, MPI_BYTE, comm, request);
}

static void start_alltoall(MPI_Comm comm, MPI_Request *request)
{
    MPI_Ialltoall(from, PAIR, MPI_BYTE, to, PAIR, MPI_BYTE, comm, request);
}

static const struct {
    const char *name;
    void (*start)(MPI_Comm comm, MPI_Request *request);
} calls[] = {{"bcast", start_bcast},
             {"reduce", start_reduce},
             {"allreduce", start_allreduce},
             {"allgatherv", start_allgatherv},
             {"alltoall", start_alltoall}};

#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void work(long loops)
{
    uint64_t x = 1;

    for (long i = 0; i < loops; i++) {
        x = x * UINT64_C(6364136223846793005) + 1;
    }
    sink = x;
}

/* Loops of a piece, from the fastest of some tries. */
static long measure_piece(void)
{
    const long tried = 100000;
    double least = 1e9;

    for (int i = 0; i < 20; i++) {
        const double start = MPI_Wtime();
        work(tried);
        const double time = MPI_Wtime() - start;
        least = time < least ? time : least;
    }
    return (long) ((double) tried * PIECE / least);
}

/* The least time of the slowest rank, of a call with so many pieces of work; call -1: of these
 * alone. */
static double measure(MPI_Comm comm, int call, int pieces, long loops, int reps)
{
    double least = 1e9;

    for (int i = 0; i <= reps; i++) {
        MPI_Request request = MPI_REQUEST_NULL;
        double time, slowest;
        int done;

        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();
        if (0 <= call) {
            calls[call].start(comm, &request);
        }
        for (int k = 0; k < pieces; k++) {
            work(loops);
            MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        time = MPI_Wtime() - start;
        MPI_Allreduce(&time, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        least = 0 < i && slowest < least ? slowest : least;
    }
    return least;
}

static void show(const char *arm, MPI_Comm comm, long loops, int reps)
{
    for (int call = 0; call < (int) CALLS; call++) {
        const double alone = measure(comm, call, 0, loops, reps);
        const int pieces = (int) (alone / PIECE / size) + 1;
        const double busy = measure(comm, -1, pieces, loops, reps);
        const double both = measure(comm, call, pieces, loops, reps);

        if (0 == rank) {
            printf("%s\t%s\t%.6f\t%.6f\t%.6f\t%.3f\n", arm, calls[call].name, alone, busy, both,
                   (alone + busy - both) / busy);
        }
    }
}

int main(int argc, char **argv)
{
    const int reps = 1 < argc ? atoi(argv[1]) : 3;
    MPI_Info info;
    MPI_Comm stock;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const size_t bytes = BYTES > size * PAIR ? BYTES : (size_t) size * PAIR;
    from = calloc(bytes, 1);
    to = calloc(bytes, 1);
    counts = calloc(2 * (size_t) size, sizeof(int));
    if (NULL == from || NULL == to || NULL == counts) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    displs = counts + size;
    for (int i = 0; i < size; i++) {
        counts[i] = BYTES / size;
        displs[i] = i * (BYTES / size);
    }
    MPI_Info_create(&info);
    MPI_Info_set(info, "ompi_comm_coll_preference", "^pipering,mleader");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &stock);
    MPI_Info_free(&info);

    const long loops = measure_piece();
    if (0 == rank) {
        printf("#arm\tcall\talone_s\twork_s\tboth_s\tleft\n");
    }
    show("stock", stock, loops, reps);
    show("pipering", MPI_COMM_WORLD, loops, reps);
    MPI_Comm_free(&stock);
    free(from);
    free(to);
    free(counts);
    MPI_Finalize();
    return 0;
}
