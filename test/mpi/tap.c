/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tap_rank = -1;
int tap_size = 0;

static int failed;

void tap_begin(int *argc, char ***argv, int thread_level)
{
    int provided = thread_level;

    thread_level = (int) tap_number("LEVEL", thread_level);
    if (0 > thread_level) {
        MPI_Init(argc, argv);
    } else {
        MPI_Init_thread(argc, argv, thread_level, &provided);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &tap_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &tap_size);
    if (provided < thread_level) {
        tap_bail("thread level %d wanted, %d provided", thread_level, provided);
    }
}

int tap_end(void)
{
    MPI_Finalize();
    return 0 == failed ? EXIT_SUCCESS : EXIT_FAILURE;
}

bool tap_check(bool ok, const char *fault, const char *format, ...)
{
    int mine = ok, all;
    va_list values;

    if (!ok) {
        fprintf(stderr, "# rank %d: %s\n", tap_rank, NULL == fault ? "failed" : fault);
        fflush(stderr);
    }
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    failed += !all;
    if (0 == tap_rank) {
        printf("%s - ", all ? "ok" : "not ok");
        va_start(values, format);
        vprintf(format, values);
        va_end(values);
        printf("\n");
        fflush(stdout);
    }
    return all;
}

void tap_skip(const char *reason, const char *format, ...)
{
    va_list values;

    if (0 == tap_rank) {
        printf("ok - ");
        va_start(values, format);
        vprintf(format, values);
        va_end(values);
        printf(" # SKIP %s\n", reason);
        fflush(stdout);
    }
}

void tap_note(const char *format, ...)
{
    va_list values;

    if (0 == tap_rank) {
        printf("# ");
        va_start(values, format);
        vprintf(format, values);
        va_end(values);
        printf("\n");
        fflush(stdout);
    }
}

void tap_bail(const char *format, ...)
{
    va_list values;

    fprintf(stderr, "# rank %d: ", tap_rank);
    va_start(values, format);
    vfprintf(stderr, format, values);
    va_end(values);
    fprintf(stderr, "\n");
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}

void *tap_memory(size_t bytes)
{
    void *memory = malloc(0 == bytes ? 1 : bytes);

    if (NULL == memory) {
        tap_bail("no memory for %zu bytes", bytes);
    }
    return memory;
}

long tap_number(const char *name, long otherwise)
{
    const char *text = getenv(name);

    return NULL == text || '\0' == *text ? otherwise : strtol(text, NULL, 0);
}

int tap_nodes(MPI_Comm comm, int *node_of)
{
    int rank, size, length, nodes = 0;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    char(*name)[MPI_MAX_PROCESSOR_NAME] = tap_memory((size_t) size * sizeof(*name));
    memset(name, 0, (size_t) size * sizeof(*name));
    MPI_Get_processor_name(name[rank], &length);
    for (int i = 0; i < size; i++) {
        MPI_Bcast(name[i], MPI_MAX_PROCESSOR_NAME, MPI_CHAR, i, comm);
        node_of[i] = 0;
        while (0 != strcmp(name[i], name[node_of[i]])) {
            node_of[i]++;
        }
        nodes += i == node_of[i];
    }
    free(name);
    return nodes;
}
