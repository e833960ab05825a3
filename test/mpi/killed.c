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
 * Rank VICTIM is killed, by its process id, while it is in a CALL, one of the names
 * below, the nonblocking ones with MPI_Wait. The job is not meant to end by itself.
 */

#include "knob.h"
#include "tap.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define CALLS_BEFORE 3 /* that go well */

static volatile sig_atomic_t in_call;
static volatile sig_atomic_t calls;

/** Kills this process if it is in a call and some have been made, or looks again later. */
static void die_in_call(int sign)
{
    (void) sign;
    if (in_call && CALLS_BEFORE <= calls) {
        (void) !write(1, "# killed in a call\n", 19);
        kill(getpid(), SIGKILL);
    }
}

static void arm(void)
{
    struct itimerval timer = {{0, 7000}, {0, 30000}};

    signal(SIGALRM, die_in_call);
    setitimer(ITIMER_REAL, &timer, NULL);
}

#define PART (2 << 20)
#define WORDS (PART / 4)

/** Buffers of all calls; those of gathers are tap_size parts. */
typedef struct buffers_t {
    char *send, *recv;
    int *count, *displ;
} buffers_t;

typedef void call_fn_t(const buffers_t *b, MPI_Request *request);

static void allgatherv(const buffers_t *b, MPI_Request *request)
{
    (void) request;
    MPI_Allgatherv(b->send, PART, MPI_BYTE, b->recv, b->count, b->displ, MPI_BYTE, MPI_COMM_WORLD);
}

static void iallgatherv(const buffers_t *b, MPI_Request *request)
{
    MPI_Iallgatherv(b->send, PART, MPI_BYTE, b->recv, b->count, b->displ, MPI_BYTE, MPI_COMM_WORLD,
                    request);
}

static void bcast(const buffers_t *b, MPI_Request *request)
{
    (void) request;
    MPI_Bcast(b->recv, WORDS, MPI_INT, 0, MPI_COMM_WORLD);
}

static void reduce(const buffers_t *b, MPI_Request *request)
{
    (void) request;
    MPI_Reduce(b->send, b->recv, WORDS, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void iscan(const buffers_t *b, MPI_Request *request)
{
    MPI_Iscan(b->send, b->recv, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
}

static void exscan(const buffers_t *b, MPI_Request *request)
{
    (void) request;
    MPI_Exscan(b->send, b->recv, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void allreduce(const buffers_t *b, MPI_Request *request)
{
    (void) request;
    MPI_Allreduce(b->send, b->recv, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void iallreduce(const buffers_t *b, MPI_Request *request)
{
    MPI_Iallreduce(b->send, b->recv, WORDS, MPI_INT, MPI_SUM, MPI_COMM_WORLD, request);
}

/** With leaders. */
static void allgather(const buffers_t *b, MPI_Request *request)
{
    (void) request;
    MPI_Allgather(b->send, PART, MPI_BYTE, b->recv, PART, MPI_BYTE, MPI_COMM_WORLD);
}

static void iallgather(const buffers_t *b, MPI_Request *request)
{
    static bool again;

    if (!again) { /* leaders set the communicator up in a call that waits */
        again = true;
        allgather(b, request);
    }
    MPI_Iallgather(b->send, PART, MPI_BYTE, b->recv, PART, MPI_BYTE, MPI_COMM_WORLD, request);
}

/** Dies while segments are made, if luck has it. */
static void allgather_anew(const buffers_t *b, MPI_Request *request)
{
    MPI_Comm comm;

    (void) request;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Allgather(b->send, 8, MPI_BYTE, b->recv, 8, MPI_BYTE, comm);
    MPI_Comm_free(&comm);
}

static const struct {
    const char *name;
    call_fn_t *run;
    int algorithm; /* of MPI_Allreduce */
} forms[] = {
    {"allgather, leaders", allgather, KNOB_AUTO},
    {"iallgather, leaders", iallgather, KNOB_AUTO},
    {"allgather, new communicators", allgather_anew, KNOB_AUTO},
    {"allgatherv", allgatherv, KNOB_AUTO},         {"iallgatherv", iallgatherv, KNOB_AUTO},
    {"bcast", bcast, KNOB_AUTO},                   {"reduce", reduce, KNOB_AUTO},
    {"iscan", iscan, KNOB_AUTO},                   {"exscan", exscan, KNOB_AUTO},
    {"allreduce, merged", allreduce, KNOB_MERGED}, {"iallreduce, ring", iallreduce, KNOB_RING},
};
#define FORMS ((int) (sizeof(forms) / sizeof(forms[0])))

/** Calls that one of the components has served. */
static uint64_t served(void)
{
    return knob_counter("coll_pipering_calls") + knob_counters("coll_mleader_calls_");
}

static buffers_t new_buffers(void)
{
    buffers_t b = {.send = calloc(1, PART), .recv = calloc((size_t) tap_size, PART)};

    b.count = tap_memory((size_t) tap_size * sizeof(int));
    b.displ = tap_memory((size_t) tap_size * sizeof(int));
    for (int i = 0; i < tap_size; i++) {
        b.count[i] = PART;
        b.displ[i] = i * PART;
    }
    return b;
}

int main(int argc, char **argv)
{
    buffers_t buffers;
    MPI_Request request = MPI_REQUEST_NULL;
    int form;

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    form = tap_choice("CALL", forms, FORMS, sizeof(forms[0]));
    knob_set("coll_pipering_allgatherv_algorithm", KNOB_RING);
    knob_folds(KNOB_PIPELINE, forms[form].algorithm);
    knob_set("coll_mleader_allgather_algorithm", KNOB_LEADERS);
    buffers = new_buffers();
    if (tap_number("VICTIM", 1) == tap_rank) {
        arm();
    }
    for (;;) {
        in_call = 1;
        forms[form].run(&buffers, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        in_call = 0;
        if (++calls == CALLS_BEFORE && CALLS_BEFORE > served()) {
            tap_bail("the calls went elsewhere");
        }
    }
    return tap_end();
}
