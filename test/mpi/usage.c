/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "usage.h"

#include "tap.h"

#include <dirent.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

long usage_resident(const char *name)
{
    char line[200];
    long kib = -1;
    FILE *file = fopen("/proc/self/status", "r");

    while (0 > kib && NULL != file && NULL != fgets(line, sizeof(line), file)) {
        if (0 == strncmp(line, name, strlen(name))) {
            kib = strtol(line + strlen(name) + 1, NULL, 10);
        }
    }
    if (0 > kib) {
        tap_bail("/proc/self/status does not tell %s", name);
    }
    fclose(file);
    return kib;
}

#if defined(__GLIBC_PREREQ)
#    if __GLIBC_PREREQ(2, 33)
#        define MALLOC_SAYS(member) ((long) mallinfo2().member)
#    endif
#endif
#ifndef MALLOC_SAYS
#    define MALLOC_SAYS(member) 0
#endif

long usage_allocated(void)
{
    return MALLOC_SAYS(uordblks);
}

long usage_mapped(void)
{
    return MALLOC_SAYS(hblkhd);
}

int usage_mappings(const char *text)
{
    FILE *file = fopen("/proc/self/maps", "r");
    char line[1024];
    int lines = 0;

    if (NULL == file) {
        tap_bail("no /proc/self/maps");
    }
    while (NULL != fgets(line, sizeof(line), file)) {
        lines += NULL != strstr(line, text);
    }
    fclose(file);
    return lines;
}

int usage_entries(const char *directory)
{
    DIR *open = opendir(directory);
    const struct dirent *entry;
    int entries = 0;

    if (NULL == open) {
        return -1;
    }
    while (NULL != (entry = readdir(open))) {
        entries += '.' != entry->d_name[0];
    }
    closedir(open);
    return entries;
}

static void nothing(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void) in;
    (void) inout;
    (void) length;
    (void) type;
}

numbers_t usage_numbers(void)
{
    numbers_t numbers;
    MPI_Datatype type;
    MPI_Comm comm;
    MPI_Op op;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Type_contiguous(3, MPI_INT, &type);
    MPI_Op_create(nothing, 1, &op);
    numbers = (numbers_t){{MPI_Comm_c2f(comm), MPI_Type_c2f(type), MPI_Op_c2f(op)}};
    MPI_Comm_free(&comm);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    return numbers;
}
