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
 * Reading files (common_colltools_file.h).
 */

#include "common_colltools_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Reads up to its end, or to one byte more than may be; false: errno says why. */
static bool read_all(int file, char *text, size_t *size)
{
    ssize_t got;

    *size = 0;
    do {
        got = read(file, text + *size, MCA_COMMON_COLLTOOLS_FILE_MOST + 1 - *size);
        *size += 0 < got ? (size_t) got : 0;
    } while ((0 < got && MCA_COMMON_COLLTOOLS_FILE_MOST >= *size) || (0 > got && EINTR == errno));
    return 0 <= got;
}

/* The text of an open file. */
static char *read_open(int file, const char **why)
{
    struct stat is;
    size_t size;

    if (0 != fstat(file, &is) || !S_ISREG(is.st_mode)) {
        *why = "it is not a regular file";
        return NULL;
    }
    char *text = malloc(MCA_COMMON_COLLTOOLS_FILE_MOST + 1);
    if (NULL == text) {
        *why = strerror(ENOMEM);
        return NULL;
    }
    if (!read_all(file, text, &size)) {
        *why = strerror(errno);
    } else if (MCA_COMMON_COLLTOOLS_FILE_MOST < size) {
        *why = "it has more than 1 MiB";
    } else if (NULL != memchr(text, '\0', size)) {
        *why = "it has a byte of 0, so it is no text";
    } else {
        text[size] = '\0';
        return text;
    }
    free(text);
    return NULL;
}

char *mca_common_colltools_read_text(const char *path, const char **why)
{
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

    if (0 > file) {
        *why = strerror(errno);
        return NULL;
    }
    char *text = read_open(file, why);
    (void) close(file);
    return text;
}

void mca_common_colltools_read_line(const char *path, char *line, size_t size)
{
    FILE *in = fopen(path, "r");

    line[0] = '\0';
    if (NULL != in) {
        if (NULL != fgets(line, (int) size, in)) {
            line[strcspn(line, "\n")] = '\0';
        }
        (void) fclose(in);
    }
}
