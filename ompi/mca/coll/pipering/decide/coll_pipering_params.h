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

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** Forms of each of them. */
typedef enum {
    MCA_COLL_PIPERING_BLOCKING,
    MCA_COLL_PIPERING_NONBLOCKING,
    MCA_COLL_PIPERING_PERSISTENT,
    MCA_COLL_PIPERING_FORMS
} mca_coll_pipering_form_t;

/** What a call is decided on besides its sizes; must be equal on all ranks. */
typedef struct mca_coll_pipering_params_t {
    int algorithm;   /**< mca_coll_pipering_algorithm_t */
    int block_model; /**< mca_coll_pipering_block_model_t */
    int window;      /**< blocks, 0: chosen from the block size */
    size_t block_size;
    size_t min_total;
    size_t rounds_max_total;  /**< bytes that gathers in rounds may be about */
    size_t rounds_packed;     /**< bytes of a contribution that goes with others there */
    size_t ring_buffer_size; /**< bytes, 0: blocks go as messages inside a node too */
} mca_coll_pipering_params_t;

/** Values of variables for sizes; a larger one counts as 0. */
#define MCA_COLL_PIPERING_SIZE_MOST ((size_t) 1 << 30)

/** Values that hold unless a user says otherwise. */
#define MCA_COLL_PIPERING_MIN_TOTAL ((size_t) 8192)
#define MCA_COLL_PIPERING_ROUNDS_MAX_TOTAL ((size_t) 64 << 20)
#define MCA_COLL_PIPERING_ROUNDS_PACKED ((size_t) 8192)
#define MCA_COLL_PIPERING_RING_BUFFER_SIZE ((size_t) 512 * 1024)

/** Why a call went to the module below. */
typedef enum {
    MCA_COLL_PIPERING_TAKEN, /**< it did not */
    MCA_COLL_PIPERING_FALLBACK_OFF,
    MCA_COLL_PIPERING_FALLBACK_SMALL,
    MCA_COLL_PIPERING_FALLBACK_EARLY,
    MCA_COLL_PIPERING_FALLBACK_LOCAL,
    MCA_COLL_PIPERING_FALLBACK_MODEL,
    MCA_COLL_PIPERING_FALLBACK_UNLIKE,
    MCA_COLL_PIPERING_FALLBACK_UNEQUAL,
    MCA_COLL_PIPERING_FALLBACK_SHORT,    /**< a nonblocking one whose order matters */
    MCA_COLL_PIPERING_FALLBACK_UNCHOSEN, /**< auto never takes it; no model is asked */
    MCA_COLL_PIPERING_FALLBACK_MESHLESS, /**< it goes along a mesh, which is not there */
    MCA_COLL_PIPERING_REASONS
} mca_coll_pipering_reason_t;

/** The same in words. */
const char *mca_coll_pipering_reason_text(mca_coll_pipering_reason_t reason);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
