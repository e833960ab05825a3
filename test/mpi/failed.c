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
 * ulfm): the last rank kills itself, the others are in a CALL, one of the names below, and
 * must get MPIX_ERR_PROC_FAILED. Each of them says so for itself, as nothing collective is
 * possible any more.
 */

#include "knob.h"
#include "tap.h"

#include <mpi-ext.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define PART (1 << 20)
#define WORDS (PART / 4)
#define PATIENCE 100 /* seconds */

static char *from, *to;
static int *counts, *displs;
static MPI_Request request = MPI_REQUEST_NULL;

static int iallgatherv(void)
{
    return MPI_Iallgatherv(from, PART, MPI_BYTE, to, counts, displs, MPI_BYTE, MPI_COMM_WORLD,
                           &request);
}

static int allgatherv(void)
{
    return MPI_Allgatherv(from, PART, MPI_BYTE, to, counts, displs, MPI_BYTE, MPI_COMM_WORLD);
}

static int ibcast(void)
{
    return MPI_Ibcast(to, WORDS, MPI_INT, tap_size - 1, MPI_COMM_WORLD, &request);
}

static int iallreduce(void)
{
    return MPI_Iallreduce(from, to, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
}

static int ialltoallv(void)
{
    return MPI_Ialltoallv(from, counts, displs, MPI_BYTE, to, counts, displs, MPI_BYTE,
                          MPI_COMM_WORLD, &request);
}

static int alltoallv(void)
{
    return MPI_Alltoallv(from, counts, displs, MPI_BYTE, to, counts, displs, MPI_BYTE,
                         MPI_COMM_WORLD);
}

/** By leaders, if the environment wants it. */
static int allgather(void)
{
    return MPI_Allgather(from, 1000, MPI_BYTE, to, 1000, MPI_BYTE, MPI_COMM_WORLD);
}

/** By leaders behind a call that waits, in which they set the communicator up. */
static int iallgather(void)
{
    static bool again;
    const int rc = again ? MPI_SUCCESS : allgather();

    again = true;
    return MPI_SUCCESS == rc ? MPI_Iallgather(from, 1000, MPI_BYTE, to, 1000, MPI_BYTE,
                                              MPI_COMM_WORLD, &request)
                             : rc;
}

static const struct {
    const char *name;
    int (*run)(void);
} forms[] = {{"iallgatherv", iallgatherv}, {"allgatherv", allgatherv},
             {"ibcast", ibcast},           {"iallreduce", iallreduce},
             {"ialltoallv", ialltoallv},   {"alltoallv", alltoallv},
             {"allgather", allgather},     {"iallgather", iallgather}};
#define FORMS ((int) (sizeof(forms) / sizeof(forms[0])))

static void hangs(int sign)
{
    static const char text[] = "not ok - the call hangs\n";

    (void) sign;
    (void) !write(1, text, sizeof(text) - 1);
    _exit(3);
}

/** The call with its end. */
static int run(int form)
{
    int rc = forms[form].run();

    if (MPI_SUCCESS == rc) {
        rc = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return rc;
}

int main(int argc, char **argv)
{
    int class = MPI_SUCCESS;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    const int form = tap_choice("CALL", forms, FORMS, sizeof(forms[0]));
    knob_ring(KNOB_RING);
    knob_folds(KNOB_PIPELINE, KNOB_RING);
    from = calloc((size_t) tap_size, PART);
    to = calloc((size_t) tap_size, PART);
    counts = tap_memory((size_t) tap_size * sizeof(int));
    displs = tap_memory((size_t) tap_size * sizeof(int));
    for (int i = 0; i < tap_size; i++) {
        counts[i] = PART;
        displs[i] = i * PART;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    TAP_MPI(run(form));

    const uint64_t served = knob_counters("coll_pipering_calls")
                            + knob_counters("coll_pipering_alltoall_calls")
                            + knob_counters("coll_mleader_calls_");
    if (0 == served) {
        tap_bail("the call went elsewhere");
    }
    if (tap_rank == tap_size - 1) {
        kill(getpid(), SIGKILL);
    }
    signal(SIGALRM, hangs);
    alarm(PATIENCE);
    MPI_Error_class(run(form), &class);
    if (MPIX_ERR_PROC_FAILED == class) {
        printf("ok - rank %d: %s\n", tap_rank, forms[form].name);
    } else {
        printf("not ok - rank %d: %s gave error class %d\n", tap_rank, forms[form].name, class);
    }
    fflush(stdout);
    _exit(0);
}
