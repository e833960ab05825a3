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
 * Registry: what there is to know of each collective, and a row for each of its algorithms.
 *
 * An algorithm that is added takes a value of mca_coll_pipering_algorithm_t, a row of
 * coll_pipering_registry.c, and a function that makes its plan (coll_pipering_draft.h).
 */

#ifndef MCA_COLL_PIPERING_REGISTRY_H
#define MCA_COLL_PIPERING_REGISTRY_H

#include "coll_pipering_params.h"

struct mca_coll_pipering_draft_t;
struct mca_coll_pipering_plan_t;
struct mca_coll_pipering_ways_t;

/**
 * Values of the variables of algorithms. Tools may have stored them: none ever changes, and none of
 * an algorithm that is gone (2, 6 to 9) is given to another one.
 */
typedef enum {
    MCA_COLL_PIPERING_AUTO = 0,
    MCA_COLL_PIPERING_RING = 1,
    MCA_COLL_PIPERING_OFF = 3,
    MCA_COLL_PIPERING_PIPELINE = 4,
    MCA_COLL_PIPERING_MERGED = 5,
    MCA_COLL_PIPERING_MESH_TREES = 10,
    MCA_COLL_PIPERING_MESH_PATH = 11,
    MCA_COLL_PIPERING_MESH_CYCLES = 12,
    MCA_COLL_PIPERING_MESH_LINES = 13,
    MCA_COLL_PIPERING_ROUNDS = 14,
    MCA_COLL_PIPERING_PULLS = 15,
    MCA_COLL_PIPERING_LEADERS = 16
} mca_coll_pipering_algorithm_t;

/** What the floors have to know of a collective. */
typedef struct mca_coll_pipering_collective_row_t {
    const char *name[MCA_COLL_PIPERING_FORMS]; /**< of its functions, without MPI_ */
    bool gathers; /**< each rank has a contribution, else a root or all have a vector */
    int fills, fills_loaded; /**< on one node it pays from so many times the bytes that fill a chain
                                  of ranks, and where these share processors; 0: never */
} mca_coll_pipering_collective_row_t;

/** An algorithm of a collective. */
typedef struct mca_coll_pipering_row_t {
    mca_coll_pipering_collective_t collective;
    mca_coll_pipering_algorithm_t algorithm; /**< value of the variable */
    const char *value;                       /**< the same as users write it */
    const char *help;                        /**< what a forced one does */
    const char *text;                        /**< in verbose lines */
    mca_coll_pipering_algorithm_t instead;   /**< serves calls that a forced one cannot */
    int pipes;     /**< that a call consists of at most, 0: none ... */
    int links;     /**< ... and links in, or out, that a rank has in one at most */
    bool along_mesh; /**< it needs a mesh, by which these are found then */
    bool scatters; /**< its pipelines go around the ring, one after the other */
    void (*decide)(struct mca_coll_pipering_draft_t *draft);
    /**
     * Modelled seconds that it takes at least, or fewer above `enough`, where its plan takes long;
     * NULL: it does not. Pipelines that the draft holds are lost.
     */
    double (*least)(struct mca_coll_pipering_draft_t *draft, double enough);
    /**
     * The routes of a rank by a plan that is made; NULL: there are none, or `decide` makes them.
     */
    void (*route)(struct mca_coll_pipering_draft_t *draft);
    /** In rounds: adds up what its schedule moves in and out of a rank. NULL: it has pipelines. */
    void (*volumes)(struct mca_coll_pipering_draft_t *draft);
    /** Whether it can serve a call; NULL: any. */
    bool (*can)(const struct mca_coll_pipering_draft_t *draft);
    bool forced; /**< it is never weighed */
} mca_coll_pipering_row_t;

/** The collective whose variable says a call's algorithm: the two reduce-scatters have one. */
static inline mca_coll_pipering_collective_t
mca_coll_pipering_variable_of(mca_coll_pipering_collective_t collective)
{
    return MCA_COLL_PIPERING_REDUCE_SCATTER_BLOCK == collective ? MCA_COLL_PIPERING_REDUCE_SCATTER
                                                                : collective;
}

/** What serves a call that no row does; lines of a mesh serve barriers, too. */
#define MCA_COLL_PIPERING_TEXT_NO_DATA "no data"
#define MCA_COLL_PIPERING_TEXT_FIXED_POINT "fixed-point sum"
#define MCA_COLL_PIPERING_TEXT_LINES "lines of a mesh"

/** Whether calls go by the schedule engine, in rounds; else by pipelines. */
static inline bool mca_coll_pipering_in_rounds(const mca_coll_pipering_row_t *row)
{
    return NULL != row->volumes;
}

const mca_coll_pipering_collective_row_t *
mca_coll_pipering_collective_row(mca_coll_pipering_collective_t collective);

/**
 * The row of a collective behind `row`, the first behind NULL; NULL: there is none. The first
 * one can serve any call.
 */
const mca_coll_pipering_row_t *mca_coll_pipering_next_row(mca_coll_pipering_collective_t collective,
                                                          const mca_coll_pipering_row_t *row);

/** The row of an algorithm; NULL: there is none, as for auto and off. */
const mca_coll_pipering_row_t *mca_coll_pipering_find_row(mca_coll_pipering_collective_t collective,
                                                          int algorithm);

#endif
