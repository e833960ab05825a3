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
 * Calls for the record of calls: known numbers of each, of known sizes, on 4 ranks. The script
 * reads what has been recorded.
 *
 *     why calls      on several communicators, in all forms
 *     why meetings   MPI_Alltoall and MPI_Barrier in all forms
 *     why gathers    MPI_Allgather and MPI_Allgatherv, seven of each
 *     why vectors    MPI_Bcast of 2 MiB twice, of 512 KiB five times
 *     why types      a call or two of each collective, with types of all kinds
 *     why threads    four threads, each with a communicator of its own
 *     why abort      ends by MPI_Abort
 *     why kill       a rank kills itself
 *     why loop N     N small calls
 */

#include "call.h"
#include "tap.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RANKS 4
#define LARGE 40000
#define SMALL 100
#define MOST (2 << 20)

static char from[MOST], to[MOST];

/* One rank contributes LARGE bytes, others SMALL: 40300 bytes of which 40000 are one part. */
static void gather_unequal(MPI_Comm comm)
{
    const int counts[RANKS] = {SMALL, LARGE, SMALL, SMALL};
    const int displs[RANKS] = {0, SMALL, SMALL + LARGE, 2 * SMALL + LARGE};
    int me;

    MPI_Comm_rank(comm, &me);
    MPI_Allgatherv(from, counts[me], MPI_CHAR, to, counts, displs, MPI_CHAR, comm);
}

/* Of `each` bytes from every second rank. */
static void gather_from_half(MPI_Comm comm, int each)
{
    const int counts[RANKS] = {0, each, 0, each}, displs[RANKS] = {0, 0, each, each};
    int me;

    MPI_Comm_rank(comm, &me);
    MPI_Allgatherv(from, counts[me], MPI_CHAR, to, counts, displs, MPI_CHAR, comm);
}

/* Completes a request, or starts a persistent one that often. */
static void complete(form_t form, MPI_Request *request, int starts)
{
    for (int i = 0; PERSISTENT == form && i < starts; i++) {
        MPI_Start(request);
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
    if (PERSISTENT == form) {
        MPI_Request_free(request);
    } else {
        MPI_Wait(request, MPI_STATUS_IGNORE);
    }
}

static void gather_later(form_t form, int starts)
{
    const int counts[RANKS] = {SMALL, SMALL, SMALL, LARGE};
    const int displs[RANKS] = {0, SMALL, 2 * SMALL, 3 * SMALL};
    MPI_Request request;

    (void) CALL_IN(form, &request, Allgatherv, Iallgatherv, from, counts[tap_rank], MPI_CHAR, to,
                   counts, displs, MPI_CHAR, MPI_COMM_WORLD);
    complete(form, &request, starts);
}

/* Two whose order must be the same on every run, and one of integers. */
static void reduce_in_orders(void)
{
    MPI_Request request;

    MPI_Allreduce(from, to, 1000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    MPI_Iallreduce(from, to, 2000, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(from, to, 500, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

/* 3000 bytes in 1000 pieces. */
static void broadcast_pieces(void)
{
    MPI_Datatype pieces;

    MPI_Type_vector(1000, 3, 5, MPI_CHAR, &pieces);
    MPI_Type_commit(&pieces);
    MPI_Bcast(to, 1, pieces, 2, MPI_COMM_WORLD);
    MPI_Type_free(&pieces);
}

/* Each rank receives 800 bytes from the rank behind it, and nothing else. */
static void exchange(void)
{
    int out[RANKS] = {0}, in[RANKS] = {0}, displs[RANKS] = {0};

    out[(tap_rank + 1) % RANKS] = in[(tap_rank + RANKS - 1) % RANKS] = 100;
    MPI_Alltoallv(from, out, displs, MPI_DOUBLE, to, in, displs, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Threes of MPI_SHORT, without and with room behind them. */
static void broadcast_threes(void)
{
    MPI_Datatype dense, padded;

    MPI_Type_contiguous(3, MPI_SHORT, &dense);
    MPI_Type_create_resized(dense, 0, 8, &padded);
    MPI_Type_commit(&dense);
    MPI_Type_commit(&padded);
    MPI_Bcast(to, 10, dense, 0, MPI_COMM_WORLD);
    MPI_Bcast(to, 10, padded, 0, MPI_COMM_WORLD);
    MPI_Type_free(&padded);
    MPI_Type_free(&dense);
}

/* Each rank receives 8 bytes from each: of type `first` from rank 0, none at all from rank 3. */
static void exchange_types(MPI_Datatype first, MPI_Datatype rest)
{
    MPI_Datatype types[RANKS] = {first, rest, rest, MPI_BYTE}, bytes[RANKS];
    int in[RANKS], out[RANKS], displs[RANKS], size;

    for (int i = 0; i < RANKS; i++) {
        MPI_Type_size(types[i], &size);
        in[i] = 3 == i ? 0 : 8 / size;
        out[i] = 3 == tap_rank ? 0 : 8;
        displs[i] = 8 * i;
        bytes[i] = MPI_BYTE;
    }
    MPI_Alltoallw(from, out, displs, bytes, to, in, displs, types, MPI_COMM_WORLD);
}

static void exchange_several_types(void)
{
    MPI_Datatype shorts, ints;

    MPI_Type_contiguous(4, MPI_SHORT, &shorts);
    MPI_Type_contiguous(2, MPI_INT, &ints);
    MPI_Type_commit(&shorts);
    MPI_Type_commit(&ints);
    exchange_types(MPI_INT, MPI_INT);
    exchange_types(MPI_DOUBLE, MPI_INT);
    exchange_types(shorts, ints);
    exchange_types(MPI_DOUBLE, ints);
    MPI_Type_free(&ints);
    MPI_Type_free(&shorts);
}

/* What is received has another type than what is sent. */
static void gather_types(void)
{
    const int counts[RANKS] = {1, 1, 1, 1}, displs[RANKS] = {0, 1, 2, 3};

    MPI_Allgather(from, 8, MPI_BYTE, to, 1, MPI_DOUBLE, MPI_COMM_WORLD);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_BYTE, to, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgatherv(from, 4, MPI_BYTE, to, counts, displs, MPI_FLOAT, MPI_COMM_WORLD);
}

static void keep(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) count;
    (void) type;
}

/* Of values that are rounded, pairs and MPI_MAX among them; of integers, once as a user says. */
static void reduce_types(void)
{
    MPI_Op users;

    MPI_Allreduce(from, to, 10, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(from, to, 10, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(from, to, 10, MPI_DOUBLE_INT, MPI_MAXLOC, 0, MPI_COMM_WORLD);
    MPI_Scan(from, to, 10, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Exscan(from, to, 10, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
    MPI_Op_create(keep, 1, &users);
    MPI_Allreduce(from, to, 10, MPI_INT, users, MPI_COMM_WORLD);
    MPI_Op_free(&users);
}

static void run_types(void)
{
    broadcast_threes();
    exchange_several_types();
    gather_types();
    reduce_types();
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank receives 60 bytes from every rank; then 30 doubles, and these in place. */
static void exchange_equal(form_t form)
{
    MPI_Request request = MPI_REQUEST_NULL;

    (void) CALL_IN(form, &request, Alltoall, Ialltoall, from, 60, MPI_CHAR, to, 60, MPI_CHAR,
                   MPI_COMM_WORLD);
    if (BLOCKING == form) {
        MPI_Alltoall(from, 300, MPI_DOUBLE, to, 300, MPI_DOUBLE, MPI_COMM_WORLD);
        MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, to, 300, MPI_DOUBLE, MPI_COMM_WORLD);
    }
    complete(form, &request, 2);
}

static void meet(form_t form)
{
    MPI_Request request = MPI_REQUEST_NULL;

    (void) CALL_IN(form, &request, Barrier, Ibarrier, MPI_COMM_WORLD);
    complete(form, &request, 2);
}

/* In all forms, the blocking one first, with which coll/pipering sets up the communicator. */
static void run_meetings(void)
{
    for (form_t form = BLOCKING; form < FORMS; form++) {
        exchange_equal(form);
        meet(form);
    }
}

/* Each rank receives 10 bytes from below and 20 from above. */
static void exchange_with_neighbors(void)
{
    const int ranks[1] = {RANKS}, periods[1] = {1}, out[2] = {20, 10}, in[2] = {10, 20};
    MPI_Datatype types[2] = {MPI_CHAR, MPI_CHAR};
    MPI_Aint displs[2] = {0, 100};
    MPI_Comm ring;

    MPI_Cart_create(MPI_COMM_WORLD, 1, ranks, periods, 0, &ring);
    MPI_Neighbor_alltoallw(from, out, displs, types, to, in, displs, types, ring);
    MPI_Comm_free(&ring);
}

/* Halves of two ranks, and copies that are freed at once. */
static void use_communicators(void)
{
    MPI_Comm half, copy;

    MPI_Comm_split(MPI_COMM_WORLD, tap_rank / 2, tap_rank, &half);
    MPI_Allgather(from, LARGE, MPI_CHAR, to, LARGE, MPI_CHAR, half);
    MPI_Comm_free(&half);
    for (int i = 0; i < 3; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &copy);
        gather_unequal(copy);
        MPI_Comm_free(&copy);
    }
}

static void run_calls(void)
{
    for (int i = 0; i < 5; i++) {
        gather_unequal(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 7; i++) {
        gather_from_half(MPI_COMM_WORLD, 50);
    }
    gather_from_half(MPI_COMM_WORLD, 0);
    gather_later(NONBLOCKING, 0);
    gather_later(NONBLOCKING, 0);
    gather_later(PERSISTENT, 3);
    reduce_in_orders();
    broadcast_pieces();
    exchange();
    exchange_with_neighbors();
    use_communicators();
}

static void run_gathers(void)
{
    for (int i = 0; i < 7; i++) {
        MPI_Allgather(from, 1000, MPI_CHAR, to, 1000, MPI_CHAR, MPI_COMM_WORLD);
        gather_from_half(MPI_COMM_WORLD, 10000);
    }
}

#define THREADS 4
#define TURNS 50

static void *turn(void *comm)
{
    const int counts[RANKS] = {SMALL, SMALL, SMALL, SMALL};
    const int displs[RANKS] = {0, SMALL, 2 * SMALL, 3 * SMALL};
    char mine[SMALL] = {0}, all[RANKS * SMALL];

    for (int i = 0; i < TURNS; i++) {
        MPI_Allgatherv(mine, SMALL, MPI_CHAR, all, counts, displs, MPI_CHAR, *(MPI_Comm *) comm);
    }
    return NULL;
}

/* Vectors of 512 KiB on a communicator that a larger one has set up. */
static void run_vectors(void)
{
    for (int i = 0; i < 7; i++) {
        MPI_Bcast(to, i < 2 ? MOST : MOST / 4, MPI_CHAR, 0, MPI_COMM_WORLD);
    }
}

static void run_threads(void)
{
    MPI_Comm comm[THREADS];
    pthread_t thread[THREADS];

    for (int i = 0; i < THREADS; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_create(&thread[i], NULL, turn, &comm[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        MPI_Comm_free(&comm[i]);
    }
}

/* Ends the job in the middle of its calls. */
static void run_short(bool abort)
{
    for (int i = 0; i < 3; i++) {
        gather_from_half(MPI_COMM_WORLD, 50);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (abort) {
        MPI_Abort(MPI_COMM_WORLD, 3);
    } else if (2 == tap_rank) {
        raise(SIGKILL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_loop(int calls)
{
    for (int i = 0; i < calls; i++) {
        gather_from_half(MPI_COMM_WORLD, 50);
    }
}

int main(int argc, char **argv)
{
    const char *what = 1 < argc ? argv[1] : "calls";
    int level;

    if (0 == strcmp(what, "threads")) {
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    } else {
        MPI_Init(&argc, &argv);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tap_size);
    if (RANKS != tap_size) {
        fprintf(stderr, "why wants %d ranks\n", RANKS);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (0 == strcmp(what, "threads")) {
        run_threads();
    } else if (0 == strcmp(what, "gathers")) {
        run_gathers();
    } else if (0 == strcmp(what, "meetings")) {
        run_meetings();
    } else if (0 == strcmp(what, "vectors")) {
        run_vectors();
    } else if (0 == strcmp(what, "types")) {
        run_types();
    } else if (0 == strcmp(what, "loop")) {
        run_loop(2 < argc ? atoi(argv[2]) : 1);
    } else if (0 == strcmp(what, "calls")) {
        run_calls();
    } else {
        run_short(0 == strcmp(what, "abort"));
    }
    if (0 == tap_rank) {
        printf("ok - %s are over\n", what);
    }
    MPI_Finalize();
    return 0;
}
