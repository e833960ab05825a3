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
 * Calls move while the program is not in MPI, by the progress thread (MOVES=1), or, without one,
 * do not. The thread takes no processor while no call is under way, or where all wait for a rank
 * that has not come. At last calls are under way (LEAVES=1) as MPI_Finalize comes.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define BYTES (1 << 20) /* of a contribution */
#define MOST 5          /* seconds, on a machine that is busy */

static void rest(double seconds)
{
    const struct timespec time = {(time_t) seconds, (long) (1e9 * (seconds - (int) seconds))};

    (void) nanosleep(&time, NULL);
}

static double processor_seconds(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double) (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
           + 1e-6 * (double) (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* The value of a rank's contribution to a call. */
static char value_of(int rank, int call)
{
    return (char) (1 + (rank + 7 * call) % 100);
}

static bool is_here(const char *recv, int call)
{
    for (int r = 0; r < tap_size; ++r) {
        const volatile char *part = recv + (size_t) r * BYTES;
        for (int i = 0; i < BYTES; i += 1000) {
            if (value_of(r, call) != part[i]) {
                return false;
            }
        }
    }
    return true;
}

/* Whether all bytes come in while this rank is not in MPI. */
static bool comes_alone(const char *recv, int call)
{
    for (double slept = 0; slept < MOST; slept += 0.01) {
        rest(0.01);
        if (is_here(recv, call)) {
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    const bool moves = 0 != tap_number("MOVES", 0), leaves = 0 != tap_number("LEAVES", 0);
    MPI_Request request = MPI_REQUEST_NULL;
    int alone = 0, all = 0;

    tap_begin(&argc, &argv, MPI_THREAD_MULTIPLE);
    knob_begin();
    knob_ring(KNOB_RING);
    const foldcall_t gather = foldcall_of_parts(FOLD_ALLGATHERV, BYTES);
    char *send = (char *) gather.send, *recv = gather.recv;

    for (form_t form = NONBLOCKING; form <= PERSISTENT; ++form) {
        for (int call = 0; call < 3; ++call) {
            memset(send, value_of(tap_rank, call), BYTES);
            memset(recv, 0, (size_t) tap_size * BYTES);
            if (PERSISTENT == form && 0 == call) {
                TAP_MPI(foldcall_issue(&gather, form, &request));
            }
            TAP_MPI(MPI_Barrier(MPI_COMM_WORLD));
            TAP_MPI(PERSISTENT == form ? MPI_Start(&request)
                                       : foldcall_issue(&gather, form, &request));
            alone = moves ? comes_alone(recv, call) : (rest(0.2), is_here(recv, call));
            TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
            TAP_MPI(MPI_Allreduce(&alone, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
            tap_check(is_here(recv, call), "wrong bytes", "the result is right");
            tap_check(moves == (0 != all), NULL, "a call %s while the program is not in MPI",
                      moves ? "moves" : "does not move");
        }
    }
    TAP_MPI(MPI_Request_free(&request));

    TAP_MPI(MPI_Barrier(MPI_COMM_WORLD));
    double began = processor_seconds();
    rest(0.5);
    tap_check(0.005 > processor_seconds() - began, "processors are used",
              "no processor is used where no call is under way");
    TAP_MPI(MPI_Barrier(MPI_COMM_WORLD));
    if (0 < tap_rank) {
        TAP_MPI(foldcall_issue(&gather, NONBLOCKING, &request));
    }
    began = processor_seconds();
    rest(0.5);
    tap_check(0.1 > processor_seconds() - began, "processors are used",
              "little is used where a call waits for a rank that has not come");
    if (0 == tap_rank) {
        TAP_MPI(foldcall_issue(&gather, NONBLOCKING, &request));
    }
    TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    knob_end();
    if (leaves) {
        TAP_MPI(foldcall_issue(&gather, NONBLOCKING, &request));
        return tap_end();
    }
    foldcall_free(&gather);
    return tap_end();
}
