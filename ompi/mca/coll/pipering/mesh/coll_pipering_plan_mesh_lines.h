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
 * Short calls along the lines of a mesh (plan_mesh_lines): which ranks tell each other what.
 */

#ifndef MCA_COLL_PIPERING_PLAN_MESH_LINES_H
#define MCA_COLL_PIPERING_PLAN_MESH_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "coll_pipering_plan_mesh.h"

/** Ranks of a line that tell each other their values at once: the paper's best for Allreduce. */
#define MCA_COLL_PIPERING_LINES_GROUP 4

/** Whole lines: the paper's best for Barrier. */
#define MCA_COLL_PIPERING_LINES_WHOLE MCA_COLL_PIPERING_MESH_MOST

/** Most bytes of a vector: ranks keep the values of whole groups. */
#define MCA_COLL_PIPERING_LINES_MOST ((size_t) 64 * 1024)

/** Most phases: two a dimension, and the ranks of a vertex are one dimension more. */
#define MCA_COLL_PIPERING_LINES_PHASES (2 * (MCA_COLL_PIPERING_MESH_DIMS + 1))

/** A phase: ranks at these places of a line, in the order in which all combine their values. */
typedef struct mca_coll_pipering_lines_phase_t {
    int parts;   /**< values that are combined, 1: this rank's alone ... */
    int own;     /**< ... of which this rank has this one */
    int sends;   /**< ranks that it sends its own to */
    int dim;     /**< the line's; mesh->extents.dims: the ranks of a vertex */
    bool across; /**< values of groups, else of ranks of one group */
} mca_coll_pipering_lines_phase_t;

/** A call along lines. */
typedef struct mca_coll_pipering_lines_t {
    const mca_coll_pipering_mesh_t *mesh; /**< whose vertices have the same number of ranks */
    int group; /**< ranks of a line in a group at most, 2 or more */
    int me;    /**< rank */
} mca_coll_pipering_lines_t;

/** Whether all vertices have the same number of ranks, as lines need it. O(vertices). */
bool mca_coll_pipering_lines_fit(const mca_coll_pipering_mesh_t *mesh);

/**
 * Fills in the phases of a call, in their order; returns how many there are. O(ranks of a line
 * a dimension).
 */
int mca_coll_pipering_lines_phases(
    const mca_coll_pipering_lines_t *lines,
    mca_coll_pipering_lines_phase_t phase[MCA_COLL_PIPERING_LINES_PHASES]);

/** The rank whose value is part `part` of a phase; this rank for its own. O(ranks of a line). */
int mca_coll_pipering_lines_from(const mca_coll_pipering_lines_t *lines,
                                 const mca_coll_pipering_lines_phase_t *phase, int part);

/** The rank that this one's value goes to as message `send` of a phase. Likewise. */
int mca_coll_pipering_lines_to(const mca_coll_pipering_lines_t *lines,
                               const mca_coll_pipering_lines_phase_t *phase, int send);

/** A call along lines, for the model. */
typedef struct mca_coll_pipering_lines_problem_t {
    const mca_coll_pipering_lines_t *lines;
    size_t bytes;   /**< of the vector */
    double combine; /**< seconds in which a rank combines a byte */
    mca_coll_pipering_link_cost_t cost;
} mca_coll_pipering_lines_problem_t;

/** Modelled seconds, the sum over phases. */
double mca_coll_pipering_lines_time(const mca_coll_pipering_lines_problem_t *problem);

#endif
