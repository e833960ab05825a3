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
 * The cycle through all vertices but one of an open mesh whose extents are all odd. It has no
 * Hamiltonian cycle: each step goes from a vertex whose coordinates have an even sum to one where
 * it is odd or back, and of the even ones there is one more. So vertex 0 is left out.
 *
 *      (0)  o--o  o--o       two dimensions: row 1 with pairs of row 0 as teeth, then the rows
 *           |  |  |  |       below but for the first column, in which it comes back
 *      o----o  o--o  o
 *      |             |       more: the layers of the last dimension but for the lowest one are a
 *      o----o--o--o--o       mesh with a Hamiltonian cycle, and the lowest one has the cycle of
 *                            fewer dimensions; a link of each is replaced by two between them
 *
 * Cost: that of the layers' Hamiltonian cycle. Limits: two dimensions or more, of 3 or more each.
 */

#include <string.h>

#include "coll_pipering_plan_mesh.h"

/* Two dimensions: row 1 with pairs of row 0 as teeth, the rows below, back in the first column. */
static void wind_teeth(const int *extent, int *order)
{
    const int rows = extent[0], columns = extent[1];
    int i = 0;

    for (int y = 1; y < columns; ++y) {
        const bool up = 1 == y % 2;
        order[i++] = up ? columns + y : y;
        order[i++] = up ? y : columns + y;
    }
    for (int x = 2; x < rows; ++x) {
        for (int k = 1; k < columns; ++k) {
            order[i++] = x * columns + (1 == x % 2 ? k : columns - k);
        }
    }
    for (int x = rows - 1; 1 <= x; --x) {
        order[i++] = x * columns;
    }
}

/* Puts the cycle of the upper layers between two neighbours in that of the lowest one. */
static bool splice(const int *lowest, int count, const int *upper, int n, int *place, int layers,
                   int *order)
{
    for (int i = 0; i < n; ++i) {
        place[upper[i]] = i;
    }
    for (int i = 0; i < count; ++i) {
        const int u = lowest[i], v = lowest[(i + 1) % count];
        const int from = place[u * (layers - 1)], to = place[v * (layers - 1)];
        const int ahead = (to - from + n) % n;
        if (1 == ahead || n - 1 == ahead) {
            for (int k = 0; k < count; ++k) {
                order[k] = lowest[(i + 1 + k) % count] * layers;
            }
            for (int k = 0; k < n; ++k) {
                const int w = upper[((1 == ahead ? from - k : from + k) + n) % n];
                order[count + k] = w / (layers - 1) * layers + w % (layers - 1) + 1;
            }
            return true;
        }
    }
    return false;
}

/* One dimension after the other: its lowest layer has the cycle of fewer of them. */
bool mca_coll_pipering_near_cycle(const mca_coll_pipering_extents_t *extents, int *order,
                                  void *scratch)
{
    mca_coll_pipering_extents_t upper = *extents;
    int n = extents->extent[0] * extents->extent[1];

    wind_teeth(extents->extent, order);
    for (upper.dims = 3; upper.dims <= extents->dims; ++upper.dims) {
        const int layers = extents->extent[upper.dims - 1], above = n * (layers - 1);
        int *lowest = scratch, *cycle = lowest + n, *place = cycle + above;
        memcpy(lowest, order, (size_t) (n - 1) * sizeof(int));
        upper.extent[upper.dims - 1] = layers - 1;
        if (1 != mca_coll_pipering_cycles(&upper, cycle, place)
            || !splice(lowest, n - 1, cycle, above, place, layers, order)) {
            return false;
        }
        upper.extent[upper.dims - 1] = layers;
        n *= layers;
    }
    return true;
}
