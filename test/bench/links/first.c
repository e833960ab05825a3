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
 * The first calls of a job, which nothing comes before that would open connections or teach
 * what links cost:
 *
 *     first TOTAL CALLS [early]
 *
 * makes CALLS calls of MPI_Allgatherv, one after a barrier each, where rank 0 contributes half
 * of TOTAL bytes and the others equal parts of the rest. Rank 0 prints for each call its number
 * and the seconds of the slowest rank, and whether all results were right:
 *
 *     1	0.085	yes
 *
 * early: before them one MPI_Iallgatherv overlapped with computing, as applications use it.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;
static int *count, *displ;
static unsigned char *in, *out;

static void lay_out(int total)
{
    count = malloc((size_t) size * sizeof(int));
    displ = malloc((size_t) size * sizeof(int));
    in = malloc((size_t) total);
    out = malloc((size_t) total);
    if (NULL == count || NULL == displ || NULL == in || NULL == out) {
        fprintf(stderr, "first: no memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0, at = 0; i < size; at += count[i++]) {
        count[i] = 0 == i ? total / 2 : total / 2 / (size - 1);
        displ[i] = at;
    }
}

/* What rank r contributes to a call. */
static unsigned char byte_of(int r, int call)
{
    return (unsigned char) (1 + r + 7 * call);
}

static void fill(int call)
{
    memset(in, byte_of(rank, call), (size_t) count[rank]);
    memset(out, 0, (size_t) (displ[size - 1] + count[size - 1]));
}

static bool is_right(int call)
{
    for (int r = 0; r < size; ++r) {
        for (int i = 0; i < count[r]; ++i) {
            if (byte_of(r, call) != out[displ[r] + i]) {
                return false;
            }
        }
    }
    return true;
}

static void compute(double seconds)
{
    for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
    }
}

static bool overlap(void)
{
    MPI_Request request;
    int done = 0;

    fill(0);
    MPI_Iallgatherv(in, count[rank], MPI_BYTE, out, count, displ, MPI_BYTE, MPI_COMM_WORLD,
                    &request);
    while (!done) {
        compute(0.005);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
    return is_right(0);
}

/* All ranks' verdicts are one sum, which a small reduction takes after the clock has stopped. */
static void call_once(int call, bool right_before)
{
    double seconds, slowest;
    int wrong, wrongs;

    fill(call);
    MPI_Barrier(MPI_COMM_WORLD);
    seconds = MPI_Wtime();
    MPI_Allgatherv(in, count[rank], MPI_BYTE, out, count, displ, MPI_BYTE, MPI_COMM_WORLD);
    seconds = MPI_Wtime() - seconds;
    wrong = !right_before || !is_right(call);
    MPI_Reduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&wrong, &wrongs, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (0 == rank) {
        printf("%d\t%.6f\t%s\n", call, slowest, 0 == wrongs ? "yes" : "no");
    }
}

int main(int argc, char **argv)
{
    bool right = true;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int total = 1 < argc ? atoi(argv[1]) : 0, calls = 2 < argc ? atoi(argv[2]) : 0;
    if (2 > size || size > total || 1 > calls) {
        fprintf(stderr, "first: expected TOTAL (bytes, at least one a rank) and CALLS (1 or more),"
                        " and 2 ranks or more; nothing was measured\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    lay_out(total);
    if (3 < argc && 0 == strcmp("early", argv[3])) {
        right = overlap();
    }
    for (int call = 1; call <= calls; ++call) {
        call_once(call, right);
    }
    free(count);
    free(displ);
    free(in);
    free(out);
    MPI_Finalize();
    return 0;
}
