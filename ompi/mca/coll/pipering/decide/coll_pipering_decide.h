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
 * Decide: from the sizes of a call to its plan.
 */

#ifndef MCA_COLL_PIPERING_DECIDE_H
#define MCA_COLL_PIPERING_DECIDE_H

#include "ompi/mca/common/irregular/common_irregular_compat.h"

#include "coll_pipering_context.h"
#include "coll_pipering_registry.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_grid.h"
#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_route.h"

BEGIN_C_DECLS

/** Sizes of contributions by the signature, which MPI makes equal on all ranks. */
typedef struct mca_coll_pipering_sizes_t {
    const int *counts; /**< [parts] elements, or NULL: `count` each */
    size_t count;
    size_t scale; /**< units in an element */
    size_t unit;  /**< bytes that must not be cut; 1 where data only moves */
    int parts;    /**< p for a gather, else 1 */
} mca_coll_pipering_sizes_t;

/** Units of contribution i. */
static inline size_t mca_coll_pipering_size_of(const mca_coll_pipering_sizes_t *sizes, int i)
{
    return sizes->scale * (NULL == sizes->counts ? sizes->count : (size_t) sizes->counts[i]);
}

/** What a call is, to those who decide; equal on all ranks. */
typedef struct mca_coll_pipering_key_t {
    mca_coll_pipering_collective_t collective;
    mca_coll_pipering_params_t params;
    unsigned lessons; /**< 1 + those that were over when it was made; 0: it knows of none */
    bool must_take; /**< nobody else can serve the call any more */
    bool wanted;    /**< as a pipeline, since nothing is known of links */
    bool varied;    /**< the block size of the parameters is not the user's: the call teaches */
    bool ordered;   /**< of a reduction: the operation does not commute */
    bool reproducible; /**< likewise: values must be combined in the same order on every run */
    int root;
    mca_coll_pipering_sizes_t sizes; /**< its counts are borrowed */
} mca_coll_pipering_key_t;

/** Who has what of a call, in which order. */
typedef struct mca_coll_pipering_places_t {
    mca_coll_pipering_ring_t ring;
    size_t *bytes;  /**< [ring.size] by rank, in units */
    size_t *starts; /**< [ring.size] where they begin, of a scattered vector */
} mca_coll_pipering_places_t;

/** All that is decided for a call; an object, kept while in use. */
typedef struct mca_coll_pipering_plan_t {
    opal_object_t super;
    mca_coll_pipering_key_t key;       /**< with counts of its own */
    mca_coll_pipering_reason_t reason; /**< MCA_COLL_PIPERING_TAKEN: this component serves it */
    const mca_coll_pipering_row_t *row; /**< the algorithm that serves it */
    size_t total;                      /**< bytes */
    size_t largest;                    /**< contribution, in units */
    int some;                          /**< the first rank that contributes anything */
    mca_coll_pipering_places_t alone;  /**< a vector as one contribution; not of a gather */
    mca_coll_pipering_places_t all;    /**< contributions of all ranks; of a gather, or a vector
                                            that may be scattered */
    mca_coll_pipering_ring_t ring;     /**< one of these two, which the algorithm goes by ... */
    size_t *bytes;                     /**< ... by rank, in units */
    size_t *starts;
    mca_coll_pipering_route_t *route; /**< [pipes] */
    int pipes;
    mca_coll_pipering_cut_t cut; /**< in units */
    unsigned window;
    mca_coll_pipering_ring_t by_node; /**< ranks in the order of nodes, of an exchange in rounds */
    mca_coll_pipering_grid_t grid;
    bool shared;               /**< links inside a node go through ring buffers */
    size_t equation2;          /**< B of the corrected equation (2), of a gather */
    uint64_t rounds;           /**< of the ring of nodes, or stages of the chain */
    mca_coll_pipering_volume_t in, out; /**< of this rank, over all its links; in bytes */
    size_t in_from_network;    /**< bytes */
    double time, rival_time;   /**< modelled seconds */
    void *memory;
    size_t size; /**< bytes of it */
} mca_coll_pipering_plan_t;

OBJ_CLASS_DECLARATION(mca_coll_pipering_plan_t);

/**
 * The plan used last by a call of this collective with these counts of elements of `scale`
 * bytes, retained for the caller; NULL: that was another call.
 */
mca_coll_pipering_plan_t *mca_coll_pipering_plan_recall(mca_coll_pipering_context_t *context,
                                                        mca_coll_pipering_collective_t collective,
                                                        const mca_coll_pipering_sizes_t *sizes);

/**
 * The plan for a call whose sizes are those of `recalled`, if that is not NULL. The setup must
 * be ready. The plan is retained for the caller, `key` and `recalled` are borrowed.
 */
int mca_coll_pipering_plan_get(mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_key_t *key,
                               mca_coll_pipering_plan_t *recalled,
                               mca_coll_pipering_plan_t **plan);

/**
 * Makes the plan of a call on a communicator that is set up, only to see it: it is not kept, and
 * no other rank takes part. The caller releases it; OMPI_ERR_OUT_OF_RESOURCE: there is none.
 */
int mca_coll_pipering_plan_try(mca_coll_pipering_context_t *context,
                               const mca_coll_pipering_key_t *key,
                               mca_coll_pipering_plan_t **plan);

/** Lets go of all plans that are kept. */
void mca_coll_pipering_plans_drop(mca_coll_pipering_context_t *context);

/** Bytes of a block on average over all contributions. O(p). */
double mca_coll_pipering_plan_length(const mca_coll_pipering_plan_t *plan);

/** What the model says of a plan. */
mca_coll_pipering_forecast_t
mca_coll_pipering_plan_forecast(const mca_coll_pipering_plan_t *plan);

END_C_DECLS

#endif
