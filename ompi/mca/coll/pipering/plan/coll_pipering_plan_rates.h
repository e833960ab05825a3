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
 * Rates: what links between nodes cost, as calls have measured it (plan_rates).
 */

#ifndef MCA_COLL_PIPERING_PLAN_RATES_H
#define MCA_COLL_PIPERING_PLAN_RATES_H

#include <stdbool.h>
#include <stddef.h>

#include "coll_pipering_plan_cost.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** The measured rate of streams of blocks of one class. */
typedef struct mca_coll_pipering_rate_t {
    float seconds; /**< a byte */
    float bytes;   /**< of the measured stream, 0: no stream has been measured */
    float length;  /**< mean block length; of equally good rates, the largest */
} mca_coll_pipering_rate_t;

/** The measured rates of the links between nodes, by class; zeros: none. */
typedef struct mca_coll_pipering_rates_t {
    mca_coll_pipering_rate_t of[MCA_COLL_PIPERING_RATES];
} mca_coll_pipering_rates_t;

/**
 * Adds the rate of a stream, in seconds a byte, of `bytes` bytes in blocks of about `length`
 * bytes. A stream of much fewer bytes than the known one does not count. Of streams of about
 * as many bytes the least rate counts, since noise only adds to it, unless later ones are
 * far above it.
 */
void mca_coll_pipering_rates_add(mca_coll_pipering_rates_t *rates, double length, double seconds,
                                 double bytes);

/** Keeps the rate that was measured with more bytes; idempotent and commutative. */
void mca_coll_pipering_rate_merge(mca_coll_pipering_rate_t *rate,
                                  const mca_coll_pipering_rate_t *other);

/** Merges the rates of another rank, class by class; likewise. */
void mca_coll_pipering_rates_merge(mca_coll_pipering_rates_t *rates,
                                   const mca_coll_pipering_rates_t *others);

/** Whether the rate of any class has been measured. */
bool mca_coll_pipering_rates_known(const mca_coll_pipering_rates_t *rates);

/**
 * The cost of a link between nodes with `load` ranks a processor; defaults where no rate is
 * known.
 */
mca_coll_pipering_link_cost_t mca_coll_pipering_rates_cost(const mca_coll_pipering_rates_t *rates,
                                                           double load);

/**
 * The block size for a lesson, a call of `total` bytes for which `block_size` is best and
 * makes blocks of `length` bytes on average: this size, or one of a class nearby without a
 * known rate; smaller where the call would have too few blocks to show a rate. `lesson`
 * counts these calls, so that they try one class after the other.
 */
size_t mca_coll_pipering_rates_vary(const mca_coll_pipering_rates_t *rates, size_t block_size,
                                    size_t length, size_t total, unsigned lesson);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
