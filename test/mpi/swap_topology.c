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
 * Random topologies: grids with dimensions of 1 and 2, graphs with edges of a rank to
 * itself and edges that are there twice, ranks without any.
 */

#include "swap.h"

#include "tap.h"

#include <stdlib.h>

#define EDGES 24

static MPI_Comm random_grid(MPI_Comm comm, dice_t *dice)
{
    const int dimensions = dice_between(dice, 1, 4);
    int size[4], periodic[4], rest;
    MPI_Comm grid;

    MPI_Comm_size(comm, &rest);
    for (int d = 0; d < dimensions; d++) {
        size[d] = d + 1 == dimensions ? rest : dice_divisor(dice, rest);
        rest /= size[d];
        periodic[d] = !dice_once_in(dice, 3);
    }
    TAP_MPI(MPI_Cart_create(comm, dimensions, size, periodic, 0, &grid));
    return grid;
}

/** Edges of a graph, some of them more than once. */
static int throw_edges(dice_t *dice, int p, int edge[EDGES][2])
{
    const int edges = dice_roll(dice, EDGES + 1);

    for (int i = 0; i < edges; i++) {
        if (0 < i && dice_once_in(dice, 4)) {
            edge[i][0] = edge[i - 1][0];
            edge[i][1] = edge[i - 1][1];
        } else {
            edge[i][0] = dice_roll(dice, p);
            edge[i][1] = dice_roll(dice, p);
        }
    }
    return edges;
}

/** Ends of edges at a rank; at both ends they are in the order of the edges. */
static int ends_at(int rank, int edge[EDGES][2], int edges, int *other)
{
    int count = 0;

    for (int i = 0; i < edges; i++) {
        if (rank == edge[i][0]) {
            other[count++] = edge[i][1];
        } else if (rank == edge[i][1]) {
            other[count++] = edge[i][0];
        }
    }
    return count;
}

static MPI_Comm random_graph(MPI_Comm comm, dice_t *dice)
{
    int edge[EDGES][2], list[2 * EDGES + 1], p, *index, count = 0;
    MPI_Comm graph;

    MPI_Comm_size(comm, &p);
    index = tap_memory((size_t) p * sizeof(int));
    const int edges = throw_edges(dice, p, edge);
    for (int i = 0; i < p; i++) {
        count += ends_at(i, edge, edges, list + count);
        index[i] = count;
    }
    TAP_MPI(MPI_Graph_create(comm, p, index, list, 0, &graph));
    free(index);
    return graph;
}

static MPI_Comm random_dist_graph(MPI_Comm comm, dice_t *dice)
{
    int edge[EDGES][2], in[EDGES], out[EDGES], weight[EDGES] = {0}, p, me, ins = 0, outs = 0;
    MPI_Comm graph;

    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    const int edges = throw_edges(dice, p, edge);
    for (int i = 0; i < edges; i++) {
        if (me == edge[i][0]) {
            out[outs++] = edge[i][1];
        }
        if (me == edge[i][1]) {
            in[ins++] = edge[i][0];
        }
    }
    TAP_MPI(MPI_Dist_graph_create_adjacent(comm, ins, in, weight, outs, out, weight,
                                           MPI_INFO_NULL, 0, &graph));
    return graph;
}

enum { GRID, GRAPH, DIST_GRAPH, KINDS };

bool swap_topology_is_graph(uint64_t key)
{
    dice_t dice = dice_from(key, 3, 1);
    return GRAPH == dice_roll(&dice, KINDS);
}

MPI_Comm swap_topology(MPI_Comm comm, uint64_t key, const char **name)
{
    static const char *const names[KINDS] = {"grid", "graph", "distributed graph"};
    dice_t dice = dice_from(key, 3, 1);
    const int kind = dice_roll(&dice, KINDS);

    *name = names[kind];
    switch (kind) {
    case GRID:
        return random_grid(comm, &dice);
    case GRAPH:
        return random_graph(comm, &dice);
    default:
        return random_dist_graph(comm, &dice);
    }
}
