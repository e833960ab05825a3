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
 * Setup of a communicator: what all its ranks must know alike before they plan a call.
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


typedef struct mca_coll_pipering_setup_t mca_coll_pipering_setup_t;

/** What all ranks of a communicator know alike. */
typedef struct mca_coll_pipering_known_t {
    mca_common_colltools_nodes_t nodes;
    bool far; /**< ranks are on different leaf switches; then each knows those of all of them */
    mca_coll_pipering_machine_t machine; /**< by a file, or by adapters */
    mca_coll_pipering_below_t below;     /**< the modules below */
    mca_coll_pipering_ways_t *ways; /**< its mesh, and with what calls go along in it; or NULL */
    int tag; /**< of agreements between the ranks, one at a time */
} mca_coll_pipering_known_t;

/**
 * Once a process, before it sets up a communicator: finds the leaf switch of its node, by lines or
 * @FILE ("": none) that name it, or as Slurm says.
 */
void mca_coll_pipering_setup_switches(const char *switches);

/**
 * Asks the system what the setup of a communicator will want to know, ahead of its first call. O(p)
 * look-ups in what PMIx knows; nothing is sent.
 */
void mca_coll_pipering_setup_prepare(mca_coll_pipering_context_t *context);

/**
 * Starts the setup of a communicator; local, it only reserves tags. Must be called
 * by all ranks at the same place in their sequence of collective calls.
 */
int mca_coll_pipering_setup_start(mca_coll_pipering_context_t *context);

/** Moves the setup on without waiting; the number of steps made. */
int mca_coll_pipering_setup_progress(mca_coll_pipering_setup_t *setup);

bool mca_coll_pipering_setup_ready(const mca_coll_pipering_setup_t *setup);

/** OMPI_SUCCESS, or what ended the setup. */
int mca_coll_pipering_setup_error(const mca_coll_pipering_setup_t *setup);

/** TAKEN, or why no call can be served on this communicator: its ranks differ. */
mca_coll_pipering_reason_t mca_coll_pipering_setup_judge(const mca_coll_pipering_setup_t *setup);

/** What all ranks know alike, once the setup is ready and they do not differ. Borrowed. */
const mca_coll_pipering_known_t *
mca_coll_pipering_setup_known(const mca_coll_pipering_setup_t *setup);

/** Prints a machine as a line that can be pasted into a file, if a verbose line is wanted. */
void mca_coll_pipering_machine_report(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_machine_t *machine,
                                      const char *source);

/** Notes an error, if it is one and the first: the communicator's calls end by it. */
void mca_coll_pipering_setup_fail(mca_coll_pipering_setup_t *setup, int rc);

void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup);

END_C_DECLS

#endif
