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
 * Ways: the Hamiltonian cycles of a communicator's mesh, the cycle of its paths, and rings along
 * each cycle and against it.
 */

#include "coll_pipering_ways.h"

#include <stdlib.h>
#include <string.h>

mca_coll_pipering_ways_t *mca_coll_pipering_ways_new(int p,
                                                     const mca_coll_pipering_extents_t *machine,
                                                     const int *at)
{
    mca_coll_pipering_ways_t *ways = calloc(1, sizeof(*ways));
    void *memory = malloc(mca_coll_pipering_mesh_size(p));
    void *scratch = malloc(mca_coll_pipering_mesh_scratch(machine));

    if (NULL == ways || NULL == memory || NULL == scratch) {
        free(scratch);
        free(memory);
        free(ways);
        return NULL;
    }
    ways->cycles = -1;
    ways->memory = memory;
    ways->size = sizeof(*ways) + mca_coll_pipering_mesh_size(p);
    mca_coll_pipering_mesh_bind(&ways->mesh, p, memory);
    if (!mca_coll_pipering_mesh_fill(&ways->mesh, machine, at, scratch)) {
        ways->mesh.vertices = 0;
    }
    free(scratch);
    return ways;
}

/* ---- cycles ---- */

/* The cycle of paths: the first one, or that through all vertices but one. */
static void find_path(mca_coll_pipering_ways_t *ways, int *order, int *place, void *scratch)
{
    const mca_coll_pipering_mesh_t *mesh = &ways->mesh;
    mca_coll_pipering_cycle_t *cycle = &ways->cycle;

    cycle->vertex = order;
    cycle->place = place;
    cycle->length = 0 < ways->cycles ? mesh->vertices : 0;
    if (0 == ways->cycles && 1 < mesh->extents.dims
        && mca_coll_pipering_near_cycle(&mesh->extents, order, scratch)) {
        cycle->length = mesh->vertices - 1;
    }
    memset(place, -1, (size_t) mesh->vertices * sizeof(int));
    for (int i = 0; i < cycle->length; ++i) {
        place[order[i]] = i;
    }
}

static size_t aligned(size_t size)
{
    return (size + 15) & ~(size_t) 15;
}

bool mca_coll_pipering_ways_wind(mca_coll_pipering_ways_t *ways)
{
    const mca_coll_pipering_mesh_t *mesh = &ways->mesh;
    const size_t n = (size_t) mesh->vertices;
    const size_t most = (size_t) mca_coll_pipering_cycles_count(&mesh->extents);
    const size_t orders = aligned((0 < most ? most : 1) * n * sizeof(int));
    const size_t ring = aligned(mca_coll_pipering_ring_size(mesh->ranks));

    if (0 <= ways->cycles) {
        return true;
    }
    void *scratch = malloc(mca_coll_pipering_cycles_scratch(&mesh->extents));
    const size_t size = orders + aligned(n * sizeof(int)) + 2 * most * ring;
    char *memory = malloc(size);
    if (NULL == scratch || NULL == memory) {
        free(scratch);
        free(memory);
        return false;
    }
    int *order = (int *) memory, *place = (int *) (memory + orders);
    ways->found = memory;
    ways->size += size;
    ways->cycles = mca_coll_pipering_cycles(&mesh->extents, order, scratch);
    find_path(ways, order, place, scratch);
    memory += orders + aligned(n * sizeof(int));
    for (int i = 0; i < 2 * ways->cycles; ++i) {
        mca_coll_pipering_ring_bind(&ways->ring[i], mesh->ranks, memory + (size_t) i * ring);
        mca_coll_pipering_mesh_ring(&ways->ring[i], mesh, order + (size_t) (i / 2) * n,
                                    1 == i % 2);
    }
    free(scratch);
    return true;
}

void mca_coll_pipering_ways_free(mca_coll_pipering_ways_t *ways)
{
    if (NULL != ways) {
        free(ways->found);
        free(ways->memory);
        free(ways);
    }
}
