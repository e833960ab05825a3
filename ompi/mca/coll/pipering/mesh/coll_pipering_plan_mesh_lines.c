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
 * Short calls along the lines of a mesh: each rank sends its value to its whole line, all ranks of
 * the line combine what is there alike, and the result goes along the next dimension. Many messages
 * in few rounds: a mesh of 8 x 8 takes 4 rounds, recursive doubling takes 6.
 *
 *     a line of 6 in groups of 3          0  1  2 | 3  4  5
 *     phase 1, in groups                  all of 0 1 2, and all of 3 4 5, to each other
 *     phase 2, across groups              0 - 3, 1 - 4, 2 - 5
 *
 * In phase 2 each rank has what its group has, and exchanges with one rank of each other group: in
 * the paper the end of a group, which multicasts to the others; here the one at its own place, so
 * that no rank passes anything on. Groups of a line differ by one rank at most; a rank whose place
 * another group lacks hears from that group's first rank. A line of one group has no phase 2. The
 * ranks of a vertex are a line too, the first one; then comes the last dimension, whose neighbours
 * are often neighbours in rank.
 *
 * All ranks combine the same values in the same order, so they have the same bits. Values come in
 * the order of vertices, so operations must commute.
 *
 * Cost: with g groups of m ranks, m - 1 + g - 1 messages in, and memory for as many values, a
 * dimension. The paper's time is 2 S + (m - 1 + g - 1) max(P / BW, T), with overhead S, packets of
 * P bytes, and time T to process one. There a multicast passes each link once. Here every message
 * has its own way, and over the middle of a line go those of half of its ranks to the other half.
 *
 * Limits: vertices with the same number of ranks. Vectors that fit one packet in the paper; here
 * any, but long ones are better off elsewhere.
 *
 * Almasi et al., section 3.2, both formulas (unnumbered).
 */

#include "coll_pipering_plan_mesh_lines.h"

#include <stdint.h>

typedef mca_coll_pipering_lines_t lines_t;
typedef mca_coll_pipering_lines_phase_t phase_t;

bool mca_coll_pipering_lines_fit(const mca_coll_pipering_mesh_t *mesh)
{
    const int inside = mesh->ranks / mesh->vertices;

    for (int v = 0; v < mesh->vertices; ++v) {
        if (inside != mesh->first[v + 1] - mesh->first[v]) {
            return false;
        }
    }
    return true;
}

/* ---- lines ---- */

static bool is_inside(const lines_t *lines, int dim)
{
    return lines->mesh->extents.dims == dim;
}

static int length_of(const lines_t *lines, int dim)
{
    const mca_coll_pipering_mesh_t *mesh = lines->mesh;

    return is_inside(lines, dim) ? mesh->ranks / mesh->vertices : mesh->extents.extent[dim];
}

/* The place of a rank among those of its vertex. */
static int place_inside(const mca_coll_pipering_mesh_t *mesh, int rank)
{
    int place = mesh->first[mesh->vertex_of[rank]];

    while (rank != mesh->rank[place]) {
        ++place;
    }
    return place - mesh->first[mesh->vertex_of[rank]];
}

static int my_place(const lines_t *lines, int dim)
{
    const mca_coll_pipering_mesh_t *mesh = lines->mesh;
    int at[MCA_COLL_PIPERING_MESH_DIMS];

    if (is_inside(lines, dim)) {
        return place_inside(mesh, lines->me);
    }
    mca_coll_pipering_coordinates(&mesh->extents, mesh->vertex_of[lines->me], at);
    return at[dim];
}

/* The rank at a place of this rank's line. */
static int rank_at(const lines_t *lines, int dim, int place)
{
    const mca_coll_pipering_mesh_t *mesh = lines->mesh;
    int at[MCA_COLL_PIPERING_MESH_DIMS], vertex = mesh->vertex_of[lines->me];

    if (is_inside(lines, dim)) {
        return mesh->rank[mesh->first[vertex] + place];
    }
    mca_coll_pipering_coordinates(&mesh->extents, vertex, at);
    at[dim] = place;
    vertex = mca_coll_pipering_vertex_at(&mesh->extents, at);
    return mesh->rank[mesh->first[vertex] + place_inside(mesh, lines->me)];
}

/* ---- groups ---- */

static int groups_of(const lines_t *lines, int dim)
{
    return (length_of(lines, dim) + lines->group - 1) / lines->group;
}

/* The place where a group begins; that of the group behind the last one is the line's length. */
static int first_of(const lines_t *lines, int dim, int group)
{
    return (int) ((int64_t) group * length_of(lines, dim) / groups_of(lines, dim));
}

static int size_of(const lines_t *lines, int dim, int group)
{
    return first_of(lines, dim, group + 1) - first_of(lines, dim, group);
}

static int group_of(const lines_t *lines, int dim, int place)
{
    int group = 0;

    while (place >= first_of(lines, dim, group + 1)) {
        ++group;
    }
    return group;
}

/* ---- phases ---- */

/*
 * Messages across groups, in the order of groups: to the rank at the same place of each, where
 * there is one; the first rank of a group sends to the last one of a larger group, too.
 */
static int receivers_in(const lines_t *lines, int dim, int group)
{
    const int place = my_place(lines, dim), own = group_of(lines, dim, place);
    const int at = place - first_of(lines, dim, own);
    const int theirs = size_of(lines, dim, group);

    if (own == group) {
        return 0;
    }
    return (at < theirs) + (0 == at && size_of(lines, dim, own) < theirs);
}

static phase_t in_group(const lines_t *lines, int dim)
{
    const int place = my_place(lines, dim), group = group_of(lines, dim, place);
    const int size = size_of(lines, dim, group);

    return (phase_t){.parts = size,
                     .own = place - first_of(lines, dim, group),
                     .sends = size - 1,
                     .dim = dim};
}

static phase_t across_groups(const lines_t *lines, int dim)
{
    phase_t phase = {.parts = groups_of(lines, dim),
                     .own = group_of(lines, dim, my_place(lines, dim)),
                     .dim = dim,
                     .across = true};

    for (int group = 0; group < phase.parts; ++group) {
        phase.sends += receivers_in(lines, dim, group);
    }
    return phase;
}

int mca_coll_pipering_lines_phases(const lines_t *lines,
                                   phase_t phase[MCA_COLL_PIPERING_LINES_PHASES])
{
    int count = 0;

    for (int dim = lines->mesh->extents.dims; 0 <= dim; --dim) {
        if (1 < length_of(lines, dim)) {
            phase[count++] = in_group(lines, dim);
        }
        if (1 < groups_of(lines, dim)) {
            phase[count++] = across_groups(lines, dim);
        }
    }
    return count;
}

int mca_coll_pipering_lines_from(const lines_t *lines, const phase_t *phase, int part)
{
    const int dim = phase->dim, place = my_place(lines, dim);
    const int group = group_of(lines, dim, place), at = place - first_of(lines, dim, group);

    if (part == phase->own) {
        return lines->me;
    }
    if (!phase->across) {
        return rank_at(lines, dim, first_of(lines, dim, group) + part);
    }
    return rank_at(lines, dim,
                   first_of(lines, dim, part) + (at < size_of(lines, dim, part) ? at : 0));
}

/* The receiver of a message across groups: the place in its group, or the last one there. */
static int to_across(const lines_t *lines, const phase_t *phase, int send)
{
    const int dim = phase->dim;
    const int at = my_place(lines, dim) - first_of(lines, dim, phase->own);
    int group = 0;

    for (; send >= receivers_in(lines, dim, group); ++group) {
        send -= receivers_in(lines, dim, group);
    }
    const int first = first_of(lines, dim, group);
    return rank_at(lines, dim, 0 == send ? first + at : first_of(lines, dim, group + 1) - 1);
}

int mca_coll_pipering_lines_to(const lines_t *lines, const phase_t *phase, int send)
{
    if (phase->across) {
        return to_across(lines, phase, send);
    }
    return mca_coll_pipering_lines_from(lines, phase, send < phase->own ? send : send + 1);
}

/* ---- the model ---- */

/* Messages over the middle of a line, or group, in one direction; a closed line has two middles. */
static double crossing(const lines_t *lines, const phase_t *phase)
{
    const mca_coll_pipering_extents_t *extents = &lines->mesh->extents;
    const int span = phase->across ? length_of(lines, phase->dim) : phase->parts;
    const double over = (double) (span / 2) * ((phase->parts + 1) / 2);

    return is_inside(lines, phase->dim) || !extents->closed[phase->dim] ? over : over / 2;
}

double mca_coll_pipering_lines_time(const mca_coll_pipering_lines_problem_t *problem)
{
    const mca_coll_pipering_link_cost_t *cost = &problem->cost;
    phase_t phase[MCA_COLL_PIPERING_LINES_PHASES];
    const int count = mca_coll_pipering_lines_phases(problem->lines, phase);
    const double bytes = (double) problem->bytes;
    double time = 0;

    for (int i = 0; i < count; ++i) {
        const double handled = (phase[i].parts - 1) * (cost->gap + problem->combine * bytes);
        const double sent = cost->beta
                            * mca_coll_pipering_wire_bytes(cost, 1, bytes)
                            * crossing(problem->lines, &phase[i]);
        time += cost->alpha + cost->latency + (handled > sent ? handled : sent);
    }
    return time;
}
