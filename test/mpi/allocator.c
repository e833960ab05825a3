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

static malloc_t next_malloc;
static calloc_t next_calloc;
static realloc_t next_realloc;
static memalign_t next_memalign;

static volatile bool armed;
static __thread bool judging; /* dladdr may want memory itself */
static long victim;           /* its number, 0: none */
static long requests;

void allocator_arm(long k)
{
    victim = k;
    requests = 0;
    armed = true;
}

long allocator_disarm(void)
{
    armed = false;
    return requests;
}

/** The object file says who asks, or, where the component is in libmpi, the function. */
static bool is_component(void *caller)
{
    Dl_info info;

    return 0 != dladdr(caller, &info)
           && ((NULL != info.dli_fname && NULL != strstr(info.dli_fname, "mca_coll_pipering"))
               || (NULL != info.dli_sname && NULL != strstr(info.dli_sname, "coll_pipering")));
}

static bool refused(void *caller)
{
    bool refuse = false;

    if (armed && !judging) {
        judging = true;
        if (is_component(caller)) {
            requests++;
            refuse = requests == victim;
        }
        judging = false;
    }
    if (refuse) {
        errno = ENOMEM;
    }
    return refuse;
}

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
    if (NULL == next_malloc) {
        find("malloc", &next_malloc);
    }
    return refused(__builtin_return_address(0)) ? NULL : next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    if (NULL == next_calloc) {
        find("calloc", &next_calloc);
    }
    return refused(__builtin_return_address(0)) ? NULL : next_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
    if (NULL == next_realloc) {
        find("realloc", &next_realloc);
    }
    return refused(__builtin_return_address(0)) ? NULL : next_realloc(memory, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size)
{
    if (NULL == next_memalign) {
        find("posix_memalign", &next_memalign);
    }
    return refused(__builtin_return_address(0)) ? ENOMEM : next_memalign(memory, alignment, size);
}
