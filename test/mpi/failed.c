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
 * A rank that dies does not end the job where this tolerates faults (mpirun --with-ft
 * ulfm): the last rank kills itself, the others are in a CALL (foldcall.h), and
 * must get MPIX_ERR_PROC_FAILED. Each of them says so for itself, as nothing collective is
 * possible any more.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PART (1 << 20)
#define PATIENCE 100 /* seconds */

static void hangs(int sign)
{
    static const char text[] = "not ok - the call hangs\n";

    (void) sign;
    (void) !write(1, text, sizeof(text) - 1);
    _exit(3);
}

int main(int argc, char **argv)
{
    int class = MPI_SUCCESS;
    form_t form;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    foldcall_t call = foldcall_of_parts(foldcall_chosen(&form), PART);
    call.root = tap_size - 1;
    if (FOLD_CALLS < call.call) {
        call.count = 1000; /* which leaders serve */
    }
    knob_ring(KNOB_RING);
    knob_folds(KNOB_PIPELINE, KNOB_RING);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (FOLD_ALLGATHER == call.call) {
        TAP_MPI(foldcall(&call, BLOCKING)); /* in which leaders set the communicator up */
    }
    TAP_MPI(foldcall(&call, form));

    const uint64_t served = knob_counters("coll_pipering_calls")
                            + knob_counters("coll_pipering_alltoall_calls")
                            + knob_counters("coll_mleader_calls_");
    if (0 == served) {
        tap_bail("the call went elsewhere");
    }
    if (tap_rank == tap_size - 1) {
        for (int r = 0; r < tap_size - 1; ++r) { /* all others are out of the first call */
            TAP_MPI(MPI_Recv(NULL, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        }
        kill(getpid(), SIGKILL);
    }
    TAP_MPI(MPI_Send(NULL, 0, MPI_BYTE, tap_size - 1, 0, MPI_COMM_WORLD));
    signal(SIGALRM, hangs);
    alarm(PATIENCE);
    MPI_Error_class(foldcall(&call, form), &class);
    if (MPIX_ERR_PROC_FAILED == class) {
        printf("ok - rank %d: %s\n", tap_rank, getenv("CALL"));
    } else {
        printf("not ok - rank %d: %s gave error class %d\n", tap_rank, getenv("CALL"), class);
    }
    fflush(stdout);
    _exit(0);
}
