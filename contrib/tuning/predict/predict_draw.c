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
 * Draws the ring, the chain, the trees or the rounds of a plan. All but the rounds of an exchange
 * is read from routes, so that what is drawn is what ranks do.
 */

#include "predict.h"

#include <stdlib.h>
#include <string.h>

/* Nodes of a ring, ranks of a line and lines of a tree that are drawn. */
#define NODES_MOST 12
#define LINE_MOST 10
#define LINES_MOST 24

/* Ranks behind one, in a tree or on a path of a mesh or of switches. */
#define DOWNS_MOST MCA_COLL_PIPERING_MESH_DOWNS

/* ---- ring ---- */

static void draw_node(const mca_coll_pipering_ring_t *ring, int node)
{
    const int first = ring->first[node], last = ring->first[node + 1] - 1;

    (void) printf("[%d", ring->rank[first]);
    if (first + 3 < last) {
        (void) printf(" -> %d -> ... -> %d", ring->rank[first + 1], ring->rank[last]);
    } else {
        for (int x = first + 1; x <= last; ++x) {
            (void) printf(" -> %d", ring->rank[x]);
        }
    }
    (void) printf("]");
}

/* The first contributions along the ring that are not empty. */
static void draw_contributions(const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_ring_t *ring = &plan->ring;
    int shown = 0, empty = 0;

    for (int x = 0; x < ring->size; ++x) {
        const int rank = ring->rank[x];
        const size_t units = plan->bytes[rank];
        empty += 0 == units;
        if (0 < units && NODES_MOST > shown++) {
            (void) printf("  rank %d has %zu bytes in %llu blocks\n", rank,
                          units * plan->key.sizes.unit,
                          (unsigned long long) mca_coll_pipering_blocks(units,
                                                                        plan->block_size));
        }
    }
    if (NODES_MOST < shown) {
        (void) printf("  %d more ranks have data\n", shown - NODES_MOST);
    }
    if (0 < empty) {
        (void) printf("  %d ranks have none\n", empty);
    }
}

static void draw_ring(const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_ring_t *ring = &plan->ring;
    const int a_line = ring->nodes < ring->size ? 3 : 6;

    (void) printf("ring, a node in brackets; it closes from the last to the first:\n  ");
    for (int node = 0; node < ring->nodes; ++node) {
        if (NODES_MOST < ring->nodes && NODES_MOST - 2 == node) {
            (void) printf("\n  -> ... %d more ... ", ring->nodes - NODES_MOST);
            node = ring->nodes - 2;
        }
        (void) printf("%s", 0 == node ? "" : 0 == node % a_line ? "\n  -> " : " -> ");
        draw_node(ring, node);
    }
    (void) printf("\n");
    if (1 < ring->nodes && ring->nodes < ring->size) {
        (void) printf("and inside each node, for its own blocks, from its last to its first rank "
                      "(node link)\n");
    }
    draw_contributions(plan);
}

/* ---- cycles of a mesh ---- */

static bool goes_along_cycles(const predict_t *predict, const predict_outcome_t *outcome)
{
    return predict_goes_along_mesh(predict, outcome) && 1 < outcome->plan->ring.size;
}

static void draw_cycles(const predict_t *predict)
{
    const mca_coll_pipering_ways_t *ways = predict->call.ways;

    for (int i = 0; i < ways->cycles; ++i) {
        const mca_coll_pipering_ring_t *ring = &ways->ring[2 * i];
        (void) printf("cycle %d of %d, taken both ways:\n ", i + 1, ways->cycles);
        for (int x = 0; x < ring->size; ++x) {
            if (LINE_MOST < x && x + LINE_MOST < ring->size) {
                (void) printf(" ... %d more ->", ring->size - 2 * LINE_MOST - 1);
                x = ring->size - LINE_MOST;
            }
            (void) printf(" %d ->", ring->rank[x]);
        }
        (void) printf(" %d\n", ring->rank[0]);
    }
}

/* ---- chains and trees ---- */

typedef struct {
    mca_coll_pipering_plan_t *plan;
    mca_coll_pipering_facts_t facts;
    int pipe;
    int lines; /* that are still drawn */
    const char *arrow;
} drawing_t;

/* Ranks behind one in a pipe, away from its end; how many. */
static int find_behind(drawing_t *drawing, int rank, int *behind)
{
    drawing->facts.me = rank;
    mca_coll_pipering_plan_route(drawing->plan, &drawing->facts);
    const mca_coll_pipering_route_t *route = &drawing->plan->route[drawing->pipe];
    const int count = route->reduces ? route->ins : route->outs;

    for (int i = 0; i < count; ++i) {
        behind[i] = route->reduces ? route->in[i].peer : route->out[i].peer;
    }
    return count;
}

static void draw_line(drawing_t *drawing, int from, int first, int indent);

/* The other branches of a rank. */
static void draw_branches(drawing_t *drawing, const int *branch, int count, int from, int indent)
{
    for (int i = 0; i < count; ++i) {
        draw_line(drawing, from, branch[i], indent);
    }
}

/* A line from a rank along the first branches; other branches get lines of their own. */
static void draw_line(drawing_t *drawing, int from, int first, int indent)
{
    int behind[DOWNS_MOST], ranks[LINE_MOST], count = 0, more = 1, rank = first;

    if (0 >= drawing->lines) {
        return;
    }
    if (0 == --drawing->lines) {
        (void) printf("  %*s...\n", indent, "");
        return;
    }
    (void) printf("  %*s%d", indent, "", from);
    while (0 < more && LINE_MOST > count) {
        (void) printf(" %s %d", drawing->arrow, rank);
        ranks[count++] = rank;
        more = find_behind(drawing, rank, behind);
        rank = 0 < more ? behind[0] : rank;
    }
    (void) printf("%s\n", 0 < more ? " ..." : "");
    for (int i = 0; i < count; ++i) {
        more = find_behind(drawing, ranks[i], behind);
        if (1 < more) {
            draw_branches(drawing, behind + 1, more - 1, ranks[i], indent + 4);
        }
    }
}

/* The rank that a pipe begins or ends at: nobody sends it anything, or it sends to nobody. */
static int find_end(drawing_t *drawing)
{
    drawing->facts.me = drawing->plan->key.root;
    mca_coll_pipering_plan_route(drawing->plan, &drawing->facts);
    const mca_coll_pipering_route_t *route = &drawing->plan->route[drawing->pipe];

    if (0 == (route->reduces ? route->outs : route->ins)) {
        return drawing->plan->key.root;
    }
    return drawing->facts.ranks - 1; /* a scan ends at the last rank */
}

static void draw_tree(drawing_t *drawing)
{
    int behind[DOWNS_MOST];
    const int end = find_end(drawing), count = find_behind(drawing, end, behind);
    const bool reduces = drawing->plan->route[drawing->pipe].reduces;

    drawing->arrow = reduces ? "<-" : "->";
    drawing->lines = LINES_MOST;
    (void) printf("pipeline %d of %d, %s rank %d:\n", drawing->pipe + 1, drawing->plan->pipes,
                  reduces ? "to" : "from", end);
    for (int i = 0; i < count; ++i) {
        draw_line(drawing, end, behind[i], 0);
    }
}

/* ---- rounds ---- */

static void draw_rounds(const predict_t *predict, const mca_coll_pipering_plan_t *plan)
{
    const mca_coll_pipering_grid_t *grid = &plan->grid;
    const int me = predict->call.ranks / 2;

    (void) printf("rounds of rank %d, in %d lane%s:\n", me, grid->lanes,
                  1 == grid->lanes ? "" : "s");
    for (int k = 0; k < mca_coll_pipering_grid_rounds(grid); ++k) {
        const mca_coll_pipering_grid_round_t round = mca_coll_pipering_grid_round(grid, me, k);
        const size_t packed = plan->key.params.rounds_packed;
        const mca_coll_pipering_volume_t out = mca_coll_pipering_grid_volume(
            grid, me, plan->bytes, packed, round.send);
        const mca_coll_pipering_volume_t in = mca_coll_pipering_grid_volume(
            grid, me, plan->bytes, packed, round.recv);
        (void) printf("  round %2d: sends %llu bytes of %d ranks to %d, receives %llu bytes of %d "
                      "ranks from %d\n", k + 1, (unsigned long long) out.bytes, round.send.count,
                      round.to, (unsigned long long) in.bytes, round.recv.count, round.from);
    }
}

void predict_draw(const predict_t *predict, const predict_outcome_t *outcome)
{
    drawing_t drawing = {.plan = outcome->plan, .facts = predict_facts(predict)};

    if (mca_coll_pipering_in_rounds(outcome->row) && predict_goes_along_mesh(predict, outcome)) {
        (void) printf("along each line of the mesh, one dimension after the other\n");
        return;
    }
    if (mca_coll_pipering_in_rounds(outcome->row)) {
        draw_rounds(predict, outcome->plan);
        return;
    }
    if (goes_along_cycles(predict, outcome)) {
        draw_cycles(predict);
        return;
    }
    if (1 < outcome->plan->ring.size) {
        draw_ring(outcome->plan);
        return;
    }
    for (; drawing.pipe < outcome->plan->pipes; ++drawing.pipe) {
        draw_tree(&drawing);
    }
}
