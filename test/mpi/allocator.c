/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#define _GNU_SOURCE /* RTLD_NEXT, dladdr */

#include "allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef void *(*malloc_t)(size_t);
typedef void *(*calloc_t)(size_t, size_t);
typedef void *(*realloc_t)(void *, size_t);
typedef int (*memalign_t)(void **, size_t, size_t);
typedef void (*free_t)(void *);

static malloc_t next_malloc;
static calloc_t next_calloc;
static realloc_t next_realloc;
static memalign_t next_memalign;
static free_t next_free;

#define HELD_AT_MOST 1024

/** Who asks: somebody else, or the component, and then whether it gets it. */
typedef enum { OTHERS, GRANTED, REFUSED } verdict_t;

static volatile bool armed;
static __thread bool judging; /* dladdr may want memory itself */
static long victim;           /* its number, 0: none */
static long requests, bytes;

static void *held[HELD_AT_MOST];
static volatile int pieces;
static volatile int lock; /* of both; no pthread_mutex, which may not be there so early */

/* ---- what the component holds ---- */

static void take_lock(void)
{
    while (0 != __sync_lock_test_and_set(&lock, 1)) {
        continue;
    }
}

static void hold(void *memory)
{
    take_lock();
    if (HELD_AT_MOST == pieces) {
        abort();
    }
    held[pieces++] = memory;
    __sync_lock_release(&lock);
}

static void forget(const void *memory)
{
    if (NULL == memory || 0 == pieces) {
        return;
    }
    take_lock();
    for (int i = 0; i < pieces; i++) {
        if (held[i] == memory) {
            held[i] = held[--pieces];
            break;
        }
    }
    __sync_lock_release(&lock);
}

int allocator_held(void)
{
    return pieces;
}

/* ---- who asks ---- */

void allocator_arm(long k)
{
    victim = k;
    requests = bytes = 0;
    pieces = 0;
    armed = true;
}

long allocator_disarm(void)
{
    armed = false;
    return requests;
}

long allocator_bytes(void)
{
    return bytes;
}

static bool is_ours(const char *name)
{
    return NULL != strstr(name, "coll_pipering") || NULL != strstr(name, "coll_mleader")
           || NULL != strstr(name, "common_colltools");
}

/** The object file says who asks, or, where the component is in libmpi, the function. */
static bool is_component(void *caller)
{
    Dl_info info;

    return 0 != dladdr(caller, &info)
           && ((NULL != info.dli_fname && is_ours(info.dli_fname))
               || (NULL != info.dli_sname && is_ours(info.dli_sname)));
}

static verdict_t judge(void *caller, size_t size)
{
    verdict_t verdict = OTHERS;

    if (armed && !judging) {
        judging = true;
        if (is_component(caller)) {
            verdict = ++requests == victim ? REFUSED : GRANTED;
            bytes += (long) size;
        }
        judging = false;
    }
    if (REFUSED == verdict) {
        errno = ENOMEM;
    }
    return verdict;
}

static void *given(verdict_t verdict, void *memory)
{
    if (GRANTED == verdict && NULL != memory) {
        hold(memory);
    }
    return memory;
}

/* ---- the functions ---- */

/** POSIX's way of taking a function from dlsym. */
static void find(const char *name, void *function)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (NULL == symbol) {
        abort();
    }
    memcpy(function, &symbol, sizeof(symbol));
}

void *malloc(size_t size)
{
    const verdict_t verdict = judge(__builtin_return_address(0), size);

    if (NULL == next_malloc) {
        find("malloc", &next_malloc);
    }
    return REFUSED == verdict ? NULL : given(verdict, next_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    const verdict_t verdict = judge(__builtin_return_address(0), count * size);

    if (NULL == next_calloc) {
        find("calloc", &next_calloc);
    }
    return REFUSED == verdict ? NULL : given(verdict, next_calloc(count, size));
}

void *realloc(void *memory, size_t size)
{
    const verdict_t verdict = judge(__builtin_return_address(0), size);

    if (NULL == next_realloc) {
        find("realloc", &next_realloc);
    }
    if (REFUSED == verdict) {
        return NULL;
    }
    forget(memory);
    return given(verdict, next_realloc(memory, size));
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    const verdict_t verdict = judge(__builtin_return_address(0), size);
    int code = ENOMEM;

    if (NULL == next_memalign) {
        find("posix_memalign", &next_memalign);
    }
    if (REFUSED != verdict) {
        code = next_memalign(memory, alignment, size);
    }
    if (0 == code) {
        given(verdict, *memory);
    }
    return code;
}

void free(void *memory)
{
    if (NULL == next_free) {
        find("free", &next_free);
    }
    forget(memory); /* before, for then others may get it */
    next_free(memory);
}
