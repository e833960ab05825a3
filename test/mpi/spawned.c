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
 * Calls on communicators of processes that were started by several launches:
 *
 *     merged      A and two processes that it spawned, which end before the next are spawned: the
 *                 arenas of those that are gone do not stay mapped
 *     triangle    A, and B and C that it spawned one after the other: both are local to A,
 *                 but B and C have met by MPI_Intercomm_create, which leaves it open
 *                 whether they are local to each other
 *     connected   B and C, met by MPI_Comm_accept and MPI_Comm_connect
 *
 * Each launch has an MPI_COMM_WORLD, and reports results, of its own.
 */

#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8, LARGE = 20000, TURNS = 6, TAG = 7 };

/** Integer k of what a rank contributes to a call. */
static int item(int rank, int k)
{
    return 1000 * rank + k % 997;
}

static int *items(int rank, int count)
{
    int *list = tap_memory((size_t) count * sizeof(int));

    for (int k = 0; k < count; k++) {
        list[k] = item(rank, k);
    }
    return list;
}

/** What ranks below `ranks` contribute, added up. */
static bool is_sum(const int *list, int ranks)
{
    bool right = true;

    for (int k = 0; k < LARGE && right; k++) {
        right = list[k] == 1000 * (ranks * (ranks - 1) / 2) + ranks * (k % 997);
    }
    return right;
}

static bool are_items(const int *list, int rank, int count)
{
    int k = 0;

    while (k < count && list[k] == item(rank, k)) {
        k++;
    }
    return k == count;
}

/** More calls than coll/mleader leaves to others before it looks at a communicator. */
static bool allgather(MPI_Comm comm, int rank, int size)
{
    int *mine = items(rank, SMALL), *all = tap_memory((size_t) size * SMALL * sizeof(int));
    bool right = true;

    for (int turn = 0; turn < TURNS; turn++) {
        memset(all, 0, (size_t) size * SMALL * sizeof(int));
        right &= MPI_SUCCESS == MPI_Allgather(mine, SMALL, MPI_INT, all, SMALL, MPI_INT, comm);
        for (int r = 0; r < size; r++) {
            right &= are_items(all + r * SMALL, r, SMALL);
        }
    }
    free(all);
    free(mine);
    return right;
}

/** Rank r contributes r / size of LARGE integers, the last one all of them. */
static bool allgatherv(MPI_Comm comm, int rank, int size, bool blocking)
{
    int *mine = items(rank, LARGE), *all = tap_memory((size_t) size * LARGE * sizeof(int));
    int count[size], displ[size];
    MPI_Request request;
    bool right = true;

    for (int r = 0; r < size; r++) {
        count[r] = LARGE / size * (r + 1);
        displ[r] = LARGE * r;
    }
    memset(all, 0, (size_t) size * LARGE * sizeof(int));
    if (blocking) {
        right &= MPI_SUCCESS == MPI_Allgatherv(mine, count[rank], MPI_INT, all, count, displ,
                                               MPI_INT, comm);
    } else {
        right &= MPI_SUCCESS == MPI_Iallgatherv(mine, count[rank], MPI_INT, all, count, displ,
                                                MPI_INT, comm, &request);
        right &= MPI_SUCCESS == MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int r = 0; r < size; r++) {
        right &= are_items(all + displ[r], r, count[r]);
    }
    free(all);
    free(mine);
    return right;
}

static bool bcast(MPI_Comm comm, int rank, int size)
{
    bool right = true;

    for (int root = 0; root < size; root++) {
        int *data = items(rank == root ? root : size, LARGE);
        right &= MPI_SUCCESS == MPI_Bcast(data, LARGE, MPI_INT, root, comm)
                 && are_items(data, root, LARGE);
        free(data);
    }
    return right;
}

static bool fold(MPI_Comm comm, int rank, int size)
{
    int *mine = items(rank, LARGE), *sum = tap_memory(LARGE * sizeof(int));
    const int last = size - 1;
    bool right = MPI_SUCCESS == MPI_Allreduce(mine, sum, LARGE, MPI_INT, MPI_SUM, comm)
                 && is_sum(sum, size);

    right &= MPI_SUCCESS == MPI_Reduce(mine, sum, LARGE, MPI_INT, MPI_SUM, last, comm)
             && (rank != last || is_sum(sum, size));
    right &= MPI_SUCCESS == MPI_Scan(mine, sum, LARGE, MPI_INT, MPI_SUM, comm)
             && is_sum(sum, rank + 1);
    right &= MPI_SUCCESS == MPI_Exscan(mine, sum, LARGE, MPI_INT, MPI_SUM, comm)
             && (0 == rank || is_sum(sum, rank));
    free(sum);
    free(mine);
    return right;
}

static bool alltoallv(MPI_Comm comm, int rank, int size)
{
    int *mine = items(rank, size * SMALL), *all = tap_memory((size_t) (size * SMALL) * sizeof(int));
    int count[size], displ[size];
    bool right;

    for (int r = 0; r < size; r++) {
        count[r] = SMALL;
        displ[r] = r * SMALL;
    }
    right = MPI_SUCCESS == MPI_Alltoallv(mine, count, displ, MPI_INT, all, count, displ, MPI_INT,
                                         comm);
    for (int k = 0; k < size * SMALL; k++) {
        right &= all[k] == item(k / SMALL, rank * SMALL + k % SMALL);
    }
    free(all);
    free(mine);
    return right;
}

/** All calls on a communicator, which is freed. */
static void use(MPI_Comm comm, const char *name)
{
    int rank, size;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    tap_check(MPI_SUCCESS == MPI_Barrier(comm), NULL, "%s, rank %d: MPI_Barrier", name, rank);
    tap_check(allgather(comm, rank, size), NULL, "%s, rank %d: MPI_Allgather", name, rank);
    tap_check(allgatherv(comm, rank, size, true), NULL, "%s, rank %d: MPI_Allgatherv", name, rank);
    tap_check(allgatherv(comm, rank, size, false), NULL, "%s, rank %d: MPI_Iallgatherv", name,
              rank);
    tap_check(bcast(comm, rank, size), NULL, "%s, rank %d: MPI_Bcast", name, rank);
    tap_check(fold(comm, rank, size), NULL, "%s, rank %d: reductions and scans", name, rank);
    tap_check(alltoallv(comm, rank, size), NULL, "%s, rank %d: MPI_Alltoallv", name, rank);
    MPI_Comm_free(&comm);
}

/* ---- communicators ---- */

static MPI_Comm spawn(const char *program, char *role, int count)
{
    char *arguments[] = {role, NULL};
    MPI_Comm inter;

    TAP_MPI(MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                           MPI_ERRCODES_IGNORE));
    return inter;
}

static MPI_Comm merge(MPI_Comm inter, bool high)
{
    MPI_Comm comm;

    TAP_MPI(MPI_Intercomm_merge(inter, high, &comm));
    return comm;
}

/** Two groups whose leaders meet on `bridge`. */
static MPI_Comm join(MPI_Comm group, MPI_Comm bridge, int leader, bool high)
{
    MPI_Comm inter, comm;

    TAP_MPI(MPI_Intercomm_create(group, 0, bridge, leader, TAG, &inter));
    comm = merge(inter, high);
    MPI_Comm_free(&inter);
    return comm;
}

/** Mappings of arenas, of this process and of others. */
static int arenas(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1000];
    int lines = 0;

    if (NULL == file) {
        tap_bail("no /proc/self/maps");
    }
    while (NULL != fgets(line, sizeof(line), file)) {
        lines += NULL != strstr(line, "/pipering.");
    }
    fclose(file);
    return lines;
}

/** The processes of the launch before the last may still be there, in this test with two arenas. */
static void spawn_one_by_one(const char *program)
{
    int first = 0, last = 0;

    for (int turn = 0; turn < 4; turn++) {
        MPI_Comm two = spawn(program, "two", 2);
        use(merge(two, false), "merged");
        MPI_Comm_disconnect(&two);
        last = arenas();
        first = 0 == turn ? last : first;
    }
    tap_note("%d arenas are mapped after one launch, %d after four", first, last);
    tap_check(last <= first + 2, "more", "arenas of those that are gone do not stay mapped");
}

static void run_a(const char *program)
{
    char port[MPI_MAX_PORT_NAME];
    MPI_Comm b, c, ab, ac;

    spawn_one_by_one(program);
    b = spawn(program, "b", 1);
    ab = merge(b, false);
    c = spawn(program, "c", 1);
    ac = merge(c, false);
    use(join(ab, ac, 1, false), "triangle");
    MPI_Comm_free(&ab);
    MPI_Comm_free(&ac);

    TAP_MPI(MPI_Recv(port, sizeof(port), MPI_CHAR, 0, TAG, b, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Send(port, sizeof(port), MPI_CHAR, 0, TAG, c));
    MPI_Comm_disconnect(&b);
    MPI_Comm_disconnect(&c);
}

static void run_b(MPI_Comm a)
{
    MPI_Comm ab = merge(a, true), c;
    char port[MPI_MAX_PORT_NAME] = "";

    use(join(ab, MPI_COMM_NULL, 0, false), "triangle");
    MPI_Comm_free(&ab);

    TAP_MPI(MPI_Open_port(MPI_INFO_NULL, port));
    TAP_MPI(MPI_Send(port, sizeof(port), MPI_CHAR, 0, TAG, a));
    TAP_MPI(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &c));
    use(merge(c, false), "connected");
    MPI_Comm_disconnect(&c);
    MPI_Close_port(port);
    MPI_Comm_disconnect(&a);
}

static void run_c(MPI_Comm a)
{
    MPI_Comm ac = merge(a, true), b;
    char port[MPI_MAX_PORT_NAME];

    use(join(MPI_COMM_WORLD, ac, 0, true), "triangle");
    MPI_Comm_free(&ac);

    TAP_MPI(MPI_Recv(port, sizeof(port), MPI_CHAR, 0, TAG, a, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &b));
    use(merge(b, true), "connected");
    MPI_Comm_disconnect(&b);
    MPI_Comm_disconnect(&a);
}

int main(int argc, char **argv)
{
    MPI_Comm parent;

    if (1 < argc && 't' != argv[1][0]) { /* launches may have variables of their own */
        setenv("OMPI_MCA_coll_pipering_barrier_algorithm", "mesh_lines", 1);
    }
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    MPI_Comm_get_parent(&parent);
    if (MPI_COMM_NULL == parent) {
        run_a(argv[0]);
    } else if ('b' == argv[1][0]) {
        run_b(parent);
    } else if ('c' == argv[1][0]) {
        run_c(parent);
    } else {
        use(merge(parent, true), "merged");
        MPI_Comm_disconnect(&parent);
    }
    return tap_end();
}
