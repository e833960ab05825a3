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
 * Adapters: what the system says of the links that carry this process's messages, and of its
 * processors. Nothing is measured.
 */

#ifndef MCA_COLL_PIPERING_ADAPTERS_H
#define MCA_COLL_PIPERING_ADAPTERS_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "ompi/mca/coll/pipering/plan/coll_pipering_plan_machine.h"

BEGIN_C_DECLS

/** The word of the slowest adapter in use. */
typedef struct mca_coll_pipering_word_t {
    uint32_t beta;     /**< picoseconds a byte */
    uint32_t bound;    /**< 1: the adapter is virtual, bonded or silent: links may be slower */
    uint32_t eager;    /**< bytes that the transport sends without asking, 0: it does not say */
    uint32_t transport; /**< mca_coll_pipering_transport_t */
} mca_coll_pipering_word_t;

/** Asks once, with the PML selected. */
mca_coll_pipering_word_t mca_coll_pipering_adapters_word(void);

/** Makes *word the one that holds for both; commutative. */
void mca_coll_pipering_word_merge(mca_coll_pipering_word_t *word,
                                  const mca_coll_pipering_word_t *other);

/** The usual machine for a word. */
mca_coll_pipering_machine_t
mca_coll_pipering_word_machine(const mca_coll_pipering_word_t *word);

/** Processors of this node that the processes of a job may use; at least 1. */
double mca_coll_pipering_processors(void);

END_C_DECLS

#endif
