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
 * Ring buffers of communicators that come and go: ROUNDS of them. In DIRECTORY, where the
 * files of this job alone are, each process has at most one, which takes no memory once the
 * communicator is freed, and mappings and open files are as many as before.
 */

#include "knob.h"
#include "tap.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define COUNT 3000
#define WARM 40 /* rounds before anything is counted */
#define SLACK 4 /* mappings that the C library and Open MPI may need for themselves */

static int lines_in(const char *name)
{
    FILE *file = fopen(name, "r");
    int lines = 0, byte;

    while (NULL != file && EOF != (byte = fgetc(file))) {
        lines += '\n' == byte;
    }
    if (NULL != file) {
        fclose(file);
    }
    return lines;
}

static int entries_in(const char *name)
{
    DIR *directory = opendir(name);
    struct dirent *entry;
    int entries = 0;

    while (NULL != directory && NULL != (entry = readdir(directory))) {
        entries += '.' != entry->d_name[0];
    }
    if (NULL != directory) {
        closedir(directory);
    }
    return entries;
}

/** Files and their memory. */
typedef struct usage_t {
    int files;
    long blocks;
} usage_t;

/* In the directory of a process. */
static void add_usage(const char *name, usage_t *usage)
{
    DIR *directory = opendir(name);
    struct dirent *entry;
    struct stat about;
    char path[1024];

    while (NULL != directory && NULL != (entry = readdir(directory))) {
        snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
        if ('.' != entry->d_name[0] && 0 == stat(path, &about)) {
            usage->files++;
            usage->blocks += (long) about.st_blocks;
        }
    }
    if (NULL != directory) {
        closedir(directory);
    }
}

/* In the directories of all processes. */
static usage_t usage_of(const char *name)
{
    DIR *directory = opendir(name);
    usage_t usage = {0, 0};
    struct dirent *entry;
    char path[512];

    while (NULL != directory && NULL != (entry = readdir(directory))) {
        if ('.' != entry->d_name[0]) {
            snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
            add_usage(path, &usage);
        }
    }
    if (NULL != directory) {
        closedir(directory);
    }
    return usage;
}

/* Communicators are made without any of this. */
static void set_calls(int gather, int line)
{
    knob_set("coll_pipering_allgather_algorithm", gather);
    knob_folds(line, KNOB_OFF);
}

/* A gather, a reduction and a broadcast, which together use all links that there can be. */
static bool use(MPI_Comm comm, int n, int *in, int *out)
{
    int size, rank, sum;
    MPI_Request request;

    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &rank);
    for (int i = 0; i < COUNT; i++) {
        in[i] = rank + i;
    }
    TAP_MPI(MPI_Iallgather(in, COUNT, MPI_INT, out, COUNT, MPI_INT, comm, &request));
    TAP_MPI(MPI_Wait(&request, MPI_STATUS_IGNORE));
    for (int r = 0; r < size; r++) {
        if (r != out[r * COUNT] || r + COUNT - 1 != out[(r + 1) * COUNT - 1]) {
            return false;
        }
    }
    TAP_MPI(MPI_Reduce(in, out, COUNT, MPI_INT, MPI_SUM, n % size, comm));
    TAP_MPI(MPI_Bcast(out, COUNT, MPI_INT, n % size, comm));
    sum = size * (size - 1) / 2;
    return sum == out[0] && sum + size * (COUNT - 1) == out[COUNT - 1];
}

static bool one_round(int n, const char *directory, int *in, int *out, usage_t *worst)
{
    usage_t used, left;
    MPI_Comm comm;
    bool right;

    if (0 == n % 2) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    } else {
        MPI_Comm_split(MPI_COMM_WORLD, 0, -tap_rank, &comm);
    }
    set_calls(KNOB_RING, KNOB_PIPELINE);
    right = use(comm, n, in, out);
    set_calls(KNOB_OFF, KNOB_OFF);
    MPI_Barrier(MPI_COMM_WORLD);
    used = usage_of(directory);
    MPI_Comm_free(&comm);
    MPI_Barrier(MPI_COMM_WORLD);
    left = usage_of(directory);
    MPI_Barrier(MPI_COMM_WORLD); /* else others are at the next one's already */
    worst->files = worst->files > left.files ? worst->files : left.files;
    worst->blocks = worst->blocks > left.blocks ? worst->blocks : left.blocks;
    return right && 0 < used.blocks;
}

int main(int argc, char **argv)
{
    const char *directory = getenv("DIRECTORY");
    const int rounds = (int) tap_number("ROUNDS", 200);
    int maps = 0, open = 0, *in, *out;
    usage_t worst = {0, 0};
    bool right = true;
    char fault[100];

    tap_begin(&argc, &argv, MPI_THREAD_SINGLE);
    if (!knob_begin() || NULL == directory) {
        tap_bail("there is no coll/pipering here, or DIRECTORY is not set");
    }
    set_calls(KNOB_OFF, KNOB_OFF);
    in = tap_memory(COUNT * sizeof(int));
    out = tap_memory((size_t) tap_size * COUNT * sizeof(int));
    for (int n = 0; n < WARM + rounds; n++) {
        if (WARM == n) {
            maps = lines_in("/proc/self/maps");
            open = entries_in("/proc/self/fd");
        }
        right &= one_round(n, directory, in, out, &worst);
    }
    maps = lines_in("/proc/self/maps") - maps;
    open = entries_in("/proc/self/fd") - open;
    snprintf(fault, sizeof(fault), "%d mappings, %d open files, %d names, %ld blocks", maps, open,
             worst.files, worst.blocks);
    tap_check(right, "wrong data", "%d communicators: results, with memory", rounds);
    tap_check(0 < knob_counter("coll_pipering_bytes_shared"), "none",
              "%d communicators: bytes went through ring buffers", rounds);
    tap_check(SLACK >= maps && 0 >= open && tap_size >= worst.files, fault,
              "%d communicators: no mapping and no open file more, a name a process", rounds);
    tap_check(0 == worst.blocks, fault, "%d communicators: no memory is kept", rounds);
    free(in);
    free(out);
    knob_end();
    return tap_end();
}
