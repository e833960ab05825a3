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
 * The clock of a stream, as blocks come one by one or several at once: what it finds against all
 * arrivals, the first quarter left out; a pace that is the same all the time; and disturbances,
 * which never make links look faster.
 */

#include "coll_pipering_engine_steps.h"

#include <math.h>
#include <string.h>

#include "coll_pipering_clock.h"
#include "tap.h"

#define MOST 400

static double now;

double mca_coll_pipering_now(void)
{
    return now;
}

/** When each block came, in seconds; several may come at once. */
typedef struct stream_t {
    uint64_t blocks;
    double came[MOST];
} stream_t;

/* The engine notes the blocks that have come since it looked last. */
static double clock_of(const stream_t *stream)
{
    mca_coll_pipering_clock_t clock;

    memset(&clock, 0, sizeof(clock));
    for (uint64_t i = 0; i < stream->blocks; i++) {
        now = stream->came[i];
        if (i + 1 == stream->blocks || now < stream->came[i + 1]) {
            mca_coll_pipering_clock_note(&clock, i + 1, stream->blocks);
        }
    }
    return clock.least;
}

static void fill(stream_t *stream, uint64_t blocks, double pace)
{
    stream->blocks = blocks;
    for (uint64_t i = 0; i < blocks; i++) {
        stream->came[i] = 1 + (double) i * pace;
    }
}

/* Blocks after a pause, or all of them, come so much later. */
static void delay(stream_t *stream, uint64_t from, double seconds)
{
    for (uint64_t i = from; i < stream->blocks; i++) {
        stream->came[i] += seconds;
    }
}

/* Blocks [from, to) come together with the last of them. */
static void gather(stream_t *stream, uint64_t from, uint64_t to)
{
    for (uint64_t i = from; i < to; i++) {
        stream->came[i] = stream->came[to - 1];
    }
}

/* The least of all spans from the first look in a quarter to that in another; not of the first. */
static double wanted(const stream_t *stream)
{
    uint64_t from = 0;
    double least = 0;

    for (int quarter = 1; quarter <= 4; quarter++) {
        uint64_t k = (quarter * stream->blocks + 3) / 4; /* blocks that begin it */
        while (k < stream->blocks && stream->came[k] == stream->came[k - 1]) {
            k++;
        }
        if (4 * k / stream->blocks != (uint64_t) quarter) {
            continue; /* nobody has looked in it */
        }
        if (0 < from) {
            const double pace = (stream->came[k - 1] - stream->came[from - 1])
                                / (double) (k - from);
            least = 0 == least ? pace : fmin(least, pace);
        }
        from = k;
    }
    return least;
}

static void test_pace(void)
{
    tap_tally_t steady = {0, 0}, first = {0, 0};
    static stream_t stream;

    for (uint64_t blocks = 4; blocks < MOST; blocks++) {
        const double pace = 1e-6 * tap_between(1, 1000);
        fill(&stream, blocks, pace);
        tap_try(&steady, tap_near(clock_of(&stream), pace), "%d blocks of %g s: %g",
                (int) blocks, pace, clock_of(&stream));
        gather(&stream, 0, (blocks + 3) / 4);
        delay(&stream, 0, 1);
        tap_try(&first, tap_near(clock_of(&stream), pace), "%d blocks of %g s: %g",
                (int) blocks, pace, clock_of(&stream));
    }
    tally_ok(&steady, 300, "a steady stream has its pace");
    tally_ok(&first, 300, "also if its first quarter was waiting");
}

/* As blocks come; then somebody is late, which may only lengthen it. */
static void test_disturbed(void)
{
    tap_tally_t found = {0, 0}, longer = {0, 0}, least = {0, 0};
    static stream_t stream;

    for (int i = 0; i < 20000; i++) {
        const double pace = 1e-6 * tap_between(1, 1000);
        fill(&stream, (uint64_t) tap_between(1, MOST), pace);
        for (uint64_t k = 1; k < stream.blocks; k++) {
            if (tap_once_in(10)) {
                delay(&stream, k, pace * tap_between(1, 50));
            }
        }
        tap_try(&least, 0 == clock_of(&stream) || clock_of(&stream) >= pace * (1 - 1e-9),
                "%d blocks of %g s, delayed: %g", (int) stream.blocks, pace, clock_of(&stream));
        const double before = clock_of(&stream);
        delay(&stream, tap_below(stream.blocks), pace * tap_between(1, 1000));
        tap_try(&longer, clock_of(&stream) >= before * (1 - 1e-9), "%d blocks: %g, then %g",
                (int) stream.blocks, before, clock_of(&stream));
        for (int k = tap_between(0, 4); 0 < k; k--) {
            const uint64_t from = tap_below(stream.blocks);
            gather(&stream, from, from + 1 + tap_below(stream.blocks - from));
        }
        tap_try(&found, tap_near(clock_of(&stream), wanted(&stream)), "%d blocks: %g, not %g",
                (int) stream.blocks, clock_of(&stream), wanted(&stream));
    }
    tally_ok(&least, 20000, "delays never make a stream look faster than its links");
    tally_ok(&longer, 20000, "nor one more than the others");
    tally_ok(&found, 20000, "the least of the quarters but the first counts, as blocks are seen");
}

int main(void)
{
    tap_start();
    test_pace();
    test_disturbed();
    return tap_end();
}
