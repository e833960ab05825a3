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
 * Tags of blocking calls are the same in every call, as tags are few with some
 * transports; nonblocking calls, of which several may be under way, have their own, and no
 * more than they need. The last rank comes late to each call, and looks by MPI_Iprobe under
 * which tag the first message waits for it: wants mpi_param_check 0, as such tags are none of
 * the user's.
 *
 * In the same way all ranks but one tell how many messages of that one are under way.
 */

#include "foldcall.h"
#include "knob.h"
#include "tap.h"

#include <stdlib.h>

/* Tags that are looked at: fixed ones, and the first of those that are reserved. */
#define FIRST_TAG (-10)
#define FIRST_RESERVED (-33)
#define LAST_TAG (-400)

/* Most tags of a call that is not planned yet. */
#define EARLY_TAGS 3

/* Seconds after which a message that must come is missing; on a loaded machine it may take some. */
#define PATIENCE 100.0

/* Messages of which no more than this are under way, and from how many on that is so. */
#define MANY_WINDOW 2
#define MANY 32

/* Bytes that each rank has for another. */
#define PART 4096

static char *from, *to;
static int *counts, *displs;
static MPI_Datatype *types;

static MPI_Comm comm = MPI_COMM_NULL;  /* of the calls that are looked at */
static MPI_Comm quiet = MPI_COMM_NULL; /* of all else: its messages are not among those found */

static MPI_Request request;

#define IN_PLACE FOLD_NAMES /* MPI_Alltoallw */

static const struct {
    const char *name;
    fold_call_t call;
    form_t form;
    int gathers; /* algorithm of MPI_Allgatherv */
    int tags; /**< that each call takes for itself; 0: those of blocking calls */
} forms[] = {
    {"MPI_Allgatherv, ring", FOLD_ALLGATHERV, BLOCKING, KNOB_RING, 0},
    {"MPI_Allgatherv, rounds", FOLD_ALLGATHERV, BLOCKING, KNOB_ROUNDS, 0},
    {"MPI_Bcast", FOLD_BCAST, BLOCKING, KNOB_RING, 0},
    {"MPI_Reduce", FOLD_REDUCE, BLOCKING, KNOB_RING, 0},
    {"MPI_Scan", FOLD_SCAN, BLOCKING, KNOB_RING, 0},
    {"MPI_Allreduce, ring", FOLD_ALLREDUCE, BLOCKING, KNOB_RING, 0},
    {"MPI_Alltoallv", FOLD_ALLTOALLV, BLOCKING, KNOB_RING, 0},
    {"MPI_Alltoallw in place", IN_PLACE, BLOCKING, KNOB_RING, 0},
    {"MPI_Ibcast", FOLD_BCAST, NONBLOCKING, KNOB_RING, 1},
    {"MPI_Iallgatherv", FOLD_ALLGATHERV, NONBLOCKING, KNOB_RING, 1},
    {"MPI_Iallreduce, twice around the ring", FOLD_ALLREDUCE, NONBLOCKING, KNOB_RING, 2},
    {"MPI_Ialltoallv", FOLD_ALLTOALLV, NONBLOCKING, KNOB_RING, 1},
};
#define CALLS ((int) (sizeof(forms) / sizeof(forms[0])))

static void run(int form)
{
    const fold_call_t call = forms[form].call;
    const bool words = FOLD_CALLS > call;
    const foldcall_t c = {.call = call, .send = from, .recv = to, .count = PART / (int) sizeof(int),
                          .type = words ? MPI_INT : MPI_BYTE, .op = MPI_SUM,
                          .root = FOLD_REDUCE == call ? tap_size - 1 : 0, .comm = comm,
                          .counts = counts, .displs = displs};

    if (IN_PLACE == call) {
        MPI_Alltoallw(MPI_IN_PLACE, NULL, NULL, NULL, to, counts, displs, types, comm);
    } else {
        TAP_MPI(foldcall(&c, forms[form].form));
    }
}

/** The tag of a message that waits; 0: there is none yet. */
static int look(void)
{
    for (int tag = FIRST_TAG; tag >= LAST_TAG; tag--) {
        for (int r = 0; r < tap_size - 1; r++) {
            int found = 0;
            MPI_Iprobe(r, tag, comm, &found, MPI_STATUS_IGNORE);
            if (found) {
                return tag;
            }
        }
    }
    return 0;
}

/** Runs a call to which the last rank comes late: the tag that it finds, on all ranks. */
static int tag_of(int form)
{
    int tag = 0;

    MPI_Barrier(quiet);
    const double end = MPI_Wtime() + PATIENCE;
    while (tap_rank == tap_size - 1 && 0 == tag && MPI_Wtime() < end) {
        tag = look();
    }
    run(form);
    MPI_Barrier(quiet);
    knob_set("coll_pipering_bcast_algorithm", KNOB_OFF);
    MPI_Bcast(&tag, 1, MPI_INT, tap_size - 1, quiet);
    knob_set("coll_pipering_bcast_algorithm", KNOB_PIPELINE);
    return tag;
}

static void force(int form)
{
    knob_set("coll_pipering_allgatherv_algorithm", forms[form].gathers);
    knob_folds(KNOB_PIPELINE, KNOB_RING);
}

/* Of a nonblocking call that no blocking one has come before: it is planned when it has begun. */
static void check_early(int form)
{
    force(form);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    run(form);
    const int first = tag_of(form), second = tag_of(form);
    tap_check(FIRST_RESERVED >= first && 0 < first - second && EARLY_TAGS >= first - second, NULL,
              "%s before any blocking call: %d and %d are tags of two calls", forms[form].name, first,
              second);
    MPI_Comm_free(&comm);
}

static void check(int form)
{
    force(form);
    comm = MPI_COMM_WORLD;
    run(form); /* the communicator is set up */

    const uint64_t served = knob_counters("coll_pipering_calls")
                            + knob_counters("coll_pipering_alltoall_calls");
    const int first = tag_of(form), second = tag_of(form);
    const bool ours = 2 == knob_counters("coll_pipering_calls")
                               + knob_counters("coll_pipering_alltoall_calls") - served;

    tap_note("%s: tags %d and %d", forms[form].name, first, second);
    tap_check(ours, "the calls went elsewhere", "%s: served", forms[form].name);
    if (0 == forms[form].tags) {
        tap_check(first == second && 0 > first && FIRST_RESERVED < first, NULL,
                  "%s: the tag of a call is that of the next", forms[form].name);
    } else {
        tap_check(FIRST_RESERVED >= first && first - second == forms[form].tags, NULL,
                  "%s: each call has %d of its own", forms[form].name, forms[form].tags);
    }
}

/* ---- messages under way ---- */

#define LARGE (1 << 20) /* bytes, of messages that wait for their receivers */

#define FOUND 1
#define ENOUGH 2

/** Whether another rank has said so; its message is received then. */
static bool heard(int what)
{
    MPI_Status status;
    int is_there;

    MPI_Iprobe(MPI_ANY_SOURCE, what, quiet, &is_there, &status);
    if (is_there) {
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, what, quiet, MPI_STATUS_IGNORE);
    }
    return is_there;
}

/** Of rank 0, while its call is under way: how many other ranks find a message that waits for them.
 * Not more than wanted may do so within a second, so all of it is waited. */
static int count_found(int wanted)
{
    const double begin = MPI_Wtime();
    double passed = 0;
    int found = 0, over;

    while (1 > passed || (found < wanted && PATIENCE > passed)) {
        MPI_Test(&request, &over, MPI_STATUS_IGNORE);
        found += heard(FOUND);
        passed = MPI_Wtime() - begin;
    }
    for (int i = 1; i < tap_size; i++) {
        MPI_Send(NULL, 0, MPI_BYTE, i, ENOUGH, quiet);
    }
    MPI_Barrier(quiet);
    return found;
}

/** Of the other ranks. None goes on before all have stopped looking: whoever receives its message
 * has rank 0 send the next one. */
static void look_until_enough(void)
{
    bool found = false;

    while (!heard(ENOUGH)) {
        if (!found && 0 != look()) {
            found = true;
            MPI_Send(NULL, 0, MPI_BYTE, 0, FOUND, quiet);
        }
    }
    MPI_Barrier(quiet);
}

/** Rank 0 has a large message for each other rank, which comes late: how many find one waiting? */
static int count_waiting(int wanted)
{
    int *none = calloc((size_t) tap_size, sizeof(int)), *some = tap_memory(sizeof(int)
                                                                           * (size_t) tap_size);
    char *out = calloc((size_t) tap_size, LARGE), *in = calloc(1, LARGE);
    int found = 0;

    for (int i = 0; i < tap_size; i++) {
        some[i] = 0 == tap_rank ? (0 == i ? 0 : LARGE) : (0 == i ? LARGE : 0);
    }
    if (0 == tap_rank) {
        MPI_Ialltoallv(out, some, none, MPI_BYTE, in, none, none, MPI_BYTE, MPI_COMM_WORLD,
                       &request);
        found = count_found(wanted);
    } else {
        look_until_enough();
        MPI_Ialltoallv(out, none, none, MPI_BYTE, in, some, none, MPI_BYTE, MPI_COMM_WORLD,
                       &request);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (0 == tap_rank && heard(FOUND)) {
        found++;
    }
    MPI_Bcast(&found, 1, MPI_INT, 0, quiet);
    free(none);
    free(some);
    free(out);
    free(in);
    return found;
}

static void check_window(int window, int wanted)
{
    knob_set("coll_pipering_alltoall_window", window);
    const int waiting = count_waiting(wanted);
    tap_note("window %d: %d of %d under way", window, waiting, tap_size - 1);
    tap_check(wanted == waiting, "another number", "%d messages, window %d: %d under way",
              tap_size - 1, window, wanted);
}

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin()) {
        tap_bail("wants coll/pipering");
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &quiet);
    knob_set("coll_pipering_ring_buffer_size", 0); /* else nothing is a message on one node */
    from = tap_memory((size_t) tap_size * PART);
    to = tap_memory((size_t) tap_size * PART);
    counts = tap_memory((size_t) tap_size * sizeof(int));
    displs = tap_memory((size_t) tap_size * sizeof(int));
    types = tap_memory((size_t) tap_size * sizeof(MPI_Datatype));
    for (int i = 0; i < tap_size; i++) {
        counts[i] = PART;
        displs[i] = i * PART;
        types[i] = MPI_BYTE;
    }
    /* on so many ranks this is all that is looked at */
    for (int form = 0; MANY >= tap_size && form < CALLS; form++) {
        if (0 < forms[form].tags) {
            check_early(form);
        }
        /* in place the last of two ranks is the first to send */
        if (2 < tap_size || IN_PLACE != forms[form].call) {
            check(form);
        }
    }
    comm = MPI_COMM_WORLD;
    check_window(1, 1);
    check_window(0, MANY > tap_size - 1 ? tap_size - 1 : MANY_WINDOW);
    MPI_Comm_free(&quiet);
    knob_end();
    free(from);
    free(to);
    free(counts);
    free(displs);
    free(types);
    return tap_end();
}
