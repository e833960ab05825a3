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

/** What all ranks of a communicator know alike. */
typedef struct mca_coll_pipering_known_t {
    mca_coll_pipering_reason_t reason; /**< TAKEN, or why no call can be served: ranks differ; then
                                            the rest is not there */
    mca_common_colltools_nodes_t nodes;
    bool far; /**< ranks are on different leaf switches */
    mca_coll_pipering_machine_t machine; /**< by a file, or by adapters */
    mca_coll_pipering_below_t below;     /**< the modules below */
    mca_coll_pipering_ways_t *ways; /**< its mesh, and with what calls go along in it; or NULL */
} mca_coll_pipering_known_t;

/**
 * Once a process, before its card is told: reads the files that variables name, and completes what the
 * process says of itself.
 */
void mca_coll_pipering_setup_open(mca_coll_pipering_process_t *process,
                                  mca_common_colltools_facts_t *own);

/**
 * Sets up a communicator, unless it is: context->known. O(p), once; local, so ranks may come here in
 * any order and thread. OMPI_ERR_OUT_OF_RESOURCE, or OMPI_ERROR, whose reason the user has been told.
 */
int mca_coll_pipering_set_up(mca_coll_pipering_context_t *context);

/** Frees what is known of a communicator (NULL: nothing). */
void mca_coll_pipering_known_free(mca_coll_pipering_known_t *known);

END_C_DECLS

#endif
