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
 * The arena of ring buffers of this process, as the system knows it: an open file without a
 * name.
 */

#ifndef ARENA_H
#define ARENA_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/** Bytes that it has memory for, among all files of coll/pipering that were made in a directory. */
static inline long arena_bytes(const char *made_in)
{
    DIR *directory = opendir("/proc/self/fd");
    const struct dirent *entry;
    struct stat about;
    char prefix[512], link[512], path[1024];
    long bytes = 0;

    const int length = snprintf(prefix, sizeof(prefix), "%s/#", made_in);
    while (NULL != directory && NULL != (entry = readdir(directory))) {
        snprintf(link, sizeof(link), "/proc/self/fd/%s", entry->d_name);
        const ssize_t found = readlink(link, path, sizeof(path) - 1);
        if (length < found && 0 == strncmp(path, prefix, (size_t) length)
            && 0 == stat(link, &about)) {
            bytes += 512 * (long) about.st_blocks;
        }
    }
    if (NULL != directory) {
        closedir(directory);
    }
    return bytes;
}

#endif
