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
 * The values of variables that a call is decided on, and why a call goes to the module below.
 */

#ifndef MCA_COLL_PIPERING_PARAMS_H
#define MCA_COLL_PIPERING_PARAMS_H

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_collective.h"

#include <stdbool.h>
#include <stddef.h>

#include "ompi/mca/common/colltools/common_colltools_variable.h"

/** Forms of each of them. */
typedef enum {
    MCA_COLL_PIPERING_BLOCKING,
    MCA_COLL_PIPERING_NONBLOCKING,
    MCA_COLL_PIPERING_PERSISTENT,
    MCA_COLL_PIPERING_FORMS
} mca_coll_pipering_form_t;

/**
 * What a call is decided on besides its sizes; equal on all ranks, and a part of the key of a plan.
 * Compared as bytes, so it has no gaps.
 */
typedef struct mca_coll_pipering_params_t {
    int algorithm;   /**< mca_coll_pipering_algorithm_t; there is a variable for each collective */
    int block_model; /**< mca_coll_pipering_block_model_t */
    size_t window;   /**< blocks, 0: chosen from the block size */
    size_t block_size;
    size_t rounds_max_total; /**< bytes that gathers in rounds may be about */
    size_t rounds_packed;    /**< bytes of a piece that goes with others there, 0: by costs */
    size_t ring_buffer_size; /**< bytes, 0: blocks go as messages inside a node too */
} mca_coll_pipering_params_t;

/** Variables that are a part of it, and their values as a user has set them. */
#define MCA_COLL_PIPERING_PARAMS 6
extern const mca_common_colltools_variable_t
    mca_coll_pipering_variables[MCA_COLL_PIPERING_PARAMS];
extern mca_coll_pipering_params_t mca_coll_pipering_given;

/** Values that are in range: of `given`, or the default where a tool has written another one. */
mca_coll_pipering_params_t mca_coll_pipering_params_in_range(int algorithm);

/** The default of all. */
mca_coll_pipering_params_t mca_coll_pipering_params_preset(void);

/** Bytes that variables may say. */
#define MCA_COLL_PIPERING_SIZE_MOST ((size_t) 1 << 30)

/** Why a call went to the module below. */
typedef enum {
    MCA_COLL_PIPERING_TAKEN, /**< it did not */
    MCA_COLL_PIPERING_FALLBACK_OFF,
    MCA_COLL_PIPERING_FALLBACK_SMALL,
    MCA_COLL_PIPERING_FALLBACK_LOCAL,
    MCA_COLL_PIPERING_FALLBACK_MODEL,
    MCA_COLL_PIPERING_FALLBACK_UNLIKE,
    MCA_COLL_PIPERING_FALLBACK_UNEQUAL,
    MCA_COLL_PIPERING_FALLBACK_MISSING,  /**< some ranks do not have the component */
    MCA_COLL_PIPERING_FALLBACK_UNCHOSEN, /**< auto never takes it; no model is asked */
    MCA_COLL_PIPERING_FALLBACK_MESHLESS, /**< it goes along a mesh, which is not there */
    MCA_COLL_PIPERING_REASONS
} mca_coll_pipering_reason_t;

/** In words; TAKEN has no name. */
extern const mca_common_colltools_reason_t mca_coll_pipering_reasons[MCA_COLL_PIPERING_REASONS];

#endif
