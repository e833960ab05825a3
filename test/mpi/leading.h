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
 * What the tests of coll/mleader share: its variants, which can be changed between
 * calls, and what a communicator is set up with.
 */

#ifndef TEST_MPI_LEADING_H
#define TEST_MPI_LEADING_H

#include <stddef.h>

/** Values of the variables of these names; -1 is auto. */
typedef struct leading_variant_t {
    int aggregation; /**< 0 shm, 1 gather, 2 recursive_doubling, 3 ring */
    int exchange;    /**< 0 recursive_doubling, 1 bruck, 2 ring */
    int scope;       /**< 0 all, 1 lanes */
} leading_variant_t;

/** All variants, those with auto included: leading_variant(0 .. LEADING_VARIANTS - 1). */
enum { LEADING_VARIANTS = 5 * 4 * 3 };
leading_variant_t leading_variant(int number);

/** Sets it for the calls to come, which the component must take. */
void leading_use(leading_variant_t variant);

/** The variant in words, good until the next call. */
const char *leading_text(leading_variant_t variant);

/** How communicators are set up that are made and used from now on, all by the component. */
void leading_setup(size_t segment_size);

/** Starts MPI, MPI_T and the test; ends the job where there is no coll/mleader. */
void leading_begin(int *argc, char ***argv, int thread_level);
int leading_end(void);

#endif
