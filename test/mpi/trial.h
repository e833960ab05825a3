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
 * A trial: one exchange, run blocking and nonblocking under every setting of
 * the component, judged as one test.
 */

#ifndef TEST_MPI_TRIAL_H
#define TEST_MPI_TRIAL_H

#include "exchange.h"

#include <stdbool.h>

/**
 * Collective over MPI_COMM_WORLD. Frees the exchange; NULL where this rank
 * takes no part in the call.
 */
void trial(exchange_t *exchange, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * The same for calls that Open MPI's own algorithms get wrong (5.0.7: Bruck's
 * MPI_Allgather of a type of negative extent): only settings that force the
 * component, and a skipped test without it.
 */
void trial_forced(exchange_t *exchange, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** A spec over MPI_COMM_WORLD with everything else zero. */
exchange_spec_t trial_spec(uint64_t key);

/** An exchange that must be legal: ends the job where it is not. */
exchange_t *trial_exchange(const exchange_spec_t *spec);

/**
 * True if calls may describe equal signatures by different types and counts:
 * with the component, and without it where TEST_MISMATCH is 1. coll/tuned
 * chooses its algorithm by the local send type, so ranks may differ in it and
 * the call hangs (Open MPI 5.0.7).
 */
bool trial_may_mismatch(void);

#endif
