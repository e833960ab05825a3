/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Cells as lines, and random counts. */

#include "agv_dist.h"
#include "kernel_cell.h"
#include "tap.h"

#include <math.h>
#include <string.h>

static kernel_cell_t cell;
static char error[KERNEL_NOTE];

static void test_call(void)
{
    const bool good = kernel_cell_parse(&cell,
                                        "cell=r1.3 kind=call collective=allgatherv dist=spike "
                                        "total=64K reps=11 warmup=2 budget=2.5 "
                                        "set=coll_pipering_processors:40,x:a+b\n",
                                        error);

    ok(good && 0 == strcmp("r1.3", cell.id) && KERNEL_CALL == cell.problem.kind
           && 0 == strcmp("allgatherv", cell.problem.name) && 65536 == cell.problem.bytes
           && 11 == cell.reps && 2 == cell.warmup && 2.5 == cell.budget
           && 0 == strcmp("coll_pipering_processors:40,x:a+b", cell.settings),
       "all of a call is read");
}

static void test_task(void)
{
    const bool good = kernel_cell_parse(&cell, "cell=t kind=task task=stream scope=intra "
                                               "direction=all bytes=0 reps=3", error);

    ok(good && KERNEL_TASK == cell.problem.kind && KERNEL_INTRA == cell.problem.scope
           && KERNEL_ALL == cell.problem.direction && 0 == cell.problem.bytes
           && 3 == cell.reps && 0.0 == cell.budget,
       "all of a task is read, with defaults");
}

/* Each lacks something, or has it wrong; the sentence must say which. */
static void test_refused(void)
{
    static const struct {
        const char *line, *says;
    } wrong[] = {{"kind=call collective=bcast total=8", "cell"},
                 {"cell=1 collective=bcast total=8", "kind"},
                 {"cell=1 kind=call total=8", "collective"},
                 {"cell=1 kind=call collective=bcast", "total"},
                 {"cell=1 kind=dance collective=bcast total=8", "call, task"},
                 {"cell=1 kind=call collective=bcast total=3G", "from 1 to"},
                 {"cell=1 kind=call collective=bcast total=-8", "from 1 to"},
                 {"cell=1 kind=call collective=bcast total=8X", "number"},
                 {"cell=1 kind=call collective=bcast total=nan", "number"},
                 {"cell=1 kind=call collective=bcast total=8 reps=0", "reps"},
                 {"cell=1 kind=call collective=bcast total=8 budget=-2", "budget"},
                 {"cell=1 kind=call collective=bcast total=8 nonsense=2", "no such key"},
                 {"cell=1 kind=call collective=bcast total=8 word", "KEY=VALUE"},
                 {"cell= kind=call collective=bcast total=8", "cell="},
                 {"cell=1 kind=task task=echo bytes=8 scope=outer", "inter, intra, rank"}};
    tap_tally_t refused = {0, 0};

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
        strcpy(error, "");
        tap_try(&refused,
                !kernel_cell_parse(&cell, wrong[i].line, error)
                    && NULL != strstr(error, wrong[i].says),
                "\"%s\": %s", wrong[i].line, error);
    }
    tally_ok(&refused, 15, "a line that cannot be is refused with a reason");
    ok(!kernel_cell_parse(&cell, "cell=12 kind=call collective=bcast total=x", error)
           && 0 == strcmp("12", cell.id), "whose cell is known nevertheless");
}

static void test_long(void)
{
    static char line[3 * KERNEL_LINE];

    memset(line, 'x', sizeof(line) - 1);
    memcpy(line, "cell=1 set=", 11);
    ok(!kernel_cell_parse(&cell, line, error), "a line without end is refused");
    memset(line, '\0', sizeof(line));
    memset(line, 'y', KERNEL_WORD + 5);
    memcpy(line, "cell=", 5);
    ok(!kernel_cell_parse(&cell, line, error), "so is a word without end");
}

/* Bytes of all kinds, and lines with a byte changed. The sanitizers watch. */
static void test_garbage(void)
{
    static const char good[] = "cell=1 kind=call collective=bcast total=64K reps=5 set=a:b seed=3";
    tap_tally_t survived = {0, 0};

    for (int i = 0; i < 20000; ++i) {
        char line[sizeof(good)];

        memcpy(line, good, sizeof(good));
        for (int k = 0; k <= i % 5; ++k) {
            line[tap_random() % (sizeof(good) - 1)] = (char) (1 + tap_random() % 255);
        }
        strcpy(error, "");
        const bool taken = kernel_cell_parse(&cell, line, error);
        tap_try(&survived, taken || '\0' != *error, "\"%s\"", line);
    }
    tally_ok(&survived, 20000, "garbage is taken or refused with a reason");
}

/* Problems that are equal byte by byte share their data, so nothing may be left from before. */
static void test_problems(void)
{
    kernel_cell_t other;

    memset(&cell, 0x55, sizeof(cell));
    memset(&other, 0xaa, sizeof(other));
    kernel_cell_parse(&cell, "cell=1 kind=call collective=bcast total=8 set=a:b", error);
    kernel_cell_parse(&other, "cell=2 kind=call collective=bcast total=8 reps=3", error);
    ok(0 == memcmp(&cell.problem, &other.problem, sizeof(cell.problem)),
       "cells that differ in their settings have the same problem");
}

/* ---- random counts */

static void test_counts(void)
{
    tap_tally_t right = {0, 0};
    size_t bytes[300];
    char name[64];

    for (int i = 0; i < 1000; ++i) {
        const int p = 2 + (int) (tap_random() % 299);
        const int contributors = 1 + (int) (tap_random() % (uint64_t) p);
        const double share = 1 == contributors ? 1.0 : 0.02 + 0.97 * (double) (i % 100) / 100.0;
        const size_t units = 400000;
        size_t total = 0, first = 0;
        int found = 0;

        snprintf(name, sizeof(name), "random:%d:%g~%d", contributors, share, i);
        const bool known = agv_dist_fill(name, p, NULL, units, 4, bytes);
        for (int r = 0; known && r < p; ++r) {
            total += bytes[r];
            found += 0 < bytes[r];
            first = fabs((double) bytes[r] - 4.0 * share * (double) units)
                            < fabs((double) first - 4.0 * share * (double) units)
                        ? bytes[r] : first;
        }
        tap_try(&right, known && 4 * units == total && contributors == found
                            && fabs((double) first - 4.0 * share * (double) units) <= 8.0,
                "%s of %d ranks: %d of them, %zu bytes", name, p, found, total);
    }
    tally_ok(&right, 1000, "random counts have as many contributors, and a part, as they say");
    ok(!agv_dist_fill("random:9:0.5", 8, NULL, 100, 1, bytes)
           && !agv_dist_fill("random:0:0.5", 8, NULL, 100, 1, bytes)
           && !agv_dist_fill("random:2:0", 8, NULL, 100, 1, bytes)
           && !agv_dist_fill("random:2:1.5", 8, NULL, 100, 1, bytes)
           && !agv_dist_fill("random:2", 8, NULL, 100, 1, bytes)
           && !agv_dist_fill("random:2:0.5x", 8, NULL, 100, 1, bytes),
       "counts that cannot be are refused");
}

/* Arms that take turns: none is first more often than another, none always behind the same. */
static void test_order(void)
{
    for (int count = 1; count < 8; ++count) {
        int first[8] = {0}, behind[8][8] = {{0}};
        bool all = true, even = true;

        for (int turn = 0; turn < 2 * count; ++turn) {
            unsigned seen = 0;

            for (int i = 0; i < count; ++i) {
                const int arm = kernel_order(turn, i, count);

                seen |= 1u << arm;
                ++behind[arm][kernel_order(turn, (i + 1) % count, count)];
            }
            all = all && (1u << count) - 1 == seen;
            ++first[kernel_order(turn, 0, count)];
        }
        for (int i = 0; i < count; ++i) {
            even = even && 2 == first[i]
                   && (3 > count || 2 * count > behind[i][(i + 1) % count]);
        }
        ok(all && even, "%d arms take turns", count);
    }
}

int main(void)
{
    tap_start();
    test_call();
    test_task();
    test_refused();
    test_long();
    test_garbage();
    test_problems();
    test_counts();
    test_order();
    return tap_end();
}
