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

BEGIN_C_DECLS

/**
 * The file that describes the machine where the user names none, "": no file. A package may name
 * one of the site, which describes nothing as long as it states nothing.
 */
#if !defined(MCA_COLL_PIPERING_SITE_MACHINE)
#    define MCA_COLL_PIPERING_SITE_MACHINE ""
#endif


/** What all ranks of a communicator know alike, once it is ready. */
typedef struct mca_coll_pipering_setup_t mca_coll_pipering_setup_t;

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

/** Whether ranks are on different leaf switches; then each knows those of all of them. */
bool mca_coll_pipering_setup_far(const mca_coll_pipering_setup_t *setup);

/** How many nodes there are. */
int mca_coll_pipering_setup_nodes(const mca_coll_pipering_setup_t *setup);

/**
 * The mesh of the communicator, and with what calls go along in it; NULL: it has none. Once the
 * setup is ready and its ranks do not differ.
 */
mca_coll_pipering_ways_t *mca_coll_pipering_setup_ways(const mca_coll_pipering_setup_t *setup);

/** Most ranks on a node; and ranks per processor where there are most of them. */
int mca_coll_pipering_setup_ppn(const mca_coll_pipering_setup_t *setup);
double mca_coll_pipering_setup_load(const mca_coll_pipering_setup_t *setup);

/** The machine that all ranks agree on. */
const mca_coll_pipering_machine_t *
mca_coll_pipering_setup_machine(const mca_coll_pipering_setup_t *setup);

/**
 * The same without what streams of other communicators have shown: what calls whose order of
 * combining matters are decided by, so that their results do not depend on what was timed.
 */
const mca_coll_pipering_machine_t *
mca_coll_pipering_setup_stated(const mca_coll_pipering_setup_t *setup);

/** The modules below, as all ranks see them. */
mca_coll_pipering_below_t mca_coll_pipering_setup_below(const mca_coll_pipering_setup_t *setup);

/** Prints a machine as a line that can be pasted into a file, if a verbose line is wanted. */
void mca_coll_pipering_machine_report(const mca_coll_pipering_context_t *context,
                                      const mca_coll_pipering_machine_t *machine,
                                      const char *source);

/** The tag of agreements between the ranks of the communicator, one at a time. */
int mca_coll_pipering_setup_tag(const mca_coll_pipering_setup_t *setup);

/** Notes an error, if it is one and the first: the communicator's calls end by it. */
void mca_coll_pipering_setup_fail(mca_coll_pipering_setup_t *setup, int rc);

void mca_coll_pipering_setup_free(mca_coll_pipering_setup_t *setup);

END_C_DECLS

#endif
