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
 * Ways: what calls go along in the mesh of a communicator. Pure C, as plans are.
 */

#ifndef MCA_COLL_PIPERING_WAYS_H
#define MCA_COLL_PIPERING_WAYS_H

#include "coll_pipering_mesh.h"
#include "coll_pipering_plan_mesh.h"

/** A communicator's mesh, and what its calls go along. */
struct mca_coll_pipering_ways_t {
    mca_coll_pipering_mesh_t mesh;
    int cycles; /**< Hamiltonian cycles, -1: they have not been looked for */
    mca_coll_pipering_cycle_t cycle; /**< of paths; without a length there is none */
    mca_coll_pipering_ring_t ring[2 * MCA_COLL_PIPERING_MESH_DIMS]; /**< [2 cycles] along each
                                                                         and against it */
    void *memory; /**< of mesh */
    void *found;  /**< of the rest */
    size_t size;  /**< bytes of all that */
};

/**
 * Ways of the ranks that stand at vertices `at` [p] of a machine; their mesh has no vertices if
 * they are no box. NULL: no memory.
 */
mca_coll_pipering_ways_t *mca_coll_pipering_ways_new(int p,
                                                     const mca_coll_pipering_extents_t *machine,
                                                     const int *at);

#endif
