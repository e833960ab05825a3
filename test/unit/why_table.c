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
 * The table of a program's calls against a list that is searched from its beginning; and that it
 * stays within its bounds, loses no call, and has the form that pipering-why reads.
 */

#include "why_table.h"
#include "tap.h"

#include <string.h>

#define CALLS 20000
#define KINDS 40 /* few enough for all of them to find a place */

static why_table_t *new_table(void)
{
    const why_owner_t owner
        = {.job = 7, .rank = 3, .host = "node", .release = "5.0", .began = 1.5};
    why_table_t *table = tap_memory(sizeof(*table));

    memset(table, 0, sizeof(*table));
    why_table_begin(table, &owner);
    return table;
}

static void test_form(void)
{
    why_table_t *table = new_table();

    ok(0 == strcmp(table->magic, WHY_MAGIC), "a table says what it is");
    is(offsetof(why_table_t, record), 200, "its header has the size that pipering-why expects");
    is(sizeof(table->record[0]), 192, "its records have, too");
    is((char *) &table->record[table->places] - (char *) table, sizeof(*table),
       "records fill the rest");
    ok(7 == table->job && 3 == table->rank && 0 == strcmp("node", table->host)
           && 0 == strcmp("5.0", table->release) && 1.5 == table->began && 0 == table->ended,
       "it says whose it is");
    free(table);
}

/* ---- classes ---- */

static why_class_t class_of(uint64_t bytes, uint64_t largest, uint32_t contributors)
{
    const why_shape_t shape = {.bytes = bytes, .largest = largest, .contributors = contributors};

    return why_class("allgatherv", "small", 8, &shape);
}

/* Sizes are alike from a power of two to the next. */
static void test_octaves(void)
{
    bool right = 0 == class_of(0, 0, 0).bytes_octave;

    for (int k = 0; k < 64; ++k) {
        const uint64_t power = UINT64_C(1) << k;
        right &= k + 1 == class_of(power, 0, 0).bytes_octave;
        right &= k + 1 == class_of(0, power + (power - 1), 0).largest_octave;
        right &= 32 <= k || k + 1 == class_of(0, 0, (uint32_t) power).contributors_octave;
    }
    ok(right, "sizes belong to octaves");
}

static bool differ(why_class_t a, why_class_t b)
{
    return 0 != memcmp(&a, &b, sizeof(a));
}

static void test_classes(void)
{
    const why_shape_t shape = {.bytes = 8, .largest = 8, .contributors = 1};
    const why_shape_t dense = {.bytes = 8, .largest = 8, .contributors = 1, .contiguous = true};
    const why_shape_t rounded
        = {.bytes = 8, .largest = 8, .contributors = 1, .order_matters = true};
    const why_shape_t typed
        = {.bytes = 8, .largest = 8, .contributors = 1, .type = "MPI_CXX_LONG_DOUBLE_COMPLEX"};
    const char *same = "12345678901234567890123";
    char longer[64];
    const why_class_t class = why_class("a", "c", 4, &shape);

    (void) snprintf(longer, sizeof(longer), "%s and more", same);
    ok(!differ(class, why_class("a", "c", 4, &shape)),
       "calls that are alike are of one class");
    ok(differ(class, why_class("x", "c", 4, &shape))
           && differ(class, why_class("a", "x", 4, &shape))
           && differ(class, why_class("a", "c", 5, &shape))
           && differ(class, why_class("a", "c", 4, &dense))
           && differ(class, why_class("a", "c", 4, &rounded))
           && differ(class, why_class("a", "c", 4, &typed)),
       "each property makes another class");
    ok(0 == strcmp(typed.type, why_class("a", "c", 4, &typed).type)
           && 0 == strcmp("", class.type),
       "the longest name of a type is kept, or that there is none");
    ok(!differ(why_class(longer, "c", 4, &shape),
               why_class(same, "c", 4, &shape)),
       "a text that is too long is cut");
}

/* ---- sums ---- */

typedef struct call_t {
    int kind; /* of its class */
    why_shape_t shape;
    uint64_t time;
} call_t;

/* Kinds differ in their names; sizes are such that each kind is one class. */
static why_class_t class_of_kind(const call_t *call)
{
    char name[24];

    (void) snprintf(name, sizeof(name), "call%d", call->kind);
    return why_class(name, "reason", 4, &call->shape);
}

static call_t random_call(int kinds)
{
    const int kind = (int) tap_below((uint64_t) kinds);
    const uint64_t power = UINT64_C(1) << (kind % 30);

    return (call_t){.kind = kind,
                    .shape = {.bytes = power + tap_below(power), .largest = power,
                              .contributors = 1 + (uint32_t) kind % 7},
                    .time = 1 + tap_below(1000000)};
}

static void add(why_table_t *table, const call_t *call)
{
    const why_class_t of = class_of_kind(call);

    why_add(table, why_find(table, &of), &of, &call->shape, call->time);
}

/* What the calls of a kind sum up to, by a walk through all of them. */
static why_record_t sum_of(const call_t *calls, int kind)
{
    why_record_t sum;

    memset(&sum, 0, sizeof(sum));
    sum.least = UINT64_MAX;
    for (int i = 0; i < CALLS; ++i) {
        if (kind == calls[i].kind) {
            const why_shape_t *shape = &calls[i].shape;
            sum.of = class_of_kind(&calls[i]);
            sum.calls += 1;
            sum.bytes += shape->bytes;
            sum.largest += shape->largest;
            sum.contributors += shape->contributors;
            sum.least = shape->bytes < sum.least ? shape->bytes : sum.least;
            sum.most = shape->bytes > sum.most ? shape->bytes : sum.most;
            sum.time += calls[i].time;
            sum.longest = calls[i].time > sum.longest ? calls[i].time : sum.longest;
        }
    }
    return sum;
}

static bool holds(why_table_t *table, const why_record_t *record)
{
    const why_record_t *found = why_find(table, &record->of);

    return NULL != found && 0 == memcmp(found, record, sizeof(*record));
}

static void test_sums(void)
{
    why_table_t *table = new_table();
    call_t *calls = tap_memory(CALLS * sizeof(*calls));
    int right = 0;

    for (int i = 0; i < CALLS; ++i) {
        calls[i] = random_call(KINDS);
        add(table, &calls[i]);
    }
    for (int kind = 0; kind < KINDS; ++kind) {
        const why_record_t sum = sum_of(calls, kind);
        right += holds(table, &sum);
    }
    is(right, KINDS, "records hold the sums of their calls, and the least and the most");
    is(table->calls_without, 0, "none is without a place");
    free(calls);
    free(table);
}

/* More classes than places: each call is counted once, in a record or without one. */
static void test_bounds(void)
{
    why_table_t *table = new_table();
    uint64_t calls = 0, time = 0, sum = 0;
    int used = 0;

    for (int i = 0; i < CALLS; ++i) {
        const call_t call = random_call(4 * WHY_PLACES);
        sum += call.time;
        add(table, &call);
    }
    for (int i = 0; i < WHY_PLACES; ++i) {
        calls += table->record[i].calls;
        time += table->record[i].time;
        used += 0 < table->record[i].calls;
    }
    is(calls + table->calls_without, CALLS, "no call is lost where there are too many classes");
    is(time + table->time_without, sum, "no time is");
    ok(0 < table->calls_without && WHY_PLACES - 16 <= used,
       "places are used before calls go without");
    free(table);
}

int main(void)
{
    tap_start();
    test_form();
    test_octaves();
    test_classes();
    test_sums();
    test_bounds();
    return tap_end();
}
