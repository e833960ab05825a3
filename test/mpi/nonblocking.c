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
 * MPI_Iallgatherv and MPI_Iallgather: completion by every call that MPI has
 * for it, several in flight among blocking calls, point-to-point messages and
 * other collectives, types and communicators freed in flight, and what a
 * nonblocking start must never do: wait for another rank.
 */

#include "exchange.h"
#include "knob.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FLIGHT 12 /* calls in flight */

static uint64_t key = 3000;
static char fault[600];
static int most = 400; /* elements of a contribution */

/* ---- samples ---- */

/** A type for sample n: plain, strided, or with elements from high to low addresses. */
static layout_t *sample_layout(int n)
{
    switch (n % 3) {
    case 0:
        return layout_unit(n % LAYOUT_UNITS, 0);
    case 1:
        return layout_vector(2, 1, 3, layout_unit(n % LAYOUT_UNITS, 1));
    default:
        return layout_resized(-8, 40, layout_hvector(2, 1, -16, layout_unit(3, 0)));
    }
}

/** The n-th sample on a communicator: the same calls on every rank, counts from n. */
static exchange_t *sample(MPI_Comm comm, int n)
{
    exchange_spec_t spec = {.comm = comm, .key = key + (uint64_t) n};
    int size, rank, *count;
    exchange_t *x;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    count = tap_memory((size_t) size * sizeof(int));
    for (int i = 0; i < size; i++) {
        uint64_t chance = dice_mix(spec.key * 64 + (0 == n % 4 ? 0 : (uint64_t) i));

        count[i] = 0 == chance % 5 ? 0 : (int) (chance / 8 % (uint64_t) most);
    }
    spec.same = 0 == n % 4;
    spec.in_place = 1 == n % 2;
    spec.count = count;
    spec.send_count = count[rank];
    spec.send = spec.recv = sample_layout(n);
    x = exchange_new(&spec);
    if (NULL == x) {
        tap_bail("sample %d is wrong", n);
    }
    free(count);
    return x;
}

static void sample_free(exchange_t *x)
{
    layout_t *layout = x->recv;

    exchange_free(x);
    layout_free(layout);
}

static bool right(exchange_t *x, const char *what)
{
    if (exchange_right(x)) {
        return true;
    }
    snprintf(fault, sizeof(fault), "%s: %s", what, x->fault);
    return false;
}

/** Samples first .. first + n - 1, started. */
static void start_samples(MPI_Comm comm, exchange_t **x, int first, int n)
{
    for (int i = 0; i < n; i++) {
        x[i] = sample(comm, first + i);
        TAP_MPI(exchange_start(x[i]));
    }
}

static bool judge_samples(exchange_t **x, int n, const char *what)
{
    bool all = true;

    for (int i = 0; i < n; i++) {
        all &= right(x[i], what);
        sample_free(x[i]);
    }
    return all;
}

static void requests_of(exchange_t **x, int n, MPI_Request *request)
{
    for (int i = 0; i < n; i++) {
        request[i] = x[i]->request;
    }
}

/* ---- completion ---- */

static bool by_test(void)
{
    bool all = true;

    for (int n = 0; n < 4; n++) {
        exchange_t *x = sample(MPI_COMM_WORLD, n);
        int done = 0;

        TAP_MPI(exchange_start(x));
        while (!done) {
            TAP_MPI(MPI_Test(&x->request, &done, MPI_STATUS_IGNORE));
        }
        all &= MPI_REQUEST_NULL == x->request && right(x, "MPI_Test");
        sample_free(x);
    }
    return all;
}

static bool by_get_status(void)
{
    exchange_t *x = sample(MPI_COMM_WORLD, 2);
    int done = 0;
    bool all;

    TAP_MPI(exchange_start(x));
    while (!done) {
        TAP_MPI(MPI_Request_get_status(x->request, &done, MPI_STATUS_IGNORE));
    }
    all = right(x, "MPI_Request_get_status") && MPI_REQUEST_NULL != x->request;
    TAP_MPI(MPI_Wait(&x->request, MPI_STATUS_IGNORE));
    sample_free(x);
    return all;
}

static bool by_waitall(void)
{
    exchange_t *x[FLIGHT];
    MPI_Request request[FLIGHT];
    MPI_Status status[FLIGHT];

    start_samples(MPI_COMM_WORLD, x, 0, FLIGHT);
    requests_of(x, FLIGHT, request);
    TAP_MPI(MPI_Waitall(FLIGHT, request, status));
    return judge_samples(x, FLIGHT, "MPI_Waitall");
}

static bool by_wait_backwards(void)
{
    exchange_t *x[FLIGHT];

    start_samples(MPI_COMM_WORLD, x, 0, FLIGHT);
    for (int i = 0; i < FLIGHT; i++) {
        /* every second rank waits for the last one first */
        TAP_MPI(MPI_Wait(&x[tap_rank % 2 ? FLIGHT - 1 - i : i]->request, MPI_STATUS_IGNORE));
    }
    return judge_samples(x, FLIGHT, "MPI_Wait in other orders");
}

static bool by_waitany(void)
{
    exchange_t *x[FLIGHT];
    MPI_Request request[FLIGHT];
    bool all = true;
    int index;

    start_samples(MPI_COMM_WORLD, x, 1, FLIGHT);
    requests_of(x, FLIGHT, request);
    for (int i = 0; i < FLIGHT; i++) {
        TAP_MPI(MPI_Waitany(FLIGHT, request, &index, MPI_STATUS_IGNORE));
        all &= right(x[index], "MPI_Waitany");
    }
    return judge_samples(x, FLIGHT, "MPI_Waitany") && all;
}

static bool by_testsome(void)
{
    exchange_t *x[FLIGHT];
    MPI_Request request[FLIGHT];
    int index[FLIGHT], some, left = FLIGHT;
    bool all = true;

    start_samples(MPI_COMM_WORLD, x, 2, FLIGHT);
    requests_of(x, FLIGHT, request);
    while (0 < left) {
        TAP_MPI(MPI_Testsome(FLIGHT, request, &some, index, MPI_STATUSES_IGNORE));
        for (int i = 0; i < some; i++) {
            all &= right(x[index[i]], "MPI_Testsome");
        }
        left -= some;
    }
    return judge_samples(x, FLIGHT, "MPI_Testsome") && all;
}

static bool many_in_flight(void)
{
    exchange_t *x[100];
    MPI_Request request[100];

    most = 20;
    start_samples(MPI_COMM_WORLD, x, 0, 100);
    most = 400;
    requests_of(x, 100, request);
    TAP_MPI(MPI_Waitall(100, request, MPI_STATUSES_IGNORE));
    return judge_samples(x, 100, "100 in flight");
}

/* ---- among other calls ---- */

static bool among_blocking(void)
{
    exchange_t *x[FLIGHT], *blocking;
    MPI_Request request[FLIGHT];
    bool all = true;

    for (int i = 0; i < FLIGHT; i++) {
        start_samples(MPI_COMM_WORLD, x + i, i, 1);
        blocking = sample(MPI_COMM_WORLD, 200 + i);
        TAP_MPI(exchange_run(blocking));
        all &= right(blocking, "blocking among nonblocking");
        sample_free(blocking);
    }
    requests_of(x, FLIGHT, request);
    TAP_MPI(MPI_Waitall(FLIGHT, request, MPI_STATUSES_IGNORE));
    return judge_samples(x, FLIGHT, "nonblocking among blocking") && all;
}

static bool among_collectives(void)
{
    exchange_t *x[5];
    MPI_Request request[5], other[3];
    int word[4] = {7, 1, tap_rank, 9}, sum = -1, everyone = -1, most = -1;
    bool all;

    start_samples(MPI_COMM_WORLD, x, 0, 1);
    MPI_Ibcast(&word[0], 1, MPI_INT, 0, MPI_COMM_WORLD, &other[0]);
    start_samples(MPI_COMM_WORLD, x + 1, 1, 1);
    MPI_Allreduce(&word[1], &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &other[1]);
    start_samples(MPI_COMM_WORLD, x + 2, 2, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(&word[2], &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &other[2]);
    start_samples(MPI_COMM_WORLD, x + 3, 3, 2);
    MPI_Reduce(&word[1], &everyone, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Bcast(&everyone, 1, MPI_INT, 0, MPI_COMM_WORLD);
    requests_of(x, 5, request);
    TAP_MPI(MPI_Waitall(5, request, MPI_STATUSES_IGNORE));
    TAP_MPI(MPI_Waitall(3, other, MPI_STATUSES_IGNORE));
    all = judge_samples(x, 5, "among other collectives");
    if (7 != word[0] || tap_size != sum || tap_size != everyone || tap_size - 1 != most) {
        snprintf(fault, sizeof(fault), "another collective is wrong");
        all = false;
    }
    return all;
}

/** Wildcard receives must not see messages of collectives, nor the reverse. */
static bool among_messages(void)
{
    const int right_hand = (tap_rank + 1) % tap_size;
    exchange_t *x[4];
    MPI_Request request[4], any[4];
    MPI_Status status[4];
    int in[4], out, count;
    bool all;

    for (int i = 0; i < 4; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &any[i]);
    }
    start_samples(MPI_COMM_WORLD, x, 0, 4);
    for (int i = 0; i < 4; i++) {
        out = 100 * tap_rank + i;
        MPI_Send(&out, 1, MPI_INT, right_hand, i, MPI_COMM_WORLD);
    }
    requests_of(x, 4, request);
    TAP_MPI(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
    TAP_MPI(MPI_Waitall(4, any, status));
    all = judge_samples(x, 4, "among messages");
    for (int i = 0; i < 4; i++) {
        MPI_Get_count(&status[i], MPI_INT, &count);
        if (1 != count || i != status[i].MPI_TAG || in[i] != 100 * status[i].MPI_SOURCE + i) {
            snprintf(fault, sizeof(fault), "message %d is wrong", i);
            all = false;
        }
    }
    return all;
}

/* ---- freed in flight ---- */

static bool types_freed(void)
{
    exchange_t *x[FLIGHT];
    MPI_Request request[FLIGHT];

    start_samples(MPI_COMM_WORLD, x, 0, FLIGHT);
    for (int i = 0; i < FLIGHT; i++) {
        MPI_Type_free(&x[i]->recv->type);
        MPI_Type_dup(MPI_BYTE, &x[i]->recv->type); /* for layout_free */
    }
    requests_of(x, FLIGHT, request);
    TAP_MPI(MPI_Waitall(FLIGHT, request, MPI_STATUSES_IGNORE));
    return judge_samples(x, FLIGHT, "types freed in flight");
}

static bool communicator_freed(void)
{
    exchange_t *x[4];
    MPI_Request request[4];
    MPI_Comm comm;

    for (int i = 0; i < 4; i++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        start_samples(comm, x + i, i, 1);
        MPI_Comm_free(&comm);
    }
    requests_of(x, 4, request);
    TAP_MPI(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
    return judge_samples(x, 4, "communicator freed in flight");
}

/* ---- a start is local, and others progress ---- */

/** Rank 0 starts only when told so by the last rank, which tells after its own start. */
static bool start_is_local(void)
{
    exchange_t *x[2];
    MPI_Comm comm;
    char go = 1;
    bool all = true;

    for (int n = 0; n < 2; n++) { /* the first call on a communicator, and a later one */
        if (0 == n) {
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        }
        if (0 == tap_rank && 1 < tap_size) {
            MPI_Recv(&go, 1, MPI_CHAR, tap_size - 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        start_samples(comm, x, 4 * n, 2);
        if (tap_size - 1 == tap_rank && 1 < tap_size) {
            MPI_Send(&go, 1, MPI_CHAR, 0, 5, MPI_COMM_WORLD);
        }
        TAP_MPI(MPI_Wait(&x[1]->request, MPI_STATUS_IGNORE));
        TAP_MPI(MPI_Wait(&x[0]->request, MPI_STATUS_IGNORE));
        all &= judge_samples(x, 2, "start is local");
    }
    MPI_Comm_free(&comm);
    return all;
}

/** Two new communicators, on which ranks start in opposite orders. */
static bool opposite_orders(void)
{
    exchange_t *x[2];
    MPI_Comm comm[2];
    int first = tap_rank % 2;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm[0]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]);
    start_samples(comm[first], x + first, first, 1);
    start_samples(comm[1 - first], x + 1 - first, 1 - first, 1);
    TAP_MPI(MPI_Wait(&x[first]->request, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Wait(&x[1 - first]->request, MPI_STATUS_IGNORE));
    MPI_Comm_free(&comm[0]);
    MPI_Comm_free(&comm[1]);
    return judge_samples(x, 2, "communicators in opposite orders");
}

/** Rank 0 sits in MPI_Recv until the others have the result that passes through it. */
static bool progress_in_receive(void)
{
    exchange_t *x[2];
    char word = 0;

    start_samples(MPI_COMM_WORLD, x, 4, 2);
    if (0 == tap_rank) {
        for (int i = 1; i < tap_size; i++) {
            MPI_Recv(&word, 1, MPI_CHAR, i, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    TAP_MPI(MPI_Wait(&x[0]->request, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Wait(&x[1]->request, MPI_STATUS_IGNORE));
    if (0 != tap_rank) {
        MPI_Send(&word, 1, MPI_CHAR, 0, 6, MPI_COMM_WORLD);
    }
    return judge_samples(x, 2, "progress in MPI_Recv");
}

/** The same inside of a collective on another communicator. */
static bool progress_in_barrier(void)
{
    exchange_t *x[1];
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    start_samples(MPI_COMM_WORLD, x, 5, 1);
    if (0 != tap_rank) {
        TAP_MPI(MPI_Wait(&x[0]->request, MPI_STATUS_IGNORE));
    }
    MPI_Barrier(comm);
    TAP_MPI(MPI_Wait(&x[0]->request, MPI_STATUS_IGNORE));
    MPI_Comm_free(&comm);
    return judge_samples(x, 1, "progress in MPI_Barrier");
}

static bool late_rank(void)
{
    exchange_t *x[3];
    int done = 0;

    if (tap_size / 2 == tap_rank) {
        usleep(30000);
    }
    start_samples(MPI_COMM_WORLD, x, 0, 3);
    while (!done) {
        MPI_Request request[3];

        requests_of(x, 3, request);
        TAP_MPI(MPI_Testall(3, request, &done, MPI_STATUSES_IGNORE));
    }
    return judge_samples(x, 3, "a rank is late");
}

/** A communicator is duplicated while a call is in flight on it. */
static bool dup_in_flight(void)
{
    exchange_t *x[2];
    MPI_Comm comm;

    start_samples(MPI_COMM_WORLD, x, 6, 1);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    start_samples(comm, x + 1, 7, 1);
    TAP_MPI(MPI_Wait(&x[1]->request, MPI_STATUS_IGNORE));
    TAP_MPI(MPI_Wait(&x[0]->request, MPI_STATUS_IGNORE));
    MPI_Comm_free(&comm);
    return judge_samples(x, 2, "MPI_Comm_dup in flight");
}

/* ---- persistent ---- */

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
static bool persistent(void)
{
    exchange_t *x[2];
    MPI_Request request[2];
    bool all = true;

    for (int i = 0; i < 2; i++) {
        exchange_t *y = x[i] = sample(MPI_COMM_WORLD, 1 + 2 * i); /* in place */

        TAP_MPI(MPI_Allgatherv_init(MPI_IN_PLACE, 0, y->recv->type,
                                    y->target.memory + y->target.origin, y->count, y->displ,
                                    y->recv->type, MPI_COMM_WORLD, MPI_INFO_NULL, &request[i]));
    }
    for (int round = 0; round < 3; round++) {
        exchange_reset(x[0]);
        exchange_reset(x[1]);
        TAP_MPI(MPI_Startall(2, request));
        TAP_MPI(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
        all &= right(x[0], "persistent") & right(x[1], "persistent");
    }
    MPI_Request_free(&request[0]);
    MPI_Request_free(&request[1]);
    sample_free(x[0]);
    sample_free(x[1]);
    return all;
}
#endif

/* ---- */

static const struct {
    const char *name;
    bool (*test)(void);
} tests[] = {
    {"completed by MPI_Test", by_test},
    {"completed as MPI_Request_get_status says", by_get_status},
    {"several in flight, MPI_Waitall", by_waitall},
    {"several in flight, MPI_Wait in unlike orders", by_wait_backwards},
    {"several in flight, MPI_Waitany", by_waitany},
    {"several in flight, MPI_Testsome", by_testsome},
    {"100 in flight", many_in_flight},
    {"among blocking calls", among_blocking},
    {"among other collectives", among_collectives},
    {"among messages to any source and tag", among_messages},
    {"types freed in flight", types_freed},
    {"communicator freed in flight", communicator_freed},
    {"a start waits for nobody", start_is_local},
    {"started in opposite orders on two communicators", opposite_orders},
    {"progress while a rank is in MPI_Recv", progress_in_receive},
    {"progress while a rank is in MPI_Barrier", progress_in_barrier},
    {"a rank is late", late_rank},
    {"communicator duplicated in flight", dup_in_flight},
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
    {"persistent MPI_Allgatherv_init", persistent},
#endif
};

int main(int argc, char **argv)
{
    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    knob_begin();
    for (size_t t = 0; t < sizeof(tests) / sizeof(tests[0]); t++) {
        bool all = true;

        for (int i = 0; i < knob_settings_count(); i++) {
            knob_apply(&knob_settings[i]);
            key += 1000;
            all &= tests[t].test();
        }
        tap_check(all, fault, "%s", tests[t].name);
    }
    knob_end();
    return tap_end();
}
