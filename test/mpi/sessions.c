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

#include "exchange.h"
#include "fold.h"
#include "swap.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT 65536

static void check(MPI_Comm comm, call_t *call, const char *what, int session)
{
    int mine = MPI_SUCCESS == call_run(call, BLOCKING) && call_right(call), all = 0, rank;

    call_free(call);
    MPI_Comm_rank(comm, &rank);
    MPI_Reduce(&mine, &all, 1, MPI_INT, MPI_LAND, 0, comm);
    if (0 == rank) {
        printf("%s - session %d: %s\n", all ? "ok" : "not ok", session, what);
    }
}

static int much_of_one(int rank)
{
    return 1 == rank ? COUNT : 8;
}

static void check_calls(MPI_Comm comm, int session)
{
    swap_spec_t swap = {.comm = comm, .kind = SWAP_V, .most = COUNT};
    dice_t shared = dice_from(1, 0, 0), own = shared;

    check(comm, exchange_simple(comm, 1, false, layout_unit(3, 0), much_of_one), "MPI_Allgatherv",
          session);
    for (int i = 0; i < 4; i++) {
        const fold_call_t call = 0 == i % 2 ? FOLD_BCAST : FOLD_ALLREDUCE;
        const fold_spec_t fold = {.comm = comm, .call = call, .most = 4 * COUNT};

        check(comm, fold_new(&fold, &shared, &own), foldcall_name(call), session);
    }
    MPI_Comm_dup(comm, &swap.quiet);
    check(comm, swap_new(&swap, 1, &own), "MPI_Alltoallv", session);
    MPI_Comm_free(&swap.quiet);
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
    check_calls(comm, number);
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
