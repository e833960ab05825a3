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
 * MPI_Iallgather and MPI_Allgather_init through coll/mleader: all variants, several calls in
 * flight among blocking ones, persistent requests that each rank starts in an order of its
 * own, communicators side by side, types and communicators freed in flight, and rows of all
 * that at random: N cases from SEED.
 */

#include "knob.h"
#include "leading.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FLIGHT 6
#define STRIDE 7 /* through the variants; prime to their number */
#define TOKEN 41

static uint64_t key = 70000;
static int turn;    /* the variant that comes next */
static int few = 1; /* only one in so many variants is tried */
static char fault[600];

static void fail(const char *text)
{
    if ('\0' == fault[0]) {
        snprintf(fault, sizeof(fault), "%.590s", text);
    }
}

static void report(const char *name)
{
    tap_check('\0' == fault[0], fault, "%s", name);
    fault[0] = '\0';
}

static void use_next_variant(void)
{
    leading_use(leading_variant(turn));
    turn = (turn + STRIDE) % LEADING_VARIANTS;
}

/* ---- calls ---- */

/** The n-th sample: sizes of one and of many slices, dense types and others, in place. */
static exchange_t *sample(MPI_Comm comm, int n)
{
    static const int units[] = {1, 12, 2400, 9001, 24, 7000, 600};
    const int count = units[n % 7];
    const bool dense = 0 != count % 12;
    leading_call_t call = {.comm = comm, .key = key++, .unit = 3, .units = count};

    if (!dense) {
        call.send = (n + tap_rank) % LEADING_LAYOUTS;
        call.recv = (n + 5 * tap_rank) % LEADING_LAYOUTS;
    }
    if (2 == n % 3) {
        call.send = LEADING_IN_PLACE;
    }
    return leading_exchange(&call);
}

static void judge(exchange_t *x, int code)
{
    if (MPI_SUCCESS != code) {
        fail("an error");
    } else if (!exchange_right(x)) {
        fail(x->fault);
    }
}

static void run_blocking(MPI_Comm comm, int n)
{
    exchange_t *x = sample(comm, n);

    use_next_variant();
    judge(x, exchange_run(x));
    leading_free(x);
}

static exchange_t *start(MPI_Comm comm, int n)
{
    exchange_t *x = sample(comm, n);

    use_next_variant();
    if (MPI_SUCCESS != exchange_start(x)) {
        fail("an error of a start");
    }
    return x;
}

static void end(exchange_t *x)
{
    judge(x, MPI_Wait(&x->request, MPI_STATUS_IGNORE));
    leading_free(x);
}

/** A communicator that is set up: nonblocking calls are served from now on. */
static MPI_Comm new_comm(size_t segment_size)
{
    MPI_Comm comm;

    leading_setup(segment_size);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    run_blocking(comm, 0);
    return comm;
}

/* ---- nonblocking calls ---- */

/** By all variants, each row of calls with several of them. */
static void try_flights(size_t segment_size)
{
    const uint64_t before = knob_counters("coll_mleader_calls_");
    MPI_Comm comm = new_comm(segment_size);
    uint64_t calls = 1;
    char name[120];

    for (int n = 0; n < LEADING_VARIANTS; n += (FLIGHT + 1) * few) {
        exchange_t *x[FLIGHT];

        for (int i = 0; i < FLIGHT; i++) {
            x[i] = start(comm, n + i);
            if (FLIGHT / 2 == i) {
                run_blocking(comm, n);
            }
        }
        for (int i = 0; i < FLIGHT; i++) {
            end(x[n % 2 ? i : FLIGHT - 1 - i]);
        }
        calls += FLIGHT + 1;
    }
    if (before + calls != knob_counters("coll_mleader_calls_")) {
        fail("some calls were left to the module below");
    }
    MPI_Comm_free(&comm);
    snprintf(name, sizeof(name), "nonblocking calls in flight, segment of %zu", segment_size);
    report(name);
}

/** Each rank starts when the one before it has started: nobody waits in a start. */
static void try_starts(void)
{
    MPI_Comm comm = new_comm(8192);

    for (int n = 0; n < 2 * tap_size; n++) {
        const int before = (tap_rank + tap_size - 1) % tap_size, after = (tap_rank + 1) % tap_size;
        const int first = n % tap_size;
        exchange_t *x[3];

        if (tap_rank != first) {
            MPI_Recv(NULL, 0, MPI_BYTE, before, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        for (int i = 0; i < 3; i++) {
            x[i] = start(comm, n + i);
        }
        if (after != first) {
            MPI_Send(NULL, 0, MPI_BYTE, after, TOKEN, MPI_COMM_WORLD);
        }
        for (int i = 0, flag = 0; i < 3; i++, flag = 0) {
            while (!flag) {
                MPI_Test(&x[i]->request, &flag, MPI_STATUS_IGNORE);
            }
            end(x[i]);
        }
    }
    MPI_Comm_free(&comm);
    report("ranks start one after the other");
}

/** Before a communicator is set up the module below serves. */
static void try_new(void)
{
    const uint64_t left = knob_counter("coll_mleader_fallback_early");
    MPI_Comm comm;

    leading_setup(65536);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    end(start(comm, 3));
    if (left + 1 != knob_counter("coll_mleader_fallback_early")) {
        fail("it was not left to the module below");
    }
    run_blocking(comm, 1);
    const uint64_t calls = knob_counters("coll_mleader_calls_");
    end(start(comm, 3));
    if (calls + 1 != knob_counters("coll_mleader_calls_")) {
        fail("it was left to the module below");
    }
    MPI_Comm_free(&comm);
    report("a nonblocking call before the first blocking one, and behind it");
}

/* ---- persistent requests ---- */

static exchange_t *init(MPI_Comm comm, int n)
{
    exchange_t *x = sample(comm, n);

    use_next_variant();
    if (MPI_SUCCESS != exchange_init(x)) {
        fail("an error of MPI_Allgather_init");
    }
    return x;
}

static void free_persistent(exchange_t *x)
{
    MPI_Request_free(&x->request);
    leading_free(x);
}

/** In an order of this rank's. */
static void start_all(exchange_t **x, int count, dice_t *own)
{
    int order[FLIGHT] = {0};

    dice_shuffle(own, order, count);
    for (int i = 0; i < count; i++) {
        exchange_reset(x[order[i]]);
        if (MPI_SUCCESS != MPI_Start(&x[order[i]]->request)) {
            fail("an error of MPI_Start");
        }
    }
}

static void wait_all(exchange_t **x, int count, dice_t *own)
{
    int order[FLIGHT] = {0};

    dice_shuffle(own, order, count);
    for (int i = 0; i < count; i++) {
        exchange_t *one = x[order[i]];
        judge(one, MPI_Wait(&one->request, MPI_STATUS_IGNORE));
    }
}

/** By all variants; started several times, with other calls meanwhile. */
static void try_persistent(size_t segment_size)
{
    dice_t own = dice_from(8, segment_size, (uint64_t) tap_rank);
    MPI_Comm comm = new_comm(segment_size);
    const int mapped = leading_mappings(LEADING_SEGMENT);
    const uint64_t before = knob_counters("coll_mleader_calls_");
    uint64_t calls = 0;
    char name[120];

    for (int n = 0; n < LEADING_VARIANTS; n += FLIGHT * few) {
        exchange_t *x[FLIGHT], *y;

        for (int i = 0; i < FLIGHT; i++) {
            x[i] = init(comm, n + i);
        }
        for (int again = 0; again < 3; again++) {
            start_all(x, FLIGHT, &own);
            y = start(comm, n + again);
            run_blocking(comm, n + again);
            wait_all(x, FLIGHT, &own);
            end(y);
            calls += FLIGHT + 2;
        }
        for (int i = 0; i < FLIGHT; i++) {
            free_persistent(x[i]);
        }
    }
    if (before + calls != knob_counters("coll_mleader_calls_")) {
        fail("some calls were left to the module below");
    }
    if (mapped != leading_mappings(LEADING_SEGMENT)) {
        fail("segments stay mapped");
    }
    MPI_Comm_free(&comm);
    snprintf(name, sizeof(name), "persistent requests, segment of %zu", segment_size);
    report(name);
}

/** The first call of a communicator may be a persistent one, which sets it up for itself. */
static void try_first(void)
{
    const uint64_t before = knob_counters("coll_mleader_calls_");
    const int mapped = leading_mappings(LEADING_SEGMENT);
    MPI_Comm comm;

    leading_setup(65536);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    exchange_t *x = init(comm, 3);
    for (int n = 0; n < 3; n++) {
        exchange_reset(x);
        MPI_Start(&x->request);
        judge(x, MPI_Wait(&x->request, MPI_STATUS_IGNORE));
        knob_set("coll_mleader_allgather_algorithm", 0 == n ? KNOB_AUTO : KNOB_LEADERS);
        exchange_t *y = sample(comm, n);
        judge(y, exchange_run(y));
        leading_free(y);
    }
    if (before + 3 > knob_counters("coll_mleader_calls_")) {
        fail("it was left to the module below");
    }
    free_persistent(x);
    MPI_Comm_free(&comm);
    if (mapped != leading_mappings(LEADING_SEGMENT)) {
        fail("segments stay mapped");
    }
    report("a persistent request on a new communicator");
}

/* ---- what is freed in flight ---- */

/** Another type takes the place of one that is freed, maybe in memory, too. */
static void replace_type(layout_t *layout)
{
    MPI_Type_free(&layout->type);
    MPI_Type_vector(2, 1, 5, MPI_CHAR, &layout->type);
    MPI_Type_commit(&layout->type);
}

static void free_types(exchange_t *x)
{
    if (NULL != x->send) {
        replace_type(x->send);
    }
    replace_type(x->recv);
}

/** Units of which types are derived ones. */
static exchange_t *derived(MPI_Comm comm, int n)
{
    const leading_call_t call = {.comm = comm,
                                 .key = key++,
                                 .unit = 3,
                                 .units = 2400,
                                 .send = 0 == n ? LEADING_IN_PLACE : 1 + n % 5,
                                 .recv = 1 + (n + 2) % 5};
    return leading_exchange(&call);
}

static void try_frees(size_t segment_size)
{
    MPI_Comm comm = new_comm(segment_size);
    exchange_t *x[FLIGHT], *again = derived(comm, 1);
    char name[120];

    use_next_variant();
    TAP_MPI(exchange_init(again));
    free_types(again);
    for (int i = 0; i < FLIGHT; i++) {
        x[i] = derived(comm, i);
        use_next_variant();
        TAP_MPI(exchange_start(x[i]));
        free_types(x[i]);
    }
    MPI_Comm_free(&comm);
    for (int n = 0; n < 2; n++) {
        exchange_reset(again);
        TAP_MPI(MPI_Start(&again->request));
        judge(again, MPI_Wait(&again->request, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < FLIGHT; i++) {
        end(x[i]);
    }
    free_persistent(again);
    snprintf(name, sizeof(name), "types and communicator freed in flight, segment of %zu",
             segment_size);
    report(name);
}

/* ---- rows ---- */

typedef struct row_t {
    dice_t shared, own;
    MPI_Comm comm[2];
    exchange_t *persistent[2];
    bool started[2];
    exchange_t *flight[FLIGHT]; /* NULL: none */
} row_t;

static void sleep_some(dice_t *dice)
{
    const struct timespec pause = {.tv_nsec = 1000L * dice_roll(dice, 300)};

    nanosleep(&pause, NULL);
}

static void start_persistent(row_t *row, int i)
{
    if (!row->started[i]) {
        exchange_reset(row->persistent[i]);
        TAP_MPI(MPI_Start(&row->persistent[i]->request));
        row->started[i] = true;
    }
}

static void end_persistent(row_t *row, int i)
{
    if (row->started[i]) {
        judge(row->persistent[i],
              MPI_Wait(&row->persistent[i]->request, MPI_STATUS_IGNORE));
        row->started[i] = false;
    }
}

/** What all ranks do in the same order; waits are each rank's own, and are possible anywhere. */
static void step(row_t *row)
{
    MPI_Comm comm = row->comm[dice_roll(&row->shared, 2)];
    const int n = dice_roll(&row->shared, 42), slot = dice_roll(&row->shared, FLIGHT);

    if (dice_once_in(&row->own, 6)) {
        sleep_some(&row->own);
    }
    if (dice_once_in(&row->shared, 3)) {
        run_blocking(comm, n);
        return;
    }
    if (dice_once_in(&row->shared, 3)) {
        end_persistent(row, 0);
        end_persistent(row, 1);
        const int first = dice_roll(&row->own, 2);
        start_persistent(row, first);
        start_persistent(row, 1 - first);
        return;
    }
    if (NULL != row->flight[slot]) {
        end(row->flight[slot]);
    }
    row->flight[slot] = start(comm, n);
}

static void run_row(uint64_t seed, int number)
{
    static const size_t segments[] = {0, 8192, 65536, 2 << 20};
    row_t row = {.shared = dice_from(seed, (uint64_t) number, 0),
                 .own = dice_from(seed, (uint64_t) number, 1 + (uint64_t) tap_rank)};

    for (int i = 0; i < 2; i++) {
        const size_t size = segments[dice_roll(&row.shared, 4)];
        row.comm[i] = new_comm(size);
        row.persistent[i] = init(row.comm[i], dice_roll(&row.shared, 42));
    }
    for (int n = 0; n < 30; n++) {
        step(&row);
    }
    for (int i = 0; i < FLIGHT; i++) {
        if (NULL != row.flight[i]) {
            end(row.flight[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        end_persistent(&row, i);
        free_persistent(row.persistent[i]);
        MPI_Comm_free(&row.comm[i]);
    }
}

static void try_rows(void)
{
    const uint64_t seed = (uint64_t) tap_number("SEED", 1);
    const int cases = (int) tap_number("N", 20);
    char name[120];

    for (int number = 0; number < cases; number++) {
        turn = number % LEADING_VARIANTS;
        run_row(seed, number);
        if ('\0' != fault[0]) {
            tap_note("case %d", number);
            break;
        }
    }
    snprintf(name, sizeof(name), "rows of all calls, cases 0 to %d of seed %llu", cases - 1,
             (unsigned long long) seed);
    report(name);
}

int main(int argc, char **argv)
{
    static const size_t segments[] = {8192, 65536, 2 << 20, 0};

    leading_begin(&argc, &argv, MPI_THREAD_SINGLE);
    few = (int) tap_number("FEW", 1);
    try_new();
    try_starts();
    for (int i = 0; i < 4; i++) {
        try_flights(segments[i]);
        try_persistent(segments[i]);
        try_frees(segments[i]);
    }
    try_first();
    try_rows();
    return leading_end();
}
