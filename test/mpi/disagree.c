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
 * A wrong program: rank 1 believes in another count than the others, MORE elements (or
 * fewer), or sets a variable, SET, to VALUE, when ranks have compared theirs in a first
 * call. With GAPS rank 0 has a type of the same signature with gaps. CALL=name. Its messages then
 * are not as long as their receivers expect, and some rank must get an error of class
 * MPI_ERR_TRUNCATE or MPI_ERR_OTHER; no rank may get MPI_SUCCESS and data that are not what the
 * others sent. Who has an error ends the job with status ABORTED, since others may wait for ever;
 * who has none waits for that.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ABORTED 7
#define COUNT 20000 /* elements of a contribution */
#define ROOM 64     /* elements behind each */

static int *from, *to, *counts, *displs;
static MPI_Datatype *types;
static MPI_Request request;
static MPI_Comm ring;
static int more; /* elements that this rank believes in, and the others do not */

static int value(int rank, int k)
{
    return 1000003 * (rank + 1) + k;
}

static int begins(int rank)
{
    return rank * (COUNT + ROOM);
}

/* ---- calls ---- */

static void add(void *in, void *inout, int *length, MPI_Datatype *type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *length; i++) {
        *(int *) ((char *) inout + i * extent) += *(int *) ((char *) in + i * extent);
    }
}

/*
 * Nonblocking with leaders behind a right one that waits, in which these set the communicator up.
 */
static int by_name(void)
{
    form_t form;
    foldcall_t c = {.call = foldcall_chosen(&form), .send = from, .recv = to, .count = COUNT,
                    .type = MPI_INT, .op = MPI_MAX, .comm = MPI_COMM_WORLD, .counts = counts,
                    .displs = displs};

    if (FOLD_BCAST == c.call && 0 == tap_rank) {
        c.recv = from;
    } else if (FOLD_ALLGATHER == c.call && NONBLOCKING == form) {
        TAP_MPI(foldcall(&c, BLOCKING));
    }
    c.count += more;
    if (0 != tap_number("GAPS", 0)) {
        MPI_Op_create(add, 1, &c.op);
        MPI_Type_create_resized(MPI_INT, 0, 0 == tap_rank ? 8 : 4, &c.type);
        MPI_Type_commit(&c.type);
    }
    return foldcall(&c, form);
}

/* What rank 1 expects of rank 0 is not what that sends it. */
static int *sent(void)
{
    int *all = tap_memory((size_t) tap_size * sizeof(int));

    for (int i = 0; i < tap_size; i++) {
        all[i] = COUNT;
    }
    return all;
}

static int *nowhere(void)
{
    return memset(tap_memory((size_t) tap_size * sizeof(int)), 0, (size_t) tap_size * sizeof(int));
}

static int alltoallv(void)
{
    int *scounts = sent(), *sdispls = nowhere();
    const int code = MPI_Alltoallv(from, scounts, sdispls, MPI_INT, to, counts, displs, MPI_INT,
                                   MPI_COMM_WORLD);
    free(scounts);
    free(sdispls);
    return code;
}

static int ialltoallw(void)
{
    int *scounts = sent(), *sdispls = nowhere();

    for (int i = 0; i < tap_size; i++) {
        displs[i] *= (int) sizeof(int);
    }
    MPI_Ialltoallw(from, scounts, sdispls, types, to, counts, displs, types, MPI_COMM_WORLD,
                   &request);
    const int code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(scounts);
    free(sdispls);
    return code;
}

static int alltoallv_in_place(void)
{
    for (int r = 0; r < tap_size; r++) {
        memcpy(to + begins(r), from, COUNT * sizeof(int));
    }
    return MPI_Alltoallv(MPI_IN_PLACE, NULL, NULL, MPI_INT, to, counts, displs, MPI_INT,
                         MPI_COMM_WORLD);
}

/* In a ring that is not closed the lower neighbour of rank 1 is rank 0. */
static int neighbors(void)
{
    const int scounts[2] = {COUNT, COUNT}, rcounts[2] = {COUNT + more, COUNT};
    const MPI_Aint sdispls[2] = {0, 0},
                   rdispls[2] = {(MPI_Aint) sizeof(int) * begins((tap_rank + tap_size - 1)
                                                                % tap_size),
                                 (MPI_Aint) sizeof(int) * begins((tap_rank + 1) % tap_size)};

    return MPI_Neighbor_alltoallw(from, scounts, sdispls, types, to, rcounts, rdispls, types, ring);
}

static const struct {
    const char *name;
    int (*run)(void);
    bool gathers; /**< a contribution of each rank in a place of its own */
} calls[] = {{"alltoallv", alltoallv, true},
             {"ialltoallw", ialltoallw, true},
             {"alltoallv_in_place", alltoallv_in_place, true},
             {"neighbors", neighbors, false}};

static int (*run)(void) = by_name;
static bool gathers, broadcasts;

static void choose(const char *name)
{
    gathers = NULL != strstr(name, "allgatherv");
    broadcasts = 0 == strcmp(name, "bcast");
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (0 == strcmp(name, calls[i].name)) {
            run = calls[i].run;
            gathers = calls[i].gathers;
        }
    }
}

/* ---- */

static void prepare(void)
{
    const size_t room = (size_t) tap_size * (COUNT + ROOM) * sizeof(int);
    const int periodic = 0;

    from = tap_memory(room);
    to = tap_memory(room);
    counts = tap_memory((size_t) tap_size * sizeof(int));
    displs = tap_memory((size_t) tap_size * sizeof(int));
    types = tap_memory((size_t) tap_size * sizeof(MPI_Datatype) + 2 * sizeof(MPI_Datatype));
    memset(to, 0, room);
    for (int i = 0; i < COUNT + ROOM; i++) {
        from[i] = value(tap_rank, i);
    }
    for (int i = 0; i < tap_size + 2; i++) {
        types[i] = MPI_INT;
    }
    for (int i = 0; i < tap_size; i++) {
        counts[i] = COUNT + (0 == i ? more : 0);
        displs[i] = begins(i);
    }
    MPI_Cart_create(MPI_COMM_WORLD, 1, &tap_size, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
}

/** What has come in is what its rank sent, as far as both count. */
static bool is_right(void)
{
    const int own = more < 0 ? more : 0;

    for (int r = 0; gathers && r < tap_size; r++) {
        for (int k = 0; k < COUNT + (0 == r ? own : 0); k++) {
            if (value(r, k) != to[begins(r) + k]) {
                return false;
            }
        }
    }
    for (int k = 0; broadcasts && 0 != tap_rank && k < COUNT + own; k++) {
        if (value(0, k) != to[k]) {
            return false;
        }
    }
    return true;
}

static void end_with(int code)
{
    int class;

    MPI_Error_class(code, &class);
    printf("%sok - rank %d: %s\n",
           MPI_ERR_TRUNCATE == class || MPI_ERR_OTHER == class ? "" : "not ", tap_rank,
           MPI_ERR_TRUNCATE == class ? "MPI_ERR_TRUNCATE"
           : MPI_ERR_OTHER == class  ? "MPI_ERR_OTHER"
                                     : "another error");
    fflush(stdout);
    usleep(300000); /* others may have something to say */
    MPI_Abort(MPI_COMM_WORLD, ABORTED);
}

/** The variable is set when a first call is over, in which it is equal on all ranks. */
static void set_variable(void)
{
    const char *name = getenv("SET");

    if (NULL != name) {
        TAP_MPI(run());
        if (1 == tap_rank) {
            knob_set(name, (double) tap_number("VALUE", 0));
        }
    }
}

int main(int argc, char **argv)
{
    MPI_Comm quiet;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    (void) knob_begin();
    more = 1 == tap_rank ? (int) tap_number("MORE", 0) : 0;
    choose(NULL == getenv("CALL") ? "" : getenv("CALL"));
    prepare();
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    set_variable();
    const int code = run();
    if (MPI_SUCCESS != code) {
        end_with(code);
    }
    if (!is_right()) {
        printf("not ok - rank %d: wrong data, and MPI_SUCCESS\n", tap_rank);
        fflush(stdout);
    }
    MPI_Barrier(quiet);
    printf("not ok - rank %d: nobody has noticed anything\n", tap_rank);
    knob_end();
    return tap_end();
}
