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
 * Memory, mappings and files of this process.
 */

#ifndef TEST_MPI_USAGE_H
#define TEST_MPI_USAGE_H

#include <mpi.h>

/** KiB of a line of /proc/self/status, such as VmRSS; ends the job where there is none. */
long usage_resident(const char *name);

/**
 * Bytes that malloc has given out: exact, where resident memory goes by pages and arenas; and those
 * of large pieces, which it maps one by one. 0 where that cannot be told.
 */
long usage_allocated(void);
long usage_mapped(void);

/** Lines of /proc/self/maps that contain a text: mappings of files by their names, or all. */
int usage_mappings(const char *text);

/** Segments of shared memory: files of either component, which have no name. */
#define USAGE_SEGMENT "/#"

/**
 * Numbers that are free, the lowest ones: of a communicator, a type and an operation. One that is
 * not gone keeps its number, a type if someone has asked for it. Collective.
 */
typedef struct numbers_t {
    MPI_Fint of[3];
} numbers_t;

numbers_t usage_numbers(void);

/** Entries of a directory; -1 where it cannot be read. */
int usage_entries(const char *directory);

#endif
