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

#include "coll_pipering_why.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "opal/util/proc.h"
#include "opal/util/show_help.h"

#define SIZE sizeof(mca_coll_pipering_why_table_t)
#define PATH_MOST 4096
#define RECORDS_MOST 1000 /* of a process */

static void report(const char *path, int error)
{
    opal_show_help("help-coll-pipering.txt", "no-why", true, path, opal_process_info.nodename,
                   strerror(error));
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

static double seconds_since_1970(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double) now.tv_sec + 1e-9 * (double) now.tv_nsec;
}

static mca_coll_pipering_why_owner_t owner(void)
{
    return (mca_coll_pipering_why_owner_t){.job = (uint32_t) OPAL_PROC_MY_NAME.jobid,
                                           .rank = (uint32_t) OPAL_PROC_MY_NAME.vpid,
                                           .host = opal_process_info.nodename,
                                           .release = MCA_COMMON_IRREGULAR_RELEASE,
                                           .began = seconds_since_1970()};
}

static mca_coll_pipering_why_table_t *map_file(const char *path)
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
static mca_coll_pipering_why_table_t *map_new(char *path, const char *directory,
                                              const mca_coll_pipering_why_owner_t *me)
{
    mca_coll_pipering_why_table_t *table = NULL;

    for (int before = 0; NULL == table && before < RECORDS_MOST; ++before) {
        int length = snprintf(path, PATH_MOST, "%s/why-%08x-%u", directory, me->job, me->rank);
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

mca_coll_pipering_why_table_t *mca_coll_pipering_why_map(const char *directory)
{
    const mca_coll_pipering_why_owner_t me = owner();
    mca_coll_pipering_why_table_t *table = NULL;
    char path[PATH_MOST];

    (void) snprintf(path, sizeof(path), "%s", directory);
    if (0 == mkdir(directory, 0777) || EEXIST == errno) {
        table = map_new(path, directory, &me);
    }
    if (NULL == table) {
        report(ENAMETOOLONG == errno ? directory : path, errno);
        return NULL;
    }
    mca_coll_pipering_why_table_begin(table, &me);
    return table;
}

void mca_coll_pipering_why_unmap(mca_coll_pipering_why_table_t *table)
{
    table->ended = 1;
    (void) munmap(table, SIZE);
}
