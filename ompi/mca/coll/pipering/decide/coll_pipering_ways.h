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

#include "ompi/mca/coll/pipering/mesh/coll_pipering_plan_mesh.h"

#if defined(c_plusplus) || defined(__cplusplus)
extern "C" {
#endif

/** A communicator's mesh, and what its calls go along. */
typedef struct mca_coll_pipering_ways_t {
    mca_coll_pipering_mesh_t mesh;
    int cycles; /**< Hamiltonian cycles, -1: they have not been looked for */
    mca_coll_pipering_cycle_t cycle; /**< of paths; without a length there is none */
    mca_coll_pipering_ring_t ring[2 * MCA_COLL_PIPERING_MESH_DIMS]; /**< [2 cycles] along each
                                                                         and against it */
    void *memory; /**< of mesh */
    void *found;  /**< of the rest */
    size_t size;  /**< bytes of all that */
} mca_coll_pipering_ways_t;

/** Ways of p ranks, whose mesh is to be filled (mca_coll_pipering_mesh_fill); NULL: no memory. */
mca_coll_pipering_ways_t *mca_coll_pipering_ways_new(int p);

void mca_coll_pipering_ways_free(mca_coll_pipering_ways_t *ways);

/** Equal on ranks that see the same mesh; 0 for none. */
uint32_t mca_coll_pipering_ways_hash(const mca_coll_pipering_ways_t *ways);

/** Finds the cycles, once, and the rings along them. False: no memory. */
bool mca_coll_pipering_ways_wind(mca_coll_pipering_ways_t *ways);

#if defined(c_plusplus) || defined(__cplusplus)
}
#endif

#endif
