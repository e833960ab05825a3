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
 * Ranks reach communicators in different orders, each of which is set up, and sees how fast links
 * are, whenever its ranks come to it: nonblocking calls on several communicators at once, which
 * even ranks start from the first on and odd ones from the last, and calls of two threads.
 */

#include "tap.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define COMMS 4
#define BYTES (512 * 1024)
#define TURNS 4

static MPI_Comm comms[COMMS];
static char *vectors[COMMS];

static char byte_of(int comm, int turn, size_t i)
{
    return (char) (17 * comm + 5 * turn + (int) (i % 241));
}

static void fill(int comm, int turn)
{
    for (size_t i = 0; i < BYTES; ++i) {
        vectors[comm][i] = 0 == tap_rank ? byte_of(comm, turn, i) : 0;
    }
}

static bool is_right(int comm, int turn)
{
    for (size_t i = 0; i < BYTES; ++i) {
        if (byte_of(comm, turn, i) != vectors[comm][i]) {
            return false;
        }
    }
    return true;
}

/* The communicator that this rank comes to k-th. */
static int nth(int k)
{
    return 0 == tap_rank % 2 ? k : COMMS - 1 - k;
}

static void open_all(void)
{
    for (int i = 0; i < COMMS; ++i) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
}

static void close_all(void)
{
    for (int i = 0; i < COMMS; ++i) {
        MPI_Comm_free(&comms[i]);
    }
}

/* Broadcasts on all communicators at once. */
static int start_and_wait(int turn)
{
    MPI_Request request[COMMS];
    int wrong = 0;

    for (int k = 0; k < COMMS; ++k) {
        const int i = nth(k);
        fill(i, turn);
        TAP_MPI(MPI_Ibcast(vectors[i], BYTES, MPI_BYTE, 0, comms[i], &request[i]));
    }
    TAP_MPI(MPI_Waitall(COMMS, request, MPI_STATUSES_IGNORE));
    for (int i = 0; i < COMMS; ++i) {
        wrong += !is_right(i, turn);
    }
    return wrong;
}

/* Some communicators see how fast links are, while requests of others are under way. */
static int block_between(int turn)
{
    MPI_Request request[2];
    int wrong = 0;

    for (int k = 0; k < 2; ++k) {
        const int i = 0 == tap_rank % 2 ? k : 1 - k;
        fill(i, turn);
        TAP_MPI(MPI_Ibcast(vectors[i], BYTES, MPI_BYTE, 0, comms[i], &request[i]));
    }
    for (int again = 0; again < 3; ++again) {
        fill(2, turn + again);
        TAP_MPI(MPI_Bcast(vectors[2], BYTES, MPI_BYTE, 0, comms[2]));
        wrong += !is_right(2, turn + again);
    }
    TAP_MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    return wrong + !is_right(0, turn) + !is_right(1, turn);
}

static void *call_alone(void *argument)
{
    const int i = *(const int *) argument;
    static int wrong[COMMS];

    wrong[i] = 0;
    for (int turn = 0; turn < TURNS; ++turn) {
        fill(i, turn);
        TAP_MPI(MPI_Bcast(vectors[i], BYTES, MPI_BYTE, 0, comms[i]));
        wrong[i] += !is_right(i, turn);
    }
    return &wrong[i];
}

/* Threads with a communicator each, whose calls come in any order. */
static int call_from_threads(void)
{
    pthread_t thread[2];
    int which[2] = {0, 1}, wrong = 0;
    void *result;

    for (int i = 0; i < 2; ++i) {
        if (0 != pthread_create(&thread[i], NULL, call_alone, &which[i])) {
            tap_bail("no threads");
        }
    }
    for (int i = 0; i < 2; ++i) {
        pthread_join(thread[i], &result);
        wrong += *(const int *) result;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    int provided;

    tap_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    for (int i = 0; i < COMMS; ++i) {
        vectors[i] = tap_memory(BYTES);
    }
    open_all();
    tap_check(0 == start_and_wait(0), "wrong data", "nonblocking calls before any other");
    tap_check(0 == block_between(1), "wrong data", "blocking calls beside them");
    tap_check(0 == start_and_wait(2), "wrong data", "nonblocking calls afterwards");
    close_all();
    open_all();
    tap_check(0 == start_and_wait(3), "wrong data", "communicators that are made later");
    close_all();
    MPI_Query_thread(&provided);
    if (MPI_THREAD_MULTIPLE == provided) {
        open_all();
        tap_check(0 == call_from_threads(), "wrong data", "calls of two threads");
        close_all();
    }
    for (int i = 0; i < COMMS; ++i) {
        free(vectors[i]);
    }
    return tap_end();
}
