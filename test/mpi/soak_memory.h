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
 * How much memory the components hold, apart from what Open MPI keeps for itself, whose lists
 * of requests and buckets of early messages grow with every call that had more of them than
 * any before.
 */

#ifndef SOAK_MEMORY_H
#define SOAK_MEMORY_H

/** Counts from here on what code of the components asks malloc for. False: it cannot. */
_Bool soak_memory_begin(void);

/** Bytes that the components' code has asked for since, and nobody has freed. */
long soak_memory_held(void);

#endif
