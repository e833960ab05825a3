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
 * A program of sessions: no MPI_Init, so no MPI_COMM_WORLD, and as many sessions one after the
 * other as the argument says.
 * Results are those of TAP (tap.h), by rank 0 of the session's communicator.
 */

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 65536

static int rank, size;
static int *send, *recv, *counts, *displs;

static void check(MPI_Comm comm, bool ok, const char *what, int session)
{
    int mine = ok, all = 0;

    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_LAND, 0, comm);
    if (0 == rank) {
        printf("%s - session %d: %s\n", all ? "ok" : "not ok", session, what);
    }
}

static int value_of(int owner, int i)
{
    return 1000003 * owner + i;
}

static void fill(void)
{
    for (int i = 0; i < COUNT; i++) {
        send[i] = value_of(rank, i);
    }
    memset(recv, 0xff, COUNT * sizeof(int));
}

static bool gather(MPI_Comm comm)
{
    bool ok = true;
    int at = 0;

    for (int r = 0; r < size; r++) {
        counts[r] = 1 == r ? COUNT - 8 * (size - 1) : 8;
        displs[r] = at;
        at += counts[r];
    }
    MPI_Allgatherv(send, counts[rank], MPI_INT, recv, counts, displs, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < counts[r]; i++) {
            ok = ok && value_of(r, i) == recv[displs[r] + i];
        }
    }
    return ok;
}

static bool broadcast(MPI_Comm comm)
{
    bool ok = true;

    MPI_Bcast(send, COUNT, MPI_INT, size - 1, comm);
    for (int i = 0; i < COUNT; i++) {
        ok = ok && value_of(size - 1, i) == send[i];
    }
    return ok;
}

static bool reduce(MPI_Comm comm)
{
    bool ok = true;

    MPI_Allreduce(send, recv, COUNT, MPI_INT, MPI_MAX, comm);
    for (int i = 0; i < COUNT; i++) {
        ok = ok && value_of(size - 1, i) == recv[i];
    }
    return ok;
}

static bool exchange(MPI_Comm comm)
{
    const int each = COUNT / size;
    bool ok = true;

    MPI_Alltoall(send, each, MPI_INT, recv, each, MPI_INT, comm);
    for (int r = 0; r < size; r++) {
        for (int i = 0; i < each; i++) {
            ok = ok && value_of(r, rank * each + i) == recv[r * each + i];
        }
    }
    return ok;
}

static const struct {
    bool (*call)(MPI_Comm comm);
    const char *name;
} calls[] = {{gather, "MPI_Allgatherv"},
             {broadcast, "MPI_Bcast"},
             {reduce, "MPI_Allreduce"},
             {exchange, "MPI_Alltoall"}};

static void take_memory(void)
{
    send = malloc(COUNT * sizeof(int));
    recv = malloc(COUNT * sizeof(int));
    counts = malloc((size_t) size * sizeof(int));
    displs = malloc((size_t) size * sizeof(int));
    if (NULL == send || NULL == recv || NULL == counts || NULL == displs) {
        fprintf(stderr, "no memory\n");
        exit(EXIT_FAILURE);
    }
}

static void leave_memory(void)
{
    free(send);
    free(recv);
    free(counts);
    free(displs);
}

static void run(int number)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;

    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "pipering.test", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    take_memory();
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        fill();
        check(comm, calls[i].call(comm), calls[i].name, number);
    }
    leave_memory();
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    const int sessions = 1 < argc ? atoi(argv[1]) : 1;

    for (int i = 1; i <= sessions; i++) {
        run(i);
    }
    return EXIT_SUCCESS;
}
