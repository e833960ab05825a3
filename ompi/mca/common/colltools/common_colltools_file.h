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
 * Files that variables name: what is in them, and what is shown of it; and files of the system.
 * Pure C, no Open MPI.
 */

#ifndef MCA_COMMON_COLLTOOLS_FILE_H
#define MCA_COMMON_COLLTOOLS_FILE_H

#include <stddef.h>

/** The most bytes of a file. */
#define MCA_COMMON_COLLTOOLS_FILE_MOST ((size_t) 1 << 20)

/**
 * The text of a regular file, which the caller frees. Never waits, as the opening of a FIFO would.
 * NULL: *why is a phrase that says why not.
 */
char *mca_common_colltools_read_text(const char *path, const char **why);

/** The first line of a file of the system without its end, or "". `line` [size]. */
void mca_common_colltools_read_line(const char *path, char *line, size_t size);

/** Puts '?' in the place of what is no printable ASCII, so that a terminal only shows it. */
static inline void mca_common_colltools_make_printable(char *text)
{
    for (; '\0' != *text; ++text) {
        *text = ' ' <= *text && '~' >= *text ? *text : '?';
    }
}

#endif
