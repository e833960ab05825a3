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
 * The door of this folder, which has all that only a mesh of nodes needs: what the user declares
 * of the machine's wiring, algorithms along it, and MPI_Barrier. Other folders include no other
 * header of it. Pure C, as the choice is.
 */

#ifndef MCA_COLL_PIPERING_MESH_H
#define MCA_COLL_PIPERING_MESH_H

#include <stdbool.h>
#include <stdint.h>

#include "ompi/mca/coll/pipering/decide/coll_pipering_registry.h"

struct mca_coll_pipering_context_t;
struct mca_coll_pipering_process_t;
struct mca_coll_pipering_rounds_args_t;
struct mca_coll_pipering_scheduled_t;

/** Dimensions that a mesh may have. */
#define MCA_COLL_PIPERING_MESH_DIMS 8

/** The rows of algorithms along a mesh. */
#define MCA_COLL_PIPERING_MESH_ROWS 8
extern const mca_coll_pipering_row_t mca_coll_pipering_mesh_rows[MCA_COLL_PIPERING_MESH_ROWS];

/** The routes, and links in or out of one, that any algorithm along a mesh has at most. */
void mca_coll_pipering_mesh_room(const struct mca_coll_pipering_ways_t *ways, int *pipes,
                                 int *links);

/* ---- the mesh of a communicator ---- */

/** A communicator's mesh, and what its calls go along (coll_pipering_ways.h). */
typedef struct mca_coll_pipering_ways_t mca_coll_pipering_ways_t;

/**
 * Finds the mesh of a communicator; NULL: there is none. What is wrong with a declaration is said
 * once. OMPI_ERR_OUT_OF_RESOURCE.
 */
int mca_coll_pipering_ways_find(struct mca_coll_pipering_context_t *context,
                                mca_coll_pipering_ways_t **found);
void mca_coll_pipering_ways_free(mca_coll_pipering_ways_t *ways);

/** Finds the cycles, once, and the rings along them. False: no memory. */
bool mca_coll_pipering_ways_wind(mca_coll_pipering_ways_t *ways);

/* ---- declarations ---- */

/** Whether coll_pipering_mesh is set; without it no call changes. Equal on all ranks of a job. */
bool mca_coll_pipering_mesh_declared(const struct mca_coll_pipering_process_t *process);

/**
 * Whether exchanges on a communicator should suit a mesh: one is declared for all ranks, extents
 * fit the job, and the ranks are on several nodes, so that data goes along links. Equal on all
 * ranks of a job. O(p) the first time.
 */
bool mca_coll_pipering_mesh_for_exchanges(struct mca_coll_pipering_context_t *context);

/** Forgets the declaration that has been read. */
void mca_coll_pipering_mesh_forget(struct mca_coll_pipering_process_t *process);

/* ---- calls ---- */

/** Makes the schedule of an allreduce along lines (coll_pipering_lines.h). */
int mca_coll_pipering_mesh_lines(const struct mca_coll_pipering_rounds_args_t *args,
                                 const mca_coll_pipering_ways_t *ways,
                                 struct mca_coll_pipering_scheduled_t **made);

#endif
