/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "ranks_arena.h"

#include <stdlib.h>
#include <string.h>

#include "coll_pipering_arena.h"
#include "tap.h"

#define LEASES 512

static struct {
    mca_coll_pipering_neighbour_t neighbour[POSING_RANKS][POSING_RANKS];
    mca_coll_pipering_fifo_t *lease[LEASES];
} world;

mca_coll_pipering_neighbour_t *mca_coll_pipering_arena_neighbour(ompi_communicator_t *comm,
                                                                 int rank)
{
    return &world.neighbour[comm->rank][rank];
}

static mca_coll_pipering_fifo_t **find_lease(const mca_coll_pipering_fifo_t *fifo)
{
    for (int i = 0; i < LEASES; i++) {
        if (fifo == world.lease[i]) {
            return &world.lease[i];
        }
    }
    return NULL;
}

mca_coll_pipering_fifo_t *mca_coll_pipering_arena_lease(size_t block_bytes, size_t *size)
{
    mca_coll_pipering_fifo_t **lease = find_lease(NULL);

    while (tap_once_in(3)) {
        *size /= 2;
    }
    if (NULL == lease || tap_once_in(8) || !mca_coll_pipering_fifo_carries(*size, block_bytes)) {
        return NULL;
    }
    *lease = tap_memory(sizeof(**lease) + *size);
    mca_coll_pipering_fifo_clear(*lease);
    return *lease;
}

void mca_coll_pipering_arena_release(const mca_coll_pipering_fifo_t *fifo)
{
    mca_coll_pipering_fifo_t **lease = find_lease(fifo);

    free(*lease);
    *lease = NULL;
}

const mca_common_colltools_segment_t *mca_coll_pipering_arena_segment(void)
{
    static const mca_common_colltools_segment_t segment = 1;
    return &segment;
}

size_t mca_coll_pipering_arena_place(const mca_coll_pipering_fifo_t *fifo)
{
    return (size_t) fifo;
}

void mca_coll_pipering_arena_note(mca_coll_pipering_neighbour_t *neighbour, bool attached)
{
    neighbour->has_mine = attached ? MCA_COLL_PIPERING_ATTACHED : MCA_COLL_PIPERING_UNABLE;
}

mca_coll_pipering_fifo_t *
mca_coll_pipering_arena_attach(mca_coll_pipering_neighbour_t *neighbour,
                               const mca_common_colltools_segment_t *segment, size_t place)
{
    if (!neighbour->tried && NULL != segment) {
        neighbour->tried = true;
        neighbour->segment = tap_once_in(6) ? 0 : *segment;
    }
    neighbour->uses += 0 != neighbour->segment;
    return 0 == neighbour->segment ? NULL : (mca_coll_pipering_fifo_t *) place;
}

void mca_coll_pipering_arena_detach(mca_coll_pipering_neighbour_t *neighbour)
{
    neighbour->uses--;
}

bool ranks_arena_close(void)
{
    bool empty = true;

    for (int i = 0; i < LEASES; i++) {
        empty &= NULL == world.lease[i];
        free(world.lease[i]);
    }
    for (int i = 0; i < POSING_RANKS * POSING_RANKS; i++) {
        empty &= 0 == world.neighbour[i / POSING_RANKS][i % POSING_RANKS].uses;
    }
    memset(&world, 0, sizeof(world));
    return empty;
}
