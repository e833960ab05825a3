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
 * Calls whose arguments vanish (vanish.c).
 */

#ifndef TEST_MPI_VANISH_H
#define TEST_MPI_VANISH_H

#include <stdbool.h>

/** From now on, in this thread. */
extern __thread bool vanish_arguments;

#endif
