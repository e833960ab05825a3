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
 * Memory of this process.
 */

#ifndef TEST_MPI_USAGE_H
#define TEST_MPI_USAGE_H

/** KiB of a line of /proc/self/status, such as VmRSS; ends the job where there is none. */
long usage_resident(const char *name);

/**
 * Bytes that malloc has given out: exact, where resident memory goes by pages and arenas; and those
 * of large pieces, which it maps one by one. 0 where that cannot be told.
 */
long usage_allocated(void);
long usage_mapped(void);

#endif
