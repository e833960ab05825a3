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
 * Ranks whose variables differ, as on a node with a parameter file of its own: calls are
 * served right by others, and counted. COMPONENT is pipering (the default) or mleader; VARIABLE
 * and VALUE say what ranks from FROM (default: 1) to TO (default: FROM) have. OFF: broadcasts
 * alone, the first so many of them small. PART: rank 1 switches leaders off in the program, where
 * ranks find it in a call with contributions of so many bytes.
 */

#include "knob.h"
#include "tap.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 900001
#define SMALL 100 /* bytes of a contribution that leaders take */

static unsigned char value(int rank, int i)
{
    return (unsigned char) (rank * 89 + i * 7 + i / 251);
}

static bool bcast_is_right(unsigned char *data, int bytes)
{
    bool right = true;

    for (int i = 0; i < bytes; i++) {
        data[i] = 0 == tap_rank ? value(0, i) : 0;
    }
    right &= MPI_SUCCESS == MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; i++) {
        right &= value(0, i) == data[i];
    }
    return right;
}

/* Contributions of `part` bytes. */
static bool gather_is_right(unsigned char *data, int part)
{
    bool right = true;

    for (int i = 0; i < part; i++) {
        data[tap_rank * part + i] = value(tap_rank, i);
    }
    right &= MPI_SUCCESS
             == MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, part, MPI_BYTE,
                              MPI_COMM_WORLD);
    for (int i = 0; i < part * tap_size; i++) {
        right &= value(i / part, i % part) == data[i];
    }
    return right;
}

/* The first call on a communicator. */
static void call_nonblocking(unsigned char *data)
{
    MPI_Request request;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    const uint64_t before = knob_counter("coll_pipering_fallback_unequal");
    for (int i = 0; i < 3; i++) {
        memset(data, 7 + i, BYTES);
        TAP_MPI(MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, BYTES / tap_size, MPI_BYTE,
                               comm, &request));
        TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
        tap_check(7 + i == data[0] && 7 + i == data[BYTES / tap_size * tap_size - 1], "",
                  "MPI_Iallgather %d", i);
    }
    tap_check(before + 3 <= knob_counter("coll_pipering_fallback_unequal"), "",
              "nonblocking ones too");
    MPI_Comm_free(&comm);
}

static void call_pipering(unsigned char *data)
{
    knob_set("coll_pipering_bcast_algorithm", KNOB_PIPELINE);
    knob_set("coll_pipering_allgather_algorithm", KNOB_RING);
    for (int i = 0; i < 3; i++) {
        tap_check(bcast_is_right(data, BYTES), "", "MPI_Bcast %d", i);
        tap_check(gather_is_right(data, BYTES / tap_size), "", "MPI_Allgather %d", i);
    }
    /* Open MPI itself makes some more */
    tap_check(6 <= knob_counter("coll_pipering_fallback_unequal"), "", "all calls went below");
    tap_check(0 == knob_counter("coll_pipering_calls"), "", "and none was served");
    call_nonblocking(data);
}

/* Broadcasts are off on rank 1, which the first of them finds, small or not. */
static void call_off(unsigned char *data, int small)
{
    for (int i = 0; i < small; i++) {
        tap_check(bcast_is_right(data, SMALL), "", "small MPI_Bcast %d", i);
    }
    for (int i = 0; i < 3; i++) {
        tap_check(bcast_is_right(data, BYTES), "", "MPI_Bcast %d", i);
    }
    tap_check(0 < knob_counter("coll_pipering_fallback_unequal")
                  || 0 < knob_counter("coll_pipering_fallback_off"),
              "", "ranks find the difference");
    tap_check(0 == knob_counter("coll_pipering_calls"), "", "no call was served");
}

static void call_mleader(unsigned char *data)
{
    for (int i = 0; i < 6; i++) {
        tap_check(gather_is_right(data, SMALL), "", "MPI_Allgather %d", i);
    }
    const uint64_t early = knob_counter("coll_mleader_fallback_new");
    tap_check(2 >= early, "", "leaders were wanted from the third call on");
    tap_check(6 == early + knob_counter("coll_mleader_fallback_unequal"), "",
              "all other calls went below");
    tap_check(0 == knob_counter("coll_mleader_calls_shared")
                  && 0 == knob_counter("coll_mleader_calls_messages"),
              "", "and none was served");
}

/*
 * Rank 1 leaves all calls to the module below before it compares anything. The others notice: no
 * contribution, be it as long as what they compare, is taken for that.
 */
static void call_declined(unsigned char *data, int part)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (1 == tap_rank) {
        knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS_OFF);
    }
    for (int i = 0; i < 2; i++) {
        tap_check(gather_is_right(data, part), "", "MPI_Allgather %d", i);
    }
    const int rc = MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data, part, MPI_BYTE,
                                 MPI_COMM_WORLD);
    tap_check(1 == tap_rank || MPI_SUCCESS != rc, "no error", "MPI_Allgather 2 fails");
}

/*
 * Rank 1 alone speaks of calls, which takes another way through the code: calls without data, of
 * which the binding knows nothing, must end alike on both.
 */
static void call_without_data(unsigned char *data)
{
    MPI_Datatype empty;

    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    for (int i = 0; i < 4; i++) {
        tap_check(gather_is_right(data, SMALL), "", "MPI_Allgather %d", i);
        tap_check(MPI_SUCCESS == MPI_Allgather(data, 1, empty, data, 1, empty, MPI_COMM_WORLD), "",
                  "and one without data");
    }
    MPI_Type_free(&empty);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK"), *variable = getenv("VARIABLE");
    const char *given = getenv("COMPONENT"), *component = NULL == given ? "pipering" : given;
    const char *from = getenv("FROM"), *to = getenv("TO");
    const int first = NULL == from ? 1 : atoi(from), last = NULL == to ? first : atoi(to);
    char name[100];

    if (NULL != rank && first <= atoi(rank) && atoi(rank) <= last && NULL != variable) {
        snprintf(name, sizeof(name), "OMPI_MCA_coll_%s_%s", component, variable);
        setenv(name, getenv("VALUE"), 1);
    }
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    unsigned char *data = tap_memory(BYTES);
    if (NULL != getenv("EMPTY")) {
        call_without_data(data);
        free(data);
        return tap_end();
    }
    if (!knob_begin()) {
        tap_bail("there is no coll/pipering here");
    }

    if (NULL != getenv("PART")) {
        call_declined(data, atoi(getenv("PART")));
    } else if (0 == strcmp(component, "mleader")) {
        call_mleader(data);
    } else if (NULL != getenv("OFF")) {
        call_off(data, atoi(getenv("OFF")));
    } else {
        call_pipering(data);
    }
    free(data);
    knob_end();
    return tap_end();
}
