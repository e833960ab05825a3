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
 * Draws the chain or the trees of a plan, as its routes have them, so that what is drawn is what
 * ranks do.
 */

#include "predict.h"

#include <stdlib.h>
#include <string.h>

/* Ranks of a line, and lines of a tree, that are drawn. */
#define LINE_MOST 10
#define LINES_MOST 24

/* Ranks behind one, in a tree or on a path of a mesh or of switches. */
#define DOWNS_MOST MCA_COLL_PIPERING_MESH_DOWNS

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

void predict_draw(const predict_t *predict, mca_coll_pipering_plan_t *plan)
{
    drawing_t drawing = {.plan = plan, .facts = predict_facts(predict)};

    if (1 == plan->ring.size && !mca_coll_pipering_in_rounds(plan->row)) {
        for (; drawing.pipe < plan->pipes; ++drawing.pipe) {
            draw_tree(&drawing);
        }
    }
}
