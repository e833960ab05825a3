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
 * Test Anything Protocol for the unit tests: one line per property, however
 * many instances it is tried on, and a seeded generator whose seed is printed
 * so that PIPERING_SEED=<seed> replays a run.
 */

#ifndef PIPERING_TEST_TAP_H
#define PIPERING_TEST_TAP_H

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define TAP_SHOWN 5 /* counterexamples printed per property */

static int tap_tests;
static int tap_failures;
static uint64_t tap_state;

/** Reports one test. */
#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)

/** Reports that two integers are equal. */
#define is(found, expected, ...) \
    tap_is((long long) (found), (long long) (expected), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool pass, const char *file,
                                                                int line, const char *name, ...)
{
    va_list arguments;

    printf("%sok %d - ", pass ? "" : "not ", ++tap_tests);
    va_start(arguments, name);
    vprintf(name, arguments);
    va_end(arguments);
    printf("\n");
    if (!pass) {
        tap_failures++;
        printf("# failed at %s:%d\n", file, line);
    }
    fflush(stdout);
    return pass;
}

__attribute__((format(printf, 5, 6))) static inline bool
tap_is(long long found, long long expected, const char *file, int line, const char *name, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, name);
    vsnprintf(text, sizeof(text), name, arguments);
    va_end(arguments);
    if (found != expected) {
        printf("# found %lld, expected %lld\n", found, expected);
    }
    return tap_ok(found == expected, file, line, "%s", text);
}

/** A property tried on many instances. */
typedef struct tap_tally_t {
    unsigned long tried;
    unsigned long failed;
} tap_tally_t;

/** Tries a property on one instance; the rest of the arguments prints the instance. */
__attribute__((format(printf, 3, 4))) static inline bool tap_try(tap_tally_t *tally, bool pass,
                                                                 const char *instance, ...)
{
    va_list arguments;

    tally->tried++;
    if (pass) {
        return true;
    }
    if (TAP_SHOWN > tally->failed++) {
        printf("# counterexample: ");
        va_start(arguments, instance);
        vprintf(instance, arguments);
        va_end(arguments);
        printf("\n");
    }
    return false;
}

/** Reports a property; it must have been tried at least `least` times. */
#define tally_ok(tally, least, ...) \
    tap_tally_ok((tally), (least), __FILE__, __LINE__, __VA_ARGS__)

__attribute__((format(printf, 5, 6))) static inline bool
tap_tally_ok(const tap_tally_t *tally, unsigned long least, const char *file, int line,
             const char *name, ...)
{
    char text[256];
    va_list arguments;

    va_start(arguments, name);
    vsnprintf(text, sizeof(text), name, arguments);
    va_end(arguments);
    if (0 != tally->failed) {
        printf("# failed on %lu of %lu instances\n", tally->failed, tally->tried);
    } else if (tally->tried < least) {
        printf("# only %lu instances, %lu wanted\n", tally->tried, least);
    }
    return tap_ok(0 == tally->failed && tally->tried >= least, file, line, "%s (%lu instances)",
                  text, tally->tried);
}

/** Seeds the generator from PIPERING_SEED or the clock, and says so. */
static inline void tap_start(void)
{
    const char *replay = getenv("PIPERING_SEED");

    if (NULL != replay && '\0' != *replay) {
        tap_state = strtoull(replay, NULL, 0);
    } else {
        tap_state = ((uint64_t) time(NULL) << 16) ^ (uint64_t) getpid();
    }
    printf("# PIPERING_SEED=%" PRIu64 " replays this run\n", tap_state);
}

/** Prints the plan; the exit status of the program. */
static inline int tap_end(void)
{
    printf("1..%d\n", tap_tests);
    return 0 == tap_failures ? EXIT_SUCCESS : EXIT_FAILURE;
}

/** 64 random bits (splitmix64's mixing of a Weyl sequence). */
static inline uint64_t tap_random(void)
{
    uint64_t x = tap_state += UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/** A random number in 0 .. n - 1. */
static inline uint64_t tap_below(uint64_t n)
{
    return tap_random() % n;
}

/** A random number in low .. high. */
static inline int tap_between(int low, int high)
{
    return low + (int) tap_below((uint64_t) (high - low) + 1);
}

/** True once in n calls. */
static inline bool tap_once_in(uint64_t n)
{
    return 0 == tap_below(n);
}

/** Fills memory with random bytes. */
static inline void tap_garbage(void *memory, size_t bytes)
{
    unsigned char *byte = memory;

    while (0 != bytes--) {
        *byte++ = (unsigned char) tap_random();
    }
}

/** 0 .. n - 1 in a random order. */
static inline void tap_deal(int *order, int n)
{
    for (int i = 0; i < n; i++) {
        const int j = tap_between(0, i);

        order[i] = order[j];
        order[j] = i;
    }
}

/** Whether two results are equal but for rounding. */
static inline bool tap_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/** Ends the program with a sentence, for what no test can go on after. */
__attribute__((noreturn, format(printf, 1, 2))) static inline void tap_bail(const char *why, ...)
{
    va_list arguments;

    printf("Bail out! ");
    va_start(arguments, why);
    vprintf(why, arguments);
    va_end(arguments);
    printf("\n");
    exit(EXIT_FAILURE);
}

/** Memory, or the end of the program. */
static inline void *tap_memory(size_t bytes)
{
    void *memory = malloc(0 == bytes ? 1 : bytes);

    if (NULL == memory) {
        tap_bail("no memory");
    }
    return memory;
}

static inline int tap_compare(const void *a, const void *b)
{
    const double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/** Sorts numbers, the least one first. */
static inline void tap_sort(double *values, size_t count)
{
    qsort(values, count, sizeof(double), tap_compare);
}

#endif
