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
 * Replaces malloc and its kin: of blocks that are asked for by code of the components'
 * libraries, as return addresses show, the sizes are added up until they are freed.
 */

#define _GNU_SOURCE

#include "soak_memory.h"

#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GLIBC__)

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

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
static long held;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static bool is_ours(const void *caller)
{
    for (int i = 0; i < codes; i++) {
        if (code[i].from <= (uintptr_t) caller && (uintptr_t) caller < code[i].to) {
            return true;
        }
    }
    return false;
}

static int *list_of(const void *block)
{
    return &list[((uintptr_t) block >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 48];
}

static void *add(void *block, size_t size, const void *caller)
{
    if (NULL == block || !is_ours(caller)) {
        return block;
    }
    pthread_mutex_lock(&lock);
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
    }
    pthread_mutex_unlock(&lock);
    return block;
}

static void drop(const void *block)
{
    if (NULL == block || 0 == codes) {
        return;
    }
    pthread_mutex_lock(&lock);
    int *link = list_of(block);
    while (0 != *link && block != known[*link].block) {
        link = &known[*link].next;
    }
    const int place = *link;
    if (0 != place) {
        held -= (long) known[place].size;
        *link = known[place].next;
        known[place].next = unused;
        unused = place;
    }
    pthread_mutex_unlock(&lock);
}

void *malloc(size_t size)
{
    return add(__libc_malloc(size), size, __builtin_return_address(0));
}

void *calloc(size_t count, size_t size)
{
    return add(__libc_calloc(count, size), count * size, __builtin_return_address(0));
}

void *realloc(void *block, size_t size)
{
    drop(block);
    return add(__libc_realloc(block, size), size, __builtin_return_address(0));
}

void free(void *block)
{
    drop(block);
    __libc_free(block);
}

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

bool soak_memory_begin(void)
{
    dl_iterate_phdr(find_code, NULL);
    return 0 < codes;
}

#else

bool soak_memory_begin(void)
{
    return false;
}

static const long held;

#endif

long soak_memory_held(void)
{
    return held;
}
