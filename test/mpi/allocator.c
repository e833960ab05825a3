/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#define _GNU_SOURCE /* RTLD_NEXT, dl_iterate_phdr */

#include "allocator.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
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

/** Who asks: somebody else, or the component, and then whether it gets it. */
typedef enum { OTHERS, GRANTED, REFUSED } verdict_t;

static volatile bool armed;
static long victim; /* its number, 0: none */
static long requests, bytes;

/* Where code of the components is. */
static struct {
    uintptr_t from, to;
} code[8];
static int codes;

/* Their blocks, in lists by address; those that are free are in a list of their own. */
#define BLOCKS (1 << 18)
#define LISTS (1 << 16)
static struct {
    void *block;
    size_t size;
    int next;
} known[BLOCKS];
static int list[LISTS], unused, used;
static volatile int pieces;
static long held;
static volatile int lock; /* of all; no pthread_mutex, which may not be there so early */

static bool is_component(const void *caller)
{
    for (int i = 0; i < codes; i++) {
        if (code[i].from <= (uintptr_t) caller && (uintptr_t) caller < code[i].to) {
            return true;
        }
    }
    return false;
}

/* ---- what the component holds ---- */

static void take_lock(void)
{
    while (0 != __sync_lock_test_and_set(&lock, 1)) {
        continue;
    }
}

static int *list_of(const void *block)
{
    return &list[((uintptr_t) block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

static void hold(void *block, size_t size)
{
    take_lock();
    int place = unused;
    if (0 != place) {
        unused = known[place].next;
    } else if (used + 1 < BLOCKS) {
        place = ++used;
    }
    if (0 != place) { /* else it is not counted; who holds so many is found out anyway */
        int *first = list_of(block);
        known[place].block = block;
        known[place].size = size;
        known[place].next = *first;
        *first = place;
        held += (long) size;
        pieces++;
    }
    __sync_lock_release(&lock);
}

static void forget(const void *block)
{
    if (NULL == block || 0 == pieces) {
        return;
    }
    take_lock();
    int *link = list_of(block);
    while (0 != *link && block != known[*link].block) {
        link = &known[*link].next;
    }
    const int place = *link;
    if (0 != place) {
        held -= (long) known[place].size;
        pieces--;
        *link = known[place].next;
        known[place].next = unused;
        unused = place;
    }
    __sync_lock_release(&lock);
}

int allocator_held(void)
{
    return pieces;
}

long allocator_held_bytes(void)
{
    return held;
}

/* ---- who asks ---- */

static int find_code(struct dl_phdr_info *info, size_t size, void *unused_argument)
{
    const char *name = strrchr(info->dlpi_name, '/');

    (void) size;
    (void) unused_argument;
    if (NULL == name
        || (NULL == strstr(name, "mca_coll_pipering") && NULL == strstr(name, "mca_coll_mleader")
            && NULL == strstr(name, "mca_common_colltools"))) {
        return 0;
    }
    for (int i = 0; i < info->dlpi_phnum && codes < (int) (sizeof(code) / sizeof(code[0])); i++) {
        if (PT_LOAD == info->dlpi_phdr[i].p_type && 0 != (PF_X & info->dlpi_phdr[i].p_flags)) {
            code[codes].from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            code[codes].to = code[codes].from + info->dlpi_phdr[i].p_memsz;
            codes++;
        }
    }
    return 0;
}

bool allocator_arm(long k)
{
    codes = 0;
    dl_iterate_phdr(find_code, NULL);
    victim = k;
    requests = bytes = held = 0;
    pieces = used = unused = 0;
    memset(list, 0, sizeof(list));
    armed = true;
    return 0 < codes;
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

static verdict_t judge(const void *caller, size_t size)
{
    verdict_t verdict = OTHERS;

    if (armed && is_component(caller)) {
        take_lock();
        verdict = ++requests == victim ? REFUSED : GRANTED;
        bytes += (long) size;
        __sync_lock_release(&lock);
    }
    if (REFUSED == verdict) {
        errno = ENOMEM;
    }
    return verdict;
}

static void *given(verdict_t verdict, void *memory, size_t size)
{
    if (GRANTED == verdict && NULL != memory) {
        hold(memory, size);
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
    return REFUSED == verdict ? NULL : given(verdict, next_malloc(size), size);
}

void *calloc(size_t count, size_t size)
{
    const verdict_t verdict = judge(__builtin_return_address(0), count * size);

    if (NULL == next_calloc) {
        find("calloc", &next_calloc);
    }
    return REFUSED == verdict ? NULL : given(verdict, next_calloc(count, size), count * size);
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
    return given(verdict, next_realloc(memory, size), size);
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
        given(verdict, *memory, size);
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
