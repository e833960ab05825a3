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
 * Streams: where adapters state only a bound, two calls through a pipeline show how fast links are.
 */

#ifndef MCA_COLL_PIPERING_STREAMS_H
#define MCA_COLL_PIPERING_STREAMS_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_choice.h"
#include "coll_pipering_context.h"

BEGIN_C_DECLS

/** What the ranks of a call saw, while they tell each other. */
typedef struct mca_coll_pipering_sighting_t mca_coll_pipering_sighting_t;

/**
 * Whether a blocking call that goes by this plan shows how fast links are, and that is not known
 * yet; equal on all ranks. Each such call is counted, and *agrees is true for the one after which
 * ranks agree.
 */
bool mca_coll_pipering_stream_shows(mca_coll_pipering_context_t *context,
                                    const mca_coll_pipering_plan_t *plan, bool *agrees);

/** Keeps what this rank saw: a block of so many bytes took so many seconds, 0: it saw nothing. */
void mca_coll_pipering_stream_note(mca_coll_pipering_context_t *context, double seconds,
                                   double bytes);

/**
 * A sighting, with all memory that it will need; NULL: no memory. Must be made before the call
 * that is to show the rate sends anything, so that a rank without memory fails by itself.
 */
mca_coll_pipering_sighting_t *
mca_coll_pipering_sighting_new(const mca_coll_pipering_context_t *context);

/** Frees a sighting (NULL: nothing), whatever became of it. */
void mca_coll_pipering_sighting_free(mca_coll_pipering_sighting_t *sighting);

/** Begins to tell the other ranks what this one saw. */
void mca_coll_pipering_sighting_begin(mca_coll_pipering_sighting_t *sighting,
                                      const mca_coll_pipering_context_t *context);

/**
 * Moves that on without waiting; true: it is over, with its error in *rc. Without an error the
 * communicator's machine has the rate of its links from now on, and its plans are dropped. `bytes`
 * of the call: the rate counts the more in the process.
 */
bool mca_coll_pipering_sighting_end(mca_coll_pipering_context_t *context,
                                    mca_coll_pipering_sighting_t *sighting, size_t bytes, int *rc);

END_C_DECLS

#endif
