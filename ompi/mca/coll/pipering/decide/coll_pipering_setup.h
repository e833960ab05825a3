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
 * Setup of a communicator: what all its ranks know alike before they plan a call. It comes from the
 * cards of their processes (common_colltools_card.h), so nothing is sent, and no rank waits.
 */

#ifndef MCA_COLL_PIPERING_SETUP_H
#define MCA_COLL_PIPERING_SETUP_H

#include "ompi/mca/common/colltools/common_colltools_compat.h"

#include "coll_pipering_choice.h"
#include "coll_pipering_context.h"
#include "ompi/mca/coll/pipering/mesh/coll_pipering_mesh.h"
#include "ompi/mca/common/colltools/common_colltools_nodes.h"

BEGIN_C_DECLS

/**
 * The file that describes the machine where the user names none, "": no file. A package may name
 * one of the site, which describes nothing as long as it states nothing.
 */
#if !defined(MCA_COLL_PIPERING_SITE_MACHINE)
#    define MCA_COLL_PIPERING_SITE_MACHINE ""
#endif

/** Calls whose plan is kept. */
#define MCA_COLL_PIPERING_PLANS 8

/**
 * What all ranks of a communicator know alike, and the plans of its calls. Communicators of which
 * as much is known, on the same ranks, share it.
 */
typedef struct mca_coll_pipering_setup_t {
    int users; /**< communicators, and the process while it is kept; the last one frees it */
    mca_coll_pipering_reason_t reason; /**< TAKEN, or why no call can be served: ranks differ; then
                                            the rest is not there */
    mca_coll_pipering_situation_t at;    /**< of its calls, which points at what follows */
    int *places;                         /**< [2 ranks] nodes and leaf switches of ranks */
    mca_coll_pipering_machine_t machine;
    mca_coll_pipering_ways_t *ways; /**< its mesh, by which it is not shared; or NULL */
    uint16_t small[MCA_COLL_PIPERING_COLLECTIVES]; /**< bit i: the module below serves calls about
                                                        2^i bytes and more, below 2^(i + 1) */
    opal_mutex_t lock; /**< of what follows */
    uint16_t judged[MCA_COLL_PIPERING_COLLECTIVES]; /**< bit i: it is known whether it does */
    mca_coll_pipering_plan_t *plan[MCA_COLL_PIPERING_PLANS];
    int oldest; /**< plan that is replaced next */
} mca_coll_pipering_setup_t;

/**
 * Once a process, before its card is told: reads the files that variables name, and completes what
 * the process says of itself.
 */
void mca_coll_pipering_setup_open(mca_coll_pipering_process_t *process,
                                  mca_common_colltools_facts_t *own);

/**
 * Sets up a communicator, unless it is: context->setup. O(p), once; local, so ranks may come here
 * in any order and thread. OMPI_ERR_OUT_OF_RESOURCE, or OMPI_ERROR, whose reason the user has been
 * told.
 */
int mca_coll_pipering_set_up(mca_coll_pipering_context_t *context);

/** Lets go of what is known of a communicator (NULL: nothing). */
void mca_coll_pipering_setup_release(mca_coll_pipering_setup_t *setup);

/** Once a process, when no communicator is left. */
void mca_coll_pipering_setup_close(mca_coll_pipering_process_t *process);

END_C_DECLS

#endif
