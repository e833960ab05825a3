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
 * calls, what a communicator is set up with, and exchanges of MPI_Allgather.
 */

#ifndef TEST_MPI_LEADERS_H
#define TEST_MPI_LEADERS_H

#include "exchange.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/** Values of coll_mleader_allgather_algorithm. */
enum { LEADERS_AUTO = 0, LEADERS_FORCED = 1, LEADERS_OFF = 2 };

/** Values of the variables of these names; -1 is auto. */
typedef struct leaders_variant_t {
    int aggregation;  /**< 0 shm, 1 gather, 2 recursive_doubling, 3 ring */
    int distribution; /**< 0 messages, 1 shm */
    int exchange;     /**< 0 recursive_doubling, 1 bruck, 2 ring */
    int scope;        /**< 0 all, 1 lanes */
} leaders_variant_t;

/** All variants, those with auto included: leaders_variant(0 .. leaders_variants() - 1). */
int leaders_variants(void);
leaders_variant_t leaders_variant(int number);

/** Sets it for the calls to come of this rank, forced; tells it in `text` of 100 bytes. */
void leaders_use(const leaders_variant_t *variant);
void leaders_tell(const leaders_variant_t *variant, char *text);

/** How communicators that are used for the first time from now on are set up. */
void leaders_setup(size_t segment_size, bool packed);

/** Starts MPI, MPI_T and the test; ends the job where there is no coll/mleader. */
void leaders_begin(int *argc, char ***argv, int thread_level);

/** How many of the next layouts there are, and one of `units` units (a multiple of 12). */
enum { LEADERS_LAYOUTS = 6 };
layout_t *leaders_layout(int number, int unit, int units);

/**
 * An exchange of `units` units a rank (a multiple of 12 where layouts are other than
 * dense, 0), sent as one layout and received as another one. NULL without a communicator.
 */
exchange_t *leaders_exchange(MPI_Comm comm, uint64_t key, int unit, int units, int send_layout,
                             int recv_layout);

/** With its layouts. */
void leaders_free(exchange_t *x);

#endif
