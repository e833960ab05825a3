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
 * The file of a process with its table of calls: DIRECTORY/why-JOB-RANK. Its disk space is taken
 * when it is made, since a write to a mapped file on a full disk ends the process.
 */

#include "why_table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SIZE sizeof(why_table_t)
#define PATH_MOST 4096
#define RECORDS_MOST 1000 /* of a process */

/* Whether the launcher of the job calls this process the first of its node, or calls it nothing. */
static bool is_first_of_node(void)
{
    static const char *const names[]
        = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); ++i) {
        const char *rank = getenv(names[i]);
        if (NULL != rank) {
            return 0 == strcmp("0", rank);
        }
    }
    return true;
}

static void report(const char *path, const char *host, int error)
{
    if (is_first_of_node()) {
        (void) fprintf(stderr,
                       "pipering-why: the file for a record of collective calls, %s, cannot be made "
                       "on %s: %s; the program goes on, and nothing is recorded. Expected in "
                       "PIPERING_WHY: a directory that is there or can be made.\n",
                       path, host, strerror(error));
    }
}

/* Makes a file with all of its space, unless there is one; -1, and errno. */
static int make_file(const char *path)
{
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (0 > file) {
        return -1;
    }
    const int error = posix_fallocate(file, 0, (off_t) SIZE);
    if (0 != error) {
        (void) close(file);
        (void) unlink(path);
        errno = error;
        return -1;
    }
    return file;
}

static why_table_t *map_file(const char *path)
{
    const int file = make_file(path);
    void *address = MAP_FAILED;

    if (0 <= file) {
        address = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        (void) close(file);
    }
    return MAP_FAILED == address ? NULL : address;
}

/*
 * Maps a file of a name that no other record of this process has: sessions may follow each other,
 * each with a record. NULL, and errno; `path` [PATH_MOST] says which file.
 */
static why_table_t *map_new(char *path, const char *directory, const why_owner_t *owner)
{
    why_table_t *table = NULL;

    for (int before = 0; NULL == table && before < RECORDS_MOST; ++before) {
        int length = snprintf(path, PATH_MOST, "%s/why-%08x-%u", directory, owner->job,
                              owner->rank);
        if (0 < before && PATH_MOST > length) {
            length += snprintf(path + length, (size_t) (PATH_MOST - length), "-%d", before);
        }
        if (PATH_MOST <= length) {
            errno = ENAMETOOLONG;
            return NULL;
        }
        table = map_file(path);
        if (NULL == table && EEXIST != errno) {
            return NULL;
        }
    }
    return table;
}

why_table_t *why_map(const char *directory, const why_owner_t *owner)
{
    why_table_t *table = NULL;
    char path[PATH_MOST];

    (void) snprintf(path, sizeof(path), "%s", directory);
    if (0 == mkdir(directory, 0777) || EEXIST == errno) {
        table = map_new(path, directory, owner);
    }
    if (NULL == table) {
        report(ENAMETOOLONG == errno ? directory : path, owner->host, errno);
        return NULL;
    }
    why_table_begin(table, owner);
    return table;
}

void why_unmap(why_table_t *table)
{
    table->ended = 1;
    (void) munmap(table, SIZE);
}
