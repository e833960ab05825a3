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
 * An MPI_Allgather by leaders that fails: the error is that of the message, and once the call
 * has returned no message writes to the user's buffer any more. Rank 1 of 3 makes the call
 * alone. The others send it messages with the tag of MPI_Allgather, the first one too long,
 * the second one late: wants mpi_param_check 0, no segment, three groups, and the exchange
 * "ring", where receives are posted ahead.
 */

#include "knob.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define TAG (-10)
#define BYTES 4096

static MPI_Comm comm;
static char *from, *to;

/** Like a rank with contributions of twice the size. */
static void feed(void)
{
    MPI_Send(from, 2 * BYTES, MPI_BYTE, 1, TAG, comm);
    MPI_Barrier(MPI_COMM_WORLD); /* the call has failed */
    MPI_Send(from, BYTES, MPI_BYTE, 1, TAG, comm);
    MPI_Barrier(MPI_COMM_WORLD);
}

/** True if there is a message within a minute; it is taken. */
static bool take_late(void)
{
    const double end = MPI_Wtime() + 60;
    int found = 0;

    while (!found && MPI_Wtime() < end) {
        MPI_Iprobe(0, TAG, comm, &found, MPI_STATUS_IGNORE);
    }
    if (found) {
        MPI_Recv(from, BYTES, MPI_BYTE, 0, TAG, comm, MPI_STATUS_IGNORE);
    }
    return found;
}

static bool is_untouched(void)
{
    for (int i = 0; i < tap_size * BYTES; i++) {
        if (7 != to[i]) {
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    bool untouched = true, late = true;
    int class = MPI_ERR_TRUNCATE;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS);
    from = calloc(2, BYTES);
    to = calloc((size_t) tap_size, BYTES);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    TAP_MPI(MPI_Allgather(from, BYTES, MPI_BYTE, to, BYTES, MPI_BYTE, comm));

    const uint64_t served = knob_counters("coll_mleader_calls_");
    if (0 == tap_rank) {
        feed();
    } else if (1 == tap_rank) {
        MPI_Error_class(MPI_Allgather(from, BYTES, MPI_BYTE, to, BYTES, MPI_BYTE, comm), &class);
        memset(to, 7, (size_t) tap_size * BYTES);
        MPI_Barrier(MPI_COMM_WORLD);
        late = take_late();
        untouched = is_untouched();
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        MPI_Request request;

        MPI_Irecv(from, BYTES, MPI_BYTE, 1, TAG, comm, &request);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Cancel(&request); /* the call may have failed before it has sent */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    tap_check((1 == tap_rank) == (served < knob_counters("coll_mleader_calls_")),
              "it was not served", "a call by leaders that fails");
    tap_check(MPI_ERR_TRUNCATE == class, "another error", "it gives MPI_ERR_TRUNCATE");
    tap_check(late && untouched, late ? "the buffer was written to" : "no message is left",
              "what comes later finds no receive of that call");
    MPI_Comm_free(&comm);
    free(from);
    free(to);
    knob_end();
    return tap_end();
}
