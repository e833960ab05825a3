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
 * Turns of coll/mleader's ranks at the halves of a segment, in all orders that ranks can
 * run in: no byte is written while another rank may write or read it.
 *
 * Ranks are coroutines in the component's own calls (see posing.h), some of which wait, and
 * others are moved by whoever waits. All that they wait
 * for is a message of a certain rank, or a value of a counter with one writer; so what
 * is certain to happen before what is the same in all runs, and one run shows it: by
 * vector clocks, where a rank that waits learns what the writer of the counter knew when
 * it came to the value that is waited for, though it may have come further by then. Each
 * byte of a segment remembers who has touched it when, and who is at it still.
 */

#include <limits.h>
#include <string.h>
#include <ucontext.h>

#include "cast.h"
#include "ref.h"
#include "tap.h"

#define STACK 131072
#define HISTORY 64 /* values of a counter that somebody may still wait for */
#define COUNTERS (2 * POSING_RANKS)
#define HALF 480
#define PATIENCE 500 /* seconds */
#define BORED 5000   /* turns in which nothing happens */
#define OPEN UINT_MAX

/** A byte of a segment: moments of ranks. */
typedef struct byte_t {
    int writer;
    unsigned written; /* 0: by nobody; OPEN: still */
    unsigned read[POSING_RANKS], reading[POSING_RANKS];
} byte_t;

/** The last values of a counter, and what its writer knew. */
typedef struct history_t {
    unsigned values;
    struct {
        uint64_t value;
        unsigned clock[POSING_RANKS];
    } last[HISTORY];
} history_t;

typedef struct stage_t {
    cast_t *cast;
    const cast_call_t *calls;
    int count;
    byte_t byte[POSING_RANKS][2 * HALF];
    history_t history[POSING_RANKS][COUNTERS];
    ucontext_t director, actor[POSING_RANKS];
    bool ended[POSING_RANKS];
    unsigned long events;
    char fault[200];
} stage_t;

static stage_t stage;
static bool failing; /* whoever looks at a counter next gets an error */
static char stack[POSING_RANKS][STACK];

static void blame(const char *what, const ompi_communicator_t *comm, int other)
{
    if ('\0' == stage.fault[0]) {
        snprintf(stage.fault, sizeof(stage.fault), "rank %d in slice %" PRIu64 ": %s %d",
                 comm->rank, stage.cast->topology[comm->rank].shared.moved, what, other);
    }
}

/* ---- bytes ---- */

/* The node whose halves have an address, or -1. */
static int node_of(const void *memory, size_t *at)
{
    for (int node = 0; node < stage.cast->topology[0].nodes; node++) {
        const cast_segment_t *segment = &stage.cast->segment[node];
        const char *halves = segment->memory + segment->header;

        if (halves <= (const char *) memory
            && (const char *) memory < segment->memory + segment->size) {
            *at = (size_t) ((const char *) memory - halves);
            return node;
        }
    }
    return -1;
}

static void begin_byte(const ompi_communicator_t *comm, byte_t *byte, bool write)
{
    if (byte->written > comm->clock[byte->writer]) {
        blame(write ? "writes what is written by" : "reads what is written by", comm,
              byte->writer);
    }
    for (int r = 0; write && r < comm->size; r++) {
        if (0 < byte->reading[r] || byte->read[r] > comm->clock[r]) {
            blame("writes what is read by", comm, r);
        }
    }
    if (write) {
        byte->writer = comm->rank;
        byte->written = OPEN;
    } else {
        byte->reading[comm->rank]++;
    }
}

static void end_byte(const ompi_communicator_t *comm, byte_t *byte, bool write)
{
    if (write) {
        byte->written = comm->clock[comm->rank];
    } else {
        byte->reading[comm->rank]--;
        byte->read[comm->rank] = comm->clock[comm->rank];
    }
}

static void touch(ompi_communicator_t *comm, const void *memory, size_t bytes, bool write,
                  bool begin)
{
    size_t at = 0;
    const int node = node_of(memory, &at);

    stage.events++;
    if (0 <= node && at + bytes > 2 * HALF) {
        blame("leaves the segment", comm, node);
        return;
    }
    for (size_t k = at; 0 <= node && k < at + bytes; k++) {
        begin ? begin_byte(comm, &stage.byte[node][k], write)
              : end_byte(comm, &stage.byte[node][k], write);
    }
}

/* ---- the component's functions, looked at on their way (ld --wrap) ---- */

int __real_mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area);
int __wrap_mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area);
int __real_mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from,
                                    int to);
int __wrap_mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from,
                                    int to);
void __real_mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value);
void __wrap_mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value);
int __real_mca_coll_mleader_look(const mca_coll_mleader_call_t *call,
                                 const mca_coll_mleader_counter_t *counter, uint64_t value);
int __wrap_mca_coll_mleader_look(const mca_coll_mleader_call_t *call,
                                 const mca_coll_mleader_counter_t *counter, uint64_t value);

int __wrap_mca_coll_mleader_put_own(mca_coll_mleader_call_t *call, char *area)
{
    const int position = call->grouping->groups.position[call->comm->rank];
    const char *place = area + (size_t) position * call->length;

    touch(call->comm, place, call->length, true, true);
    const int code = __real_mca_coll_mleader_put_own(call, area);
    posing_idle();
    touch(call->comm, place, call->length, true, false);
    return code;
}

int __wrap_mca_coll_mleader_deliver(mca_coll_mleader_call_t *call, const char *area, int from,
                                    int to)
{
    const char *place = area + (size_t) from * call->length;
    const size_t bytes = (size_t) (to - from) * call->length;

    touch(call->comm, place, bytes, false, true);
    posing_idle();
    const int code = __real_mca_coll_mleader_deliver(call, area, from, to);
    touch(call->comm, place, bytes, false, false);
    return code;
}

static history_t *history_of(const mca_coll_mleader_counter_t *counter)
{
    const mca_coll_mleader_topology_t *topology = &stage.cast->topology[posing_me->rank];
    return &stage.history[topology->grouping[0].node][counter - topology->shared.written];
}

void __wrap_mca_coll_mleader_set(mca_coll_mleader_counter_t *counter, uint64_t value)
{
    history_t *history = history_of(counter);
    const unsigned next = history->values++ % HISTORY;

    stage.events++;
    history->last[next].value = value;
    memcpy(history->last[next].clock, posing_me->clock, sizeof(posing_me->clock));
    posing_tick(posing_me);
    __real_mca_coll_mleader_set(counter, value);
}

/* Learns of the first value that would do, and of no later one. */
int __wrap_mca_coll_mleader_look(const mca_coll_mleader_call_t *call,
                                 const mca_coll_mleader_counter_t *counter, uint64_t value)
{
    const history_t *history = history_of(counter);
    int first = -1;

    if (failing) {
        failing = false;
        return OMPI_ERROR;
    }
    const int rc = __real_mca_coll_mleader_look(call, counter, value);
    for (unsigned n = 0; OMPI_SUCCESS == rc && n < history->values && n < HISTORY; n++) {
        const int at = (int) ((history->values - 1 - n) % HISTORY);

        if (history->last[at].value - value > UINT64_MAX / 2) {
            break;
        }
        first = at;
    }
    if (0 <= first) {
        posing_learn(posing_me, history->last[first].clock);
    }
    return rc;
}

/* ---- the play ---- */

static void idle(void)
{
    const int me = posing_me->rank;
    swapcontext(&stage.actor[me], &stage.director);
}

static void act(int me)
{
    const char *fault = cast_act(stage.cast, me, stage.calls, stage.count);

    if (NULL != fault) {
        blame(fault, posing_me, me);
    }
    stage.ended[me] = true;
    stage.events++;
}

static void enter(int me)
{
    ucontext_t *actor = &stage.actor[me];

    getcontext(actor);
    actor->uc_stack.ss_sp = stack[me];
    actor->uc_stack.ss_size = STACK;
    actor->uc_link = &stage.director;
    makecontext(actor, (void (*)(void)) act, 1, me);
}

/* Runs calls on all ranks; false with a fault. */
static bool play(cast_t *cast, const cast_call_t *calls, int count)
{
    const int ranks = cast->layout.ranks;
    unsigned long events = 0, bored = 0;

    memset(&stage, 0, sizeof(stage));
    stage.cast = cast;
    stage.calls = calls;
    stage.count = count;
    for (int r = 0; r < ranks; r++) {
        enter(r);
    }
    for (int left = ranks; 0 < left && '\0' == stage.fault[0] && BORED > bored;) {
        const int r = tap_between(0, ranks - 1);

        if (!stage.ended[r]) {
            posing_me = &cast->comm[r];
            swapcontext(&stage.director, &stage.actor[r]);
            left -= stage.ended[r];
        }
        bored = events == stage.events ? bored + 1 : 0;
        events = stage.events;
    }
    if (BORED == bored) {
        blame("nobody goes on, nor does", &cast->comm[0], 0);
    }
    return '\0' == stage.fault[0];
}

/* A layout and calls; what is left by ranks that do not end is not looked for. */
static void try_play(tap_tally_t *tally, cast_t *cast, const cast_call_t *calls, int count)
{
    const bool right = play(cast, calls, count);

    tap_try(tally, right && cast_close(cast), "%s: %s", cast_show(cast),
            right ? "messages are left" : stage.fault);
}

/* ---- all rows of three variants ---- */

#define VARIANTS 8

/* The shortest row that has all rows of three among `kinds` (de Bruijn), and its length. */
static int make_row(int kinds, int *row)
{
    bool used[VARIANTS * VARIANTS * VARIANTS] = {false};
    const int all = kinds * kinds * kinds;
    int length = 2;

    row[0] = row[1] = 0;
    for (; length < all + 2; length++) {
        int next = kinds - 1;

        while (used[(row[length - 2] * kinds + row[length - 1]) * kinds + next]) {
            next--;
        }
        used[(row[length - 2] * kinds + row[length - 1]) * kinds + next] = true;
        row[length] = next;
    }
    return length;
}

/* Calls of one slice each, so that three calls are three slices. */
static int make_calls(const cast_t *cast, cast_call_t *calls)
{
    int row[VARIANTS * VARIANTS * VARIANTS + 2];
    const bool lanes = 1 < cast->topology[0].grouping[0].groups.lanes;
    const int count = make_row(lanes ? VARIANTS : VARIANTS / 2, row);

    for (int i = 0; i < count; i++) {
        calls[i] = cast_roll_call(cast, 1);
        calls[i].variant.aggregation = (mca_coll_mleader_inside_t) (row[i] % 4);
        calls[i].variant.lanes = row[i] / 4;
        calls[i].grouping = calls[i].variant.lanes ? 0 : calls[i].grouping;
        calls[i].bytes = calls[i].slice_size = (size_t) tap_between(1, 4);
        calls[i].message_size = cast_message(cast, calls[i].slice_size);
    }
    return count;
}

static void try_rows(tap_tally_t *tally, const cast_t *layout)
{
    static cast_call_t calls[VARIANTS * VARIANTS * VARIANTS + 2];
    cast_t cast = *layout;

    cast_open(&cast, HALF, 0);
    const int count = make_calls(&cast, calls);
    try_play(tally, &cast, calls, count);
}

/* Up to 3 ranks in any groups, on any nodes; and some more. */
static void test_rows(void)
{
    tap_tally_t tally = {0, 0};
    cast_t cast;

    for (int ranks = 2; ranks <= 3; ranks++) {
        cast_roll(&cast, ranks, 1);
        memset(cast.node_of, 0, sizeof(cast.node_of));
        do {
            memset(cast.list_of, 0, sizeof(cast.list_of));
            do {
                try_rows(&tally, &cast);
            } while (ref_next_division(cast.list_of, ranks));
        } while (ref_next_division(cast.node_of, ranks));
    }
    for (int n = 0; n < 4; n++) {
        cast_roll(&cast, tap_between(4, 6), tap_between(1, 2));
        try_rows(&tally, &cast);
    }
    tally_ok(&tally, 20, "all rows of three variants");
}

/* ---- random ones ---- */

static void try_random(tap_tally_t *tally, int ranks, uint64_t slices)
{
    cast_call_t calls[40];
    cast_t cast;

    cast_roll(&cast, ranks, tap_between(1, 4));
    cast_open(&cast, HALF, slices);
    for (int i = 0; i < 40; i++) {
        calls[i] = 0 < i && tap_once_in(2) ? cast_again(&cast, &calls[i - 1])
                                           : cast_roll_call(&cast, 5);
    }
    try_play(tally, &cast, calls, 40);
}

/* Some begin near the numbers of slices where counters of any width begin anew. */
static void test_random(void)
{
    tap_tally_t tally = {0, 0};

    for (int n = 0; n < 60; n++) {
        try_random(&tally, tap_between(2, 12), tap_below(2));
    }
    for (int bits = 8; bits <= 64; bits++) {
        const uint64_t end = 64 == bits ? 0 : UINT64_C(1) << bits;

        try_random(&tally, tap_between(2, 6), end - tap_below(50));
    }
    tally_ok(&tally, 60 + 57, "random groups, variants and sizes, calls of many slices");
}

/* ---- calls that fail ---- */

static void do_nothing(void)
{
}

/*
 * A rank alone, which waits for its leader in its first call. The calls behind one that fails
 * fail, too, a later one does not, and the numbers of slices are those of ranks where all goes
 * well.
 */
static void test_failure(void)
{
    const mca_coll_mleader_variant_t variant = {.aggregation = MCA_COLL_MLEADER_SHM};
    const cast_call_t call = {.variant = variant, .bytes = 9, .slice_size = 4, .message_size = 4};
    mca_coll_mleader_shared_t *shared;
    cast_t cast;

    cast_roll(&cast, 2, 1);
    memset(cast.list_of, 0, sizeof(cast.list_of));
    cast_open(&cast, HALF, 7);
    memset(&stage, 0, sizeof(stage));
    stage.cast = &cast;
    posing_me = &cast.comm[1];
    posing_idle = do_nothing;
    shared = &cast.topology[1].shared;
    cast_start(&cast, 1, &call);
    mca_coll_mleader_shared_skip(shared, 5);
    cast_start(&cast, 1, &call);
    cast_start(&cast, 1, &call);
    opal_progress();
    ok(7 == shared->moved && 0 == cast.errors[1], "a call that waits for its leader goes on");
    failing = true;
    opal_progress();
    ok(3 == cast.errors[1], "those behind a call that fails fail, too");
    ok(21 == shared->moved && 21 == shared->taken, "all slices count");
    cast_start(&cast, 1, &call);
    opal_progress();
    ok(3 == cast.errors[1] && NULL != cast.run[1], "a later call begins anew");
    failing = true;
    opal_progress();
    cast_close(&cast);
    posing_idle = idle;
}

int main(void)
{
    tap_start();
    alarm(PATIENCE);
    posing_idle = idle;
    posing_touch = touch;
    test_rows();
    test_random();
    test_failure();
    return tap_end();
}
