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
 * Meshes: extents and coordinates, and the boxes that ranks of a communicator stand at.
 *
 *        0 1 2 3      the vertices A of a machine of 3 x 4 whose second dimension is closed are
 *     0  A . . A      a box of 2 x 2 across its end: (0,3) (0,0) (1,3) (1,0), open, since it has
 *     1  A . . A      no link from its second column on to its first one
 *     2  . . . .
 *
 * Paper, section 3: a communicator is rectangular if its ranks are as many as the vertices
 * between the least and the largest of their coordinates (the paper's formula counts one too
 * many where its own bounds are half-open).
 */

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_pipering_plan_mesh.h"

/* ---- text ---- */

/* Reads one extent, at most one above the most; the rest of the text, or NULL. */
static const char *read_extent(const char *text, long *extent, bool *closed)
{
    char *rest;

    if (!isdigit((unsigned char) *text)) {
        return NULL;
    }
    *extent = strtol(text, &rest, 10);
    if (1 > *extent) {
        return NULL;
    }
    if (MCA_COLL_PIPERING_MESH_MOST < *extent) {
        *extent = MCA_COLL_PIPERING_MESH_MOST + 1;
    }
    *closed = 't' == *rest;
    return *closed ? rest + 1 : rest;
}

const char *mca_coll_pipering_extents_read(mca_coll_pipering_extents_t *extents, const char *text)
{
    mca_coll_pipering_extents_t found = {.dims = 0};
    long product = 1, extent;

    do {
        if (MCA_COLL_PIPERING_MESH_DIMS == found.dims) {
            return "has more than 8 dimensions";
        }
        text = read_extent(text, &extent, &found.closed[found.dims]);
        if (NULL == text || ('x' != *text && '\0' != *text)) {
            return "is not of the form 4x4x2 or 4tx4t, numbers from 1 on with an x between them "
                   "and a t behind those of closed dimensions";
        }
        product *= extent;
        if (MCA_COLL_PIPERING_MESH_MOST < product) {
            return "has more than 16777216 vertices";
        }
        found.extent[found.dims++] = (int) extent;
    } while ('\0' != *text++);
    *extents = found;
    return NULL;
}

char *mca_coll_pipering_extents_write(const mca_coll_pipering_extents_t *extents, char *text,
                                      size_t size)
{
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < extents->dims && length < size; ++i) {
        length += (size_t) snprintf(text + length, size - length, "%s%d%s", 0 < i ? "x" : "",
                                    extents->extent[i], extents->closed[i] ? "t" : "");
    }
    return text;
}

/* ---- coordinates ---- */

int mca_coll_pipering_extents_product(const mca_coll_pipering_extents_t *extents)
{
    int product = 1;

    for (int i = 0; i < extents->dims; ++i) {
        product *= extents->extent[i];
    }
    return product;
}

int mca_coll_pipering_closed(const mca_coll_pipering_extents_t *extents)
{
    int closed = 0;

    for (int i = 0; i < extents->dims; ++i) {
        closed += extents->closed[i];
    }
    return closed;
}

void mca_coll_pipering_coordinates(const mca_coll_pipering_extents_t *extents, int vertex,
                                   int *coordinate)
{
    for (int i = extents->dims - 1; 0 <= i; --i) {
        coordinate[i] = vertex % extents->extent[i];
        vertex /= extents->extent[i];
    }
}

int mca_coll_pipering_vertex_at(const mca_coll_pipering_extents_t *extents, const int *coordinate)
{
    int vertex = 0;

    for (int i = 0; i < extents->dims; ++i) {
        vertex = vertex * extents->extent[i] + coordinate[i];
    }
    return vertex;
}

int mca_coll_pipering_neighbour(const mca_coll_pipering_extents_t *extents, int vertex, int dim,
                                int step)
{
    const int extent = extents->extent[dim];
    int coordinate[MCA_COLL_PIPERING_MESH_DIMS];

    mca_coll_pipering_coordinates(extents, vertex, coordinate);
    const int to = coordinate[dim] + step;
    if ((0 > to || extent <= to) && !extents->closed[dim]) {
        return -1;
    }
    coordinate[dim] = (to + extent) % extent;
    return mca_coll_pipering_vertex_at(extents, coordinate);
}

/* ---- boxes ---- */

size_t mca_coll_pipering_mesh_size(int p)
{
    return (3 * (size_t) p + 1) * sizeof(int);
}

void mca_coll_pipering_mesh_bind(mca_coll_pipering_mesh_t *mesh, int p, void *memory)
{
    mesh->ranks = p;
    mesh->vertices = 0;
    mesh->vertex_of = memory;
    mesh->rank = mesh->vertex_of + p;
    mesh->first = mesh->rank + p;
}

/* Where a box begins in each dimension of the machine, and how far it reaches. */
typedef struct {
    int from[MCA_COLL_PIPERING_MESH_DIMS];
    int extent[MCA_COLL_PIPERING_MESH_DIMS];
} box_t;

/* Marks the coordinates that ranks have in a dimension; how many these are. */
static int mark_taken(const mca_coll_pipering_extents_t *machine, const int *at, int p, int dim,
                      char *taken)
{
    int count = 0, coordinate[MCA_COLL_PIPERING_MESH_DIMS];

    memset(taken, 0, (size_t) machine->extent[dim]);
    for (int r = 0; r < p; ++r) {
        mca_coll_pipering_coordinates(machine, at[r], coordinate);
        char *mark = &taken[coordinate[dim]];
        count += !*mark;
        *mark = 1;
    }
    return count;
}

/* The range of a box in a dimension; false: there are several ranges. */
static bool find_range(const mca_coll_pipering_extents_t *machine, int dim, const char *taken,
                       int count, box_t *box)
{
    const int extent = machine->extent[dim];
    int from = 0, reach = 0;

    if (count < extent) {
        while (!taken[from] || taken[(from + extent - 1) % extent]) {
            ++from;
        }
    }
    while (reach < extent && taken[(from + reach) % extent]
           && (from + reach < extent || machine->closed[dim])) {
        ++reach;
    }
    box->from[dim] = from;
    box->extent[dim] = reach;
    return reach == count;
}

/* The extents of a box as a mesh of its own. */
static mca_coll_pipering_extents_t extents_of(const mca_coll_pipering_extents_t *machine,
                                              const box_t *box)
{
    mca_coll_pipering_extents_t extents = {.dims = 0};

    for (int i = 0; i < machine->dims; ++i) {
        if (1 < box->extent[i]) {
            extents.extent[extents.dims] = box->extent[i];
            extents.closed[extents.dims++] = machine->closed[i] && 2 < box->extent[i]
                                             && machine->extent[i] == box->extent[i];
        }
    }
    return extents;
}

/* The number within a box of a vertex of the machine. */
static int number_in(const mca_coll_pipering_extents_t *machine, const box_t *box, int vertex)
{
    int coordinate[MCA_COLL_PIPERING_MESH_DIMS], number = 0;

    mca_coll_pipering_coordinates(machine, vertex, coordinate);
    for (int i = 0; i < machine->dims; ++i) {
        const int extent = machine->extent[i];
        number = number * box->extent[i] + (coordinate[i] - box->from[i] + extent) % extent;
    }
    return number;
}

/* Sorts ranks by vertex_of; false: a vertex has none. */
static bool list_ranks(mca_coll_pipering_mesh_t *mesh)
{
    int *next = mesh->first;

    memset(next, 0, ((size_t) mesh->vertices + 1) * sizeof(int));
    for (int r = 0; r < mesh->ranks; ++r) {
        ++next[mesh->vertex_of[r] + 1];
    }
    for (int v = 0; v < mesh->vertices; ++v) {
        if (0 == next[v + 1]) {
            return false;
        }
        next[v + 1] += next[v];
    }
    for (int r = 0; r < mesh->ranks; ++r) {
        mesh->rank[next[mesh->vertex_of[r]]++] = r;
    }
    for (int v = mesh->vertices; 0 < v; --v) {
        next[v] = next[v - 1];
    }
    next[0] = 0;
    return true;
}

size_t mca_coll_pipering_mesh_scratch(const mca_coll_pipering_extents_t *machine)
{
    int most = 1;

    for (int i = 0; i < machine->dims; ++i) {
        most = machine->extent[i] > most ? machine->extent[i] : most;
    }
    return (size_t) most;
}

bool mca_coll_pipering_mesh_fill(mca_coll_pipering_mesh_t *mesh,
                                 const mca_coll_pipering_extents_t *machine, const int *at,
                                 void *scratch)
{
    long vertices = 1;
    box_t box;

    for (int i = 0; i < machine->dims; ++i) {
        const int count = mark_taken(machine, at, mesh->ranks, i, scratch);
        vertices *= count;
        if (!find_range(machine, i, scratch, count, &box) || vertices > mesh->ranks) {
            return false;
        }
    }
    if (2 > vertices) {
        return false;
    }
    mesh->vertices = (int) vertices;
    mesh->extents = extents_of(machine, &box);
    for (int r = 0; r < mesh->ranks; ++r) {
        mesh->vertex_of[r] = number_in(machine, &box, at[r]);
    }
    return list_ranks(mesh);
}
