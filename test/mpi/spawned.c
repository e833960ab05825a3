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

#include "exchange.h"
#include "fold.h"
#include "swap.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL = 8, LARGE = 20000, TURNS = 6, TAG = 7 };

static int small(int rank)
{
    (void) rank;
    return SMALL;
}

/** Each rank has more than the one before it. */
static int rising(int rank)
{
    return LARGE / 3 * (rank + 1);
}

static bool ends_right(call_t *call, form_t form)
{
    const bool right = MPI_SUCCESS == call_run(call, form) && call_right(call);

    call_free(call);
    return right;
}

static bool fold(MPI_Comm comm, fold_call_t what)
{
    const fold_spec_t spec = {.comm = comm, .call = what, .most = LARGE * sizeof(int)};
    dice_t shared = dice_from(1, (uint64_t) what, 0), own = shared;
    bool right = true;

    for (int turn = 0; turn < TURNS; turn++) {
        right &= ends_right(fold_new(&spec, &shared, &own), BLOCKING);
    }
    return right;
}

static bool exchange(MPI_Comm comm)
{
    swap_spec_t spec = {.comm = comm, .kind = SWAP_V, .most = LARGE};
    dice_t own = dice_from(2, 0, 0);

    MPI_Comm_dup(comm, &spec.quiet);
    const bool right = ends_right(swap_new(&spec, 3, &own), BLOCKING);
    MPI_Comm_free(&spec.quiet);
    return right;
}

/** All calls on a communicator, which is freed. */
static void use(MPI_Comm comm, const char *name)
{
    bool right = true;
    int rank;

    MPI_Comm_rank(comm, &rank);
    tap_check(MPI_SUCCESS == MPI_Barrier(comm), NULL, "%s, rank %d: MPI_Barrier", name, rank);
    /* more calls than coll/mleader leaves to others before it looks at a communicator */
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        right &= ends_right(exchange_simple(comm, turn, true, layout_unit(3, 0), small), BLOCKING);
    }
    tap_check(right, NULL, "%s, rank %d: MPI_Allgather", name, rank);
    for (form_t form = BLOCKING; form <= NONBLOCKING; form++) {
        tap_check(ends_right(exchange_simple(comm, 9, false, layout_unit(3, 0), rising), form), NULL,
                  "%s, rank %d: MPI_Allgatherv, %s", name, rank, form_name(form));
    }
    for (int call = 0; call < FOLD_CALLS; call++) {
        tap_check(fold(comm, (fold_call_t) call), NULL, "%s, rank %d: MPI_%s", name, rank,
                  foldcall_name((fold_call_t) call));
    }
    tap_check(exchange(comm), NULL, "%s, rank %d: MPI_Alltoallv", name, rank);
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
        lines += NULL != strstr(line, "/#");
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
