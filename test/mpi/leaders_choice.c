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
 * Who serves small MPI_Allgathers where coll/mleader asks coll/pipering's choice: WHO is leaders,
 * or others. All communicators are alike, whoever of their ranks reaches them first.
 */

#include "knob.h"
#include "tap.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 1000
#define CALLS 12
#define COMMS 3
#define FIRST 2 /* calls on a communicator that leaders never serve */

static unsigned char value(int rank, int call, int i)
{
    return (unsigned char) (rank * 89 + call * 31 + i * 7);
}

static void fill(unsigned char *data, int call)
{
    memset(data, 0, (size_t) (BYTES * tap_size));
    for (int i = 0; i < BYTES; i++) {
        data[tap_rank * BYTES + i] = value(tap_rank, call, i);
    }
}

static bool is_right(const unsigned char *data, int call)
{
    bool right = true;

    for (int i = 0; i < BYTES * tap_size; i++) {
        right &= value(i / BYTES, call, i % BYTES) == data[i];
    }
    return right;
}

static bool blocking(MPI_Comm comm, unsigned char *data, int call)
{
    fill(data, call);
    return MPI_SUCCESS
               == MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, BYTES, MPI_BYTE, comm)
           && is_right(data, call);
}

/* A nonblocking call on each communicator, which ranks begin in orders of their own. */
static bool in_orders(MPI_Comm *comm, unsigned char *data[COMMS], int call)
{
    MPI_Request request[COMMS];
    bool right = true;

    for (int i = 0; i < COMMS; i++) {
        const int c = (i + tap_rank) % COMMS;
        fill(data[c], call + c);
        right &= MPI_SUCCESS
                 == MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data[c], BYTES, MPI_BYTE,
                                   comm[c], &request[c]);
    }
    right &= MPI_SUCCESS == MPI_Waitall(COMMS, request, MPI_STATUSES_IGNORE);
    for (int c = 0; c < COMMS; c++) {
        right &= is_right(data[c], call + c);
    }
    return right;
}

static uint64_t served(void)
{
    return knob_counters("coll_mleader_calls_");
}

int main(int argc, char **argv)
{
    unsigned char *data[COMMS];
    MPI_Comm comm[COMMS];

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }
    const char *who = getenv("WHO");
    const bool leaders = NULL != who && 0 == strcmp("leaders", who);
    for (int c = 0; c < COMMS; c++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
        data[c] = tap_memory((size_t) (BYTES * tap_size));
    }
    const uint64_t before = served();
    const uint64_t left = knob_counter("coll_mleader_fallback_model");
    for (int i = 0; i < CALLS; i++) {
        for (int c = 0; c < COMMS; c++) {
            tap_check(blocking(comm[c], data[c], i), "", "MPI_Allgather %d of communicator %d", i,
                      c);
        }
    }
    const uint64_t wanted = COMMS * (CALLS - FIRST);
    tap_check((leaders ? wanted : 0) == served() - before, "", "leaders served the calls");
    tap_check((leaders ? 0 : wanted) == knob_counter("coll_mleader_fallback_model") - left, "",
              "the model left the others");
    tap_check(in_orders(comm, data, CALLS), "", "nonblocking calls in orders of their own");
    tap_check((leaders ? wanted + COMMS : 0) == served() - before, "", "served alike");
    for (int c = 0; c < COMMS; c++) {
        free(data[c]);
        MPI_Comm_free(&comm[c]);
    }
    knob_end();
    return tap_end();
}
