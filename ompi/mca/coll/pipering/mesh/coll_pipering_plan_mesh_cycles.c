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
 * Hamiltonian cycles of a mesh, no two of which share a link.
 *
 * A torus of d closed dimensions has d of them, which take all of its links
 * (coll_pipering_plan_mesh_product.c); a mesh without a closed dimension has one if two of its
 * extents exceed 1 and its number of vertices is even. In a mesh of closed and open dimensions the
 * closed ones are the base, whose cycles the others have copies of; without a closed dimension two
 * open ones are, the first of which is even:
 *
 *      o--o--o--o      the latter's cycle winds through the rows but for the first column, in
 *      |        |      which it comes back
 *      o  o--o--o
 *      |  |
 *      o  o--o--o
 *      |        |
 *      o--o--o--o
 *
 * Cost: O(vertices x vertices of the larger half of the dimensions) with a small factor, at first
 * use; where it takes a search, O(vertices^2) within a bound, beyond which there is one cycle less.
 * Limits: a mesh of closed and open dimensions has no more cycles than closed dimensions.
 *
 * Almasi et al., section 3.1, Reduce, has one path; Kotzig, Foregger, and Aubert and Schneider as
 * the steps cite them.
 */

#include <string.h>

#include "coll_pipering_plan_mesh.h"
#include "coll_pipering_plan_mesh_product.h"

typedef mca_coll_pipering_cycles_t cycles_t;

/* ---- dimensions in another order ---- */

/* The dimensions, in that order. */
typedef struct {
    int dims, base; /* the first `base` of them have the cycles that the others have copies of */
    int dim[MCA_COLL_PIPERING_MESH_DIMS];    /* [dims] */
    int extent[MCA_COLL_PIPERING_MESH_DIMS]; /* [dims] */
} arrangement_t;

static void add_dim(arrangement_t *arranged, const mca_coll_pipering_extents_t *extents, int dim)
{
    arranged->dim[arranged->dims] = dim;
    arranged->extent[arranged->dims++] = extents->extent[dim];
}

static int find_even(const mca_coll_pipering_extents_t *extents)
{
    int dim = extents->dims - 1;

    while (0 <= dim && 0 != extents->extent[dim] % 2) {
        --dim;
    }
    return dim;
}

/*
 * Closed dimensions first, from the one behind `skip` others on; without any, an even one and
 * another one. The number of cycles that these have.
 */
static int arrange(const mca_coll_pipering_extents_t *extents, int skip, arrangement_t *arranged)
{
    const int closed = mca_coll_pipering_closed(extents), even = find_even(extents);
    int ahead = 0;

    memset(arranged, 0, sizeof(*arranged));
    if (0 == closed && (0 > even || 2 > extents->dims)) {
        return 0;
    }
    if (0 == closed) {
        add_dim(arranged, extents, even);
    }
    for (int i = 0; i < 2 * extents->dims && arranged->dims < closed; ++i) {
        if (extents->closed[i % extents->dims] && ahead++ >= skip) {
            add_dim(arranged, extents, i % extents->dims);
        }
    }
    for (int i = 0; i < extents->dims; ++i) {
        if (!extents->closed[i] && (0 < closed || i != even)) {
            add_dim(arranged, extents, i);
        }
    }
    arranged->base = 0 < closed ? closed : 2;
    return 0 < closed ? closed : 1;
}

/* The vertex of the mesh that has this number in another order of dimensions. */
static int restore(const mca_coll_pipering_extents_t *extents, const arrangement_t *arranged,
                   int vertex)
{
    int coordinate[MCA_COLL_PIPERING_MESH_DIMS];

    for (int k = arranged->dims - 1; 0 <= k; --k) {
        coordinate[arranged->dim[k]] = vertex % arranged->extent[k];
        vertex /= arranged->extent[k];
    }
    return mca_coll_pipering_vertex_at(extents, coordinate);
}

/* ---- cycles of any mesh ---- */

int mca_coll_pipering_cycles_count(const mca_coll_pipering_extents_t *extents)
{
    arrangement_t arranged;

    return arrange(extents, 0, &arranged);
}

/* Cycles of the base and of its parts, factors, two traces. */
size_t mca_coll_pipering_cycles_scratch(const mca_coll_pipering_extents_t *extents)
{
    return (size_t) mca_coll_pipering_extents_product(extents) * (4 * (size_t) extents->dims + 6)
           * sizeof(int);
}

/* The cycle of an open mesh of two dimensions, the first of which is even. */
static void wind_rows(const int *extent, int *order)
{
    const int rows = extent[0], columns = extent[1];
    int i = 0;

    for (int x = 0; x < rows; ++x) {
        for (int k = 1; k < columns; ++k) {
            order[i++] = x * columns + (0 == x % 2 ? k : columns - k);
        }
    }
    for (int x = rows - 1; 0 <= x; --x) {
        order[i++] = x * columns;
    }
}

/* Cycles of the base of an arrangement, then of the whole mesh. */
static bool find_cycles(const mca_coll_pipering_extents_t *extents, const arrangement_t *arranged,
                        cycles_t cycles, int *memory)
{
    const int *extent = arranged->extent, base_dims = arranged->base;
    cycles_t base = mca_coll_pipering_take_cycles(extent, base_dims, &memory);

    base.count = cycles.count;
    if (0 == mca_coll_pipering_closed(extents)) {
        wind_rows(extent, base.order);
    } else if (!mca_coll_pipering_wind_torus(extent, base_dims, base, memory)) {
        return false;
    }
    if (!mca_coll_pipering_stack(base, extent + base_dims, arranged->dims - base_dims, cycles,
                                 memory)) {
        return false;
    }
    for (int i = 0; i < cycles.count * cycles.n; ++i) {
        cycles.order[i] = restore(extents, arranged, cycles.order[i]);
    }
    return true;
}

/* Opens the first closed dimension; false if there is none. */
static bool open_dim(mca_coll_pipering_extents_t *extents)
{
    for (int i = 0; i < extents->dims; ++i) {
        if (extents->closed[i]) {
            extents->closed[i] = false;
            return true;
        }
    }
    return false;
}

int mca_coll_pipering_cycles(const mca_coll_pipering_extents_t *extents, int *order,
                             void *scratch)
{
    mca_coll_pipering_extents_t some = *extents;
    arrangement_t arranged;
    cycles_t cycles = {.n = mca_coll_pipering_extents_product(extents), .order = order};

    do {
        const int closed = mca_coll_pipering_closed(&some);
        for (int skip = 0; 0 == skip || skip < closed; ++skip) {
            cycles.count = arrange(&some, skip, &arranged);
            if (0 == cycles.count || find_cycles(&some, &arranged, cycles, scratch)) {
                return cycles.count;
            }
        }
    } while (open_dim(&some));
    return 0;
}
